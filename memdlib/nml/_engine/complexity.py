"""Complexity of the conditional model, and the ways to it.

Of the exact ways the one of least work is taken, for each model once. Where none is in
reach, estimates follow one after the other, until one keeps the proved bounds and tells
its own error.
"""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from memdlib.nml._engine.approximate import MOST_SUBSETS, fisher_complexity
from memdlib.nml._engine.boundary import complexity_bounds, within_bounds
from memdlib.nml._engine.draws import draw_complexity, monte_carlo_complexity
from memdlib.nml._engine.enumeration import (
    enumerate_counts,
    enumeration_seconds,
    seconds_a_fit,
)
from memdlib.nml._engine.level_model import LevelModel, NoMaximumError
from memdlib.nml._engine.rule import gauss_complexity, rule_seconds
from memdlib.nml._engine.statistic_table import (
    StatisticLattice,
    statistic_lattice,
    table_seconds,
    tabulate,
)

Array = NDArray[np.float64]
# Log complexity in nats, its uncertainty, and the way it was found.
Found = tuple[float, float, str]

METHODS = ("auto", "exact", "gauss", "monte-carlo", "facets", "fisher")
# Error of a Gauss rule, in nats, that is good enough.
_TOLERANCE = 1e-6
# Exact sums of fewer seconds are cheap; the others share a budget.
_CHEAP = 0.1
# An exact sum or Gauss rules that take longer are refused.
_LONGEST = 1e5
# Draws for one model: the least and the most.
_FEWEST_DRAWS, _MOST_DRAWS = 2**13, 2**16
# Complexities and plans kept for later calls.
_KEPT = 2**16


class Budget(NamedTuple):
    """What the models of one call share under "auto".

    Parameters
    ----------
    exact : float
        Rough seconds of a core for exact sums that are not cheap, the cheapest first.
    rules : float
        Rough seconds of a core for the Gauss rules of what is left, in equal parts.
    draws : int
        For what then is left, at least 8,192 and at most 65,536 for each model.
    """

    exact: float
    rules: float
    draws: int


# For a few complexities that were asked for, and for those of every feature, where a
# fit should take seconds and a standard error of some thousandths of a nat is enough.
ALONE, TOGETHER = Budget(10.0, 30.0, 2**20), Budget(1.0, 3.0, 2**19)


class Plan(NamedTuple):
    """How a model is summed exactly.

    Parameters
    ----------
    model : LevelModel
    seconds : float
        Rough time on one core.
    way : str
        "saturated", "table" or "enumeration".
    lattice : StatisticLattice or None
        Of a table.
    """

    model: LevelModel
    seconds: float
    way: str
    lattice: StatisticLattice | None


def exact_complexity(model: LevelModel, most_seconds: float) -> Found | None:
    """Log complexity by the exact way that takes least work, if any is in the limit.

    Parameters
    ----------
    model : LevelModel
    most_seconds : float
        Rough limit of the time on one core.

    Returns
    -------
    (float, float, str) or None
        Nats; their uncertainty, from rounding and the certificates of the fits; and
        the name of the way: "saturated", "table" or "enumeration".

    Raises
    ------
    ValueError
        If a maximum cannot be found and certified.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.full(5, 40), np.arange(1.0, 6.0), 3, intercept=False)
    >>> exact_complexity(model, 0.1) is None
    True
    """
    plan = _plan(_key(model))
    if plan.seconds > most_seconds:
        return None
    if plan.lattice is not None:
        return *tabulate(plan.model, plan.lattice), plan.way
    return *enumerate_counts(plan.model), plan.way


def complexities(
    models: list[LevelModel],
    method: str = "auto",
    n_draws: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    budget: Budget | None = None,
) -> tuple[Array, Array, NDArray[np.str_]]:
    """Log complexity of each model.

    Parameters
    ----------
    models : list of LevelModel
        G of them.
    method : str, default="auto"
        One of `METHODS`.
    n_draws : int, default=None
        Of each model that draws; None means 65,536, and under "auto" its part of the
        budget.
    seed : int, default=0
    n_jobs : int or None, default=None
        Processes, in the meaning of joblib.
    verbose : int, default=0
        Verbosity of joblib.
    budget : Budget, default=None
        What "auto" may spend on models whose exact sum takes more than about a tenth
        of a second; None means `ALONE`.

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
    >>> from memdlib.nml.exact import level_model
    >>> centred = np.array([-1.0, 0.0, 1.0])
    >>> models = [level_model(np.array(n), centred, 1, False) for n in ([1, 2, 3],)]
    >>> complexities(models)[0].round(6).tolist()
    [1.168993]
    """
    keys = [_key(model) for model in models]
    distinct = list(dict.fromkeys(keys))
    limits, rule_seconds = dict.fromkeys(distinct, 0.0), _LONGEST
    if method == "exact":
        limits = dict.fromkeys(distinct, _LONGEST)
    elif method == "auto":
        budget = budget or ALONE
        limits = _share_budget(distinct, budget.exact)
        n_left = max(sum(limit == 0.0 for limit in limits.values()), 1)
        shared, rule_seconds = budget.draws // n_left, budget.rules / n_left
        n_draws = n_draws or min(max(shared, _FEWEST_DRAWS), _MOST_DRAWS)
    n_draws = n_draws or _MOST_DRAWS

    def solve(key: tuple[Any, ...], limit: float) -> Found:
        model = _plan(key).model
        ways = _ways(model, key, method, (limit, rule_seconds), n_draws, seed)
        return _first_within(model, ways, method)

    # workers would take seconds to start
    pool = Parallel(n_jobs=n_jobs if len(distinct) > 1 else 1, verbose=verbose)
    done = pool(delayed(solve)(key, limits[key]) for key in distinct)
    known = dict(zip(distinct, done, strict=True))
    return tuple(np.array(part) for part in zip(*map(known.get, keys), strict=True))


