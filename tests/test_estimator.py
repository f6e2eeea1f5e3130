import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from memdlib.estimator import BayesClassifier, fitted_attribute, log_posterior
from memdlib.validation import restore_on_error


class Columns(BayesClassifier):
    """The columns of X are the joint log densities themselves."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        self.classes_ = np.array(["a", "b", "c"])[: X.shape[1]]
        return self

    def _joint_log_density(self, X):
        return X


def test_of_two_classes_the_log_odds_keep_their_digits():
    X = np.array([[1e3, 1e3 - 800.0], [0.0, 2.5]])
    model = Columns().fit(X)
    assert model.decision_function(X).tolist() == [-800.0, 2.5]
    assert model.predict_proba(X).sum(axis=1).tolist() == [1.0, 1.0]
    assert model.predict(X).tolist() == ["a", "b"]


class Result:
    size = 3


class Model(BaseEstimator):
    """Leaves something behind at every step, and may be stopped in between."""

    size_ = fitted_attribute("size")
    _parameter_constraints = ()

    @restore_on_error
    def fit(self, stop=None):
        """Leave attributes, one after the other."""
        self.n_features_in_ = 7
        if stop is not None:
            raise stop
        self._fitted = Result()
        return self

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_fitted")


@pytest.mark.parametrize("stop", [ValueError("bad"), KeyboardInterrupt()])
def test_a_failure_leaves_what_was_there(stop):
    model = Model()
    with pytest.raises(type(stop)):
        model.fit(stop)
    assert vars(model) == {}
    model.fit()
    model.n_features_in_ = 5
    before = dict(vars(model))
    with pytest.raises(type(stop)):
        model.fit(stop)
    assert vars(model) == before


def test_attributes_are_read_from_the_fitted_object_and_cannot_be_set():
    with pytest.raises(NotFittedError, match="Model instance is not fitted yet"):
        _ = Model().size_
    model = Model().fit()
    assert model.size_ == 3
    with pytest.raises(AttributeError):
        model.size_ = 4


def test_scores_far_apart_raise_no_warning():
    joint = np.array([[1e308, -1e308], [-1.7e308, 1.7e308]])
    with np.errstate(all="raise"):
        assert log_posterior(joint).tolist() == [[0.0, -np.inf], [-np.inf, 0.0]]
