"""Find the files of a registered data set, and trust them only by their hash."""

import hashlib
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import ModuleType

from memdlib.datasets.archives import read_archive, tree_sha256
from memdlib.datasets.extra import from_extra
from memdlib.datasets.registry import DataFile, Entry

DATA_VARIABLE = "MEMDLIB_DATA"
CACHE_VARIABLE = "MEMDLIB_CACHE"
TIMEOUT = (10.0, 30.0)  # seconds: to connect, and between two pieces of the answer


class DatasetError(OSError):
    """Raised if the file of a data set is missing, unreadable or not the right one.

    The message says what was looked for, where, and what to do.
    """


class MissingDataError(DatasetError):
    """The file of a data set is not on this machine and could not be downloaded."""


def locate(entry: Entry) -> list[Path]:
    """Return the verified files of a data set, downloading them if need be.

    Each file is looked for in the folder named by the environment variable
    ``MEMDLIB_DATA``, which is never written to; then in the cache, the folder named by
    ``MEMDLIB_CACHE`` or else the user's cache folder; then it is downloaded into the
    cache. An empty variable counts as unset. The first file found is the one that is
    used: if its hash is wrong, that is an error, and nothing is put in its place.

    Parameters
    ----------
    entry : Entry
        The data set, from `memdlib.datasets.registry.entries`.

    Returns
    -------
    list of Path
        Files whose hashes are those of ``entry.files``, in that order.

    Raises
    ------
    MissingDataError
        If a file is nowhere and cannot be downloaded.
    DatasetError
        If a variable names something other than a folder, a file found is corrupt or
        unreadable, or its path leads out of the data folder.
    ImportError
        If it is not in the folder of ``MEMDLIB_DATA`` and pooch is not installed.

    Examples
    --------
    >>> import hashlib, os, tempfile
    >>> from dataclasses import replace
    >>> from pathlib import Path
    >>> from unittest import mock
    >>> from memdlib.datasets.fetch import locate
    >>> from memdlib.datasets.registry import DataFile, entries
    >>> tiny = DataFile("tiny.csv", sha256=hashlib.sha256(b"1,2").hexdigest())
    >>> entry = replace(entries()["colon"], files=(tiny,))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "tiny.csv").write_bytes(b"1,2")
    ...     with mock.patch.dict(os.environ, MEMDLIB_DATA=folder):
    ...         locate(entry)[0].name
    'tiny.csv'
    """
    return [_locate(file, entry.name) for file in entry.files]


def content_hash(entry: Entry) -> str:
    """Return one hash for the content of a data set, whose files must be at hand.

    Parameters
    ----------
    entry : Entry

    Returns
    -------
    str
        The hash of its file or archive; of several files, SHA-256 over their hashes; of
        a file that each user brings along, what it is found to be.

    Raises
    ------
    DatasetError
        As from :func:`locate`.
    """
    found = []
    for file, path in zip(entry.files, locate(entry), strict=True):
        kind, value = file.expected()
        found.append(value if kind.endswith("sha256") else _sha256(path))
    if len(found) == 1:
        return found[0]
    return hashlib.sha256("".join(f"{h}\n" for h in found).encode()).hexdigest()


def cache_folder() -> Path:
    """Return the folder that downloads are kept in; it need not exist yet.

    Returns
    -------
    Path
        The folder named by ``MEMDLIB_CACHE``, else the user's cache folder of memdlib.

    Raises
    ------
    DatasetError
        If ``MEMDLIB_CACHE`` names something that is not a folder.

    Examples
    --------
    >>> import os
    >>> from unittest import mock
    >>> from memdlib.datasets.fetch import cache_folder
    >>> with mock.patch.dict(os.environ, MEMDLIB_CACHE="kept"):
    ...     cache_folder().name
    'kept'
    """
    folder = _folder_from(CACHE_VARIABLE)
    if folder is None:
        return Path(_pooch().os_cache("memdlib"))
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise DatasetError(
            f"{CACHE_VARIABLE} is {str(folder)!r}, which is not a folder; set it to a "
            "folder that memdlib may write to, or unset it"
        )
    return folder


