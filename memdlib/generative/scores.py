"""Scores of instances: sums of log densities of class marginals, linear in phi(x).

Only differences between classes matter. They are taken before anything is multiplied by
x, once and for all: what the classes of a feature share drops out, however large x is,
and prediction is one matrix product for each power of x.

Classes of one covariance have linear scores, too. The scores of classes that lie near
each other are taken about a point near them; about any other point, a class far away
would cost them their digits.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy import sparse

from memdlib._types import Array, Bools, Indices, MatrixLike
from memdlib.estimator import finite_scores
from memdlib.families import MarginalFamily
from memdlib.generative.marginals import ClassMarginals
from memdlib.moments import translate_natural

# Entries of a sparse matrix that are filled in at a time: 2 MiB of doubles.
_BLOCK = 2**18

# Half the squared distance, in standard deviations, up to which a class may lie from
# the point that scores are taken about: they are exact to some 1e-11 nats.
_REACH = 2.0**14


def recentred_scores(
    scores_about: Callable[[Array, int], Array], X: Array, nearest_point: Indices
) -> Array:
    """Scores (n, K) of each row, taken about the point nearest to its best class.

    Parameters
    ----------
    scores_about : callable
        Scores (n, K) of rows (n, d) about a point, given by its number.
    X : ndarray of shape (n, d)
    nearest_point : ndarray of int, shape (K,)
        Point near each class.
    """
    scores = scores_about(X, 0)
    point_of_row = nearest_point[scores.argmax(axis=1)]
    for point in np.unique(point_of_row[point_of_row > 0]):
        rows = point_of_row == point
        scores[rows] = scores_about(X[rows], point)
    return scores


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Joint log densities of classes that have one covariance.

    About a point c the score of a class of mean m is, with its slope s = P (m - c), P
    the inverse of the covariance,

        log pi + s . (x - c) - s . (m - c) / 2.

    Parameters
    ----------
    points : ndarray of shape (q, d)
        Every class is near one of them.
    slopes : ndarray of shape (q, K, d)
    offsets : ndarray of shape (q, K)
        Scores at the points.
    nearest_point : ndarray of int, shape (K,)
        Which point is near each class.
    """

    points: Array
    slopes: Array
    offsets: Array
    nearest_point: Indices

    @classmethod
    def of(
        cls,
        prior: Array,
        means: Array,
        centre: Array,
        whiten: Callable[[Array], Array],
        slopes_of: Callable[[Array], Array],
    ) -> "LinearScores":
        """Scores about a centre, and about means of classes that are far from it.

        With W a whitening matrix, P = W' W, ``whiten(c)`` gives the coordinates
        W (m - c) of all means m, and ``slopes_of`` turns these into W' W (m - c).
        """
        points = []
        slopes = []
        half_squares = []
        nearest_point = np.full(len(means), -1)
        point = centre
        class_at_point = None
        while (nearest_point < 0).any():
            coordinates = whiten(point)
            half_square = 0.5 * (coordinates**2).sum(axis=1)
            near = half_square <= _REACH
            if class_at_point is not None:
                near[class_at_point] = True  # whatever rounding leaves
            nearest_point[(nearest_point < 0) & near] = len(points)
            points.append(point)
            slopes.append(slopes_of(coordinates))
            half_squares.append(half_square)
            # the next point is the mean of the first class that is near none so far
            class_at_point = nearest_point.argmin()
            point = means[class_at_point]
        with np.errstate(divide="ignore"):
            log_prior = np.log(prior)
        return cls(
            points=np.array(points),
            slopes=np.array(slopes),
            offsets=log_prior - np.array(half_squares),
            nearest_point=nearest_point,
        )

    def __call__(self, X: Array) -> Array:
        """Scores (n, K) of rows (n, d), up to what all classes share."""
        return recentred_scores(self._about, X, self.nearest_point)

    def _about(self, X: Array, point: int) -> Array:
        """Scores (n, K) of rows (n, d) about one point."""
        slopes = self.slopes[point]
        # values of a feature that discriminates nothing may overflow: leave it out
        used = slopes.any(axis=0)
        if used.all():
            used = slice(None)
        z = X[:, used] - self.points[point, used]
        return self.offsets[point] + z @ slopes[:, used].T


class Scores(ABC):
    """Joint log densities by ranked features, which may be added a few at a time."""

    log_prior: Array

    @abstractmethod
    def total(self, X: MatrixLike) -> Array:
        """Log pi_k + sum over the features (n, K) of X (n, d), less what is shared."""

    @abstractmethod
    def running_totals(self, X: MatrixLike, grid: Sequence[int]) -> Iterator[Array]:
        """Yield the scores (n, K) by the first S features, for each S of a grid."""

    def correct_weight(
        self, X: MatrixLike, codes: Indices, weight: Array, grid: Sequence[int]
    ) -> Array:
        """Weight (G,) of the rows classified correctly by the first S features.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n, d)
        codes : ndarray of int, shape (n,)
            Classes of the rows; -1 is none of them.
        weight : ndarray of shape (n,)
        grid : sequence of int, length G
            Numbers S, increasing.
        """
        correct = []
        for scores in self.running_totals(X, grid):
            correct.append(weight[scores.argmax(axis=1) == codes].sum())
        finite_scores(scores, X)
        return np.array(correct)


