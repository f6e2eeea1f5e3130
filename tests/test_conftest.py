"""A test is left out for want of data, or it fails; so does unwritten memory."""

import numpy as np
import pytest

from tests.conftest import judged, unwritten


def report(told, **changes):
    given = {
        "nodeid": "tests/test_x.py::test_x",
        "location": ("tests/test_x.py", 1, "test_x"),
        "keywords": {},
        "outcome": "skipped",
        "longrepr": ("tests/test_x.py", 1, told),
        "when": "call",
    }
    return pytest.TestReport(**(given | changes))


def test_a_data_set_that_is_not_here_is_a_reason():
    assert judged(report("Skipped: needs colon")).skipped


@pytest.mark.parametrize("told", ["", "needs a GPU", "slow", "could not import 'a'"])
def test_nothing_else_is(told):
    found = judged(report(f"Skipped: {told}"))
    assert found.failed and told in found.longrepr


def test_an_expected_failure_is_none():
    assert judged(report("", longrepr="planted")).failed


def test_what_was_not_left_out_stays_as_it_is():
    for outcome in ("passed", "failed"):
        assert judged(report("", outcome=outcome, longrepr=None)).outcome == outcome


@pytest.mark.parametrize("create", [np.empty, lambda n: np.empty_like(np.ones(n))])
def test_arithmetic_on_unwritten_memory_is_an_error(create):
    with pytest.raises(RuntimeWarning, match="invalid value"):
        unwritten(create)(3) - 1.0


def test_all_tests_have_it():
    assert hasattr(np.empty, "__wrapped__")
    assert hasattr(np.empty_like, "__wrapped__")
