import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from memdlib import DivergenceRanker
from memdlib.families import Bernoulli, Binomial, Geometric, family_names, get_family

LENGTH = 6


def laws(theta):
    return stats.binom(LENGTH, theta).pmf(np.arange(LENGTH + 1)[:, None])


def shares(seed, K=2, d=5):
    return np.random.default_rng(seed).dirichlet(np.ones(d), size=K)


def test_divergences_are_those_of_counts_over_the_length():
    theta = shares(1)
    p, q = laws(theta[0]), laws(theta[1])
    kl = (p * np.log(p / q)).sum(axis=0) / LENGTH
    jeffreys = ((p - q) * np.log(p / q)).sum(axis=0) / LENGTH
    mu = theta[..., None]
    assert_allclose(Binomial().kl(*mu), kl, rtol=1e-11)
    assert_allclose(Binomial().jeffreys(*mu), jeffreys, rtol=1e-11)
    w = np.array([0.3, 0.7])
    of_pair = Binomial().js_gm(mu, w)
    assert_allclose(of_pair, w.prod() * jeffreys, rtol=1e-11)


def test_jensen_shannon_is_that_of_one_word_drawn():
    theta, w = shares(2, K=3), np.array([0.2, 0.3, 0.5])
    value, _ = Binomial().jensen_shannon(theta[..., None], w)
    entropy = stats.entropy(np.stack([theta, 1 - theta]))
    mixed = w @ theta
    expected = stats.entropy(np.stack([mixed, 1 - mixed])) - w @ entropy
    assert_allclose(value, expected, rtol=1e-10)


def test_one_word_alone_tells_nothing():
    X, y = np.array([[1.0], [2.0], [7.0], [9.0]]), [0, 0, 1, 1]
    ranker = DivergenceRanker(family=Binomial(), n_features=1).fit(X, y)
    assert ranker.scores_.tolist() == [0.0]


def test_a_ranking_that_the_terms_of_j_reverse():
    X = np.array([[90.0, 5.0, 5.0], [80.0, 10.0, 10.0]] * 2)
    options = {"divergence": "jeffreys", "n_features": None, "alpha": 0.0}
    own = DivergenceRanker(family=Binomial(), **options).fit(X, [0, 1, 0, 1])
    terms = DivergenceRanker(family="multinomial", **options).fit(X, [0, 1, 0, 1])
    assert own.order_[0] == 0
    assert terms.order_[-1] == 0
    assert_allclose(own.scores_, [0.081093, 0.037361, 0.037361], rtol=1e-4)


def test_it_is_no_name():
    assert "binomial" not in family_names()
    assert get_family(Binomial()) == Binomial()


def test_smoothing_that_is_lost_in_rounding_leaves_bernoulli_means_below_one():
    mu, weight = np.array([[[1.0]], [[0.0]]]), np.array([1e17, 1e17])
    found = Bernoulli().regularise(mu, weight, variance_shrinkage=0.0, alpha=1.0)
    assert found[0, 0, 0] == np.nextafter(1.0, 0.0)
    assert 0 < found[1, 0, 0] < 1e-16
    assert np.isfinite(Bernoulli().natural(found)).all()


@pytest.mark.parametrize("mean", [1e-3, 0.3, 7.0, 1e4])
def test_beyond_the_largest_count_of_a_geometric_law_nothing_is_seen(mean):
    k = float(Geometric().largest_count(np.array([mean])))
    ratio = mp.mpf(mean) / (1 + mp.mpf(mean))
    assert ratio ** (k - 1) > 1e-17 >= ratio**k
