"""Data sets put aside before any default could be fitted to them."""

import datetime
import tomllib
from pathlib import Path
from typing import NamedTuple

from compendium.project import root


class Frozen(NamedTuple):
    """What ``data/frozen.toml`` says.

    Attributes
    ----------
    date : datetime.date
        From which on the sets are put aside.
    kinds : dict
        Name of a set to its kind, as :func:`memdlib.make_memd` calls it.
    """

    date: datetime.date
    kinds: dict[str, str]


def read_frozen(project: Path | None = None) -> Frozen:
    """The sets that no default has seen, and since when."""
    listed = tomllib.loads(
        ((project or root()) / "data" / "frozen.toml").read_text(encoding="utf-8")
    )
    date = listed.pop("frozen")
    return Frozen(date, {name: entry["kind"] for name, entry in listed.items()})
