"""Class marginals, their divergences, rankings, and the classifiers built on them."""

from memdlib._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "AccuracyCurveDisplay": "displays",
        "Calibration": "calibration",
        "ClassMarginals": "marginals",
        "CorrelatedMeMdClassifier": "correlated",
        "DivergenceRanker": "ranking",
        "DivergenceWeighter": "weighting",
        "GreedyGaussianRanker": "greedy",
        "GreedyInformationRanker": "greedy",
        "JointMaxEntClassifier": "joint",
        "MeMdClassifier": "memd",
        "MixtureClassifier": "mixture",
        "MultinomialMeMdClassifier": "documents",
        "RankingDisplay": "displays",
        "RegularisedMeMdClassifier": "regularised",
        "contributions": "explanations",
        "fit_calibration": "calibration",
        "make_memd": "recommended",
        "normal_scores": "recommended",
        "rank": "ranking",
    },
)
