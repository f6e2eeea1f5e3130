import math
import statistics

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from memdlib.nml import (
    conditional_complexity,
    conditional_complexity_estimate,
    multinomial_complexity,
)

BALANCED = [8, 8, 8, 7, 7]


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_estimates(m):
    exact = conditional_complexity(BALANCED, m)
    drawn = conditional_complexity_estimate(BALANCED, m, method="monte-carlo")
    assert drawn.method == "monte-carlo" and 0 < drawn.uncertainty < 0.01
    assert drawn.complexity == pytest.approx(exact, abs=5 * drawn.uncertainty)
    facets = conditional_complexity(BALANCED, m, method="facets")
    assert facets == pytest.approx(exact, abs=0.04)
    fisher = conditional_complexity_estimate(BALANCED, m, method="fisher")
    assert -0.5 < fisher.complexity - exact < -0.05
    assert fisher.uncertainty == math.inf


def test_the_volume_of_one_level_is_the_known_expansion():
    fisher = conditional_complexity([50], 1, method="fisher")
    facets = conditional_complexity([50], 1, method="facets")
    assert fisher == pytest.approx(math.log(math.sqrt(math.pi * 25)), abs=1e-12)
    assert facets == pytest.approx(math.log(math.sqrt(math.pi * 25) + 2 / 3), abs=1e-12)
    drawn = conditional_complexity_estimate([50], 1, method="monte-carlo")
    assert (drawn.complexity, drawn.uncertainty) == (multinomial_complexity(50, 2), 0.0)


def test_too_many_subsets():
    with pytest.raises(ValueError, match="sets of 10 of 20 levels are too many"):
        conditional_complexity([2] * 20, 10, method="facets")


def test_the_standard_error_is_that_of_a_mean_of_sixteen():
    """One draw a replicate, which is 1 on the boundary and one number inside."""
    inside = minimize_scalar(
        lambda t: np.logaddexp(0.0, -t) + np.logaddexp(0.0, 2.0 * t), bracket=(-1, 0)
    )
    ratio, seen = math.exp(-inside.fun), set()
    for seed in range(5):
        found = conditional_complexity_estimate(
            [1, 1], 1, method="monte-carlo", n_draws=16, seed=seed
        )
        mean = math.exp(found.complexity) / 4.0  # the saturated model has C = 2 * 2
        drawn = 16 * (1.0 - mean) / (1.0 - ratio)
        assert drawn == pytest.approx(round(drawn), abs=1e-8)
        draws = [ratio] * round(drawn) + [1.0] * (16 - round(drawn))
        error = statistics.stdev(draws) / 4.0 / mean
        assert found.uncertainty == pytest.approx(error, rel=1e-9)
        seen.add(round(drawn))
    assert len(seen) > 1
