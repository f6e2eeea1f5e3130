"""Complexity of the conditional model by random draws, at any number of samples.

The boundary is known in closed form; drawn are interior label counts, from two sides.
Where the saturated model is not much larger than the model, its own mixture finds them;
where levels hold many samples, only draws near the model do.

C is the boundary sum plus the sum of P(k) over interior label counts k, their
probability at the maximum theta(k). A pair of k and a parameter theta is drawn from one
of two sides: (A) k from the mixture of all label shares under their Jeffreys prior,
theta from a normal density r(theta | k) around theta(k), cut at three standard
deviations; (B) theta from a mixture over sets of p levels whose shares have that prior,
then k from its own law. With both sides together of density q, the mean of
P(k) r(theta | k) / q over draws is the sum wanted, as r is a density. The scatter of 16
Sobol sequences, scrambled each in its own way, gives the standard error.
"""

import math
from itertools import combinations

import numpy as np
from scipy.special import chdtri, expit, gammainc, logsumexp, poch
from scipy.stats import binom, qmc

from memdlib._types import Array
from memdlib.nml.boundary import complexity_bounds, on_boundary
from memdlib.nml.fits import max_log_likelihoods
from memdlib.nml.level_model import LevelModel, UncertifiedError, orthonormal_basis

# Sets of levels that the second side mixes at most.
_MOST_SUBSETS = 5000
_REPLICATES = 16
# Radius of the ball around a maximum, in standard deviations of its parameters.
_RADIUS = 3.0
# Entries of a table of draws and sets of levels that is held at a time.
_ENTRIES = 2**21
# Draws of equal weight that carry a trustworthy mean, and the largest share of one.
_EFFECTIVE, _LARGEST_SHARE = 200.0, 0.05


def draw_complexity(model: LevelModel, n_draws: int, seed: int) -> tuple[float, float]:
    """Log of an unbiased estimate and its standard error, in nats."""
    lower = complexity_bounds(model)[0]
    n_sets = math.comb(len(model.counts), model.dimension)
    if n_sets > _MOST_SUBSETS:
        raise UncertifiedError(
            f"{n_sets} sets of {model.dimension} levels are too many to draw from; use "
            'method="auto", or fewer levels or moments'
        )
    sides = _Sides(model)
    log_each = max(0, math.ceil(math.log2(n_draws / _REPLICATES / 2)))
    rngs = np.random.default_rng(seed).spawn(_REPLICATES)
    weights = [sides.log_weights(log_each, rng) for rng in rngs]
    top = max(w.max(initial=-np.inf) for w in weights)
    # all weights relative to the largest, or at huge counts they overflow
    linear = [np.exp(w - top) for w in weights]
    sums = np.array([w.sum() for w in linear])
    total = math.fsum(sums)
    effective = total**2 / math.fsum((w**2).sum() for w in linear) if total else 0.0
    if effective < _EFFECTIVE or 1.0 / total > _LARGEST_SHARE:
        raise UncertifiedError(
            f"{n_draws} draws are worth {effective:.0f} of equal weight, too few "
            'to trust their mean; raise n_draws, or use method="auto"'
        )
    mean = float(sums.mean())
    inside = math.log(mean / 2 / 2**log_each) + float(top)
    value = float(np.logaddexp(lower, inside))
    spread = float(sums.std(ddof=1)) / math.sqrt(_REPLICATES) / mean
    return value, spread * math.exp(inside - value)


