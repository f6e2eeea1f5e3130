"""What leaves a function lies in its range: divergences, kernels and their callers."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats

from memdlib import DivergenceRanker, MeMdClassifier
from memdlib.divergences import (
    jeffreys,
    jensen_shannon,
    jensen_tsallis,
    js_gm,
    kl,
    within_entropy,
)
from memdlib.families import Geometric, Normal, Polynomial, get_family
from memdlib.families.base import jensen_shannon_quadrature
from memdlib.generative import MultinomialMeMdClassifier
from memdlib.kernels import (
    exponential_js_kernel,
    js_kernel,
    jt_kernel,
    weighted_jt_kernel,
)

# empty cells, denormals, cells that differ by more than all digits, and common ones
CELLS = st.sampled_from([0.0, 5e-324, 1e-310, 1e-100, 1e-17, 1e-8, 0.3, 1.0])
ORDERS = st.sampled_from([1e-300, 1e-3, 0.05, 0.5, 1 - 1e-9, 1.0, 1 + 1e-9, 1.5, 2.0])
MEMBERS = (
    st.integers(1, 5)
    .flatmap(lambda cells: arrays(float, (3, cells), elements=CELLS))
    .filter(lambda a: (a.sum(axis=1) > 1e-9).all())
)
WEIGHTS = arrays(float, 3, elements=CELLS).filter(lambda w: w.sum() > 1e-9)


def tsallis(w, q):
    """Tsallis entropy of weights, which may differ by all digits."""
    with mp.workdps(50):
        w = [mp.mpf(float(v)) for v in w if v > 0]
        w = [v / mp.fsum(w) for v in w]
        return float((1 - mp.fsum(v ** mp.mpf(q) for v in w)) / (mp.mpf(q) - 1))


@given(MEMBERS, WEIGHTS, ORDERS)
@settings(max_examples=300, deadline=None)
def test_divergences_lie_between_their_bounds(P, w, q):
    P = P / P.sum(axis=1, keepdims=True)
    w = w / w.sum()
    assert 0 <= jensen_shannon(P, w) <= stats.entropy(w) * (1 + 1e-14) + 1e-16
    assert js_gm(P, w) >= 0
    assert kl(P[0], P[1]) >= 0
    assert jeffreys(P[0], P[1]) >= 0
    found = jensen_tsallis(P, q, w)
    assert np.isfinite(found)
    if q != 1:
        assert found <= tsallis(w, q) * (1 + 1e-9) + 1e-15
    if q >= 1:
        assert found >= 0


@given(MEMBERS, ORDERS)
@settings(max_examples=300, deadline=None)
def test_kernels_lie_between_their_bounds(X, q):
    P = X / X.sum(axis=1, keepdims=True)
    assert_array_equal(js_kernel(P) >= 0, True)
    assert_array_equal(js_kernel(P) <= math.log(2) + 1e-15, True)
    assert_array_equal(exponential_js_kernel(P) >= 0.5 - 1e-15, True)
    assert_array_equal(exponential_js_kernel(P) <= 1, True)
    weighted = [weighted_jt_kernel(X, q=q, version=version) for version in "AB"]
    for K in (jt_kernel(P, q=q), *weighted):
        assert np.isfinite(K).all()
        assert (K >= 0).all()
        # of Cauchy and Schwarz, up to the rounding that the module states
        diagonal = np.diag(K)
        bound = np.sqrt(np.outer(diagonal, diagonal)) + 1e-13 * diagonal.max()
        assert (K <= bound).all()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_order_zero_counts_common_cells_also_denormal_ones(kind):
    P = np.array([[1.0, 5e-324, 1e-310], [5e-324, 1.0, 0.0]])
    assert jt_kernel(kind(P), q=0).tolist() == [[3.0, 2.0], [2.0, 2.0]]
    assert weighted_jt_kernel(kind(P), q=0).tolist() == [[3.0, 2.0], [2.0, 2.0]]


@pytest.mark.parametrize("q", [1e-3, 0.05, 0.5, 3.0])
def test_jensen_tsallis_of_denormals_is_its_definition(q):
    P, w = [[1.0, 1e-310], [5e-324, 1.0]], [1.0, 1e-300]

    def power_sum(p):
        return mp.fsum(v**q for v in p)

    with mp.workdps(700):
        exact = [[mp.mpf(v) for v in p] for p in P]
        mixture = [a + mp.mpf(1e-300) * b for a, b in zip(*exact, strict=True)]
        pieces = mp.fsum(
            mp.mpf(v) ** q * (1 - power_sum(p)) for v, p in zip(w, exact, strict=True)
        )
        expected = float((1 - power_sum(mixture) - pieces) / (q - 1))
    assert jensen_tsallis(P, q, w) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(st.floats(-12, 6), st.floats(-16, -1), st.sampled_from([-1, 1]))
def test_geometric_densities_that_are_nearly_equal_keep_their_digits(log, size, sign):
    a = 10.0**log
    b = a * (1 + sign * 10.0**size)
    with mp.workdps(150):
        A, B = mp.mpf(a), mp.mpf(b)
        exact = A * mp.log(A * (1 + B) / (B * (1 + A))) - mp.log((1 + A) / (1 + B))
    assert Geometric().kl([a], [b]) == pytest.approx(float(exact), rel=1e-13, abs=0)


# --- Densities that are narrow for their support --------------------------------------


@pytest.mark.parametrize("width", [5.0, 1.0, 0.1, 1e-2])
@pytest.mark.parametrize("centre", [0.5, -60.0])
def test_polynomials_follow_narrow_densities(width, centre):
    """Against normal densities, which these are but for the cut."""
    f, normal = Polynomial(2, support=(-100.0, 100.0)), Normal()
    shift = np.array([0.0, 1.0])
    mean, variance = centre + width * shift, width**2 * (1.0 + shift)
    mu = normal.mean_parameters(mean, variance)
    lam = normal.natural(mu)
    digits = max(1e-9, 1e-13 * (centre / width) ** 2)
    assert_allclose(f.mean(lam)[:, 0], mean, rtol=0, atol=digits * width + 1e-3 * width)
    about_mean = f.log_density(mean, lam) + 0.5 * np.log(2 * np.pi * variance)
    assert_allclose(about_mean, 0.0, atol=max(1e-3, digits))
    assert f.kl(*mu) == pytest.approx(normal.kl(*mu), rel=1e-2)
    js, error = f.jensen_shannon(mu[:, None], [0.3, 0.7])
    expected, _ = normal.jensen_shannon(mu[:, None], [0.3, 0.7])
    assert_allclose(js, expected, rtol=1e-2)
    assert error.max() < 1e-7


def test_two_narrow_modes_at_the_ends_of_a_support():
    f = Polynomial(2, support=(0.0, 1.0))
    # exp(c x (x - 1)), which is nothing but at both ends
    lam = np.array([1e6, -1e6])
    assert_allclose(f.mean(lam), [0.5, 0.5], atol=1e-5)
    assert f.log_normaliser(lam) == pytest.approx(math.log(2e-6), abs=1e-5)


def test_divergences_of_smoothed_polynomials_stay_below_the_entropy():
    y = np.repeat([0, 1], 5)
    X = np.repeat([[0.0, 0.3], [1.0, 0.7]], 5, axis=0)
    X = X + 0.01 * np.arange(10)[:, None] % 0.03
    family = Polynomial(2, support=(-100.0, 100.0))
    for weight in (1.0, 1e3, 1e6, 1e9, 1e12):
        ranker = DivergenceRanker("js", family=family, n_features=None)
        found = ranker.fit(X, y, np.full(10, weight)).scores_
        assert (found >= 0).all()
        assert (found <= math.log(2)).all()
    assert_allclose(found, math.log(2), rtol=1e-6)
    # and the posteriors of these densities are those of the classes
    classifier = MeMdClassifier(family=family, n_features=None)
    classifier.fit(X, y, np.full(10, 1e9))
    assert_array_equal(classifier.predict(X), y)


@pytest.mark.parametrize("name", ["normal", "exponential", "poisson", "bernoulli"])
@given(st.lists(st.floats(1e-12, 1 - 1e-12), min_size=3, max_size=3), WEIGHTS)
@settings(max_examples=30, deadline=None)
def test_families_keep_the_bound_of_jensen_and_shannon(name, means, w):
    f, w = get_family(name), w / w.sum()
    mu = np.array(means)[:, None, None]
    if name == "normal":
        mu = f.mean_parameters(mu[..., 0], 0.1 + mu[..., 0])
    value, _ = f.jensen_shannon(mu, w)
    assert 0 <= value[0] <= within_entropy(np.inf, w)


def test_an_integral_that_is_no_number_is_refused():
    value, error = jensen_shannon_quadrature(
        lambda x, features: np.full((2, *x.shape), np.nan),
        np.array([[0.0, 1.0]]),
        np.array([0.5, 0.5]),
    )
    assert np.isnan([value, error]).all()

    class Lost(Normal):
        def jensen_shannon(self, mu, weights, location=None):
            return np.full(mu.shape[1], np.nan), np.full(mu.shape[1], np.nan)

    X, y = np.arange(8.0).reshape(4, 2), [0, 0, 1, 1]
    with pytest.raises(ValueError, match="feature 0 is nan: .*rank by"):
        DivergenceRanker("js", family=Lost()).fit(X, y)
    assert np.isfinite(DivergenceRanker("js_gm", family=Lost()).fit(X, y).scores_).all()


# --- Documents ------------------------------------------------------------------------

DOCUMENTS = np.array([[2.0, 0, 1, 0], [1, 0, 2, 0], [0, 3, 1, 0], [0, 1, 1, 0]])


@pytest.mark.parametrize("n_features", [None, 1, 2, 4, "auto"])
def test_dense_documents_are_answered_as_sparse_ones(n_features):
    """Without smoothing, where words are impossible in some classes, or in all."""
    X, y = np.tile(DOCUMENTS, (3, 1)), np.tile([0, 0, 1, 1], 3)
    model = MultinomialMeMdClassifier(n_features=n_features, alpha=0.0, random_state=0)
    forms = X, sparse.csr_array(X)
    dense, thin = (model.fit(form, y).predict_log_proba(form) for form in forms)
    assert_allclose(dense, thin, rtol=0, atol=1e-12)
    assert not np.isnan(dense).any()
    if n_features is None:
        assert_array_equal(np.exp(dense), np.eye(2)[y])
        with pytest.raises(ValueError, match="row 1 of X holds words .* use alpha > 0"):
            model.predict([[1.0, 0, 0, 0], [1, 1, 0, 0]])
        smooth = model.set_params(alpha=1.0).fit(X, y)
        assert np.isfinite(smooth.predict_log_proba([[1.0, 1, 0, 0]])).all()


# so long documents leave next to nothing to tell the rows by
@pytest.mark.filterwarnings("ignore:all training rows have")
@pytest.mark.parametrize(
    "model",
    [
        MultinomialMeMdClassifier(n_features=None),
        MeMdClassifier(family="multinomial", n_features=None),
    ],
    ids=str,
)
def test_documents_beyond_the_digits_are_refused_unless_a_class_is_certain(model):
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 10)
    words = rng.poisson(np.array([[3.0, 2], [2, 3]])[y]) + 1.0
    for scale in (1e12, 1e15):
        X = np.column_stack([np.full(20, scale), words])
        model.fit(X, y)
        for form in (X, sparse.csr_array(X)):
            with pytest.raises(ValueError, match="row 0 of X holds 1e.* larger units"):
                model.predict_proba(form)
        # twice as many of the other words: nothing is left in doubt
        certain = X * [0, 1e3 * scale, 0] + [0, 0, 1]
        assert model.predict_proba(certain).max(axis=1).min() == 1.0
    # the remedy
    X[:, 0] = 1e15 / 1e9
    assert np.isfinite(model.fit(X, y).predict_proba(X)).all()
