"""What every maximum-entropy family offers, from three maps that each supplies.

The Jensen-Shannon divergence, which has no closed form, comes from quadrature. Every
feature has its own panels, the union of those of its classes, and on each panel two
Gauss-Legendre rules of different order; their difference estimates the error. Panels of
features that miss the tolerance are halved.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from scipy import sparse

from memdlib._types import Array, ArrayLike, Indices, MatrixLike
from memdlib.densities.support import gauss_legendre, powers
from memdlib.validation import check_domain

# Entries of (features, nodes, classes) arrays handled at a time: a MiB of doubles.
_BLOCK = 2**17
_COARSE, _FINE = 9, 12
_HALVINGS = 4


def jensen_shannon_quadrature(
    log_density: Callable[[Array, Indices], Array],
    edges: Array,
    weights: Array,
    *,
    tol: float = 1e-10,
) -> tuple[Array, Array]:
    """JS of K densities and its error (d,), nats, by panels that are halved as needed.

    Parameters
    ----------
    log_density : callable
        Maps points x (f, N) of the features with indices (f,) to log densities
        (K, f, N).
    edges : ndarray of shape (d, B)
        Ends of panels, ascending, which cover all densities of a feature.
    weights : ndarray of shape (K,)
        Positive, of sum one.
    tol : float, default=1e-10
        Error above which panels are halved, four times at most.

    Returns
    -------
    value, error : ndarray of shape (d,)
    """
    value, error = np.empty((2, len(edges)))
    pending = np.arange(len(edges))
    for _ in range(_HALVINGS + 1):
        n_nodes = (edges.shape[1] - 1) * (_COARSE + _FINE)
        step = max(1, _BLOCK // (n_nodes * len(weights)))
        for start in range(0, len(pending), step):
            rows = pending[start : start + step]
            coarse, fine = (
                _integrate(log_density, edges[start : start + step], rows, weights, n)
                for n in (_COARSE, _FINE)
            )
            value[rows], error[rows] = fine, np.abs(fine - coarse)
        missed = error[pending] > tol
        pending, edges = pending[missed], edges[missed]
        if not pending.size:
            break
        middle = 0.5 * (edges[:, 1:] + edges[:, :-1])
        edges = np.sort(np.concatenate([edges, middle], axis=1), axis=1)
    return value, error


def _integrate(log_density, edges, features, weights, n_nodes) -> Array:
    nodes, rule = gauss_legendre(n_nodes)
    half = 0.5 * np.diff(edges)[..., None]
    x = edges[:, :-1, None] + half * (nodes + 1.0)
    mass = (half * rule).reshape(len(edges), -1)
    log_p = log_density(x.reshape(len(edges), -1), features)
    peak = np.maximum(log_p.max(axis=0), np.finfo(np.float64).min)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_mixture = peak + np.log(np.tensordot(weights, np.exp(log_p - peak), 1))
        r = np.where(np.isneginf(log_mixture), 0.0, log_p - log_mixture)
        # q g(r) = p log(p/q) - p + q: terms that are never negative
        growth = np.expm1(r)
        excess = np.where(np.isneginf(r), 1.0, r * (growth + 1.0) - growth)
    return (mass * np.exp(log_mixture) * np.tensordot(weights, excess, 1)).sum(axis=1)


# Relative rounding error of class moments: an ulp or two for every batch merged.
ROUNDING = 2.0**10 * np.finfo(np.float64).eps


class Family(ABC):
    """A maximum-entropy family: a pair of inverse maps and a log-normaliser.

    A subclass states ``name`` and supplies :meth:`natural`, :meth:`mean`,
    :meth:`log_normaliser` and :meth:`log_density`. The rest has a default here, which a
    subclass overrides where a closed form is better conditioned.

    Attributes
    ----------
    name : str
    axes : tuple of int
        Last axes of the parameters, which belong to one density: the last one, of its m
        moments, unless a family says otherwise. "(..., m)" below stands for them.
    """

    name: ClassVar[str]
    axes: ClassVar[tuple[int, ...]] = (-1,)

    @abstractmethod
    def natural(self, mu: ArrayLike) -> Array:
        """Natural parameters lambda (..., m) of mean parameters mu (..., m)."""

    @abstractmethod
    def mean(self, lam: ArrayLike) -> Array:
        """Mean parameters mu (..., m) of natural parameters lambda (..., m)."""

    @abstractmethod
    def log_normaliser(self, lam: ArrayLike) -> Array:
        """psi(lambda) = lambda_0, shape (...); its gradient is -mu."""

    @abstractmethod
    def log_density(self, X: ArrayLike, lam: ArrayLike) -> Array:
        """Log density -lambda_0 - lambda . phi(x) + log base measure, in nats."""

    def entropy(self, mu: ArrayLike) -> Array:
        """Entropy lambda_0 + lambda . mu relative to the base measure, in nats."""
        mu = np.asarray(mu, dtype=np.float64)
        lam = self.natural(mu)
        return self.log_normaliser(lam) + (lam * mu).sum(axis=self.axes)

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        """KL(p_1 || p_2) of the members with mean parameters mu1 and mu2, in nats."""
        mu1, mu2 = np.asarray(mu1, dtype=np.float64), np.asarray(mu2, dtype=np.float64)
        lam1, lam2 = self.natural(mu1), self.natural(mu2)
        gap = self.log_normaliser(lam2) - self.log_normaliser(lam1)
        return np.maximum(gap + ((lam2 - lam1) * mu1).sum(axis=self.axes), 0.0)

    def jeffreys(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        """J(p_1, p_2) in nats: eq. 19 of Dukkipati et al., ICDM 2013."""
        mu1, mu2 = np.asarray(mu1, dtype=np.float64), np.asarray(mu2, dtype=np.float64)
        return ((self.natural(mu2) - self.natural(mu1)) * (mu1 - mu2)).sum(
            axis=self.axes
        )

    def js_gm(
        self, mu: ArrayLike, weights: ArrayLike, lam: ArrayLike | None = None
    ) -> Array:
        """JS_GM of K members = -Cov_weights(lambda, mu), in nats and O(K).

        Parameters
        ----------
        mu : array_like of shape (K, ..., m)
            Mean parameters.
        weights : array_like of shape (K,)
            Class weights that sum to one.
        lam : array_like of shape (K, ..., m), default=None
            Natural parameters, if they are known.

        Returns
        -------
        ndarray of shape (...)

        References
        ----------
        .. [1] Dukkipati et al., ICDM 2013, eq. 23 and 24.
        """
        mu, w = np.asarray(mu, dtype=np.float64), np.asarray(weights, dtype=np.float64)
        lam = self.natural(mu) if lam is None else lam
        centred = mu - mu[0]
        centred -= np.tensordot(w, centred, 1)
        covariance = np.tensordot(w, (lam - lam[0]) * centred, 1)
        return np.maximum(-covariance.sum(axis=self.axes), 0.0)


class MarginalFamily(Family):
    """A family of one feature at a time, with power moments as sufficient statistics.

    A subclass also states ``n_moments``; the methods below say how its members follow
    from data, one feature at a time.

    Attributes
    ----------
    n_moments : int
        Number m of power moments x, x^2, ..., x^m.
    translates : bool
        Whether a shift of x stays inside the family; moments are then taken about a
        location near the data, which keeps their digits.
    nonnegative : bool
        Whether the support excludes negative values.
    """

    n_moments: ClassVar[int]
    translates: ClassVar[bool] = False
    nonnegative: ClassVar[bool] = False

    def log_base_measure(self, x: ArrayLike) -> Array:
        """Log density of the base measure; zero unless a family says otherwise."""
        return np.zeros(np.shape(x))

    def observe(self, X: MatrixLike) -> MatrixLike:
        """Check X (n, d) against the support; return what the moments are taken of."""
        return X

    def regularise(
        self, mu: Array, weight: Array, *, shrinkage: float, smoothing: float
    ) -> Array:
        """Move class mean parameters off the boundary, where no density exists.

        Parameters
        ----------
        mu : ndarray of shape (..., K, d, m)
        weight : ndarray of shape (..., K) or (..., K, d)
            Total instance weight of each class, or of its cells that are not missing.
        shrinkage : float in [0, 1]
            Pull of class variances towards the pooled within-class variance.
        smoothing : float >= 0
            Weight, in instances, of the pooled mean added to each class.

        Returns
        -------
        ndarray of shape (..., K, d, m)
        """
        return mu

    def choose_shrinkage(self, mu: Array, weight: Array) -> float:
        """Shrinkage that moments (K, d, m) and weights (K,) suggest, else zero."""
        return 0.0

    def log_density(self, X: ArrayLike, lam: ArrayLike) -> Array:
        """Log density at x of natural parameters (..., m), in nats."""
        x, lam = np.asarray(X, dtype=np.float64), np.asarray(lam, dtype=np.float64)
        linear = (lam * powers(x, self.n_moments)).sum(axis=-1)
        return self.log_base_measure(x) - self.log_normaliser(lam) - linear

    def jensen_shannon(self, mu: ArrayLike, weights: ArrayLike) -> tuple[Array, Array]:
        """JS of K members, by quadrature or by summation over the support.

        Parameters
        ----------
        mu : array_like of shape (K, d, m)
            Mean parameters.
        weights : array_like of shape (K,)
            Class weights that sum to one.

        Returns
        -------
        value, error : ndarray of shape (d,)
            Nats, and an estimate of the error.
        """
        mu, w = np.asarray(mu, dtype=np.float64), np.asarray(weights, dtype=np.float64)
        mu, w = mu[w > 0], w[w > 0]
        lam = self.natural(mu)
        edges = np.sort(np.concatenate([self.panels(member) for member in mu], axis=1))

        def log_density(x, features):
            return self.log_density(x, lam[:, features, None, :])

        return jensen_shannon_quadrature(log_density, edges, w / w.sum())

    def panels(self, mu: Array) -> Array:
        """Ends (d, B) of panels that cover members mu (d, m), smooth there."""
        raise NotImplementedError(
            f"{type(self).__name__} says nothing of its support; write panels, or "
            "jensen_shannon itself"
        )


class NonnegativeFamily(MarginalFamily):
    """A family of values, or of indicators, >= 0 by their means alone."""

    n_moments: ClassVar[int] = 1
    nonnegative: ClassVar[bool] = True

    def observe(self, X: MatrixLike) -> MatrixLike:
        values = X.data if sparse.issparse(X) else X
        if (values < 0).any():
            raise ValueError(
                f"Negative values in data: the family {self.name!r} has the support "
                f"x >= 0, and the smallest value is {np.nanmin(values)}"
            )
        return X

    def jeffreys(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        # terms that are never negative, and do not cancel
        return self.kl(mu1, mu2) + self.kl(mu2, mu1)

    def regularise(
        self, mu: Array, weight: Array, *, shrinkage: float, smoothing: float
    ) -> Array:
        """Add ``smoothing`` instances at the pooled mean to every class.

        What is zero throughout gets the parameter 1 in every class, so that it carries
        no information.
        """
        smooth, pooled, _ = smooth_towards_pooled(mu, weight, smoothing)
        np.copyto(smooth, 1.0, where=pooled == 0)
        return smooth

    def _positive(self, mu: ArrayLike) -> Array:
        mu = np.asarray(mu, dtype=np.float64)
        article = "an" if self.name[0] in "aeiou" else "a"
        remedy = f"{article} {self.name} density needs a mean above zero"
        check_domain(mu > 0, mu, "mean", f"{remedy}; use smoothing > 0")
        return mu


def smooth_towards_pooled(
    mu: Array, weight: Array, smoothing: float
) -> tuple[Array, Array, Array]:
    """Means with ``smoothing`` pooled instances added; pooled means; total weights."""
    count = by_feature(weight, mu)[..., None]
    total = count.sum(axis=-3, keepdims=True)
    share = count / np.where(total > 0, total, 1.0)
    pooled = np.einsum("...kdi,...kdm->...dm", share, mu)[..., None, :, :]
    if not smoothing:
        return mu.copy(), pooled, total
    smooth = count / (count + smoothing) * mu
    smooth += smoothing / (count + smoothing) * pooled
    return smooth, pooled, total


def by_feature(weight: Array, mu: Array) -> Array:
    """Weights (..., K) or (..., K, d) that broadcast to the features of mu."""
    return weight if weight.ndim == mu.ndim - 1 else weight[..., None]
