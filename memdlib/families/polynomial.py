"""Log-polynomial densities: any number of power moments on a bounded support."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, softmax

from memdlib._types import Array, ArrayLike, MatrixLike
from memdlib.densities.support import powers, read_support
from memdlib.divergences import jensen_shannon as discrete_jensen_shannon
from memdlib.families.base import MarginalFamily, smooth_towards_pooled
from memdlib.moments import translate, translate_natural
from memdlib.validation import check_integer

_NODES = 512


@dataclass(frozen=True)
class Polynomial(MarginalFamily):
    """Log-polynomial densities: E x, ..., E x^m on an interval or on levels.

    The dual is solved numerically (see :class:`memdlib.MaxEntDensity`), for all classes
    and features in one call. Power moments about zero lose digits where the support is
    narrow and far from zero: bring the data to a scale of order one.

    Parameters
    ----------
    n_moments : int, default=2
        m.
    support : tuple, default=(0.0, 1.0)
        Two numbers are an interval; more are a finite set of levels.

    Examples
    --------
    >>> f = Polynomial(2, (0.0, 1.0))
    >>> mu = f.mean([[1.0, -2.0]])
    >>> f.natural(mu).round(9).tolist()
    [[1.0, -2.0]]
    """

    n_moments: int = 2
    support: tuple[float, ...] = (0.0, 1.0)
    name: ClassVar[str] = "polynomial"

    def __post_init__(self) -> None:
        check_integer(self.n_moments, "n_moments")
        object.__setattr__(self, "support", tuple(np.ravel(self.support).tolist()))
        if not self._support.bounded:
            raise ValueError(f"support={self.support} must be bounded")
        object.__setattr__(self, "support", tuple(map(float, self.support)))

    def natural(self, mu: ArrayLike) -> Array:
        # on use: no other family needs it
        from memdlib.densities.density import MaxEntDensity

        return (
            MaxEntDensity(self.n_moments, self.support).from_moments(mu).natural_params_
        )

    def mean(self, lam: ArrayLike) -> Array:
        features, log_mass, _ = self._grid(lam)
        origin, unit = self._support.standardise()
        mean = softmax(log_mass, axis=-1) @ features
        return translate(mean * powers(unit, self.n_moments), np.ones(1), origin)

    def log_normaliser(self, lam: ArrayLike) -> Array:
        _, log_mass, constant = self._grid(lam)
        return logsumexp(log_mass, axis=-1) + constant

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        lam1, lam2 = self.natural(mu1), self.natural(mu2)
        p = softmax(self._grid(lam1)[1], axis=-1)
        ratio = self._grid(0.0 * lam1)[1] - self._grid(lam1 - lam2)[1]
        with np.errstate(over="ignore"):
            ratio = ratio - np.log1p((p * np.expm1(ratio)).sum(axis=-1, keepdims=True))
            # E (exp(r) - 1 - r) = -E r: terms that are never negative
            return (p * (np.expm1(ratio) - ratio)).sum(axis=-1)

    def jensen_shannon(
        self, mu: ArrayLike, weights: ArrayLike, location: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        if self._support.levels is None:
            return super().jensen_shannon(mu, weights)
        lam = self.natural(mu)
        log_p = self.log_density(np.array(self._support.levels), lam[..., None, :])
        value = discrete_jensen_shannon(np.exp(log_p).swapaxes(0, 1), weights)
        return value, np.zeros_like(value)

    def panels(self, mu: Array) -> Array:
        ends = np.linspace(self._support.lower, self._support.upper, 17)
        return np.tile(ends, (len(mu), 1))

    def observe(self, X: MatrixLike) -> MatrixLike:
        stored = sparse.coo_array(X)
        values, feature = stored.data, stored.coords[1]
        # zeros are not stored
        thin = np.flatnonzero(np.bincount(feature, minlength=X.shape[1]) < X.shape[0])
        values = np.append(values, np.zeros(thin.size))
        feature = np.append(feature, thin)
        outside = ~(self._support.contains(values) | np.isnan(values))
        if outside.any():
            raise ValueError(
                f"feature {feature[outside][0]} holds the value "
                f"{values[outside][0]}, which is not on the support "
                f"{self._support}; give a support that holds all values, or bring the "
                "feature to an interval with MinMaxScaler(clip=True)"
            )
        return X

    def regularise(
        self,
        mu: Array,
        weight: Array,
        *,
        shrinkage: float,
        smoothing: float,
        location=None,
    ) -> Array:
        """Add instances at the pooled moments, and mix with the uniform law."""
        smooth, _, total = smooth_towards_pooled(mu, weight, smoothing)
        share = smoothing / (total + smoothing)
        return (1.0 - share) * smooth + share * self.mean(np.zeros(self.n_moments))

    @property
    def _support(self):
        support = self.support if len(self.support) == 2 else list(self.support)
        return read_support(support)

    def _grid(self, lam):
        """Powers of u = (x - origin) / unit at nodes, log masses, change of psi."""
        u, log_weights = self._support.grid(_NODES)
        origin, unit = self._support.standardise()
        features = powers(u, self.n_moments)
        lam = np.asarray(lam, dtype=np.float64)
        standard = translate_natural(lam, -origin) * powers(unit, self.n_moments)
        constant = -(lam * powers(origin, self.n_moments)).sum(axis=-1)
        if self._support.levels is None:
            constant = constant + np.log(unit)
        return features, log_weights - standard @ features.T, constant
