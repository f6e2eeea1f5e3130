"""Fitted models of moments that were collected elsewhere."""

import numpy as np
import pytest

from memdlib import JointMaxEntClassifier, MeMdClassifier
from memdlib.estimator import set_fitted
from memdlib.families import Binomial, Normal
from memdlib.generative import MultinomialMeMdClassifier
from memdlib.generative.marginals import family_moments
from memdlib.generative.memd.model import estimate_model
from memdlib.moments import joint_moments


def rows():
    rng = np.random.default_rng([18, 9])
    y = np.arange(60) % 3
    return rng.poisson(2.0 + y[:, None], size=(60, 4)).astype(float), y


def of_pairs(X, y):
    return joint_moments(X, y, 3)


def of_family(family):
    return lambda X, y: family_moments(family, X, y, 3, np.ones(len(y)))


@pytest.mark.parametrize(
    ("estimator", "collect"),
    [
        (MeMdClassifier(n_features=2), of_family(Normal())),
        (MultinomialMeMdClassifier(n_features=2), of_family(Binomial())),
        (JointMaxEntClassifier(), of_pairs),
        (JointMaxEntClassifier("diagonal"), of_family(Normal())),
    ],
)
def test_moments_of_two_halves_give_the_fit(estimator, collect):
    X, y = rows()
    moments = collect(X[:25], y[:25]).merge(collect(X[25:], y[25:]))
    model = estimate_model(estimator, moments, np.unique(y))
    assert not vars(estimator).keys() - estimator.get_params().keys()
    found = set_fitted(estimator, model).predict_log_proba(X)
    np.testing.assert_allclose(
        found, estimator.fit(X, y).predict_log_proba(X), rtol=1e-9, atol=1e-12
    )
