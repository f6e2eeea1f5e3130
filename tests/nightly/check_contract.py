"""scikit-learn's checks of every estimator, with settings other than the default ones.

Run them by ``make test-nightly``; those of default settings are in
``tests/test_contract.py``.
"""

import pytest

from memdlib import (
    PLSA,
    ConditionalMaxEntClassifier,
    DivergenceRanker,
    GreedyGaussianRanker,
    GreedyInformationRanker,
    JointMaxEntClassifier,
    MeMdClassifier,
    generative,
    make_memd,
)
from memdlib.families import Polynomial, TruncatedExponential
from memdlib.generative.joint import COVARIANCES
from memdlib.nml import LevelQuantiser, NMLClassifier, NMLFeatureSelector
from memdlib.topics import GenerativeEmbedding
from memdlib.topics.embedding import KINDS
from tests.scikit_learn import checks, run

WIDE = (-1e3, 1e3)
ROUGH, ONE_TOPIC = PLSA(2, tol=0.1, random_state=0), PLSA(1, alpha=0.1)
BY_ERROR = {"strategy": "quantile", "intercept": True, "criterion": "error"}
VARIANTS = [
    ConditionalMaxEntClassifier(C=100.0),
    ConditionalMaxEntClassifier("gis", C=1 / 3, tol=0.02, class_weight="balanced"),
    ConditionalMaxEntClassifier("iis", C=1 / 3, tol=0.02),
    MeMdClassifier("jeffreys", n_features=None),
    MeMdClassifier("js", variance_shrinkage="auto"),
    MeMdClassifier("js", n_features_grid="every", cv=3),
    MeMdClassifier("jeffreys", family="bernoulli", cv=4, alpha=0.1),
    MeMdClassifier("jeffreys", family="multinomial", n_features=None, alpha=0.1),
    MeMdClassifier("js", family="poisson"),
    MeMdClassifier(family="geometric", n_features=None),
    MeMdClassifier("jeffreys", family="exponential"),
    MeMdClassifier("js", family=TruncatedExponential(*WIDE)),
    MeMdClassifier(family=Polynomial(2, support=WIDE), n_features=None),
    generative.MultinomialMeMdClassifier("jeffreys", n_features=None, alpha=0.1),
    generative.MultinomialMeMdClassifier("js", cv=3),
    *(
        JointMaxEntClassifier(kind, correlation_shrinkage=0.5, variance_shrinkage=0.5)
        for kind in COVARIANCES
    ),
    DivergenceRanker("jeffreys", family="bernoulli", n_features=1),
    DivergenceRanker("js", variance_shrinkage="auto", n_features=None),
    DivergenceRanker("js", family=Polynomial(2, support=WIDE), n_features=None),
    GreedyGaussianRanker(n_features=None, correlation_shrinkage=0.0),
    GreedyInformationRanker(
        n_features=None, divergence="jeffreys", variance_shrinkage=0.5
    ),
    generative.DivergenceWeighter(0),
    generative.DivergenceWeighter(1.0, divergence="js"),
    generative.CorrelatedMeMdClassifier(variance_shrinkage="auto"),
    generative.CorrelatedMeMdClassifier(0.9, correlation_shrinkage=0.5),
    generative.RegularisedMeMdClassifier(
        0.05, correlation_shrinkage=0.9, variance_shrinkage=0.0
    ),
    generative.MixtureClassifier([("plain", MeMdClassifier(n_features=None))], cv=3),
    *(LevelQuantiser(5, strategy=kind) for kind in ("uniform", "quantile", "kmeans")),
    NMLFeatureSelector(n_moments=(2, 3), n_bins=3, n_features=1, **BY_ERROR),
    NMLClassifier(n_features=0.5, n_moments=(2,), n_bins=4, **BY_ERROR),
    ONE_TOPIC,
    PLSA(alpha=0.5, beta=0.8, n_init=2, tol=0.01, random_state=0),
    *(GenerativeEmbedding(kind, plsa=ROUGH) for kind in KINDS),
    GenerativeEmbedding("PD", plsa=PLSA(random_state=0)),
    GenerativeEmbedding("LLR", plsa=ONE_TOPIC),
    MeMdClassifier(family="auto"),
    DivergenceRanker(family="auto"),
    *(
        make_memd(kind, cv=2, random_state=0)
        for kind in ("expression", "table", "text")
    ),
]


@pytest.mark.parametrize(("estimator", "check"), checks(VARIANTS))
def test_scikit_learn_contract(estimator, check):
    run(check, estimator)
