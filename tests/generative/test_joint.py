import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags

from memdlib import MeMdClassifier
from memdlib.families import Normal
from memdlib.families.multivariate import MultivariateNormal
from memdlib.generative.joint import COVARIANCES, JointMaxEntClassifier
from tests.generative.conftest import blobs, wine

EVERY = pytest.mark.parametrize("covariance", COVARIANCES)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize(
    ("covariance", "theirs"),
    [
        # these of scikit-learn divide by n too, not by n - 1 or n - K
        ("full", QuadraticDiscriminantAnalysis(tol=0)),
        ("pooled", LinearDiscriminantAnalysis(solver="lsqr")),
        ("diagonal", GaussianNB(var_smoothing=0)),
    ],
)
def test_the_three_textbook_classifiers(load, covariance, theirs):
    X, y = load(return_X_y=True)
    ours = JointMaxEntClassifier(covariance, shrinkage=0.0).fit(X, y)
    proba = theirs.fit(X, y).predict_proba(X)
    assert_allclose(ours.predict_proba(X), proba, rtol=0, atol=1e-8)


def test_without_products_it_is_memd_on_all_features():
    X, y, X_new, _ = wine()
    for shrinkage in (0.0, 0.4, 1.0):
        ours = JointMaxEntClassifier("diagonal", shrinkage).fit(X, y)
        theirs = MeMdClassifier(n_features=None, shrinkage=shrinkage).fit(X, y)
        found, expected = (m.predict_log_proba(X_new) for m in (ours, theirs))
        assert_allclose(found, expected, rtol=1e-9, atol=1e-13)
        for name in ("mean_params_", "natural_params_", "class_prior_"):
            assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-7)


@EVERY
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, "auto"])
def test_attributes_are_the_class_densities(covariance, shrinkage):
    X, y = blobs()
    model = JointMaxEntClassifier(covariance, shrinkage).fit(X, y)
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
    s = model.shrinkage_
    assert s.shape == ((3,) if covariance == "full" else ())
    assert ((s > 0) & (s <= 1) if shrinkage == "auto" else s == shrinkage).all()


@pytest.mark.parametrize("covariance", ["full", "pooled"])
def test_more_features_than_rows(covariance):
    rng = np.random.default_rng([21, 4])
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 150)) + rng.normal(size=(60, 1))
    X[:, :10] += 2 * y[:, None]
    model = JointMaxEntClassifier(covariance)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8
    with pytest.raises(ValueError, match='use shrinkage > 0 or "auto", or fewer feat'):
        JointMaxEntClassifier(covariance, shrinkage=0.0).fit(X, y)


def test_a_singular_class_is_named():
    X, y = blobs()
    X[y == 2, 0] = 2 * X[y == 2, 1] - 5
    names = np.array(["ape", "bee", "cat"])[y]
    message = "class 'cat': smallest eigenvalue of the correlation matrix = .*; use shr"
    with pytest.raises(ValueError, match=message):
        JointMaxEntClassifier(shrinkage=0.0).fit(X, names)
    X[:, 0] = X[:, 1]
    with pytest.raises(ValueError, match="class 'all classes together': smallest"):
        JointMaxEntClassifier("pooled", shrinkage=0.0).fit(X, names)


@pytest.mark.parametrize("pair", [("full", "diagonal"), ("diagonal", "full")])
def test_batches_have_one_kind_of_moments(pair):
    X, y = blobs()
    model = JointMaxEntClassifier(pair[0]).fit(X, y)
    with pytest.raises(ValueError, match="must agree|from batch to batch"):
        model.set_params(covariance=pair[1]).partial_fit(X, y)


def test_only_the_diagonal_model_says_that_it_takes_sparse_data():
    for covariance in COVARIANCES:
        tags = get_tags(JointMaxEntClassifier(covariance))
        assert tags.input_tags.sparse is (covariance == "diagonal")
