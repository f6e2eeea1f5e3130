"""Find the files of a registered data set, and trust them only by their hash."""

import gzip
import hashlib
import os
import tarfile
import tempfile
import warnings
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import IO

from compendium.data.registry import DataFile, Entry

TIMEOUT = (10.0, 30.0)  # seconds: to connect, and between two pieces of the answer
# An archive is known by the hash of what it holds, so that it is unpacked before it is
# trusted: this far. That of a whole repository, which holds c50, has 36,000 members.
MOST_MEMBERS = 100_000
MOST_UNPACKED = 2**30  # bytes


class DatasetError(OSError):
    """Raised if the file of a data set is missing, or not the right one."""


class MissingDataError(DatasetError):
    """The file of a data set is not on this machine and could not be downloaded."""


def locate(entry: Entry) -> list[Path]:
    """Find the files of a data set, downloading them if need be.

    Each file is looked for in the folder named by the environment variable
    ``MEMDLIB_DATA``, which is never written to; then in the cache, the folder named by
    ``MEMDLIB_CACHE`` or else the user's cache folder; then it is downloaded into the
    cache. An empty variable counts as unset. The first file found is the one that is
    used: if its hash is wrong, that is an error, and nothing is put in its place.

    Parameters
    ----------
    entry : Entry

    Returns
    -------
    list of Path
        Files whose hashes are those of ``entry.files``, in that order.

    Raises
    ------
    MissingDataError
        If a file is nowhere and cannot be downloaded.
    DatasetError
        If ``MEMDLIB_DATA`` is not a folder, or a file found has another hash.
    """
    return [_locate(file, entry.name) for file in entry.files]


def _locate(file: DataFile, dataset: str) -> Path:
    mirror = _folder("MEMDLIB_DATA")
    if mirror and not mirror.is_dir():
        raise DatasetError(
            f"MEMDLIB_DATA is {str(mirror)!r}, which is not a folder; set it to "
            "the one that holds the data files, or unset it to use cache and network"
        )
    if mirror and (mirror / file.path).is_file():
        path, remedy = mirror / file.path, "replace it, or unset MEMDLIB_DATA"
    else:
        cache = _folder("MEMDLIB_CACHE") or Path(_pooch().os_cache("memdlib"))
        path, remedy = cache / file.path, "delete it and load again"
        if not path.is_file():
            _download(file, path, dataset)
    if problem := _mismatch(path, file):
        raise DatasetError(
            f"data set {dataset!r}: {path} is corrupt or another edition: {problem}; "
            f"{remedy}"
        )
    return path


def _folder(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value).expanduser() if value else None


def _mismatch(path: Path, file: DataFile) -> str:
    """In which way a file is not the one that is meant; empty if it is."""
    kind, expected = file.expected()
    if kind == "tree_sha256":
        try:
            found = tree_sha256(read_archive(path, file.root))
        except ValueError as error:
            return str(error)
    else:
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    return "" if found == expected else f"expected {kind} {expected}, found {found}"


def _download(file: DataFile, target: Path, dataset: str) -> None:
    pooch = _pooch()
    try:
        if not file.url:
            raise ValueError("no address is known")
        pooch.retrieve(
            file.url,
            known_hash=file.sha256 or None,
            fname=target.name,
            path=target.parent,
            # Not streamed: a stream that breaks off would leave its socket open.
            downloader=pooch.HTTPDownloader(timeout=TIMEOUT, stream=False),
        )
        if problem := _mismatch(target, file):
            target.unlink()
            raise ValueError(f"what came from {file.url} does not match: {problem}")
    except (OSError, ValueError) as error:
        raise MissingDataError(
            f"data set {dataset!r}: {target.name} is not on this machine and could not "
            f"be downloaded: {error}\n"
            f"Get it from {file.url or 'wherever you have it'}, of "
            f"{' '.join(file.expected())}, and put it in {target.parent}, or set "
            f"MEMDLIB_DATA to a folder that holds {file.path}."
        ) from error


def _pooch() -> ModuleType:
    with warnings.catch_warnings():
        # tqdm, which it imports, complains in a kernel that has no ipywidgets
        warnings.simplefilter("ignore")
        import pooch
    # It announces each download on stderr, which a notebook shows as an alarm.
    pooch.get_logger().setLevel("WARNING")
    return pooch


def read_archive(path: Path, root: str = "") -> Mapping[str, bytes]:
    """Read the regular files of a tar archive that is compressed by gzip.

    Parameters
    ----------
    path : Path
    root : str, default=""
        Folder, at any depth, whose files are wanted; an archive that has no such
        folder holds nothing else, and all its files are.

    Returns
    -------
    mapping of str to bytes
        Content by name. The folders that all names begin with are left out, so that
        archives which differ in their outermost folders are the same.

    Raises
    ------
    ValueError
        If the file is not an archive, is cut off, or unpacks to more than
        `MOST_UNPACKED` bytes or `MOST_MEMBERS` members.
    """
    return _read(path, root, path.stat().st_mtime_ns)


# The newest archive is kept: a data set of many tasks is opened for each of them.
@lru_cache(maxsize=1)
def _read(path: Path, root: str, changed: int) -> Mapping[str, bytes]:
    try:
        with tempfile.TemporaryFile() as unpacked:
            _unpack(path, unpacked)
            with tarfile.open(fileobj=unpacked, mode="r:") as tar:
                members = list(_regular(tar))
                inside = [m for m in members if f"/{root}/" in f"/{m.name}"]
                wanted = inside or members
                found = {m.name: tar.extractfile(m).read() for m in wanted}
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"not a whole tar archive ({error})") from error
    depths = zip(*(name.split("/")[:-1] for name in found), strict=False)
    common = len(list(takewhile(lambda folders: len(set(folders)) == 1, depths)))
    return {"/".join(name.split("/")[common:]): found[name] for name in found}


def _unpack(path: Path, target: IO[bytes]) -> None:
    """Write what a file of gzip holds, and stop where it is too much."""
    with gzip.open(path) as packed:
        while piece := packed.read(2**20):
            target.write(piece)
            if target.tell() > MOST_UNPACKED:
                raise ValueError(f"it unpacks to more than {MOST_UNPACKED} bytes")
    target.seek(0)


def _regular(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Members that are files and as large as the bytes that stand for them."""
    for number, member in enumerate(tar, start=1):
        if number > MOST_MEMBERS:
            raise ValueError(f"it has more than {MOST_MEMBERS} members")
        # A sparse file is as large as its header says, be that a terabyte.
        if member.isreg() and not member.issparse():
            yield member


def tree_sha256(files: Mapping[str, bytes]) -> str:
    r"""SHA-256 over the lines ``<sha256 of the file>  <name>\n``, sorted by name."""
    hashes = {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}
    lines = "".join(f"{value}  {name}\n" for name, value in hashes.items())
    return hashlib.sha256(lines.encode()).hexdigest()
