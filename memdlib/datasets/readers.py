"""Open the files of registered data sets: one small function per kind of file.

A reader takes the paths of the verified files and returns a `Table`. Its keyword-only
parameters are what the registry settles for the set (``settings``) and, all the others,
the options of `memdlib.datasets.load`. Packages of the extra ``data`` are imported by
the readers that need them.
"""

import gzip
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.io import arff
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from memdlib.datasets.fetch import from_extra, read_archive
from memdlib.validation import check_integer

WORD = re.compile("[a-z]{2,}")
PARTS = ("body", "subject", "full")

_SUBJECT = re.compile("^subject:(.*)$", re.IGNORECASE | re.MULTILINE)


def message_part(message: str, part: str) -> str:
    r"""Take a part of a news message.

    Parameters
    ----------
    message : str
        Headers, an empty line, the body.
    part : {"body", "subject", "full"}
        The body; the line of the subject and the body; everything.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the part has another name.

    Examples
    --------
    >>> from memdlib.datasets.readers import message_part
    >>> message = "From: a\nSubject: Cars\n\nFor sale.\n"
    >>> message_part(message, "body")
    'For sale.\n'
    >>> message_part(message, "subject")
    ' Cars\nFor sale.\n'
    """
    if part not in PARTS:
        raise ValueError(f"text={part!r} must be one of {', '.join(map(repr, PARTS))}")
    if part == "full":
        return message
    headers, _, body = message.partition("\n\n")
    if part == "body":
        return body
    subject = _SUBJECT.search(headers)
    return f"{subject[1]}\n{body}" if subject else body


def count_words(
    documents: Iterable[str], *, min_documents: int = 1, min_count: int = 1
) -> tuple[sparse.csr_array, list[str]]:
    """Count the words of documents.

    A word is a longest run of at least two of the letters a to z, in lower case, that
    is not among scikit-learn's English stop words.

    Parameters
    ----------
    documents : iterable of str, length n
    min_documents, min_count : int, default=1
        Words that are in fewer documents, or occur less often in all of them together,
        are left out.

    Returns
    -------
    counts : sparse array of shape (n, d), float64
        Columns in alphabetical order.
    words : list of str, length d

    Raises
    ------
    ValueError
        If one of the two is not a positive integer.

    Examples
    --------
    >>> from memdlib.datasets.readers import count_words
    >>> counts, words = count_words(["The car, my car.", "A bike, a car"], min_count=2)
    >>> words, counts.toarray().tolist()
    (['car'], [[2.0], [1.0]])
    """
    check_integer(min_documents, "min_documents")
    check_integer(min_count, "min_count")
    found = [Counter(WORD.findall(text.lower())) for text in documents]
    total: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    for counter in found:
        total.update(counter)
        spread.update(counter.keys())
    words = sorted(
        word
        for word, count in total.items()
        if count >= min_count
        and spread[word] >= min_documents
        and word not in ENGLISH_STOP_WORDS
    )
    return _matrix(found, words), words


def _matrix(found: Sequence[Counter], words: Sequence[str]) -> sparse.csr_array:
    column = {word: j for j, word in enumerate(words)}
    rows = [
        sorted((column[w], c) for w, c in counter.items() if w in column)
        for counter in found
    ]
    starts = np.cumsum([0] + [len(row) for row in rows])
    cells = np.array(list(chain.from_iterable(rows)), float).reshape(-1, 2)
    return sparse.csr_array(
        (cells[:, 1], cells[:, 0].astype(np.int32), starts),
        shape=(len(rows), len(words)),
    )


class Table(NamedTuple):
    """What a file holds, before the classes are numbered.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n, d)
        The measurements.
    labels : sequence of str, length n
        The class of each sample, as it is written in the file.
    feature_names : sequence of str, length d, or None
        Names of the columns; None if the file has none.
    sample_names : sequence of str, length n, or None
        Names of the rows; None if the file has none.
    split : sequence of {"train", "test"}, length n, or None
        The part that the authors gave each sample to; None if they did not.
    """

    X: np.ndarray | sparse.sparray
    labels: Sequence[str]
    feature_names: Sequence[str] | None = None
    sample_names: Sequence[str] | None = None
    split: Sequence[str] | None = None


def r_list(path: Path, *, skip: int = 0) -> Table:
    """Read an R file that holds one list with a matrix ``x`` and a factor ``y``.

    The matrix may be plain, with dimnames, or a data frame; R's automatic row numbers
    do not count as names of samples.

    Parameters
    ----------
    path : Path
        An RData file.
    skip : int, default=0
        First columns that are left out, such as control probes.

    Returns
    -------
    Table
        The matrix and the labels.
    """
    (content,) = _r_objects(path).values()
    x = content["x"]
    rows, columns = _dimnames(x)
    if rows == [str(i + 1) for i in range(len(x))]:
        rows = None
    labels = [str(label) for label in content["y"]]
    return Table(np.asarray(x)[:, skip:], labels, columns and columns[skip:], rows)


