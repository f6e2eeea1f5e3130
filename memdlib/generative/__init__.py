"""Class marginals, their divergences, rankings, and the classifiers built on them."""

from typing import TYPE_CHECKING

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
from memdlib.generative.sizes import size_grid
from memdlib.on_use import on_use

if TYPE_CHECKING:
    from memdlib.generative.calibration import Calibration, fit_calibration
    from memdlib.generative.chosen import ChosenMeMdClassifier
    from memdlib.generative.correlations import (
        InverseRoot,
        PooledMoments,
        inverse_root,
    )
    from memdlib.generative.displays import (
        AccuracyCurveDisplay,
        DensityDisplay,
        RankingDisplay,
    )
    from memdlib.generative.documents import MultinomialMeMdClassifier
    from memdlib.generative.greedy import GreedyGaussianRanker, GreedyInformationRanker
    from memdlib.generative.greedy_joint import GreedyHeldOutRanker
    from memdlib.generative.greedy_steps import greedy_gaussian, greedy_information
    from memdlib.generative.recommended import make_memd
    from memdlib.generative.regularised import RegularisedMeMdClassifier
    from memdlib.generative.ridge import RidgeDiscriminantClassifier
    from memdlib.generative.samples import normal_scores, standardised
    from memdlib.generative.scores import MarginalScores
    from memdlib.generative.text import text_pipeline
    from memdlib.generative.weighting import DivergenceWeighter, divergence_weights
    from memdlib.generative.whitened import CorrelatedMeMdClassifier
    from memdlib.generative.whitened_means import WhitenedMeans

__all__ = [
    "AccuracyCurveDisplay",
    "Calibration",
    "ChosenMeMdClassifier",
    "ClassMarginals",
    "CorrelatedMeMdClassifier",
    "DensityDisplay",
    "DivergenceRanker",
    "DivergenceWeighter",
    "GreedyGaussianRanker",
    "GreedyHeldOutRanker",
    "GreedyInformationRanker",
    "InverseRoot",
    "JointMaxEntClassifier",
    "MarginalScores",
    "MeMdClassifier",
    "MultinomialMeMdClassifier",
    "PooledMoments",
    "RankingDisplay",
    "RegularisedMeMdClassifier",
    "RidgeDiscriminantClassifier",
    "WhitenedMeans",
    "divergence_weights",
    "family_moments",
    "fit_calibration",
    "fold_moments",
    "greedy_gaussian",
    "greedy_information",
    "inverse_root",
    "jeffreys_score",
    "js_gm_score",
    "js_score",
    "make_memd",
    "normal_scores",
    "rank",
    "size_grid",
    "standardised",
    "text_pipeline",
]

__getattr__, __dir__ = on_use(
    __name__,
    {
        "calibration": ["Calibration", "fit_calibration"],
        "chosen": ["ChosenMeMdClassifier"],
        "correlations": ["InverseRoot", "PooledMoments", "inverse_root"],
        "displays": ["AccuracyCurveDisplay", "DensityDisplay", "RankingDisplay"],
        "documents": ["MultinomialMeMdClassifier"],
        "greedy": ["GreedyGaussianRanker", "GreedyInformationRanker"],
        "greedy_joint": ["GreedyHeldOutRanker"],
        "greedy_steps": ["greedy_gaussian", "greedy_information"],
        "recommended": ["make_memd"],
        "regularised": ["RegularisedMeMdClassifier"],
        "ridge": ["RidgeDiscriminantClassifier"],
        "samples": ["normal_scores", "standardised"],
        "scores": ["MarginalScores"],
        "text": ["text_pipeline"],
        "weighting": ["DivergenceWeighter", "divergence_weights"],
        "whitened": ["CorrelatedMeMdClassifier"],
        "whitened_means": ["WhitenedMeans"],
    },
)