def _ways(
    model: LevelModel,
    key: tuple[Any, ...],
    method: str,
    seconds: tuple[float, float],
    n_draws: int,
    seed: int,
) -> Iterator[Found | None]:
    """What the ways that a method allows find, one after the other."""
    limit, rule_seconds = seconds
    if method != "auto" and (model.saturated or limit > 0.0):
        yield _kept(key, limit)
    if method == "auto":
        yield _if_certified(lambda: _kept(key, limit))
        yield _if_certified(lambda: _by_rule(model, rule_seconds))
        yield _if_certified(lambda: _drawn(model, n_draws, seed))
        if math.comb(len(model.counts), model.dimension) <= MOST_SUBSETS:
            yield _if_certified(lambda: _by_volume(model, "facets"))
        lower, upper = complexity_bounds(model)
        yield 0.5 * (lower + upper), 0.5 * (upper - lower), "bounds"
    elif method == "gauss":
        yield _by_rule(model, rule_seconds)
    elif method == "monte-carlo":
        yield *monte_carlo_complexity(model, n_draws, seed), method
    elif method in ("facets", "fisher"):
        yield _by_volume(model, method)


def _if_certified(way: Callable[[], Found | None]) -> Found | None:
    try:
        return way()
    except NoMaximumError:
        return None


def _by_rule(model: LevelModel, most_seconds: float) -> Found | None:
    found = gauss_complexity(model, _TOLERANCE, most_seconds)
    return found and (*found, "gauss")


def _drawn(model: LevelModel, n_draws: int, seed: int) -> Found | None:
    drawn = draw_complexity(model, n_draws, seed)
    found = (drawn.log_complexity, drawn.standard_error, "monte-carlo")
    return found if drawn.trustworthy else None


def _by_volume(model: LevelModel, method: str) -> Found:
    """Rissanen's volume; its distance to the proved bounds bounds its error."""
    value = fisher_complexity(model, facets=method == "facets")
    lower, upper = complexity_bounds(model)
    return value, max(value - lower, upper - value, 0.0), method


def _first_within(
    model: LevelModel, found: Iterator[Found | None], method: str
) -> Found:
    """The first result that keeps the proved bounds; every number passes here."""
    for result in found:
        if result is not None and within_bounds(model, result[0]):
            return result
    seconds = 0.0
    if method == "exact":
        seconds = _plan(_key(model)).seconds
    elif method == "gauss":
        seconds = rule_seconds(model, _TOLERANCE)
    if seconds > _LONGEST:
        raise ValueError(
            f'method="{method}" would take about {seconds / 3600:.1g} hours for levels '
            f"of {model.counts.astype(np.int64).tolist()} samples; "
            'use method="auto", or fewer levels or moments'
        )
    lower, upper = complexity_bounds(model)
    raise ValueError(
        f'method="{method}" finds no number between the proved bounds {lower:.6g} and '
        f"{upper:.6g} for levels of {model.counts.astype(np.int64).tolist()} samples; "
        'use method="auto"'
    )


def _share_budget(
    keys: list[tuple[Any, ...]], budget: float
) -> dict[tuple[Any, ...], float]:
    """Seconds that the exact sum of each model may take; 0 for those left out."""
    seconds = {key: _plan(key).seconds for key in keys}
    limits, spent = {}, 0.0
    for key in sorted(keys, key=seconds.get):
        spent += seconds[key] * (seconds[key] > _CHEAP)
        limits[key] = math.inf if spent <= budget else 0.0
    return limits


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


@lru_cache(maxsize=_KEPT)
def _plan(key: tuple[Any, ...]) -> Plan:
    """The exact way that takes least work, found once for each model."""
    counts, values, dimension, intercept = key
    order = np.arange(len(counts))
    model = LevelModel(
        np.array(counts), np.array(values), dimension, intercept, order, 0
    )
    if model.saturated:
        return Plan(model, 0.0, "saturated", None)
    by_enumeration = enumeration_seconds(model)
    lattice = statistic_lattice(model)
    if lattice is not None:
        # about half of the cells up to the middle key can be reached
        by_table = table_seconds(lattice) + seconds_a_fit(model) * lattice.last_key / 4
        if by_table < by_enumeration:
            return Plan(model, by_table, "table", lattice)
    return Plan(model, by_enumeration, "enumeration", None)


@lru_cache(maxsize=_KEPT)
def _kept(key: tuple[Any, ...], most_seconds: float) -> Found | None:
    return exact_complexity(_plan(key).model, most_seconds)


def forget() -> None:
    """Drop the complexities and plans that are kept for later calls."""
    _kept.cache_clear()
    _plan.cache_clear()
