"""Scores of instances: sums of log densities of class marginals, linear in phi(x).

Only differences between classes matter. They are taken once, before any multiplication
by x: terms that all classes share in a feature drop out, however large x is, and
prediction takes one matrix product per power of x.

Classes with a common covariance have linear scores as well. The scores of classes that
lie close together are taken about a point near them; about any other point, a class far
away would cost them significant digits.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from memdlib._types import Array, Bools, Indices
from memdlib.estimator import check_finite_scores
from memdlib.families import MarginalFamily
from memdlib.moments import translate_natural

# Entries of a sparse matrix that are made dense at a time (2 MiB of doubles).
_FILLED = 2**18
# Scores, over rows, sizes and classes, that are held at a time (16 MiB).
_TOTALS = 2**21

# Largest half squared distance, in standard deviations, of a class from the point about
# which its scores are taken. Up to here they are exact to about 1e-11 nats.
_REACH = 2.0**14

# Error of the log-odds of a document, in nats, from which on it matters; and log-odds,
# in nats, that leave the other class no probability.
_LARGEST_ERROR = 1e-4
_CERTAIN = 40.0


def recentred_scores(scores_about, X, near_point):
    """Scores (n, K) of all rows, each taken about a point near its best class.

    Parameters
    ----------
    scores_about : callable
        Maps rows (n, d) and the index of a point to scores (n, K) about that point.
    X : ndarray of shape (n, d)
    near_point : ndarray of int, shape (K,)
        Index of the point near each class.
    """
    scores = scores_about(X, 0)
    point_of_row = near_point[scores.argmax(axis=1)]
    for point in np.unique(point_of_row[point_of_row > 0]):
        rows = point_of_row == point
        scores[rows] = scores_about(X[rows], point)
    return scores


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Joint log densities of classes that share one covariance.

    Let P be the inverse of the covariance. About a point c, a class with mean m has the
    slope s = P (m - c) and the score

        log pi + s . (x - c) - s . (m - c) / 2.

    Parameters
    ----------
    points : ndarray of shape (q, d)
        Points about which scores are taken; every class is near one of them.
    slopes : ndarray of shape (q, K, d)
    offsets : ndarray of shape (q, K)
        Scores at the points.
    near_point : ndarray of int, shape (K,)
        Index of the point near each class.
    """

    points: Array
    slopes: Array
    offsets: Array
    near_point: Indices

    @classmethod
    def of(
        cls,
        prior,
        means,
        centre,
        whiten,
        slopes_of,
    ):
        """Build scores about a centre, and about the means of classes far from it.

        For a whitening matrix W, with P = W' W, ``whiten(c)`` returns the coordinates
        W (m - c) of all means m, and ``slopes_of`` maps these to W' W (m - c).
        """
        points = []
        slopes = []
        half_squares = []
        near_point = np.full(len(means), -1)
        point = centre
        class_at_point = None
        while (near_point < 0).any():
            coordinates = whiten(point)
            half_square = 0.5 * (coordinates**2).sum(axis=1)
            near = half_square <= _REACH
            if class_at_point is not None:
                near[class_at_point] = True  # even if rounding says otherwise
            near_point[(near_point < 0) & near] = len(points)
            points.append(point)
            slopes.append(slopes_of(coordinates))
            half_squares.append(half_square)
            # next, the mean of the first class that is not yet near any point
            class_at_point = near_point.argmin()
            point = means[class_at_point]
        with np.errstate(divide="ignore"):
            log_prior = np.log(prior)
        return cls(
            points=np.array(points),
            slopes=np.array(slopes),
            offsets=log_prior - np.array(half_squares),
            near_point=near_point,
        )

    @np.errstate(over="ignore", invalid="ignore")
    def total(self, X):
        """Scores (n, K) of rows (n, d), up to a term that all classes share."""
        X = X.astype(np.float64)
        return check_finite_scores(recentred_scores(self._about, X, self.near_point), X)

    def _about(self, X, point):
        """Scores (n, K) of rows (n, d) about a single point."""
        slopes = self.slopes[point]
        # skip features that do not discriminate, whose values might overflow
        used = slopes.any(axis=0)
        if used.all():
            used = slice(None)
        z = X[:, used] - self.points[point, used]
        return self.offsets[point] + z @ slopes[:, used].T


