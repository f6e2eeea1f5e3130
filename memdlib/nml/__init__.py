"""Normalised maximum likelihood (NML) code lengths, in nats.

The code length of data under a model is the *error*, minus their log-likelihood at its
maximum, plus the *complexity* of the model, the logarithm of the sum of the maximised
likelihoods of all data of that size. No other code does better in the worst case.

Discriminative: the conditional maximum-entropy model of labels given the level of one
feature, whose sums are exact as far as they are in reach. Generative: the multinomial,
maximum entropy with some moments on a finite alphabet, and continuous families, which
need the domain that makes their complexity finite.

On these rest estimators to the scikit-learn contract: features quantised to levels,
ranked by the code length of the labels given one of them, and combined to a classifier.
"""

from memdlib.nml.codes.alphabet import alphabet_codelength, alphabet_complexity
from memdlib.nml.codes.codelength import Codelength, ComplexityEstimate
from memdlib.nml.codes.conditional import (
    LevelCounts,
    conditional_codelength,
    conditional_complexity,
    conditional_complexity_estimate,
    conditional_error,
    count_levels,
    feature_codelengths,
)
from memdlib.nml.codes.criteria import (
    criterion_codelengths,
    factorised_codelength,
    quotient_codelength,
)
from memdlib.nml.codes.families import (
    exponential_complexity,
    gaussian_complexity,
    gaussian_mean_complexity,
    gaussian_scale_complexity,
    geometric_complexity,
    truncated_exponential_complexity,
)
from memdlib.nml.codes.multinomial import (
    multinomial_codelength,
    multinomial_complexity,
    szpankowski_complexity,
    two_part_codelength,
)
from memdlib.nml.estimators.classifier import NMLClassifier
from memdlib.nml.estimators.quantiser import LevelQuantiser
from memdlib.nml.estimators.selector import NMLFeatureSelector

__all__ = [
    "Codelength",
    "ComplexityEstimate",
    "LevelCounts",
    "LevelQuantiser",
    "NMLClassifier",
    "NMLFeatureSelector",
    "alphabet_codelength",
    "alphabet_complexity",
    "conditional_codelength",
    "conditional_complexity",
    "conditional_complexity_estimate",
    "conditional_error",
    "count_levels",
    "criterion_codelengths",
    "exponential_complexity",
    "factorised_codelength",
    "feature_codelengths",
    "gaussian_complexity",
    "gaussian_mean_complexity",
    "gaussian_scale_complexity",
    "geometric_complexity",
    "multinomial_codelength",
    "multinomial_complexity",
    "quotient_codelength",
    "szpankowski_complexity",
    "truncated_exponential_complexity",
    "two_part_codelength",
]
