"""Normalised maximum likelihood (NML) code lengths, in nats.

The code length of data under a model is the *error*, minus their log-likelihood at its
maximum, plus the *complexity* of the model, the logarithm of the sum of the maximised
likelihoods of all data of that size. No other code does better in the worst case.

Discriminative: the conditional maximum-entropy model of labels given the level of one
feature, whose sums are exact as far as they are feasible. Generative: the multinomial,
maximum entropy with some moments on a finite alphabet, and continuous families, which
need a domain that makes their complexity finite.

Estimators to the scikit-learn contract build on these: features are quantised to
levels, ranked by the code length of the labels given one of them, and combined in a
classifier.
"""

from memdlib.nml.classifier import NMLClassifier
from memdlib.nml.codelength import Codelength, ComplexityEstimate
from memdlib.nml.conditional import (
    conditional_codelength,
    conditional_complexity,
    conditional_complexity_estimate,
    conditional_error,
    count_levels,
    feature_codelengths,
)
from memdlib.nml.discrete import discrete_codelength, discrete_complexity
from memdlib.nml.multinomial import multinomial_codelength, multinomial_complexity
from memdlib.nml.quantiser import LevelQuantiser
from memdlib.nml.restricted import (
    exponential_complexity,
    gaussian_complexity,
    geometric_complexity,
)
from memdlib.nml.selector import NMLFeatureSelector

__all__ = [
    "Codelength",
    "ComplexityEstimate",
    "LevelQuantiser",
    "NMLClassifier",
    "NMLFeatureSelector",
    "conditional_codelength",
    "conditional_complexity",
    "conditional_complexity_estimate",
    "conditional_error",
    "count_levels",
    "discrete_codelength",
    "discrete_complexity",
    "exponential_complexity",
    "feature_codelengths",
    "gaussian_complexity",
    "geometric_complexity",
    "multinomial_codelength",
    "multinomial_complexity",
]
