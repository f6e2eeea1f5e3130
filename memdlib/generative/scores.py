"""Scores of instances: sums of log densities of class marginals, linear in phi(x).

Only differences between classes matter. They are taken before anything is multiplied by
x: what the classes of a feature share drops out, however large x is. The powers of x
are those about one location for all classes, so that one matrix product does the work;
features whose classes lie too far apart for that are scored class by class.

Classes of one covariance have linear scores, too. Those of classes near to each other
are taken about a point near to them, or a class far off would take their digits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from memdlib._types import MatrixLike
from memdlib.estimator import finite_scores
from memdlib.families import Family
from memdlib.generative.marginals import ClassMarginals
from memdlib.moments import translate_natural

Array = NDArray[np.float64]

# Entries of (rows, features, classes) arrays handled at a time: a MiB of doubles.
_BLOCK = 2**17

# Scores that are added up feature by feature, faster than a product for them would be.
_FEW = 2**13

# Half the square of the distance, in standard deviations, up to which a class may lie
# from the point that scores are taken about: they are exact to some 1e-12 nats.
_REACH = 2.0**10


def about_best(
    scores: Callable[[Array, int], Array], X: Array, place: NDArray[np.intp]
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

    Examples
    --------
    >>> means = np.array([[0.0], [1.0], [1e9]])
    >>> centre = means.mean(axis=0)
    >>> scores = LinearScores.of(
    ...     np.ones(3), means, centre, lambda point: means - point, np.copy
    ... )
    >>> scores.place.tolist()
    [1, 1, 2]
    >>> scores(np.array([[0.75]]))[0, :2].tolist()
    [0.0, 0.25]
    """

    points: Array
    slopes: Array
    offsets: Array
    place: NDArray[np.intp]

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


