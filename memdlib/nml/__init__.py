"""Normalised maximum likelihood code lengths, in nats."""

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
