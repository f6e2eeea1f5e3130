import numpy as np
import pytest
from scipy.special import logsumexp

from compendium.study.known_truth import SIMULATED, simulated


@pytest.mark.parametrize("name", SIMULATED)
def test_posteriors_are_calibrated_and_leave_errors(name):
    parts = [simulated(name, 2000, seed) for seed in range(3)]
    p = np.exp(np.vstack([part.log_posterior for part in parts]))
    y = np.concatenate([part.y for part in parts])
    assert p.sum(axis=1) == pytest.approx(1.0)
    right = p.argmax(axis=1) == y
    # the mean of the largest posterior is the chance of being right
    assert abs(right.mean() - p.max(axis=1).mean()) < 4 * np.sqrt(0.25 / len(y))
    assert 0.8 < right.mean() < 0.995


def test_factors_enter_the_posterior():
    # the density of X is the mean over the factors of the independent density
    bunch = simulated("correlated", 400, seed=1)
    assert np.corrcoef(bunch.X.T)[np.triu_indices(50, 1)].std() > 0.2


def test_equal_variances():
    bunch = simulated("means_many", 4000, seed=2)
    spread = np.array([bunch.X[bunch.y == k].var(axis=0, ddof=1) for k in (0, 1)])
    assert np.abs(np.log(spread)).max() < 0.2
    other = simulated("variances_many", 4000, seed=2)
    spread = np.array([other.X[other.y == k].var(axis=0, ddof=1) for k in (0, 1)])
    assert (np.abs(np.log(spread[0] / spread[1])) > 1.2).sum() == 10


def test_words_by_multiplying_probabilities():
    bunch = simulated("words", 40, seed=3)
    from memdlib.datasets import simulate_text_counts

    law = simulate_text_counts(
        n_documents=40, seed=3, **SIMULATED["words"].arguments
    ).word_probabilities
    for i in range(5):
        words = np.repeat(np.arange(2000), bunch.X[[i]].toarray()[0])
        score = np.array([sum(np.log(law[k, j]) for j in words) for k in range(4)])
        assert bunch.log_posterior[i] == pytest.approx(score - logsumexp(score))


def test_an_unknown_name():
    with pytest.raises(ValueError, match="'nothing' must be one of"):
        simulated("nothing", 10, seed=0)
