import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from compendium.study.peers import KernelSVC


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array])
def test_same_predictions_as_the_machine_that_computes_its_own_kernel(kernel, wrap):
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng([2, 1]).normal(scale=0.5, size=X.shape)
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    ours = KernelSVC(kernel).fit(wrap(X[train]), y[train]).predict(wrap(X[test]))
    theirs = SVC(kernel=kernel).fit(X[train], y[train]).predict(X[test])
    np.testing.assert_array_equal(ours, theirs)
    assert (ours != y[test]).any()


def test_unknown_kernel():
    with pytest.raises(ValueError, match="kernel='tanh' must be"):
        KernelSVC("tanh").fit([[0.0], [1.0]], [0, 1])


@parametrize_with_checks([KernelSVC()])
def test_contract(estimator, check):
    check(estimator)
