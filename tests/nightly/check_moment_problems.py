"""A thousand random moment problems on each support; run by ``make test-nightly``."""

import pytest

from tests.densities.moment_problems import SUPPORTS, outcomes

# a determinant of moments at the very edge of what is possible underflows
pytestmark = pytest.mark.filterwarnings("ignore:divide by zero encountered in det")


@pytest.mark.parametrize("name", SUPPORTS)
def test_no_random_problem_is_answered_wrongly(name):
    found = outcomes(name, 1000)
    assert found["wrong"] == found["refused wrongly"] == 0, found
    assert found["matched"] > 300
