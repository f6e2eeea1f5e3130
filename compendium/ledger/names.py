"""Printed names: what pages call the data sets, methods, sources and rows of tables.

Files, results and anchors have identifiers; a reader sees the names of ``names.toml``
and nowhere an identifier.
"""

import tomllib
from pathlib import Path

_LISTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

DATA_SETS = _LISTED["data_sets"]
FILES = _LISTED["files"]
METHODS = _LISTED["methods"]
COLUMNS = _LISTED["columns"]
# All of them together.
NAMES = {key: name for part in _LISTED.values() for key, name in part.items()}
