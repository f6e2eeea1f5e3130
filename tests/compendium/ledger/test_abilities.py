import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

from compendium.ledger.abilities import ABILITIES, abilities, estimators
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
    names = [repr(estimator) for estimator in estimators()]
    assert len(names) == len(set(names))
    assert {"MeMdClassifier()", "DivergenceRanker()", "NMLClassifier()"} < set(names)
    assert [row[0] for row in abilities()] == [f"`{name}`" for name in names]


@pytest.mark.parametrize(
    ("estimator", "able"),
    [
        (MeMdClassifier(), list(ABILITIES)),
        (JointMaxEntClassifier(), ["weights", "`partial_fit`", "routing"]),
        (JointMaxEntClassifier("diagonal"), list(ABILITIES)[:4]),
        (DivergenceRanker(), ["sparse data", "routing", "`set_output`"]),
        (Nothing(), ["routing"]),  # a signature alone is no ability
    ],
)
def test_what_can_be_done_is_found(estimator, able):
    assert [name for name, tried in ABILITIES.items() if tried(estimator)] == able
