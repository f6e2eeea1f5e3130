import math

import mpmath
import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import linear_kernel, pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC

from memdlib import kernels
from memdlib.divergences import jensen_shannon, jensen_tsallis
from memdlib.kernels import (
    exponential_js_kernel,
    js_kernel,
    jt_kernel,
    weighted_jt_kernel,
)

ORDERS = [0.0, 0.05, 0.5, 0.9, 1.0, 1.1, 1.5, 2.0]


def measures(n, d, seed, zeros=0.4):
    """Rows of very different masses, some of whose cells are empty."""
    rng = np.random.default_rng([91, seed])
    X = rng.gamma(0.7, size=(n, d)) * 10.0 ** rng.uniform(-2, 2, size=(n, 1))
    X *= rng.random((n, d)) > zeros
    X[:, 0] += 1e-3
    return X


def distributions(n, d, seed, zeros=0.4):
    X = measures(n, d, seed, zeros)
    return X / X.sum(axis=1, keepdims=True)


def tsallis(p, q):
    """Tsallis entropy, term by term as it is written."""
    p = [v for v in p if v > 0]
    if q == 1:
        return -sum(v * math.log(v) for v in p)
    return (1 - sum(v**q for v in p)) / (q - 1)


def literal(a, b, q):
    """Version A between two measures: S_q(pi) - T_q^pi, as it is written."""
    u, v = sum(a), sum(b)
    pi = (u / (u + v), v / (u + v))
    members = (a / u, b / v)
    mixture = pi[0] * members[0] + pi[1] * members[1]
    own = sum(w**q * tsallis(p, q) for w, p in zip(pi, members, strict=True))
    return tsallis(pi, q) - (tsallis(mixture, q) - own)


def least_eigenvalue(K):
    """Relative to the greatest."""
    values = np.linalg.eigvalsh(K)
    return values[0] / values[-1]


@pytest.mark.parametrize("q", ORDERS)
def test_weighted_kernels_against_their_definition(q):
    X, Y = measures(5, 7, seed=1), measures(4, 7, seed=2)
    A = np.array([[literal(a, b, q) for b in Y] for a in X])
    B = A * np.add.outer(X.sum(axis=1), Y.sum(axis=1)) ** q
    for kind in (np.asarray, sparse.csr_array, sparse.csc_matrix):
        for version, expected in (("A", A), ("B", B)):
            found = weighted_jt_kernel(kind(X), Y, q=q, version=version)
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("q", ORDERS[1:])
def test_kernels_between_distributions_against_the_divergences(q):
    X, Y = distributions(6, 9, seed=3), distributions(5, 9, seed=4)
    half = math.log(2) if q == 1 else (2 ** (1 - q) - 1) / (1 - q)
    T = [[jensen_tsallis([a, b], q) for b in Y] for a in X]
    np.testing.assert_allclose(
        jt_kernel(X, Y, q=q), half - np.array(T), rtol=1e-7, atol=1e-14
    )
    np.testing.assert_allclose(
        jt_kernel(sparse.csr_array(X), sparse.csr_array(Y), q=q),
        jt_kernel(X, Y, q=q),
        rtol=1e-12,
        atol=1e-15,
    )


def test_jensen_shannon_kernels_against_the_divergence():
    X, Y = distributions(6, 9, seed=3), distributions(5, 9, seed=4)
    JS = np.array([[jensen_shannon([a, b]) for b in Y] for a in X])
    np.testing.assert_allclose(js_kernel(X, Y), math.log(2) - JS, rtol=1e-7, atol=1e-15)
    for t in (0.0, 0.5, 30.0):
        np.testing.assert_allclose(
            exponential_js_kernel(X, Y, t=t), np.exp(-t * JS), rtol=1e-13
        )


@pytest.mark.parametrize("q", [0.1, 0.7, 1.0, 1.3, 1.9])
def test_the_feature_map_gives_the_kernel(q):
    """Its integral is positive definite by its form; so is the kernel."""
    # in log t the trapezoidal rule converges geometrically
    s, step = np.linspace(-310, 310, 6201, retstep=True)
    for a, b in ((0.3, 0.3), (1e-6, 0.9), (4.0, 0.02)):
        features = np.expm1(-a * np.exp(s)) * np.expm1(-b * np.exp(s))
        value = q / math.gamma(2 - q) * step * (features * np.exp(-q * s)).sum()
        found = weighted_jt_kernel([a], [b], q=q, version="B")
        assert found == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("seed", range(3))
def test_gram_matrices_are_positive_semidefinite(q, seed):
    X = measures(30, 3 + 2 * seed, seed, zeros=0.2 * seed)
    for version in ("A", "B"):
        K = weighted_jt_kernel(X, q=q, version=version)
        np.testing.assert_array_equal(K, K.T)
        assert least_eigenvalue(K) > -1e-13
    P = distributions(30, 3 + 2 * seed, seed)
    assert least_eigenvalue(jt_kernel(P, q=q)) > -1e-13
    assert least_eigenvalue(exponential_js_kernel(P, t=0.2 + 3 * q)) > -1e-13


