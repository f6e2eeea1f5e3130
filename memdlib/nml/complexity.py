"""Complexity of the conditional model: in closed form, by an exact sum, or by draws."""

from functools import lru_cache
from typing import Any

import numpy as np

from memdlib._types import Array, NDArray
from memdlib.nml.boundary import complexity_bounds, within_bounds
from memdlib.nml.draws import draw_complexity
from memdlib.nml.level_model import LevelModel, UncertifiedError
from memdlib.nml.sums import exact_complexity, exact_method

METHODS = ("auto", "exact", "monte-carlo")
# Suprema that an exact sum may need, some seconds, or at any price, some hours; draws.
_MOST_TERMS, _MOST, N_DRAWS = 2**22, 2**35, 2**16
# Of a model of one of many features: a tenth of a second.
OF_MANY = {"most_terms": 2**19, "n_draws": 2**13}


def complexities(
    models: list[LevelModel],
    method: str = "auto",
    n_draws: int = N_DRAWS,
    seed: int = 0,
    most_terms: int = _MOST_TERMS,
) -> tuple[Array, Array, NDArray[np.str_]]:
    """Log complexity of each model in nats, its uncertainty, and how it was found."""
    # exact sums are found once, however many draws others take
    most = {"exact": _MOST, "auto": most_terms, "monte-carlo": 0}[method]
    draws = ((0, 0) if exact_method(m)[1] <= most else (n_draws, seed) for m in models)
    found = [solve(_key(m), method, *how) for m, how in zip(models, draws, strict=True)]
    return tuple(np.array(part) for part in zip(*found, strict=True))


@lru_cache(maxsize=2**16)
def solve(key, method, n_draws, seed) -> tuple[float, float, str]:
    """An exact sum, or so many draws; every number is between its bounds."""
    counts, values = np.array(key[0]), np.array(key[1])
    model = LevelModel(counts, values, *key[2:], np.arange(len(counts)))
    way, n_terms = exact_method(model)
    sizes = [int(n) for n in counts]
    if method == "exact" and n_draws:
        raise ValueError(
            f'method="exact" would take {n_terms:.1g} terms for levels of '
            f'{sizes} samples; use method="auto", or fewer levels or moments'
        )
    try:
        if n_draws:
            value, uncertainty = draw_complexity(model, n_draws, seed)
            way = "monte-carlo"
        else:
            value, uncertainty = exact_complexity(model, way)
        if not within_bounds(model, value):
            raise UncertifiedError(
                f"{value:.6g} is not between the proved bounds "
                f"{complexity_bounds(model)} for levels of {sizes} samples; use "
                'method="auto"'
            )
    except UncertifiedError:
        if method != "auto":
            raise
        lower, upper = complexity_bounds(model)
        return 0.5 * (lower + upper), 0.5 * (upper - lower), "bounds"
    return value, uncertainty, way


def _key(model: LevelModel) -> tuple[Any, ...]:
    """What the complexity depends on, one of both directions where they are alike."""
    counts, values = tuple(model.counts.tolist()), tuple(model.values.tolist())
    centre = values[0] + values[-1] if model.intercept else 0.0
    mirrored = tuple(centre - v for v in reversed(values))
    if mirrored == values:
        counts = min(counts, counts[::-1])
    return counts, values, model.dimension, model.intercept