def _locate(file: DataFile, dataset: str) -> Path:
    _refuse_escape(file, dataset)
    mirror = _mirror_folder()
    if mirror is not None and _verified(
        mirror / file.path,
        file,
        dataset,
        f"replace it{f' by the file from {file.url}' if file.url else ''}, or unset "
        f"{DATA_VARIABLE}",
    ):
        return mirror / file.path
    cache, remedy = cache_folder(), "delete the file and load again"
    if not _verified(cache / file.path, file, dataset, remedy):
        _download(file, dataset, cache)
    return cache / file.path


def _mirror_folder() -> Path | None:
    folder = _folder_from(DATA_VARIABLE)
    if folder is None or os.path.isdir(folder):
        return folder
    problem = "is not a folder" if os.path.lexists(folder) else "does not exist"
    raise DatasetError(
        f"{DATA_VARIABLE} is {str(folder)!r}, which {problem}; set it to the folder "
        "that holds the data files, or unset it to use the cache and the network"
    )


def _folder_from(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(os.path.expanduser(value)) if value else None


def _refuse_escape(file: DataFile, dataset: str) -> None:
    posix, windows = PurePosixPath(file.path), PureWindowsPath(file.path)
    inside = not (posix.is_absolute() or windows.anchor or ".." in windows.parts)
    if not inside or not posix.parts:
        raise DatasetError(
            f"data set {dataset!r}: the registry's file {file.path!r} must be a "
            "relative path that stays in the data folder"
        )


def _verified(path: Path, file: DataFile, dataset: str, remedy: str) -> bool:
    """Whether the file is there; raises if it is there but is not the right one."""
    try:
        problem = _mismatch(path, file)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise DatasetError(
            f"data set {dataset!r}: {path} cannot be read ({error.strerror})"
        ) from error
    if problem:
        raise DatasetError(
            f"data set {dataset!r}: {path} is corrupt or another edition: {problem}; "
            f"{remedy}"
        )
    return True


def _mismatch(path: Path, file: DataFile) -> str:
    """Say in which way a file is not the one that is meant; empty if it is."""
    kind, expected = file.expected()
    if kind == "tree_sha256":
        with open(path, "rb"):
            pass  # an absent or unreadable file is no damaged archive
        try:
            found = tree_sha256(read_archive(path, file.root))
        except ValueError as error:
            return str(error)
    elif kind == "git_blob_sha1":
        content = path.read_bytes()
        found = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        found = found[: len(expected)]
    else:
        found = _sha256(path)
    if kind and found != expected:
        return f"expected {kind.removeprefix('tree_')} {expected}, found {found}"
    return ""


def _sha256(path: Path) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _pooch() -> ModuleType:
    return from_extra("pooch", "looking for a data file in the cache or the network")


def _download(file: DataFile, dataset: str, cache: Path) -> None:
    pooch, target = _pooch(), cache / file.path
    try:
        if not file.url:
            raise ValueError("no address is known")
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".part-") as part:
            with _quiet(pooch.get_logger()):
                # Not streamed: a stream that breaks off would leave its socket open.
                fetched = pooch.retrieve(
                    file.url,
                    known_hash=None,
                    fname=target.name,
                    path=part,
                    downloader=pooch.HTTPDownloader(timeout=TIMEOUT, stream=False),
                )
            problem = _mismatch(Path(fetched), file)
            if problem:
                raise ValueError(f"what came from {file.url} does not match: {problem}")
            os.replace(fetched, target)
    except (OSError, ValueError) as error:
        kind, value = file.expected()
        lines = [
            f"data set {dataset!r}: {target.name} is not on this machine and could "
            f"not be downloaded: {error}",
            "Get it by other means, and load again:",
            f"  from    {file.url or 'wherever you have it'}",
            f"  {kind + '  ' + value if kind else 'any edition of the file will do'}",
            f"  put in  {target.parent}",
            f"or set {DATA_VARIABLE} to a folder that holds {file.path}.",
        ]
        raise MissingDataError("\n".join(lines)) from error


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    # Pooch announces each download on stderr, which a notebook shows as an alarm.
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
