"""Out of core: one chunk after another in constant memory, resumed where it stopped.

A checkpoint is what an interrupted fit has summed up: one file of arrays, small but for
mixtures and texts, no pickle (:mod:`memdlib.parts.stored`). It holds a check sum
(CRC-32) of each part of the data that was read, so that the sums of one data set are
not continued with another.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from functools import cached_property
from importlib.metadata import version
from itertools import islice
from numbers import Integral, Number
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from memdlib._types import EstimatorT, MatrixLike
from memdlib.parts.fit import fit_parts
from memdlib.parts.stored import (
    Result,
    check_sum,
    packed,
    read_arrays,
    unpacked,
    write_arrays,
)
from memdlib.parts.wide import StripPass, column_strips, joined
from memdlib.parts.work import Parts, Pass
from memdlib.validation import check_integer

_CHECK_SUMS = "check sums:"


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

    path: Path
    identity: str | list[Any]

    def __init__(self, path: Path, identity: list[Any]) -> None:
        self.path, self.identity = Path(path), identity
        self.finished: list[Result | None] = []
        self.check_sums: dict[str, dict[int, int]] = {}
        self._stored: list[tuple[Result | None, int, bool]] = []

    def load(self, more: list[Any]) -> None:
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
        stored = read_arrays(self.path)
        if stored is None:
            raise ValueError(f"{self.path} is no checkpoint; {remedy}")
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
            result = unpacked(stored, f"{place}/")
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

    def check(
        self,
        kind: str,
        place: int,
        X: MatrixLike | None,
        y: ArrayLike | None,
        weight: ArrayLike | None,
    ) -> None:
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
            value = check_sum(*part)
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
            arrays |= packed(values, f"{place}/")
        for kind, found in self.check_sums.items():
            pairs = np.array(list(found.items()), dtype=np.uint64)
            arrays[_CHECK_SUMS + kind] = pairs
        write_arrays(self.path, arrays)
        if complete:
            self.finished.append(result)

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)


def fit_chunks(
    estimator: EstimatorT,
    chunks: Iterable[tuple[Any, ...]],
    *,
    classes: ArrayLike | None = None,
    checkpoint: str | Path | None = None,
    every: int = 16,
    progress: Callable[[str, int, int | None], object] | None = None,
) -> EstimatorT:
    """Fit an estimator to data that do not fit into memory.

    Parameters
    ----------
    estimator : estimator
        A MeMdClassifier, JointMaxEntClassifier, DivergenceRanker, or, of
        :mod:`memdlib.generative`, a CorrelatedMeMdClassifier,
        RegularisedMeMdClassifier, MixedMeMdClassifier, RidgeDiscriminantClassifier,
        DivergenceWeighter or WordCounter; or a pipeline of these and of steps that
        learn nothing. So are those of :func:`memdlib.make_memd`.
    chunks : iterable of tuple
        (X, y) or (X, y, sample_weight) of some rows, or texts, each, such as
        :class:`ArrayChunks`, :class:`ShardChunks` and :class:`TableChunks` give. It is
        read more than once, so that a generator will not do.
    classes : array-like of shape (K,), default=None
        All classes, which saves one look at the data if S is fixed.
    checkpoint : path-like, default=None
        A file for what has been summed up so far, small but for mixtures and texts. If
        it is there, the fit goes on from it; it is removed when the fit is done.
    every : int, default=16
        Chunks after which the checkpoint is written.
    progress : callable, default=None
        Called after each chunk with the name of the pass, the number of chunks done in
        it and the number there are (None if that is not known).

    Returns
    -------
    estimator
        Fitted as by ``fit`` on all rows at once, within rounding. An interrupted and
        resumed fit gives the same bits as one that was not.

    Raises
    ------
    ValueError
        If ``chunks`` can be read only once; if the checkpoint is damaged, or that of
        another fit, of other data or of another version; or if it cannot tell which
        rows are set aside (``random_state`` must be an integer then); and as ``fit``.

    Notes
    -----
    A checkpoint keeps a check sum (CRC-32) of each chunk that a pass has read. A fit
    that goes on reads again the first chunk that has a row, the last part that was
    summed up, and in each pass still to be made all chunks; it refuses any that has
    changed. Not seen are changes in a chunk that it need not read again: between these
    two, when no later pass reads it.

    The fit that knows of correlations reads the chunks three times where there are no
    fewer rows than features. Where there are fewer it takes four passes over strips of
    columns, as wide as four million entries of all rows allow, and each strip is cut
    from all chunks: give it memory maps (:class:`ArrayChunks`), of which a strip reads
    no more than itself.

    Mixtures of candidates, and so ``make_memd("expression")`` and
    ``make_memd("table")``, gather rows: up to 20,000 all, which are fitted by ``fit``;
    of more those that are held out, the same as in ``fit`` (ten thousand from 50,000
    rows on, twenty thousand at most), and ten thousand others, all as doubles, in the
    checkpoint too. Splines and kernels of candidates then learn knots and landmarks
    from these others, so that they differ from those of ``fit`` as samples do; all else
    is found from all rows, without a warning of lone values. The data are read five
    times for that, and twice for the moments of all candidates; each set of d features
    holds a matrix d x d, one more for each fold that is held out, and K times as many
    if class covariances are tried. A candidate that chooses ``n_features="auto"`` takes
    six passes of its own for each of these, and needs no fewer rows than features if it
    knows of correlations.

    Weights count in each step of a pipeline.

    A RidgeDiscriminantClassifier, and so ``make_memd("text")``, gathers the rows held
    out, the same as in ``fit``, up to 10,000 or a few more. The data are read five
    times before the choice, with :class:`memdlib.generative.DivergenceWeighter` in
    front six times, and from strings once more for their words; after that once for
    each product of the features, as many as the slowest of all folds and powers takes
    to choose, and as many as the last fit takes: some dozens in all. A basis of each
    fold and power is held, of features x classes x products doubles, and once more in
    the checkpoint, which is not small then, written anew with each pass, and may take
    longer than the fit. Coefficients are those of ``fit`` within
    ``tol``, and within rounding where rows are more than features. Strings are counted
    anew in each pass, which counts in files save.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from memdlib import MeMdClassifier
    >>> from memdlib.parts import ArrayChunks
    >>> X, y = load_iris(return_X_y=True)
    >>> model = fit_chunks(MeMdClassifier(random_state=0), ArrayChunks(X, y, rows=40))
    >>> model.n_selected_ == MeMdClassifier(random_state=0).fit(X, y).n_selected_
    True
    """
    check_integer(every, "every")
    kept = None
    if checkpoint is not None:
        _check_repeatable(estimator)
        params = sorted(estimator.get_params(deep=False).items())
        params = [(name, _shown(value)) for name, value in params]
        identity = [version("memdlib"), type(estimator).__name__, params, classes]
        kept = Checkpoint(Path(checkpoint), identity)
    fitted = fit_parts(estimator, _Serial(chunks, kept, every, progress), classes)
    if kept is not None:
        kept.remove()
    return fitted


class _Serial(Parts):
    """Chunks that are read one after another."""

    def __init__(self, chunks, checkpoint, every, progress) -> None:
        if isinstance(chunks, Iterator):
            raise ValueError(
                f"chunks, a {type(chunks).__name__}, can be read only once; give a "
                "list, or an object whose __iter__ begins anew"
            )
        self.chunks, self.every, self.progress = chunks, every, progress
        self.n_chunks = len(chunks) if isinstance(chunks, Sized) else None
        self.checkpoint = checkpoint

    def template(self):
        return self._first_row

    @cached_property
    def _first_row(self):
        for place, chunk in enumerate(self.chunks):
            X, *labels = _padded(chunk)
            if X.shape[0]:
                if self.checkpoint is not None:
                    self.checkpoint.load([self.n_chunks, *X.shape[1:]])
                    self.checkpoint.check("chunk", place, X, *labels)
                return X[:1]
        raise ValueError("there is no row in any chunk")

    def reduce(self, work: Pass):
        def read(start):
            for X, y, weight in map(_padded, self._from(start)):
                yield work, (X if work.needs_X else None, y, weight)

        return self._added(work, read, self.n_chunks, "chunk")

    def reduce_strips(self, work: StripPass, shape):
        n, d = shape
        strips = column_strips(n, d)

        def read(start):
            for columns in strips[start:]:
                parts = [
                    (work.strip(X, y, columns), y, weight)
                    for X, y, weight in map(_padded, self.chunks)
                ]
                yield work.cut(columns), tuple(map(joined, zip(*parts, strict=True)))

        return self._added(work, read, len(strips), "strip of columns")

    def _added(
        self, work: Pass, read: Callable[..., Any], total: int | None, kind: str
    ):
        found, done = None, 0
        if self.checkpoint is not None:
            found, done, complete = self.checkpoint.begin()
            if complete:
                return found
        # the last part that is summed up is read again for its check sum
        start = max(done - 1, 0)
        for place, (own, part) in enumerate(read(start), start):
            if self.checkpoint is not None:
                self.checkpoint.check(kind, place, *part)
            if place < done:
                continue
            found = work.add(found, own.of(*part))
            done = place + 1
            if self.checkpoint is not None and done % self.every == 0:
                self.checkpoint.save(found, done)
            if self.progress is not None:
                self.progress(work.name, done, total)
        if self.checkpoint is not None:
            self.checkpoint.save(found, 0, complete=True)
        return found

    def _from(self, start: int):
        if isinstance(self.chunks, Sequence):
            return (self.chunks[i] for i in range(start, len(self.chunks)))
        return islice(self.chunks, start, None)


def _padded(chunk):
    """X, labels and weights, or None for these."""
    if len(chunk) < 2 or isinstance(chunk, str):
        raise ValueError("a chunk holds rows without labels; a fit needs (X, y)")
    X, y, weight = chunk if len(chunk) == 3 else (*chunk, None)
    return X if hasattr(X, "shape") else np.array(X, dtype=object), y, weight


def _shown(value):
    """A parameter, or a digest of it: an estimator in print leaves settings out."""
    plain = value is None or isinstance(value, str | Number)
    return value if plain else joblib.hash(clone(value, safe=False))


def _check_repeatable(estimator):
    """A fit that goes on must set the same rows aside."""
    if isinstance(estimator, Pipeline):
        for _, step in estimator.steps:
            _check_repeatable(step)
        return
    asked = {} if isinstance(estimator, str) else estimator.get_params(deep=False)
    draws = "random_state" in asked and asked.get("n_features", "auto") == "auto"
    if draws and not isinstance(estimator.random_state, Integral):
        raise ValueError(
            f"random_state={estimator.random_state!r} draws other rows when the fit "
            "is resumed; with a checkpoint give an integer"
        )