class _Sides:
    """Both ways to draw interior label counts of one model."""

    def __init__(self, model: LevelModel) -> None:
        self.model, self.basis, p = model, orthonormal_basis(model), model.dimension
        self.sets = np.array(list(combinations(range(len(model.counts)), p)))
        parts = self.basis[self.sets]
        self.log_sizes = np.linalg.slogdet(parts)[1] - p * math.log(math.pi)
        self.inverses = np.linalg.inv(parts)

    def log_weights(self, log_each: int, rng: np.random.Generator) -> Array:
        """Log weights of the interior ones among 2^log_each draws of each side."""
        counts = self.model.counts[:, None]
        whole, basis = counts.astype(np.int64), self.basis
        # shares of the density 1 / (pi sqrt(s (1 - s))) are the sin^2 of even angles
        points = qmc.Sobol(len(counts), scramble=True, rng=rng).random_base2(log_each)
        share = (np.sin(0.5 * math.pi * points) ** 2).T
        ones = rng.binomial(whole, share).astype(np.float64)
        ones = ones[:, ~on_boundary(self.model, ones)]
        first, theta = ones.shape[1], self._near(log_each, rng)
        other = rng.binomial(whole, expit(basis @ theta)).astype(np.float64)
        inside = ~on_boundary(self.model, other)
        ones, theta = np.hstack([ones, other[:, inside]]), theta[:, inside]
        if not ones.shape[1]:
            return np.empty(0)
        top = max_log_likelihoods(self.model, basis, counts, ones)[1]
        logits = basis @ top
        # P(k) over the density of k on side A
        log_a = _log_excess(counts, ones, logits)
        weight = counts * expit(logits) * expit(-logits)
        information = np.einsum("li,lj,lb->bij", basis, basis, weight)
        try:
            root = np.linalg.cholesky(information)
        except np.linalg.LinAlgError:
            raise UncertifiedError(
                "drawn labels leave a parameter undetermined; join levels whose values "
                "are close, or use fewer moments"
            ) from None
        p = basis.shape[1]
        normal = _in_ball(first, p, rng)
        moved = np.linalg.solve(root[:first].swapaxes(1, 2), normal[:, :, None])
        moved = np.hstack([moved[:, :, 0].T, theta - top[:, first:]])
        # not by the difference of parameters, which may be far larger
        change = basis @ moved
        distance = (weight * change**2).sum(axis=0)
        distance[:first] = (normal**2).sum(axis=1)
        log_ball = -0.5 * p * math.log(2 * math.pi) - math.log(_ball_mass(p))
        diagonal = np.diagonal(root, axis1=1, axis2=2)
        near = log_ball + np.log(diagonal).sum(axis=1) - 0.5 * distance
        near[distance > _RADIUS**2 * (1.0 + 1e-9)] = -np.inf
        # P(k) over the density of k given theta
        log_b = _log_ratio(counts, ones, logits, change)
        prior = self._log_prior(logits + change)
        return near - np.logaddexp(near - log_a, prior - log_b) + math.log(2.0)

    def _near(self, log_each: int, rng: np.random.Generator) -> Array:
        """Parameters whose logits at one of the sets of levels have the prior's law."""
        p = self.model.dimension
        points = qmc.Sobol(p + 1, scramble=True, rng=rng).random_base2(log_each)
        weight = np.cumsum(np.sqrt(self.model.counts)[self.sets].prod(axis=1))
        chosen = np.searchsorted(weight[:-1] / weight[-1], points[:, 0])
        angle = 0.5 * math.pi * np.clip(points[:, 1:], 1e-15, 1 - 1e-15)
        drawn = 2.0 * np.log(np.tan(angle))
        return np.einsum("njk,nk->jn", self.inverses[chosen], drawn)

    def _log_prior(self, logits: Array) -> Array:
        """Log density of the parameters of side B that have these logits."""
        weight = np.log(self.model.counts)[self.sets].sum(axis=1) / 2.0
        size = weight - logsumexp(weight) + self.log_sizes
        level = -0.5 * (np.logaddexp(0.0, logits) + np.logaddexp(0.0, -logits))
        step, parts = max(1, _ENTRIES // self.sets.size), []
        for at in range(0, logits.shape[1], step):
            total = level[self.sets, at : at + step].sum(axis=1) + size[:, None]
            parts.append(logsumexp(total, axis=0))
        return np.concatenate(parts)


def _ball_mass(p: int) -> float:
    """Mass of the ball under the standard normal law."""
    return float(gammainc(0.5 * p, 0.5 * _RADIUS**2))


def _in_ball(n: int, p: int, rng: np.random.Generator) -> Array:
    """Standard normal vectors of a length of at most the radius."""
    direction = rng.standard_normal((n, p))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    length = np.sqrt(chdtri(p, 1.0 - rng.random(n) * _ball_mass(p)))
    return direction * length[:, None]


def _log_excess(counts: Array, ones: Array, logits: Array) -> Array:
    """Log of P(k) at the maximum over the density of k under the prior of all shares.

    All terms are divergences or quotients, which lose no digits at large counts.
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
    # the law of k at its own share, over Gamma(k + 1/2) / Gamma(k + 1) of both / pi
    best = np.log(binom.pmf(ones, counts, ones / counts))
    mixed = np.log(poch(ones + 1.0, -0.5) * poch(zeros + 1.0, -0.5) / math.pi)
    return (divergence + best - mixed).sum(axis=0)


def _log_ratio(counts: Array, ones: Array, logits: Array, change: Array) -> Array:
    """Log-likelihood at logits less that at logits plus change, in digits of both."""
    size = np.abs(change)
    # seen from the side to which the logit moves, nothing cancels
    near = np.log1p(expit(np.sign(change) * logits) * np.expm1(np.minimum(size, 30)))
    near += np.minimum(change, 0.0)
    far = np.logaddexp(0.0, logits + change) - np.logaddexp(0.0, logits)
    return (counts * np.where(size < 30, near, far) - ones * change).sum(axis=0)
