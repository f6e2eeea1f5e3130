"""A release made twice with equal bytes, and the way from it to a checked book.

The second release is made elsewhere: in a clone in another folder, rendered and printed
anew, in another time zone and locale, with other hashes of strings and without a
network. Then a stranger is played who has the archive and a Python.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from compendium.artifact.release import archive_path

ELSEWHERE = {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "2"}
HERE = {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"}
# Before a command: it sees no network but the loopback, which the printer needs.
ALONE = ("unshare", "--map-root-user", "--net", "sh", "-c")
ALONE += ('ip link set lo up && exec "$@"', "sh")
# Minutes in which a stranger is to have the table, and a book to compare.
PATIENCE = 60


def called(command: list[str], folder: Path, **environment: str) -> str:
    """What a command prints; a failure says it, too."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}")
    return done.stdout


def made_elsewhere(project: Path, folder: Path) -> Path:
    """Clone, render, print and release in another folder; the archive."""
    clone = folder / "an other folder" / "clone"
    called(["git", "clone", "-q", str(project), str(clone)], project)
    for step in ("render", "pdf", "article", "release"):
        command = [*ALONE, sys.executable, "-m", "compendium", step]
        called(command, clone, PYTHONPATH=str(clone), **ELSEWHERE)
    return archive_path(clone)


def differing(first: Path, second: Path) -> list[str]:
    """Names of the files that two archives do not share, or hold with other bytes."""
    contents = []
    for path in (first, second):
        with tarfile.open(path) as archive:
            files = {
                m.name: archive.extractfile(m).read() for m in archive if m.isreg()
            }
        contents.append(files)
    one, other = contents
    return sorted(name for name in one | other if one.get(name) != other.get(name))


def followed(archive: Path, folder: Path) -> tuple[dict[str, float], str]:
    """Seconds of each step of a stranger, and the table."""
    took: dict[str, float] = {}
    python = getattr(sys, "_base_executable", sys.executable)

    def step(name: str, command: list[str], place: Path) -> str:
        start = time.perf_counter()
        said = called(command, place)
        took[name] = round(time.perf_counter() - start, 1)
        return said

    step("unpack the archive", ["tar", "-xzf", str(archive)], folder)
    (inside,) = (path for path in folder.iterdir() if path.is_dir())
    table = step(
        "print the verified table",
        [*ALONE, python, "-I", "verify_release.py", str(archive)],
        inside,
    )
    (source,) = (inside / "dist").glob("*.tar.gz")
    step("unpack the source", ["tar", "-xzf", str(source)], folder)
    checkout = folder / source.name.removesuffix(".tar.gz")
    step("make setup", ["make", "setup", f"PYTHON={python}"], checkout)
    step("make book", ["make", "book"], checkout)  # fails if an output differs
    return took, table


def measure(project: Path) -> dict:
    """Figures of both; needs ``make book pdf article``, and a clean checkout."""
    if called(["git", "status", "--porcelain", "--untracked-files=no"], project):
        raise RuntimeError("commit first: a clone has only what is committed")
    called([sys.executable, "-m", "compendium", "release"], project, **HERE)
    first = archive_path(project)
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        second = made_elsewhere(project, Path(scratch))
        equal = first.read_bytes() == second.read_bytes()
        other = [] if equal else differing(first, second)
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        took, table = followed(first, Path(scratch))
    rows = [line.rsplit(maxsplit=2) for line in table.splitlines()[1:-1]]
    return {
        "bytes": first.stat().st_size,
        "equal": equal,
        "differing": other,
        "steps": took,
        "table": {name: [int(looked), int(wrong)] for name, looked, wrong in rows},
    }
