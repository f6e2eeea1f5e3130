"""Class marginals, their divergences, rankings, and the classifiers built on them."""

from memdlib.generative.displays import (
    AccuracyCurveDisplay,
    DensityDisplay,
    RankingDisplay,
)
from memdlib.generative.documents import MultinomialMeMdClassifier
from memdlib.generative.greedy import GreedyGaussianRanker, GreedyInformationRanker
from memdlib.generative.greedy_steps import greedy_gaussian, greedy_information
from memdlib.generative.joint import JointMaxEntClassifier
from memdlib.generative.marginals import ClassMarginals, family_moments, fold_moments
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.ranking import (
    DivergenceRanker,
    jeffreys_score,
    js_gm_score,
    js_score,
    rank,
)
from memdlib.generative.scores import MarginalScores
from memdlib.generative.sizes import size_grid

__all__ = [
    "AccuracyCurveDisplay",
    "ClassMarginals",
    "DensityDisplay",
    "DivergenceRanker",
    "GreedyGaussianRanker",
    "GreedyInformationRanker",
    "JointMaxEntClassifier",
    "MarginalScores",
    "MeMdClassifier",
    "MultinomialMeMdClassifier",
    "RankingDisplay",
    "family_moments",
    "fold_moments",
    "greedy_gaussian",
    "greedy_information",
    "jeffreys_score",
    "js_gm_score",
    "js_score",
    "rank",
    "size_grid",
]
