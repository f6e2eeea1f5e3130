import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg
from scipy.special import log_softmax
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from memdlib import JointMaxEntClassifier
from memdlib.families import MultivariateNormal
from memdlib.generative import CorrelatedMeMdClassifier, RegularisedMeMdClassifier
from tests.generative.conftest import blobs


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("shrinkage", ["auto", 0.2])
def test_all_coordinates_are_discriminant_analysis(load, shrinkage):
    X, y = load(return_X_y=True)
    ours = CorrelatedMeMdClassifier(correlation_shrinkage=shrinkage).fit(X, y)
    other = JointMaxEntClassifier("pooled", correlation_shrinkage=shrinkage).fit(X, y)
    relaxed = RegularisedMeMdClassifier(
        1.0, correlation_shrinkage=shrinkage, variance_shrinkage=0.0
    ).fit(X, y)
    assert ours.correlation_shrinkage_ == pytest.approx(
        float(other.correlation_shrinkage_), rel=1e-9
    )
    for model in (other, relaxed):
        found = model.predict_proba(X)
        assert_allclose(found, ours.predict_proba(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(12, 30), (50, 7)])
@pytest.mark.parametrize("size", [1, 3, None])
@pytest.mark.parametrize("prior", [[0.2, 0.3, 0.5], [0.5, 0.0, 0.5]])
def test_posteriors_of_some_coordinates_by_the_literal_root(n, d, size, prior):
    X, y = blobs(7, n, d)
    prior = np.array(prior)
    model = CorrelatedMeMdClassifier(size, correlation_shrinkage=0.4, priors=prior).fit(
        X, y
    )
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    residuals = X - means[y]
    s = np.sqrt((residuals**2).mean(axis=0))
    Z = residuals / s
    R = 0.6 * Z.T @ Z / n + 0.4 * np.eye(d)
    W = linalg.inv(linalg.sqrtm(R)).real
    centre = prior @ means
    M, z = (means - centre) / s @ W, (X - centre) / s @ W
    assert_allclose(model.whitened_means_, M, rtol=0, atol=1e-9)
    assert_allclose(model.scores_, prior @ M**2, rtol=0, atol=1e-9)
    # which add up to that of the joint densities
    joint = MultivariateNormal()
    mu = joint.mean_parameters(means, [np.outer(s, s) * R] * 3)
    total = model.scores_.sum()
    assert total == pytest.approx(joint.js_gm(mu, prior), rel=1e-9)
    best = np.argsort(-(prior @ M**2), kind="stable")[: size or d]
    square = ((z[:, None, best] - M[None, :, best]) ** 2).sum(axis=2)
    with np.errstate(divide="ignore"):
        expected = log_softmax(np.log(prior) - 0.5 * square, axis=1)
    assert_allclose(model.predict_log_proba(X), expected, rtol=1e-9, atol=1e-8)
    assert model.n_selected_ == (size or d)
    assert model.order_[: size or d].tolist() == best.tolist()


@pytest.mark.parametrize("priors", [None, [0.1, 0.2, 0.7]])
def test_a_constant_has_slope_zero(priors):
    X, y = blobs(4, 41, 6)
    for constant in (0.1, -1e9 / 3, 1e-90):
        X[:, 2] = constant
        model = CorrelatedMeMdClassifier(correlation_shrinkage=0.1, priors=priors).fit(
            X, y
        )
        assert not model.coef_[:, 2].any()
        assert not model.whitened_means_[:, 2].any()
        assert model.coef_.any(axis=0).sum() == 5


def test_no_model_holds_its_training_rows():
    """Where there are more rows than features."""
    X, y = blobs(0, 5000, 6)
    for model in (CorrelatedMeMdClassifier(), RegularisedMeMdClassifier()):
        assert len(pickle.dumps(model.fit(X, y))) < 20_000


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_features", [None, 4])
def test_coefficients_are_those_of_the_decision_function(n_classes, n_features):
    X, y = blobs(6, 60, 6, n_classes)
    X = X * 10.0 ** np.arange(-3, 3) + 5.0
    model = CorrelatedMeMdClassifier(n_features).fit(X, y)
    found = X @ model.coef_.T + model.intercept_
    assert model.coef_.shape == (1 if n_classes == 2 else 3, 6)
    found = found[:, 0] if n_classes == 2 else log_softmax(found, axis=1)
    assert_allclose(found, model.decision_function(X), rtol=0, atol=1e-9)
