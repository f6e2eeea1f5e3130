"""What is done with one part of the data, and how the results of two parts add.

A result is a dictionary of small arrays, so that it can be sent, added in a tree, or
written to a checkpoint. A part without rows of positive weight has none.

Rows are set aside by their keyed hash, where nobody holds all rows at once. In memory
the rows of a class are put in the order of their hash, and cut at given shares of the
weight (:func:`memdlib.holdout.content_positions`). The same cuts are
found here without sorting all rows: a histogram of the hashes says in which narrow
bucket each cut lies, and the few hashes of these buckets say where. A row then knows
its fold by itself.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets

from memdlib._types import MatrixLike
from memdlib.families import Family
from memdlib.generative.marginals import family_moments
from memdlib.holdout import RowKeys, Spread
from memdlib.moments import ClassMoments, JointMoments, joint_moments, leave_one_out
from memdlib.validation import check_sample_weight, labelled_batch

Array = NDArray[np.float64]
Words = NDArray[np.uint64]

# Of the hashes, by their first 12 bits.
N_BUCKETS, _SHIFT = 2**12, np.uint64(52)

# Where no row lies beyond a cut; a row has this hash with probability 2^-128.
_END = np.iinfo(np.uint64).max


@dataclass(frozen=True)
class Shares:
    """Where each class is cut: at shares of its weight.

    Parameters
    ----------
    scale : float
    thresholds : tuple of float
        A row at position p lies beyond those cuts whose threshold p * scale reaches.
    n_held_out : int
        Folds that are held out, the first ones.

    Examples
    --------
    >>> Shares.of(0.2)
    Shares(scale=1.0, thresholds=(0.2,), n_held_out=1)
    >>> Shares.of(3)
    Shares(scale=3, thresholds=(1, 2), n_held_out=3)
    """

    scale: float
    thresholds: tuple[float, ...]
    n_held_out: int

    @classmethod
    def of(cls, validation: float) -> "Shares":
        """Cuts of the parameter ``validation``: one share, or folds."""
        if validation < 1:
            return cls(1.0, (validation,), 1)
        n_folds = int(validation)
        return cls(n_folds, tuple(range(1, n_folds)), n_folds)

    @classmethod
    def of_folds(cls, validation: float, share: float, sample: float = 0.0) -> "Shares":
        """Cuts into the folds of :func:`memdlib.holdout.folds`, and a sample.

        Parameters
        ----------
        validation : float
        share : float
            Of the rows that are held out at most.
        sample : float, default=0.0
            Share of the rows that make the next fold, which is not held out.

        Returns
        -------
        Shares

        Examples
        --------
        >>> Shares.of_folds(5, 0.3)
        Shares(scale=5.0, thresholds=(1, 2), n_held_out=2)
        >>> Shares.of_folds(5, 0.125, 0.25)
        Shares(scale=8.0, thresholds=(1, 3.0), n_held_out=1)
        """
        once = validation < 1
        scale = max(1.0 / validation if once else float(validation), 1.0 / share)
        enough = math.ceil(min(share, 1.0) * scale - 1e-9)
        n_held_out = 1 if once else min(int(validation), enough)
        cuts = [*range(1, n_held_out + 1)]
        if sample:
            cuts.append(n_held_out + sample * scale)
        return cls(scale, tuple(c for c in cuts if c < scale), n_held_out)

    def buckets(self, histogram: Array) -> NDArray[np.intp]:
        """Buckets in which the cuts lie.

        Parameters
        ----------
        histogram : ndarray of shape (K, N_BUCKETS)
            Weight of the rows of each class by :func:`bucket`, as :class:`Hashes`
            finds it.

        Returns
        -------
        ndarray of shape (K, B)
        """
        upto = np.cumsum(histogram, axis=1)
        reached = upto / upto[:, -1:] * self.scale
        at = [(reached >= t).argmax(axis=1) for t in self.thresholds]
        return np.stack(at, axis=1)


@dataclass(frozen=True)
class HashCuts:
    """Hashes at which the rows of each class are cut into folds.

    Parameters
    ----------
    keys : RowKeys
        Hashes of the rows.
    first, second : ndarray of shape (K, B)
        A row lies beyond a cut if its two hashes do, in lexicographic order.
    n_held_out : int
        Of the B + 1 folds, the first ones.
    """

    keys: RowKeys
    first: Words
    second: Words
    n_held_out: int

    @classmethod
    def find(
        cls,
        keys: RowKeys,
        shares: Shares,
        histogram: Array,
        border: dict[str, NDArray[Any]],
    ) -> "HashCuts":
        """Cuts from the weights of the buckets and the rows in those that matter.

        Parameters
        ----------
        keys : RowKeys
        shares : Shares
        histogram : ndarray of shape (K, N_BUCKETS)
        border : dict of ndarray of shape (g,)
            "code", "first", "second" and "size": class, hashes and weight of the
            groups of equal rows in the buckets of the cuts, in this order, as
            :class:`Border` finds them.

        Returns
        -------
        HashCuts
        """
        upto = np.cumsum(histogram, axis=1)
        buckets = shares.buckets(histogram)
        found = np.full((2, *buckets.shape), _END, dtype=np.uint64)
        for (k, b), j in np.ndenumerate(buckets):
            own = (border["code"] == k) & (bucket(border["first"]) == j)
            size = border["size"][own]
            before = np.cumsum(size) - 0.5 * size + (upto[k, j - 1] if j else 0.0)
            beyond = before / upto[k, -1] * shares.scale >= shares.thresholds[b]
            if beyond.any():
                at = np.flatnonzero(own)[beyond.argmax()]
                found[:, k, b] = border["first"][at], border["second"][at]
            elif j + 1 < N_BUCKETS:  # the next bucket begins beyond the cut
                found[:, k, b] = np.uint64(j + 1) << _SHIFT, 0
        return cls(keys, *found, shares.n_held_out)

    def up_to(self, n_cuts: int) -> "HashCuts":
        """The first cuts alone."""
        first, second = self.first[:, :n_cuts], self.second[:, :n_cuts]
        return replace(self, first=first, second=second)

    def folds(self, X: MatrixLike, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Fold of each row.

        Parameters
        ----------
        X : ndarray or csr of shape (n, d)
            Observed rows.
        codes : ndarray of shape (n,)

        Returns
        -------
        ndarray of int of shape (n,)
        """
        first = self.keys.first(X)
        cut = self.first[codes]
        beyond = first[:, None] > cut
        equal = first[:, None] == cut
        rows = np.flatnonzero(equal.any(axis=1))
        if rows.size:
            second = self.keys.second(X[rows])
            beyond[rows] |= equal[rows] & (second[:, None] >= self.second[codes[rows]])
        return beyond.sum(axis=1)


