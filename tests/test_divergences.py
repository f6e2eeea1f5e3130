import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from memdlib.divergences import (
    jeffreys,
    jensen_shannon,
    jensen_tsallis,
    js_gm,
    kl,
    log_ratio,
    x_minus_log1p,
)


def close(value, rel=1e-12):
    """Equal but for a relative error, however small the value is."""
    return pytest.approx(float(value), rel=rel, abs=0)


def distributions(n_classes=1, values=None):
    """Strategy: that many distributions on the same 2 to 8 cells, no cell empty."""
    values = st.floats(1e-3, 1.0) if values is None else values
    return st.integers(2, 8).flatmap(
        lambda cells: (
            arrays(float, (n_classes, cells), elements=values)
            .filter(lambda a: a.sum(axis=1).all())
            .map(lambda a: a / a.sum(axis=1, keepdims=True))
        )
    )


# cells that are empty, nearly so, or alike: where formulas divide and subtract
HARD = st.sampled_from([0.0, 1e-300, 1e-17, 1e-8, 0.5, 1.0])


def exact(p):
    """The distribution in 50 digits."""
    p = [mp.mpf(float(v)) for v in p]
    return [v / mp.fsum(p) for v in p]


def exact_kl(p, q):
    return mp.fsum(a * mp.log(a / b) for a, b in zip(p, q, strict=True) if a)


def exact_js(P, w):
    mixture = [mp.fsum(map(mp.fmul, w, cell)) for cell in zip(*P, strict=True)]
    return mp.fsum(a * exact_kl(p, mixture) for a, p in zip(w, P, strict=True))


def exact_js_gm(P, w):
    return mp.fsum(
        w[k] * w[j] * (exact_kl(P[k], P[j]) + exact_kl(P[j], P[k]))
        for k in range(len(P))
        for j in range(k)
    )


def near(size, n_classes=2):
    """Distributions on 200 cells, a tenth of them empty, that differ by that much."""
    rng = np.random.default_rng([3, 0])
    p = rng.dirichlet(np.ones(200)) * (np.arange(200) % 10 > 0)
    P = p * (1 + size * rng.standard_normal((n_classes, 200)))
    return P / P.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("x", [-0.9, -0.5, -1e-9, 1e-300, 1e-12, 1e-3, 0.5, 0.51, 9.0])
def test_x_minus_log1p_has_all_digits(x):
    exact = mp.mpf(x) - mp.log1p(mp.mpf(x))
    assert float(x_minus_log1p(x)) == close(exact, rel=4e-15)


def test_x_minus_log1p_at_its_ends():
    assert x_minus_log1p([-1.0, 0.0, np.inf]).tolist() == [np.inf, 0.0, np.inf]


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [(0, 0, 0), (1, 0, np.inf), (0, 1, -np.inf), (1e300, 1e-300, np.log(10) * 600)],
)
def test_log_ratio_at_its_edges(p, q, expected):
    assert float(log_ratio(p, q)) == close(expected, rel=1e-15)


@pytest.mark.parametrize("change", [1e-14, -1e-9, 1e-3, 0.9, 2.5])
def test_log_ratio_has_all_digits(change):
    for p in (1e-300, 1e-3, 1.0):
        q = p * (1 + change)
        exact = mp.log(mp.mpf(p) / mp.mpf(q))
        assert float(log_ratio(p, q)) == close(exact, rel=2e-13)


@pytest.mark.parametrize("size", [1e-2, 1e-5, 1e-7, 1e-8])
@pytest.mark.parametrize("w", [[0.2, 0.3, 0.5], [1e-6, 1 - 1e-6, 0], [1, 1e-9, 1e-12]])
def test_near_equality_keeps_its_digits(size, w):
    P, w = near(size, 3), np.array(w) / sum(w)
    exact_P, exact_w = [exact(p) for p in P], exact(w)
    forward, backward = exact_kl(*exact_P[:2]), exact_kl(*exact_P[1::-1])
    for found, expected in (
        (kl(P[0], P[1]), forward),
        (jeffreys(P[0], P[1]), forward + backward),
        (jensen_shannon(P, w), exact_js(exact_P, exact_w)),
        (js_gm(P, w), exact_js_gm(exact_P, exact_w)),
    ):
        assert float(found) == close(expected, rel=1e-8)


