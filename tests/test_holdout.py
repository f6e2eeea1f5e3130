import struct
from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array, csr_matrix

from memdlib import holdout
from memdlib.holdout import Spread, content_positions, row_blocks


def positions(X, codes, weight=None, seed=0):
    weight = np.ones(len(codes)) if weight is None else weight
    rng = np.random.RandomState(seed)
    return content_positions(X, codes, weight, rng)


def rows(n=300, seed=0):
    rng = np.random.default_rng([6, seed])
    return rng.normal(size=(n, 3)), rng.integers(3, size=n)


def test_positions_cut_every_class_evenly():
    X, y = rows()
    fold = (positions(X, y) * 5).astype(int)
    for k in range(3):
        sizes = np.bincount(fold[y == k], minlength=5)
        assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_a_cut_takes_that_share_of_every_class_weight(share):
    X, y = rows()
    weight = np.random.default_rng([6, 3]).integers(1, 5, 300).astype(float)
    taken = positions(X, y, weight) < share
    for k in range(3):
        asked = share * weight[y == k].sum()
        assert abs(weight[taken & (y == k)].sum() - asked) <= weight.max()


def test_positions_lie_inside_and_are_spread_within_the_class():
    X, y = rows()
    at = positions(X, y)
    for k in range(3):
        n = np.sum(y == k)
        expected = (np.arange(n) + 0.5) / n
        np.testing.assert_allclose(np.sort(at[y == k]), expected, rtol=1e-12)
    np.testing.assert_array_equal(at, positions(X, y))


KINDS = (np.asarray, np.asfortranarray, csr_array, csr_matrix, csc_array)


def test_number_types_and_formats_do_not_matter():
    X = np.random.default_rng([6, 4]).poisson(0.8, size=(60, 5))
    y = np.arange(60) % 2
    expected = positions(X, y)
    for kind in KINDS:
        for dtype in (int, np.float64, np.float32):
            found = positions(kind(X.astype(dtype)), y)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_single_precision_is_read_as_the_numbers_it_holds(scale):
    X, y = rows()
    X[np.abs(X) < 0.5] = 0
    X = (X * scale).astype(np.float32)
    expected = positions(X.astype(float), y)
    for kind in KINDS:
        for data in (X, X.astype(float)):
            np.testing.assert_array_equal(positions(kind(data), y), expected)


def literal_positions(X, codes, weight, seed):
    """Definition, row by row, with the statistics of exact fractions."""
    share = [Fraction(w) / Fraction(weight[codes == k].sum())
             for w, k in zip(weight, codes, strict=True)]  # fmt: skip
    q = [1.0] * len(X)
    for column in X.T:
        values = [Fraction(x) for x in column]
        mean = sum(w * x for w, x in zip(share, values, strict=True)) / sum(share)
        square = [(x - mean) ** 2 for x in values]
        variance = sum(w * s for w, s in zip(share, square, strict=True)) / sum(share)
        if variance:
            q = [old + float(s / variance) for old, s in zip(q, square, strict=True)]
    key = int(np.frombuffer(np.random.RandomState(seed).bytes(8), np.uint64)[0])
    order = [(mixed(mixed(bits(rounded(v, 20))) ^ key) >> 32) for v in q]
    at = np.zeros(len(X))
    for k in np.unique(codes):
        before = 0.0
        for i in sorted(np.flatnonzero(codes == k), key=order.__getitem__):
            at[i] = (before + weight[i] / 2) / weight[codes == k].sum()
            before += weight[i]
    return at


def rounded(value, n_bits):
    unit = 2.0 ** (np.floor(np.log2(value)) + 1 - n_bits)
    return round(value / unit) * unit


def bits(value):
    return int.from_bytes(struct.pack("<d", value), "little")


