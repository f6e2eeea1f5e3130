"""Log-polynomial densities: any number of power moments on a bounded support."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, softmax

from memdlib.densities.support import Support, powers, read_support
from memdlib.divergences import jensen_shannon as discrete_jensen_shannon
from memdlib.families.base import MarginalFamily, as_floats, smooth_towards_pooled
from memdlib.moments import translate, translate_natural
from memdlib.validation import check_integer

# Gauss-Legendre nodes on an interval.
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
    support : pair of numbers (a, b) or Support, default=None
        The bounded interval [a, b], in any sequence; None means [0, 1], unless
        ``levels`` are given. Kept as a tuple, or as None.
    levels : array_like of shape (L,), default=None
        A finite set of at least two levels in place of an interval. Kept as a tuple in
        ascending order. Giving both is a ValueError.

    Examples
    --------
    >>> f = Polynomial(2, support=(0.0, 1.0))
    >>> mu = f.mean([[1.0, -2.0]])
    >>> f.natural(mu).round(9).tolist()
    [[1.0, -2.0]]
    >>> Polynomial(1, levels=[2, 0, 1]).levels
    (0.0, 1.0, 2.0)
    """

    n_moments: int = 2
    _: KW_ONLY
    support: tuple | Support | None = None
    levels: tuple | None = None
    name = "polynomial"

    def __post_init__(self):
        check_integer(self.n_moments, "n_moments")
        given = self.support
        if given is None and self.levels is None:
            given = (0.0, 1.0)
        support = read_support(given, levels=self.levels)
        if not support.bounded:
            raise ValueError(
                f"support={self.support} must be bounded; give finite ends (a, b)"
            )
        # plain numbers, so that equal families compare equal however they are given
        interval = (support.lower, support.upper) if support.levels is None else None
        object.__setattr__(self, "support", interval)
        object.__setattr__(self, "levels", support.levels)

    def natural(self, mu):
        # imported on use: no other family needs it
        from memdlib.densities.density import MaxEntDensity

        density = MaxEntDensity(self.n_moments, support=self._support)
        return density.from_moments(mu).natural_params_

    def mean(self, lam):
        origin, unit = self._support.standardise()
        u, _ = self._support.grid(_NODES)
        p = softmax(self._log_mass(lam), axis=-1)
        about_origin = p @ powers(u, self.n_moments) * powers(unit, self.n_moments)
        return translate(about_origin, np.ones(1), origin)

    def log_normaliser(self, lam):
        lam = as_floats(lam)
        origin, unit = self._support.standardise()
        at_origin = (lam * powers(origin, self.n_moments)).sum(axis=-1)
        log_unit = 0.0 if self._support.levels is not None else np.log(unit)
        return logsumexp(self._log_mass(lam), axis=-1) - at_origin + log_unit

    def kl(self, mu1, mu2):
        lam1 = self.natural(mu1)
        lam2 = self.natural(mu2)
        p = softmax(self._log_mass(lam1), axis=-1)
        # r = log p_2 / p_1, up to a constant: from the difference, before it is summed
        ratio = self._exponent(lam1 - lam2)
        with np.errstate(over="ignore"):
            ratio = ratio - np.log1p((p * np.expm1(ratio)).sum(axis=-1, keepdims=True))
            # E (exp(r) - 1 - r) = -E r: terms that are never negative
            return (p * (np.expm1(ratio) - ratio)).sum(axis=-1)

    def jensen_shannon(self, mu, weights, location=None):
        if self._support.levels is None:
            return super().jensen_shannon(mu, weights)
        lam = self.natural(mu)
        log_p = self.log_density(np.array(self._support.levels), lam[..., None, :])
        value = discrete_jensen_shannon(np.exp(log_p).swapaxes(0, 1), weights)
        return value, np.zeros_like(value)

    def panels(self, mu):
        ends = np.linspace(self._support.lower, self._support.upper, 17)
        return np.tile(ends, (len(mu), 1))

    def observe(self, X):
        stored = sparse.coo_array(X)
        n_stored = np.bincount(stored.coords[1], minlength=X.shape[1])
        # zeros are not stored: one more value of each feature that has any
        with_zeros = np.flatnonzero(n_stored < X.shape[0])
        values = np.append(stored.data, np.zeros(with_zeros.size))
        features = np.append(stored.coords[1], with_zeros)
        outside = ~(self._support.contains(values) | np.isnan(values))
        if outside.any():
            first = np.argmax(outside)
            raise ValueError(
                f"feature {features[first]} holds the value {values[first]}, which is "
                f"not on the support {self._support}; give a support that holds all "
                "values, or bring the feature to an interval with "
                "MinMaxScaler(clip=True)"
            )
        return X

    def regularise(
        self,
        mu,
        weight,
        *,
        variance_shrinkage,
        alpha,
        location=None,
    ):
        """Add instances at the pooled moments, and mix with the uniform density."""
        smooth, _, total = smooth_towards_pooled(mu, weight, alpha)
        uniform_weight = alpha / (total + alpha)
        uniform = self.mean(np.zeros(self.n_moments))
        return (1.0 - uniform_weight) * smooth + uniform_weight * uniform

    @property
    def _support(self):
        return read_support(self.support, levels=self.levels)

    def _log_mass(self, lam):
        """Log masses of the nodes (..., N), up to constants."""
        _, log_weights = self._support.grid(_NODES)
        return log_weights - self._exponent(lam)

    def _exponent(self, lam):
        """The term lambda . phi(x) at the nodes (..., N), up to constants.

        In powers of u = (x - origin) / unit, on [-1, 1], where these keep their digits.
        """
        origin, unit = self._support.standardise()
        u, _ = self._support.grid(_NODES)
        scaled = translate_natural(lam, -origin) * powers(unit, self.n_moments)
        return scaled @ powers(u, self.n_moments).T