@pytest.mark.parametrize("w", [[1e-17, 1.0], [1e-7, 1.0000005], [1.0, 1e-12]])
def test_a_class_of_tiny_weight_counts_for_little_not_for_infinity(w):
    # weights that sum to one within rounding only, as those of float32 do
    share = exact(w)
    entropy = -sum(a * mp.log(a) for a in share)
    assert float(jensen_shannon(np.eye(2), w)) == close(entropy, rel=1e-9)
    expected = share[0] * share[1] * 0.1 * np.log(1.5)
    assert float(js_gm([[0.5, 0.5], [0.4, 0.6]], w)) == close(expected, rel=1e-9)


@given(distributions(3, HARD), distributions(1, st.sampled_from([1e-12, 0.3, 1.0])))
def test_empty_cells_give_infinity_where_they_must_and_never_nan(P, w):
    w = np.resize(w[0], 3) / np.resize(w[0], 3).sum()
    alike = ((P > 0) == (P[0] > 0)).all()
    assert np.isfinite(js_gm(P, w)) == alike
    assert js_gm(P, w) >= 0
    assert 0 <= jensen_shannon(P, w) <= stats.entropy(w) * (1 + 1e-12)
    for k in range(3):
        inside = not (P[k][P[0] == 0] > 0).any()
        assert np.isfinite(kl(P[k], P[0])) == inside
        assert kl(P[k], P[0]) >= 0
        same = (P[k] == P[0]).all()
        assert (jeffreys(P[k], P[0]) == 0) == same


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kl([0.5, 0.6], [0.5, 0.5]), r"p sums to 1\.1 .*divide by p\.sum"),
        (lambda: kl([0.5, 0.5], [1.5, -0.5]), r"q = -0\.5 at index \(1,\)"),
        (lambda: js_gm([0.5, 0.5]), r"P needs shape \(\.\.\., K, n_cells\)"),
        (lambda: js_gm([[0.5, 0.5]] * 2, [1.0]), r"weights has shape \(1,\)"),
        (lambda: jeffreys([], []), "at least one cell"),
        (lambda: js_gm(np.eye(2), [0.5, 0.6]), r"weights sums to 1\.1 .*not to 1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def exact_tsallis(P, w, q):
    def entropy(p):
        return (1 - mp.fsum(x**q for x in p if x > 0)) / (q - 1)

    mixture = [mp.fsum(map(mp.fmul, w, cell)) for cell in zip(*P, strict=True)]
    parts = mp.fsum(v**q * entropy(p) for v, p in zip(w, P, strict=True))
    return entropy(mixture) - parts


@pytest.mark.parametrize("q", [0.3, 0.5, 1 - 1e-9, 1 + 1e-9, 1.5, 2.0, 4.0])
@given(distributions(3))
@settings(max_examples=20)
def test_jensen_tsallis_is_its_definition(q, P):
    w = np.array([0.2, 0.3, 0.5])
    exact_P, exact_w = [exact(p) for p in P], exact(w)
    expected = float(exact_tsallis(exact_P, exact_w, mp.mpf(q)))
    found = float(jensen_tsallis(P, q, w))
    assert found == pytest.approx(expected, rel=2e-15, abs=2e-15)


def test_cells_that_underflow_add_nothing():
    P = [[1 - 1e-3, 1e-3, 5e-324], [0.5, 0.5, 0.0]]
    expected = jensen_shannon([p[:2] for p in P], [0.25, 0.75])
    assert jensen_shannon(P, [0.25, 0.75]) == expected
    assert np.isfinite(jensen_tsallis(P, 0.5, [0.25, 0.75]))
