import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from memdlib.estimator import BayesClassifier, all_or_nothing, fitted, log_posterior


class Columns(BayesClassifier):
    """The columns of X are the joint log densities themselves."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        self.classes_ = np.array(["a", "b", "c"])[: X.shape[1]]
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _joint_log_density(self, X):
        return X.toarray() if sparse.issparse(X) else X


def test_posteriors_are_the_shares_of_the_densities():
    X = np.log([[1.0, 2.0, 5.0], [4.0, 4.0, 2.0]])
    model = Columns().fit(X)
    shares = np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X), shares, rtol=1e-14)
    assert_allclose(model.predict_log_proba(X), np.log(shares), rtol=0, atol=1e-14)
    assert_allclose(model.decision_function(X), np.log(shares), rtol=0, atol=1e-14)
    assert model.predict(X).tolist() == ["c", "a"]


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

    size_ = fitted("size")

    @all_or_nothing
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


def test_the_method_keeps_its_name_and_words():
    assert Model.fit.__name__ == "fit"
    assert Model.fit.__doc__.startswith("Leave attributes")
    assert Model().fit() is not None


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


class DenseColumns(Columns):
    """Takes no sparse data, and keeps what it is given to score."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _joint_log_density(self, X):
        self.scored = X
        return X


def test_sparse_data_are_scored_where_the_tags_say_so_and_single_precision_is_kept():
    X = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 1.5]])
    for form in (sparse.csc_array, sparse.coo_array):
        found = Columns().fit(X).predict_proba(form(X))
        np.testing.assert_array_equal(found, Columns().fit(X).predict_proba(X))
    model = DenseColumns().fit(X)
    with pytest.raises(TypeError, match="dense data is required"):
        model.predict(sparse.csr_array(X))
    for given, kept in [("f4", "f4"), ("f8", "f8"), ("i8", "f8"), ("f2", "f8")]:
        model.predict(X.astype(given))
        assert model.scored.dtype == kept