@dataclass(frozen=True)
class MarginalScores:
    """Log densities of the class marginals, linear in the powers of x - location.

    Parameters
    ----------
    family : Family
    natural : ndarray of shape (K, d, m)
        Natural parameters in x - location.
    location : ndarray of shape (K, d)
    log_prior : ndarray of shape (K,)
    """

    family: Family
    natural: Array
    location: Array
    log_prior: Array

    @classmethod
    def of(cls, marginals: ClassMarginals) -> "MarginalScores":
        """Scores of class marginals.

        Parameters
        ----------
        marginals : ClassMarginals

        Returns
        -------
        MarginalScores
        """
        with np.errstate(divide="ignore"):
            log_prior = np.log(marginals.prior)
        location = marginals.moments.location
        return cls(marginals.family, marginals.natural_params, location, log_prior)

    @cached_property
    def log_normaliser(self) -> Array:
        """Log-normalisers of the marginals, shape (K, d)."""
        return self.family.log_normaliser(self.natural)

    @np.errstate(over="ignore", invalid="ignore")
    def total(self, X: MatrixLike, features: NDArray[np.intp]) -> Array:
        """Joint log density log pi_k + sum over some features.

        What is the same for all classes is left out: the base measure, and the log
        density of a row under one class of each feature.

        Parameters
        ----------
        X : ndarray or csr of shape (n, d)
        features : ndarray of int
            Which features to sum over.

        Returns
        -------
        ndarray of shape (n, K)

        Raises
        ------
        ValueError
            If a row overflows in every class; names its largest value.
        """
        linear = self._linear(features, sparse.issparse(X))
        X = X[:, features]
        if sparse.issparse(X):
            X = X.tocsr().astype(np.float64)
        score = self.log_prior + linear.change(X, slice(None))
        if linear.far.any():
            score += self._class_by_class(X[:, linear.far], features[linear.far])
        return finite_scores(score, X)

    @np.errstate(over="ignore", invalid="ignore")
    def correct_weight(
        self,
        X: MatrixLike,
        codes: NDArray[np.intp],
        weight: Array,
        order: NDArray[np.intp],
        grid: Sequence[int],
    ) -> Array:
        """Weight of the rows classified rightly by the top S features.

        Parameters
        ----------
        X : ndarray or sparse of shape (n, d)
        codes : ndarray of shape (n,)
            Class indices; one that is no class counts as an error.
        weight : ndarray of shape (n,)
        order : ndarray of int of shape (d,)
            Features, the best first.
        grid : sequence of int
            Values of S, ascending, such as :func:`memdlib.generative.size_grid` gives.

        Returns
        -------
        ndarray of shape (len(grid),)

        Raises
        ------
        ValueError
            If a row overflows in every class; names its largest value.
        """
        grid, order = np.asarray(grid), order[: grid[-1]]
        total = np.tile(self.log_prior, (X.shape[0], 1))
        steps = self._sparse_steps if sparse.issparse(X) else self._dense_steps
        correct = np.empty(len(grid))
        for sizes, right in steps(X, order, grid, total, codes):
            correct[sizes] = right @ weight
        finite_scores(total, X)
        return correct

    def _linear(self, features, thin: bool) -> "_Linear":
        """Relative scores; of sparse data about zero, where zeros cost nothing."""
        natural, location = self.natural[:, features], self.location[:, features]
        K, n_features, m = natural.shape
        common, far = np.zeros(n_features), np.zeros(n_features, dtype=bool)
        if self.family.translates and not thin:  # that of the narrowest class
            narrowest = natural[..., -1].argmax(axis=0)
            common = location[narrowest, np.arange(n_features)]
        slopes = [np.empty((n_features, K)) for _ in range(m)]
        constant = np.empty((K, n_features))
        step = max(1, _BLOCK // (4 * K))
        for first in range(0, n_features, step):
            part = slice(first, first + step)
            lam = natural[:, part]
            psi = self.family.log_normaliser(lam)
            if self.family.translates:
                lam = translate_natural(lam, location[:, part] - common[part])
                own, psi = psi, self.family.log_normaliser(lam)
                far[part] = ~(np.abs(psi - own) <= _REACH).all(axis=0)
            # the widest class, which wins where x is large, comes to zero
            for j, slope in enumerate(slopes):
                slope[part] = (lam[..., j].min(axis=0) - lam[..., j]).T
            np.subtract(psi.min(axis=0), psi, out=constant[:, part])
        for relative in (*slopes, constant.T):
            relative[far] = 0.0
        return _Linear(slopes, constant, common, far)

    def _class_by_class(self, X, features) -> Array:
        """Scores (n, K) of features about a location of each class."""
        lam = self.natural[:, None, features]
        location = self.location[:, None, features]
        constant = self.log_normaliser[:, None, features]
        possible = np.isfinite(self.log_prior)
        score = np.empty((X.shape[0], len(possible)))
        step = max(1, _BLOCK // constant.size)
        for start in range(0, X.shape[0], step):
            rows = X[start : start + step]
            rows = rows.toarray() if sparse.issparse(rows) else np.asarray(rows, float)
            centred = rows - location
            log_density, power = -constant, centred
            for j in range(lam.shape[-1]):
                log_density = log_density - lam[..., j] * power
                power = power * centred
            log_density = log_density - log_density[possible].max(axis=0)
            score[start : start + step] = log_density.sum(axis=2).T
        return score

    def _dense_steps(self, X, order, grid, total, codes):
        """Add to the scores ``total``; yield sizes, and which rows are then right."""
        linear, start = self._linear(order, thin=False), 0
        for sizes, one_by_one in _stretches(grid, total.size):
            part = slice(start, grid[sizes.stop - 1])
            start, features = part.stop, order[part]
            block = X[:, features]
            if one_by_one:
                running = linear.changes(block, part)
            else:
                running = linear.change(block, part)[None]
            far = np.flatnonzero(linear.far[part])
            step = np.minimum(far, len(running) - 1)
            for s in np.unique(step):
                those = far[step == s]
                running[s] += self._class_by_class(block[:, those], features[those])
            running[0] += total
            np.cumsum(running, axis=0, out=running)
            total[:] = running[-1]
            if one_by_one:
                running = running[grid[sizes] - 1 - part.start]
            yield sizes, running.argmax(axis=-1) == codes

    def _sparse_steps(self, X, order, grid, total, codes):
        """The same, where a size moves few rows beside what its constants do to all."""
        X, n_sizes = X.tocsr(), len(grid)
        size = np.full(X.shape[1], n_sizes)
        size[order] = np.searchsorted(grid, np.arange(len(order)), side="right")
        linear = self._linear(slice(None), thin=True)
        shift = [np.bincount(size, c, n_sizes + 1) for c in linear.constant]
        shift = np.ascontiguousarray(np.transpose(shift))
        far = np.bincount(size[linear.far], minlength=n_sizes + 1) > 0
        moves_all = (far | shift.any(axis=1)).tolist()
        # entries by size, and by row within: a group is what one size adds to one row
        entry = np.arange(X.nnz), size[X.indices], X.indptr
        entry = sparse.csr_array(entry, (X.shape[0], n_sizes + 1)).tocsc()
        opens = np.ones(X.nnz + 1, dtype=bool)
        opens[1:-1] = np.diff(entry.indices) != 0
        opens[entry.indptr] = True
        first = np.flatnonzero(opens)
        row, ends = entry.indices[first[:-1]], np.searchsorted(first, entry.indptr)
        right, last = total.argmax(axis=1) == codes, 0
        for s in range(n_sizes):
            if s == last:  # multiply the groups of some sizes at a time
                most = ends[s] + 2 * _BLOCK // total.shape[1]
                last = max(s + 1, np.searchsorted(ends[:-1], most, side="right") - 1)
                start, groups = ends[s], first[ends[s] : ends[last] + 1]
                at = entry.data[groups[0] : groups[-1]]
                part = X.data[at].astype(np.float64), X.indices[at], groups - groups[0]
                part = sparse.csr_array(part, (len(groups) - 1, X.shape[1]))
                change = linear.powers(part, slice(None))
            rows = row[ends[s] : ends[s + 1]]
            score = total.take(rows, axis=0)
            score += change[ends[s] - start : ends[s + 1] - start]
            total[rows] = score
            if moves_all[s]:
                total += shift[s]
                if far[s]:
                    those = np.flatnonzero(linear.far & (size == s))
                    total += self._class_by_class(X[:, those], those)
                right = total.argmax(axis=1) == codes
            else:
                right[rows] = score.argmax(axis=1) == codes.take(rows)
            yield s, right


@dataclass(frozen=True)
class _Linear:
    """Scores relative to what the classes of each feature share, about one location.

    ``slopes``, of shape (f, K) for each of the m powers, and ``constant`` (K, f) are
    zero in features that are ``far``, out of reach of the location (f,).
    """

    slopes: list[Array]
    constant: Array
    location: Array
    far: NDArray[np.bool_]

    def change(self, X, part: slice) -> Array:
        """What some features of X (n, f) add to the scores, (n, K)."""
        return self.powers(X, part) + self.constant[:, part].sum(axis=1)

    def changes(self, X, part: slice) -> Array:
        """What each of some features of a dense X adds to the scores, (f, n, K)."""
        values, powers = np.ascontiguousarray(self._values(X, part).T), []
        for _ in self.slopes:
            powers.append(powers[-1] * values if powers else values)
        score = np.empty((*values.shape, len(self.constant)))
        # class by class: two of them make a poor innermost loop
        for k, constant in enumerate(self.constant):
            own = constant[part, None]
            for power, slope in zip(powers, self.slopes, strict=True):
                own = own + power * slope[part, k, None]
            score[..., k] = own
        return score

    def powers(self, X, part: slice) -> Array:
        """What some features of X add but for the constants, (n, K)."""
        values = self._values(X, part)
        score, power = 0.0, values
        for j, slope in enumerate(self.slopes):
            power = power * values if j else values
            if sparse.issparse(X):
                power_of_X = sparse.csr_array((power, X.indices, X.indptr), X.shape)
                product = power_of_X @ slope[part]
            else:
                product = power @ slope[part]
            score = score + product if j else product
        return score

    def _values(self, X, part: slice) -> Array:
        """Values to take powers of."""
        if sparse.issparse(X):
            return X.data
        return np.asarray(X, np.float64) - self.location[part]


@np.errstate(over="ignore", invalid="ignore")
def scores_by_feature(
    scores: MarginalScores, X: MatrixLike, features: NDArray[np.intp]
) -> tuple[Array, list[Any]]:
    """Joint log density feature by feature, but for what the classes share.

    Parameters
    ----------
    scores : MarginalScores
    X : {ndarray, csr_array} of shape (n, d), float64
        As :meth:`memdlib.families.Family.observe` returns it.
    features : ndarray of int
        Which features to sum over; the others add nothing.

    Returns
    -------
    base : ndarray of shape (K,)
        Log priors; in families of values zero or above with the scores of a row of
        zeros.
    values : list of K {ndarray, csr_array} of shape (n, d)
        What each feature adds; sparse where X is, in families of values zero or above.

    Examples
    --------
    >>> from memdlib.families import Poisson
    >>> lam = -np.log([[[1.0], [2.0]], [[3.0], [2.0]]])
    >>> scores = MarginalScores(Poisson(), lam, np.zeros((2, 2)), np.log([0.5, 0.5]))
    >>> base, values = scores_by_feature(scores, np.array([[4.0, 9.0]]), np.arange(2))
    >>> np.exp(values[1] - values[0]).round(6).tolist()  # 3 ** 4, 1
    [[81.0, 1.0]]
    """
    linear = scores._linear(features, thin=False)
    if scores.family.nonnegative:
        base = scores.log_prior + linear.constant.sum(axis=1)
        values = []
        for k in range(len(base)):
            total, power = 0.0, 1.0
            for slope in linear.slopes:
                weight = np.zeros(X.shape[1])
                weight[features] = slope[:, k]
                power = X * power
                total = power @ sparse.diags_array(weight) + total
            values.append(total)
        return base, values
    X = X.toarray() if sparse.issparse(X) else X
    change = np.zeros((len(scores.log_prior), *X.shape))
    near = np.moveaxis(linear.changes(X[:, features], slice(None)), 0, -1)
    change[:, :, features] = np.moveaxis(near, 1, 0)
    for s in features[linear.far]:
        change[:, :, s] = scores._class_by_class(X[:, [s]], np.array([s])).T
    return scores.log_prior, list(change)


def _stretches(grid, n_scores: int):
    """Slices of a grid, and whether their features are added one by one.

    They are where the features of a size are one, or few beside the scores, in runs
    that stay in the cache.
    """
    gap = np.diff(grid, prepend=0)
    few = (gap == 1) | (gap * n_scores <= _FEW)
    first = 0
    while first < len(grid):
        last, most = first + 1, grid[first] - gap[first] + _BLOCK // n_scores
        while few[first] and last < len(grid) and few[last] and grid[last] <= most:
            last += 1
        yield slice(first, last), bool(few[first])
        first = last
