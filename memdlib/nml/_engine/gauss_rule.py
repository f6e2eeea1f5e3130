"""Complexity of large samples without randomness: Gauss rules over the label counts.

The sum over all label counts becomes one over few weighted nodes a level, and of those
only the nodes in the tube where the terms are not negligible take a fit. The boundary
keeps its closed form. Rules with more and more nodes tell how good the last one is.
"""

import math
from itertools import pairwise

import numpy as np

from memdlib.nml._engine.bounds import complexity_bounds
from memdlib.nml._engine.level_model import LevelModel, require_moderate
from memdlib.nml._engine.level_rule import N_KEPT, level_rule
from memdlib.nml._engine.saturated import (
    saturated_complexity,
    saturated_rounding,
)
from memdlib.nml._engine.separation import boundary_sum
from memdlib.nml._engine.tube import FIT_ERROR, TooLongError, Tube

# Nodes per root of the number of samples: in the first rule, and more in each further.
_FIRST, _MORE = 1.2, 0.25
_MOST_RULES = 10
# Rules that an estimate of the error takes, unless all label counts are nodes.
_FEWEST = 3
# Fall of the changes from one rule to the next that is believed, and how many of the
# last two changes the error may be where they fall less.
_FALL, _SLOW = 4.0, 8.0
# Rough times of a core: a fit, what a level adds to it, and a product of its
# eliminations; and a product in search of a rule.
_FIT, _FIT_A_LEVEL, _FIT_A_PRODUCT = 2.4e-7, 1e-7, 4e-9
_SECONDS_A_PRODUCT = 1e-9
# Numbers that the search for a rule may hold.
_LARGEST_RULE = 2e7


def gauss_complexity(
    model: LevelModel, tolerance: float = 1e-6, most_seconds: float = 60.0
) -> tuple[float, float] | None:
    """Log complexity by Gauss rules, where they settle within the tolerance.

    Parameters
    ----------
    model : LevelModel
    tolerance : float, default=1e-6
        Largest error, in nats.
    most_seconds : float, default=60.0
        Rough limit of the time on one core.

    Returns
    -------
    (float, float) or None
        Nats, and the error: None where it would be above the tolerance, or where this
        would take too long.

    Raises
    ------
    ValueError
        If the levels are too uneven, or a maximum cannot be found and certified.

    Notes
    -----
    Nodes outside of a tube around the means of the model are left out; what they could
    add at most is known. The error is that bound and an estimate from the changes
    between three rules or more. The estimate is no bound: that changes go on to fall
    is not proved. It was chosen so that no error exceeds it in random models, most of
    them with uneven values; the tests try others. Where some level values are tens of
    times larger than others, likelihoods have kinks, convergence is slow, and there may
    be no result. Results are checked against the two proved bounds, the boundary below
    and the truncated product above.

    The fits grow like n^(p / 2) with the number of samples n at fixed levels, those of
    a full sum like n^L.

    References
    ----------
    .. [1] G. H. Golub and J. H. Welsch, Calculation of Gauss quadrature rules,
       Mathematics of Computation 23, 1969.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.full(4, 60), np.arange(1.0, 5.0), 3, intercept=False)
    >>> found, error = gauss_complexity(model)
    >>> print(f"{found:.5f}", error < 1e-6)
    7.96133 True
    >>> gauss_complexity(model, most_seconds=1e-3) is None
    True
    """
    if model.saturated:
        return saturated_complexity(model), saturated_rounding(model)
    require_moderate(model)
    depth, steps = _depth(model, tolerance), _first_rules(model)
    if rule_seconds(model, tolerance) > most_seconds:
        return None
    boundary, upper = boundary_sum(model), complexity_bounds(model)[1]
    logs, left = [], most_seconds
    for step in range(steps[0], _MOST_RULES):
        sizes = _sizes(model, step)
        if _seconds(model, sizes, depth) > left or any(
            model.counts * sizes > _LARGEST_RULE
        ):
            return None
        left -= _search_seconds(model, sizes)
        rules = [
            level_rule(int(n), k) for n, k in zip(model.counts, sizes, strict=True)
        ]
        try:
            found = Tube(model, rules, depth, left / _fit_seconds(model)).sum()
        except TooLongError:
            return None
        left -= _fit_seconds(model) * found.n_fits
        total = boundary + found.interior
        logs.append(math.log(total))
        changes = [abs(after - before) for before, after in pairwise(logs)]
        omitted = math.log1p(found.omitted / total)
        error = omitted + FIT_ERROR
        if not _all_counts(model, sizes):
            error += _estimate(changes)
        if error <= tolerance:
            assert boundary <= total <= math.exp(upper + error), (model, total)
            return logs[-1], error
        if omitted > tolerance / 4:
            depth += math.log(8.0 * omitted / tolerance)
    return None


