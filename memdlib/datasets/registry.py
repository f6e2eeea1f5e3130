"""The registry of data sets that live in files outside the package."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources


@dataclass(frozen=True)
class Entry:
    """What the registry knows of one data set.

    Parameters
    ----------
    name : str
        Name under which the set is loaded.
    file : str
        Path of the file below the data folder, relative, with forward slashes.
    sha256 : str
        Hash of the file, in hexadecimal.
    url : str
        Where the file is downloaded from.
    reader : str
        Name of the function in ``memdlib.datasets.readers`` that opens the file.
    shape : tuple of int
        Samples and features, as loaded without options.
    classes : mapping of str to int
        Samples per class, as loaded without options.
    source, licence : str
        Who measured the data, and the terms of the file.
    notes : str, default=""
        What a user of the set should know.
    labels : mapping of str to str, default={}
        Class name for each label in the file that is not itself the name.
    """

    name: str
    file: str
    sha256: str
    url: str
    reader: str
    shape: tuple[int, int]
    classes: Mapping[str, int]
    source: str
    licence: str
    notes: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    def description(self) -> str:
        """Return the entry as a text for readers, with a line per fact."""
        samples, features = self.shape
        sizes = ", ".join(f"{name} {size}" for name, size in self.classes.items())
        return "\n".join(
            [
                f"{self.name}: {samples} samples, {features} features, "
                f"{len(self.classes)} classes ({sizes})",
                "",
                self.notes.strip(),
                "",
                f"Source:  {self.source}",
                f"Licence: {self.licence}",
                f"File:    {self.file}",
                f"From:    {self.url}",
                f"SHA-256: {self.sha256}",
            ]
        )


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
    return {
        name: Entry(name=name, **{**facts, "shape": tuple(facts["shape"])})
        for name, facts in tomllib.loads(text).items()
    }
