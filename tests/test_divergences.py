import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from memdlib.divergences import (
    jeffreys,
    jensen_shannon,
    js_gm,
    kl,
    log_ratio,
    x_minus_log1p,
)

mp.mp.dps = 50


def distributions(n_classes=1):
    """Strategy: that many distributions on the same 2 to 8 cells, no cell empty."""
    return st.integers(2, 8).flatmap(
        lambda cells: arrays(
            float, (n_classes, cells), elements=st.floats(1e-3, 1.0)
        ).map(lambda a: a / a.sum(axis=1, keepdims=True))
    )


def exact_kl(p, q):
    p, q = [mp.mpf(float(v)) for v in p], [mp.mpf(float(v)) for v in q]
    p, q = [v / mp.fsum(p) for v in p], [v / mp.fsum(q) for v in q]
    return mp.fsum(a * mp.log(a / b) for a, b in zip(p, q, strict=True) if a)


def near_pair(size, seed=0):
    rng = np.random.default_rng([3, seed])
    p = rng.dirichlet(np.ones(200))
    q = p * (1 + size * rng.standard_normal(200))
    return p, q / q.sum()


@pytest.mark.parametrize("x", [-0.9, -0.5, -1e-9, 1e-300, 1e-12, 1e-3, 0.5, 0.51, 9.0])
def test_x_minus_log1p_has_all_digits(x):
    exact = mp.mpf(x) - mp.log1p(mp.mpf(x))
    assert float(x_minus_log1p(x)) == pytest.approx(float(exact), rel=4e-15)


def test_x_minus_log1p_at_its_ends():
    assert x_minus_log1p([-1.0, 0.0, np.inf]).tolist() == [np.inf, 0.0, np.inf]


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [(0, 0, 0), (1, 0, np.inf), (0, 1, -np.inf), (1e300, 1e-300, np.log(10) * 600)],
)
def test_log_ratio_at_its_edges(p, q, expected):
    assert float(log_ratio(p, q)) == pytest.approx(expected, rel=1e-15)


def test_kl_equals_scipy():
    rng = np.random.default_rng([3, 1])
    P, Q = rng.dirichlet(np.ones(6), size=(2, 50))
    np.testing.assert_allclose(kl(P, Q), stats.entropy(P, Q, axis=1), rtol=1e-12)


@pytest.mark.parametrize("size", [1e-2, 1e-5, 1e-7])
def test_near_equality_keeps_its_digits(size):
    p, q = near_pair(size)
    forward, backward = exact_kl(p, q), exact_kl(q, p)
    assert float(kl(p, q)) == pytest.approx(float(forward), rel=1e-8)
    assert float(jeffreys(p, q)) == pytest.approx(float(forward + backward), rel=1e-8)
    middle = (p + q) / 2
    exact = (exact_kl(p, middle) + exact_kl(q, middle)) / 2
    assert float(jensen_shannon([p, q])) == pytest.approx(float(exact), rel=1e-7)
    assert float(js_gm([p, q])) == pytest.approx(
        float(forward + backward) / 4, rel=1e-8
    )


def test_kl_of_extreme_ratios():
    p, q = [1e-200, 1.0], [0.5, 0.5]
    assert float(kl(p, q)) == pytest.approx(np.log(2), rel=1e-15)
    assert float(kl(q, p)) == pytest.approx(float(exact_kl(q, p)), rel=1e-12)


def test_violated_absolute_continuity_is_infinite():
    assert kl([0.5, 0.5], [1, 0]) == np.inf
    assert kl([1, 0], [0.5, 0.5]) == pytest.approx(np.log(2))
    assert jeffreys([0.5, 0.5], [1, 0]) == np.inf
    assert js_gm([[0.5, 0.5], [1, 0]]) == np.inf
    assert jeffreys([1, 0, 0], [1, 0, 0]) == 0
    assert js_gm([[0.5, 0.5, 0], [0.2, 0.8, 0]]) < np.inf


def test_jensen_shannon_of_known_cases():
    pair = [[0.5, 0.5, 0], [0, 0.5, 0.5]]
    known = 0.40563906222956625 * np.log(2)
    assert float(jensen_shannon(pair, [0.25, 0.75])) == pytest.approx(known, rel=1e-14)
    assert jensen_shannon([[0.3, 0.7]] * 3) == 0
    w = [0.2, 0.3, 0.5]
    assert float(jensen_shannon(np.eye(3), w)) == pytest.approx(stats.entropy(w))


@given(distributions(2))
def test_jeffreys_is_a_symmetric_sum(P):
    p, q = P
    assert jeffreys(p, q) >= 0
    assert float(jeffreys(p, q)) == float(jeffreys(q, p))
    assert float(jeffreys(p, q)) == pytest.approx(
        float(kl(p, q) + kl(q, p)), rel=1e-9, abs=1e-15
    )


@given(distributions(4), distributions(1))
def test_js_gm_is_the_pair_sum_and_bounds_js(P, w):
    w = np.resize(w[0], 4) / np.resize(w[0], 4).sum()
    pairs = sum(
        w[k] * w[j] * np.sum((P[k] - P[j]) * np.log(P[k] / P[j]))
        for k in range(4)
        for j in range(k)
    )
    assert float(js_gm(P, w)) == pytest.approx(pairs, rel=1e-9, abs=1e-14)
    geometric = np.exp(w @ np.log(P))
    definition = sum(w[k] * np.sum(P[k] * np.log(P[k] / geometric)) for k in range(4))
    assert float(js_gm(P, w)) == pytest.approx(definition, rel=1e-6, abs=1e-13)
    js = float(jensen_shannon(P, w))
    assert js <= float(js_gm(P, w)) + 1e-14
    assert js <= stats.entropy(w) + 1e-14


@given(distributions(3))
def test_order_and_weightless_classes_do_not_matter(P):
    w = np.array([0.2, 0.3, 0.5])
    for divergence in (jensen_shannon, js_gm):
        value = float(divergence(P, w))
        turned = float(divergence(P[[2, 0, 1]], w[[2, 0, 1]]))
        assert turned == pytest.approx(value, rel=1e-8, abs=1e-14)
        extra = np.vstack([P, np.eye(1, P.shape[1])])
        assert float(divergence(extra, [*w, 0])) == pytest.approx(value, rel=1e-12)


def test_leading_axes_are_kept():
    P = np.random.default_rng([3, 2]).dirichlet(np.ones(5), size=(7, 3))
    assert js_gm(P).shape == (7,)
    assert float(js_gm(P)[4]) == pytest.approx(float(js_gm(P[4])), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kl([0.5, 0.6], [0.5, 0.5]), r"p sums to 1\.1 .*divide by p\.sum"),
        (lambda: kl([0.5, 0.5], [1.5, -0.5]), r"q\[1\] = -0\.5 is not a probability"),
        (lambda: kl([np.nan, 1], [0.5, 0.5]), r"p\[0\] = nan"),
        (lambda: js_gm([0.5, 0.5]), r"P needs shape \(\.\.\., K, n_cells\)"),
        (lambda: js_gm([[0.5, 0.5]] * 2, [1.0]), r"weights has shape \(1,\)"),
        (lambda: jeffreys([], []), "at least one cell"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
