"""Load a data set by its name, wherever it lives."""

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from compendium.data import readers
from compendium.data.embedded import EMBEDDED, load_embedded
from compendium.data.fetch import DatasetError, locate
from compendium.data.registry import Entry, entries


def names() -> list[str]:
    """Names of all data sets that `load` knows, sorted."""
    return sorted([*EMBEDDED, *entries()])


def fingerprint(name: str) -> str:
    """The hash of a data set that `load` gives as ``sha256``; no file is looked at."""
    return load_embedded(name).sha256 if name in EMBEDDED else _entry(name).fingerprint


def load(name: str, **options: Any) -> Bunch:
    """Load a data set.

    Parameters
    ----------
    name : str
        One of `names`.
    **options
        Of the reader of this set. The newsgroups have ``text``, "full" (default),
        "subject" (and body) or "body"; and ``edition``, "complete" (default) or
        "paper", the copy whose two groups lack their test half. All texts have
        ``min_documents`` (default 3) and ``min_count`` (default 1): words in fewer
        documents, or with fewer occurrences, are left out.

    Returns
    -------
    Bunch
        With the fields

        X : ndarray of shape (n, d), float64
            The measurements; for texts a sparse array, counts of words; a data frame if
            some are categories.
        y : ndarray of shape (n,), int64
            The class of each sample, an index into ``target_names``.
        feature_names : ndarray of str, shape (d,)
            As in the file.
        target_names : ndarray of str, shape (K,)
            The classes: in alphabetical order, for the sets of scikit-learn in its own.
        sample_names : ndarray of str, shape (n,), or None
            None if they are not known.
        split : ndarray of {"train", "test"}, shape (n,), or None
            The part that the authors gave each sample to; None if they gave none.
        sha256 : str
            Hash of the file; of what an archive holds; of the hashes of several files.
            For the sets of scikit-learn, of the bytes of X, then y.
        name, source, licence, DESCR : str
            What the set is called, who measured it, its terms, a description.

    Raises
    ------
    ValueError
        If there is no data set of this name.
    DatasetError
        If a file of the data set cannot be had, or is not what it should be.

    Examples
    --------
    >>> from compendium.data import load
    >>> iris = load("iris")
    >>> iris.X.shape, iris.target_names.tolist()
    ((150, 4), ['setosa', 'versicolor', 'virginica'])
    """
    if name in EMBEDDED:
        return load_embedded(name, **options)
    entry = _entry(name)
    read = getattr(readers, entry.reader)
    table = read(*locate(entry), **entry.settings, **options)
    labels = [entry.labels.get(label, label) for label in table.labels]
    target_names, y = np.unique(np.array(labels, str), return_inverse=True)
    dense = isinstance(table.X, np.ndarray)
    bunch = Bunch(
        X=np.ascontiguousarray(table.X, np.float64) if dense else table.X,
        y=y.astype(np.int64),
        feature_names=np.array(table.feature_names, str),
        target_names=target_names,
        sample_names=table.sample_names and np.array(table.sample_names, str),
        split=table.split and np.array(table.split, str),
        sha256=entry.fingerprint,
        name=name,
        source=entry.source,
        licence=entry.licence,
        DESCR=entry.notes.strip(),
    )
    if not options:
        _refuse_other_content(entry, bunch)
    return bunch


def _entry(name: str) -> Entry:
    if name not in entries():
        raise ValueError(f"unknown data set {name!r}; there are: {', '.join(names())}")
    return entries()[name]


def _refuse_other_content(entry: Entry, bunch: Bunch) -> None:
    names, sizes = bunch.target_names.tolist(), np.bincount(bunch.y).tolist()
    found = bunch.X.shape, dict(zip(names, sizes, strict=True))
    if found != (entry.shape, entry.classes):
        raise DatasetError(
            f"data set {entry.name!r}: the reader {entry.reader!r} gives {found}; the "
            f"registry states {(entry.shape, entry.classes)}; correct the wrong one"
        )
