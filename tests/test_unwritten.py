"""Arithmetic on memory that nothing was written to fails in every test."""

import numpy as np
import pytest

from tests.conftest import unwritten


@pytest.mark.parametrize("create", [np.empty, lambda n: np.empty_like(np.ones(n))])
def test_arithmetic_on_unwritten_memory_is_an_error(create):
    with pytest.raises(RuntimeWarning, match="invalid value"):
        unwritten(create)(3) - 1.0


def test_all_tests_have_it():
    assert hasattr(np.empty, "__wrapped__")
    assert hasattr(np.empty_like, "__wrapped__")
