"""What Pyodide brings to the chapters: packages of its lock, by version and module."""

import json
import subprocess
import tarfile
from pathlib import Path

from packaging.utils import canonicalize_name

RECORD = Path(__file__).parent / "book" / "pyodide.json"


def recorded():
    """The part of a lock that the chapters need, as it was on the day it was stored."""
    return json.loads(RECORD.read_text(encoding="utf-8"))


def fetched(version, folder):
    """The lock of a release, out of the package that npm has of it."""
    command = ["npm", "pack", "--silent", f"pyodide@{version}"]
    subprocess.run(command, cwd=folder, check=True, timeout=300)
    (archive,) = folder.glob("pyodide-*.tgz")
    with tarfile.open(archive) as files:
        return json.load(files.extractfile("package/pyodide-lock.json"))


def needed(lock, names):
    """Packages of a lock that these need, themselves included, and Python's version."""
    versions, modules, waiting = {}, {}, [*names]
    while waiting:
        name = waiting.pop()
        if name not in versions:
            package = lock["packages"][name]
            versions[name] = package["version"]
            modules |= dict.fromkeys(package["imports"], name)
            waiting += map(canonicalize_name, package["depends"])
    return {
        "python": lock["info"]["python"],
        "versions": dict(sorted(versions.items())),
        "modules": dict(sorted(modules.items())),
    }
