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

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memdlib.families.base import ROUNDING
from memdlib.families.shrinkage import correlation_intensity, shrinkage_intensity
from memdlib.generative.ranking import rank
from memdlib.generative.scores import LinearScores
from memdlib.holdout import row_blocks

Array = NDArray[np.float64]

# Scores that are held at a time.
_SCORES = 2**22


@dataclass(frozen=True)
class PooledMoments:
    """Class means, variances and correlations within classes.

    With residuals Z, of shape (n, d), the correlations are Z^T Z.

    Parameters
    ----------
    weight : ndarray of shape (K,)
        Total instance weight of each class.
    means, rest : ndarray of shape (K, d)
        Their sum has the digits of the data where these are far from zero; zero for a
        class of weight zero.
    variance : ndarray of shape (d,)
        Within classes; zero if rounding may explain it (:func:`beyond_rounding`).
    between : ndarray of shape (d,)
        Variance of the class means; zero if they agree within rounding.
    gram : ndarray of shape (d, d) or (n, n)
        Z^T Z, or Z Z^T where there are fewer rows than features. Zero in a feature
        without variance.
    apply : callable or None
        ``apply(A, core)`` is A Z^T core Z; None where ``gram`` is Z^T Z.
    residuals : (ndarray of shape (n, d), ndarray of int of shape (n,)), or None
        Z and the classes of its rows, where rows are at hand.
    """

    weight: Array
    means: Array
    rest: Array
    variance: Array
    between: Array
    gram: Array
    apply: Callable[[Array, Array], Array] | None = None
    residuals: tuple[Array, NDArray[np.intp]] | None = None

    @classmethod
    def of(
        cls, X: NDArray[Any], codes: NDArray[np.intp], n_classes: int, weight: Array
    ) -> "PooledMoments":
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
        >>> moments.means.tolist()
        [[2.0, 2.0], [6.0, 9.0]]
        >>> moments.variance.tolist()
        [2.5, 0.0]
        """
        found, Z = standardised_residuals(X, codes, n_classes, weight)
        n, d = Z.shape
        found["residuals"] = Z, codes
        if n < d:
            return cls(**found, gram=Z @ Z.T, apply=partial(_through_rows, Z))
        return cls(**found, gram=Z.T @ Z)

    @cached_property
    def spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues and eigenvectors of ``gram``, one for what does not vary."""
        return _spectrum(self.gram, self.variance > 0, self.apply is None)

    @cached_property
    def class_roots(self) -> list[Array]:
        """Rows A_k, d at most, with A_k^T A_k as in the residuals of each class."""
        Z, codes = self.residuals
        return [_few_rows(Z[codes == k]) for k in range(len(self.weight))]

    @property
    def degrees_of_freedom(self) -> float:
        """Total weight, less one for each class that has any."""
        return float(self.weight.sum() - np.count_nonzero(self.weight))

    def standard_deviations(self, shrinkage: float | str) -> tuple[Array, float]:
        """Standard deviations, after shrinkage.

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
        >>> (deviation**2).round(12).tolist()
        [2.5, 4.0, 6.5]
        """
        varies = self.variance > 0
        fallback = np.where(self.between > 0, self.between, 1.0)
        variance = np.where(varies, self.variance, fallback)
        if shrinkage == 0 or not varies.any():
            return np.sqrt(variance), 0.0
        middle = np.median(self.variance[varies])
        if shrinkage == "auto":
            common = self.variance[varies] / self.variance.max()
            noise = 2.0 * (common**2).sum()
            distance = ((common - middle / self.variance.max()) ** 2).sum()
            freedom = self.degrees_of_freedom + 2.0
            shrinkage = float(shrinkage_intensity(noise, distance, freedom))
        shrunk = (1.0 - shrinkage) * self.variance + shrinkage * middle
        return np.sqrt(np.where(varies, shrunk, variance)), shrinkage


