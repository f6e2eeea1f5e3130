"""Complexity of the conditional model by random draws, at any number of samples.

The boundary is known in closed form; drawn are interior label counts, from two sides.
Where the saturated model is not much larger than the model, its own mixture finds them;
where levels hold many samples, only draws near the model do.
"""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, expit, gammainc, gammaln, logsumexp, xlogy
from scipy.stats import qmc

from memdlib.nml._engine.boundary import complexity_bounds, on_boundary
from memdlib.nml._engine.fits import suprema
from memdlib.nml._engine.level_model import (
    LevelModel,
    NoMaximumError,
    orthonormal_basis,
)
from memdlib.nml._engine.saturated import saturated_complexity

Array = NDArray[np.float64]

# Sets of levels that the second side mixes at most.
_MOST_SUBSETS = 5000
_REPLICATES = 16
# Radius of the ball around a maximum, in standard deviations of its parameters.
_RADIUS = 3.0
# Entries of a table of draws and sets of levels that is held at a time.
_ENTRIES = 2**21
# Draws of equal weight that carry a trustworthy mean, and the largest share of one.
_EFFECTIVE, _LARGEST_SHARE = 200.0, 0.05
# Log of the share of side A that must be near the model if it is alone.
_OUT_OF_REACH = 9.0
# Beyond it a remainder of Stirling's formula is its first two terms, to rounding.
_LARGE = 1e3


class Draws(NamedTuple):
    """What random draws tell of a complexity.

    Parameters
    ----------
    log_complexity, standard_error : float
        Nats.
    effective : float
        Draws of equal weight that would be as good, (sum w)^2 / sum w^2.
    largest_share : float
        Of one draw in the sum of all weights.
    """

    log_complexity: float
    standard_error: float
    effective: float
    largest_share: float

    @property
    def trustworthy(self) -> bool:
        """Whether no few draws make the estimate, so that its error bar means much."""
        return self.effective >= _EFFECTIVE and self.largest_share <= _LARGEST_SHARE


def monte_carlo_complexity(
    model: LevelModel, n_draws: int = 2**16, seed: int = 0
) -> tuple[float, float]:
    """Log of an unbiased estimate of the complexity, with its standard error.

    Parameters
    ----------
    model : LevelModel
    n_draws : int, default=65536
        Draws in all, rounded up to 32 times a power of two.
    seed : int, default=0

    Returns
    -------
    log_complexity, standard_error : float
        Nats.

    Raises
    ------
    ValueError
        If too few draws carry the estimate for its error bar to be trusted.

    Examples
    --------
    >>> from memdlib.nml._engine.level_model import level_model
    >>> counts = np.array([8, 8, 8, 7, 7])
    >>> model = level_model(counts, np.arange(1.0, 6.0), 4, intercept=False)
    >>> value, error = monte_carlo_complexity(model, 2**14)
    >>> abs(value - 6.6753273094) < 5 * error, error < 0.01
    (True, True)
    """
    found = draw_complexity(model, n_draws, seed)
    if not found.trustworthy:
        raise ValueError(
            f"{n_draws} draws are worth {found.effective:.0f} of equal weight, too few "
            'to trust their mean; raise n_draws, or use method="auto"'
        )
    return found.log_complexity, found.standard_error


def draw_complexity(model: LevelModel, n_draws: int, seed: int) -> Draws:
    """Estimate, standard error, and what tells whether to trust them.

    Parameters
    ----------
    model : LevelModel
    n_draws : int
    seed : int

    Returns
    -------
    Draws

    Notes
    -----
    C is the boundary sum B plus the sum of P(k) over interior label counts k, with P(k)
    their probability at the maximum theta(k). A pair of k and a parameter theta is
    drawn from one of two sides: (A) k from the mixture of all label shares under their
    Jeffreys prior, theta from a normal density r(theta | k) around theta(k), cut at
    three standard deviations; (B) theta from a mixture over sets of p levels whose
    shares have that prior, pi(theta), then k from its own law P(k | theta). With both
    sides together of density q, the mean of P(k) r(theta | k) / q over draws is the sum
    wanted, as r is a density. If there are too many sets of p levels, A is alone.

    The prior's points are scrambled Sobol sequences, 16 of them, whose scatter gives
    the standard error.

    Examples
    --------
    >>> from memdlib.nml._engine.level_model import level_model
    >>> model = level_model(np.full(5, 10**6), np.arange(1.0, 6.0), 1, intercept=False)
    >>> draw_complexity(model, 2**12, 0).trustworthy
    True
    """
    if model.saturated:
        return Draws(saturated_complexity(model), 0.0, math.inf, 0.0)
    lower, upper = complexity_bounds(model)
    sides = _Sides.of(model)
    if sides.subsets is None and saturated_complexity(model) - upper > _OUT_OF_REACH:
        return Draws(lower, math.inf, 0.0, 1.0)
    n_sides = 1 + (sides.subsets is not None)
    log_each = max(0, math.ceil(math.log2(n_draws / _REPLICATES / n_sides)))
    weights = [
        sides.log_weights(log_each, rng)
        for rng in np.random.default_rng(seed).spawn(_REPLICATES)
    ]
    drawn = n_sides * 2**log_each
    top = max((w.max(initial=-np.inf) for w in weights), default=-np.inf)
    if top == -np.inf:
        return Draws(lower, math.inf, 0.0, 1.0)
    # all weights relative to the largest, or at huge counts they overflow
    linear = [np.exp(w - top) for w in weights]
    sums = np.array([w.sum() for w in linear])
    total = math.fsum(sums)
    square = math.fsum((w**2).sum() for w in linear)
    mean = float(sums.mean())
    inside = math.log(mean / drawn) + float(top)
    value = float(np.logaddexp(lower, inside))
    spread = float(sums.std(ddof=1)) / math.sqrt(_REPLICATES) / mean
    error = spread * math.exp(inside - value)
    return Draws(value, error, total**2 / square, 1.0 / total)


