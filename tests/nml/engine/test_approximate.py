import math

import numpy as np
import pytest

from memdlib.nml import conditional_complexity, conditional_complexity_estimate
from memdlib.nml._engine.approximate import fisher_complexity
from memdlib.nml.exact import complexity_bounds, level_model

BALANCED = np.array([8, 8, 8, 7, 7])


def model_of(counts, m):
    return level_model(np.array(counts), np.arange(1.0, len(counts) + 1), m, False)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_estimates(m):
    exact = conditional_complexity(BALANCED, m)
    facets = conditional_complexity_estimate(BALANCED, m, method="facets")
    assert facets.complexity == pytest.approx(exact, abs=0.04)
    assert abs(facets.complexity - exact) < facets.uncertainty
    lower, upper = complexity_bounds(model_of(BALANCED, m))
    ends = (facets.complexity - lower, upper - facets.complexity)
    assert facets.uncertainty == pytest.approx(max(ends))
    fisher = fisher_complexity(model_of(BALANCED, m), facets=False)
    assert -0.5 < fisher - exact < -0.05


def test_the_volume_of_one_level_is_the_known_expansion():
    one = model_of([50], 1)
    volume = math.sqrt(math.pi * 25)
    assert fisher_complexity(one, False) == pytest.approx(math.log(volume), abs=1e-12)
    facets = pytest.approx(math.log(volume + 2 / 3), abs=1e-12)
    assert fisher_complexity(one) == facets


def test_a_volume_below_the_boundary_is_refused():
    assert complexity_bounds(model_of([1, 1, 1, 1], 3))[0] > fisher_complexity(
        model_of([1, 1, 1, 1], 3), facets=False
    )
    with pytest.raises(ValueError, match=r"no number between .* bounds.*method=\"auto"):
        conditional_complexity([1, 1, 1, 1], 3, method="fisher")


def test_too_many_subsets():
    model = model_of([2] * 20, 10)
    with pytest.raises(ValueError, match="sets of 10 of 20 levels are too many"):
        fisher_complexity(model)
    with pytest.raises(ValueError, match="sets of 10 of 20 levels are too many"):
        conditional_complexity([2] * 20, 10, method="facets")
