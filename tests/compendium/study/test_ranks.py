import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from compendium.study.ranks import bayesian_signed_ranks, critical_difference, friedman


def by_counting(scores):
    """Average ranks: one more than those above, and half of the others equal."""
    above = (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
    equal = (scores[:, None, :] == scores[:, :, None]).sum(axis=2)
    return (1 + above + (equal - 1) / 2).mean(axis=0)


@given(st.integers(2, 12), st.integers(3, 7), st.integers(0, 10**6))
def test_average_ranks(n_sets, k, seed):
    scores = np.random.default_rng(seed).integers(0, 4, (n_sets, k))
    if (scores == scores[:, :1]).all():
        scores[0, 0] += 1
    found = friedman(scores)
    assert found.ranks == pytest.approx(by_counting(scores))


def test_the_p_value_is_that_of_an_analysis_of_variance_of_ranks():
    scores = np.random.default_rng(9).integers(0, 30, (8, 5)) + np.arange(5)
    ranks = stats.rankdata(-scores, axis=1)
    effect = ranks.mean(axis=0) - 3.0
    rest = ranks - 3.0 - effect  # the mean rank of each set is the same
    quotient = 8 * (effect**2).sum() / 4 / ((rest**2).sum() / (4 * 7))
    assert friedman(scores).p == pytest.approx(stats.f.sf(quotient, 4, 28))


@pytest.mark.parametrize(
    ("k", "quantile"), [(2, 1.960), (4, 2.569), (7, 2.949), (10, 3.164)]
)
def test_quantiles_are_those_of_the_table_of_demsar(k, quantile):
    expected = quantile * np.sqrt(k * (k + 1) / (6 * 20))
    assert critical_difference(k, 20) == pytest.approx(expected, rel=1e-3)


def one_draw(w, z, rope):
    """Shares of pairs below, within and above, pair by pair."""
    shares = np.zeros(3)
    for i, one in enumerate(z):
        for j, other in enumerate(z):
            middle = (one + other) / 2
            place = 0 if middle < -rope else 2 if middle > rope else 1
            shares[place] += w[i] * w[j]
    return shares


def test_signed_ranks_against_weights_from_gamma_variables():
    z = np.array([0.4, -2.0, 3.0, 1.6, 2.2])
    found = bayesian_signed_ranks(z, 1.0, draws=40000, seed=1)
    rng = np.random.default_rng(2)
    won = np.zeros(3)
    for _ in range(4000):
        w = rng.gamma([0.5, 1, 1, 1, 1, 1])
        won[one_draw(w / w.sum(), [0.0, *z], 1.0).argmax()] += 1
    assert found == pytest.approx(won / 4000, abs=0.03)
    assert sum(found) == pytest.approx(1.0)