@dataclass(frozen=True, eq=False)
class MarginalScores(Scores):
    """Log densities of the class marginals of some features, built once.

    About one centre for each feature the scores are linear in the powers of
    z = x - centre, once the density of the widest class, the reference, is taken off
    all. There are two exceptions, where ``slopes`` and ``constant`` are zero. A narrow
    class out of reach of the centre "needs its own centre": its density is taken about
    its own location. A feature whose classes are out of reach of each other is "scored
    per class".

    Parameters
    ----------
    family : MarginalFamily
    log_prior : ndarray of shape (K,)
    features : ndarray of int, shape (f,)
        Columns of X.
    centre : ndarray of shape (f,)
    slopes : ndarray of shape (m, K, f)
        Coefficients of z, z^2, ..., relative to the reference.
    constant : ndarray of shape (K, f)
    reference : ndarray of shape (m + 1, f)
        Natural parameters of the widest class about the centre, and its log-normaliser
        last.
    needs_own_centre : ndarray of bool, shape (K, f)
    scored_per_class : ndarray of bool, shape (f,)
    class_params : ndarray of shape (m + 1, K, f)
        Natural parameters about the locations, and log-normalisers.
    location : ndarray of shape (K, f)
        Points near the data of each class; zero in families that do not translate.
    """

    family: MarginalFamily
    log_prior: Array
    features: Indices
    centre: Array
    slopes: Array
    constant: Array
    reference: Array
    needs_own_centre: Bools
    scored_per_class: Bools
    class_params: Array
    location: Array

    @classmethod
    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def of(cls, marginals: ClassMarginals, features: Indices) -> "MarginalScores":
        """Scores by some features (f,), in that order."""
        family = marginals.family
        natural = marginals.natural_params_of(features)
        class_params = _with_log_normaliser(family, natural)
        n_classes, n_features = class_params.shape[1:]
        if family.translates:
            location = marginals.moments.location.take(features, axis=1)
            centre = _common_centre(location, class_params[-2])
            moved = translate_natural(natural, location - centre)
            params = _with_log_normaliser(family, moved)
            out_of_reach, scored_per_class = _out_of_reach(class_params, params)
        else:
            location = np.zeros((n_classes, n_features))
            centre = np.zeros(n_features)
            params = class_params
            out_of_reach = np.zeros((n_classes, n_features), dtype=bool)
            scored_per_class = np.zeros(n_features, dtype=bool)
        reference = np.min(params, axis=1, where=~out_of_reach, initial=np.inf)
        nonlinear = out_of_reach | scored_per_class
        relative = np.where(nonlinear, 0.0, reference[:, None] - params)
        return cls(
            family=family,
            log_prior=np.log(marginals.prior),
            features=features,
            centre=centre,
            slopes=relative[:-1],
            constant=relative[-1],
            reference=reference,
            needs_own_centre=out_of_reach & ~scored_per_class,
            scored_per_class=scored_per_class,
            class_params=class_params,
            location=location,
        )

    def total(self, X: MatrixLike) -> Array:
        return finite_scores(self.log_prior + self.sum(self.columns(X)), X)

    def running_totals(self, X: MatrixLike, grid: Sequence[int]) -> Iterator[Array]:
        columns = by_column(self.columns(X))
        scores = self.log_prior
        for first, last in pairwise([0, *grid]):
            step = slice(first, last)
            scores = scores + self.take(step).sum(columns[:, step])
            yield scores

    def columns(self, X: MatrixLike) -> MatrixLike:
        """Columns (n, f) of X (n, d) in the order of the features, as observed."""
        observed = self.family.observe(X)[:, self.features]
        return observed.astype(np.float64, copy=False)

    def take(self, features: slice | Bools) -> "MarginalScores":
        """Scores by some of the features."""
        return replace(
            self,
            features=self.features[features],
            centre=self.centre[features],
            slopes=self.slopes[..., features],
            constant=self.constant[:, features],
            reference=self.reference[:, features],
            needs_own_centre=self.needs_own_centre[:, features],
            scored_per_class=self.scored_per_class[features],
            class_params=self.class_params[..., features],
            location=self.location[:, features],
        )

    @np.errstate(over="ignore", invalid="ignore")
    def sum(self, columns: MatrixLike) -> Array:
        """What all features, given by columns (n, f), add to the scores (n, K)."""
        if not sparse.issparse(columns):
            return self._dense_sum(columns)
        # only where the score of a feature is a polynomial that vanishes at zero, and
        # no cell is missing, is it the sum over the cells that are stored
        dense = self.scored_per_class | self.needs_own_centre.any(axis=0)
        dense |= self.centre != 0
        dense |= _has_missing(columns)
        if not dense.any():
            return self._linear_sum(columns)
        if dense.all():
            return self._filled_sum(columns)
        linear = self.take(~dense)._linear_sum(columns[:, ~dense])
        return linear + self.take(dense)._filled_sum(columns[:, dense])

    def _linear_sum(self, z) -> Array:
        """The part of the sum that is linear in powers of z (n, f), dense or sparse."""
        score = self.constant.sum(axis=1) + z @ self.slopes[0].T
        for j, slopes in enumerate(self.slopes[1:], start=2):
            power = z.power(j) if sparse.issparse(z) else z**j
            score = score + power @ slopes.T
        return score

    def _filled_sum(self, columns) -> Array:
        """The sum over sparse columns (n, f), filled in a few rows at a time."""
        columns = columns.tocsr()
        step = max(1, _BLOCK // columns.shape[1])
        sums = []
        for start in range(0, columns.shape[0], step):
            block = columns[start : start + step].toarray()
            sums.append(self._dense_sum(block))
        return np.concatenate(sums)

    def _dense_sum(self, X) -> Array:
        """The sum over dense columns X (n, f); a missing cell adds nothing."""
        z = X - self.centre
        known = ~np.isnan(z)
        if known.all():
            score = self._linear_sum(z)
        else:
            filled = np.where(known, z, 0.0)
            score = self._linear_sum(filled) - ~known @ self.constant.T
        for k in np.flatnonzero(self.needs_own_centre.any(axis=1)):
            s = self.needs_own_centre[k]
            shared = _log_density(z[:, s], self.reference[:, s])
            excess = self._class_log_density(X[:, s], k, s) - shared
            score[:, k] += excess.sum(axis=1, where=known[:, s])
        if self.scored_per_class.any():
            self._add_per_class(score, X, known)
        return score

    def _add_per_class(self, score, X, known) -> None:
        """Add the features that are scored per class, less the best class of each."""
        s = self.scored_per_class
        X = X[:, s]
        log_densities = [
            self._class_log_density(X, k, s) for k in range(len(self.log_prior))
        ]
        possible = np.isfinite(self.log_prior)
        best = np.max(np.array(log_densities)[possible], axis=0)
        for k, log_density in enumerate(log_densities):
            excess = log_density - best
            score[:, k] += excess.sum(axis=1, where=known[:, s])

    def _class_log_density(self, X, k: int, features) -> Array:
        """Log densities (n, s) of class k for some features X (n, s)."""
        z = X - self.location[k, features]
        return _log_density(z, self.class_params[:, k, features])


def by_column(X: MatrixLike) -> MatrixLike:
    """The same matrix, laid out so that a few columns are quick to take."""
    return X.tocsc() if sparse.issparse(X) else np.asfortranarray(X)


def _with_log_normaliser(family, natural) -> Array:
    """Natural parameters (K, f, m) and the log-normaliser, as rows (m + 1, K, f)."""
    return np.array([*np.moveaxis(natural, -1, 0), family.log_normaliser(natural)])


def _common_centre(location, precision) -> Array:
    """Point (f,) of each feature about which powers are taken: that of a narrow class.

    The narrowest class loses most where powers are taken elsewhere. Zero comes first if
    a class lies there: zeros of sparse data then add nothing.
    """
    features = np.arange(location.shape[1])
    of_narrowest = location[precision.argmax(axis=0), features]
    return np.where((location == 0).any(axis=0), 0.0, of_narrowest)


def _out_of_reach(class_params, params) -> tuple[Bools, Bools]:
    """Classes (K, f) out of reach of the centre, and features (f,) with no common one.

    Parameters
    ----------
    class_params, params : ndarray of shape (m + 1, K, f)
        Parameters about the location of each class, and about the common centre.
    """
    # the log-normaliser grows by half the squared distance in standard deviations
    distance = np.abs(params[-1] - class_params[-1])
    out_of_reach = ~(distance <= _REACH)
    precision = class_params[-2]
    # the same distances in standard deviations of the widest class
    distance_of_widest = distance * (precision.min(axis=0) / precision)
    no_common_centre = ~(distance_of_widest <= _REACH).all(axis=0)
    return out_of_reach, no_common_centre | out_of_reach.all(axis=0)


def _has_missing(columns) -> Bools:
    """Which columns (f,) of sparse data store NaN."""
    missing = np.zeros(columns.shape[1], dtype=bool)
    if np.isnan(columns.data).any():
        cells = columns.tocoo()
        missing[cells.col[np.isnan(cells.data)]] = True
    return missing


def _log_density(z, params):
    """Log density at z of parameters (m + 1, ...), the log-normaliser last (Horner)."""
    *natural, log_normaliser = params
    total = natural[-1]
    for coefficient in natural[-2::-1]:
        total = total * z + coefficient
    return -(total * z + log_normaliser)
