"""Verify a release: that it is the one that was released, and that it is whole.

Anybody can do this who has Python 3.11 and this file::

    python3 verify.py ARCHIVE [DIGEST]

``DIGEST`` is the SHA-256 of the archive as it was published apart from it, or a file
that begins with it. The archive is only read: nothing is unpacked, nothing is written.
"""

import gzip
import hashlib
import re
import sys
import tarfile
import zlib
from pathlib import Path, PurePosixPath
from typing import BinaryIO

SUMS = "SHA256SUMS"
FILE_MODES = (0o644, 0o755)
FOLDER_MODE = 0o755
WITHOUT_DIGEST = """.
That proves only that the archive is whole: who changes a file can change its sum.
It is the archive that was released if this SHA-256 was published apart from it:
{}
To compare them: DIGEST=..."""
_SHOWN = 20  # problems that are printed
_PIECE = 2**20


class Contents:
    """What an archive holds, and what of it no release has.

    Attributes
    ----------
    sums : dict of str to str
        SHA-256 of each file, by its name below the folder that holds all.
    folders : set of str
        Names of the folders below that one.
    listed : dict of str to str
        What the file of sums says.
    problems : list of str
    """

    def __init__(self) -> None:
        self.sums: dict[str, str] = {}
        self.folders: set[str] = set()
        self.listed: dict[str, str] = {}
        self.problems: list[str] = []
        self._top = ""

    def add(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        """Take in a member: a file, a folder, or what should not be there."""
        path = PurePosixPath(member.name)
        top = path.parts[0] if path.parts else ""
        self._top = self._top or top
        if ".." in path.parts or path.is_absolute() or top != self._top:
            self.problems.append(f"{member.name} lies outside of the folder")
            return
        name = str(path.relative_to(self._top))
        if name in self.sums or name in self.folders:
            self.problems.append(f"{name} is there twice")
        elif member.isdir():
            self.folders.add(name)
            self._check_mode(name, member.mode, (FOLDER_MODE,))
        elif member.isreg() and not member.issparse():
            self._check_mode(name, member.mode, FILE_MODES)
            self.sums[name] = hashlib.file_digest(
                tar.extractfile(member), "sha256"
            ).hexdigest()
            if name == SUMS:
                self._read_sums(tar.extractfile(member).read())
        else:
            self.problems.append(f"{name} is neither a file nor a folder")

    def _check_mode(self, name: str, mode: int, allowed: tuple[int, ...]) -> None:
        if mode not in allowed:
            usual = " or ".join(f"{one:o}" for one in allowed)
            self.problems.append(f"{name} has mode {mode:o}; a release has {usual}")

    def _read_sums(self, content: bytes) -> None:
        lines = content.decode("utf-8", "replace").splitlines()
        for number, line in enumerate(lines, start=1):
            parts = re.fullmatch("([0-9a-f]{64})  (.+)", line)
            if parts is None or parts[2] in self.listed:
                problem = f"line {number} of {SUMS} is not the sum of one more file"
                self.problems.append(problem)
            else:
                self.listed[parts[2]] = parts[1]

    def compare(self) -> None:
        """Add what is not as the file of sums says."""
        checksums = {name: value for name, value in self.sums.items() if name != SUMS}
        if SUMS not in self.sums:
            self.problems.append(f"there is no {SUMS}")
            return
        for name, value in checksums.items():
            if name not in self.listed:
                self.problems.append(f"{name} was added: no sum names it")
            elif self.listed[name] != value:
                self.problems.append(f"{name} was changed: its sum is another")
        for name in self.listed.keys() - checksums.keys():
            self.problems.append(f"{name} is missing")
        parents = {str(p) for name in self.sums for p in PurePosixPath(name).parents}
        for name in self.folders - parents:
            self.problems.append(f"{name} was added: a folder that holds nothing")


def read(stream: BinaryIO) -> Contents:
    """Read a compressed archive to its very end.

    Raises
    ------
    ValueError
        If it is no archive, or is cut off.
    """
    contents = Contents()
    try:
        with gzip.open(stream) as unpacked, tarfile.open(fileobj=unpacked) as tar:
            for member in tar:
                contents.add(tar, member)
            unpacked.seek(tar.offset)
            while piece := unpacked.read(_PIECE):
                if piece.strip(b"\0"):
                    contents.problems.append("something follows the end of the archive")
                    break
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"it is not a whole archive: {error}") from error
    contents.compare()
    return contents


def digest_of(given: str) -> str:
    """The digest that is given, as it is or in a file.

    Raises
    ------
    ValueError
        If it is neither.
    """
    text = given
    if Path(given).is_file():
        with Path(given).open(encoding="utf-8") as stream:
            text = stream.readline()
    match = re.match(r"([0-9a-fA-F]{64})(\s|$)", text)
    if match is None:
        raise ValueError(
            f"DIGEST is {given!r}, which is neither the 64 digits of a SHA-256 nor a "
            "file that begins with them"
        )
    return match[1].lower()


def verify(archive: Path, digest: str) -> tuple[list[str], str]:
    """Problems of an archive, and what can be said if there are none.

    Parameters
    ----------
    archive : Path
    digest : str
        SHA-256 that it should have; empty if none is known.

    Raises
    ------
    ValueError
        If the archive cannot be read, or is not the one that was released.
    """
    if not archive.is_file():
        raise ValueError("there is no such file; name an archive by FILE=...")
    with archive.open("rb") as stream:
        computed = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest and digest != computed:
            raise ValueError(
                "this is not what was released: "
                f"its SHA-256 is {computed}, not {digest}"
            )
        stream.seek(0)
        contents = read(stream)
    said = f"all {len(contents.listed)} files are as {SUMS} in the archive says"
    if digest:
        said += f", and the archive is the one of DIGEST, {digest}"
    else:
        said += WITHOUT_DIGEST.format(computed)
    return contents.problems, said


def main(arguments: list[str]) -> int:
    """Verify the archive that is named; return an exit status."""
    if not 1 <= len(arguments) <= 2:
        print(__doc__)
        return 2
    name, *given = arguments
    try:
        problems, said = verify(Path(name), digest_of(given[0]) if given else "")
    except (ValueError, OSError) as error:
        problems = [str(error)]
    if not problems:
        print(f"{name}: {said}")
        return 0
    print(f"{name}: do not use this")
    for problem in sorted(problems)[:_SHOWN]:
        print(f"  {problem}")
    if len(problems) > _SHOWN:
        print(f"  and {len(problems) - _SHOWN} more")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
