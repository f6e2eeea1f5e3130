"""Normalised maximum likelihood (NML) code lengths, in nats.

The code length of data under a model is the *error*, minus their log-likelihood at its
maximum, plus the *complexity* of the model, the logarithm of the sum of the maximised
likelihoods of all data of that size. No other code does better in the worst case.

Two models are here: the multinomial, and the conditional maximum-entropy model of
labels given the level of one feature, whose sums are exact as far as they are in reach.
"""

from memdlib.nml.conditional import (
    Codelength,
    ComplexityEstimate,
    conditional_codelength,
    conditional_complexity,
    conditional_complexity_estimate,
    conditional_error,
)
from memdlib.nml.genes import GeneCodelengths, gene_codelengths
from memdlib.nml.multinomial import (
    multinomial_codelength,
    multinomial_complexity,
    szpankowski_complexity,
    two_part_codelength,
)

__all__ = [
    "Codelength",
    "ComplexityEstimate",
    "GeneCodelengths",
    "conditional_codelength",
    "conditional_complexity",
    "conditional_complexity_estimate",
    "conditional_error",
    "gene_codelengths",
    "multinomial_codelength",
    "multinomial_complexity",
    "szpankowski_complexity",
    "two_part_codelength",
]
