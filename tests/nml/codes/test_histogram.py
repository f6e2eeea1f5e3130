"""The best histogram against all of them, with regrets by summing over sequences."""

from itertools import combinations, pairwise, product
from math import comb, factorial, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdlib.nml import optimal_histogram
from memdlib.nml.codes import histogram
from memdlib.nml.codes.histogram import Histogram, optimal_histograms


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


def test_density_is_that_of_half_a_value_more_in_each_bin():
    edges, counts = np.array([0.0, 0.125, 0.5, 1.0]), np.array([4, 0, 9])
    found = Histogram(edges, counts, 0.0)
    shares = np.array([4.5, 0.5, 9.5]) / 14.5
    expected = np.log(shares / [0.125, 0.375, 0.5])
    u = [0.0, 0.1, 0.125, 0.3, np.nextafter(0.5, 0), 0.5, 0.9, 1.0]
    bins = [0, 0, 1, 1, 1, 2, 2, 2]
    np.testing.assert_allclose(found.log_density(u), expected[bins], rtol=1e-14)
    alone = Histogram(np.array([0.0, 1.0]), np.array([0]), 0.0)
    assert alone.log_density([0.0, 0.7, 1.0]).tolist() == [0.0] * 3


def test_sixteen_bins_are_tried_if_nothing_else_is_said():
    comb_of_cells = np.tile([30, 0, 3], 12)
    found = optimal_histogram(comb_of_cells)
    lengths = [optimal_histogram(comb_of_cells, k).codelength for k in (15, 16, 17)]
    assert found.codelength == lengths[1]
    assert lengths[0] > lengths[1] > lengths[2]
    assert len(found.counts) == 16


def test_columns_share_no_values_whether_held_together_or_not(monkeypatch):
    rng = np.random.default_rng([91, 6])
    counts = np.array(
        [rng.multinomial(30, rng.dirichlet(np.ones(11))) for _ in "abcde"]
    )
    together = optimal_histograms(counts, 5)
    for entries in (1, 2 * 12**2):
        monkeypatch.setattr(histogram, "_ENTRIES", entries)
        for one, other in zip(optimal_histograms(counts, 5), together, strict=True):
            np.testing.assert_array_equal(one.edges, other.edges)
            np.testing.assert_array_equal(one.counts, other.counts)
            assert one.codelength == pytest.approx(other.codelength, rel=1e-13)


@pytest.mark.parametrize(("G", "bins"), [(11, 4), (12, 12), (13, 3)])
def test_the_best_of_many_cells_by_listing_all_histograms(G, bins):
    rng = np.random.default_rng([91, G])
    counts = rng.multinomial(6, rng.dirichlet(np.full(G, 0.4))).tolist()
    codes = every_code(counts, bins if bins < G else 3)
    found = optimal_histogram(counts, bins if bins < G else 3)
    assert found.codelength == pytest.approx(min(codes.values()), abs=1e-9)
    assert type(found.codelength) is float
    assert found.edges[0] == 0.0 and found.edges[-1] == 1.0


def test_of_equal_codes_the_fewest_bins_on_the_finest_grid():
    """Without a value all codes of one bin are log of the number of grids and bins."""
    found = optimal_histogram(np.zeros(8), 5)
    assert found.edges.tolist() == [0.0, 1.0] and found.counts.tolist() == [0]
    # four grids; the coarsest has one bin to choose from, so that none is named
    assert found.codelength == pytest.approx(log(4))
