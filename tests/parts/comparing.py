"""Data in uneven parts, and the comparison of two fitted estimators."""

from itertools import pairwise

import numpy as np

from memdlib import DivergenceRanker, JointMaxEntClassifier, MeMdClassifier
from memdlib.generative import CorrelatedMeMdClassifier, MultinomialMeMdClassifier

ESTIMATORS = {
    "fixed": MeMdClassifier(n_features=3),
    "share": MeMdClassifier(n_features=0.5, divergence="jeffreys", shrinkage="auto"),
    "auto": MeMdClassifier(random_state=0),
    "folds": MeMdClassifier(random_state=1, validation=3, family="poisson"),
    "presence": MeMdClassifier(random_state=2, family="bernoulli"),
    "balanced": MeMdClassifier(random_state=3, class_weight="balanced"),
    "by class": MeMdClassifier(n_features=2, class_weight={0: 2.0, 1: 0.5, 2: 1.0}),
    "documents": MultinomialMeMdClassifier(random_state=4),
    "full": JointMaxEntClassifier(),
    "pooled": JointMaxEntClassifier("pooled", shrinkage=0.1),
    "diagonal": JointMaxEntClassifier("diagonal"),
    "ranker": DivergenceRanker(n_features=2),
}

CORRELATED = {
    "all": CorrelatedMeMdClassifier(),
    "fixed": CorrelatedMeMdClassifier(5, shrinkage=0.3),
    "variances": CorrelatedMeMdClassifier(0.5, variance_shrinkage="auto"),
    "no correlations": CorrelatedMeMdClassifier(shrinkage=1.0, priors=[0.2, 0.3, 0.5]),
    "folds": CorrelatedMeMdClassifier("auto", random_state=0),
    "share": CorrelatedMeMdClassifier("auto", validation=0.3, random_state=1),
    "balanced": CorrelatedMeMdClassifier(
        "auto", validation=0.4, class_weight="balanced", random_state=2
    ),
    "by class": CorrelatedMeMdClassifier(9, class_weight={0: 2.0, 1: 0.5, 2: 1.0}),
}

# Rows of parts of unequal and of zero length.
CUTS = (0, 0, 1, 40, 90, 90, 200)

FOUND = (
    "class_prior_",
    "mean_params_",
    "natural_params_",
    "feature_divergences_",
    "validation_curve_",
    "covariances_",
    "shrinkage_",
    "variance_shrinkage_",
    "whitened_means_",
)
EXACT = (
    "classes_",
    "order_",
    "n_selected_",
    "validation_n_features_",
    "n_features_in_",
    "feature_names_in_",
)


def counts(n=200, d=6, K=3, seed=0):
    """Counts of three classes in order: most parts do not have them all."""
    rng = np.random.default_rng([18, seed])
    y = np.sort(rng.integers(K, size=n))
    rate = rng.gamma(2.0, size=(K, d))
    return rng.poisson(rate[y]).astype(float), y


def correlated(n=200, d=20, K=3, seed=0):
    """Correlated normal rows of three classes in order, and one constant feature."""
    rng = np.random.default_rng([18, 3, seed])
    y = np.sort(rng.integers(K, size=n))
    mix = np.eye(d) + rng.normal(size=(d, d)) / np.sqrt(d)
    X = (rng.normal(size=(n, d)) + rng.normal(size=(K, d))[y]) @ mix
    X[:, 3] = 7.0
    return X, y


def in_parts(*columns, cuts=CUTS):
    """Tuples of the same rows of each column."""
    return [
        tuple(values[first:last] for values in columns)
        for first, last in pairwise(cuts)
    ]


def agree(one, other, X, within=1e-12):
    """Whether two fitted estimators are the same, but for rounding."""
    for name in EXACT:
        assert hasattr(one, name) == hasattr(other, name), name
        if hasattr(one, name):
            np.testing.assert_array_equal(
                getattr(one, name), getattr(other, name), strict=name == "classes_"
            )
    for name in FOUND:
        a, b = (getattr(model, name, None) for model in (one, other))
        assert (a is None) == (b is None), name
        if a is not None:
            scale = np.abs(a).max()
            np.testing.assert_allclose(
                a, b, rtol=within, atol=within * scale, err_msg=name
            )
    if hasattr(one, "predict"):
        a, b = one.predict_log_proba(X), other.predict_log_proba(X)
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
