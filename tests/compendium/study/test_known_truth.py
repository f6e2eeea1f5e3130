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


def test_words_by_multiplying_probabilities():
    bunch = simulated("words", 40, seed=3)
    from memdlib.datasets import simulate_text_counts

    law = simulate_text_counts(
        n_documents=40, random_state=3, **SIMULATED["words"].arguments
    ).word_probabilities
    for i in range(5):
        words = np.repeat(np.arange(2000), bunch.X[[i]].toarray()[0])
        score = np.array([sum(np.log(law[k, j]) for j in words) for k in range(4)])
        assert bunch.log_posterior[i] == pytest.approx(score - logsumexp(score))