def bucket(first: Words) -> NDArray[np.intp]:
    """Bucket of a first hash."""
    return (first >> _SHIFT).astype(np.intp)


def merged_groups(border: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Rows of equal class and hashes as one, in the order of these.

    Parameters
    ----------
    border : dict of ndarray
        Of rows, or of groups of rows.

    Returns
    -------
    dict of ndarray
    """
    keys = [border[name] for name in ("second", "first", "code")]
    order = np.lexsort(keys)
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([key[order[1:]] != key[order[:-1]] for key in keys], axis=0)
    found = {name: values[order][new] for name, values in border.items()}
    group = np.cumsum(new) - 1
    found["size"] = np.bincount(group, border["size"][order], len(found["code"]))
    return found


Result = dict[str, NDArray]


class Pass(ABC):
    """One pass over the parts; it is sent to where they are."""

    name = "pass"
    needs_X = True

    def of(
        self, X: MatrixLike | None, y: ArrayLike, weight: ArrayLike | None
    ) -> Result | None:
        """Result of one part.

        Parameters
        ----------
        X : {array-like, sparse matrix, table} of shape (n, d) or None
            None where the pass does without.
        y : array-like of shape (n,)
        weight : array-like of shape (n,) or None

        Returns
        -------
        dict of ndarray, or None
            None if no row has a positive weight.
        """
        y = np.asarray(y)
        if X is not None:
            check_rows(X, y)
        if weight is not None:
            weight = np.asarray(weight, dtype=np.float64)
            if weight.shape == y.shape and not weight.any():
                return None
        return self._of(X, y, weight) if len(y) else None

    @abstractmethod
    def _of(self, X, y, weight) -> Result:
        """Result of a part that has rows."""

    def add(self, a: Result | None, b: Result | None) -> Result | None:
        """Result of two parts together.

        Parameters
        ----------
        a, b : dict of ndarray, or None

        Returns
        -------
        dict of ndarray, or None
        """
        if a is None or b is None:
            return b if a is None else a
        return self._add(a, b)

    def _add(self, a: Result, b: Result) -> Result:
        return {name: a[name] + b[name] for name in a}


class Parts(ABC):
    """Data in parts, over which passes are made."""

    @abstractmethod
    def template(self) -> Any:
        """Return a row of X, with the names of its columns if it has any."""

    @abstractmethod
    def reduce(self, work: Pass) -> Result | None:
        """Make one pass.

        Parameters
        ----------
        work : Pass

        Returns
        -------
        dict of ndarray, or None
            Sum of the results of all parts.
        """

    @abstractmethod
    def reduce_strips(self, work: Pass, shape: tuple[int, int]) -> Result | None:
        """Make one pass over strips of columns, each with all rows.

        Parameters
        ----------
        work : StripPass
        shape : tuple of int
            Numbers of rows of positive weight and of features.

        Returns
        -------
        dict of ndarray, or None
            Sum of the results of all strips, in the order of the columns.
        """


@dataclass(frozen=True)
class Survey(Pass):
    """Classes, their weights and numbers of rows."""

    name = "classes"
    needs_X = False

    def _of(self, X, y, weight):
        y = column_or_1d(y)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        weight = check_sample_weight(weight, len(y))
        y, weight = y[weight > 0], weight[weight > 0]
        classes, codes = np.unique(y, return_inverse=True)
        K = len(classes)
        return {
            "classes": classes,
            "weight": np.bincount(codes, weight, K),
            "rows": np.bincount(codes, minlength=K),
        }

    def _add(self, a, b):
        texts = [part["classes"].dtype.kind in "OSUT" for part in (a, b)]
        if texts[0] != texts[1]:
            one, other = (part["classes"].tolist()[0] for part in (a, b))
            raise ValueError(
                f"some labels are text, some are numbers ({one!r}, {other!r}); "
                "make them all one or the other"
            )
        classes = np.unique(np.concatenate([a["classes"], b["classes"]]))
        found = {"classes": classes}
        for name in a.keys() - {"classes"}:
            total = np.zeros((len(classes), *a[name].shape[1:]))
            for part in (a, b):
                total[np.searchsorted(classes, part["classes"])] += part[name]
            found[name] = total
        return found


@dataclass(frozen=True)
class Reader:
    """How the rows of a part are read, where the classes are known.

    Parameters
    ----------
    estimator : estimator
        Unfitted, but for what it knows of the features.
    classes : ndarray of shape (K,)
    by_class : ndarray of shape (K,), default=None
        Factors of the weights.
    family : Family, default=None
        Its way to see rows; None takes them as they are.
    cuts : HashCuts, default=None
        Into folds.
    """

    estimator: object
    classes: NDArray
    by_class: Array | None = None
    family: Family | None = None
    cuts: HashCuts | None = None

    @property
    def n_folds(self) -> int:
        """One if there are no cuts."""
        return 1 if self.cuts is None else self.cuts.first.shape[1] + 1

    def rows(self, X: Any, y: ArrayLike, weight: ArrayLike | None) -> tuple[Any, ...]:
        """Observed rows of positive weight, their class indices and weights."""
        sparse_too = get_tags(self.estimator).input_tags.sparse
        X, codes, weight, _ = labelled_batch(
            self.estimator, X, y, weight, None, self.classes, sparse_too=sparse_too
        )
        X = X if self.family is None else self.family.observe(X)
        return X, codes, self.weighted(codes, weight)

    def weighted(self, codes: NDArray[np.intp], weight: Array) -> Array:
        """Weights times the factors of their classes."""
        return weight if self.by_class is None else weight * self.by_class[codes]

    def folded(self, X: Any, y: ArrayLike, weight: ArrayLike | None) -> tuple[Any, ...]:
        """The same, and the fold of each row."""
        X, codes, weight = self.rows(X, y, weight)
        if self.cuts is None:
            return X, codes, weight, np.zeros(len(codes), dtype=np.intp)
        return X, codes, weight, self.cuts.folds(X, codes)


@dataclass(frozen=True)
class Spreads(Pass):
    """Means and variances of the columns, by which rows are hashed.

    Parameters
    ----------
    reader : Reader
    """

    reader: Reader
    name = "spread"

    def _of(self, X, y, weight):
        X, _, weight = self.reader.rows(X, y, weight)
        return vars(Spread.of(X, weight))

    def _add(self, a, b):
        return vars(Spread(**a).merge(Spread(**b)))


@dataclass(frozen=True)
class Hashes(Pass):
    """Weight of the rows of each class in each bucket of hashes.

    Parameters
    ----------
    reader : Reader
    keys : RowKeys
    """

    reader: Reader
    keys: RowKeys
    name = "hashes"

    def _of(self, X, y, weight):
        X, codes, weight = self.reader.rows(X, y, weight)
        cell = codes * N_BUCKETS + bucket(self.keys.first(X))
        size = len(self.reader.classes) * N_BUCKETS
        found = np.bincount(cell, weights=weight, minlength=size)
        return {"weight": found.reshape(-1, N_BUCKETS)}


@dataclass(frozen=True)
class Border(Pass):
    """Hashes of the rows next to the cuts.

    Parameters
    ----------
    reader : Reader
    buckets : ndarray of shape (K, B)
    keys : RowKeys
    """

    reader: Reader
    buckets: NDArray[np.intp]
    keys: RowKeys
    name = "rows set aside"

    def _of(self, X, y, weight):
        X, codes, weight = self.reader.rows(X, y, weight)
        first = self.keys.first(X)
        near = (bucket(first)[:, None] == self.buckets[codes]).any(axis=1)
        return merged_groups(
            {
                "code": codes[near],
                "first": first[near],
                "second": self.keys.second(X[near]),
                "size": weight[near],
            }
        )

    def _add(self, a, b):
        both = {name: np.concatenate([a[name], b[name]]) for name in a}
        return merged_groups(both)


@dataclass(frozen=True)
class Moments(Pass):
    """Moments of each fold and class: those of a family, or joint ones.

    Parameters
    ----------
    reader : Reader
        The moments are those of its family; joint ones if it has none.
    """

    reader: Reader
    name = "moments"

    def _of(self, X, y, weight):
        weighted = weight is not None
        X, codes, weight, fold = self.reader.folded(X, y, weight)
        K = len(self.reader.classes)
        found = self._sums(X, fold * K + codes, self.reader.n_folds * K, weight)
        rows = np.bincount(codes, minlength=K)
        return {**found, "rows": rows, "weighted": np.bool_(weighted)}

    def _sums(self, X, cell, n_cells, weight) -> Result:
        if self.reader.family is None:
            return vars(joint_moments(X, cell, n_cells, sample_weight=weight))
        return vars(family_moments(self.reader.family, X, cell, n_cells, weight))

    def _add(self, a, b):
        moments = self.of_result(a).merge(self.of_result(b))
        rows = a["rows"] + b["rows"]
        weighted = a["weighted"] | b["weighted"]
        return {**vars(moments), "rows": rows, "weighted": weighted}

    def of_result(self, result: Result) -> ClassMoments:
        """Moments that a result holds.

        Parameters
        ----------
        result : dict of ndarray

        Returns
        -------
        ClassMoments
        """
        kind = JointMoments if self.reader.family is None else ClassMoments
        return kind(*(result[name] for name in ("weight", "sums", "location")))


@dataclass(frozen=True)
class Accuracy(Pass):
    """Weight of the rows set aside, and of those classified correctly.

    Parameters
    ----------
    reader : Reader
    models : tuple of {MarginalModel, WhitenedMeans} or None
        Entry f does not know fold f; None where that is not to be tested.
    grid : ndarray of int of shape (G,)
    """

    reader: Reader
    models: tuple
    grid: NDArray[np.intp]
    name = "accuracy"

    def _of(self, X, y, weight):
        X, codes, weight, fold = self.reader.folded(X, y, weight)
        correct, tested = np.zeros(len(self.grid)), np.float64(0.0)
        for f, model in enumerate(self.models):
            test = np.flatnonzero(fold == f)
            if model is not None and test.size:
                part = X[test], codes[test], weight[test]
                correct += model.correct_weight(*part, self.grid)
                tested += part[-1].sum()
        return {"correct": correct, "tested": tested}


@dataclass(frozen=True)
class Together(Pass):
    """Several passes as one.

    Parameters
    ----------
    works : tuple of Pass
    """

    works: tuple[Pass, ...]

    @property
    def name(self) -> str:
        return self.works[0].name

    def _of(self, X, y, weight):
        return self._joined([work.of(X, y, weight) for work in self.works])

    def _add(self, a, b):
        both = zip(self.works, self.results(a), self.results(b), strict=True)
        return self._joined([work.add(*parts) for work, *parts in both])

    def _joined(self, results) -> Result:
        return {
            f"{i}/{name}": values
            for i, result in enumerate(results)
            for name, values in (result or {}).items()
        }

    def results(self, found: Result) -> list[Result | None]:
        """Result of each pass."""
        own = [{} for _ in self.works]
        for name, values in found.items():
            i, _, name = name.partition("/")
            own[int(i)][name] = values
        return [result or None for result in own]


# A fit as the passes it asks for: it is sent the result of each, and returns its own.
Plan = Generator[Pass, Result, object]


def side_by_side(
    steps: dict[Hashable, Generator],
    answers: Callable[[dict[Any, Any]], dict[Any, Any]],
) -> dict[Any, Any]:
    """What generators return that wait for answers, all of which are given at once.

    Parameters
    ----------
    steps : dict of generator
    answers : callable
        Gets what those have yielded that still go on, by their names, and returns what
        each is sent.

    Returns
    -------
    dict

    Examples
    --------
    >>> def total(n):
    ...     first = yield n
    ...     second = yield first
    ...     return first + second
    >>> side_by_side(
    ...     {"a": total(1), "b": total(2)},
    ...     lambda asked: {name: 10 * value for name, value in asked.items()},
    ... )
    {'a': 110, 'b': 220}
    """
    found, sent = {}, dict.fromkeys(steps)
    while sent:
        asked = {}
        for name, answer in sent.items():
            try:
                asked[name] = steps[name].send(answer)
            except StopIteration as end:
                found[name] = end.value
        sent = answers(asked) if asked else {}
    return found


def carried_out(parts: Parts, plans: Sequence[Plan]) -> list[Any]:
    """Carry out plans side by side: their first passes are one, then the second ones.

    Parameters
    ----------
    parts : Parts
    plans : sequence of generator

    Returns
    -------
    list
        What each plan returns.
    """

    def results(works):
        both = Together(tuple(works.values()))
        parted = both.results(checked_result(parts, both))
        return dict(zip(works, parted, strict=True))

    found = side_by_side(dict(enumerate(plans)), results)
    return [found[i] for i in range(len(plans))]


class FoldMoments:
    """Class moments of all rows, and of all but those of each fold.

    Parameters
    ----------
    reader : Reader
    moments : ClassMoments
        Of each fold and class.
    """

    reader: Reader
    folds: list[ClassMoments]
    others: list[ClassMoments]

    def __init__(self, reader: Reader, moments: ClassMoments) -> None:
        self.reader = reader
        self.folds = moments.split(reader.n_folds)
        self.others = leave_one_out(self.folds) if reader.n_folds > 1 else []

    def all_rows(self) -> ClassMoments:
        """Moments of all rows."""
        first = self.folds[0]
        return first.merge(self.others[0]) if self.others else first

    def other_folds(self) -> Iterator[ClassMoments | None]:
        """Moments of all rows but those of each fold that is held out, if any are."""
        for f in range(self.reader.cuts.n_held_out):
            both = self.folds[f].weight.any() and self.others[f].weight.any()
            yield self.others[f] if both else None

    def correct(
        self, parts: Parts, models: tuple[Any, ...], grid
    ) -> tuple[Array, float]:
        """Weight of the rows set aside that are classified correctly, and of all."""
        found = checked_result(parts, Accuracy(self.reader, models, grid))
        return found["correct"], found["tested"]


def checked_result(parts: Parts, work: Pass) -> Result:
    """Result of a pass, which some row must have."""
    found = parts.reduce(work)
    if found is None:
        raise ValueError("there is no row of positive weight in any part of the data")
    return found


def found_cuts(
    parts: Parts, reader: Reader, weight: Array, shares: Shares, seed: bytes
) -> HashCuts:
    """Cuts of the rows, as if all were in memory, by three passes.

    Parameters
    ----------
    parts : Parts
    reader : Reader
    weight : ndarray of shape (K,)
        Of the classes.
    shares : Shares
    seed : bytes
        Eight, the key of the hashes.

    Returns
    -------
    HashCuts
    """
    # factors of whole classes move no cut, and are left out
    plain, even = (replace(reader, by_class=f) for f in (None, 1.0 / weight))
    spread = Spread(**checked_result(parts, Spreads(even)))
    keys = RowKeys.of(np.frombuffer(seed, dtype=np.uint64), spread)
    histogram = checked_result(parts, Hashes(plain, keys))["weight"]
    border = checked_result(parts, Border(plain, shares.buckets(histogram), keys))
    return HashCuts.find(keys, shares, histogram, border)


def check_rows(X: Any, y: Any) -> None:
    """Raise ValueError if a part of X has not as many rows as it has labels."""
    if X.shape[0] != len(y):
        raise ValueError(
            f"a part has {X.shape[0]} rows of X and {len(y)} labels; both must be "
            "split alike"
        )
