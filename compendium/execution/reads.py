"""What a chapter reads while it runs, as the interpreter tells it.

A kernel calls :func:`record` before its first cell; :func:`digests` of what it has
written down say later whether the chapter would come out as it did.
"""

import os
import sys
from collections.abc import Iterable
from hashlib import sha256
from importlib.util import source_from_cache
from pathlib import Path

# Products and tools of a checkout; none of them is a source of a chapter.
_NOT_SOURCES = {".git", ".venv", "_build"}


def record(log: str, project: str) -> None:
    """Write down, a line each, the files of a checkout that this process reads.

    Parameters
    ----------
    log : str
        File for the lines.
    project : str
        Folder of the checkout.
    """
    seen = set()

    def listen(event: str, arguments: tuple) -> None:
        if event != "open" or not isinstance(arguments[0], str | os.PathLike):
            return
        path = os.path.abspath(arguments[0])
        mode = arguments[1]
        is_read = mode is None or set(mode).isdisjoint("wax+")
        if is_read and path.startswith(project + os.sep) and path not in seen:
            seen.add(path)
            with Path(log).open("a", encoding="utf-8") as lines:
                lines.write(f"{path}\n")

    sys.addaudithook(listen)


def recorded(log: Path, project: Path) -> list[str]:
    """Paths in the checkout that a process has written down, sorted.

    A module that was read as bytecode counts as its source.
    """
    if not log.is_file():
        return []
    names = set()
    for line in log.read_text(encoding="utf-8").splitlines():
        path = Path(line)
        if path.suffix == ".pyc":
            path = Path(source_from_cache(line))
        name = path.relative_to(project)
        if path.is_file() and name.parts[0] not in _NOT_SOURCES:
            names.add(str(name))
    return sorted(names)


def digests(project: Path, names: Iterable[str]) -> dict[str, str]:
    """Hash of each file, empty for one that is gone."""
    hashes = {}
    for name in names:
        path = project / name
        content = path.read_bytes() if path.is_file() else None
        hashes[name] = "" if content is None else sha256(content).hexdigest()
    return hashes
