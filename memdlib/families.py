"""Maximum-entropy families: which moments are kept, and what follows from them.

A family fixes a support, a base measure and the feature functions
phi(x) = (x, x^2, ..., x^m). Under the constraint E phi(X) = mu, entropy (relative to
the base measure) is largest at

    p(x) = exp(-lambda_0 - lambda . phi(x)),    lambda_0 = psi(lambda),

so that a family is a pair of inverse maps between *mean parameters* mu and *natural
parameters* lambda, and the log-normaliser psi. Everything else (entropy, divergences,
the score of an instance) follows from these three.

All methods are vectorised: the last axis of ``mu`` and ``lam`` runs over the m moments,
any leading axes (classes, features) are kept.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import entr, expit, logit, softplus

from memdlib.divergences import kl as discrete_kl
from memdlib.divergences import x_minus_log1p
from memdlib.validation import sum_duplicates

Array = NDArray[np.float64]

# Relative rounding error of class moments: an ulp or two for every batch merged.
_ROUNDING = 2.0**10 * np.finfo(np.float64).eps


class Family(ABC):
    """A maximum-entropy family with power moments as sufficient statistics.

    A subclass states ``name`` and ``n_moments`` and supplies :meth:`natural`,
    :meth:`mean` and :meth:`log_normaliser`. The rest has a default here, which a
    subclass overrides where a closed form is better conditioned.

    Attributes
    ----------
    name : str
        Name in the registry.
    n_moments : int
        Number m of power moments x, x^2, ..., x^m.
    translates : bool
        Whether a shift of x stays inside the family; moments are then taken about a
        location near the data, which keeps their digits.
    nonnegative : bool
        Whether the support excludes negative values.
    """

    name: ClassVar[str]
    n_moments: ClassVar[int]
    translates: ClassVar[bool] = False
    nonnegative: ClassVar[bool] = False

    @abstractmethod
    def natural(self, mu: ArrayLike) -> Array:
        """Natural parameters lambda (..., m) of mean parameters mu (..., m)."""

    @abstractmethod
    def mean(self, lam: ArrayLike) -> Array:
        """Mean parameters mu (..., m) of natural parameters lambda (..., m)."""

    @abstractmethod
    def log_normaliser(self, lam: ArrayLike) -> Array:
        """psi(lambda) = lambda_0, shape (...); its gradient is -mu."""

    def log_base_measure(self, x: ArrayLike) -> Array:
        """Log density of the base measure; zero unless a family says otherwise."""
        return np.zeros(np.shape(x))

    def observe(self, X):
        """Check data against the support; return what the moments are taken of.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray or sparse matrix of shape (n, d)

        Raises
        ------
        ValueError
            If a value lies outside the support; names the value and its place.
        """
        return X

    def regularise(
        self, mu: Array, weight: Array, *, shrinkage: float, smoothing: float
    ) -> Array:
        """Move class mean parameters off the boundary, where no density exists.

        Parameters
        ----------
        mu : ndarray of shape (..., K, d, m)
            Class mean parameters.
        weight : ndarray of shape (..., K)
            Total instance weight of each class.
        shrinkage : float in [0, 1]
            Pull of class variances towards the pooled within-class variance.
        smoothing : float >= 0
            Weight, in instances, of the pooled mean added to each class.

        Returns
        -------
        ndarray of shape (..., K, d, m)
        """
        return mu

    def log_density(self, X: ArrayLike, lam: ArrayLike) -> Array:
        """Log density -lambda_0 - lambda . phi(x) + log base measure.

        Parameters
        ----------
        X : array_like
            Values; broadcast against the leading axes of ``lam``.
        lam : array_like of shape (..., m)
            Natural parameters.

        Returns
        -------
        ndarray
            Nats.
        """
        x, lam = np.asarray(X, dtype=np.float64), np.asarray(lam, dtype=np.float64)
        powers = np.stack([x**j for j in range(1, self.n_moments + 1)], axis=-1)
        linear = (lam * powers).sum(axis=-1)
        return self.log_base_measure(x) - self.log_normaliser(lam) - linear

    def natural_about_zero(self, lam: ArrayLike, location: ArrayLike) -> Array:
        """Natural parameters of x, given those of x - location.

        Parameters
        ----------
        lam : array_like of shape (..., d, m)
        location : array_like of shape (d,)

        Returns
        -------
        ndarray of shape (..., d, m)
            Coefficients of x, ..., x^m in lambda . phi(x - location).
        """
        lam = np.asarray(lam, dtype=np.float64)
        shift = -np.asarray(location, dtype=np.float64)
        m = self.n_moments
        terms = [
            [comb(j, i) * lam[..., j - 1] * shift ** (j - i) for j in range(i, m + 1)]
            for i in range(1, m + 1)
        ]
        return np.stack([np.sum(t, axis=0) for t in terms], axis=-1)

    def entropy(self, mu: ArrayLike) -> Array:
        """Entropy lambda_0 + lambda . mu relative to the base measure, in nats."""
        mu = np.asarray(mu, dtype=np.float64)
        lam = self.natural(mu)
        return self.log_normaliser(lam) + (lam * mu).sum(axis=-1)

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        """KL(p_1 || p_2) of the members with mean parameters mu1 and mu2, in nats."""
        mu1, mu2 = np.asarray(mu1, dtype=np.float64), np.asarray(mu2, dtype=np.float64)
        lam1, lam2 = self.natural(mu1), self.natural(mu2)
        gap = self.log_normaliser(lam2) - self.log_normaliser(lam1)
        return np.maximum(gap + ((lam2 - lam1) * mu1).sum(axis=-1), 0.0)

    def jeffreys(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        """J(p_1, p_2) = (lambda_2 - lambda_1) . (mu_1 - mu_2), in nats.

        Parameters
        ----------
        mu1, mu2 : array_like of shape (..., m)
            Mean parameters.

        Returns
        -------
        ndarray of shape (...)

        References
        ----------
        .. [1] Dukkipati et al., ICDM 2013, Remark 1 (eq. 19).
        """
        mu1, mu2 = np.asarray(mu1, dtype=np.float64), np.asarray(mu2, dtype=np.float64)
        return ((self.natural(mu2) - self.natural(mu1)) * (mu1 - mu2)).sum(axis=-1)

    def js_gm(self, mu: ArrayLike, weights: ArrayLike) -> Array:
        """JS_GM of K members = -Cov_weights(lambda, mu), in nats.

        Parameters
        ----------
        mu : array_like of shape (K, ..., m)
            Mean parameters; the first axis runs over the classes.
        weights : array_like of shape (K,)
            Class weights that sum to one.

        Returns
        -------
        ndarray of shape (...)

        Notes
        -----
        O(K) where the sum over pairs of classes (eq. 24 of [1]_) is O(K^2). Both
        factors are centred first: the difference of two large products would cancel.

        References
        ----------
        .. [1] Dukkipati et al., ICDM 2013, eq. 23 and 24.
        """
        mu, w = np.asarray(mu, dtype=np.float64), np.asarray(weights, dtype=np.float64)
        lam = self.natural(mu)
        mu = mu - mu[:1]
        lam = lam - lam[:1]
        mu = mu - np.einsum("k,k...->...", w, mu)
        lam = lam - np.einsum("k,k...->...", w, lam)
        return np.maximum(-np.einsum("k,k...m,k...m->...", w, lam, mu), 0.0)


@dataclass(frozen=True)
class Normal(Family):
    """Normal densities: E x and E x^2 on the real line.

    lambda = (-mean / variance, 1 / (2 variance)).

    Examples
    --------
    >>> f = Normal()
    >>> f.natural(f.mean_parameters(mean=1.0, variance=2.0)).tolist()
    [-0.5, 0.25]
    """

    name: ClassVar[str] = "normal"
    n_moments: ClassVar[int] = 2
    translates: ClassVar[bool] = True

    @staticmethod
    def mean_parameters(mean: ArrayLike, variance: ArrayLike) -> Array:
        """Mean parameters (E x, E x^2), shape (..., 2), of a mean and a variance."""
        mean = np.asarray(mean, dtype=np.float64)
        return np.stack(np.broadcast_arrays(mean, variance + mean**2), axis=-1)

    @staticmethod
    def variance(mu: ArrayLike) -> Array:
        """Variance E x^2 - (E x)^2, shape (...), of mean parameters (..., 2)."""
        mu = np.asarray(mu, dtype=np.float64)
        return mu[..., 1] - mu[..., 0] ** 2

    def natural(self, mu: ArrayLike) -> Array:
        mu = np.asarray(mu, dtype=np.float64)
        variance = self._positive_variance(mu)
        return np.stack([-mu[..., 0] / variance, 0.5 / variance], axis=-1)

    def mean(self, lam: ArrayLike) -> Array:
        lam = np.asarray(lam, dtype=np.float64)
        _inside(
            lam[..., 1] > 0,
            lam[..., 1],
            "lambda_2",
            "exp(-lambda_2 x^2) is integrable only for lambda_2 > 0",
        )
        variance = 0.5 / lam[..., 1]
        return self.mean_parameters(-lam[..., 0] * variance, variance)

    def log_normaliser(self, lam: ArrayLike) -> Array:
        lam = np.asarray(lam, dtype=np.float64)
        square = lam[..., 0] ** 2 / (4.0 * lam[..., 1])
        return square + 0.5 * np.log(np.pi / lam[..., 1])

    def entropy(self, mu: ArrayLike) -> Array:
        return 0.5 * np.log(2.0 * np.pi * np.e * self._positive_variance(mu))

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        mu1, mu2 = np.asarray(mu1, dtype=np.float64), np.asarray(mu2, dtype=np.float64)
        v1, v2 = self._positive_variance(mu1), self._positive_variance(mu2)
        shift = mu1[..., 0] - mu2[..., 0]
        # r - 1 - log r with r = v1/v2, from r - 1 (exact near r = 1)
        return 0.5 * (x_minus_log1p((v1 - v2) / v2) + shift**2 / v2)

    def jeffreys(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        mu1, mu2 = np.asarray(mu1, dtype=np.float64), np.asarray(mu2, dtype=np.float64)
        v1, v2 = self._positive_variance(mu1), self._positive_variance(mu2)
        shift = mu1[..., 0] - mu2[..., 0]
        # v1/v2 + v2/v1 - 2 = (v1 - v2)^2 / (v1 v2), a square that cannot cancel
        ratio = ((v1 - v2) / v1) * ((v1 - v2) / v2)
        return 0.5 * (ratio + shift**2 / v1 + shift**2 / v2)

    def regularise(
        self, mu: Array, weight: Array, *, shrinkage: float, smoothing: float
    ) -> Array:
        """Shrink class variances to the pooled one, and replace those that are zero.

        v_k becomes (1 - shrinkage) v_k + shrinkage v_within. A variance within the
        rounding error of its own computation counts as zero and is replaced by the
        feature's within-class variance; if every class is constant, by its total
        variance; if the feature itself is constant, by 1, so that it carries no
        information. Each rule is free of scale: multiplying a feature by a constant
        changes nothing. ``smoothing`` has no effect.
        """
        centre, second = mu[..., 0], mu[..., 1]
        share = (weight / weight.sum(axis=-1, keepdims=True))[..., None]
        rounding = _ROUNDING * second

        def average(values):
            return (share * values).sum(axis=-2, keepdims=True)

        variance = second - centre**2
        variance = np.where(variance > rounding, variance, 0.0)
        within, grand = average(variance), average(centre)
        between = average((centre - grand) ** 2)
        between = np.where(between > average(rounding), between, 0.0)
        fallback = np.where(within > 0, within, np.where(between > 0, between, 1.0))
        variance = (1.0 - shrinkage) * variance + shrinkage * within
        variance = np.where(variance > 0, variance, fallback)
        constant = (within == 0) & (between == 0)
        return self.mean_parameters(np.where(constant, grand, centre), variance)

    def _positive_variance(self, mu: ArrayLike) -> Array:
        variance = self.variance(mu)
        _inside(
            variance >= np.finfo(np.float64).tiny,
            variance,
            "variance",
            "a normal density needs a variance above zero; drop the feature, rescale "
            "it or regularise its variance",
        )
        return variance


@dataclass(frozen=True)
class Bernoulli(Family):
    """Presence of a feature: E [x > 0] on {0, 1}.

    Counts and weights are read as presence (x > 0), the usual document model;
    lambda = -logit(mu).

    Examples
    --------
    >>> Bernoulli().natural([[0.5], [0.25]]).ravel().round(6).tolist()
    [-0.0, 1.098612]
    """

    name: ClassVar[str] = "bernoulli"
    n_moments: ClassVar[int] = 1
    nonnegative: ClassVar[bool] = True

    def natural(self, mu: ArrayLike) -> Array:
        mu = np.asarray(mu, dtype=np.float64)
        _inside(
            (mu > 0) & (mu < 1),
            mu,
            "mean",
            "a Bernoulli density needs a mean strictly between 0 and 1; "
            "use smoothing > 0",
        )
        return -logit(mu)

    def mean(self, lam: ArrayLike) -> Array:
        return expit(-np.asarray(lam, dtype=np.float64))

    def log_normaliser(self, lam: ArrayLike) -> Array:
        return softplus(-np.asarray(lam, dtype=np.float64)[..., 0])

    def entropy(self, mu: ArrayLike) -> Array:
        mu = np.asarray(mu, dtype=np.float64)[..., 0]
        return entr(mu) + entr(1.0 - mu)

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        return discrete_kl(_cells(mu1), _cells(mu2))

    def observe(self, X):
        X = sum_duplicates(X)
        values = X.data if sparse.issparse(X) else X
        if values.size and values.min() < 0:
            raise ValueError(
                "Negative values in data: the Bernoulli family reads counts as "
                f"presence (x > 0), and the smallest value is {values.min()}"
            )
        if sparse.issparse(X):
            present = X.astype(np.float64)
            present.data = (values > 0).astype(np.float64)
            return present
        return (X > 0).astype(np.float64)

    def regularise(
        self, mu: Array, weight: Array, *, shrinkage: float, smoothing: float
    ) -> Array:
        """Add ``smoothing`` instances at the pooled mean to every class.

        A feature that is present everywhere or nowhere has no density inside the
        family; all classes then get the same mean 1/2, so that it carries no
        information. ``shrinkage`` has no effect.
        """
        weight = weight[..., None, None]
        pooled = (weight * mu).sum(axis=-3, keepdims=True)
        pooled = pooled / weight.sum(axis=-3, keepdims=True)
        total = weight + smoothing
        smooth = (weight * mu + smoothing * pooled) / np.where(total > 0, total, 1.0)
        smooth = np.where(total > 0, smooth, pooled)
        varies = (pooled > _ROUNDING) & (pooled < 1.0 - _ROUNDING)
        return np.where(varies, smooth, 0.5)


_REGISTRY: dict[str, Family] = {f.name: f for f in (Normal(), Bernoulli())}


def names() -> list[str]:
    """Names of the registered families.

    Examples
    --------
    >>> names()
    ['bernoulli', 'normal']
    """
    return sorted(_REGISTRY)


def get(family: str | Family) -> Family:
    """Return a family by name, or the family itself.

    Parameters
    ----------
    family : str or Family

    Returns
    -------
    Family

    Raises
    ------
    ValueError
        If no family has that name; lists those that exist.

    Examples
    --------
    >>> get("normal")
    Normal()
    """
    if isinstance(family, Family):
        return family
    if isinstance(family, str) and family in _REGISTRY:
        return _REGISTRY[family]
    raise ValueError(f"family={family!r} is not known; choose one of {names()}")


def _cells(mu: ArrayLike) -> Array:
    mu = np.asarray(mu, dtype=np.float64)[..., 0]
    return np.stack([mu, 1.0 - mu], axis=-1)


def _inside(valid: NDArray[np.bool_], values: Array, what: str, remedy: str) -> None:
    """Raise, naming the first value outside the domain and where it stands."""
    if np.all(valid):
        return
    where = tuple(int(i) for i in np.argwhere(~np.asarray(valid))[0])
    place = f" at index {where}" if where else ""
    raise ValueError(f"{what} = {np.asarray(values)[where]}{place}: {remedy}")
