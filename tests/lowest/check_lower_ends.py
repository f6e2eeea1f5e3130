"""``make test-lowest`` tests with the lower ends that pyproject.toml declares."""

from importlib.metadata import version

import pytest
from packaging.specifiers import SpecifierSet

from tests.wheel import ranges


@pytest.mark.parametrize("requirement", ranges(), ids=str)
def test_the_lower_end_is_installed(requirement):
    """Not a later version, because another package asks for it or none is older."""
    assert requirement.specifier == SpecifierSet(f">={version(requirement.name)}")
