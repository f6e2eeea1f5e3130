"""Find the file of a registered data set, and trust it only by its hash."""

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath

from memdlib.datasets.registry import Entry

with warnings.catch_warnings():
    # tqdm, which pooch imports, complains in a kernel that has no ipywidgets
    warnings.simplefilter("ignore")
    import pooch

DATA_VARIABLE = "MEMDLIB_DATA"
CACHE_VARIABLE = "MEMDLIB_CACHE"
TIMEOUT = (10.0, 30.0)  # seconds: to connect, and between two pieces of the answer


class DatasetError(OSError):
    """A data set cannot be had: its file is absent, unreadable or not the right one.

    The message says what was looked for, where, and what to do.
    """


class MissingDataError(DatasetError):
    """The file of a data set is not on this machine and could not be downloaded."""


def locate(entry: Entry) -> Path:
    """Return the verified file of a data set, downloading it if need be.

    The file is looked for in the folder named by the environment variable
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
    Path
        A file whose SHA-256 is ``entry.sha256``.

    Raises
    ------
    MissingDataError
        If the file is nowhere and cannot be downloaded.
    DatasetError
        If a variable names something other than a folder, the file found is corrupt or
        unreadable, or ``entry.file`` leads out of the data folder.

    Examples
    --------
    >>> import hashlib, os, tempfile
    >>> from dataclasses import replace
    >>> from pathlib import Path
    >>> from unittest import mock
    >>> from memdlib.datasets.fetch import locate
    >>> from memdlib.datasets.registry import entries
    >>> sha256 = hashlib.sha256(b"1,2").hexdigest()
    >>> entry = replace(entries()["colon"], file="tiny.csv", sha256=sha256)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "tiny.csv").write_bytes(b"1,2")
    ...     with mock.patch.dict(os.environ, MEMDLIB_DATA=folder):
    ...         locate(entry).name
    'tiny.csv'
    """
    _refuse_escape(entry)
    mirror, cache = _mirror_folder(), cache_folder()
    if mirror is not None and _verified(
        mirror / entry.file,
        entry,
        f"replace it by the file from {entry.url}, or unset {DATA_VARIABLE}",
    ):
        return mirror / entry.file
    if not _verified(cache / entry.file, entry, "delete the file and load again"):
        _download(entry, cache)
    return cache / entry.file


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
        return Path(pooch.os_cache("memdlib"))
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise DatasetError(
            f"{CACHE_VARIABLE} is {str(folder)!r}, which is not a folder; set it to a "
            "folder that memdlib may write to, or unset it"
        )
    return folder


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


def _refuse_escape(entry: Entry) -> None:
    posix, windows = PurePosixPath(entry.file), PureWindowsPath(entry.file)
    inside = not (posix.is_absolute() or windows.anchor or ".." in windows.parts)
    if not inside or not posix.parts:
        raise DatasetError(
            f"data set {entry.name!r}: the registry's file {entry.file!r} must be a "
            "relative path that stays in the data folder"
        )


def _verified(path: Path, entry: Entry, remedy: str) -> bool:
    """Whether the file is there; raises if it is there but is not the right one."""
    try:
        found = pooch.file_hash(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise DatasetError(
            f"data set {entry.name!r}: {path} cannot be read ({error.strerror})"
        ) from error
    if found != entry.sha256:
        raise DatasetError(
            f"data set {entry.name!r}: {path} is corrupt or another edition: expected "
            f"sha256 {entry.sha256}, found {found}; {remedy}"
        )
    return True


def _download(entry: Entry, cache: Path) -> None:
    # Not streamed: a stream that breaks off would leave its socket open.
    downloader = pooch.HTTPDownloader(timeout=TIMEOUT, stream=False)
    try:
        with _quiet_pooch():
            pooch.retrieve(
                entry.url,
                known_hash=f"sha256:{entry.sha256}",
                fname=entry.file,
                path=cache,
                downloader=downloader,
            )
    except (OSError, ValueError) as error:
        target = cache / entry.file
        raise MissingDataError(
            f"data set {entry.name!r}: {target.name} is not on this machine and could "
            f"not be downloaded: {error}\n"
            "Get it by other means, and load again:\n"
            f"  from    {entry.url}\n"
            f"  sha256  {entry.sha256}\n"
            f"  put in  {target.parent}\n"
            f"or set {DATA_VARIABLE} to a folder that holds {entry.file}."
        ) from error


@contextmanager
def _quiet_pooch() -> Iterator[None]:
    # Pooch announces each download on stderr, which a notebook shows as an alarm.
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