class Scores(ABC):
    """Joint log densities from ranked features, which can be added in steps."""

    @abstractmethod
    def total(self, X):
        """Scores (n, K) of rows X (n, d), up to a term that all classes share."""

    @abstractmethod
    def running_totals(self, X, grid):
        """Scores (n, G, K) from the first S features, for each S in a grid (G,)."""

    def correct_weight(self, X, codes, weight, grid):
        """Total weight (G,) of rows that the first S features classify correctly.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n, d)
        codes : ndarray of int, shape (n,)
            Class index of each row; -1 stands for none of the classes.
        weight : ndarray of shape (n,)
        grid : ndarray of int, shape (G,)
            Increasing numbers S; the last is the number of all features.
        """
        correct = np.zeros(len(grid))
        n_rows = max(1, _TOTALS // (len(grid) * len(self.log_prior)))
        for start in range(0, X.shape[0], n_rows):
            rows = slice(start, start + n_rows)
            totals = self.running_totals(X[rows], grid)
            # of running sums the last one overflows if any does
            check_finite_scores(totals[:, -1], X[rows])
            is_correct = totals.argmax(axis=2) == codes[rows, None]
            correct += weight[rows] @ is_correct
        return correct


def check_long_documents(scores, counts):
    """Raise if rounding of word probabilities may change the posteriors of a document.

    Parameters
    ----------
    scores : ndarray of shape (n, K)
    counts : {ndarray, csr_array} of shape (n, d)
    """
    n_counts = np.asarray(counts.sum(axis=1), dtype=np.float64)
    error = np.finfo(np.float64).eps * n_counts
    second, best = np.partition(scores, -2, axis=1)[:, -2:].T
    lost = (error > _LARGEST_ERROR) & ~(best - second > _CERTAIN + error)
    if lost.any():
        i = int(lost.argmax())
        raise ValueError(
            f"row {i} of X holds {n_counts[i]:.6g} counts, so many that rounding "
            "leaves its class in doubt; count in larger units, in fit as well"
        )


def by_step(coefficients, step, n_steps):
    """Matrix that sums features within steps, weighted by coefficients per class.

    Parameters
    ----------
    coefficients : ndarray of shape (K, f)
    step : ndarray of int, shape (f,)
        Step of each feature.
    n_steps : int

    Returns
    -------
    {ndarray, csr_array} of shape (f, n_steps K)
        Dense if there is only one step.
    """
    if n_steps == 1:
        return coefficients.T
    n_classes, n_features = coefficients.shape
    column = step[:, None] * n_classes + np.arange(n_classes)
    row_ends = n_classes * np.arange(n_features + 1)
    shape = (n_features, n_steps * n_classes)
    return sparse.csr_array((coefficients.T.ravel(), column.ravel(), row_ends), shape)


def steps_of(grid):
    """Step (f,) at which each of the f = grid[-1] features is added."""
    return np.repeat(np.arange(len(grid)), np.diff(grid, prepend=0))


@dataclass(frozen=True, eq=False)
class MarginalScores(Scores):
    """Log densities of the class marginals of some features, built once.

    Every feature has a centre. The scores are linear in the powers of z = x - centre,
    once a common reference is subtracted from all classes: the smallest value of each
    parameter over the classes within reach, so that no coefficient of the highest power
    is positive. There are two exceptions, for which ``slopes`` and ``constant`` are
    zero. A narrow class that is out of reach of the centre "needs its own centre": its
    density is taken about its own location. A feature whose classes are out of reach of
    each other is "scored per class".

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
        Smallest natural parameters about the centre of the classes within reach,
        followed by their smallest log-normaliser; not the density of any one class.
    needs_own_centre : ndarray of bool, shape (K, f)
    scored_per_class : ndarray of bool, shape (f,)
    class_params : ndarray of shape (m + 1, K, f)
        Natural parameters about the locations, followed by the log-normalisers.
    location : ndarray of shape (K, f)
        Points near the data of each class; zero for families that do not translate.
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
    def of(cls, marginals, features):
        """Build scores from some features (f,), in the given order.

        Long because it names every field.
        """
        family = marginals.family
        natural = marginals.natural_params_of(features)
        class_params = _with_log_normaliser(family, natural)
        n_classes, n_features = class_params.shape[1:]
        if family.translates:
            location = marginals.moments.location.take(features, axis=1)
            centre = _common_centre(location, precision=class_params[-2])
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

    def total(self, X):
        columns = self.columns(X)
        one_step = np.zeros(columns.shape[1], dtype=np.intp)
        sums = self.step_sums(columns, one_step, 1)[:, 0]
        return check_finite_scores(self.log_prior + sums, X)

    def running_totals(self, X, grid):
        totals = self.step_sums(self.columns(X), steps_of(grid), len(grid))
        totals[:, 0] += self.log_prior
        return np.cumsum(totals, axis=1, out=totals)

    def columns(self, X):
        """Observed columns (n, f) of X (n, d), in the order of the features."""
        observed = self.family.observe(X)[:, self.features]
        return observed.astype(np.float64, copy=False)

    def _take(self, features):
        """Restrict the scores to some of the features."""
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
    def step_sums(self, columns, step, n_steps):
        """Contribution to the scores of the features of each step.

        Parameters
        ----------
        columns : {ndarray, csr_array} of shape (n, f)
            Return value of :meth:`columns`.
        step : ndarray of int, shape (f,)
            Step of each feature.
        n_steps : int

        Returns
        -------
        ndarray of shape (n, n_steps, K)
        """
        if not sparse.issparse(columns):
            return self._dense_sums(columns, step, n_steps)
        # the score of a feature is a sum over the stored cells only if it is a
        # polynomial that vanishes at zero and no cell is missing
        dense = self.scored_per_class | self.needs_own_centre.any(axis=0)
        dense |= self.centre != 0
        dense |= _has_missing(columns)
        if not dense.any():
            return self._linear_sums(columns, step, n_steps)
        if dense.all():
            return self._filled_sums(columns, step, n_steps)
        linear = self._take(~dense)._linear_sums(
            columns[:, ~dense], step[~dense], n_steps
        )
        return linear + self._take(dense)._filled_sums(
            columns[:, dense], step[dense], n_steps
        )

    def _linear_sums(self, z, step, n_steps):
        """Part of the sums that is linear in powers of z (n, f), dense or sparse."""
        n_classes = len(self.log_prior)
        sums = by_step(self.constant, step, n_steps).sum(axis=0)
        for j, slopes in enumerate(self.slopes, start=1):
            if j == 1:
                power = z
            elif sparse.issparse(z):
                # not z.power(j), which sorts the entries
                power = type(z)((z.data**j, z.indices, z.indptr), z.shape)
            else:
                power = z**j
            added = power @ by_step(slopes, step, n_steps)
            sums = sums + (added.toarray() if sparse.issparse(added) else added)
        return sums.reshape(-1, n_steps, n_classes)

    def _filled_sums(self, columns, step, n_steps):
        """Sums over sparse columns (n, f), made dense a few rows at a time."""
        columns = columns.tocsr()
        n_rows = max(1, _FILLED // columns.shape[1])
        sums = []
        for start in range(0, columns.shape[0], n_rows):
            block = columns[start : start + n_rows].toarray()
            sums.append(self._dense_sums(block, step, n_steps))
        return np.concatenate(sums)

    def _dense_sums(self, X, step, n_steps):
        """Sums over dense columns X (n, f); missing cells add nothing."""
        z = X - self.centre
        known = ~np.isnan(z)
        if known.all():
            sums = self._linear_sums(z, step, n_steps)
        else:
            # cells filled with z = 0 contribute the constant, which is taken off again
            sums = self._linear_sums(np.where(known, z, 0.0), step, n_steps)
            missing = ~known @ by_step(self.constant, step, n_steps)
            sums -= missing.reshape(sums.shape)
        for k in np.flatnonzero(self.needs_own_centre.any(axis=1)):
            s = self.needs_own_centre[k]
            excess = self._class_log_density(X[:, s], k, s)
            excess -= _log_density(z[:, s], self.reference[:, s])
            within_step = by_step(np.ones((1, s.sum())), step[s], n_steps)
            sums[..., k] += np.where(known[:, s], excess, 0.0) @ within_step
        if self.scored_per_class.any():
            self._add_per_class(sums, X, known, step, n_steps)
        return sums

    def _add_per_class(self, sums, X, known, step, n_steps):
        """Add the features scored per class, relative to the best class of each."""
        s = self.scored_per_class
        log_densities = [
            self._class_log_density(X[:, s], k, s) for k in range(len(self.log_prior))
        ]
        # a class of prior zero must not set the reference
        possible = np.isfinite(self.log_prior)
        best = np.max(np.array(log_densities)[possible], axis=0)
        within_step = by_step(np.ones((1, s.sum())), step[s], n_steps)
        for k, log_density in enumerate(log_densities):
            excess = np.where(known[:, s], log_density - best, 0.0)
            sums[..., k] += excess @ within_step

    def _class_log_density(self, X, k, features):
        """Log densities (n, s) of class k for some features X (n, s)."""
        z = X - self.location[k, features]
        return _log_density(z, self.class_params[:, k, features])


def _with_log_normaliser(family, natural):
    """Stack natural parameters (K, f, m) and log-normalisers to (m + 1, K, f)."""
    return np.array([*np.moveaxis(natural, -1, 0), family.log_normaliser(natural)])


def _common_centre(location, precision):
    """Centre (f,) of each feature, about which its powers are taken.

    This is zero if a class is located there, so that the zeros of sparse data add
    nothing; else the location of the narrowest class, which would lose the most digits
    about any other point.
    """
    features = np.arange(location.shape[1])
    of_narrowest = location[precision.argmax(axis=0), features]
    return np.where((location == 0).any(axis=0), 0.0, of_narrowest)


def _out_of_reach(class_params, params):
    """Classes (K, f) out of reach of the centre; features (f,) with no common centre.

    Parameters
    ----------
    class_params, params : ndarray of shape (m + 1, K, f)
        Parameters about the location of each class, and about the common centre.
    """
    # the log-normaliser grows by half the squared distance in standard deviations
    distance = np.abs(params[-1] - class_params[-1])
    out_of_reach = ~(distance <= _REACH)
    # the highest natural parameter is half the inverse variance: of the families, only
    # the normal one translates
    precision = class_params[-2]
    # the same distances in standard deviations of the widest class
    distance_of_widest = distance * (precision.min(axis=0) / precision)
    no_common_centre = ~(distance_of_widest <= _REACH).all(axis=0)
    return out_of_reach, no_common_centre | out_of_reach.all(axis=0)


def _has_missing(columns):
    """Mask (f,) of the columns of sparse data that store NaN."""
    missing = np.zeros(columns.shape[1], dtype=bool)
    if np.isnan(columns.data).any():
        cells = columns.tocoo()
        missing[cells.col[np.isnan(cells.data)]] = True
    return missing


def _log_density(z, params):
    """Log density at z by Horner's rule; params (m + 1, ...) end in log-normalisers."""
    *natural, log_normaliser = params
    total = natural[-1]
    for coefficient in natural[-2::-1]:
        total = total * z + coefficient
    return -(total * z + log_normaliser)
