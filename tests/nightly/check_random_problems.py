"""Posteriors of make_memd on 200 random problems; run by ``make test-nightly``."""

import numpy as np
import pytest

from tests.generative.random_problems import KINDS, LINEAR, losses, problems

# steps that stop early, and classes that are small
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("kind", KINDS)
def test_posteriors_are_about_as_good_as_those_of_the_best_model(kind):
    found = [losses(problem) for problem in problems(kind, KINDS[kind])]
    above_plain = np.array([one["memd"] - one["T = 1"] for one in found])
    assert above_plain.mean() < 0.02
    assert above_plain.max() < 0.2
    if kind in LINEAR:
        above_lda = np.array([one["memd"] - one["LDA"] for one in found])
        assert above_lda.mean() < 0.02
        assert above_lda.max() < 0.2
