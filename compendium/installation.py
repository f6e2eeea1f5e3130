"""Whether an environment is whole, and of these sources, this Python and this folder.

The Makefile runs this file by the interpreter of the environment, before anything is
installed that it could need: it uses the standard library alone.
"""

import argparse
import base64
import csv
import hashlib
import json
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

# Tables of a pyproject.toml that its installation depends on; others are of tools.
_INSTALLED = ("build-system", "project")

_SHOWN = 5  # files that a message names


def origin(environment: Path, sources: Sequence[Path]) -> str:
    """What an environment is made from, and where it is, as text.

    Parameters
    ----------
    environment : Path
        Its folder. Scripts in it and the path of memdlib name the place of this folder,
        so that a copy elsewhere is not an environment of its own.
    sources : sequence of Path
        A lock, a pyproject.toml.
    """
    parts = {"environment": str(environment.absolute()), "python": sys.version}
    digests = {str(path): _digest(path) for path in sources}
    return json.dumps(parts | digests, indent=1) + "\n"


def _digest(source: Path) -> str:
    """SHA-256 of a file, or of what matters of a pyproject.toml."""
    content = source.read_bytes()
    if source.suffix == ".toml":
        tables = tomllib.loads(content.decode("utf-8"))
        content = json.dumps([tables.get(name) for name in _INSTALLED]).encode()
    return hashlib.sha256(content).hexdigest()


def faults(environment: Path) -> Iterator[str]:
    """Compare every installed file with the RECORD of its package; say what is wrong.

    The file itself is read, as ``importlib.metadata`` of Python 3.12 and later leaves
    out what is missing.
    """
    for package in sorted(environment.glob("lib/*/site-packages/*.dist-info")):
        record = package / "RECORD"
        if not record.is_file():
            yield f"{record} is missing"
            continue
        with record.open(encoding="utf-8", newline="") as lines:
            for name, digest, size in csv.reader(lines):
                if fault := _fault(package.parent / name, digest, size):
                    yield f"{name} of {package.stem} {fault}"


def _fault(path: Path, digest: str, size: str) -> str:
    """What is wrong with a file; its digest and its size may be unknown, thus empty."""
    if not path.is_file():
        return "is missing"
    if size and path.stat().st_size != int(size):
        return "has another size"
    if digest:
        algorithm, _, expected = digest.partition("=")
        content = hashlib.new(algorithm, path.read_bytes()).digest()
        if base64.urlsafe_b64encode(content).decode().rstrip("=") != expected:
            return "has another content"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the mark of an environment, or measure it and write its mark.

    The exit status is 0 if it is whole and up to date. The mark is compared on every
    call of make, the files are read once, after they were installed.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["compare", "mark"])
    parser.add_argument("environment", type=Path)
    parser.add_argument("sources", type=Path, nargs="+")
    given = parser.parse_args(arguments)
    mark = given.environment / "ready"
    expected = origin(given.environment, given.sources)
    if given.command == "compare":
        same = mark.is_file() and mark.read_text(encoding="utf-8") == expected
        return 0 if same else 1
    wrong = list(faults(given.environment))
    for line in wrong[:_SHOWN]:
        print(line)
    if wrong:
        count = f"{len(wrong)} of its files"
        print(f"{given.environment} is not whole ({count}): run the same command again")
        return 1
    mark.write_text(expected, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
