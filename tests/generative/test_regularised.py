import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import log_softmax
from scipy.stats import multivariate_normal

from memdlib.generative import RegularisedMeMdClassifier
from tests.generative.conftest import blobs


def by_definition(X, y, new, g, s, v, weight, prior):
    """Log posteriors from the covariances, written down in full."""
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    X, new = (X - low) / width, np.clip((new - low) / width, 0, 1)
    share = np.bincount(y, weight) / weight.sum()
    prior = share if prior is None else prior
    means = [np.average(X[y == k], axis=0, weights=weight[y == k]) for k in range(3)]
    own = [np.cov(X[y == k].T, aweights=weight[y == k], ddof=0) for k in range(3)]
    pooled = np.tensordot(share, own, 1)
    variance = np.diag(pooled)
    R = pooled / np.sqrt(np.outer(variance, variance))
    R = s * np.eye(len(R)) + (1 - s) * R
    variance = (1 - v) * variance + v * np.median(variance)
    common = R * np.sqrt(np.outer(variance, variance))
    with np.errstate(divide="ignore"):
        score = [
            np.log(p) + multivariate_normal(m, g * common + (1 - g) * C).logpdf(new)
            for p, m, C in zip(prior, means, own, strict=True)
        ]
    return log_softmax(np.transpose(score), axis=1)


@pytest.mark.parametrize(("n", "d"), [(60, 5), (45, 18), (12, 30)])
@pytest.mark.parametrize("g", [0.05, 0.6, 1.0])
@pytest.mark.parametrize("v", [0.0, 0.3])
@pytest.mark.parametrize("prior", [None, [0.6, 0.1, 0.3], [0.5, 0.0, 0.5]])
def test_posteriors_by_definition(n, d, g, v, prior):
    X, y = blobs(d, n, d)
    new = np.concatenate([X, 1.7 * X])
    weight = np.random.default_rng(d).uniform(0.5, 2.0, size=n) * (1 + 4 * (y == 1))
    model = RegularisedMeMdClassifier(
        g, correlation_shrinkage=0.4, variance_shrinkage=v, priors=prior
    )
    model.fit(X, y, sample_weight=weight)
    expected = by_definition(X, y, new, g, 0.4, v, weight, prior)
    assert_allclose(model.predict_log_proba(new), expected, rtol=1e-8, atol=1e-7)
    assert model.variance_shrinkage_ == v


@given(
    scale=st.sampled_from([1e-90, 1e-9, 1.0, 1e9, 1e90]),
    shift=st.sampled_from([0.0, -3.0, 1e6]),
    seed=st.integers(0, 20),
)
def test_units_do_not_matter(scale, shift, seed):
    X, y = blobs(seed, 24, 5)
    other = X.copy()
    other[:, 1] = scale * (X[:, 1] + shift)
    one = RegularisedMeMdClassifier().fit(X, y)
    two = RegularisedMeMdClassifier().fit(other, y)
    assert_allclose(two.predict_proba(other), one.predict_proba(X), rtol=0, atol=1e-7)


def test_what_lies_outside_the_range_counts_as_its_end():
    X, y = blobs(3, 40, 6)
    X[:, 1] *= 1e-90
    model = RegularisedMeMdClassifier().fit(X, y)
    far = np.concatenate([X - 1e3, X + 1e90, np.full((1, 6), 1e100)])
    ends = np.clip(far, X.min(axis=0), X.max(axis=0))
    with np.errstate(all="raise", under="ignore"):
        assert (model.predict_proba(far) == model.predict_proba(ends)).all()
    wide = X.copy()
    wide[:2, 0] = -1e100, 1e100
    assert np.isfinite(RegularisedMeMdClassifier().fit(wide, y).predict_proba(X)).all()


@pytest.mark.parametrize(("n", "rank"), [(60, 2), (9, 2)])
def test_classes_of_low_rank_have_a_density(n, rank):
    rng = np.random.default_rng([57, 11])
    y = np.arange(n) % 3
    X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, 8)) + np.eye(3, 8)[y]
    found = RegularisedMeMdClassifier(1e-9).fit(X, y).predict_log_proba(X + 0.1)
    assert np.isfinite(found).all()
