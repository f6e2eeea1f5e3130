"""The registry is complete, and a file is known by a whole hash."""

import re
from pathlib import PurePosixPath

from compendium.data import readers
from compendium.data.embedded import EMBEDDED
from compendium.data.registry import entries


def test_every_entry_is_complete():
    assert not entries().keys() & EMBEDDED.keys()
    for entry in entries().values():
        for file in entry.files:
            assert bool(file.sha256) != bool(file.tree_sha256)
            assert re.fullmatch("[0-9a-f]{64}", file.expected()[1])
            assert not file.url or file.url.startswith("https://")
            path = PurePosixPath(file.path)  # stays in the data folder
            assert not path.is_absolute() and ".." not in path.parts
        assert callable(getattr(readers, entry.reader))
        assert sum(entry.classes.values()) == entry.shape[0]
        assert set(entry.labels.values()) <= entry.classes.keys()
        assert entry.source and entry.licence and entry.notes
