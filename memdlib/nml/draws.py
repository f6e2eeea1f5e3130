"""Complexity of the conditional model by random draws, at any number of samples.

The boundary is known in closed form; interior label counts are drawn, from two sides.
Where the saturated model is not much larger than the model, the mixture of the former
finds them; where levels hold many samples, only draws near the model do.

C is the boundary sum plus the sum of P(k) over interior label counts k, their
probability at the maximum theta(k). A pair of k and a parameter theta is drawn from one
of two sides:

- side A: k from the mixture of all label probabilities under their Jeffreys prior,
  theta from a normal density r(theta | k) around theta(k), truncated at three standard
  deviations;
- side B: theta from a mixture over sets of p levels whose label probabilities have that
  prior, then k from its law given theta.

With both sides together of density q, the mean of P(k) r(theta | k) / q over draws is
the sum wanted, as r is a density. The scatter of 16 Sobol sequences, each scrambled in
its own way, gives the standard error.
"""

import math
from itertools import combinations

import numpy as np
from scipy.special import chdtri, expit, gammainc, logsumexp, poch
from scipy.stats import binom, qmc

from memdlib.nml.boundary import complexity_bounds, on_boundary
from memdlib.nml.fits import max_log_likelihoods
from memdlib.nml.level_model import UncertifiedError, orthonormal_basis

# Sets of levels that side B mixes at most.
_MOST_SUBSETS = 5000
_N_REPLICATES = 16
# Radius of the ball around a maximum, in standard deviations of its parameters.
_RADIUS = 3.0
# Entries of a table of sets of levels and draws that is held at a time.
_ENTRIES = 2**21
# Draws of equal weight that make a mean trustworthy, and the largest fraction of the
# mean that one draw may be.
_LEAST_EFFECTIVE = 200.0
_LARGEST_FRACTION = 0.05


def draw_complexity(model, n_draws, random_state):
    """Log of an unbiased estimate of the complexity and its standard error, in nats."""
    n_subsets = math.comb(len(model.counts), model.dimension)
    if n_subsets > _MOST_SUBSETS:
        raise UncertifiedError(
            f"{n_subsets} sets of {model.dimension} levels are too many to draw from; "
            'use method="auto", or fewer levels or moments'
        )
    sampler = _TwoSidedSampler(model)
    log2_size = max(0, math.ceil(math.log2(n_draws / _N_REPLICATES / 2)))
    rngs = np.random.default_rng(random_state).spawn(_N_REPLICATES)
    log_weights = [sampler.log_weights(log2_size, rng) for rng in rngs]
    size = 2 * 2**log2_size
    log_interior, relative_error = _log_mean(log_weights, size, n_draws)
    log_boundary, _ = complexity_bounds(model)
    complexity = float(np.logaddexp(log_boundary, log_interior))
    return complexity, relative_error * math.exp(log_interior - complexity)


def _log_mean(log_weights, size, n_draws):
    """Log mean of the weights, and its standard error relative to the mean.

    Each replicate has ``size`` draws; those without a log weight have weight zero. The
    error message names ``n_draws``, the number asked for.
    """
    # all weights relative to the largest, or at huge counts they overflow
    largest = max(w.max(initial=-np.inf) for w in log_weights)
    weights = [np.exp(w - largest) for w in log_weights]
    sums = np.array([w.sum() for w in weights])
    squares = [(w**2).sum() for w in weights]
    total = math.fsum(sums)
    n_effective = 0.0
    if total:
        n_effective = total**2 / math.fsum(squares)
    enough = n_effective >= _LEAST_EFFECTIVE
    if not (enough and 1.0 / total <= _LARGEST_FRACTION):
        raise UncertifiedError(
            f"{n_draws} draws are worth {n_effective:.0f} of equal weight, too few "
            'to trust their mean; raise n_draws, or use method="auto"'
        )
    mean = float(sums.mean())
    standard_error = float(sums.std(ddof=1)) / math.sqrt(len(sums))
    log_mean = math.log(mean / size) + float(largest)
    return log_mean, standard_error / mean