@pytest.mark.parametrize("q", [2.5, 3.0])
def test_above_two_they_are_not(q):
    """One concentrated distribution, and one spread over many other cells."""
    P = np.zeros((2, 2000))
    P[0, 0], P[1, 0], P[1, 1:] = 1.0, 0.02, 0.98 / 1999
    K = np.array([[literal(a, b, q) for b in P] for a in P])
    assert np.linalg.det(K) < -1e-5  # both versions: 2^q apart
    for kernel in (jt_kernel, weighted_jt_kernel):
        with pytest.raises(ValueError, match=rf"q={q} must be a number from 0 to 2"):
            kernel(P, q=q)


def test_below_zero_they_are_not():
    M = np.array([[1.0], [0.01]])
    K = np.array([[literal(a, b, -1.0) / (a + b)[0] for b in M] for a in M])
    assert least_eigenvalue(K) < -0.1
    with pytest.raises(ValueError, match="q=-1.0 must be a number from 0 to 2"):
        weighted_jt_kernel(M, q=-1.0, version="B")


def test_limits_of_the_order():
    X, Y = distributions(6, 9, seed=5), distributions(4, 9, seed=6)
    np.testing.assert_allclose(jt_kernel(X, Y, q=2), linear_kernel(X, Y) / 2, rtol=1e-9)
    common = (X > 0).astype(float) @ (Y > 0).T
    np.testing.assert_allclose(jt_kernel(X, Y, q=0), common, rtol=1e-12)
    for step in (1e-3, 1e-6, 1e-9, 1e-12):
        for q in (1 - step, 1 + step):
            away = jt_kernel(X, Y, q=q) - js_kernel(X, Y)
            assert abs(away).max() < 3 * step + 1e-14


def test_near_equal_distributions_give_numbers():
    rng = np.random.default_rng([91, 7])
    p = rng.dirichlet(np.full(50, 0.3))
    X = p * (1 + np.outer([0, 1e-15, 1e-12, 1e-9], rng.normal(size=50)))
    X /= X.sum(axis=1, keepdims=True)
    assert abs(js_kernel(X) - math.log(2)).max() < 1e-14
    assert exponential_js_kernel(X, t=1e3).min() > 1 - 1e-10
    assert exponential_js_kernel(X, t=1e3).max() <= 1
    X = distributions(20, 30, seed=8)
    np.testing.assert_allclose(
        js_kernel(X, X[:7]), math.log(2) - cdist(X, X[:7], "jensenshannon") ** 2
    )


def test_no_common_cell_is_zero():
    P = np.array([[0.2, 0.8, 0, 0], [0, 0, 0.7, 0.3]])
    for kind in (np.asarray, sparse.csr_array):
        for q in ORDERS:
            K = jt_kernel(kind(P), q=q)
            assert 0 <= K[0, 1] < 1e-15 and K[0, 0] > 0


@pytest.mark.parametrize("q", [0.0, 0.6, 1.0, 2.0])
def test_blocks_do_not_show(q, monkeypatch):
    X, Y = measures(13, 6, seed=9), measures(8, 6, seed=10)
    thin = sparse.csr_array(X), sparse.csr_array(Y)
    whole = weighted_jt_kernel(X, Y, q=q), weighted_jt_kernel(X, q=q)
    monkeypatch.setattr(kernels, "_BLOCK", 13)
    np.testing.assert_array_equal(weighted_jt_kernel(X, Y, q=q), whole[0])
    np.testing.assert_array_equal(weighted_jt_kernel(X, q=q), whole[1])
    np.testing.assert_allclose(
        weighted_jt_kernel(*thin, q=q), whole[0], rtol=1e-7, atol=1e-13
    )
    np.testing.assert_allclose(
        weighted_jt_kernel(thin[0], q=q), whole[1], rtol=1e-7, atol=1e-13
    )


@pytest.mark.parametrize("scale", [1e-90, 7.0, 1e90])
def test_how_kernels_scale(scale):
    X = measures(6, 5, seed=11)
    np.testing.assert_allclose(
        weighted_jt_kernel(scale * X, q=1.4),
        weighted_jt_kernel(X, q=1.4),
        rtol=1e-7,
        atol=1e-14,
    )
    np.testing.assert_allclose(
        weighted_jt_kernel(scale * X, q=0.7, version="B") / scale**0.7,
        weighted_jt_kernel(X, q=0.7, version="B"),
        rtol=1e-10,
    )


