"""Complexity of the conditional model: in closed form, by an exact sum, or by draws."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from memdlib.nml._engine.boundary import complexity_bounds, within_bounds
from memdlib.nml._engine.draws import draw_complexity, monte_carlo_complexity
from memdlib.nml._engine.level_model import LevelModel, NoMaximumError
from memdlib.nml._engine.sums import exact_complexity, exact_way

Array = NDArray[np.float64]
# Log complexity in nats, its uncertainty, and the way it was found.
Found = tuple[float, float, str]

METHODS = ("auto", "exact", "monte-carlo")
# Suprema that an exact sum may need: of a model that was asked for, some seconds; of
# one of many features, a tenth of a second; and at any price, some hours.
MOST_TERMS, MOST_OF_MANY, _MOST = 2**22, 2**19, 2**35
# Draws for one model, and for one of many.
N_DRAWS, N_DRAWS_OF_MANY = 2**16, 2**13


def complexities(
    models: list[LevelModel],
    method: str = "auto",
    n_draws: int = N_DRAWS,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    most_terms: int | None = None,
) -> tuple[Array, Array, NDArray[np.str_]]:
    """Log complexity of each model.

    Parameters
    ----------
    models : list of LevelModel
        G of them.
    method : str, default="auto"
        One of `METHODS`.
    n_draws : int, default=65536
        Of each model that draws.
    seed : int, default=0
    n_jobs : int or None, default=None
        Processes, in the meaning of joblib.
    verbose : int, default=0
        Verbosity of joblib.
    most_terms : int, default=None
        Suprema that an exact sum may need under "auto"; None means `MOST_TERMS`.

    Returns
    -------
    complexity, uncertainty : ndarray of shape (G,)
        Nats.
    method : ndarray of shape (G,)
        How each was found.

    Raises
    ------
    ValueError
        If a way that was asked for finds no number that can be trusted.

    Notes
    -----
    Models that only differ in moments beyond saturation, or by a reversal of centred
    levels, have the same complexity and are worked out once.

    Examples
    --------
    >>> from memdlib.nml._engine.level_model import level_model
    >>> centred = np.array([-1.0, 0.0, 1.0])
    >>> models = [level_model(np.array(n), centred, 1, False) for n in ([1, 2, 3],)]
    >>> complexities(models)[0].round(6).tolist()
    [1.168993]
    """
    keys = [_key(model) for model in models]
    distinct = list(dict.fromkeys(keys))
    # workers would take seconds to start
    pool = Parallel(n_jobs=n_jobs if len(distinct) > 1 else 1, verbose=verbose)
    given = method, n_draws, seed, most_terms or MOST_TERMS
    done = pool(delayed(_solve)(key, *given) for key in distinct)
    known = dict(zip(distinct, done, strict=True))
    return tuple(np.array(part) for part in zip(*map(known.get, keys), strict=True))


@lru_cache(maxsize=2**16)
def _solve(
    key: tuple[Any, ...], method: str, n_draws: int, seed: int, most_terms: int
) -> Found:
    """What the ways that a method allows find; every number is between its bounds."""
    counts, values, dimension, intercept = key
    order = np.arange(len(counts))
    model = LevelModel(
        np.array(counts), np.array(values), dimension, intercept, order, 0
    )
    way, n_terms = exact_way(model)
    if method == "exact" and n_terms > _MOST:
        raise ValueError(
            f'method="exact" would take {n_terms:.1g} terms for levels of '
            f'{model.counts.astype(np.int64).tolist()} samples; use method="auto", or '
            "fewer levels or moments"
        )
    if way == "saturated" or method == "exact":
        return *_within(model, exact_complexity(model, way)), way
    if method == "monte-carlo":
        return *_within(model, monte_carlo_complexity(model, n_draws, seed)), method
    try:
        if n_terms <= most_terms:
            return *_within(model, exact_complexity(model, way)), way
        drawn = draw_complexity(model, n_draws, seed)
        if drawn.trustworthy and within_bounds(model, drawn.log_complexity):
            return drawn.log_complexity, drawn.standard_error, "monte-carlo"
    except NoMaximumError:
        pass
    lower, upper = complexity_bounds(model)
    return 0.5 * (lower + upper), 0.5 * (upper - lower), "bounds"


def _within(model: LevelModel, found: tuple[float, float]) -> tuple[float, float]:
    """What was found, if the proved bounds do not contradict it."""
    if not within_bounds(model, found[0]):
        lower, upper = complexity_bounds(model)
        raise ValueError(
            f"{found[0]:.6g} is not between the proved bounds {lower:.6g} and "
            f"{upper:.6g} for levels of {model.counts.astype(np.int64).tolist()} "
            'samples; use method="auto"'
        )
    return found


def _key(model: LevelModel) -> tuple[Any, ...]:
    """What the complexity depends on, one of both directions where they are alike."""
    counts, values = tuple(model.counts.tolist()), tuple(model.values.tolist())
    if model.saturated:
        levels = tuple(range(1, len(counts) + 1))
        return tuple(sorted(counts)), levels, len(counts), False
    centre = values[0] + values[-1] if model.intercept else 0.0
    mirrored = tuple(centre - v for v in reversed(values))
    if mirrored == values:
        counts = min(counts, counts[::-1])
    return counts, values, model.dimension, model.intercept


def forget() -> None:
    """Drop the complexities that are kept for later calls."""
    _solve.cache_clear()