def mixed(x):
    """The mixing function of Steele, Lea & Flood, in Python's integers."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_positions_are_those_of_the_definition(kind):
    X, y = rows(200)
    X = np.column_stack([X, np.full(200, 0.1), np.arange(200) % 3])
    weight = np.random.default_rng([6, 9]).integers(1, 5, 200).astype(float)
    for seed in range(3):
        np.testing.assert_allclose(
            positions(kind(X), y, weight, seed),
            literal_positions(X, y, weight, seed),
            rtol=1e-12,
        )


def other_forms(X, rng):
    """The same rows with other units, zeros, signs and order of columns."""
    d = X.shape[1]
    column = rng.permutation(d)
    yield X[:, column]
    for factor in (2, 1000, 1e-3, 1e200, 1e-200, 10 ** rng.uniform(-6, 6, d)):
        yield X * factor
    yield X + 1e3 * X.std(axis=0) * rng.uniform(-1, 1, d)
    yield X * rng.choice([-1.0, 1.0], d)
    yield (X * 10 ** rng.uniform(-3, 3, d) - rng.normal(size=d))[:, column]
    yield np.column_stack([X, np.full(len(X), 0.1)])


@pytest.mark.parametrize("seed", range(4))
def test_units_offsets_signs_and_order_of_columns_do_not_matter(seed):
    rng = np.random.default_rng([6, 10, seed])
    X = rng.normal(size=(400, 7)) if seed % 2 else rng.exponential(size=(400, 7))
    y = rng.integers(3, size=400)
    weight = rng.integers(1, 4, size=400).astype(float)
    expected = positions(X, y, weight)
    for Z in other_forms(X, rng):
        for kind in KINDS:
            np.testing.assert_array_equal(positions(kind(Z), y, weight), expected)


def test_counts_and_factors_of_whole_classes():
    rng = np.random.default_rng([6, 11])
    X = rng.poisson(np.linspace(0.01, 3, 40), size=(500, 40)).astype(float)
    y = rng.integers(2, size=500)
    expected = positions(X, y)
    for Z in other_forms(X, rng):
        for kind in (np.asarray, csr_array):
            np.testing.assert_array_equal(positions(kind(Z), y), expected)
    factors = np.array([3.0, 0.7])
    found = positions(X, y, factors[y])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "column",
    [
        [1.7e308, -1.7e308, 0.0, 1e308],
        [1e300, 2e300, -5e300, 1e-300],
        [1e-300, 2e-300, 4e-300, 9e-300],
        [5e-324, 1e-323, 2e-323, 0.0],
        [1e300, 1e300, 1e300, 1e300],
        [0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2],
    ],
)
def test_extreme_values_neither_overflow_nor_warn(kind, column):
    X = np.column_stack([np.resize(column, 40), np.arange(40.0) ** 2])
    with np.errstate(all="raise", under="ignore"):
        at = positions(kind(X), np.zeros(40, dtype=int))
    np.testing.assert_allclose(np.sort(at), (np.arange(40) + 0.5) / 40)


def test_rounding_errors_are_no_values():
    X, y = rows()
    noise = np.resize([0.3, 0.1 + 0.2], 300)
    expected = positions(X, y)
    for factor in (1.0, 3.0, 1e-7):
        found = positions(np.column_stack([X, noise * factor]), y)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [1e-9, 1e-13])
def test_rows_of_almost_the_same_distance_are_told_apart(kind, step):
    X = np.random.default_rng([6, 5]).normal(size=(37, 2))
    X[1:7] = X[0] + step * np.arange(1, 7)[:, None]
    X = np.vstack([X, X])
    at = positions(kind(X), np.zeros(74, dtype=int))
    assert len(set(at)) == 37
    np.testing.assert_array_equal(at[:37], at[37:])
    # and stand side by side
    assert np.ptp(at[:7]) <= 6 / 37 + 1e-9


def test_all_rows_of_a_symmetric_design_are_told_apart():
    X = np.array(list(product([-1.0, 1.0], repeat=8)))
    y = np.zeros(256, dtype=int)
    for kind in KINDS:
        assert len(set(positions(kind(X), y))) == 256
    np.testing.assert_array_equal(positions(csr_array(X), y), positions(X, y))


def test_blocks_do_not_matter(monkeypatch):
    X, y = rows()
    whole = positions(X, y)
    monkeypatch.setattr(holdout, "_BLOCK", 7)
    for kind in KINDS:
        np.testing.assert_array_equal(positions(kind(X), y), whole)


def test_every_value_counts_and_no_column_stands_out():
    rng = np.random.default_rng([6, 8])
    counts = np.unique(rng.integers(0, 2, size=(2000, 24)).astype(float), axis=0)
    y = np.zeros(len(counts), dtype=int)
    at = positions(counts, y)
    assert len(set(at)) == len(counts)
    # halves drawn by the hash are as good as random
    half = at < 0.5
    z = (counts[half].mean(0) - counts[~half].mean(0)) * np.sqrt(len(counts))
    assert np.abs(z).max() < 4.5
    distance = ((counts - counts.mean(0)) ** 2 / counts.var(0)).sum(1)
    assert abs(np.corrcoef(distance, at)[0, 1]) < 4.5 / np.sqrt(len(counts))


def test_order_does_not_matter_and_seeds_do():
    X, y = rows()
    shuffled = np.random.default_rng([6, 1]).permutation(300)
    np.testing.assert_array_equal(
        positions(X, y)[shuffled], positions(X[shuffled], y[shuffled])
    )
    assert np.abs(positions(X, y) - positions(X, y, seed=1)).max() > 0.5


def test_copies_stay_together_and_weights_are_copies():
    X, y = rows(80)
    weight = np.random.default_rng([6, 2]).integers(1, 4, 80)
    repeated = positions(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(
        repeated, np.repeat(positions(X, y, weight.astype(float)), weight), rtol=1e-12
    )


def test_zeros_count_for_nothing_stored_or_not():
    X, y = rows(50)
    X[np.abs(X) < 0.7] = 0
    tidy = csr_array(X)
    untidy = csr_array(
        (
            np.r_[tidy.data, 0.0],
            np.r_[tidy.indices, 0],
            np.r_[tidy.indptr[:-1], tidy.nnz + 1],
        ),
        shape=X.shape,
    )
    np.testing.assert_array_equal(positions(tidy, y), positions(untidy, y))
    assert untidy.nnz == tidy.nnz + 1
    negative_zero = np.where(X == 0, -0.0, X)
    for kind in (np.asarray, csr_array):
        found = positions(kind(negative_zero), y)
        np.testing.assert_array_equal(found, positions(tidy, y))
    split = csr_array(
        (np.repeat(tidy.data / 2, 2), np.repeat(tidy.indices, 2), 2 * tidy.indptr),
        shape=X.shape,
    )
    np.testing.assert_array_equal(positions(split, y), positions(X, y))
    assert split.nnz == 2 * tidy.nnz


STORED = (np.asarray, np.asfortranarray, csr_array)


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


@pytest.mark.parametrize("kind", STORED)
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
@pytest.mark.parametrize("kind", STORED)
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
        patch.setattr(holdout, "_BLOCK", block)
        for kind in STORED:
            found = squares(Spread.of(kind(X), weight), X)
            np.testing.assert_allclose(found, whole, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", STORED)
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


@pytest.mark.parametrize("kind", STORED)
def test_blocks_hold_every_row_once(kind, monkeypatch):
    X, _ = data(50, 4, 1)
    for block in (1, 3, 100, 10**6):
        monkeypatch.setattr(holdout, "_BLOCK", block)
        rows = np.concatenate([np.arange(50)[part] for part in row_blocks(kind(X))])
        np.testing.assert_array_equal(rows, np.arange(50))


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_a_spread_is_the_weighted_mean_and_variance(kind):
    rng = np.random.default_rng([6, 9])
    X = rng.normal(3.0, 2.0, size=(40, 4)) * (rng.uniform(size=(40, 4)) < 0.6)
    X[:, 1], weight = np.abs(X[:, 1]) + 1.0, rng.uniform(0.5, 2.0, size=40)
    origin, scale, shift = Spread.of(kind(X), weight).standardising()
    z = (X / 2 - origin) * scale - shift
    mean = np.average(X, axis=0, weights=weight)
    variance = np.average((X - mean) ** 2, axis=0, weights=weight)
    np.testing.assert_allclose(z, (X - mean) / np.sqrt(variance), rtol=1e-9)