@pytest.mark.parametrize("q", [*ORDERS, 0.999, 1 - 1e-9, 1 + 1e-9, 1.001, 1.999])
def test_masses_far_apart_are_rounded_as_the_larger_one(q):
    a, p = np.array([0.3, 0.7, 0.0]), np.array([0.2, 0.3, 0.5])
    order = mpmath.mpf(q)
    for digits in (0, 2, 4, 8, 12, 16, 60, 99):
        b = p * 10.0**-digits
        total = mpmath.mpf(0)
        with mpmath.workdps(350):
            for x, y in zip(a[:2], b[:2], strict=True):
                x, y = mpmath.mpf(float(x)), mpmath.mpf(float(y))
                f = [
                    s * mpmath.log(s) if q == 1 else s**order / (order - 1)
                    for s in (x + y, x, y)
                ]
                total += f[0] - f[1] - f[2]
        for form in (np.asarray, sparse.csr_array):
            B = weighted_jt_kernel(form([a]), form([b]), q=q, version="B")
            A = weighted_jt_kernel(form([a]), form([b]), q=q)
            assert B[0, 0] == pytest.approx(float(total), rel=1e-12, abs=1e-14)
            assert A[0, 0] == pytest.approx(B[0, 0] / (1 + b.sum()) ** q, rel=1e-12)
        both = weighted_jt_kernel([a, b], q=q, version="B")
        assert both[0, 1] == both[1, 0]
        assert both[0, 1] == pytest.approx(float(total), rel=1e-12, abs=1e-14)


def test_entries_stored_in_parts_count_once():
    parts = sparse.csr_array(([0.5, 0.25, 0.25], [0, 1, 1], [0, 3]), shape=(1, 3))
    assert js_kernel(parts)[0, 0] == pytest.approx(math.log(2), rel=1e-15)


def test_scikit_learn_uses_them():
    X, y = load_digits(n_class=3, return_X_y=True)
    X, y = X[:180], y[:180]
    model = make_pipeline(Normalizer("l1"), SVC(kernel=js_kernel))
    assert model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    thin = model.fit(sparse.csr_matrix(X[::2]), y[::2])
    assert thin.score(sparse.csr_matrix(X[1::2]), y[1::2]) > 0.9
    P = Normalizer("l1").transform(X[:40])
    K = jt_kernel(P, q=1.5)
    options = {"metric": jt_kernel, "q": 1.5}
    np.testing.assert_allclose(pairwise_kernels(P, **options), K, rtol=1e-12)
    low = Nystroem(jt_kernel, kernel_params={"q": 1.5}, n_components=40, random_state=0)
    Z = low.fit_transform(P)
    np.testing.assert_allclose(Z @ Z.T, K, rtol=1e-7, atol=1e-7)
    grid = GridSearchCV(SVC(kernel="precomputed"), {"C": [1, 10]}, cv=3)
    assert grid.fit(weighted_jt_kernel(X, version="B"), y).best_score_ > 0.9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: js_kernel([[0.5, 0.4]]), "row 0 of X sums to 0.9, not to 1; use skl"),
        (lambda: js_kernel([[1.0]], [[1.0], [2.0]]), "row 1 of Y sums to 2, not to 1"),
        (lambda: js_kernel([[1, 0], [2, -1]]), "Negative values in data passed to X"),
        (
            lambda: js_kernel(sparse.csr_array([[1, 0], [2.0, -1.0]])),
            "Negative values in data passed to X",
        ),
        (lambda: weighted_jt_kernel([[1, 1], [0, 0]]), "row 1 of X is zero throughout"),
        (lambda: weighted_jt_kernel([[1]], version="C"), "version='C' must be one of"),
        (lambda: weighted_jt_kernel([[1]], q=True), "q=True must be a number from 0"),
        (lambda: weighted_jt_kernel([[1]], q=math.nan), "q=nan must be a number from"),
        (lambda: jt_kernel([[1.0]], q="1"), "q='1' must be a number from 0 to 2"),
        (lambda: exponential_js_kernel([[1.0]], t=-1), "t=-1 must be a finite number"),
        (lambda: js_kernel([[math.nan, 1.0]]), "contains NaN"),
        (lambda: js_kernel([[1.0]], [[0.5, 0.5]]), "Incompatible dimension for X and"),
        (lambda: js_kernel([0.5, 0.5]), "Expected 2D array, got 1D array instead"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "kernel",
    [
        js_kernel,
        exponential_js_kernel,
        lambda X, Y=None: jt_kernel(X, Y, q=1.5),
        lambda X, Y=None: weighted_jt_kernel(X, Y, q=0.5),
        lambda X, Y=None: weighted_jt_kernel(X, Y, q=1.5, version="B"),
    ],
)
def test_two_rows_give_a_number_and_tables_a_table(kernel):
    P = np.random.default_rng([29, 9]).dirichlet(np.ones(4), size=3)
    K = kernel(P, P[:2])
    assert K.shape == (3, 2) and kernel(P).shape == (3, 3)
    found = kernel(P[2], P[1])
    assert type(found) is float and found == pytest.approx(K[2, 1], rel=1e-12)
    assert kernel(P[:1], P[:1]).shape == (1, 1)
