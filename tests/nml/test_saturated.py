import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from memdlib.nml.multinomial import two_outcome_sum
from memdlib.nml.saturated import (
    saturated_log_likelihood,
)


def by_sequences(n, n_outcomes):
    """Sum of the maximised likelihoods of all label sequences, as a fraction."""
    total = Fraction(0)
    for labels in product(range(n_outcomes), repeat=n):
        counts = [labels.count(c) for c in range(n_outcomes)]
        total += math.prod(Fraction(k, n) ** k for k in counts)
    return total


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
def test_all_sequences_of_two_outcomes(n):
    assert two_outcome_sum(n) == pytest.approx(float(by_sequences(n, 2)), rel=1e-15)


def test_a_probability_of_its_own_for_each_level():
    counts, ones = np.array([[4.0], [3.0]]), np.array([[1.0, 0.0], [3.0, 2.0]])
    found = saturated_log_likelihood(counts, ones)
    quarter = math.log(0.25) + 3 * math.log(0.75)
    two_thirds = 2 * math.log(2 / 3) + math.log(1 / 3)
    assert found == pytest.approx([quarter, two_thirds], abs=1e-15)