def _estimate(changes: list[float]) -> float:
    """Error of the last rule, from the changes between successive ones.

    No change counts for less than the one before over `_FALL`, however small it is by
    chance. Where changes ever fell less than that, the last two count `_SLOW` times.
    """
    if len(changes) < _FEWEST - 1:
        return math.inf
    late = changes[::-1]
    largest = max(change / _FALL**age for age, change in enumerate(late))
    if all(after <= before / _FALL for after, before in pairwise(late)):
        return largest
    return max(largest, _SLOW * max(late[:2]))


def expected_fits(model: LevelModel, sizes: list[int], depth: float) -> float:
    """Fits that a walk through the tube will take, to a factor of about three.

    Parameters
    ----------
    model : LevelModel
    sizes : list of int
        Nodes of each level between those that are kept.
    depth : float
        Of the tube.

    Returns
    -------
    float

    Notes
    -----
    The tube is taken for balls in L - p dimensions whose terms are normal densities and
    add up to the truncated product.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.full(5, 200), np.arange(1.0, 6.0), 3, intercept=False)
    >>> print(f"{expected_fits(model, [19] * 5, 18.0):.0e}")
    2e+06
    """
    nodes = np.minimum(model.counts + 1, np.array(sizes) + 2 * N_KEPT)
    all_nodes = math.prod(map(float, nodes))
    half = (len(nodes) - model.dimension) / 2
    # a ball of radius root 2 depth, by the normal density of its middle
    cells = depth**half / math.gamma(half + 1.0)
    share = math.exp(complexity_bounds(model)[1] - saturated_complexity(model))
    return min(share * cells / 4, 0.5) * all_nodes


def rule_seconds(model: LevelModel, tolerance: float = 1e-6) -> float:
    """Rough time of a core for the Gauss rules that an estimate of the error takes.

    Parameters
    ----------
    model : LevelModel
    tolerance : float, default=1e-6
        As for `gauss_complexity`.

    Returns
    -------
    float
        Seconds.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.full(5, 200), np.arange(1.0, 6.0), 3, intercept=False)
    >>> 3.0 < rule_seconds(model) < 30.0
    True
    """
    if model.saturated:
        return 0.0
    depth = _depth(model, tolerance)
    return sum(
        _seconds(model, _sizes(model, step), depth) for step in _first_rules(model)
    )


def _depth(model: LevelModel, tolerance: float) -> float:
    """Depth of the first tube: what it leaves out is about a third of the tolerance."""
    # mostly less than a third of exp(-depth) times the ratio of the saturated
    # complexity to the bound
    excess = saturated_complexity(model) - complexity_bounds(model)[1]
    return 1.0 + excess - math.log(tolerance)


def _first_rules(model: LevelModel) -> range:
    """Rules that an estimate takes: those of all label counts need no others."""
    for step in range(_FEWEST):
        if _all_counts(model, _sizes(model, step)):
            return range(step, step + 1)
    return range(_FEWEST)


def _all_counts(model: LevelModel, sizes: list[int]) -> bool:
    """Whether every label count is a node."""
    return bool((model.counts < np.array(sizes) + 2 * N_KEPT).all())


def _seconds(model: LevelModel, sizes: list[int], depth: float) -> float:
    """Rough time of a core for one rule and its sum."""
    fits = _fit_seconds(model) * expected_fits(model, sizes, depth)
    return fits + _search_seconds(model, sizes)


def _fit_seconds(model: LevelModel) -> float:
    """Rough time of a core for one of many fits."""
    products = _FIT_A_PRODUCT * model.dimension**3
    return _FIT + _FIT_A_LEVEL * len(model.counts) + products


def _search_seconds(model: LevelModel, sizes: list[int]) -> float:
    return _SECONDS_A_PRODUCT * float(model.counts @ np.square(sizes))


def _sizes(model: LevelModel, step: int) -> list[int]:
    """Nodes of each level between those that are kept, in the rule of this step."""
    return [
        math.ceil(_FIRST * root) + step * math.ceil(1 + _MORE * root)
        for root in np.sqrt(model.counts).tolist()
    ]
