"""Complexity of the conditional model: in closed form, by an exact sum, or by draws."""

import math
from functools import lru_cache
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

from memdlib.nml.boundary import complexity_bounds, within_bounds
from memdlib.nml.codelength import ComplexityEstimate
from memdlib.nml.draws import draw_complexity
from memdlib.nml.level_model import LevelModel, UncertifiedError
from memdlib.nml.sums import exact_complexity, exact_method

METHODS = ("auto", "exact", "monte-carlo")
# Fits that an exact sum may need: some seconds' worth for "auto", hours for "exact".
_MOST_TERMS = 2**22
_MOST_EXACT_TERMS = 2**35
N_DRAWS = 2**16
# What the model of one of many features may cost: about a tenth of a second.
FEATURE_LIMITS = {"most_terms": 2**19, "n_draws": 2**13}


def complexities(
    models,
    method="auto",
    n_draws=N_DRAWS,
    random_state=0,
    most_terms=_MOST_TERMS,
    verbose=0,
):
    """Log complexities of G models, in nats: an estimate whose fields have shape (G,).

    ``most_terms`` limits the exact sums of "auto". With ``verbose``, a line at every
    tenth of the models says how many are left.
    """
    rng = check_random_state(random_state)
    if not isinstance(random_state, Integral):
        random_state = rng.randint(2**31 - 1)
    limits = {"exact": _MOST_EXACT_TERMS, "auto": most_terms, "monte-carlo": 0}
    results = []
    for i, model in enumerate(models):
        if verbose and i % math.ceil(len(models) / 10) == 0:
            print(f"{len(models) - i} of {len(models)} complexities left")
        _, n_terms = exact_method(model)
        # the key of an exact sum has no draws, so that it is computed only once
        draws = (0, 0) if n_terms <= limits[method] else (n_draws, random_state)
        results.append(solve(_cache_key(model), method, *draws))
    complexity, uncertainty, methods = zip(*results, strict=True)
    return ComplexityEstimate(
        complexity=np.array(complexity),
        uncertainty=np.array(uncertainty),
        method=np.array(methods),
    )


@lru_cache(maxsize=2**16)
def solve(key, method, n_draws, random_state):
    """Log complexity, its uncertainty and the method used, for a model's cache key.

    It is an exact sum if ``n_draws`` is 0; every number lies between its bounds.
    """
    counts, values, dimension, intercept = key
    model = LevelModel(
        counts=np.array(counts),
        values=np.array(values),
        dimension=dimension,
        intercept=intercept,
        order=np.arange(len(counts)),
    )
    used_method, n_terms = exact_method(model)
    sizes = [int(n) for n in counts]
    if method == "exact" and n_draws:
        raise ValueError(
            f'method="exact" would take {n_terms:.1g} terms for levels of '
            f'{sizes} samples; use method="auto", or fewer levels or moments'
        )
    try:
        if n_draws:
            used_method = "monte-carlo"
            complexity, uncertainty = draw_complexity(model, n_draws, random_state)
        else:
            complexity, uncertainty = exact_complexity(model, used_method)
        if not within_bounds(model, complexity):
            raise UncertifiedError(
                f"{complexity:.6g} is not between the proved bounds "
                f"{complexity_bounds(model)} for levels of {sizes} samples; use "
                'method="auto"'
            )
    except UncertifiedError:
        if method != "auto":
            raise
        lower, upper = complexity_bounds(model)
        return 0.5 * (lower + upper), 0.5 * (upper - lower), "bounds"
    return complexity, uncertainty, used_method


def _cache_key(model):
    """What the complexity depends on; equal for mirror images on symmetric levels."""
    counts = tuple(model.counts.tolist())
    values = tuple(model.values.tolist())
    centre = values[0] + values[-1] if model.intercept else 0.0
    if values == tuple(centre - value for value in reversed(values)):
        counts = min(counts, counts[::-1])
    return counts, values, model.dimension, model.intercept
