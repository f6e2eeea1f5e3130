"""Registered data sets for tests, which do without where these are not at hand."""

import os
from pathlib import Path

import pytest

from compendium.data import load
from compendium.data.embedded import EMBEDDED
from compendium.data.registry import entries


def at_hand(name):
    """Whether the files of a set are in the mirror; nothing is downloaded."""
    folder = os.environ.get("MEMDLIB_DATA")
    return name in EMBEDDED or (
        bool(folder)
        and all(Path(folder, file.path).is_file() for file in entries()[name].files)
    )


def skip_without(name):
    """Leave the test out if a data set is not at hand."""
    if not at_hand(name):
        pytest.skip(f"needs {name}")


def load_or_skip(name, **options):
    """Load a data set, or leave the test out."""
    skip_without(name)
    return load(name, **options)
