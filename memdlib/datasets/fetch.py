"""Find the files of a registered data set, and trust them only by their hash."""

import hashlib
import logging
import os
import tarfile
import tempfile
import warnings
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import ModuleType

from memdlib.datasets.registry import DataFile, Entry


def from_extra(name: str, purpose: str) -> ModuleType:
    """Import an optional package, or name the extra that installs it.

    Parameters
    ----------
    name : str
        Of the package.
    purpose : str
        What needs it, for the message.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If it is not installed; says how to install it.

    Examples
    --------
    >>> from memdlib.datasets.fetch import from_extra
    >>> from_extra("pandas", "as_frame=True").__name__
    'pandas'
    """
    try:
        with warnings.catch_warnings():
            # tqdm, which pooch imports, complains in a kernel that has no ipywidgets
            warnings.simplefilter("ignore")
            return import_module(name)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {name}, which cannot be imported ({error}); "
            "install it with: pip install 'memdlib[data]'"
        ) from error


def read_archive(path: Path, root: str = "") -> dict[str, bytes]:
    """Read the regular files of a tar archive, compressed or not.

    Parameters
    ----------
    path : Path
    root : str, default=""
        Folder, at any depth, whose files are wanted; an archive that has no such
        folder holds nothing else, and all its files are.

    Returns
    -------
    dict of str to bytes
        Content by name. The folders that all names begin with are left out, so that
        archives which differ in their outermost folders are the same.

    Raises
    ------
    ValueError
        If the file is not an archive, or is cut off.

    Examples
    --------
    >>> import io, tarfile, tempfile
    >>> from pathlib import Path
    >>> from memdlib.datasets.fetch import read_archive
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.tar")
    ...     with tarfile.open(path, "w") as tar:
    ...         for name in ("top/train/1", "top/test/2"):
    ...             info = tarfile.TarInfo(name)
    ...             info.size = 2
    ...             tar.addfile(info, io.BytesIO(b"ab"))
    ...     sorted(read_archive(path))
    ['test/2', 'train/1']
    """
    status = path.stat()
    return dict(_read(path, root, status.st_mtime_ns, status.st_size))


# The newest archive is kept: a data set of many tasks is opened for each of them.
@lru_cache(maxsize=1)
def _read(path: Path, root: str, changed: int, size: int) -> Mapping[str, bytes]:
    found = {}
    try:
        with tarfile.open(path) as tar:
            for member in tar:
                if member.isreg():
                    found[member.name] = tar.extractfile(member).read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise ValueError(f"not a whole tar archive ({error})") from error
    if root:
        inside = f"/{root.strip('/')}/"
        found = {k: v for k, v in found.items() if inside in f"/{k}"} or found
    common = len(_common_folders(list(found)))
    return {"/".join(name.split("/")[common:]): found[name] for name in found}


def tree_sha256(files: Mapping[str, bytes]) -> str:
    r"""Hash the content of an archive, whatever its packing.

    Parameters
    ----------
    files : mapping of str to bytes
        As from :func:`read_archive`.

    Returns
    -------
    str
        SHA-256 over the lines ``<sha256 of the file>  <name>\n``, sorted by name.

    Examples
    --------
    >>> from memdlib.datasets.fetch import tree_sha256
    >>> tree_sha256({"a": b"1", "b": b"2"}) == tree_sha256({"b": b"2", "a": b"1"})
    True
    """
    total = hashlib.sha256()
    for name in sorted(files):
        content = hashlib.sha256(files[name]).hexdigest()
        total.update(f"{content}  {name}\n".encode())
    return total.hexdigest()


def _common_folders(names: list[str]) -> list[str]:
    """Folders that every name begins with."""
    if not names:
        return []
    first, last = min(names).split("/")[:-1], max(names).split("/")[:-1]
    common = []
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        common.append(one)
    return common


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
