import numpy as np
import pytest
from scipy import special, stats

from memdlib.families import Bernoulli, Normal
from memdlib.generative.marginals import ClassMarginals, family_moments
from memdlib.generative.ridge_model import RidgeModel, marginal_scores


def case(seed=0):
    rng = np.random.default_rng([52, seed])
    codes = np.arange(30) % 3
    return rng.normal(size=(30, 4)) + codes[:, None], codes


def marginals_of(family, X, codes):
    moments = family_moments(family, family.observe(X), codes, 3, np.ones(len(codes)))
    return ClassMarginals(moments, family)


def relative(scores):
    return scores - special.logsumexp(scores, axis=1, keepdims=True)


def test_normal_scores_by_densities():
    X, codes = case()
    scores = marginal_scores(marginals_of(Normal(), X, codes), X)
    own = [X[codes == k] for k in range(3)]
    expected = np.stack(
        [stats.norm(Z.mean(0), Z.std(0)).logpdf(X).sum(axis=1) for Z in own], axis=1
    )
    np.testing.assert_allclose(relative(scores), relative(expected), rtol=0, atol=1e-9)


def test_a_class_without_rows_has_a_prior():
    X, codes = case()
    X, codes = (X > 0).astype(float), np.where(codes == 1, 0, codes)
    scores = marginal_scores(marginals_of(Bernoulli(), X, codes), X)
    share = np.array([20 + 1 / 3, 1 / 3, 10 + 1 / 3]) / 31
    seen = X > 0
    # the class that nobody belongs to has the pooled shares
    mean = np.stack([seen[codes == 0].mean(0), seen.mean(0), seen[codes == 2].mean(0)])
    n = np.array([[20], [0], [10]])
    mean = (n * mean + seen.mean(0)) / (n + 1)
    log_p = seen @ np.log(mean).T + ~seen @ np.log(1 - mean).T + np.log(share)
    np.testing.assert_allclose(relative(scores), relative(log_p), rtol=0, atol=1e-9)


@pytest.mark.parametrize("multipliers", [[0.5], [0.5, 0.0], [0.5, 2.0], [0.0, 2.0]])
def test_scores_times_their_multipliers_are_added(multipliers):
    X, codes = case()
    marginals = marginals_of(Normal(), X, codes)
    rng = np.random.default_rng(1)
    coef, intercept, weights = rng.normal(size=(3, 4)), rng.normal(size=3), np.ones(4)
    weights[2] = 0.0
    model = RidgeModel(
        classes=np.arange(3),
        class_prior=np.full(3, 1 / 3),
        feature_weights=weights,
        coef=coef,
        intercept=intercept,
        marginals=marginals if len(multipliers) > 1 else None,
        known=None,
        multipliers=np.array(multipliers),
        uniform_share=0.0,
        penalty=1.0,
        power=0.5,
        residual=0.0,
        n_iter=1,
        validation_log_loss=np.zeros((1, 1)),
    )
    rows = X * weights
    rows *= (np.linalg.norm(X, axis=1) / np.linalg.norm(rows, axis=1))[:, None]
    expected = multipliers[0] * (rows @ coef.T + intercept)
    if len(multipliers) > 1:
        expected = expected + multipliers[1] * marginal_scores(marginals, X)
    np.testing.assert_allclose(model.joint_log_density(X), expected, rtol=0, atol=1e-10)
    assert model.temperature == (1 / multipliers[0] if multipliers[0] else np.inf)
