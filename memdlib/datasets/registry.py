"""The registry of data sets that live in files outside the package."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class DataFile:
    """One file of a data set: where it comes from and what it must hash to.

    Parameters
    ----------
    path : str
        Path below the data folder, relative, with forward slashes.
    url : str, default=""
        Where the file is downloaded from; empty if no address is known.
    sha256 : str, default=""
        Hash of the file, in hexadecimal.
    tree_sha256 : str, default=""
        For a tar archive, hash of what it holds (see
        :func:`memdlib.datasets.fetch.tree_sha256`): any archive of the same
        documents is then the right one.
    root : str, default=""
        Folder in the archive that holds them, if it holds more.
    git_blob_sha1 : str, default=""
        Where no more is known: the hash that git gives the file, or its beginning.

    Notes
    -----
    Exactly one of the three hashes is given, except that a file which each user brings
    along, in an edition of its own, has none.

    Raises
    ------
    ValueError
        If a hash is not one: 64 hexadecimal digits, or 7 to 40 of a git blob.
    """

    path: str
    url: str = ""
    sha256: str = ""
    tree_sha256: str = ""
    root: str = ""
    git_blob_sha1: str = ""

    def __post_init__(self) -> None:
        kind, value = self.expected()
        least, most = (7, 40) if kind == "git_blob_sha1" else (64, 64)
        if kind and not re.fullmatch(f"[0-9a-f]{{{least},{most}}}", value):
            raise ValueError(
                f"the registry's file {self.path!r}: {kind}={value!r} must be from "
                f"{least} to {most} hexadecimal digits in lower case"
            )

    def expected(self) -> tuple[str, str]:
        """Return the kind of hash that identifies the file, and its value.

        Returns
        -------
        kind, value : str
            Kind "sha256", "tree_sha256" or "git_blob_sha1"; both empty if any file of
            this name will do.
        """
        for kind in ("sha256", "tree_sha256", "git_blob_sha1"):
            value = getattr(self, kind)
            if value:
                return kind, value
        return "", ""


@dataclass(frozen=True)
class Entry:
    """What the registry knows of one data set.

    Parameters
    ----------
    name : str
        Name under which the set is loaded.
    files : tuple of DataFile
        In the order in which the reader takes them.
    reader : str
        Name of the function in ``memdlib.datasets.readers`` that opens the files.
    shape : tuple of int, or None
        Samples and features, as loaded without options; None where the files were
        never at hand to count them.
    classes : mapping of str to int
        Samples per class, as loaded without options; empty where not known.
    source, licence : str
        Who measured the data, and the terms of the files.
    notes : str, default=""
        What a user of the set should know.
    labels : mapping of str to str, default={}
        Class name for each label in the file that is not itself the name.
    settings : mapping of str to anything, default={}
        Keyword arguments of the reader that belong to the set, not to the user.
    """

    name: str
    files: tuple[DataFile, ...]
    reader: str
    shape: tuple[int, int] | None
    classes: Mapping[str, int]
    source: str
    licence: str
    notes: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def description(self) -> str:
        """Return the entry as a text for readers, with a line per fact.

        Returns
        -------
        str
            Title, notes, source, licence, and address and hash of each file.
        """
        title = self.name
        if self.shape is not None:
            samples, features = self.shape
            title += f": {samples} samples, {features} features"
        if self.classes:
            sizes = ", ".join(f"{name} {size}" for name, size in self.classes.items())
            title += f", {len(self.classes)} classes ({sizes})"
        lines = [title, "", self.notes.strip(), "", f"Source:  {self.source}"]
        lines.append(f"Licence: {self.licence}")
        for file in self.files:
            kind, value = file.expected()
            lines.append(f"File:    {file.path}")
            lines.append(f"From:    {file.url or 'no address is known'}")
            lines.append(f"Hash:    {kind} {value}" if kind else "Hash:    any")
        return "\n".join(lines)


def entries() -> dict[str, Entry]:
    """Read the registry that is shipped with the package.

    Returns
    -------
    dict of str to Entry
        The entries by name.

    Examples
    --------
    >>> from memdlib.datasets.registry import entries
    >>> entries()["colon"].shape
    (62, 2000)
    """
    text = resources.files(__package__).joinpath("registry.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    return {name: _entry(name, tables) for name in tables}


def _entry(name: str, tables: dict[str, dict[Any, Any]]) -> Entry:
    facts = dict(tables[name])
    whole = facts.pop("of", None)
    if whole is not None:
        inherited = ("files", "reader", "source", "licence")
        facts = {key: tables[whole][key] for key in inherited} | facts
    shape = facts.pop("shape", None)
    return Entry(
        name=name,
        files=tuple(DataFile(**file) for file in facts.pop("files")),
        shape=None if shape is None else tuple(shape),
        classes=facts.pop("classes", {}),
        **facts,
    )
