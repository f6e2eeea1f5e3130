"""Load a data set by its name, wherever it lives."""

import difflib
import inspect
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from memdlib.datasets.embedded import EMBEDDED, load_embedded
from memdlib.datasets.fetch import DatasetError, content_hash, from_extra, locate
from memdlib.datasets.readers import READERS, Table
from memdlib.datasets.registry import Entry, entries


def names() -> list[str]:
    """Return the names of all data sets that `load` knows.

    Returns
    -------
    list of str
        Sorted; those of scikit-learn and those of the registry.

    Examples
    --------
    >>> from memdlib.datasets import names
    >>> names()[1]
    'breast_cancer'
    """
    return sorted([*EMBEDDED, *entries()])


def fingerprint(name: str) -> str:
    """Return the hash of a data set without reading it.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    str
        The ``sha256`` of what `load` returns.

    Raises
    ------
    ValueError
        If there is no data set of this name.
    DatasetError
        If its files cannot be had, or are not what they should be.

    Examples
    --------
    >>> from memdlib.datasets import fingerprint, load
    >>> fingerprint("iris") == load("iris").sha256
    True
    """
    if name in EMBEDDED:
        return load_embedded(name).sha256
    return content_hash(_entry(name))


def load(
    name: str, *, return_X_y: bool = False, as_frame: bool = False, **options: Any
) -> Bunch | tuple[Any, ...]:
    """Load a data set, in the manner of scikit-learn's loaders.

    Parameters
    ----------
    name : str
        One of `names`.
    return_X_y : bool, default=False
        Return X and y alone.
    as_frame : bool, default=False
        Give X as a data frame of pandas and y as a series, both indexed by
        ``sample_names`` if these are known. Counts of words become sparse columns.
    **options
        Options of this data set, if it has any. The newsgroups have ``text``, "full"
        (default), "subject" (and body) or "body"; and ``edition``, "complete"
        (default) or "paper", the copy whose two groups lack their test half. All
        texts have ``min_documents`` (default 3) and ``min_count`` (default 1): words
        in fewer documents, or with fewer occurrences, are left out.

    Returns
    -------
    Bunch, or tuple (X, y) with ``return_X_y``
        With the fields

        X : ndarray of shape (n, d), float64; or data frame
            The measurements; for texts a sparse array, counts of words.
        y : ndarray of shape (n,), int64; or series named "target"
            The class of each sample, an index into ``target_names``.
        frame : data frame of shape (n, d + 1), or None
            X and y side by side; None without ``as_frame``.
        feature_names : ndarray of str, shape (d,)
            As in the file; ``feature0000`` and so on if it has none.
        target_names : ndarray of str, shape (K,)
            The classes: in alphabetical order, for the sets of scikit-learn in its own.
        sample_names : ndarray of str, shape (n,), or None
            None if they are not known.
        split : ndarray of {"train", "test"}, shape (n,), or None
            The part that the authors gave each sample to; None if they gave none.
        sha256 : str
            Hash of the file; of what an archive holds; of the hashes of several files.
            For the sets of scikit-learn, that of the bytes of X, then y, as
            little-endian 64-bit floats and integers.
        name, source, licence, DESCR : str
            What the set is called, who measured it, its terms, a description.

    Raises
    ------
    ValueError
        If there is no data set of this name.
    TypeError
        If the data set has no such option.
    DatasetError
        If the file of the data set cannot be had, or is not what it should be.
    ImportError
        If a package of the extra ``data`` is needed and not installed.

    Examples
    --------
    >>> from memdlib.datasets import load
    >>> iris = load("iris")
    >>> iris.X.shape, iris.target_names.tolist()
    ((150, 4), ['setosa', 'versicolor', 'virginica'])
    >>> X, y = load("iris", return_X_y=True, as_frame=True)
    >>> X.columns.tolist()[:2], y.name
    (['sepal length (cm)', 'sepal width (cm)'], 'target')
    """
    if name in EMBEDDED:
        _refuse_unknown_options(name, options, [])
        bunch = load_embedded(name)
    else:
        bunch = _load_registered(name, options)
    bunch.frame = None
    if as_frame:
        _turn_into_frames(bunch)
    return (bunch.X, bunch.y) if return_X_y else bunch


def _load_registered(name: str, options: dict[str, Any]) -> Bunch:
    entry = _entry(name)
    reader = READERS[entry.reader]
    options_of_reader = set(inspect.getfullargspec(reader).kwonlyargs)
    _refuse_unknown_options(name, options, options_of_reader - set(entry.settings))
    paths = locate(entry)
    bunch = _bunch(entry, reader(*paths, **entry.settings, **options))
    if not options:
        _refuse_other_content(entry, bunch)
    return bunch


def _turn_into_frames(bunch: Bunch) -> None:
    pandas = from_extra("pandas", "as_frame=True")
    of_sparse, of_dense = pandas.DataFrame.sparse.from_spmatrix, pandas.DataFrame
    build = of_sparse if sparse.issparse(bunch.X) else of_dense
    bunch.X = build(bunch.X, bunch.sample_names, bunch.feature_names)
    bunch.y = pandas.Series(bunch.y, bunch.X.index, name="target")
    bunch.frame = pandas.concat([bunch.X, bunch.y], axis=1)


def _entry(name: str) -> Entry:
    registry = entries()
    if name not in registry:
        raise ValueError(_unknown_name(name))
    return registry[name]


def _bunch(entry: Entry, table: Table) -> Bunch:
    X = table.X
    if not sparse.issparse(X):
        X = np.ascontiguousarray(X, dtype=np.float64)
    classes = [entry.labels.get(label, label) for label in table.labels]
    target_names, y = np.unique(np.array(classes, str), return_inverse=True)
    feature_names = table.feature_names
    if feature_names is None:
        feature_names = [f"feature{j:04d}" for j in range(X.shape[1])]
    return Bunch(
        X=X,
        y=y.astype(np.int64),
        feature_names=np.array(feature_names, str),
        target_names=target_names,
        sample_names=_names(table.sample_names),
        split=_names(table.split),
        sha256=content_hash(entry),
        name=entry.name,
        source=entry.source,
        licence=entry.licence,
        DESCR=entry.description(),
    )


def _names(names: Sequence[str] | None) -> np.ndarray | None:
    return None if names is None else np.array(names, str)


def _refuse_unknown_options(
    name: str, options: dict[str, Any], known: Collection[str]
) -> None:
    unknown = sorted(options.keys() - set(known))
    if unknown:
        takes = ", ".join(sorted(known)) if known else "no options"
        raise TypeError(
            f"unknown option {', '.join(unknown)} for the data set {name!r}, "
            f"which takes {takes}"
        )


def _unknown_name(name: str) -> str:
    nearest = difflib.get_close_matches(str(name).lower(), names(), n=1)
    guess = f"; did you mean {nearest[0]!r}?" if nearest else "."
    return f"unknown data set {name!r}{guess} There are: {', '.join(names())}"


def _refuse_other_content(entry: Entry, bunch: Bunch) -> None:
    sizes = np.bincount(bunch.y, minlength=len(bunch.target_names)).tolist()
    classes = dict(zip(bunch.target_names.tolist(), sizes, strict=True))
    if entry.shape is None:
        return
    if bunch.X.shape != entry.shape or classes != entry.classes:
        raise DatasetError(
            f"data set {entry.name!r}: the reader {entry.reader!r} gives X of shape "
            f"{bunch.X.shape} and the classes {classes}; the registry states "
            f"{entry.shape} and {dict(entry.classes)}; correct the one that is wrong"
        )
