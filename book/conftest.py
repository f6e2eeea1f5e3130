"""Stored chapters under nbval: kernels as those that stored them, and no pictures.

The bytes of a picture are those of a processor; the data that it plots are its text.
"""

import os
import tempfile
from pathlib import Path

from compendium.build.notebooks import kernel_environment

_profile = tempfile.TemporaryDirectory(prefix="memdlib-")  # as long as this process
os.environ |= kernel_environment(Path(_profile.name))  # which kernels inherit


def pytest_collectstart(collector):
    """Leave out of the comparison what nbval does not: drawings."""
    if getattr(collector, "path", None) and collector.path.suffix == ".ipynb":
        collector.skip_compare += ("image/svg+xml",)
