"""Scores of instances: sums of log densities of class marginals, linear in phi(x).

Only differences between classes matter. They are taken before anything is multiplied by
x, and once for all: what the classes of a feature share drops out, however large x is,
and prediction is one matrix product for each power.

Classes of one covariance have linear scores, too. Those of classes near to each other
are taken about a point near to them, or a class far off would take their digits.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce

import numpy as np
from scipy import sparse

from memdlib._types import Array, Bools, Indices, MatrixLike
from memdlib.estimator import finite_scores
from memdlib.generative.marginals import ClassMarginals
from memdlib.moments import translate_natural

# Entries of (rows, features, classes) arrays handled at a time: a MiB of doubles.
_BLOCK = 2**17

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


def running(
    start: Array, n: int, grid: Sequence[int], added: Callable[[slice, bool], Array]
) -> Iterator[Array]:
    """Yield scores (n, g, K) by the first S features, for runs of a grid.

    They begin with (K,) or (n, K); what a part of the features adds is (n, f, K) each,
    or (n, 1, K) together. Narrow steps are taken many at a time, feature by feature.
    """
    total, edges, first = start, np.array([0, *grid]), 0
    most = _BLOCK // (n * start.shape[-1])
    wide = np.append(np.diff(edges) > most // 8, True)
    while first < len(grid):
        last = int(np.searchsorted(edges, edges[first] + most, side="right")) - 1
        last = first + max(1, min(last - first, int(wide[first:].argmax())))
        each = last > first + 1
        scores = added(slice(edges[first], edges[last]), each)
        scores[:, 0] += total
        if each:
            np.cumsum(scores, axis=1, out=scores)
        total = scores[:, -1]
        ends = edges[first + 1 : last + 1] - edges[first] - 1
        yield scores[:, ends] if each else scores
        first = last


class Scores(ABC):
    """Scores by features that may be added a few at a time."""

    @abstractmethod
    def _totals(self, X, grid):
        """Yield scores (n, g, K) by the first S features, for runs of a grid."""

    def correct_weight(
        self, X: MatrixLike, codes: Indices, weight: Array, grid: Sequence[int]
    ) -> Array:
        """Weight (G,) of rows (n, d) found right by the first S features of a grid."""
        correct = []
        for total in self._totals(X, grid):
            correct.append(weight @ (total.argmax(axis=2) == codes[:, None]))
        finite_scores(total[:, -1], X)
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
        Parameters about the locations.
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
        location = marginals.moments.location[:, features]
        psi = family.log_normaliser(natural)
        about = own = np.stack([*np.moveaxis(natural, -1, 0), psi])
        centre, far, apart = np.zeros(d), np.zeros(d, bool), np.zeros((1, d), bool)
        if family.translates:
            width = own[-2]
            narrowest = location[width.argmax(axis=0), np.arange(len(features))]
            # where zeros of sparse data cost nothing, that is how it stays
            centre = np.where((location == 0).any(axis=0), 0.0, narrowest)
            moved = translate_natural(natural, location - centre)
            about = [*np.moveaxis(moved, -1, 0), family.log_normaliser(moved)]
            distance = np.abs(about[-1] - psi)
            about, apart = np.stack(about), ~(distance <= _REACH)
            far = ~(distance * (width.min(axis=0) / width) <= _REACH).all(axis=0)
            far |= apart.all(axis=0)
        widest = np.where(apart, np.inf, about).min(axis=1)
        relative = np.where(apart | far, 0.0, widest[:, None] - about)
        return cls(
            np.log(marginals.prior),
            features,
            centre,
            relative[:-1],
            relative[-1],
            widest,
            apart & ~far,
            far,
            own,
            location,
        )

    def total(self, X: MatrixLike) -> Array:
        """Log pi_k + sum over the features (n, K) of X (n, d), less what is shared."""
        return finite_scores(self.log_prior + self._sum(X[:, self.features]), X)

    def _totals(self, X, grid):
        columns = X.tocsc() if sparse.issparse(X) else X
        columns = columns[:, self.features[: grid[-1]]].astype(np.float64, copy=False)

        def added(part, each):
            return self._take(part)._sums(columns[:, part], each)

        return running(self.log_prior, X.shape[0], grid, added)

    def _sums(self, X, each: bool) -> Array:
        """What features add to the scores, each (n, f, K) or together (n, 1, K)."""
        if not each:
            return self._sum(X)[:, None]
        return self._terms(X.toarray() if sparse.issparse(X) else X)

    @property
    def _dense(self) -> Bools:
        """Features that a value of zero does not leave at their constants."""
        return (self.centre != 0) | self.far | self.apart.any(axis=0)

    def _take(self, part) -> "MarginalScores":
        """Some of the features."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self)[1:]}
        return replace(self, **{name: a[..., part] for name, a in arrays.items()})

    @np.errstate(over="ignore", invalid="ignore")
    def _sum(self, X) -> Array:
        """What the features, the columns of X (n, f), add to the scores (n, K)."""
        if not sparse.issparse(X):
            return self._dense_sum(X)
        dense = self._dense
        if np.isnan(X.data).any():
            X = X.tocsr()
            dense[X.indices[np.isnan(X.data)]] = True
        if not dense.any():
            return self._linear(X.astype(np.float64, copy=False))
        if not dense.all():
            some, others = self._take(dense), self._take(~dense)
            return some._sum(X[:, dense]) + others._sum(X[:, ~dense])
        X, step = X.tocsr(), max(1, _BLOCK // X.shape[1])
        blocks = (X[start : start + step] for start in range(0, X.shape[0], step))
        return np.concatenate([self._dense_sum(block.toarray()) for block in blocks])

    def _linear(self, z) -> Array:
        score = self.constant.sum(axis=1) + z @ self.slopes[0].T
        for j, slope in enumerate(self.slopes[1:], start=2):
            score += _power(z, j) @ slope.T
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
    def _terms(self, X) -> Array:
        """What each feature, a column of X (n, f), adds to the scores (n, f, K)."""
        z = X - self.centre
        term = self.constant.T + z[:, :, None] * self.slopes[0].T
        for j, slope in enumerate(self.slopes[1:], start=2):
            term += (z**j)[:, :, None] * slope.T
        for k, s, excess in self._excess(X, z):
            term[:, s, k] += excess
        term[np.isnan(z)] = 0.0  # a missing cell adds nothing
        return term

    def _excess(self, X, z):
        """Yield classes apart or far, the features where, and what (n, s) they add."""
        for k in np.flatnonzero(self.apart.any(axis=1)):
            s = self.apart[k]
            yield (
                k,
                s,
                self._own(X[:, s], k, s) - _log_density(z[:, s], self.widest[:, s]),
            )
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
    return z.power(j) if sparse.issparse(z) else z**j


def _log_density(z, parameters):
    """Log density at z, of parameters (m + 1, ...) about zero, log-normaliser last."""
    *natural, psi = parameters
    total = natural[-1]
    for lam in natural[-2::-1]:
        total = total * z + lam
    return -(total * z + psi)
