"""Small files of arrays that are whole or refused, and hold no pickle.

Each ends with a digest of all that is before it, so that no damage is taken for values,
and takes the place of the file before only when it is written.
"""

import os
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Result = dict[str, NDArray]

# Mark of arrays of Python text, which a file without pickle keeps as fixed-width text.
_TEXT = "text:"
# Bytes of the digest of a file.
_LENGTH = 32


def write_arrays(path: Path, arrays: Result) -> None:
    """Write a file; the old one stays until the new one is whole.

    Parameters
    ----------
    path : Path
    arrays : dict of ndarray
        As :func:`packed` makes them.

    Returns
    -------
    None

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_arrays(Path(folder, "a"), {"n": np.ones(2)})
    ...     read_arrays(Path(folder, "a"))
    {'n': array([1., 1.])}
    """
    body = BytesIO()
    np.savez(body, allow_pickle=False, **arrays)
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        file.write(body.getvalue())
        file.write(blake2b(body.getvalue(), digest_size=_LENGTH).digest())
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def read_arrays(path: Path) -> Result | None:
    """Read a file that :func:`write_arrays` has written.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict of ndarray, or None
        None if it is another file, or damaged.
    """
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    body, end = raw[:-_LENGTH], raw[-_LENGTH:]
    if blake2b(body, digest_size=_LENGTH).digest() != end:
        return None
    with np.load(BytesIO(body), allow_pickle=False) as opened:
        return dict(opened)


def packed(result: Result | None, prefix: str = "") -> Result:
    """Arrays of a result, text in a form that takes no pickle.

    Parameters
    ----------
    result : dict of ndarray, or None
    prefix : str, default=""
        Of the names.

    Returns
    -------
    dict of ndarray

    Examples
    --------
    >>> packed({"y": np.array(["ape"], dtype=object)})
    {'text:y': array(['ape'], dtype='<U3')}
    """
    found = {}
    for name, values in (result or {}).items():
        values = np.asarray(values)
        if values.dtype == object:
            name, values = _TEXT + name, np.array(values.tolist(), dtype=np.str_)
        found[prefix + name] = values
    return found


def unpacked(arrays: Result, prefix: str = "") -> Result | None:
    """The result that :func:`packed` has packed.

    Parameters
    ----------
    arrays : dict of ndarray
        Those whose names do not begin with the prefix are left out.
    prefix : str, default=""

    Returns
    -------
    dict of ndarray, or None
    """
    found = {}
    for name, values in arrays.items():
        if name.startswith(prefix):
            name = name.removeprefix(prefix)
            if name.startswith(_TEXT):
                name, values = name.removeprefix(_TEXT), values.astype(object)
            found[name] = values[()]
    return found or None


def check_sum(*part: Any) -> int:
    """Check sum (CRC-32) of type, shape and values.

    Parameters
    ----------
    *part : array-like, sparse matrix, table or None

    Returns
    -------
    int

    Examples
    --------
    >>> check_sum([1.0, 2.0]) == check_sum(np.array([1.0, 2.0]))
    True
    """
    found = 0
    for values in part:
        if sparse.issparse(values):
            values = values.tocsr()
            arrays = values.indptr, values.indices, values.data
        else:
            arrays = (np.asarray(values),)
        for array in arrays:
            found = crc32(f"{np.shape(values)} {array.dtype.str}".encode(), found)
            if array.dtype == object:
                found = crc32(repr(array.tolist()).encode(), found)
            else:
                flat = np.ascontiguousarray(array).reshape(-1)
                found = crc32(flat.view(np.uint8), found)
    return found