class _TwoSidedSampler:
    """Both ways to draw interior label counts of one model."""

    def __init__(self, model):
        self.model = model
        self.basis = orthonormal_basis(model)
        self.counts = model.counts[:, None]
        n_levels = len(model.counts)
        p = model.dimension
        # sets of p levels, and the maps from their logits to the parameters
        self.subsets = np.array(list(combinations(range(n_levels), p)))
        designs = self.basis[self.subsets]
        self.inverses = np.linalg.inv(designs)
        _, log_dets = np.linalg.slogdet(designs)
        # side B draws a set in proportion to the root of the product of its counts
        log_root_counts = 0.5 * np.log(model.counts)
        log_probabilities = log_root_counts[self.subsets].sum(axis=1)
        log_probabilities -= logsumexp(log_probabilities)
        self.cumulated_probabilities = np.exp(log_probabilities).cumsum()
        # what the prior of the parameters has beside the densities of the p logits
        self.log_subset_factors = log_probabilities + log_dets - p * math.log(math.pi)

    def log_weights(self, log2_size, rng):
        """Log weights of the interior ones among 2^log2_size draws of each side.

        In one piece, as the densities of each side are needed at the draws of both.
        """
        ones_a = self._draw_a(log2_size, rng)
        ones_b, theta_b = self._draw_b(log2_size, rng)
        ones = np.hstack([ones_a, ones_b])
        if not ones.shape[1]:
            return np.empty(0)
        _, maxima, _ = max_log_likelihoods(self.model, self.basis, self.counts, ones)
        logits = self.basis @ maxima
        weight = self.counts * expit(logits) * expit(-logits)
        root = self._root_information(weight)
        # theta less the maximum: drawn on side A, given on side B
        n_a = ones_a.shape[1]
        step_a, square_a = _normal_in_ball(root[:n_a], rng)
        change = self.basis @ np.hstack([step_a, theta_b - maxima[:, n_a:]])
        # by the logits, as the difference of parameters may be far larger
        square_b = (weight * change**2)[:, n_a:].sum(axis=0)
        log_r = _log_normal_in_ball(root, np.concatenate([square_a, square_b]))
        # the densities of both sides, less log P(k)
        log_a = log_r - _log_excess(self.counts, ones, logits)
        log_b = self._log_prior(logits + change)
        log_b -= _log_ratio(self.counts, ones, logits, change)
        return log_r - np.logaddexp(log_a, log_b) + math.log(2.0)

    def _draw_a(self, log2_size, rng):
        """Draw interior label counts (L, B) of side A."""
        sobol = qmc.Sobol(len(self.counts), scramble=True, rng=rng)
        # the sin^2 of a uniform angle has the density 1 / (pi sqrt(s (1 - s)))
        probability = np.sin(0.5 * math.pi * sobol.random_base2(log2_size)) ** 2
        ones, _ = self._interior_labels(probability.T, rng)
        return ones

    def _draw_b(self, log2_size, rng):
        """Draw interior label counts (L, B) and parameters (p, B) of side B."""
        sobol = qmc.Sobol(self.model.dimension + 1, scramble=True, rng=rng)
        points = sobol.random_base2(log2_size)
        chosen = np.searchsorted(self.cumulated_probabilities[:-1], points[:, 0])
        angle = 0.5 * math.pi * np.clip(points[:, 1:], 1e-15, 1 - 1e-15)
        logits = 2.0 * np.log(np.tan(angle))
        theta = np.einsum("njk,nk->jn", self.inverses[chosen], logits)
        ones, interior = self._interior_labels(expit(self.basis @ theta), rng)
        return ones, theta[:, interior]

    def _interior_labels(self, probability, rng):
        """Draw label counts; return the interior ones (L, B), and which they are."""
        ones = rng.binomial(self.counts.astype(np.int64), probability)
        interior = ~on_boundary(self.model, ones)
        return ones[:, interior].astype(np.float64), interior

    def _root_information(self, weight):
        """Cholesky factors (B, p, p) of the Fisher information with weights (L, B)."""
        information = np.einsum("li,lj,lb->bij", self.basis, self.basis, weight)
        try:
            return np.linalg.cholesky(information)
        except np.linalg.LinAlgError:
            raise UncertifiedError(
                "drawn labels leave a parameter undetermined; join levels whose values "
                "are close, or use fewer moments"
            ) from None

    def _log_prior(self, logits):
        """Log density (B,) of the parameters of side B with the logits (L, B)."""
        # at each level that of the probability on the logit scale, but for its 1 / pi
        log_density = -0.5 * (np.logaddexp(0.0, logits) + np.logaddexp(0.0, -logits))
        n_batches = 1 + logits.shape[1] * self.subsets.size // _ENTRIES
        log_prior = [
            logsumexp(
                batch[self.subsets].sum(axis=1) + self.log_subset_factors[:, None],
                axis=0,
            )
            for batch in np.array_split(log_density, n_batches, axis=1)
        ]
        return np.concatenate(log_prior)


