"""Digests of what a result was computed from, and so whether it is stale.

A notebook depends on its code, on the definitions of the project that it reaches (see
:mod:`compendium.build.definitions`), on the published tables that they name, on the
locked packages and on data. Neither better wording nor a definition that moves to
another module sends an hour of experiments back to the start.
"""

import hashlib
import platform
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from compendium.build.definitions import reach

NUMERICAL_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")


def digest(*parts: str | bytes) -> str:
    """SHA-256 over the parts, each preceded by its length, as 16 hex digits."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(f"{len(data)}:".encode() + data)
    return total.hexdigest()[:16]


def code_digest(
    project: Path,
    cells: Sequence[str],
    without: Iterable[str] = (),
    words: Iterable[str] = (),
) -> str:
    """Digest of cells of code, of what they reach and of the published tables named.

    Parameters
    ----------
    project : Path
        Checkout.
    cells : sequence of str
        Python.
    without : iterable of str, default=()
        Modules whose definitions are left out.
    words : iterable of str, default=()
        Words that may name a table, besides the string constants in the code.

    Returns
    -------
    str
    """
    found = reach(project, cells, without)
    tables = sorted((project / "data" / "published").glob("*.csv"))
    named = [path for path in tables if path.stem in found.strings.union(words)]
    return digest(
        digest(*found.cells),
        digest(*sorted(found.definitions)),
        digest(*sorted(found.files)),
        digest(*[part for path in named for part in (path.stem, path.read_bytes())]),
    )


def locked_versions(lock: str, names: Iterable[str]) -> dict[str, str]:
    """Versions that a requirements lock pins for some packages."""
    pins = dict(re.findall(r"(?m)^([A-Za-z0-9_.-]+)==([^\s;\\]+)", lock))
    return {name: pins[name] for name in names}


def installed_versions() -> dict[str, str]:
    """Versions of Python and the numerical packages in use now."""
    packages = {name: version(name) for name in NUMERICAL_PACKAGES}
    return {"python": platform.python_version(), "memdlib": version("memdlib")} | (
        packages
    )
