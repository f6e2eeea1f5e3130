"""A set-up that is killed at other moments; run by ``make test-nightly``."""

import pytest

from tests.book.test_makefile import check_kill, checkout, wheels

__all__ = ["checkout", "wheels"]


@pytest.mark.parametrize(
    "pattern", ["../../../bin/python", "hatchling*/RECORD", "memdlib*"]
)
def test_a_set_up_that_is_killed_is_done_again(checkout, pattern):
    check_kill(checkout, pattern)
