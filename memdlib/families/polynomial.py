"""Log-polynomial densities: any number of power moments on a bounded support."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from memdlib._types import MatrixLike
from memdlib.densities.moment_problem import evaluate_dual
from memdlib.densities.support import powers, read_support
from memdlib.divergences import jensen_shannon as discrete_jensen_shannon
from memdlib.families.base import MarginalFamily, smooth_towards_pooled
from memdlib.moments import translate, translate_natural
from memdlib.validation import check_integer

Array = NDArray[np.float64]

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
        lam, standard, _ = self._standardise(lam)
        origin, unit = self._support.standardise()
        mean = evaluate_dual(*self._grid(), np.zeros_like(standard), standard)[1]
        raw = translate(mean * powers(unit, self.n_moments), np.ones(1), origin)
        return raw.reshape(lam.shape)

    def log_normaliser(self, lam: ArrayLike) -> Array:
        lam, standard, constant = self._standardise(lam)
        psi = evaluate_dual(*self._grid(), np.zeros_like(standard), standard)[0]
        return (psi + constant).reshape(lam.shape[:-1])

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        lam1, first, _ = self._standardise(self.natural(mu1))
        lam2, second, _ = self._standardise(self.natural(mu2))
        shape = np.broadcast_shapes(lam1.shape, lam2.shape)
        first = np.broadcast_to(first.reshape(lam1.shape), shape).reshape(-1, shape[-1])
        second = np.broadcast_to(second.reshape(lam2.shape), shape).reshape(
            -1, shape[-1]
        )
        features, log_weights = self._grid()
        p = evaluate_dual(features, log_weights, np.zeros_like(first), first)[2]
        ratio = (first - second) @ features.T
        with np.errstate(over="ignore"):
            ratio = ratio - np.log1p((p * np.expm1(ratio)).sum(axis=1, keepdims=True))
            # E (exp(r) - 1 - r) = -E r: terms that are never negative
            terms = p * (np.expm1(ratio) - ratio)
        return terms.sum(axis=1).reshape(shape[:-1])

    def jensen_shannon(self, mu: ArrayLike, weights: ArrayLike) -> tuple[Array, Array]:
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
        if sparse.issparse(X):
            entries = X.tocoo()
            values, feature = entries.data, entries.col
            stored = np.bincount(feature, minlength=X.shape[1])
            thin = np.flatnonzero(stored < X.shape[0])[:1]
            # zeros that are not stored
            values = np.append(values, np.zeros(thin.size))
            feature = np.append(feature, thin)
        else:
            values = np.asarray(X)
            feature = np.broadcast_to(np.arange(values.shape[-1]), values.shape)
        outside = ~self._support.contains(values)
        if outside.any():
            raise ValueError(
                f"feature {feature[outside].flat[0]} holds the value "
                f"{values[outside].flat[0]}, which is not on the support "
                f"{self._support}; give a support that holds all values, or bring the "
                "feature to an interval with MinMaxScaler(clip=True)"
            )
        return X

    def regularise(
        self, mu: Array, weight: Array, *, shrinkage: float, smoothing: float
    ) -> Array:
        """Pull class moments off the boundary, where no density exists.

        ``smoothing`` instances at the pooled moments are added to every class, and all
        classes are then mixed with the uniform distribution in the ratio of
        ``smoothing`` to the total weight; classes that agree stay equal. ``shrinkage``
        has no effect.
        """
        smooth, _ = smooth_towards_pooled(mu, weight, smoothing)
        share = smoothing / (weight.sum(axis=-1) + smoothing)[..., None, None, None]
        return (1.0 - share) * smooth + share * self.mean(np.zeros(self.n_moments))

    @property
    def _support(self):
        support = self.support if len(self.support) == 2 else list(self.support)
        return read_support(support)

    def _grid(self):
        u, log_weights = self._support.grid(_NODES)
        return powers(u, self.n_moments), log_weights

    def _standardise(self, lam):
        """Natural parameters of u = (x - origin) / unit, and the change of psi."""
        lam = np.asarray(lam, dtype=np.float64)
        origin, unit = self._support.standardise()
        moved = translate_natural(lam, -origin)
        constant = -(lam * powers(origin, self.n_moments)).sum(axis=-1)
        if self._support.levels is None:
            constant = constant + np.log(unit)
        standard = moved * powers(unit, self.n_moments)
        return lam, standard.reshape(-1, self.n_moments), constant.reshape(-1)
