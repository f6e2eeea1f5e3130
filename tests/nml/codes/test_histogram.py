"""The best histogram against all of them, with regrets by summing over sequences."""

from itertools import combinations, pairwise, product
from math import comb, factorial, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdlib.nml import optimal_histogram
from memdlib.nml.codes.histogram import optimal_histograms


def regret(n, K):
    """Log of the sum of the largest likelihoods of all sequences, type by type."""
    total = 0.0
    for counts in product(range(n + 1), repeat=K):
        if sum(counts) == n:
            likelihood = factorial(n)
            for c in counts:
                likelihood *= (c / n) ** c / factorial(c) if n else 1.0
            total += likelihood
    return log(total)


def every_code(counts, max_bins):
    """Code lengths of all histograms, by the widths of their bins in cells."""
    G, n = len(counts), sum(counts)
    steps = [2**r for r in range(20) if 2**r <= G]
    found = {}
    for step in steps:
        inner = list(range(step, G, step))
        most = min(max_bins, len(inner) + 1)
        for K in range(1, most + 1):
            price = regret(n, K) + log(comb(len(inner), K - 1))
            price += log(len(steps)) + log(most)
            for cuts in combinations(inner, K - 1):
                edges = [0, *cuts, G]
                error = 0.0
                for a, b in pairwise(edges):
                    k = sum(counts[a:b])
                    if k:
                        error -= k * log(k / n * G / (b - a))
                key = step, tuple(edges)
                found[key] = error + price
    return found


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=7),
    st.integers(1, 4),
)
def test_no_histogram_has_a_shorter_code(counts, max_bins):
    found = optimal_histogram(counts, max_bins)
    codes = every_code(counts, max_bins)
    assert found.codelength == pytest.approx(min(codes.values()), abs=1e-9)
    edges = tuple(np.rint(found.edges * len(counts)).astype(int))
    same = [length for (_, of), length in codes.items() if of == edges]
    assert min(same) == pytest.approx(found.codelength, abs=1e-9)
    inside = [sum(counts[a:b]) for a, b in pairwise(edges)]
    assert found.counts.tolist() == inside


@pytest.mark.parametrize(("G", "n"), [(1, 3), (2, 6), (4, 4), (5, 3)])
def test_all_codes_together_leave_room_for_one_another(G, n):
    """Kraft: what all sequences of cells take of the unit of probability."""
    taken = 0.0
    for cells in product(range(G), repeat=n):
        counts = np.bincount(cells, minlength=G)
        taken += np.exp(-optimal_histogram(counts).codelength) / G**n
    assert 0.05 < taken <= 1.0 + 1e-12


def test_columns_are_independent_of_each_other():
    rng = np.random.default_rng(5)
    counts = np.array([rng.multinomial(40, rng.dirichlet(np.ones(21))) for _ in "abc"])
    for one, alone in zip(optimal_histograms(counts, 6), counts, strict=True):
        single = optimal_histogram(alone, 6)
        np.testing.assert_array_equal(one.edges, single.edges)
        assert one.codelength == pytest.approx(single.codelength, rel=1e-12)


def test_blocks_are_found_and_even_data_are_left_alone():
    even = optimal_histogram(np.full(64, 10))
    assert even.edges.tolist() == [0.0, 1.0]
    steps = np.repeat([20, 2, 30, 0], 16)
    assert optimal_histogram(steps).edges.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_density_has_mass_one_and_is_positive():
    found = optimal_histogram(np.repeat([20, 0, 30], 11))
    middles = (np.arange(3300) + 0.5) / 3300
    density = np.exp(found.log_density(middles))
    assert density.mean() == pytest.approx(1.0, rel=1e-12)
    assert density.min() > 0
    ends = found.log_density([0.0, 1.0])
    np.testing.assert_array_equal(ends, found.log_density(middles[[0, -1]]))


def test_one_bin_is_the_uniform_law():
    found = optimal_histogram([3, 9, 0, 1], max_bins=1)
    assert found.edges.tolist() == [0.0, 1.0]
    assert found.codelength == pytest.approx(log(3))  # which of three grids


@pytest.mark.parametrize("counts", [[], [1, -1], [0.5], [[1, 2]]])
def test_counts_that_are_none(counts):
    with pytest.raises(ValueError, match="counts"):
        optimal_histogram(counts)


def test_a_number_of_bins_that_is_none():
    with pytest.raises(ValueError, match="max_bins=0 must be an integer"):
        optimal_histogram([1, 2], 0)