def r_train_test(path: Path, *, train: str, test: str) -> Table:
    """Read an R file that holds training and test samples as lists of their own.

    Parameters
    ----------
    path : Path
        An RData file.
    train, test : str
        Names of the two lists, each with a matrix ``x`` and a factor ``y``.

    Returns
    -------
    Table
        Training samples first.
    """
    content = _r_objects(path)
    parts = [content[train], content[test]]
    names = [_dimnames(part["x"]) for part in parts]
    sizes = [len(part["y"]) for part in parts]
    return Table(
        np.vstack([np.asarray(part["x"], float) for part in parts]),
        [str(label) for part in parts for label in part["y"]],
        names[0][1],
        [row for rows, _ in names for row in rows],
        ["train"] * sizes[0] + ["test"] * sizes[1],
    )


def r_srbct(path: Path, *, n_train: int) -> Table:
    """Read the R file of the small round blue cell tumours.

    Parameters
    ----------
    path : Path
        An RData file of the package plsgenomics.
    n_train : int
        Number of samples, the first ones, that were for training.

    Returns
    -------
    Table
        Features are named by image identifier and description of the gene.
    """
    (content,) = _r_objects(path).values()
    genes = content["gene.names"]
    names = [
        f"{image} {text}".strip()
        for image, text in zip(genes.iloc[:, 0], genes.iloc[:, 1], strict=True)
    ]
    labels = [f"{label:g}" for label in content["Y"]]
    split = ["train"] * n_train + ["test"] * (len(labels) - n_train)
    return Table(np.asarray(content["X"]), labels, names, None, split)


def csv_class_last(path: Path) -> Table:
    """Read a comma-separated file with a header, whose last column is the class.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Table
    """
    frame = _pandas().read_csv(path)
    labels = [str(label) for label in frame.iloc[:, -1]]
    return Table(frame.iloc[:, :-1].to_numpy(float), labels, list(frame.columns[:-1]))


def orange_tab(path: Path, *, n_train: int = 0) -> Table:
    """Read a tab-separated file of Orange: names, kinds and roles in three rows.

    Parameters
    ----------
    path : Path
    n_train : int, default=0
        Number of samples, the first ones, that were for training; 0 if there is no
        split.

    Returns
    -------
    Table
        Lines without a class, which some files end with, are left out.
    """
    # Names twice over must stay: pandas would number them.
    frame = _pandas().read_csv(
        path, sep="\t", header=None, dtype=str, keep_default_na=False
    )
    names, roles = frame.iloc[0], frame.iloc[2]
    target = int(np.flatnonzero(roles == "class")[0])
    rows = frame.iloc[3:]
    rows = rows[rows[target] != ""]
    labels = rows[target].tolist()
    split = ["train"] * n_train + ["test"] * (len(labels) - n_train)
    X = rows.drop(columns=target).to_numpy().astype(float)
    return Table(
        X, labels, names.drop(target).tolist(), None, split if n_train else None
    )


def tsv_genes_by_samples(path: Path) -> Table:
    """Read a tab-separated file with a row for each gene; the first row is the classes.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Table
    """
    frame = _pandas().read_csv(path, sep="\t", header=None, index_col=0, dtype=str)
    labels = frame.iloc[0].tolist()
    return Table(
        frame.iloc[1:].to_numpy().astype(float).T, labels, list(frame.index)[1:]
    )


def arff_train_test(train: Path, test: Path) -> Table:
    """Read two ARFF files, for training and testing, with the class as last column.

    Parameters
    ----------
    train, test : Path

    Returns
    -------
    Table
        Training samples first.
    """
    parts = [arff.loadarff(path)[0] for path in (train, test)]
    *names, target = parts[0].dtype.names
    split = ["train"] * len(parts[0]) + ["test"] * len(parts[1])
    X = np.vstack([np.column_stack([part[j] for j in names]) for part in parts])
    labels = [label.decode() for part in parts for label in part[target]]
    return Table(X, labels, names, None, split)


def idx_images(*paths: Path) -> Table:
    """Read the four files of MNIST: images and labels for training, then for testing.

    Parameters
    ----------
    *paths : Path
        Gzipped IDX files of unsigned bytes.

    Returns
    -------
    Table
        Pixels row by row, from 0 to 255, named by row and column.
    """
    images, labels = [_idx(p) for p in paths[::2]], [_idx(p) for p in paths[1::2]]
    height, width = images[0].shape[1:]
    return Table(
        np.vstack([part.reshape(len(part), -1) for part in images]).astype(float),
        [str(label) for part in labels for label in part],
        [f"pixel {i},{j}" for i in range(height) for j in range(width)],
        None,
        ["train"] * len(labels[0]) + ["test"] * len(labels[1]),
    )


