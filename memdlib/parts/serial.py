"""Out of core: one chunk after another in constant memory, resumed where it stopped."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from importlib.metadata import version
from itertools import islice
from numbers import Integral
from pathlib import Path

import numpy as np

from memdlib.parts.checkpoint import Checkpoint
from memdlib.parts.fit import fit_parts
from memdlib.parts.passes import Parts, Pass
from memdlib.parts.strips import StripPass, column_strips, joined
from memdlib.validation import check_integer


def fit_chunks(
    estimator,
    chunks: Iterable[tuple],
    *,
    classes=None,
    checkpoint: str | Path | None = None,
    every: int = 16,
    progress: Callable[[str, int, int | None], object] | None = None,
):
    """Fit an estimator to data that do not fit into memory.

    Parameters
    ----------
    estimator : estimator
        A MeMdClassifier, JointMaxEntClassifier, DivergenceRanker, or
        :class:`memdlib.generative.CorrelatedMeMdClassifier`.
    chunks : iterable of tuple
        (X, y) or (X, y, sample_weight) of some rows each, such as
        :class:`ArrayChunks`, :class:`ShardChunks` and :class:`TableChunks` give. It is
        read more than once, so that a generator will not do.
    classes : array-like of shape (K,), default=None
        All classes, which saves one look at the data if S is fixed.
    checkpoint : path-like, default=None
        A small file for what has been summed up so far. If it is there, the fit goes
        on from it; it is removed when the fit is done.
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
        identity = [version("memdlib"), type(estimator).__name__, params, classes]
        kept = Checkpoint(Path(checkpoint), identity)
    fitted = fit_parts(estimator, _Serial(chunks, kept, every, progress), classes)
    if kept is not None:
        kept.remove()
    return fitted


class _Serial(Parts):
    """Chunks that are read one after another."""

    def __init__(self, chunks, checkpoint, every, progress):
        if isinstance(chunks, Iterator):
            raise ValueError(
                f"chunks, a {type(chunks).__name__}, can be read only once; give a "
                "list, or an object whose __iter__ begins anew"
            )
        self.chunks, self.every, self.progress = chunks, every, progress
        self.n_chunks = len(chunks) if isinstance(chunks, Sized) else None
        self.checkpoint = checkpoint

    def template(self):
        for place, chunk in enumerate(self.chunks):
            X = chunk[0]
            if X.shape[0]:
                if self.checkpoint is not None:
                    self.checkpoint.load([self.n_chunks, X.shape[1]])
                    self.checkpoint.check("chunk", place, *_padded(chunk))
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
                    (work.strip(X, y, columns), np.asarray(y), weight)
                    for X, y, weight in map(_padded, self.chunks)
                ]
                yield work.cut(columns), joined(parts)

        return self._added(work, read, len(strips), "strip of columns")

    def _added(self, work: Pass, read: Callable, total: int | None, kind: str):
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
    return chunk if len(chunk) == 3 else (*chunk, None)


def _check_repeatable(estimator):
    """A fit that goes on must set the same rows aside."""
    auto = getattr(estimator, "n_features", None) == "auto"
    if auto and not isinstance(estimator.random_state, Integral):
        raise ValueError(
            f"random_state={estimator.random_state!r} draws other rows when the fit "
            "is resumed; with a checkpoint give an integer"
        )
