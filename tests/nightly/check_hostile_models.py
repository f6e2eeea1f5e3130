"""What code lengths claim of their errors, on 500 models (``make test-nightly``)."""

import pytest

from tests.nml.hostile_models import BLOCK, outcomes


@pytest.mark.parametrize("block", range(500 // BLOCK))
def test_no_error_is_larger_than_claimed(block):
    found = outcomes(block)
    assert found.total() == BLOCK
    assert not [name for name in found if name.endswith("beyond")], found
