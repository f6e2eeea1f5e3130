"""Class marginals, their divergences, rankings, and the classifiers built on them."""

from memdlib.generative.greedy import (
    GreedyGaussianRanker,
    GreedyInformationRanker,
    greedy_gaussian,
    greedy_information,
)
from memdlib.generative.joint import JointMaxEntClassifier
from memdlib.generative.marginals import ClassMarginals, family_moments, fold_moments
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.ranking import DivergenceRanker, rank
from memdlib.generative.scores import MarginalScores, size_grid

__all__ = [
    "ClassMarginals",
    "DivergenceRanker",
    "GreedyGaussianRanker",
    "GreedyInformationRanker",
    "JointMaxEntClassifier",
    "MarginalScores",
    "MeMdClassifier",
    "family_moments",
    "fold_moments",
    "greedy_gaussian",
    "greedy_information",
    "rank",
    "size_grid",
]
