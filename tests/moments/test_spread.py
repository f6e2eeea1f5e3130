"""Mean and variance of columns against exact fractions, whole and in parts."""

from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from memdlib.moments import spread
from memdlib.moments.spread import Spread, row_blocks

KINDS = (np.asarray, np.asfortranarray, csr_array)


def data(n, d, seed, zeros=0.5):
    rng = np.random.default_rng([32, seed])
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) > zeros)
    return X, rng.integers(1, 5, size=n).astype(float)


def exact_squares(column, weight):
    """Squares of the standardised values of a column that varies."""
    values, weight = [Fraction(x) for x in column], [Fraction(w) for w in weight]
    mean = sum(w * x for w, x in zip(weight, values, strict=True)) / sum(weight)
    square = [(x - mean) ** 2 for x in values]
    variance = sum(w * s for w, s in zip(weight, square, strict=True)) / sum(weight)
    return [float(s / variance) for s in square]


def squares(found, X):
    origin, scale, shift = found.standardising()
    return ((X / 2 - origin) * scale - shift) ** 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("factor", "offset"),
    [(1.0, 0.0), (1e-3, 0.0), (1.0, 1e6), (1e30, -1e31), (-1.0, 0.3)],
)
def test_standardised_as_exactly_as_the_values_are(kind, dtype, factor, offset):
    X, weight = data(60, 3, 0)
    X = (X * factor + offset).astype(dtype)
    spread_of = Spread.of(kind(X), weight)
    X = X.astype(float)
    found = squares(spread_of, X)
    for column, own in zip(X.T, found.T, strict=True):
        np.testing.assert_allclose(
            own, exact_squares(column, weight), rtol=1e-12, atol=1e-13
        )


@pytest.mark.parametrize(
    "values",
    [
        [1.7e308, -1.7e308, 0.0, 1e308],
        [1e300, 1e-300, -2e300, 0.0],
        [1e-300, 2e-300, 5e-300, 0.0],
        [1e9, 1e9 + 1, 1e9 + 2, 1e9 - 7],
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_extremes(kind, values):
    X, weight = np.array(values)[:, None], np.arange(1.0, 5)
    parts = [Spread.of(kind(X[[i]]), weight[[i]]) for i in range(4)]
    for found in (Spread.of(kind(X), weight), reduce(Spread.merge, parts)):
        np.testing.assert_allclose(
            squares(found, X)[:, 0],
            exact_squares(X[:, 0], weight),
            rtol=1e-12,
            atol=1e-15,
        )


@given(
    n=st.integers(2, 40),
    d=st.integers(1, 5),
    seed=st.integers(0, 99),
    zeros=st.sampled_from([0.0, 0.5, 0.95]),
    exponent=st.integers(-150, 150),
    block=st.integers(1, 50),
)
def test_parts_add_up(n, d, seed, zeros, exponent, block):
    X, weight = data(n, d, seed, zeros)
    X[: n // 2] *= 10.0**exponent
    whole = squares(Spread.of(X, weight), X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spread, "_BLOCK", block)
        for kind in KINDS:
            found = squares(Spread.of(kind(X), weight), X)
            np.testing.assert_allclose(found, whole, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "values", [[0.1] * 4, [0.0] * 4, [0.3, 0.1 + 0.2, 0.3, 0.3], [5e-324, 0, 0, 1e-323]]
)
def test_columns_that_do_not_vary_beyond_rounding(kind, values):
    X = np.column_stack([values, [0.0, 0.0, 1.0, 2.0]])
    parts = [Spread.of(kind(X[[i]]), np.ones(1)) for i in range(4)]
    for found in (Spread.of(kind(X), np.ones(4)), reduce(Spread.merge, parts)):
        _, scale, shift = found.standardising()
        assert scale[0] == shift[0] == 0
        assert scale[1] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_hold_every_row_once(kind, monkeypatch):
    X, _ = data(50, 4, 1)
    for block in (1, 3, 100, 10**6):
        monkeypatch.setattr(spread, "_BLOCK", block)
        rows = np.concatenate([np.arange(50)[part] for part in row_blocks(kind(X))])
        np.testing.assert_array_equal(rows, np.arange(50))
