"""Where data are: files, folders of them, patterns, and addresses of other systems.

An address, such as s3://bucket/folder, is opened by fsspec, and stays text throughout:
a path would lose one of its slashes.
"""

import glob
from collections.abc import Iterable
from importlib import import_module
from os import PathLike, fspath, path
from typing import Any, BinaryIO
from urllib.request import url2pathname

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def found_files(places: str | PathLike[str] | Iterable[Any]) -> list[Any]:
    """Files that are meant, in the order of the places and then of their names.

    Parameters
    ----------
    places : path-like, or iterable of {path-like, object}
        A file, a folder, a pattern such as ``"part-*"`` or an address of one of these,
        or several. Of a folder are taken the files directly in it. Names that begin
        with a dot or an underscore, such as _SUCCESS, are left out of folders and
        patterns.

    Returns
    -------
    list
        Of str; what is no place is left as it is.

    Raises
    ------
    ImportError
        If there is an address, and fsspec or what it needs for it is not installed.
    ValueError
        If there is no file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("_SUCCESS", "part-00001.npy", "part-00000.npy"):
    ...         Path(folder, name).touch()
    ...     found = found_files(folder)
    >>> [Path(one).name for one in found]
    ['part-00000.npy', 'part-00001.npy']
    """
    kinds = str | PathLike
    given = [places] if isinstance(places, kinds) else places
    found = []
    for place in given:
        found.extend(_files(fspath(place)) if isinstance(place, kinds) else [place])
    if not found:
        raise ValueError(f"{places!r} holds no file; give at least one")
    return found


def is_address(file: str) -> bool:
    """Whether it takes fsspec to open a file.

    Parameters
    ----------
    file : str

    Returns
    -------
    bool

    Examples
    --------
    >>> is_address("s3://bucket/part-00000.npz"), is_address("part-00000.npz")
    (True, False)
    """
    return "://" in file


def open_address(address: str) -> BinaryIO:
    """Open a file for reading, by fsspec.

    Parameters
    ----------
    address : str

    Returns
    -------
    file object
    """
    system, place = _system(address)
    return system.open(place, "rb")


def load_array(file: str) -> NDArray[Any] | sparse.csr_array:
    """Array of a file .npy, or sparse matrix of a file .npz.

    Parameters
    ----------
    file : str
        As :func:`found_files` finds it.

    Returns
    -------
    ndarray, memmap or csr of shape (n, d)
        A memory map if that is possible.
    """
    if is_address(file):
        with open_address(file) as opened:
            return _loaded(opened, file, None)
    return _loaded(file, file, "r")


def _loaded(opened, file: str, mmap_mode: str | None):
    if file.endswith(".npz"):
        return sparse.load_npz(opened).tocsr()
    return np.load(opened, mmap_mode=mmap_mode, allow_pickle=False)


def _files(place: str) -> list[str]:
    if place.startswith("file://"):
        place = url2pathname(place.removeprefix("file://"))
    name, is_file, is_folder, matches = str, path.isfile, path.isdir, glob.glob
    if is_address(place):
        system, place = _system(place)
        name, matches = system.unstrip_protocol, system.glob
        is_file, is_folder = system.isfile, system.isdir
    if is_file(place):
        return [name(place)]
    if is_folder(place):
        place = f"{glob.escape(place.rstrip('/'))}/*"
    elif not glob.has_magic(place):
        return [name(place)]  # what opens it says that it is not there
    found = [one for one in matches(place) if path.basename(one)[0] not in "._"]
    return sorted(name(one) for one in found if is_file(one))


def _system(address: str) -> tuple[Any, ...]:
    """File system of an address, and the place in it."""
    try:
        return import_module("fsspec.core").url_to_fs(address)
    except ImportError as error:
        raise ImportError(
            f"{address} is opened by fsspec; that, or what it needs for such an "
            f"address, cannot be imported ({error}); install it: pip install fsspec"
        ) from error