def standardised_residuals(
    X: NDArray[Any], codes: NDArray[np.intp], n_classes: int, weight: Array
) -> tuple[dict[str, Array], Array]:
    """Moments of each feature, and the rows less their class means in standard units.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite.
    codes : ndarray of int, shape (n,)
    n_classes : int
    weight : ndarray of shape (n,)
        Positive.

    Returns
    -------
    moments : dict of ndarray
        "weight", "means", "rest", "variance" and "between", as in
        :class:`PooledMoments`.
    residuals : ndarray of shape (n, d)
        Z; zero in a feature without variance.

    Examples
    --------
    >>> X = np.array([[1.0], [3.0], [4.0], [6.0]])
    >>> standardised_residuals(X, np.array([0, 0, 1, 1]), 2, np.ones(4))[1].tolist()
    [[-0.5], [0.5], [-0.5], [0.5]]
    """
    by_class = np.bincount(codes, weight, n_classes)
    present, at = np.unique(codes, return_index=True)
    first, centres = np.zeros((2, n_classes, X.shape[1]))
    first[present] = X[at]
    # weights of a few rows may be tiny: shares are not
    members = np.eye(n_classes)[codes] * (weight / by_class[codes])[:, None]
    values, blocks = np.empty(X.shape), list(row_blocks(X))
    for rows in blocks:
        part = np.subtract(X[rows], first[codes[rows]], out=values[rows])
        centres += members[rows].T @ part
    share = by_class / by_class.sum()
    weight, variance = (members @ share)[:, None], np.zeros(X.shape[1])
    for rows in blocks:
        part = values[rows]
        part -= centres[codes[rows]]
        variance += np.einsum("is,is,ij->s", part, part, weight[rows])
    means = first + centres
    variance, between = beyond_rounding(share, means, centres, variance)
    varies = variance > 0
    scale = varies / np.sqrt(np.where(varies, variance, 1.0))
    for rows in blocks:
        values[rows] *= np.sqrt(weight[rows]) * scale
    moments = {
        "weight": by_class,
        "means": means,
        "rest": (first - means) + centres,
        "variance": variance,
        "between": between,
    }
    return moments, values


def _through_rows(Z: Array, A: Array, core: Array) -> Array:
    return ((A @ Z.T) @ core) @ Z


def _spectrum(gram: Array, varies: NDArray[np.bool_], of_features: bool):
    return np.linalg.eigh(gram + np.diag(~varies) if of_features else gram)


