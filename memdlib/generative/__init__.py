"""Class marginals, their divergences and rankings, and classifiers built on them."""

from memdlib.generative.calibration import Calibration, fit_calibration
from memdlib.generative.correlated import CorrelatedMeMdClassifier
from memdlib.generative.displays import AccuracyCurveDisplay, RankingDisplay
from memdlib.generative.documents import MultinomialMeMdClassifier
from memdlib.generative.explanations import contributions
from memdlib.generative.greedy import GreedyGaussianRanker, GreedyInformationRanker
from memdlib.generative.joint import JointMaxEntClassifier
from memdlib.generative.marginals import ClassMarginals
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.mixture import MixtureClassifier
from memdlib.generative.ranking import DivergenceRanker, rank
from memdlib.generative.recommended import make_memd, normal_scores
from memdlib.generative.regularised import RegularisedMeMdClassifier
from memdlib.generative.weighting import DivergenceWeighter

__all__ = [
    "AccuracyCurveDisplay",
    "Calibration",
    "ClassMarginals",
    "CorrelatedMeMdClassifier",
    "DivergenceRanker",
    "DivergenceWeighter",
    "GreedyGaussianRanker",
    "GreedyInformationRanker",
    "JointMaxEntClassifier",
    "MeMdClassifier",
    "MixtureClassifier",
    "MultinomialMeMdClassifier",
    "RankingDisplay",
    "RegularisedMeMdClassifier",
    "contributions",
    "fit_calibration",
    "make_memd",
    "normal_scores",
    "rank",
]
