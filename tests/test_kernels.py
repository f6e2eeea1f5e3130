import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel

from memdlib.divergences import jensen_shannon, jensen_tsallis
from memdlib.kernels import (
    exponential_js_kernel,
    js_kernel,
    jt_kernel,
    weighted_jt_kernel,
)
from tests.book.topics.test_information_kernels import f

ORDERS = [0.05, 0.5, 0.9, 1.0, 1.1, 1.5, 2.0]


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


@pytest.mark.parametrize("q", ORDERS)
def test_weighted_kernels_against_their_definition(q):
    X, Y = measures(5, 7, seed=1), measures(4, 7, seed=2)
    B = f(X[:, None], Y, q).sum(axis=2)
    A = B / np.add.outer(X.sum(axis=1), Y.sum(axis=1)) ** q
    for kind in (np.asarray, sparse.csr_array, sparse.csc_matrix):
        for version, expected in (("A", A), ("B", B)):
            found = weighted_jt_kernel(kind(X), Y, q=q, version=version)
            assert_allclose(found, expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("q", ORDERS)
def test_kernels_between_distributions_against_the_divergences(q):
    X, Y = distributions(6, 9, seed=3), distributions(5, 9, seed=4)
    half = math.log(2) if q == 1 else (2 ** (1 - q) - 1) / (1 - q)
    T = np.array([[jensen_tsallis([a, b], q) for b in Y] for a in X])
    for kind in (np.asarray, sparse.csr_array):
        found = jt_kernel(kind(X), kind(Y), q=q)
        assert_allclose(found, half - T, rtol=1e-7, atol=1e-14)


def test_jensen_shannon_kernels_against_the_divergence():
    X, Y = distributions(6, 9, seed=3), distributions(5, 9, seed=4)
    JS = np.array([[jensen_shannon([a, b]) for b in Y] for a in X])
    assert_allclose(js_kernel(X, Y), math.log(2) - JS, rtol=1e-7, atol=1e-15)
    for t in (0.0, 0.5, 30.0):
        assert_allclose(exponential_js_kernel(X, Y, t=t), np.exp(-t * JS), rtol=1e-13)


def test_limits_of_the_order():
    X, Y = distributions(6, 9, seed=5), distributions(4, 9, seed=6)
    assert_allclose(jt_kernel(X, Y, q=2), linear_kernel(X, Y) / 2, rtol=1e-9)
    common = (X > 0).astype(float) @ (Y > 0).T
    assert_allclose(jt_kernel(X, Y, q=0), common, rtol=1e-12)
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: js_kernel([[0.5, 0.4]]), "row 0 of X sums to 0.9, not to 1; divide"),
        (lambda: js_kernel([[1, 0], [2, -1]]), "Negative values in data passed to X"),
        (
            lambda: js_kernel(sparse.csr_array([[2.0, -1.0]])),
            "Negative values in data passed to X",
        ),
        (lambda: weighted_jt_kernel([[1, 1], [0, 0]]), "row 1 of X has no mass"),
        (lambda: weighted_jt_kernel([[1]], version="C"), "version='C' must be one of"),
        (lambda: weighted_jt_kernel([[1]], q=math.nan), "q=nan must be a number from"),
        (lambda: jt_kernel([[1.0]], q="1"), "q='1' must be a number from 0 to 2"),
        (lambda: exponential_js_kernel([[1.0]], t=-1), "t=-1 must be a float in"),
        (lambda: js_kernel([[math.nan, 1.0]]), "contains NaN"),
        (lambda: js_kernel([[1.0]], [[0.5, 0.5]]), "Incompatible dimension for X and"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "kernel", [js_kernel, exponential_js_kernel, jt_kernel, weighted_jt_kernel]
)
def test_two_rows_give_a_number_and_tables_a_table(kernel):
    P = np.random.default_rng([29, 9]).dirichlet(np.ones(4), size=3)
    K = kernel(P, P[:2])
    assert K.shape == (3, 2) and kernel(P).shape == (3, 3)
    found = kernel(P[2], P[1])
    assert type(found) is float and found == pytest.approx(K[2, 1], rel=1e-12)
    assert kernel(P[:1], P[:1]).shape == (1, 1)
