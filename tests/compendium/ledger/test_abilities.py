import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

from compendium.ledger import abilities
from memdlib import DivergenceRanker, JointMaxEntClassifier, MeMdClassifier


class Nothing(TransformerMixin, BaseEstimator):
    """Takes dense data and nothing else, whatever its signature says."""

    def fit(self, X, y=None, sample_weight=None):
        if not isinstance(X, np.ndarray):
            raise TypeError("dense data only")
        self.mean_ = X.mean(axis=0)
        return self

    def partial_fit(self, X, y=None, classes=None):
        return self.fit(X)

    def transform(self, X):
        return X - self.mean_


def test_every_public_estimator_is_tried_once():
    names = [repr(estimator) for estimator in abilities.estimators()]
    assert len(names) == len(set(names))
    public = {"MeMdClassifier()", "DivergenceRanker()", "NMLClassifier()"}
    assert public < set(names)
    assert "JointMaxEntClassifier(covariance='diagonal')" in names


@pytest.mark.parametrize(
    ("able", "estimator"),
    [
        (abilities.takes_sparse_data, MeMdClassifier()),
        (abilities.takes_sparse_data, JointMaxEntClassifier("diagonal")),
        (abilities.takes_weights, JointMaxEntClassifier()),
        (abilities.takes_batches, MeMdClassifier()),
        (abilities.routes_weights, DivergenceRanker()),
        (abilities.names_output, DivergenceRanker()),
    ],
)
def test_what_can_be_done_is_found(able, estimator):
    assert able(estimator)


@pytest.mark.parametrize(
    ("able", "estimator"),
    [
        (abilities.takes_sparse_data, JointMaxEntClassifier()),
        (abilities.takes_sparse_data, Nothing()),
        (abilities.takes_weights, Nothing()),
        (abilities.takes_batches, Nothing()),
        (abilities.takes_batches, DivergenceRanker()),
        (abilities.names_output, JointMaxEntClassifier()),
    ],
)
def test_a_signature_alone_is_no_ability(able, estimator):
    assert not able(estimator)
