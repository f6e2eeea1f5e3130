from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendium.study.stability import chosen, nogueira_index


def kuncheva(one, other, d):
    """(r - k^2/d) / (k - k^2/d), Kuncheva 2007, for two sets of size k."""
    k, r = len(one), len(one & other)
    return (r - k * k / d) / (k - k * k / d)


@given(st.integers(2, 6), st.integers(3, 9), st.integers(0, 1000))
def test_sets_of_one_size_give_the_mean_of_kuncheva(n_sets, d, seed):
    rng = np.random.default_rng([1, seed])
    size = int(rng.integers(1, d))
    rankings = np.array([rng.permutation(d) for _ in range(n_sets)])
    sets = [set(row[:size].tolist()) for row in rankings]
    pairs = [kuncheva(a, b, d) for a, b in combinations(sets, 2)]
    found = nogueira_index(chosen(rankings, size))
    assert found.index == pytest.approx(np.mean(pairs), abs=1e-12)
    assert found.low <= found.index <= found.high


def test_bounds():
    assert nogueira_index([[1, 0, 0]] * 5) == pytest.approx((1.0, 1.0, 1.0))
    rng = np.random.default_rng([1, 2])
    at_random = rng.random((200, 300)) < 0.2
    assert abs(nogueira_index(at_random).index) < 0.01


def test_interval_covers_the_truth_as_often_as_it_says():
    """Independent choices with known probabilities; their index is known too."""
    rng = np.random.default_rng([1, 3])
    p = rng.beta(0.5, 1.0, 40)
    truth = 1 - (p * (1 - p)).mean() / (p.mean() * (1 - p.mean()))
    intervals = [nogueira_index(rng.random((60, 40)) < p) for _ in range(600)]
    covered = np.mean([low <= truth <= high for _, low, high in intervals])
    assert 0.91 < covered < 0.98
