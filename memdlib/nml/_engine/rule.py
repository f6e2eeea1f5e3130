"""Complexity of large samples without randomness: Gauss rules over the label counts.

The sum over all label counts becomes one over few weighted nodes a level, and of those
only the nodes in the tube where the terms are not negligible take a fit. The boundary
keeps its closed form. Rules with more and more nodes tell how good the last one is.

*Nodes.* The maximised likelihoods of one level's own labels, summed over the sequences
with the same label count, are a law on 0, 1, .., n. Its Gauss rule has real label
counts and integrates polynomials exactly, but likelihoods are not smooth where hardly
any label is 0 or 1. So the label counts at both ends are kept, and Gauss's rule is that
of the rest.

*Tube.* D, the saturated log-likelihood less the supremum under the model, is small only
in a tube around the means of the model, and the terms of the complexity are weights of
the levels times exp(-D). The tube is walked through without looking outside of it. One
level more can only add to D. And along one level D falls to the D without that level,
where the model has its mean, and rises from there on: its derivative by the label count
is the logit of the label share less the logit of the fit. So a walk from that mean
outwards may stop at the first D that is too large, and what was left out is bounded.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.special import expit, gammaln, xlogy

from memdlib.nml._engine.boundary import (
    boundary_sum,
    complexity_bounds,
    interior_patterns,
)
from memdlib.nml._engine.fits import FullSteps, certified, settle
from memdlib.nml._engine.level_model import (
    LevelModel,
    orthonormal_basis,
    require_moderate,
)
from memdlib.nml._engine.saturated import (
    saturated_complexity,
    saturated_rounding,
)

Array = NDArray[np.float64]
Rule = tuple[Array, Array]

# Label counts at either end that are kept as they are.
N_KEPT = 4
# Prefixes walked from at a time.
_BATCH = 16384
# Sum of w d^4 of a settled fit, and an error of its maximum that is never reached.
_SETTLED = FIT_ERROR = 1e-9
# Full steps of a fit, and what one counts for that takes a certificate.
_STEPS, _CERTIFIED = 8, 50
# Variance of the label count of a level from which on a prefix tells a start there.
_LEAST_VARIANCE = 1.0
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


@lru_cache(maxsize=128)
def level_rule(n: int, n_nodes: int) -> tuple[Array, Array]:
    """Nodes and weights for the law of the label count of one level.

    Parameters
    ----------
    n : int
        Samples at the level, 1 or more.
    n_nodes : int
        Nodes between the ones that are kept at both ends.

    Returns
    -------
    nodes : ndarray of shape (N,)
        Increasing from 0 to n and symmetric; all integers where N would be above n.
    weights : ndarray of shape (N,)
        Their sum is C(2, n). Both arrays are kept for later calls, and read-only.

    Notes
    -----
    The nodes are the eigenvalues of the Jacobi matrix of the law (Golub and Welsch),
    by Lanczos with full reorthogonalisation.

    Examples
    --------
    >>> nodes, weights = level_rule(200, 3)
    >>> nodes.round(1).tolist()
    [0.0, 1.0, 2.0, 3.0, 20.2, 100.0, 179.8, 197.0, 198.0, 199.0, 200.0]
    >>> round(float(weights.sum()), 6), round(float(weights @ nodes**2), 3)
    (18.398444, 279616.632)
    """
    nodes = np.arange(n + 1.0)
    weights = np.exp(
        gammaln(n + 1.0)
        - gammaln(nodes + 1.0)
        - gammaln(n - nodes + 1.0)
        + xlogy(nodes, nodes / n)
        + xlogy(n - nodes, 1.0 - nodes / n)
    )
    if n >= n_nodes + 2 * N_KEPT:
        rest = slice(N_KEPT, n + 1 - N_KEPT)
        inner, shares = _gauss(nodes[rest] - n / 2, weights[rest], n_nodes)
        # symmetric to the last digit, so that flipping all labels maps nodes to nodes
        inner = n / 2 + (inner - inner[::-1]) / 2
        shares = (shares + shares[::-1]) / 2
        ends = slice(0, N_KEPT), slice(n + 1 - N_KEPT, n + 1)
        nodes = np.concatenate([nodes[ends[0]], inner, nodes[ends[1]]])
        weights = np.concatenate([weights[ends[0]], shares, weights[ends[1]]])
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


def _gauss(points: Array, law: Array, n_nodes: int) -> tuple[Array, Array]:
    """Gauss rule of a discrete law; more points than nodes."""
    vectors = np.empty((n_nodes, points.size))
    diagonal, below = np.empty(n_nodes), np.empty(n_nodes)
    vector = np.sqrt(law / law.sum())
    for j in range(n_nodes):
        vectors[j] = vector
        vector = points * vector
        diagonal[j] = vectors[j] @ vector
        before = vectors[: j + 1]
        for _ in range(2):
            vector = vector - (before @ vector) @ before
        below[j] = np.sqrt(vector @ vector)
        vector = vector / below[j]
    nodes, parts = eigh_tridiagonal(diagonal, below[:-1])
    return nodes, law.sum() * parts[0] ** 2


class TooLongError(Exception):
    """A walk takes more fits than it may."""


@dataclass
class TubeSum:
    """What a walk has found.

    Parameters
    ----------
    interior : float, default=0.0
        Sum of weight times exp(-D) over interior nodes.
    omitted : float, default=0.0
        Upper bound of what was left out.
    n_fits : int, default=0
        Fits that it took; one that full steps do not settle counts fifty times.
    """

    interior: float = 0.0
    omitted: float = 0.0
    n_fits: int = 0


@dataclass(frozen=True)
class _Prefixes:
    """Nodes of the first levels: one column each.

    Parameters
    ----------
    ones : ndarray of shape (j, B)
        Label counts.
    code : ndarray of shape (B,)
        Which levels are pure, as a number with the digits 0, 1 (mixed) and 2.
    weight : ndarray of shape (B,)
        Product of the weights.
    saturated : ndarray of shape (B,)
        Saturated log-likelihood.
    state : ndarray of shape (p, B)
        Coefficients of the maximum; nan where it is at infinity.
    """

    ones: Array
    code: NDArray[np.intp]
    weight: Array
    saturated: Array
    state: Array

    def take(self, which: NDArray[Any]) -> "_Prefixes":
        return _Prefixes(
            self.ones[:, which],
            self.code[which],
            self.weight[which],
            self.saturated[which],
            self.state[:, which],
        )


class _Level:
    """One level: its rule, and what a walk along it needs."""

    def __init__(self, count: float, rule: Rule) -> None:
        self.count = count
        self.nodes, self.weights = rule
        other = count - self.nodes
        self.saturated = xlogy(self.nodes, self.nodes / count)
        self.saturated += xlogy(other, other / count)
        self.kind = np.ones(self.nodes.size, dtype=np.intp)
        self.kind[0], self.kind[-1] = 0, 2
        # weights from a node on upwards, and from a node on downwards
        self.above = np.append(np.cumsum(self.weights[::-1])[::-1], 0.0)
        self.below = np.append(np.cumsum(self.weights), 0.0)


class Tube:
    """The tube of one model, with a rule for each level.

    Parameters
    ----------
    model : LevelModel
        Not saturated.
    rules : sequence of (ndarray, ndarray)
        Nodes and weights of each level, symmetric, from 0 to the samples there.
    depth : float
        D beyond which terms are left out.
    most_fits : float, default=inf
        Fits that a walk may take.

    Examples
    --------
    With all label counts as nodes this is the sum over the interior itself.

    >>> from memdlib.nml.exact import boundary_sum, enumerated_complexity, level_model
    >>> from memdlib.nml._engine.rule import level_rule
    >>> model = level_model(np.array([8, 7, 8, 7]), np.arange(1.0, 5.0), 2, False)
    >>> found = Tube(model, [level_rule(int(n), 9) for n in model.counts], 40.0).sum()
    >>> total = np.log(boundary_sum(model) + found.interior)
    >>> bool(abs(total - enumerated_complexity(model)) < 1e-9)
    True
    """

    def __init__(
        self,
        model: LevelModel,
        rules: list[Rule],
        depth: float,
        most_fits: float = np.inf,
    ) -> None:
        # short walks first, and the longest along the last level
        order = np.argsort([nodes.size for nodes, _ in rules], kind="stable")
        self.levels = [_Level(model.counts[at], rules[at]) for at in order]
        self.basis, self.depth = orthonormal_basis(model)[order], depth
        self.most_fits = most_fits
        self.forms, self.inside, self.parts = [], [], []
        for j in range(1, len(order) + 1):
            first = np.sort(order[:j])
            part = LevelModel(
                model.counts[first],
                model.values[first],
                min(model.dimension, j),
                model.intercept,
                np.arange(j),
                0,
            )
            # patterns are those of increasing values, prefixes come in their order
            axes = np.searchsorted(first, order[:j])
            self.inside.append(interior_patterns(part).transpose(axes).ravel())
            self.forms.append(FullSteps(part.counts[axes, None], self.basis[:j]))
            self.parts.append((part, axes))
        mass = [level.weights.sum() for level in self.levels]
        self.later = [float(np.prod(mass[j + 1 :])) for j in range(len(mass))]

    def sum(self) -> TubeSum:
        """Walk through the tube.

        Returns
        -------
        TubeSum

        Raises
        ------
        TooLongError
            As soon as it has taken more fits than it may.
        """
        found = TubeSum()
        p = self.basis.shape[1]
        sizes = [level.nodes.size for level in self.levels[:p]]
        # flipping all labels maps the first level's second half to its first one
        sizes[0] = (sizes[0] + 1) // 2
        n_starts = int(np.prod(sizes))
        for at in range(0, n_starts, _BATCH):
            flat = np.arange(at, min(at + _BATCH, n_starts))
            self._extend(self._start(np.unravel_index(flat, sizes)), p, found)
        return found

    def _start(self, index: tuple[NDArray[np.intp], ...]) -> _Prefixes:
        """Nodes of the first p levels, where the logits are free."""
        ones = np.array(
            [level.nodes[i] for level, i in zip(self.levels, index, strict=False)]
        )
        code, weight, saturated = 0, 1.0, 0.0
        for level, i in zip(self.levels, index, strict=False):
            code = 3 * code + level.kind[i]
            weight = weight * level.weights[i]
            saturated = saturated + level.saturated[i]
        first = self.levels[0].nodes.size - 1
        weight = np.where(2 * index[0] == first, weight, 2.0 * weight)
        counts = np.array([[level.count] for level in self.levels[: len(index)]])
        with np.errstate(divide="ignore", invalid="ignore"):
            logits = np.log(ones / (counts - ones))
            state = np.linalg.solve(self.basis[: len(index)], logits)
        state[:, ~np.isfinite(logits).all(axis=0)] = np.nan
        return _Prefixes(ones, code, weight, saturated, state)

    def _extend(self, prefixes: _Prefixes, j: int, found: TubeSum) -> None:
        """Add level j to prefixes, and all further levels to what comes of it."""
        for at in range(0, prefixes.weight.size, _BATCH):
            part = prefixes.take(slice(at, at + _BATCH))
            longer = self._walk_both_ways(part, j, found)
            if j + 1 < len(self.levels):
                self._extend(longer, j + 1, found)

    def _walk_both_ways(
        self, prefixes: _Prefixes, j: int, found: TubeSum
    ) -> _Prefixes | None:
        """Prefixes with level j; None after the last level, whose terms are summed."""
        level, inside = self.levels[j], self.inside[j].reshape(-1, 3)
        last = level.nodes.size - 1
        finite = np.isfinite(prefixes.state[0])
        up, down = np.full((2, finite.size), -1)
        mean = level.count * expit(self.basis[j] @ prefixes.state[:, finite])
        up[finite] = np.searchsorted(level.nodes, mean)
        down[finite] = up[finite] - 1
        # a maximum at infinity stays there with one pure end, or with every node
        low, mixed, high = inside[prefixes.code].T
        from_low, from_high = ~finite & ~low & mixed, ~finite & ~high & mixed
        up[from_low], down[from_high] = 1, last - 1
        parts = []
        if j + 1 < len(self.levels):
            every = np.arange(last + 1)
            for kind, nodes in (
                (from_low, every[:1]),
                (from_high, every[-1:]),
                (~finite & ~mixed, every),
            ):
                rows = np.flatnonzero(kind)
                part = prefixes.take(np.repeat(rows, nodes.size))
                node = np.tile(nodes, rows.size)
                parts.append(self._longer(part, level, node, part.state))
        for start, step in ((up, 1), (down, -1)):
            which = np.flatnonzero((start >= 0) & (start <= last))
            self._walk(prefixes.take(which), j, start[which], step, parts, found)
        return _join(parts) if parts else None

    def _walk(
        self,
        prefixes: _Prefixes,
        j: int,
        node: NDArray[np.intp],
        step: int,
        parts: list[_Prefixes],
        found: TubeSum,
    ) -> None:
        """Walk along level j in one direction for as long as D allows."""
        level, form = self.levels[j], self.forms[j]
        at_last = j + 1 == len(self.levels)
        rest = level.above if step > 0 else level.below
        # far from the first node, where its weight is small, a start is worth little
        share = np.zeros(node.size)
        known = np.isfinite(prefixes.state[0])
        share[known] = expit(self.basis[j] @ prefixes.state[:, known])
        far = np.flatnonzero(level.count * share * (1.0 - share) < _LEAST_VARIANCE)
        ones = np.vstack([prefixes.ones, level.nodes[node]])[:, far]
        prefixes.state[:, far] = form.begin(ones)
        before = None
        while node.size:
            ones = np.vstack([prefixes.ones, level.nodes[node]])
            value, state = self._fit(j, ones, prefixes.state, found)
            excess = prefixes.saturated + level.saturated[node] - value
            near = excess <= self.depth
            term = prefixes.weight * np.exp(-excess)
            if at_last:
                found.interior += float(term @ level.weights[node])
            else:
                here = np.flatnonzero(near)
                parts.append(
                    self._longer(prefixes.take(here), level, node[here], state[:, here])
                )
            beyond = node + step if at_last else node
            left_out = float(term[~near] @ rest[beyond[~near]])
            found.omitted += left_out * self.later[j]
            after = node + step
            going = np.flatnonzero(near & (after >= 0) & (after < level.nodes.size))
            last, node, state = node[going], after[going], state[:, going]
            prefixes = prefixes.take(going)
            prefixes.state[:] = state
            if before is not None:
                # the fits of two nodes point to that of the next one
                ahead = level.nodes[node] - level.nodes[last]
                ratio = ahead / (level.nodes[last] - level.nodes[last - step])
                prefixes.state[:] += ratio * (state - before[:, going])
            before = state

    def _fit(
        self, j: int, ones: Array, start: Array, found: TubeSum
    ) -> tuple[Array, Array]:
        """Suprema of the log-likelihood and their coefficients, from a start."""
        form = self.forms[j]
        value, state, rest = settle(form, form.basis.T @ ones, start, _STEPS, _SETTLED)
        found.n_fits += value.size + _CERTIFIED * rest.size
        if found.n_fits > self.most_fits:
            raise TooLongError
        if rest.size:
            part, axes = self.parts[j]
            fit = certified(
                part, part.counts[:, None], ones[np.ix_(np.argsort(axes), rest)]
            )
            value[rest] = fit.log_likelihood
            state[:, rest] = np.linalg.lstsq(form.basis, fit.logits[axes])[0]
        return value, state

    def _longer(
        self, prefixes: _Prefixes, level: _Level, node: NDArray[np.intp], state: Array
    ) -> _Prefixes:
        return _Prefixes(
            np.vstack([prefixes.ones, level.nodes[node]]),
            3 * prefixes.code + level.kind[node],
            prefixes.weight * level.weights[node],
            prefixes.saturated + level.saturated[node],
            state,
        )


def _join(parts: list[_Prefixes]) -> _Prefixes:
    return _Prefixes(
        np.hstack([part.ones for part in parts]),
        np.concatenate([part.code for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.concatenate([part.saturated for part in parts]),
        np.hstack([part.state for part in parts]),
    )


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
