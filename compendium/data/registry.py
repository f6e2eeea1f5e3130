"""The registry of data sets: their files, where these come from, what they hash to."""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class DataFile:
    """One file of a data set, known by one of two hashes (see ``registry.toml``)."""

    path: str
    url: str = ""
    sha256: str = ""
    tree_sha256: str = ""
    root: str = ""

    def expected(self) -> tuple[str, str]:
        """Kind of the hash that identifies the file, and its value."""
        if self.sha256:
            return "sha256", self.sha256
        return "tree_sha256", self.tree_sha256


@dataclass(frozen=True)
class Entry:
    """What the registry knows of one data set (see ``registry.toml``)."""

    name: str
    files: tuple[DataFile, ...]
    reader: str
    source: str
    licence: str
    notes: str
    shape: tuple[int, int]
    classes: Mapping[str, int]
    labels: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """The hash of its file; of several, SHA-256 over their hashes."""
        hashes = [file.expected()[1] for file in self.files]
        if len(hashes) == 1:
            return hashes[0]
        return hashlib.sha256("".join(f"{h}\n" for h in hashes).encode()).hexdigest()


@cache
def entries() -> dict[str, Entry]:
    """All entries of ``registry.toml``, by name."""
    text = Path(__file__).with_name("registry.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    return {name: _entry(name, tables) for name in tables}


def _entry(name: str, tables: dict[str, dict[str, Any]]) -> Entry:
    facts = dict(tables[name])
    facts = tables.get(facts.pop("of", None), {}) | facts
    facts["files"] = tuple(DataFile(**file) for file in facts["files"])
    facts["shape"] = tuple(facts["shape"])
    return Entry(name=name, **facts)
