"""Scores of instances: sums of log densities of class marginals, linear in phi(x).

Only differences between classes matter. They are taken before anything is multiplied by
x, and once for all: what the classes of a feature share drops out, however large x is,
and prediction is one matrix product for each power.

Classes of one covariance have linear scores, too. Those of classes near to each other
are taken about a point near to them, or a class far off would take their digits.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from itertools import pairwise

import numpy as np
from scipy import sparse

from memdlib._types import Array, Bools, Indices, MatrixLike
from memdlib.estimator import finite_scores
from memdlib.generative.marginals import ClassMarginals
from memdlib.moments import translate_natural

# Entries of (rows, features, classes) arrays handled at a time: 2 MiB of doubles.
_BLOCK = 2**18

# Half the square of the distance, in standard deviations, up to which a class may lie
# from the point that scores are taken about: they are exact to some 1e-11 nats.
_REACH = 2.0**14


def about_best(
    scores: Callable[[Array, int], Array], X: Array, place: Indices
) -> Array:
    """Scores (n, K) of each row about the point p of its best class."""
    found = scores(X, 0)
    nearest = place[found.argmax(axis=1)]
    for p in np.unique(nearest[nearest > 0]):
        rows = nearest == p
        found[rows] = scores(X[rows], p)
    return found


@dataclass(frozen=True)
class LinearScores:
    """Joint log densities of classes that have one covariance.

    About a point c the score of a class of mean m is, with its slope s = P (m - c), P
    the inverse of the covariance,

        log pi + s . (x - c) - s . (m - c) / 2.

    Parameters
    ----------
    points : ndarray of shape (q, d)
        Every class is near to one of them.
    slopes : ndarray of shape (q, K, d)
    offsets : ndarray of shape (q, K)
        Scores at the points.
    place : ndarray of int, shape (K,)
        Which point is near to each class.
    """

    points: Array
    slopes: Array
    offsets: Array
    place: Indices

    @classmethod
    def of(
        cls,
        prior: Array,
        means: Array,
        centre: Array,
        whitened: Callable[[Array], Array],
        slopes_of: Callable[[Array], Array],
    ) -> "LinearScores":
        """Scores about a centre, and about means of classes that are far from it."""
        # whitened(c) is W (m - c) of all means m, where P = W' W; slopes_of, W' of that
        points, slopes, halves = [], [], []
        place, point, own = np.full(len(means), -1), centre, []
        with np.errstate(divide="ignore"):
            log_prior = np.log(prior)
        while (place < 0).any():
            coordinates = whitened(point)
            points.append(point)
            slopes.append(slopes_of(coordinates))
            halves.append(0.5 * (coordinates**2).sum(axis=1))
            near = halves[-1] <= _REACH
            near[own] = True  # whatever rounding leaves
            place[(place < 0) & near] = len(points) - 1
            own = place.argmin()
            point = means[own]
        offsets = log_prior - np.array(halves)
        return cls(np.array(points), np.array(slopes), offsets, place)

    def __call__(self, X: Array) -> Array:
        """Scores of rows (n, d), but for what all classes share, (n, K)."""
        return about_best(self._about, X, self.place)

    def _about(self, X: Array, p: int) -> Array:
        # what tells nothing may overflow
        used = self.slopes[p].any(axis=0)
        used = slice(None) if used.all() else used
        z = X[:, used] - self.points[p, used]
        return self.offsets[p] + z @ self.slopes[p][:, used].T


def by_feature(X: MatrixLike) -> MatrixLike:
    """Values (d, n) of rows (n, d), those of a feature side by side."""
    X = X.astype(np.float64, copy=False).T
    return X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X)


def step_sums(columns, slopes: Array, edges: Indices) -> Array:
    """Sums (g, n, K) of sparse values (d, n) times slopes (K, d), between the edges."""
    n, n_steps, ends = columns.shape[1], len(edges) - 1, columns.indptr[edges]
    part, stored = slice(edges[0], edges[-1]), slice(ends[0], ends[-1])
    place = columns.indices[stored] + n * np.repeat(np.arange(n_steps), np.diff(ends))
    starts = columns.indptr[edges[0] : edges[-1] + 1] - ends[0]
    shape = n_steps * n, len(starts) - 1
    cells = sparse.csc_array((columns.data[stored], place, starts), shape=shape)
    return (cells @ slopes[:, part].T).reshape(-1, n, len(slopes))


def running(
    start: Array,
    n: int,
    grid: Sequence[int],
    added: Callable[[Indices], Array],
    by_step: bool = False,
) -> Iterator[Array]:
    """Yield scores (g, n, K) by the first S features, for runs of a grid.

    They begin with (K,) or (n, K). What the features of a run add is (g, n, K) step
    ``by_step``, else (f, n, K), or (1, n, K) of one wide step, a run by itself.
    """
    total, edges, first = start, np.array([0, *grid]), 0
    most = max(1, _BLOCK // (n * start.shape[-1]))
    cost = np.arange(len(edges)) if by_step else edges
    wide = np.append(np.diff(cost) > max(most // 8, 1), True)
    while first < len(grid):
        last = int(np.searchsorted(cost, cost[first] + most, side="right")) - 1
        last = first + max(1, min(last - first, int(wide[first:].argmax())))
        scores = added(edges[first : last + 1])
        scores[0] += total
        _accumulate(scores)
        total = scores[-1]
        if len(scores) > last - first:
            scores = scores[edges[first + 1 : last + 1] - edges[first] - 1]
        yield scores
        first = last


def _accumulate(scores: Array) -> None:
    """Running sums of scores (g, n, K) over g, in place."""
    if scores[0].size < 200:  # a call for each row would take longer
        np.cumsum(scores, axis=0, out=scores)
        return
    for before, score in pairwise(scores):
        score += before


def _is_right(scores: Array, codes: Indices) -> Bools:
    """Whether scores (g, n, K) are largest at codes (n,), of equal ones the first."""
    if not scores.flags.c_contiguous:  # argmax would turn them round
        is_largest = scores == scores.max(axis=2, keepdims=True)
        if np.count_nonzero(is_largest) <= is_largest[..., 0].size:
            return is_largest[:, np.arange(len(codes)), codes] & (codes >= 0)
    return scores.argmax(axis=2) == codes


class Scores:
    """Scores by features that may be added a few at a time, as ``_totals`` does."""

    def correct_weight(
        self, X: MatrixLike, codes: Indices, weight: Array, grid: Sequence[int]
    ) -> Array:
        """Weight (G,) of rows (n, d) found right by the first S features of a grid."""
        correct = []
        for total in self._totals(X, grid):
            correct.append(_is_right(total, codes) @ weight)
        finite_scores(total[-1], X)
        return np.concatenate(correct)


@dataclass(frozen=True)
class MarginalScores(Scores):
    """Log densities of the class marginals of some features, built once.

    About one centre a feature they are linear in its powers, relative to the widest
    class: what the classes share drops out, however large x is. A narrow class out of
    reach of the centre is ``apart`` there, and its density taken about its own
    location; a feature whose classes all lie ``far`` from each other is scored class by
    class. ``slopes`` and ``constant`` are zero there.

    Parameters
    ----------
    log_prior : ndarray of shape (K,)
    features, centre, far : ndarray of shape (f,)
        Columns of X, and where their powers are taken about.
    slopes : ndarray of shape (m, K, f)
    constant, apart, location : ndarray of shape (K, f)
    widest : ndarray of shape (m + 1, f)
        Parameters that the scores are relative to, the log-normaliser last.
    own : ndarray of shape (m + 1, K, f)
        Parameters about the locations, of families that translate.
    """

    log_prior: Array
    features: Indices
    centre: Array
    slopes: Array
    constant: Array
    widest: Array
    apart: Bools
    far: Bools
    own: Array
    location: Array

    @classmethod
    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def of(cls, marginals: ClassMarginals, features: Indices) -> "MarginalScores":
        """Scores by some features (f,), in that order."""
        family, d = marginals.family, len(features)
        natural = marginals.natural_params_of(features)
        psi = family.log_normaliser(natural)
        about = np.array([*np.moveaxis(natural, -1, 0), psi])
        centre, far, apart = np.zeros(d), np.zeros(d, bool), np.zeros((1, d), bool)
        own, location = np.broadcast_to(0.0, about.shape), np.zeros(psi.shape)
        if family.translates:
            own, location = about, marginals.moments.location.take(features, axis=1)
            width = own[-2]
            narrowest = location[width.argmax(axis=0), np.arange(len(features))]
            # where zeros of sparse data cost nothing, that is how it stays
            centre = np.where((location == 0).any(axis=0), 0.0, narrowest)
            moved = translate_natural(natural, location - centre)
            about = [*np.moveaxis(moved, -1, 0), family.log_normaliser(moved)]
            distance = np.abs(about[-1] - psi)
            about, apart = np.array(about), ~(distance <= _REACH)
            far = ~(distance * (width.min(axis=0) / width) <= _REACH).all(axis=0)
            far |= apart.all(axis=0)
        widest = np.min(about, axis=1, where=~apart, initial=np.inf)
        relative = np.subtract(widest[:, None], about, out=about)
        np.copyto(relative, 0.0, where=apart | far)
        linear = features, centre, relative[:-1], relative[-1], widest
        return cls(np.log(marginals.prior), *linear, apart & ~far, far, own, location)

    def total(self, X: MatrixLike) -> Array:
        """Log pi_k + sum over the features (n, K) of X (n, d), less what is shared."""
        return finite_scores(self.log_prior + self._sum(X[:, self.features]), X)

    def _totals(self, X, grid):
        columns = by_feature(X)[self.features[: grid[-1]]]
        linear = sparse.issparse(X) and not self._is_dense(columns.T).any()
        if linear:
            powers = [_power(columns, j + 1) for j in range(len(self.slopes))]

        def added(edges):
            if linear:
                return self._step_sums(powers, edges)
            part = slice(edges[0], edges[-1])
            return self._take(part)._sums(columns[part], edges)

        return running(self.log_prior, X.shape[0], grid, added, linear)

    def _step_sums(self, powers, edges) -> Array:
        """What powers of sparse features (d, n) add to scores, by step (g, n, K)."""
        sums = step_sums(powers[0], self.slopes[0], edges)
        constant = self.constant[:, edges[0] : edges[-1]]
        if constant.any():
            sums += np.add.reduceat(constant, edges[:-1] - edges[0], axis=1).T[:, None]
        for power, slopes in zip(powers[1:], self.slopes[1:], strict=True):
            sums += step_sums(power, slopes, edges)
        return sums

    def _sums(self, columns, edges) -> Array:
        """What features (f, n) add, those of one step (1, n, K), or each (f, n, K)."""
        if len(edges) == 2:
            return self._sum(columns.T)[None]
        return self._terms(columns.toarray() if sparse.issparse(columns) else columns)

    def _is_dense(self, X) -> Bools:
        """Which features are more than linear in powers of their values (n, f)."""
        dense = (self.centre != 0) | self.far | self.apart.any(axis=0)
        if np.isnan(X.data).any():
            X = X.tocsr()
            dense[X.indices[np.isnan(X.data)]] = True
        return dense

    def _take(self, part) -> "MarginalScores":
        """Some of the features."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self)[1:]}
        return replace(self, **{name: a[..., part] for name, a in arrays.items()})

    @np.errstate(over="ignore", invalid="ignore")
    def _sum(self, X) -> Array:
        """What the features, the columns of X (n, f), add to the scores (n, K)."""
        if not sparse.issparse(X):
            return self._dense_sum(X)
        dense = self._is_dense(X)
        if not dense.any():
            return self._linear(X.astype(np.float64, copy=False))
        if not dense.all():
            some, others = self._take(dense), self._take(~dense)
            return some._sum(X[:, dense]) + others._sum(X[:, ~dense])
        X, step = X.tocsr(), max(1, _BLOCK // X.shape[1])
        blocks = (X[start : start + step] for start in range(0, X.shape[0], step))
        return np.concatenate([self._dense_sum(block.toarray()) for block in blocks])

    def _linear(self, z) -> Array:
        score = self.constant.sum(axis=1)
        for j, slopes in enumerate(self.slopes, start=1):
            score = score + _power(z, j) @ slopes.T
        return score

    def _dense_sum(self, X) -> Array:
        z = X - self.centre
        known = ~np.isnan(z)
        if known.all():
            score = self._linear(z)
        else:  # a missing cell adds nothing
            score = self._linear(np.where(known, z, 0.0)) - ~known @ self.constant.T
        for k, s, excess in self._excess(X, z):
            score[:, k] += excess.sum(axis=1, where=known[:, s])
        return score

    @np.errstate(over="ignore", invalid="ignore")
    def _terms(self, columns) -> Array:
        """What each of the features (f, n) adds to the scores (f, n, K)."""
        z = columns - self.centre[:, None]
        term = self.slopes[0][..., None] * z
        term += self.constant[..., None]
        for j, slope in enumerate(self.slopes[1:], start=2):
            term += slope[..., None] * z**j
        for k, s, excess in self._excess(columns.T, z.T):
            term[k, s] += excess.T
        missing = np.isnan(z)
        if missing.any():  # they add nothing
            term[:, missing] = 0.0
        return np.moveaxis(term, 0, -1)

    def _excess(self, X, z):
        """Yield classes apart or far, the features where, and what (n, s) they add."""
        for k in np.flatnonzero(self.apart.any(axis=1)):
            s = self.apart[k]
            shared = _log_density(z[:, s], self.widest[:, s])
            yield k, s, self._own(X[:, s], k, s) - shared
        if self.far.any():
            X = X[:, self.far]
            possible = np.flatnonzero(np.isfinite(self.log_prior))
            densities = (self._own(X, k, self.far) for k in possible)
            best = reduce(np.maximum, densities)
            for k in range(len(self.log_prior)):
                yield k, self.far, self._own(X, k, self.far) - best

    def _own(self, X, k: int, s) -> Array:
        """Log densities of class k about its locations, for some features X (n, f)."""
        return _log_density(X - self.location[k, s], self.own[:, k, s])


def _power(z, j: int):
    """Power j of dense or sparse values."""
    if j == 1:
        return z
    return z.power(j) if sparse.issparse(z) else z**j


def _log_density(z, parameters):
    """Log density at z, of parameters (m + 1, ...) about zero, log-normaliser last."""
    *natural, psi = parameters
    total = natural[-1]
    for lam in natural[-2::-1]:
        total = total * z + lam
    return -(total * z + psi)
