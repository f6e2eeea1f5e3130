"""Log-polynomial densities: any number of power moments on a bounded support."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy import sparse
from scipy.special import log_softmax, logsumexp, softmax

from memdlib._types import Array
from memdlib.densities.moment_problem import NotConvergedError
from memdlib.densities.polynomials import adaptive_panels
from memdlib.densities.support import Support, panel_nodes, powers, read_support
from memdlib.divergences import jensen_shannon as discrete_jensen_shannon
from memdlib.families.base import (
    MarginalFamily,
    as_parameters,
    drop_weightless,
    jensen_shannon_quadrature,
    smooth_towards_pooled,
)
from memdlib.moments import translate, translate_natural
from memdlib.validation import check_integer

# Numbers of panels on an interval, in rounds that close in on the densities, each
# different from the one before.
_PANELS = (64, 56) * 12
# Densities at a time.
_BLOCK = 2**10
# Agreement of the logarithm of an integral on the panels of two rounds.
_AGREEMENT = 1e-13


@dataclass(frozen=True, eq=False)
class _Exponents:
    """The terms lambda . phi of B densities, in powers of u without the constant.

    Parameters
    ----------
    coefficients : ndarray of shape (..., B, m)
    """

    coefficients: Array

    def bounded(self, u):
        """Values (..., B, N) at u (B, N), by Horner's rule."""
        *lower, highest = np.moveaxis(self.coefficients[..., None], -2, 0)
        total = highest * u
        for coefficient in lower[::-1]:
            total = (total + coefficient) * u
        return total

    def log_total(self, ends):
        """Logarithms (B,) of the integrals of exp(-exponent) over panels (B, P + 1)."""
        u, weights = panel_nodes(ends)
        return logsumexp(-self.bounded(u), b=weights, axis=-1)


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
        u, log_weights = self._nodes(lam)
        p = softmax(log_weights - self._exponents(lam).bounded(u), axis=-1)
        about_origin = (p[..., None, :] @ powers(u, self.n_moments))[..., 0, :]
        about_origin *= powers(unit, self.n_moments)
        return translate(about_origin, np.ones(1), origin)

    def log_normaliser(self, lam):
        lam = as_parameters(lam, self.n_moments)
        origin, unit = self._support.standardise()
        at_origin = (lam * powers(origin, self.n_moments)).sum(axis=-1)
        log_unit = 0.0 if self._support.levels is not None else np.log(unit)
        u, log_weights = self._nodes(lam)
        log_mass = log_weights - self._exponents(lam).bounded(u)
        return logsumexp(log_mass, axis=-1) - at_origin + log_unit

    def kl(self, mu1, mu2):
        lam1, lam2 = np.broadcast_arrays(self.natural(mu1), self.natural(mu2))
        u, log_weights = self._nodes(lam1, lam2)
        log_p = log_softmax(log_weights - self._exponents(lam1).bounded(u), axis=-1)
        # r = log p_2 / p_1, up to a constant: from the difference, before it is summed
        ratio = self._exponents(lam1 - lam2).bounded(u)
        ratio -= logsumexp(log_p + ratio, axis=-1, keepdims=True)
        # E (exp(r) - 1 - r) = -E r: terms that are never negative
        p = np.exp(log_p)
        near = np.abs(ratio) < 1.0
        close = p * (np.expm1(np.where(near, ratio, 0.0)) - ratio)
        apart = np.exp(log_p + ratio) - p - p * ratio
        return np.where(near, close, apart).sum(axis=-1)

    def jensen_shannon(self, mu, weights, location=None):
        mu, w, _ = drop_weightless(mu, weights)
        lam = self.natural(mu)
        if self._support.levels is not None:
            levels = np.array(self._support.levels)
            log_p = self.log_density(levels, lam[..., None, :])
            value = discrete_jensen_shannon(np.exp(log_p).swapaxes(0, 1), w)
            return value, np.zeros_like(value)
        ends = self._ends(lam)
        exponents = self._exponents(lam)
        log_total = exponents.log_total(ends)
        # half of them, for the rules of a divergence have more nodes, and halve panels
        edges = np.concatenate(ends[..., ::2], axis=1)
        edges.sort(axis=1)

        def log_density(u, features):
            of_features = _Exponents(exponents.coefficients[:, features])
            return -of_features.bounded(u) - log_total[:, features, None]

        return jensen_shannon_quadrature(log_density, edges, w)

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

    def _exponents(self, lam):
        """The terms lambda . phi(x), in powers of u = (x - origin) / unit.

        On [-1, 1] these keep their digits.
        """
        lam = as_parameters(lam, self.n_moments)
        origin, unit = self._support.standardise()
        scaled = translate_natural(lam, -origin) * powers(unit, self.n_moments)
        return _Exponents(scaled)

    def _nodes(self, *lams):
        """Nodes u and log weights (..., N) that follow densities (..., m); levels."""
        if self._support.levels is not None:
            return self._support.grid()
        u, weights = panel_nodes(self._ends(*lams))
        with np.errstate(divide="ignore"):  # panels of no width
            return u, np.log(weights)

    def _ends(self, *lams):
        """Ends (..., P + 1) of panels on [-1, 1] that follow densities (..., m)."""
        shape = np.shape(lams[0])
        coefficients = [self._exponents(lam).coefficients for lam in lams]
        flat = np.reshape(coefficients, (len(lams), -1, shape[-1]))
        ends = []
        for start in range(0, flat.shape[1], _BLOCK):
            block = [_Exponents(rows[start : start + _BLOCK]) for rows in flat]
            ends.append(_following_ends(block))
        return np.concatenate(ends).reshape(*shape[:-1], -1)


def _following_ends(exponents):
    """Ends (B, P + 1) on which all integrals agree with those of the round before."""
    upper = np.ones(len(exponents[0].coefficients))
    size = max(np.abs(each.coefficients).sum(axis=-1).max() for each in exponents)
    tolerance = _AGREEMENT + 8.0 * np.finfo(np.float64).eps * size
    ends = None
    before = np.inf
    for n_panels in _PANELS:
        ends = adaptive_panels(exponents, -upper, upper, ends, n_panels)
        log_total = np.array([each.log_total(ends) for each in exponents])
        if np.abs(log_total - before).max() <= tolerance:
            return ends
        before = log_total
    raise NotConvergedError(
        "a density is too narrow for its support: give the family a support that is "
        "closer to the data, or rescale them"
    )
