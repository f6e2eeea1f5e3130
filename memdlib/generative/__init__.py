"""Class marginals, their divergences, rankings, and the classifiers built on them."""

from memdlib.generative.calibration import Calibration, fit_calibration
from memdlib.generative.correlated.regularised import RegularisedMeMdClassifier
from memdlib.generative.correlated.ridge import RidgeDiscriminantClassifier
from memdlib.generative.correlated.whitened import CorrelatedMeMdClassifier
from memdlib.generative.displays import (
    AccuracyCurveDisplay,
    RankingDisplay,
)
from memdlib.generative.documents import MultinomialMeMdClassifier
from memdlib.generative.explanations import (
    Contributions,
    contributions,
    top_features,
)
from memdlib.generative.greedy import (
    GreedyGaussianRanker,
    GreedyInformationRanker,
)
from memdlib.generative.joint import JointMaxEntClassifier
from memdlib.generative.marginals import ClassMarginals
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.ranking import (
    DivergenceRanker,
    jeffreys_score,
    js_gm_score,
    js_score,
    rank,
)
from memdlib.generative.recommended.mixed import MixedMeMdClassifier
from memdlib.generative.recommended.pipelines import make_memd
from memdlib.generative.recommended.samples import normal_scores, standardised
from memdlib.generative.recommended.weights import MixtureWeights, fit_mixture_weights
from memdlib.generative.weighting import DivergenceWeighter

__all__ = [
    "AccuracyCurveDisplay",
    "Calibration",
    "ClassMarginals",
    "Contributions",
    "CorrelatedMeMdClassifier",
    "DivergenceRanker",
    "DivergenceWeighter",
    "GreedyGaussianRanker",
    "GreedyInformationRanker",
    "JointMaxEntClassifier",
    "MeMdClassifier",
    "MixedMeMdClassifier",
    "MixtureWeights",
    "MultinomialMeMdClassifier",
    "RankingDisplay",
    "RegularisedMeMdClassifier",
    "RidgeDiscriminantClassifier",
    "contributions",
    "fit_calibration",
    "fit_mixture_weights",
    "jeffreys_score",
    "js_gm_score",
    "js_score",
    "make_memd",
    "normal_scores",
    "rank",
    "standardised",
    "top_features",
]