def _normal_in_ball(root, rng):
    """Draw normal vectors (p, B) in the ball around zero.

    ``root`` (B, p, p) are Cholesky factors of their precision. Returns also the squared
    lengths (B,), in standard deviations.
    """
    n, p, _ = root.shape
    direction = rng.standard_normal((n, p))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    square = chdtri(p, 1.0 - rng.random(n) * _ball_mass(p))
    standard = direction * np.sqrt(square)[:, None]
    vectors = np.linalg.solve(root.swapaxes(1, 2), standard[:, :, None])
    return vectors[:, :, 0].T, square


def _log_normal_in_ball(root, square):
    """Log density (B,) of `_normal_in_ball`, given the squared lengths (B,)."""
    p = root.shape[1]
    log_constant = -0.5 * p * math.log(2 * math.pi) - math.log(_ball_mass(p))
    log_det = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
    log_density = log_constant + log_det - 0.5 * square
    return np.where(square > _RADIUS**2 * (1.0 + 1e-9), -np.inf, log_density)


def _ball_mass(p):
    """Mass of the ball of the radius under the standard normal law."""
    return float(gammainc(0.5 * p, 0.5 * _RADIUS**2))


def _log_excess(counts, ones, logits):
    """Log of P(k) at the maximum over the probability of k on side A, (B,).

    All terms are divergences or quotients, which lose no digits at large counts.
    """
    zeros = counts - ones
    divergence = _log_relative_mean(counts, ones, logits)
    divergence += _log_relative_mean(counts, zeros, -logits)
    # the law of k at its relative frequency, and under the prior, which is the product
    # of Gamma(k + 1/2) / Gamma(k + 1) for ones and zeros, over pi
    log_best = np.log(binom.pmf(ones, counts, ones / counts))
    log_mixed = np.log(poch(ones + 1.0, -0.5) * poch(zeros + 1.0, -0.5) / math.pi)
    return (divergence + log_best - log_mixed).sum(axis=0)


def _log_relative_mean(counts, observed, logits):
    """Observed labels times the log of their mean over their number, 0 if none."""
    divisor = np.maximum(observed, 1.0)
    excess = (counts * expit(logits) - observed) / divisor
    near = np.log1p(np.maximum(excess, -0.5))
    # a mean that underflows has a logarithm all the same
    far = np.log(counts / divisor) - np.logaddexp(0.0, -logits)
    terms = observed * np.where(excess < -0.5, far, near)
    return np.where(observed > 0, terms, 0.0)


def _log_ratio(counts, ones, logits, change):
    """Log-likelihood (B,) at the logits less that at logits plus change.

    It keeps its digits where the change is small, and where it is large.
    """
    size = np.abs(change)
    # seen from the side to which the logit moves, nothing cancels
    near = np.log1p(expit(np.sign(change) * logits) * np.expm1(np.minimum(size, 30)))
    near += np.minimum(change, 0.0)
    far = np.logaddexp(0.0, logits + change) - np.logaddexp(0.0, logits)
    return (counts * np.where(size < 30, near, far) - ones * change).sum(axis=0)