def newsgroups(
    path: Path,
    *,
    groups: dict[str, list[str]],
    damaged: Sequence[str],
    text: str = "full",
    edition: str = "complete",
    min_documents: int = 3,
    min_count: int = 1,
) -> Table:
    """Read news messages of some groups as counts of words.

    Parameters
    ----------
    path : Path
        Archive with a folder for each half and group.
    groups : dict
        The groups that make up each class.
    damaged : sequence of str
        Groups that lack their test half in the paper's copy.
    text : {"full", "subject", "body"}, default="full"
        What is read of a message: all of it, subject and body, or the body.
    edition : {"complete", "paper"}, default="complete"
        All messages, or those of the paper's copy.
    min_documents, min_count : int, default=3 and 1
        Words in fewer messages, or with fewer occurrences in all, are left out.

    Returns
    -------
    Table
        Messages in the order of half, group and number.
    """
    if edition not in ("complete", "paper"):
        raise ValueError(f"edition={edition!r} must be 'complete' or 'paper'")
    class_of = {group: name for name, members in groups.items() for group in members}
    messages = []
    for name, content in read_archive(path, "data/20ng").items():
        half, group, number = name.split("/")[-3:]
        split = "test" if half.endswith("test") else "train"
        gone = edition == "paper" and group in damaged and split == "test"
        if group in class_of and not gone:
            place = (split == "test", group, int(number))
            messages.append((place, message_part(content.decode("latin-1"), text)))
    messages.sort()
    texts = (text for _, text in messages)
    X, words = count_words(texts, min_documents=min_documents, min_count=min_count)
    return Table(
        X,
        [class_of[group] for (_, group, _), _ in messages],
        words,
        [f"{group}/{number}" for (_, group, number), _ in messages],
        ["test" if test else "train" for (test, _, _), _ in messages],
    )


def c50(path: Path, *, min_documents: int = 3, min_count: int = 1) -> Table:
    """Read the Reuter 50-50 authorship corpus as counts of words.

    Parameters
    ----------
    path : Path
        Archive with the folders C50train and C50test, one below for each author.
    min_documents, min_count : int, default=3 and 1
        Words in fewer articles, or with fewer occurrences in all, are left out.

    Returns
    -------
    Table
        Training articles first; the classes are the authors.
    """
    articles = []
    for name, content in read_archive(path, "data/ReutersC50").items():
        half, author, file = name.split("/")[-3:]
        key = (half == "C50test", author, file)
        articles.append((key, content.decode("latin-1")))
    articles.sort()
    texts = (text for _, text in articles)
    X, words = count_words(texts, min_documents=min_documents, min_count=min_count)
    return Table(
        X,
        [author for (_, author, _), _ in articles],
        words,
        [file.removesuffix("newsML.txt") for (_, _, file), _ in articles],
        ["test" if test else "train" for (test, _, _), _ in articles],
    )


def amazon_reviews(path: Path, *, min_documents: int = 3, min_count: int = 1) -> Table:
    """Read the fine food reviews as counts of words.

    Parameters
    ----------
    path : Path
        Reviews.csv with the columns Id, Score and Text.
    min_documents, min_count : int, default=3 and 1
        Words in fewer reviews, or with fewer occurrences in all, are left out.

    Returns
    -------
    Table
        "positive" are four or five stars, "negative" one or two; reviews of three
        stars are left out.
    """
    frame = _pandas().read_csv(path, usecols=["Id", "Score", "Text"])
    frame = frame[frame["Score"] != 3]
    texts = frame["Text"]
    X, words = count_words(texts, min_documents=min_documents, min_count=min_count)
    labels = np.where(frame["Score"] > 3, "positive", "negative").tolist()
    return Table(X, labels, words, [str(i) for i in frame["Id"]])


def _pandas() -> ModuleType:
    return from_extra("pandas", "reading this data set")


def _r_objects(path: Path) -> dict[str, Any]:
    rdata = from_extra("rdata", "reading an R file")
    # Files written before R 3.5 do not state their encoding.
    return rdata.read_rda(path, default_encoding="utf-8")


def _dimnames(x: Any) -> tuple[list[str] | None, list[str] | None]:
    """Names of the rows and columns of a matrix, in any of the forms rdata gives it."""
    if hasattr(x, "columns"):  # a data frame of pandas
        axes = [x.index, x.columns]
    elif hasattr(x, "indexes"):  # an array of xarray
        # Not `coords`, which numbers from 0 a dimension that has no names.
        axes = [x.indexes.get(dimension) for dimension in x.dims]
    else:
        axes = [None, None]
    rows, columns = (
        None if axis is None else [str(name) for name in axis.values] for axis in axes
    )
    return rows, columns


def _idx(path: Path) -> np.ndarray:
    """Unsigned bytes of a gzipped IDX file, in the shape that its header states."""
    content = gzip.decompress(path.read_bytes())
    _, _, kind, n_axes = content[:4]
    if kind != 8:
        raise ValueError(f"{path.name} holds values of kind {kind}, not unsigned bytes")
    start = 4 + 4 * n_axes
    shape = np.frombuffer(content[4:start], ">i4")
    return np.frombuffer(content[start:], np.uint8).reshape(shape)


READERS: dict[str, Callable[..., Table]] = {
    reader.__name__: reader
    for reader in (
        r_list,
        r_train_test,
        r_srbct,
        csv_class_last,
        orange_tab,
        tsv_genes_by_samples,
        arff_train_test,
        idx_images,
        newsgroups,
        c50,
        amazon_reviews,
    )
}
