"""Digests of what a result was computed from, and so whether it is stale.

A notebook depends on its code, on the definitions of the project that it reaches (see
:mod:`compendium.build.provenance.definitions`), on the published tables that they
name, on the locked packages and on data. Neither better wording nor a definition that
moves to another module sends an hour of experiments back to the start.
"""

import hashlib
import os
import platform
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from threadpoolctl import threadpool_info

from compendium.build.provenance.definitions import reach

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
        Words that may name a table or the entry of a registry, besides the string
        constants in the code.

    Returns
    -------
    str
    """
    words = set(words)
    found = reach(project, cells, without, words)
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
    """Versions of Python, of memdlib and of all it needs to compute, in use now."""
    found, waiting = {"python": platform.python_version()}, ["memdlib"]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found:
            continue
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue  # optional, and not here
        needed = [Requirement(text) for text in requires(name) or ()]
        extras = ("data",) if name == "memdlib" else ("",)
        waiting += [
            part.name
            for part in needed
            if not part.marker
            or any(part.marker.evaluate({"extra": e}) for e in extras)
        ]
    return found


def machine() -> dict[str, str | int | list[str]]:
    """Processor, its cores, system, and the libraries of linear algebra in use now."""
    info = Path("/proc/cpuinfo")
    models = re.findall(
        r"model name\s*: (.*)", info.read_text() if info.exists() else ""
    )
    return {
        "processor": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "blas": sorted(
            f"{part['internal_api']} {part['version']}, {part['architecture']}"
            for part in threadpool_info()
            if part["user_api"] == "blas"
        ),
    }
