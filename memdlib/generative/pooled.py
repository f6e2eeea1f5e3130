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
from typing import Any, ClassVar, Self

import numpy as np

from memdlib._types import Array, ArrayLike, Indices, NDArray, Weights
from memdlib.estimator import BayesClassifier, all_or_nothing
from memdlib.families.base import ROUNDING
from memdlib.families.shrinkage import correlation_intensity, shrinkage_intensity
from memdlib.generative.scores import LinearScores
from memdlib.validation import UNIT, Words, check_priors, labelled_data


@dataclass(frozen=True)
class InverseRoot:
    """R^(-1/2): core, or diag(diagonal) + Z^T core Z with few rows Z; None is I."""

    shrinkage: float
    core: Array | None = None
    diagonal: Array | None = None
    rows: Array | None = None

    def __call__(self, A: Array) -> Array:
        """Return A R^(-1/2), of the shape (m, d) of A."""
        if self.core is None:
            return A
        if self.rows is None:
            return A @ self.core
        return A * self.diagonal + ((A @ self.rows.T) @ self.core) @ self.rows


@dataclass(frozen=True)
class PooledMoments:
    """Class means, variances and correlations within classes.

    Parameters
    ----------
    weight : ndarray of shape (K,)
    means, rest : ndarray of shape (K, d)
        Their sum has the digits of the data where these are far from zero.
    variance, between : ndarray of shape (d,)
        Within classes, and of the class means; zero if rounding may explain it.
    low, high : ndarray of shape (d,)
        Least and largest values.
    codes : ndarray of int of shape (n,)
    residuals : ndarray of shape (n, d)
        Z: Z^T Z are the correlations. Zero in a feature without variance.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 2.0], [4.0, 9.0], [8.0, 9.0]])
    >>> moments = PooledMoments.of(X, np.array([0, 0, 1, 1]), 2, np.ones(4))
    >>> moments.means.tolist(), moments.variance.tolist()
    ([[2.0, 2.0], [6.0, 9.0]], [2.5, 0.0])
    """

    weight: Array
    means: Array
    rest: Array
    variance: Array
    between: Array
    low: Array
    high: Array
    codes: Indices
    residuals: Array

    @classmethod
    def of(
        cls, X: NDArray[Any], codes: Indices, n_classes: int, weight: Array
    ) -> "PooledMoments":
        """Moments of finite rows (n, d) with class indices and positive weights."""
        by_class = np.bincount(codes, weight, n_classes)
        prior, share = by_class / by_class.sum(), weight / weight.sum()
        # about a row of its own, values of a class keep their digits
        first = X[np.unique(codes, return_index=True)[1]].astype(np.float64)
        members = np.eye(n_classes)[codes] * (weight / by_class[codes])[:, None]
        Z = X - first[codes]
        centres = members.T @ Z
        Z -= centres[codes]
        means, variance = first + centres, share @ Z**2
        between = prior @ (means - prior @ means) ** 2
        # values are rounded by a share of themselves, sums by one of their terms
        values, spread = ROUNDING**2 * (prior @ means**2), prior @ centres**2
        apart = values + ROUNDING**2 * (spread + variance)
        between = np.where(between > apart, between, 0.0)
        within = values + ROUNDING * spread
        variance = np.where(variance > within, variance, 0.0)
        Z *= np.sqrt(share)[:, None]
        Z /= np.sqrt(np.where(variance > 0, variance, np.inf))
        low, high = (f(axis=0).astype(np.float64) for f in (X.min, X.max))
        rest = (first - means) + centres
        return cls(by_class, means, rest, variance, between, low, high, codes, Z)

    @property
    def degrees_of_freedom(self) -> float:
        """Total weight, less one for each class."""
        return float(self.weight.sum() - len(self.weight))

    @cached_property
    def gram(self) -> Array:
        """Z Z^T, or Z^T Z where that is smaller."""
        Z = self.residuals
        return Z @ Z.T if len(Z) < Z.shape[1] else Z.T @ Z

    @property
    def correlation_intensity(self) -> float:
        """Shrinkage of the correlations with the least mean squared error."""
        n_varying = np.count_nonzero(self.variance)
        # the correlation of a feature with itself is one; the rest may be rounding
        total = (self.gram**2).sum()
        squares = total - n_varying
        squares = squares if squares > ROUNDING * total else 0.0
        return float(correlation_intensity(squares, n_varying, self.degrees_of_freedom))

    def standard_deviations(
        self, shrinkage: float | str, unit: Array | float = 1.0
    ) -> tuple[Array, float]:
        """Roots of the variances (1 - s) v + s median(v), and the s in use."""
        varies, between = self.variance > 0, self.between / unit**2
        own = self.variance / unit**2
        # what does not vary within classes gets a variance that tells nothing
        variance = np.where(varies, own, np.where(between > 0, between, 1.0))
        if shrinkage == 0 or not varies.any():
            return np.sqrt(variance) * unit, 0.0
        middle, largest = np.median(own[varies]), own.max()
        if shrinkage == "auto":
            # Opgen-Rhein & Strimmer 2007, with 2 v^2 / (n - K + 2), of normal residuals
            noise = 2.0 * ((own[varies] / largest) ** 2).sum()
            distance = (((own[varies] - middle) / largest) ** 2).sum()
            freedom = self.degrees_of_freedom + 2.0
            shrinkage = float(shrinkage_intensity(noise, distance, freedom))
        shrunken = (1.0 - shrinkage) * own + shrinkage * middle
        return np.sqrt(np.where(varies, shrunken, variance)) * unit, shrinkage

    def inverse_root(self, shrinkage: float | str = "auto") -> InverseRoot:
        """R^(-1/2), lambda in [0, 1] or the intensity of least mean squared error."""
        Z, varies = self.residuals, self.variance > 0
        n, d = Z.shape
        if shrinkage == "auto":
            shrinkage = self.correlation_intensity
        if shrinkage == 1:
            return InverseRoot(1.0)
        kept = 1.0 - shrinkage
        t, U = np.linalg.eigh(self.gram if n < d else self.gram + np.diag(~varies))
        a = shrinkage + kept * np.maximum(t, 0.0)
        least = shrinkage if n < d else a[0]
        if not least > d * ROUNDING:
            raise ValueError(
                f"the smallest eigenvalue of the correlations is {least:.3g}; "
                'use shrinkage > 0 or "auto", or fewer features'
            )
        if n >= d:
            # eigenvectors mix what does not vary with the rest, by rounding
            both = np.outer(varies, varies)
            core = np.where(both, (U / np.sqrt(a)) @ U.T, np.eye(d))
            return InverseRoot(shrinkage, core)
        change = -kept / (np.sqrt(a * shrinkage) * (np.sqrt(a) + np.sqrt(shrinkage)))
        diagonal = np.where(varies, 1.0 / np.sqrt(shrinkage), 1.0)
        return InverseRoot(shrinkage, (U * change) @ U.T, diagonal, Z)