@dataclass(frozen=True)
class _Sides:
    """Both ways to draw interior label counts of one model."""

    model: LevelModel
    basis: Array
    subsets: NDArray[np.intp] | None
    inverses: Array | None
    log_sizes: Array | None

    @classmethod
    def of(cls, model: LevelModel) -> "_Sides":
        basis, p = orthonormal_basis(model), model.dimension
        if p == 0 or math.comb(len(model.counts), p) > _MOST_SUBSETS:
            return cls(model, basis, None, None, None)
        subsets = np.array(list(combinations(range(len(model.counts)), p)))
        parts = basis[subsets]
        log_sizes = np.linalg.slogdet(parts)[1] - p * math.log(math.pi)
        return cls(model, basis, subsets, np.linalg.inv(parts), log_sizes)

    def log_weights(self, log_each: int, rng: np.random.Generator) -> Array:
        """Log weights of the interior ones among 2^log_each draws of each side."""
        counts = self.model.counts[:, None]
        whole, basis = counts.astype(np.int64), self.basis
        share = _shares(len(counts), log_each, rng).T
        ones = rng.binomial(whole, share).astype(np.float64)
        ones = ones[:, ~on_boundary(self.model, ones)]
        first, theta = ones.shape[1], None
        if self.subsets is not None:
            theta = self._near(log_each, rng)
            other = rng.binomial(whole, expit(basis @ theta)).astype(np.float64)
            inside = ~on_boundary(self.model, other)
            ones, theta = np.hstack([ones, other[:, inside]]), theta[:, inside]
        if not ones.shape[1]:
            return np.empty(0)
        top = suprema(self.model, basis, counts, ones)[1]
        logits = basis @ top
        weight = counts * expit(logits) * expit(-logits)
        information = np.einsum("li,lj,lb->bij", basis, basis, weight)
        try:
            root = np.linalg.cholesky(information)
        except np.linalg.LinAlgError:
            raise NoMaximumError(
                "drawn labels leave a parameter undetermined; join levels whose values "
                "are close, or use fewer moments"
            ) from None
        p = basis.shape[1]
        normal = _in_ball(first, p, rng)
        moved = np.linalg.solve(np.swapaxes(root[:first], 1, 2), normal[:, :, None])[
            :, :, 0
        ].T
        if theta is not None:
            moved = np.hstack([moved, theta - top[:, first:]])
        # not by the difference of parameters, which may be far larger
        change = basis @ moved
        distance = (weight * change**2).sum(axis=0)
        distance[:first] = (normal**2).sum(axis=1)
        log_ball = -0.5 * p * math.log(2 * math.pi) - math.log(_ball_mass(p))
        diagonal = np.diagonal(root, axis1=1, axis2=2)
        near = log_ball + np.log(diagonal).sum(axis=1) - 0.5 * distance
        near[distance > _RADIUS**2 * (1.0 + 1e-9)] = -np.inf
        # P(k) over the density of k on side A, and P(k) over that of k given theta
        log_a = _log_excess(counts, ones, logits)
        if theta is None:
            # theta is from r itself, which cancels
            return log_a
        log_b = _log_ratio(counts, ones, logits, change)
        prior = self._log_prior(logits + change)
        return near - np.logaddexp(near - log_a, prior - log_b) + math.log(2.0)

    def _near(self, log_each: int, rng: np.random.Generator) -> Array:
        """Parameters whose logits at one of the sets of levels have the prior's law."""
        sets, p = self.subsets, self.subsets.shape[1]
        points = qmc.Sobol(p + 1, scramble=True, rng=rng).random_base2(log_each)
        weight = np.cumsum(np.sqrt(self.model.counts)[sets].prod(axis=1))
        chosen = np.searchsorted(weight[:-1] / weight[-1], points[:, 0])
        angle = 0.5 * math.pi * np.clip(points[:, 1:], 1e-15, 1 - 1e-15)
        drawn = 2.0 * np.log(np.tan(angle))
        return np.einsum("njk,nk->jn", self.inverses[chosen], drawn)

    def _log_prior(self, logits: Array) -> Array:
        sets = self.subsets
        weight = np.log(self.model.counts)[sets].sum(axis=1) / 2.0
        size = weight - logsumexp(weight) + self.log_sizes
        level = -0.5 * (np.logaddexp(0.0, logits) + np.logaddexp(0.0, -logits))
        step = max(1, _ENTRIES // sets.size)
        found = np.empty(logits.shape[1])
        for at in range(0, found.size, step):
            parts = level[sets, at : at + step].sum(axis=1) + size[:, None]
            top = parts.max(axis=0)
            parts -= top
            found[at : at + step] = top + np.log(np.exp(parts, out=parts).sum(axis=0))
        return found


def _shares(n: int, log_each: int, rng: np.random.Generator) -> Array:
    """Shares with the density 1 / (pi sqrt(s (1 - s))), the sin^2 of even angles."""
    points = qmc.Sobol(n, scramble=True, rng=rng).random_base2(log_each)
    return np.sin(0.5 * math.pi * points) ** 2


def _ball_mass(p: int) -> float:
    return float(gammainc(0.5 * p, 0.5 * _RADIUS**2))


def _in_ball(n: int, p: int, rng: np.random.Generator) -> Array:
    """Standard normal vectors of a length of at most the radius."""
    direction = rng.standard_normal((n, p))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    length = np.sqrt(chdtri(p, 1.0 - rng.random(n) * _ball_mass(p)))
    return direction * length[:, None]


def _log_excess(counts: Array, ones: Array, logits: Array) -> Array:
    """Log of P(k) at the maximum over the density of k under the prior of all shares.

    All terms are divergences or remainders, which lose no digits at large counts.
    """
    zeros = counts - ones
    divergence = np.zeros_like(ones)
    for observed, sign in ((ones, 1.0), (zeros, -1.0)):
        seen = np.maximum(observed, 1.0)
        excess = (counts * expit(sign * logits) - observed) / seen
        # a mean that underflows has a logarithm all the same
        far = np.log(counts / seen) - np.logaddexp(0.0, -sign * logits)
        near = np.log1p(np.maximum(excess, -0.5))
        part = observed * np.where(excess < -0.5, far, near)
        divergence += np.where(observed > 0, part, 0.0)
    best = _remainder(counts) - _remainder(ones) - _remainder(zeros)
    mixed = _log_half_ratio(ones) + _log_half_ratio(zeros) - math.log(math.pi)
    return (divergence + best - mixed).sum(axis=0)


def _remainder(k: Array) -> Array:
    """Log k! - (k log k - k)."""
    large = np.maximum(k, _LARGE)
    stirling = 0.5 * np.log(2 * math.pi * large) + (1 - 1 / (30 * large**2)) / (
        12 * large
    )
    return np.where(k > _LARGE, stirling, gammaln(k + 1.0) - xlogy(k, k) + k)


def _log_half_ratio(k: Array) -> Array:
    """Log of Gamma(k + 1/2) / Gamma(k + 1)."""
    large = np.maximum(k, _LARGE)
    expansion = -0.5 * np.log(large) - 1 / (8 * large) + 1 / (192 * large**3)
    return np.where(k > _LARGE, expansion, gammaln(k + 0.5) - gammaln(k + 1.0))


def _log_ratio(counts: Array, ones: Array, logits: Array, change: Array) -> Array:
    """Log-likelihood at logits less that at logits plus change, in digits of both."""
    size = np.abs(change)
    # seen from the side to which the logit moves, nothing cancels
    near = np.log1p(expit(np.sign(change) * logits) * np.expm1(np.minimum(size, 30)))
    near += np.minimum(change, 0.0)
    far = np.logaddexp(0.0, logits + change) - np.logaddexp(0.0, logits)
    return (counts * np.where(size < 30, near, far) - ones * change).sum(axis=0)
