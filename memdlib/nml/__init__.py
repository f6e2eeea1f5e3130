"""Normalised maximum likelihood code lengths, in nats."""

from memdlib.nml.multinomial import (
    multinomial_codelength,
    multinomial_complexity,
    szpankowski_complexity,
    two_part_codelength,
)

__all__ = [
    "multinomial_codelength",
    "multinomial_complexity",
    "szpankowski_complexity",
    "two_part_codelength",
]
