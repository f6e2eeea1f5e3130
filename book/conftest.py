"""Stored chapters under nbval: kernels as those that stored them.

nbval compares no bytes of pictures, which are those of a processor, and no metadata:
what a picture plots and what is said of it stand beside it in its data.
"""

import os
import tempfile
from pathlib import Path

from compendium.execution.notebooks import DARK, kernel_environment

_profile = tempfile.TemporaryDirectory(prefix="memdlib-")  # as long as this process
os.environ |= kernel_environment(Path(_profile.name))  # which kernels inherit


def pytest_collectstart(collector):
    """Add the pictures for dark pages to what nbval does not compare."""
    if collector.name.endswith(".ipynb"):
        collector.skip_compare += (DARK,)
