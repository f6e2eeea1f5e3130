"""What an interrupted fit has summed up: one small file of arrays, no pickle.

The file ends with a digest of all that is before it, so that no damage is taken for
sums; and it holds a check sum (CRC-32) of each part of the data that was read, so that
the sums of one data set are not continued with another.
"""

import os
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Result = dict[str, NDArray]

# Mark of arrays of Python text, which a file without pickle keeps as fixed-width text.
_TEXT = "text:"
_CHECK_SUMS = "check sums:"
# Bytes of the digest of a file.
_LENGTH = 32


class Checkpoint:
    """Results of the passes that are done, and of the one that was interrupted.

    Parameters
    ----------
    path : Path
    identity : list
        What the fit depends on; a file of another identity is refused.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     old, new = (Checkpoint(Path(folder, "fit.npz"), ["fit"]) for _ in range(2))
    ...     old.load([]), old.begin(), old.save({"n": np.ones(1)}, 3)
    ...     new.load([]), new.begin()
    (None, (None, 0, False), None)
    (None, ({'n': array([1.])}, 3, False))
    """

    def __init__(self, path: Path, identity: list):
        self.path, self.identity = Path(path), identity
        self.finished: list[Result | None] = []
        self.check_sums: dict[str, dict[int, int]] = {}
        self._stored: list[tuple[Result | None, int, bool]] = []

    def load(self, more: list) -> None:
        """Read the file, if there is one.

        Parameters
        ----------
        more : list
            What else the fit depends on, known only now.

        Returns
        -------
        None

        Raises
        ------
        ValueError
            If the file is no checkpoint, is damaged, or is that of another fit.
        """
        self.identity = repr([*self.identity, *more])
        if not self.path.exists():
            return
        remedy = "remove the file, or give another one"
        try:
            raw = self.path.read_bytes()
        except OSError as error:
            raise ValueError(f"{self.path} is no checkpoint; {remedy}") from error
        body, end = raw[:-_LENGTH], raw[-_LENGTH:]
        if blake2b(body, digest_size=_LENGTH).digest() != end:
            raise ValueError(f"{self.path} is no checkpoint; {remedy}")
        with np.load(BytesIO(body), allow_pickle=False) as opened:
            stored = dict(opened)
        identity = stored.pop("identity").item()
        n_passes, done = stored.pop("place").tolist()
        if identity != self.identity:
            raise ValueError(
                f"{self.path} is the checkpoint of another fit, {identity}, not of "
                f"{self.identity}; {remedy}"
            )
        for name in [name for name in stored if name.startswith(_CHECK_SUMS)]:
            pairs = stored.pop(name).tolist()
            self.check_sums[name.removeprefix(_CHECK_SUMS)] = {
                i: one for i, one in pairs
            }
        for place in range(n_passes):
            last = place == n_passes - 1
            result = _unpacked(stored, f"{place}/")
            self._stored.append((result, done, not (last and done)))

    def begin(self) -> tuple[Result | None, int, bool]:
        """What is known of the next pass.

        Returns
        -------
        result : dict of ndarray, or None
        done : int
            Number of chunks it sums up.
        complete : bool
        """
        if not self._stored:
            return None, 0, False
        result, done, complete = self._stored.pop(0)
        if complete:
            self.finished.append(result)
        return result, done, complete

    def check(self, kind: str, place: int, X, y, weight) -> None:
        """Compare a part of the data with what it was when it was first read.

        Parameters
        ----------
        kind : str
            What it is, for the message.
        place : int
        X : {array-like, sparse matrix, table} or None
            None if it is not read.
        y, weight : array-like or None

        Returns
        -------
        None

        Raises
        ------
        ValueError
            If it had another check sum, in this fit or in the one that was interrupted.
        """
        values = {} if X is None else {"values": (X,)}
        for what, part in (values | {"labels or weights": (y, weight)}).items():
            found = self.check_sums.setdefault(f"{what} of {kind}", {})
            value = _check_sum(*part)
            if found.setdefault(place, value) != value:
                raise ValueError(
                    f"{kind} {place} has other {what} than the fit that {self.path} "
                    "keeps has read; give the data of that fit, or remove the file to "
                    "begin anew"
                )

    def save(self, result: Result | None, done: int, *, complete: bool = False) -> None:
        """Write the results; the old file stays until the new one is whole.

        Parameters
        ----------
        result : dict of ndarray, or None
            Of the pass that is being made.
        done : int
            Number of chunks it sums up.
        complete : bool, default=False
            Whether that was the last chunk.

        Returns
        -------
        None
        """
        arrays = {
            "identity": np.array(self.identity),
            "place": np.array([len(self.finished) + 1, 0 if complete else done]),
        }
        for place, values in enumerate([*self.finished, result]):
            arrays |= _packed(values, f"{place}/")
        for kind, found in self.check_sums.items():
            pairs = np.array(list(found.items()), dtype=np.uint64)
            arrays[_CHECK_SUMS + kind] = pairs
        body = BytesIO()
        np.savez(body, allow_pickle=False, **arrays)
        part = self.path.with_name(f"{self.path.name}.part")
        with part.open("wb") as file:
            file.write(body.getvalue())
            file.write(blake2b(body.getvalue(), digest_size=_LENGTH).digest())
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path)
        if complete:
            self.finished.append(result)

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)


def _check_sum(*part) -> int:
    """Check sum of type, shape and values."""
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


def _packed(result: Result | None, prefix: str) -> Result:
    found = {}
    for name, values in (result or {}).items():
        values = np.asarray(values)
        if values.dtype == object:
            name, values = _TEXT + name, np.array(values.tolist(), dtype=np.str_)
        found[prefix + name] = values
    return found


def _unpacked(arrays: Result, prefix: str) -> Result | None:
    found = {}
    for name, values in arrays.items():
        if name.startswith(prefix):
            name = name.removeprefix(prefix)
            if name.startswith(_TEXT):
                name, values = name.removeprefix(_TEXT), values.astype(object)
            found[name] = values[()]
    return found or None