@dataclass(frozen=True)
class WhitenedMeans:
    """Class means in the coordinates z = R^(-1/2) (x - centre) / deviations.

    Examples
    --------
    >>> X = np.array([[0.0, 0], [2, 2], [3, 0], [5, 2]])
    >>> moments = PooledMoments.of(X, np.array([0, 0, 1, 1]), 2, np.ones(4))
    >>> WhitenedMeans.of(moments, shrinkage=1.0).means.tolist()
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
        moments: PooledMoments,
        prior: Array | None = None,
        shrinkage: float | str = "auto",
        variance_shrinkage: float | str = 0.0,
        unit: Array | float = 1.0,
    ) -> "WhitenedMeans":
        """Shrink, and whiten the class means; ``prior=None`` takes the class shares."""
        if prior is None:
            prior = moments.weight / moments.weight.sum()
        deviations, used = moments.standard_deviations(variance_shrinkage, unit)
        # of a constant the constant itself, so that it has slope zero
        some = moments.means[0]
        centre = some + prior @ (moments.means - some)
        root = moments.inverse_root(shrinkage)
        return cls(prior, centre, deviations, moments, root, used)

    @cached_property
    def means(self) -> Array:
        """M, the class means in coordinates z, (K, d); zero on average by ``prior``."""
        return self.about(self.centre)

    def about(self, point: Array) -> Array:
        """Class means less a point (d,) of x, in coordinates z, (K, d)."""
        steps = (self.moments.means - point) + self.moments.rest
        return self.root(steps / self.deviations)

    def linear(self, kept: Array | float = 1.0) -> LinearScores:
        """Scores of x by the coordinates that are kept."""
        return LinearScores.of(
            self.prior,
            self.moments.means,
            self.centre,
            lambda point: kept * self.about(point),
            lambda means: self.root(means) / self.deviations,
        )


class PooledClassifier(BayesClassifier):
    """Bayes classifier of pooled moments; a subclass supplies ``_estimate``."""

    class_prior_: Array
    shrinkage_: float
    variance_shrinkage_: float
    feature_divergences_: Array

    _parameter_constraints: ClassVar[dict] = {
        "shrinkage": [Words("auto"), UNIT],
        "variance_shrinkage": [Words("auto"), UNIT],
        "priors": [None, "array-like"],
        "class_weight": [None, Words("balanced"), dict],
    }

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Estimate the moments and shrink them.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Two classes at least.
        sample_weight : array-like of shape (n,), default=None
            Weight 2 means the row twice.

        Returns
        -------
        self
        """
        X, codes, weight, self.classes_ = labelled_data(
            self, X, y, sample_weight, class_weight=self.class_weight
        )
        self._estimate(PooledMoments.of(X, codes, len(self.classes_), weight))
        return self

    @abstractmethod
    def _estimate(self, moments):
        """Set everything that follows from the moments."""

    def _whitened(self, moments: PooledMoments, unit: Array | float) -> WhitenedMeans:
        """Class means in whitened coordinates, and what is told of them."""
        prior = check_priors(self.priors, len(self.classes_))
        found = WhitenedMeans.of(
            moments, prior, self.shrinkage, self.variance_shrinkage, unit
        )
        self.class_prior_, self.shrinkage_ = found.prior, found.root.shrinkage
        self.variance_shrinkage_ = found.variance_shrinkage
        self.feature_divergences_ = found.prior @ found.means**2
        return found
