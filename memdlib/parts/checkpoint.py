"""What an interrupted fit has summed up: one small file of arrays, no pickle."""

import os
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Result = dict[str, NDArray]

# Mark of arrays of Python text, which a file without pickle keeps as fixed-width text.
_TEXT = "text:"


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
            If the file is no checkpoint, or that of another fit.
        """
        self.identity = repr([*self.identity, *more])
        if not self.path.exists():
            return
        remedy = "remove the file, or give another one"
        try:
            with self.path.open("rb") as opened:
                stored = dict(np.load(opened, allow_pickle=False))
            identity = stored.pop("identity").item()
            n_passes, done = stored.pop("place").tolist()
        except (zipfile.BadZipFile, ValueError, KeyError, EOFError, OSError) as error:
            raise ValueError(f"{self.path} is no checkpoint; {remedy}") from error
        if identity != self.identity:
            raise ValueError(
                f"{self.path} is the checkpoint of another fit, {identity}, not of "
                f"{self.identity}; {remedy}"
            )
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
        part = self.path.with_name(f"{self.path.name}.part")
        with part.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path)
        if complete:
            self.finished.append(result)

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)


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