def _few_rows(Z: Array) -> Array:
    if len(Z) <= Z.shape[1]:
        return Z
    squares, directions = np.linalg.eigh(Z.T @ Z)
    return np.sqrt(np.maximum(squares, 0.0))[:, None] * directions.T


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
    apply : callable or None
        A R^(-1/2) is A diag(diagonal) + apply(A, core), or + A core if there is none.
    """

    shrinkage: float
    diagonal: Array
    core: Array
    apply: Callable[[Array, Array], Array] | None = None

    def __call__(self, A: Array) -> Array:
        """Return A R^(-1/2), of the shape (m, d) of A."""
        inner = A @ self.core if self.apply is None else self.apply(A, self.core)
        return A * self.diagonal + inner


def inverse_root(
    gram: Array,
    varies: NDArray[np.bool_],
    degrees_of_freedom: float,
    shrinkage: float | str = "auto",
    apply: Callable[[Array, Array], Array] | None = None,
    spectrum: tuple[Array, Array] | None = None,
) -> InverseRoot:
    """Inverse square root of shrunken correlations, through either side.

    Parameters
    ----------
    gram : ndarray of shape (d, d) or (n, n)
        The correlations Z^T Z, or the products Z Z^T of the rows.
    varies : ndarray of bool of shape (d,)
        False for features without variance: their columns of Z are zeros, and they
        keep to themselves.
    degrees_of_freedom : float
    shrinkage : float in [0, 1] or "auto", default="auto"
        "auto" is :func:`memdlib.families.shrinkage.correlation_intensity`.
    apply : callable, default=None
        ``apply(A, core)`` is A Z^T core Z, all that is asked of Z where ``gram`` is
        Z Z^T; None says that it is Z^T Z.
    spectrum : tuple of ndarray, default=None
        As :attr:`PooledMoments.spectrum`, if it is known.

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
    neither cancels nor divides by an eigenvalue near zero. With the products of rows
    the cost is O(n^2 d).

    Examples
    --------
    >>> Z = np.array([[0.6, 0.8, 0.0], [0.8, -0.6, 1.0]])
    >>> varies = np.ones(3, dtype=bool)
    >>> def apply(A, core):
    ...     return A @ Z.T @ core @ Z
    >>> W = inverse_root(Z @ Z.T, varies, 10.0, 0.5, apply)(np.eye(3))
    >>> np.allclose(W @ W @ (0.5 * np.eye(3) + 0.5 * Z.T @ Z), np.eye(3))
    True
    >>> np.allclose(W, inverse_root(Z.T @ Z, varies, 10.0, 0.5)(np.eye(3)))
    True
    """
    d = len(varies)
    if shrinkage == "auto":
        # the correlation of a feature with itself is one; what is left may be rounding
        total = (gram**2).sum()
        squares = total - varies.sum()
        squares = squares if squares > ROUNDING * total else 0.0
        shrinkage = correlation_intensity(squares, varies.sum(), degrees_of_freedom)
    shrinkage = float(shrinkage)
    kept = 1.0 - shrinkage
    if kept == 0.0:
        return InverseRoot(1.0, np.ones(d), np.zeros_like(gram), apply)
    t, U = spectrum or _spectrum(gram, varies, apply is None)
    a = shrinkage + kept * np.maximum(t, 0.0)
    least = a[0] if apply is None else shrinkage
    if not least > d * ROUNDING:
        raise ValueError(
            f"the smallest eigenvalue of the correlations is {least:.3g}; "
            'use shrinkage > 0 or "auto", or fewer features'
        )
    if apply is None:
        # eigenvectors mix what does not vary with the rest, by rounding
        core = np.where(np.outer(varies, varies), (U / np.sqrt(a)) @ U.T, np.eye(d))
        return InverseRoot(shrinkage, np.zeros(d), core)
    change = -kept / (np.sqrt(a * shrinkage) * (np.sqrt(a) + np.sqrt(shrinkage)))
    diagonal = np.where(varies, 1.0 / np.sqrt(shrinkage), 1.0)
    return InverseRoot(shrinkage, diagonal, (U * change) @ U.T, apply)


@dataclass(frozen=True)
class WhitenedMeans:
    """Class means in coordinates that are independent within the classes.

    Parameters
    ----------
    prior : ndarray of shape (K,)
    centre, deviations : ndarray of shape (d,)
        z = R^(-1/2) (x - centre) / deviations.
    places, rest : ndarray of shape (K, d)
        Class means of x, as in :class:`PooledMoments`; the centre for a class
        of weight zero.
    root : InverseRoot
        R^(-1/2).
    variance_shrinkage : float
    """

    prior: Array
    centre: Array
    deviations: Array
    places: Array
    rest: Array
    root: InverseRoot
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
        varies, freedom = moments.variance > 0, moments.degrees_of_freedom
        root = inverse_root(
            moments.gram,
            varies,
            freedom,
            shrinkage,
            moments.apply,
            None if shrinkage == 1 else moments.spectrum,
        )
        deviations, used = moments.standard_deviations(variance_shrinkage)
        present = moments.weight > 0
        # of a constant no rounding, so that it has slope zero
        constant = np.ptp(moments.means[present], axis=0) == 0
        some = moments.means[present.argmax()]
        centre = np.where(constant, some, prior @ moments.means)
        places = np.where(present[:, None], moments.means, centre)
        rest = moments.rest
        return cls(prior, centre, deviations, places, rest, root, used)

    @property
    def divergences(self) -> Array:
        """J_j, the share of each coordinate in JS_GM, (d,), nats."""
        return self.prior @ self.means**2

    @cached_property
    def means(self) -> Array:
        """M, the class means in coordinates z, (K, d); zero on average by ``prior``."""
        return self.whiten(self.steps(self.centre))

    def steps(self, point: Array) -> Array:
        """Class means of x less a point, (K, d)."""
        return (self.places - point) + self.rest

    def whiten(self, steps: Array) -> Array:
        """Coordinates z of differences (n, d) of x."""
        return self.root(steps / self.deviations)

    def linear(self, kept: Array | float = 1.0) -> LinearScores:
        """Scores of x by the coordinates that are kept."""

        def whitened(point):
            known = point is self.centre
            return kept * (self.means if known else self.whiten(self.steps(point)))

        def slopes(means):
            return self.root(means) / self.deviations

        return LinearScores.of(self.prior, self.places, self.centre, whitened, slopes)

    def scores(
        self, X: NDArray[Any], order: NDArray[np.intp], grid: NDArray[np.intp]
    ) -> Array:
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
        z = self.whiten(X - self.centre)[:, last]
        means = self.means[:, last]
        found = np.empty((len(grid), len(z), len(means)))
        with np.errstate(divide="ignore"):
            log_prior = np.log(self.prior)
        for k, m in enumerate(means):
            running = np.cumsum(-0.5 * (z - m) ** 2, axis=1)
            found[..., k] = log_prior[k] + running[:, grid - 1].T
        return found

    def correct_weight(
        self,
        X: NDArray[Any],
        codes: NDArray[np.intp],
        weight: Array,
        grid: NDArray[np.intp],
    ) -> Array:
        """Weight of the rows that the best S coordinates classify correctly.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        codes : ndarray of int of shape (n,)
            Class indices.
        weight : ndarray of shape (n,)
        grid : ndarray of int, shape (G,)
            Numbers S, increasing.

        Returns
        -------
        ndarray of shape (G,)
        """
        order, correct = rank(self.divergences), np.zeros(len(grid))
        step = max(1, _SCORES // (len(grid) * len(self.prior) + X.shape[1]))
        for start in range(0, len(X), step):
            own = slice(start, start + step)
            best = self.scores(X[own], order, grid).argmax(axis=2)
            correct += (best == codes[own]) @ weight[own]
        return correct
