"""Fitted models of moments that were collected elsewhere."""

import numpy as np
import pytest

from memdlib import JointMaxEntClassifier, MeMdClassifier
from memdlib.densities import (
    InfeasibleMomentsError,
    NotConvergedError,
    RoundedMomentsError,
)
from memdlib.estimator import log_posterior
from memdlib.families import Binomial, Normal, Poisson
from memdlib.generative import MultinomialMeMdClassifier
from memdlib.generative.marginals import ClassMarginals, family_moments
from memdlib.generative.memd import MarginalModel
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
    model = estimator._estimate(moments, np.unique(y))
    assert not vars(estimator).keys() - estimator.get_params().keys()
    found = log_posterior(model.joint_log_density(X))
    np.testing.assert_allclose(
        found, estimator.fit(X, y).predict_log_proba(X), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("kind", [InfeasibleMomentsError, NotConvergedError])
@pytest.mark.parametrize(("k", "s"), [(0, 1), (1, 3), (2, 0), (2, 2), (2, 3)])
def test_the_first_density_that_is_not_found_is_named(monkeypatch, kind, k, s):
    natural = Poisson.natural

    def refuse(self, mu):
        if (mu > 500).any():
            raise kind("not this one")
        if (mu > 50).any():
            raise RoundedMomentsError("another")
        return natural(self, mu)

    monkeypatch.setattr(Poisson, "natural", refuse)
    X, y = rows()
    X[y == 0, 0] = 100
    X[y == k, s] = X[y == 2, 3] = 1000
    model = MeMdClassifier(family="poisson", smoothing=0.0, n_features=None)
    named = f"^class '{'abc'[k]}', feature {s}: there is no density of Poisson"
    with pytest.raises(kind, match=named + r".* moments \[1000\.0\]") as caught:
        model.fit(X, np.array(list("abc"))[y])
    assert isinstance(caught.value.__cause__, kind)


def test_a_model_of_marginals_uses_all_features_unless_told_otherwise():
    X, y = rows()
    moments = of_family(Normal())(X, y)
    marginals = ClassMarginals(moments, Normal(), prior=np.array([0.2, 0.3, 0.5]))
    model = MarginalModel.of(np.arange(3), marginals)
    assert model.n_selected == 4 and sorted(model.order) == [0, 1, 2, 3]
    assert model.validation_n_features is model.validation_curve is None
    np.testing.assert_array_equal(
        model.feature_divergences, marginals.divergences("js_gm")
    )
    assert (np.diff(model.feature_divergences[model.order]) <= 0).all()
    assert model.class_prior.tolist() == [0.2, 0.3, 0.5]
    some = MarginalModel.of(np.arange(3), marginals, "jeffreys")
    np.testing.assert_array_equal(
        some.feature_divergences, marginals.divergences("jeffreys")
    )
