import numpy as np
import pytest
from numpy.testing import assert_allclose

from memdlib.families import Normal
from memdlib.families.multivariate import MultivariateNormal
from memdlib.generative.joint import COVARIANCES, JointMaxEntClassifier
from tests.generative.conftest import blobs

EVERY = pytest.mark.parametrize("covariance", COVARIANCES)


@EVERY
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, "auto"])
def test_attributes_are_the_class_densities(covariance, shrinkage):
    X, y = blobs()
    model = JointMaxEntClassifier(
        covariance, correlation_shrinkage=shrinkage, variance_shrinkage=shrinkage
    ).fit(X, y)
    mean, S, mu = model.means_, model.covariances_, model.mean_params_
    assert_allclose(mean, [X[y == k].mean(axis=0) for k in range(3)])
    if covariance == "diagonal":
        assert S.shape == (3, 4) and mu.shape == (3, 4, 2)
        assert_allclose(Normal.variance(mu), S, rtol=1e-10)
        assert_allclose(Normal().natural(mu), model.natural_params_)
    else:
        assert S.shape == ((4, 4) if covariance == "pooled" else (3, 4, 4))
        assert mu.shape == model.natural_params_.shape == (3, 4, 5)
        S = np.broadcast_to(S, (3, 4, 4))
        family = MultivariateNormal()
        assert_allclose(family.covariance(mu), S, rtol=0, atol=1e-12)
        lam = model.natural_params_
        assert_allclose(family.natural(mu), lam, rtol=1e-9, atol=1e-10)
    kind = "variance" if covariance == "diagonal" else "correlation"
    s = np.asarray(getattr(model, f"{kind}_shrinkage_"))
    assert s.shape == ((3,) if covariance == "full" else ())
    assert ((s > 0) & (s <= 1) if shrinkage == "auto" else s == shrinkage).all()


def test_a_singular_class_is_named():
    X, y = blobs()
    X[y == 2, 0] = 2 * X[y == 2, 1] - 5
    names = np.array(["ape", "bee", "cat"])[y]
    message = "class 'cat': smallest eigenvalue of the correlation matrix = .*; use cor"
    with pytest.raises(ValueError, match=message):
        JointMaxEntClassifier(correlation_shrinkage=0.0).fit(X, names)
    X[:, 0] = X[:, 1]
    with pytest.raises(ValueError, match="class 'all classes together': smallest"):
        JointMaxEntClassifier("pooled", correlation_shrinkage=0.0).fit(X, names)


@pytest.mark.parametrize("pair", [("full", "diagonal"), ("diagonal", "full")])
def test_batches_have_one_kind_of_moments(pair):
    X, y = blobs()
    model = JointMaxEntClassifier(pair[0]).fit(X, y)
    with pytest.raises(ValueError, match="must agree|from batch to batch"):
        model.set_params(covariance=pair[1]).partial_fit(X, y)
