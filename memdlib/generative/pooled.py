"""Pooled second moments: class means, one covariance for all classes, and its root.

The covariance is diag(s) R diag(s), with R = lambda I + (1 - lambda) Z^T Z, Z the
standardised residuals. The coordinates z = R^(-1/2) diag(1/s) (x - mu) are independent
in every class; with their means M_k there, JS_GM = sum_j sum_k pi_k M_kj^2, exactly.
With Z Z^T = U diag(t) U^T and a = lambda + (1 - lambda) t,

    R^(-1/2) = lambda^(-1/2) I + Z^T U diag(q) U^T Z,
    q = (a^(-1/2) - lambda^(-1/2)) / t
      = -(1 - lambda) / (sqrt(a lambda) (sqrt(a) + sqrt(lambda))),

which does not cancel and costs O(n^2 d) where there are fewer rows than features.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from memdlib._sklearn import StrOptions
from memdlib._types import Array, Indices
from memdlib.estimator import BayesClassifier
from memdlib.families.base import ROUNDING
from memdlib.families.shrinkage import correlation_intensity, shrinkage_intensity
from memdlib.generative.scores import LinearScores
from memdlib.moments import heaviest_rows
from memdlib.validation import (
    UNIT_INTERVAL,
    check_priors,
    restore_on_error,
    validate_labelled,
)


@dataclass(frozen=True, eq=False)
class InverseRoot:
    """The matrix R^(-1/2), in one of three forms.

    The identity if ``core`` is None; ``core`` itself, of shape (d, d), if ``rows`` is
    None; otherwise diag(diagonal) + Z^T core Z, with Z the few ``rows`` of shape
    (n, d), ``core`` of shape (n, n) and ``diagonal`` of shape (d,).
    """

    correlation_shrinkage: float
    core: Array = None
    diagonal: Array = None
    rows: Array = None

    def __call__(self, A):
        """Return A R^(-1/2), of the shape (m, d) of A."""
        if self.core is None:
            return A
        if self.rows is None:
            return A @ self.core
        return A * self.diagonal + ((A @ self.rows.T) @ self.core) @ self.rows


@dataclass(frozen=True, eq=False)
class PooledMoments:
    """Class means, and the variances and correlations within classes.

    Parameters
    ----------
    weight : ndarray of shape (K,)
        Total instance weight of each class.
    means, mean_lo : ndarray of shape (K, d)
        High and low part of the class means: their unevaluated sum keeps the digits of
        data that are far from zero.
    variance, between : ndarray of shape (d,)
        Variance within classes, and variance of the class means; zero where rounding
        alone may explain it.
    low, high : ndarray of shape (d,)
        Smallest and largest value of each feature.
    codes : ndarray of int of shape (n,)
        Class index of each row.
    residuals : ndarray of shape (n, d)
        Z, scaled such that Z^T Z holds the correlations within classes. Zero in a
        feature without variance.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 2.0], [4.0, 9.0], [8.0, 9.0]])
    >>> moments = PooledMoments.of(X, np.array([0, 0, 1, 1]), 2, np.ones(4))
    >>> moments.means.tolist(), moments.variance.tolist()
    ([[2.0, 2.0], [6.0, 9.0]], [2.5, 0.0])
    """

    weight: Array
    means: Array
    mean_lo: Array
    variance: Array
    between: Array
    low: Array
    high: Array
    codes: Indices
    residuals: Array

    @classmethod
    def of(cls, X, codes, n_classes, weight):
        """Compute the moments of finite rows.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        codes : ndarray of int of shape (n,)
            Class index of each row; every class has a row.
        n_classes : int
        weight : ndarray of shape (n,)
            Positive weight of each row.
        """
        class_weight = np.bincount(codes, weight, n_classes)
        prior = class_weight / class_weight.sum()
        row_weight = weight / weight.sum()
        # Taken about its heaviest row, a class far from zero keeps its digits.
        origin = X[heaviest_rows(codes, weight, n_classes)].astype(np.float64)
        Z = X - origin[codes]
        # sparse, as (K, n) zeros would be large where labels are row numbers
        share_in_class = weight / class_weight[codes]
        rows = np.arange(len(codes))
        average = sparse.csr_array(
            (share_in_class, (codes, rows)), (n_classes, len(codes))
        )
        offset = average @ Z
        Z -= offset[codes]
        means = origin + offset
        variance, between = _variances(Z, means, offset, row_weight, prior)
        Z *= np.sqrt(row_weight)[:, None]
        Z /= np.sqrt(np.where(variance > 0, variance, np.inf))
        return cls(
            weight=class_weight,
            means=means,
            mean_lo=(origin - means) + offset,
            variance=variance,
            between=between,
            low=X.min(axis=0).astype(np.float64),
            high=X.max(axis=0).astype(np.float64),
            codes=codes,
            residuals=Z,
        )

    @property
    def prior(self):
        """Class shares of the instance weight, (K,)."""
        return self.weight / self.weight.sum()

    @property
    def degrees_of_freedom(self):
        """Total weight, less one for each class."""
        return float(self.weight.sum() - len(self.weight))

    @cached_property
    def gram(self):
        """Z Z^T, or Z^T Z if that is smaller."""
        Z = self.residuals
        return Z @ Z.T if len(Z) < Z.shape[1] else Z.T @ Z

    @property
    def correlation_intensity(self):
        """Shrinkage of the correlations with the least mean squared error."""
        n_varying = np.count_nonzero(self.variance)
        total = (self.gram**2).sum()
        # A feature correlates with itself by one; what the others add to the total is
        # taken for zero where it may be the rounding of these ones.
        squares = total - n_varying
        if squares <= ROUNDING * total:
            squares = 0.0
        return float(correlation_intensity(squares, n_varying, self.degrees_of_freedom))

    def standard_deviations(self, variance_shrinkage, unit=1.0):
        """Square roots of the variances (1 - s) v + s median(v).

        Parameters
        ----------
        variance_shrinkage : float in [0, 1] or "auto"
            The intensity s.
        unit : float or ndarray of shape (d,), default=1.0
            Units in which the median of the variances is taken.

        Returns
        -------
        deviations : ndarray of shape (d,)
            In the units of the data.
        variance_shrinkage : float
            The intensity in use: 0 if no feature varies within classes.
        """
        varies = self.variance > 0
        within = self.variance / unit**2
        between = self.between / unit**2
        if not varies.any():
            variance_shrinkage = 0.0
        else:
            median = np.median(within[varies])
            if variance_shrinkage == "auto":
                variance_shrinkage = self._variance_intensity(within[varies], median)
            within = (1.0 - variance_shrinkage) * within + variance_shrinkage * median
        # A feature that is constant within every class has no variance to shrink. It
        # gets one that carries no information: that of its class means, or 1.
        constant = np.where(between > 0, between, 1.0)
        return np.sqrt(np.where(varies, within, constant)) * unit, variance_shrinkage

    def _variance_intensity(self, variance, target):
        """Intensity of least error for positive variances and their target.

        Opgen-Rhein & Strimmer (2007), with the sampling variance 2 v^2 / (n - K + 2)
        that normal residuals have.
        """
        # relative to the largest, so that no square overflows or underflows
        largest = variance.max()
        variation = 2.0 * ((variance / largest) ** 2).sum()
        distance = (((variance - target) / largest) ** 2).sum()
        degrees_of_freedom = self.degrees_of_freedom + 2.0
        return float(shrinkage_intensity(variation, distance, degrees_of_freedom))

    def inverse_root(self, correlation_shrinkage="auto"):
        """Inverse root of R = lambda I + (1 - lambda) Z^T Z.

        Parameters
        ----------
        correlation_shrinkage : float in [0, 1] or "auto", default="auto"
            The intensity lambda; "auto" is that of least mean squared error.

        Raises
        ------
        ValueError
            If R is singular but for rounding.
        """
        if correlation_shrinkage == "auto":
            correlation_shrinkage = self.correlation_intensity
        if correlation_shrinkage == 1:
            return InverseRoot(correlation_shrinkage=1.0)
        n, d = self.residuals.shape
        varies = self.variance > 0
        # Z^T Z has no diagonal one for a feature without variance; R has.
        gram = self.gram if n < d else self.gram + np.diag(~varies)
        t, U = np.linalg.eigh(gram)
        a = correlation_shrinkage + (1.0 - correlation_shrinkage) * np.maximum(t, 0.0)
        # With fewer rows than features, R has the eigenvalue lambda as well.
        smallest = correlation_shrinkage if n < d else a[0]
        if not smallest > d * ROUNDING:
            raise ValueError(
                f"the smallest eigenvalue of the correlations is {smallest:.3g}; "
                'use correlation_shrinkage > 0 or "auto", or fewer features'
            )
        if n < d:
            return self._low_rank_inverse_root(correlation_shrinkage, a, U)
        core = (U / np.sqrt(a)) @ U.T
        # Rounding mixes features without variance into the eigenvectors of the others.
        core = np.where(np.outer(varies, varies), core, np.eye(d))
        return InverseRoot(correlation_shrinkage=correlation_shrinkage, core=core)

    def _low_rank_inverse_root(self, correlation_shrinkage, a, U):
        """Inverse root by the formula at the head of this module, with its a and U."""
        root = np.sqrt(a)
        q = -(1.0 - correlation_shrinkage) / (
            np.sqrt(a * correlation_shrinkage) * (root + np.sqrt(correlation_shrinkage))
        )
        return InverseRoot(
            correlation_shrinkage=correlation_shrinkage,
            core=(U * q) @ U.T,
            diagonal=np.where(
                self.variance > 0, 1.0 / np.sqrt(correlation_shrinkage), 1.0
            ),
            rows=self.residuals,
        )


def _variances(Z, means, offset, row_weight, prior):
    """Variances within and between classes (d,), zero where they may be rounding.

    ``Z`` are the residuals (n, d), ``offset`` the distances (K, d) of the class means
    to the origins that sums were taken about; ``row_weight`` (n,) and ``prior`` (K,)
    add up to one.
    """
    within = row_weight @ Z**2
    between = prior @ (means - prior @ means) ** 2
    # Values are rounded by a fraction of themselves, sums by a fraction of their terms.
    of_values = ROUNDING**2 * (prior @ means**2)
    square = prior @ offset**2
    of_means = of_values + ROUNDING**2 * (square + within)
    of_residuals = of_values + ROUNDING * square
    return (
        np.where(within > of_residuals, within, 0.0),
        np.where(between > of_means, between, 0.0),
    )


@dataclass(frozen=True, eq=False)
class WhitenedMeans:
    """Class means in the coordinates z = R^(-1/2) (x - centre) / deviations.

    Parameters
    ----------
    prior : ndarray of shape (K,)
    centre, deviations : ndarray of shape (d,)
        Mean of the class means by ``prior``; standard deviations after shrinkage.
    moments : PooledMoments
    root : InverseRoot
    variance_shrinkage : float
        Shrinkage of the variances in use; that of the correlations is in ``root``.

    Examples
    --------
    >>> X = np.array([[0.0, 0], [2, 2], [3, 0], [5, 2]])
    >>> moments = PooledMoments.of(X, np.array([0, 0, 1, 1]), 2, np.ones(4))
    >>> WhitenedMeans.of(moments, correlation_shrinkage=1.0).means.tolist()
    [[-1.5, 0.0], [1.5, 0.0]]
    """

    prior: Array
    centre: Array
    deviations: Array
    moments: PooledMoments
    root: InverseRoot
    variance_shrinkage: float

    @classmethod
    def of(
        cls,
        moments,
        prior=None,
        correlation_shrinkage="auto",
        variance_shrinkage=0.0,
        unit=1.0,
    ):
        """Shrink the moments and whiten the class means.

        ``prior=None`` takes the class shares of the instance weight; ``unit`` is that
        of :meth:`PooledMoments.standard_deviations`.
        """
        if prior is None:
            prior = moments.prior
        deviations, variance_shrinkage = moments.standard_deviations(
            variance_shrinkage, unit
        )
        # Relative to one class, the mean of a constant is that constant to the last
        # digit, and its slope is zero.
        reference = moments.means[np.argmax(prior)]
        return cls(
            prior=prior,
            centre=reference + prior @ (moments.means - reference),
            deviations=deviations,
            moments=moments,
            root=moments.inverse_root(correlation_shrinkage),
            variance_shrinkage=variance_shrinkage,
        )

    @cached_property
    def means(self):
        """M, the class means in coordinates z, (K, d); zero on average by ``prior``."""
        return self.about(self.centre)

    def about(self, point):
        """Class means less a point (d,) of x, in coordinates z, (K, d)."""
        differences = (self.moments.means - point) + self.moments.mean_lo
        return self.root(differences / self.deviations)

    def linear(self, mask=1.0):
        """Scores of x by the coordinates z whose ``mask`` (d,) is one, not zero."""
        return LinearScores.of(
            self.prior,
            self.moments.means,
            self.centre,
            lambda point: mask * self.about(point),
            lambda means: self.root(means) / self.deviations,
        )


class PooledClassifier(BayesClassifier):
    """Bayes classifier from pooled moments; a subclass supplies ``_estimate``."""

    _parameter_constraints = {
        "correlation_shrinkage": [StrOptions({"auto"}), UNIT_INTERVAL],
        "variance_shrinkage": [StrOptions({"auto"}), UNIT_INTERVAL],
        "priors": [None, "array-like"],
        "class_weight": [None, StrOptions({"balanced"}), dict],
    }

    @property
    def _weights_count_rows(self):
        """Whether a shrinkage is estimated, which counts rows."""
        return "auto" in (self.correlation_shrinkage, self.variance_shrinkage)

    @restore_on_error
    def fit(self, X, y, sample_weight=None):
        """Estimate the class means and the pooled second moments, and shrink them.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Class labels, of at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Counts of rows: a weight of 2 is equivalent to repeating the row. Divide
            weights on any other scale by their mean. None gives every row the weight 1.

        Returns
        -------
        self

        Warns
        -----
        UserWarning
            If the weights of several rows sum to one or less and a shrinkage is "auto".
        """
        X, codes, weight, self.classes_ = validate_labelled(
            self, X, y, sample_weight, class_weight=self.class_weight
        )
        self._estimate(PooledMoments.of(X, codes, len(self.classes_), weight))
        self._warn_of_outcome(X, codes, weight)
        return self

    @abstractmethod
    def _estimate(self, moments):
        """Set every attribute that follows from the moments."""

    def _set_whitened_means(self, moments, unit):
        """Whiten the class means; set the attributes that all subclasses share."""
        prior = check_priors(self.priors, len(self.classes_))
        whitened = WhitenedMeans.of(
            moments, prior, self.correlation_shrinkage, self.variance_shrinkage, unit
        )
        self.class_prior_ = whitened.prior
        self.correlation_shrinkage_ = whitened.root.correlation_shrinkage
        self.variance_shrinkage_ = whitened.variance_shrinkage
        self.scores_ = whitened.prior @ whitened.means**2
        return whitened
