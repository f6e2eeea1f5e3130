import numpy as np
import pytest

from benchmarks.moment_problems import SUPPORTS, is_possible, outcomes


@pytest.mark.parametrize("name", SUPPORTS)
def test_no_random_problem_is_answered_wrongly(name):
    found = outcomes(name, 25, seed=1)
    assert sum(found.values()) == 25
    assert found["wrong"] == found["refused wrongly"] == 0
    assert found["matched"] > 10
    if name in ("[a, b]", "levels"):
        assert found["not converged"] == 0


@pytest.mark.parametrize(
    ("mu", "support", "possible"),
    [
        ([0.5, 0.26], (0.0, 1.0), True),
        ([0.5, 0.24], (0.0, 1.0), False),
        ([0.5, 0.51], (0.0, 1.0), False),
        ([1.0, 1.5, 2.26], (0.0, np.inf), True),
        ([1.0, 1.5, 2.24], (0.0, np.inf), False),
        ([0.0, 1.0, 0.5, 1.26], (-np.inf, np.inf), True),
        ([0.0, 1.0, 0.5, 1.24], (-np.inf, np.inf), False),
        ([0.0, 0.5], [-1.0, 0.0, 1.0], True),
        ([0.0, 1.01], [-1.0, 0.0, 1.0], False),
    ],
)
def test_what_is_possible_is_decided_by_the_edges_known(mu, support, possible):
    assert is_possible(np.array(mu), support) == possible
