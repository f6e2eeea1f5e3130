"""The registry is complete, and a file is known by a whole hash."""

import re
from pathlib import PurePosixPath

from compendium.data import readers
from compendium.data.embedded import EMBEDDED
from compendium.data.registry import entries

LENGTHS = {"sha256": (64, 64), "tree_sha256": (64, 64), "git_blob_sha1": (7, 40)}


def test_every_entry_is_complete():
    assert not entries().keys() & EMBEDDED.keys()
    for entry in entries().values():
        for file in entry.files:
            given = (file.sha256, file.tree_sha256, file.git_blob_sha1)
            assert sum(map(bool, given)) == 1
            kind, value = file.expected()
            least, most = LENGTHS[kind]
            assert re.fullmatch(f"[0-9a-f]{{{least},{most}}}", value)
            assert not file.url or file.url.startswith("https://")
            path = PurePosixPath(file.path)  # stays in the data folder
            assert not path.is_absolute() and ".." not in path.parts
        assert callable(getattr(readers, entry.reader))
        if entry.shape is not None:
            assert sum(entry.classes.values()) == entry.shape[0]
            assert set(entry.labels.values()) <= entry.classes.keys()
        assert entry.source and entry.licence and entry.notes
