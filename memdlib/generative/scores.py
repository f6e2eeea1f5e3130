"""Scores of instances: sums of log densities of class marginals, linear in phi(x).

Only differences between classes matter. They are taken before anything is multiplied by
x: what the classes of a feature share drops out, however large x is. The powers of x
are those about one location for all classes, so that one matrix product does the work;
features whose classes lie too far apart for that are scored class by class.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from memdlib.families import Family
from memdlib.generative.marginals import ClassMarginals
from memdlib.moments.sums import translate_natural

Array = NDArray[np.float64]

# Entries of (rows, features, classes) arrays handled at a time: a MiB of doubles.
_BLOCK = 2**17

# Nats by which a shift to the common location may raise a log-normaliser: half the
# square of a distance of some thousand standard deviations.
_REACH = 2.0**20


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
    def total(self, X, features) -> Array:
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
    def correct_weight(self, X, codes, weight, order, grid) -> Array:
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
        linear = self._linear(order, sparse.issparse(X))
        steps = self._sparse_steps if sparse.issparse(X) else self._dense_steps
        total = np.broadcast_to(self.log_prior, (X.shape[0], len(self.log_prior)))
        correct = []
        for running in steps(X, order, linear, grid, total):
            total = running[-1]
            correct.extend((running.argmax(axis=-1) == codes) @ weight)
        finite_scores(total, X)
        return np.array(correct)

    def _linear(self, features, thin: bool) -> "_Linear":
        """Relative scores; of sparse data about zero, where zeros cost nothing."""
        lam = [self.natural[:, features, j] for j in range(self.natural.shape[-1])]
        psi = self.log_normaliser[:, features]
        common, far = np.zeros(len(features)), np.zeros(len(features), dtype=bool)
        if self.family.translates:
            location = self.location[:, features]
            if not thin:  # that of the narrowest class
                narrowest = lam[-1].argmax(axis=0)
                common = location[narrowest, np.arange(len(features))]
            moved = translate_natural(np.stack(lam, axis=-1), location - common)
            own, psi = psi, self.family.log_normaliser(moved)
            far = ~(np.abs(psi - own) <= _REACH).all(axis=0)
            lam = list(np.moveaxis(moved, -1, 0).copy())
        for values in (*lam, psi):
            # the widest class, which wins where x is large, comes to zero
            np.subtract(values.min(axis=0), values, out=values)
            values[:, far] = 0.0
        idle = ~np.any([values.any(axis=0) for values in lam], axis=0)
        return _Linear(lam, psi, common, far, idle)

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

    def _dense_steps(self, X, order, linear, grid, total):
        """Yield running scores (1, n, K), one size after the other."""
        for start, stop in zip([0, *grid[:-1]], grid, strict=True):
            part = slice(start, stop)
            block = X[:, order[part]]
            total = total + linear.change(block, part)
            far = linear.far[part]
            if far.any():
                total += self._class_by_class(block[:, far], order[part][far])
            yield total[None]

    def _sparse_steps(self, X, order, linear, grid, total):
        """Yield running scores (sizes, n, K) of some sizes at a time."""
        n, place = X.shape[0], np.full(X.shape[1], len(order))
        place[order] = np.arange(len(order))
        X = X.tocsr()
        ranked = (X.data.astype(np.float64), place[X.indices], X.indptr)
        ranked = sparse.csr_array(ranked, shape=(n, X.shape[1] + 1)).tocsc()
        step = max(1, 4 * _BLOCK // total.size)
        start = 0
        for first in range(0, len(grid), step):
            sizes = grid[first : first + step]
            part = slice(start, sizes[-1])
            # the rows of the first size, of the second, ...: one product for all
            size = np.searchsorted(sizes, np.arange(start, sizes[-1]), side="right")
            ends = ranked.indptr[start : sizes[-1] + 1]
            entries = slice(ends[0], ends[-1])
            row = ranked.indices[entries] + n * np.repeat(size, np.diff(ends))
            stacked = sparse.csc_array(
                (ranked.data[entries], row, ends - ends[0]),
                shape=(n * len(sizes), sizes[-1] - start),
            )
            running = linear.powers(stacked, part).reshape(len(sizes), n, -1)
            first_of_size = np.r_[0, sizes[:-1] - start]
            constant = np.add.reduceat(linear.constant[:, part], first_of_size, axis=1)
            for s in np.unique(size[linear.far[part]]):
                column = np.flatnonzero(linear.far[part] & (size == s)) + start
                block = ranked[:, column].tocsr()
                running[s] += self._class_by_class(block, order[column])
            for score, shift in zip(running, constant.T, strict=True):
                score += total
                if shift.any():
                    score += shift
                total = score
            yield running
            start = sizes[-1]


@dataclass(frozen=True)
class _Linear:
    """Scores relative to what the classes of each feature share, about one location.

    ``slopes`` (m arrays, of the powers) and ``constant``, of shape (K, f), are zero in
    features that are ``far``, out of reach of the location (f,); ``idle`` features say
    nothing.
    """

    slopes: list[Array]
    constant: Array
    location: Array
    far: NDArray[np.bool_]
    idle: NDArray[np.bool_]

    def change(self, X, part: slice) -> Array:
        """What some features of X (n, f) add to the scores, (n, K)."""
        return self.powers(X, part) + self.constant[:, part].sum(axis=1)

    def powers(self, X, part: slice) -> Array:
        """The same without the constants."""
        idle = self.idle[part]
        if sparse.issparse(X):
            values = X.data
            if idle.any():
                column = X.indices if X.format == "csr" else _columns(X)
                values = np.where(idle[column], 0.0, values)
        else:
            values = np.asarray(X, dtype=np.float64) - self.location[part]
            values[:, idle] = 0.0
        score, power = 0.0, values
        for j, slope in enumerate(self.slopes):
            power = power * values if j else values
            if sparse.issparse(X):
                power_of_X = type(X)((power, X.indices, X.indptr), X.shape)
                product = power_of_X @ slope[:, part].T
            else:
                product = power @ slope[:, part].T
            score = score + product if j else product
        return score


def _columns(X) -> NDArray[np.intp]:
    return np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))


def finite_scores(score: Array, X) -> Array:
    """Return joint log densities; raise for a row that overflows in every class."""
    lost = ~np.isfinite(score.max(axis=1))
    if lost.any():
        largest = abs(X[np.flatnonzero(lost)[:1]]).max()
        raise ValueError(
            f"the log densities of a row that holds {largest:.6g} overflow; "
            "bring X to the scale of the data that the model was fitted to"
        )
    return score
