"""Sums over the label counts that the model nearly fits, level by level.

D, the saturated log-likelihood less the supremum under the model, is small only in a
tube around the means of the model, and the terms of the complexity are weights of the
levels times exp(-D). The tube is walked through without looking outside of it. One
level more can only add to D. And along one level D falls to the D without that level,
where the model has its mean, and rises from there on: its derivative by the label count
is the logit of the label share less the logit of the fit. So a walk from that mean
outwards may stop at the first D that is too large, and what was left out is bounded.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from memdlib.nml._engine.fits import FullSteps, certified, settle
from memdlib.nml._engine.level_model import LevelModel, orthonormal_basis
from memdlib.nml._engine.separation import interior_patterns

Array = NDArray[np.float64]
Rule = tuple[Array, Array]

# Prefixes walked from at a time.
_BATCH = 16384
# Sum of w d^4 of a settled fit, and an error of its maximum that is never reached.
_SETTLED = FIT_ERROR = 1e-9
# Full steps of a fit, and what one counts for that takes a certificate.
_STEPS, _CERTIFIED = 8, 50
# Variance of the label count of a level from which on a prefix tells a start there.
_LEAST_VARIANCE = 1.0


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

    def take(self, which: NDArray) -> "_Prefixes":
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
    >>> from memdlib.nml._engine.level_rule import level_rule
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
