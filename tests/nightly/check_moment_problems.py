"""A thousand random moment problems on each support; run by ``make test-nightly``."""

import pytest

from tests.densities.moment_problems import SUPPORTS, outcomes


@pytest.mark.parametrize("name", SUPPORTS)
def test_no_random_problem_is_answered_wrongly(name):
    found = outcomes(name, 1000)
    assert found["wrong"] == found["refused wrongly"] == 0, found
    assert found["matched"] > 500
