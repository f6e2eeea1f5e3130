"""Pooled second moments: class means, one covariance for all classes, and its root.

The covariance is diag(s) R diag(s), the correlations R shrunk towards the unit matrix.
R^(-1/2) is never written down where there are more features than rows: it is a multiple
of the unit matrix and a correction of the rank of the rows, which the eigenvectors of
an n x n matrix give.

The class densities of maximum entropy under class means and pooled second moments are
normal with one covariance diag(s) R diag(s). The coordinates z = R^(-1/2) diag(1/s)
(x - mu) are independent in every class; with their means M_k there,

    JS_GM = sum_j J_j,    J_j = sum_k pi_k M_kj^2,

exactly.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memdlib.families.base import ROUNDING
from memdlib.families.shrinkage import correlation_intensity, shrinkage_intensity

Array = NDArray[np.float64]

# Below it numbers lose digits, whatever their unit.
_LEAST_EXPONENT = -1022


@dataclass(frozen=True)
class PooledMoments:
    """Class means, variances within classes, and the rows in units of these.

    Parameters
    ----------
    weight : ndarray of shape (K,)
        Total instance weight of each class.
    unit : ndarray of shape (d,)
        Powers of two near the largest value of each feature. All that follows is of
        x / unit, so that no square leaves the range of numbers.
    means : ndarray of shape (K, d)
        Zero for a class of weight zero.
    variance : ndarray of shape (d,)
        Within classes; zero if rounding may explain it (:func:`beyond_rounding`).
    between : ndarray of shape (d,)
        Variance of the class means; zero if they agree within rounding.
    residuals : ndarray of shape (n, d)
        residuals^T residuals is the matrix of correlations within classes; zero in a
        feature without variance.
    """

    weight: Array
    unit: Array
    means: Array
    variance: Array
    between: Array
    residuals: Array

    @classmethod
    def of(cls, X, codes, n_classes: int, weight) -> "PooledMoments":
        """Moments of rows, in two passes.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Finite.
        codes : ndarray of int, shape (n,)
            Class indices.
        n_classes : int
        weight : ndarray of shape (n,)
            Positive instance weights.

        Returns
        -------
        PooledMoments

        Examples
        --------
        >>> X = np.array([[1.0, 2.0], [3.0, 2.0], [4.0, 9.0], [8.0, 9.0]])
        >>> moments = PooledMoments.of(X, np.array([0, 0, 1, 1]), 2, np.ones(4))
        >>> (moments.unit * moments.means).tolist()
        [[2.0, 2.0], [6.0, 9.0]]
        >>> (moments.unit**2 * moments.variance).tolist()
        [2.5, 0.0]
        """
        largest = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
        exponent = np.frexp(np.where(largest > 0, largest, 1.0))[1] - 1
        unit = np.ldexp(1.0, np.maximum(exponent, _LEAST_EXPONENT))
        values = X / unit
        by_class = np.bincount(codes, weight, n_classes)
        # weights of a few rows may be tiny: shares are not
        rows = weight / by_class[codes]
        means = np.zeros((n_classes, X.shape[1]))
        centres = np.zeros_like(means)
        for k in np.flatnonzero(by_class):
            (own,) = np.nonzero(codes == k)
            first = values[own[0]].copy()
            part = values[own] - first
            centres[k] = rows[own] @ part
            values[own] = np.subtract(part, centres[k], out=part)
            means[k] = first + centres[k]
        share = by_class / by_class.sum()
        rows *= share[codes]
        variance = np.einsum("i,is,is->s", rows, values, values)
        variance, between = beyond_rounding(share, means, centres, variance)
        varies = variance > 0
        values *= varies / np.sqrt(np.where(varies, variance, 1.0))
        values *= np.sqrt(rows)[:, None]
        return cls(by_class, unit, means, variance, between, values)

    @property
    def degrees_of_freedom(self) -> float:
        """Total weight, less one for each class that has any."""
        return float(self.weight.sum() - np.count_nonzero(self.weight))

    def standard_deviations(self, shrinkage: float | str) -> tuple[Array, float]:
        """Standard deviations in units of ``unit``, after shrinkage.

        The variances v become (1 - shrinkage) v + shrinkage m, m their median, which
        supposes that all features are in the same units. A variance of zero is replaced
        by that of the class means, or by 1 if they agree, and the feature then carries
        no information.

        Parameters
        ----------
        shrinkage : float in [0, 1] or "auto"
            "auto" is the intensity of least mean squared error [1]_, with the sampling
            variance 2 v^2 / (n - K + 2) that normal residuals have.

        Returns
        -------
        deviations : ndarray of shape (d,)
        shrinkage : float

        Raises
        ------
        ValueError
            If the median underflows beside the variance of another feature.

        References
        ----------
        .. [1] Opgen-Rhein & Strimmer, Accurate ranking of differentially expressed
           genes by a distribution-free shrinkage approach, Statistical Applications in
           Genetics and Molecular Biology 6 (2007).

        Examples
        --------
        >>> X = np.array([[0.0, 0, 0], [2, 4, 6], [0, 0, 0], [2, 4, 6]])
        >>> moments = PooledMoments.of(X, np.array([0, 0, 1, 1]), 2, np.ones(4))
        >>> deviation, _ = moments.standard_deviations(0.5)
        >>> ((moments.unit * deviation) ** 2).round(12).tolist()
        [2.5, 4.0, 6.5]
        """
        varies = self.variance > 0
        fallback = np.where(self.between > 0, self.between, 1.0)
        variance = np.where(varies, self.variance, fallback)
        if shrinkage == 0 or not varies.any():
            return np.sqrt(variance), 0.0
        exponent = np.frexp(self.unit)[1]
        below = np.minimum(exponent - exponent[varies].max(), 0)
        common = self.variance * np.ldexp(1.0, 2 * below)
        middle = np.median(common[varies])
        if shrinkage == "auto":
            noise = 2.0 * (common**2).sum()
            distance = ((common[varies] - middle) ** 2).sum()
            freedom = self.degrees_of_freedom + 2.0
            shrinkage = float(shrinkage_intensity(noise, distance, freedom))
        # a feature in units far smaller than the median's has no information left
        with np.errstate(over="ignore"):
            back = np.ldexp(np.sqrt(middle), exponent[varies].max() - exponent)
            target = shrinkage * back**2
        shrunk = (1.0 - shrinkage) * self.variance + target
        if not shrunk[varies].all():
            largest = int(np.argmax(np.where(varies, exponent, exponent.min())))
            raise ValueError(
                f"variance_shrinkage={shrinkage:g} takes variances towards their "
                f"median, which underflows beside that of feature {largest}; bring the "
                "features to one scale, or use less"
            )
        return np.sqrt(np.where(varies, shrunk, variance)), shrinkage


def beyond_rounding(
    share: Array, means: Array, centres: Array, variance: Array
) -> tuple[Array, Array]:
    """Variances within classes and of class means, zero if rounding may explain them.

    Rounding moves values by a share of themselves, and sums about a location by a share
    of their terms: features far from zero keep the variance that their digits hold.

    Parameters
    ----------
    share : ndarray of shape (K,)
        Of the weight.
    means : ndarray of shape (K, d)
    centres : ndarray of shape (K, d)
        Means less the locations about which the variance was summed.
    variance : ndarray of shape (d,)
        Within classes.

    Returns
    -------
    variance, between : ndarray of shape (d,)

    Examples
    --------
    >>> means = np.array([[1e9], [1e9]])
    >>> within, between = beyond_rounding(
    ...     np.full(2, 0.5), means, np.zeros((2, 1)), np.ones(1)
    ... )
    >>> within.tolist(), between.tolist()
    ([1.0], [0.0])
    """
    values = ROUNDING**2 * (share @ means**2)
    spread = share @ centres**2
    within = values + ROUNDING * spread
    between = share @ (means - share @ means) ** 2
    apart = values + ROUNDING**2 * (spread + variance)
    return (
        np.where(variance > within, variance, 0.0),
        np.where(between > apart, between, 0.0),
    )


@dataclass(frozen=True)
class InverseRoot:
    """R^(-1/2) of R = shrinkage I + (1 - shrinkage) Z^T Z, as a product.

    Parameters
    ----------
    shrinkage : float
    diagonal : ndarray of shape (d,)
    core : ndarray of shape (d, d) or (n, n)
    rows : ndarray of shape (n, d) or None
        R^(-1/2) is diag(diagonal) + rows^T core rows, or + core if there are no rows.
    """

    shrinkage: float
    diagonal: Array
    core: Array
    rows: Array | None = None

    def __call__(self, A: Array) -> Array:
        """Return A R^(-1/2), of the shape (m, d) of A."""
        if self.rows is None:
            return A * self.diagonal + A @ self.core
        return A * self.diagonal + ((A @ self.rows.T) @ self.core) @ self.rows


def inverse_root(
    residuals: Array,
    degrees_of_freedom: float,
    shrinkage: float | str = "auto",
    side: str | None = None,
) -> InverseRoot:
    """Inverse square root of shrunken correlations, through the shorter side.

    Parameters
    ----------
    residuals : ndarray of shape (n, d)
        Z with Z^T Z the correlations. Columns of zeros belong to features without
        variance, which keep to themselves.
    degrees_of_freedom : float
    shrinkage : float in [0, 1] or "auto", default="auto"
        "auto" is :func:`memdlib.families.shrinkage.correlation_intensity`.
    side : {"rows", "features"} or None, default=None
        Whether an n x n or a d x d matrix is diagonalised; None takes the smaller.

    Returns
    -------
    InverseRoot

    Raises
    ------
    ValueError
        If the correlations are singular within rounding.

    Notes
    -----
    Z Z^T = U diag(t) U^T has the eigenvalues of Z^T Z that are not zero. With lambda
    the shrinkage and a = lambda + (1 - lambda) t,

        R^(-1/2) = lambda^(-1/2) I + Z^T U diag((a^(-1/2) - lambda^(-1/2)) / t) U^T Z,

    and the quotient is -(1 - lambda) / (sqrt(a lambda) (sqrt(a) + sqrt(lambda))), which
    neither cancels nor divides by an eigenvalue near zero. The cost is O(n^2 d).

    Examples
    --------
    >>> Z = np.array([[0.6, 0.8, 0.0], [0.8, -0.6, 1.0]])
    >>> root = inverse_root(Z, 10.0, shrinkage=0.5)
    >>> W = root(np.eye(3))
    >>> np.allclose(W @ W @ (0.5 * np.eye(3) + 0.5 * Z.T @ Z), np.eye(3))
    True
    """
    n, d = residuals.shape
    varies = residuals.any(axis=0)
    by_rows = n < d if side is None else side == "rows"
    gram = residuals @ residuals.T if by_rows else residuals.T @ residuals
    if shrinkage == "auto":
        # the correlation of a feature with itself is one; what is left may be rounding
        total = (gram**2).sum()
        squares = total - varies.sum()
        squares = squares if squares > ROUNDING * total else 0.0
        shrinkage = correlation_intensity(squares, varies.sum(), degrees_of_freedom)
    shrinkage = float(shrinkage)
    kept = 1.0 - shrinkage
    if kept == 0.0:
        rows = residuals if by_rows else None
        return InverseRoot(1.0, np.ones(d), np.zeros_like(gram), rows)
    if not by_rows:
        gram[~varies, ~varies] = 1.0
    t, U = np.linalg.eigh(gram)
    a = shrinkage + kept * np.maximum(t, 0.0)
    least = shrinkage if by_rows else a[0]
    if not least > d * ROUNDING:
        raise ValueError(
            f"the smallest eigenvalue of the correlations is {least:.3g}; "
            'use shrinkage > 0 or "auto", or fewer features'
        )
    if not by_rows:
        return InverseRoot(shrinkage, np.zeros(d), (U / np.sqrt(a)) @ U.T)
    change = -kept / (np.sqrt(a * shrinkage) * (np.sqrt(a) + np.sqrt(shrinkage)))
    diagonal = np.where(varies, 1.0 / np.sqrt(shrinkage), 1.0)
    return InverseRoot(shrinkage, diagonal, (U * change) @ U.T, residuals)


@dataclass(frozen=True)
class WhitenedMeans:
    """Class means in coordinates that are independent within the classes.

    Parameters
    ----------
    prior : ndarray of shape (K,)
    unit, centre, deviations : ndarray of shape (d,)
        z = R^(-1/2) (x / unit - centre) / deviations.
    root : InverseRoot
        R^(-1/2).
    means : ndarray of shape (K, d)
        M; its average by ``prior`` is zero.
    variance_shrinkage : float
    """

    prior: Array
    unit: Array
    centre: Array
    deviations: Array
    root: InverseRoot
    means: Array
    variance_shrinkage: float

    @classmethod
    def of(
        cls,
        moments: PooledMoments,
        prior: Array | None = None,
        shrinkage: float | str = "auto",
        variance_shrinkage: float | str = 0.0,
    ) -> "WhitenedMeans":
        """Shrink, and whiten the class means.

        Parameters
        ----------
        moments : PooledMoments
        prior : ndarray of shape (K,), default=None
            None takes the shares of the weight.
        shrinkage : float in [0, 1] or "auto", default="auto"
            Of correlations, see :func:`memdlib.generative.inverse_root`.
        variance_shrinkage : float in [0, 1] or "auto", default=0.0
            See :meth:`memdlib.generative.PooledMoments.standard_deviations`.

        Returns
        -------
        WhitenedMeans

        Raises
        ------
        ValueError
            If the correlations are singular.

        Examples
        --------
        >>> X = np.array([[0.0, 0], [2, 2], [3, 0], [5, 2]])
        >>> moments = PooledMoments.of(X, np.array([0, 0, 1, 1]), 2, np.ones(4))
        >>> WhitenedMeans.of(moments, shrinkage=1.0).divergences.tolist()
        [2.25, 0.0]
        >>> WhitenedMeans.of(moments, shrinkage=0.5).divergences.round(3).tolist()
        [2.799, 0.201]
        """
        if prior is None:
            prior = moments.weight / moments.weight.sum()
        root = inverse_root(moments.residuals, moments.degrees_of_freedom, shrinkage)
        deviations, used = moments.standard_deviations(variance_shrinkage)
        centre = prior @ moments.means
        offset = np.where(moments.weight[:, None] > 0, moments.means - centre, 0.0)
        means = root(offset / deviations)
        return cls(prior, moments.unit, centre, deviations, root, means, used)

    @property
    def divergences(self) -> Array:
        """J_j, the share of each coordinate in JS_GM, (d,), nats."""
        return self.prior @ self.means**2

    def whiten(self, X) -> Array:
        """Coordinates z of rows of X, (n, d)."""
        return self.root((X / self.unit - self.centre) / self.deviations)

    def scores(self, X, order: NDArray[np.intp], grid: NDArray[np.intp]) -> Array:
        """Joint log densities but for what the classes share, with the best S of z.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        order : ndarray of int of shape (d,)
            Coordinates, the best first.
        grid : ndarray of int, shape (G,)
            Numbers S, increasing.

        Returns
        -------
        ndarray of shape (G, n, K)
        """
        last = order[: grid[-1]]
        z, means = self.whiten(X)[:, last], self.means[:, last]
        found = np.empty((len(grid), len(z), len(means)))
        with np.errstate(divide="ignore"):
            log_prior = np.log(self.prior)
        for k, m in enumerate(means):
            running = np.cumsum(z * m - 0.5 * m**2, axis=1)
            found[..., k] = log_prior[k] + running[:, grid - 1].T
        return found
