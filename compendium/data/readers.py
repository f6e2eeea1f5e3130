"""Open the files of registered data sets: one small function per kind of file.

A reader takes the paths of the verified files and returns a `Table`. Its keyword-only
parameters are what the registry settles for the set (``settings``) and, all the others,
the options of `compendium.data.load`.
"""

import gzip
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.io import arff
from sklearn.feature_extraction.text import CountVectorizer

from compendium.data.fetch import read_archive

WORD = re.compile("[a-z]{2,}")
_SUBJECT = re.compile("^subject:(.*)$", re.IGNORECASE | re.MULTILINE)


class Table(NamedTuple):
    """What a file holds, before the classes are numbered.

    Attributes
    ----------
    X : ndarray, sparse array or DataFrame of shape (n, d)
        The measurements; a frame if some are categories.
    labels : list of str, length n
        The class of each sample, as it is written in the file.
    feature_names : sequence of str, length d
    sample_names : list of str, length n, or None
        None if the file has none.
    split : list of {"train", "test"}, length n, or None
        The part that the authors gave each sample to; None if they did not.
    """

    X: np.ndarray | sparse.sparray | pd.DataFrame
    labels: list[str]
    feature_names: Sequence[str]
    sample_names: list[str] | None = None
    split: list[str] | None = None


def message_part(message: str, part: str) -> str:
    """Take a news message ("full"), its subject and body, or its "body"."""
    headers, _, body = message.partition("\n\n")
    subject = _SUBJECT.search(headers)
    with_subject = f"{subject[1]}\n{body}" if subject else body
    return {"full": message, "subject": with_subject, "body": body}[part]


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
    """
    what = {"token_pattern": WORD.pattern, "stop_words": "english"}
    counter = CountVectorizer(**what, min_df=min_documents, dtype=np.float64)
    counts = sparse.csr_array(counter.fit_transform(documents))
    often = np.flatnonzero(counts.sum(axis=0) >= min_count)
    counts = counts[:, often]
    counts.sort_indices()
    return counts, counter.get_feature_names_out()[often].tolist()


def r_list(path: Path, *, skip: int) -> Table:
    """One list of R with a matrix ``x``, less its first columns, and a factor ``y``."""
    (content,) = _r_objects(path).values()
    x = _frame(content["x"]).iloc[:, skip:]
    return Table(x.to_numpy(), [str(label) for label in content["y"]], list(x.columns))


def r_train_test(path: Path, *, train: str, test: str) -> Table:
    """Two lists of R, by their names, each with a matrix ``x`` and a factor ``y``."""
    content = _r_objects(path)
    parts = [content[train], content[test]]
    x = pd.concat([_frame(part["x"]) for part in parts])
    labels = [str(label) for part in parts for label in part["y"]]
    split = _split(len(labels), len(parts[0]["y"]))
    return Table(x.to_numpy(), labels, list(x.columns), list(x.index), split)


def r_srbct(path: Path, *, n_train: int) -> Table:
    """The small round blue cell tumours of the R package plsgenomics."""
    (content,) = _r_objects(path).values()
    genes = content["gene.names"]
    pairs = zip(genes.iloc[:, 0], genes.iloc[:, 1], strict=True)
    names = [f"{image} {text}".strip() for image, text in pairs]
    labels = [f"{label:g}" for label in content["Y"]]
    return Table(content["X"], labels, names, None, _split(len(labels), n_train))


def csv_class_last(path: Path) -> Table:
    """A comma-separated file with a header, whose last column is the class."""
    frame = pd.read_csv(path)
    labels = [str(label) for label in frame.iloc[:, -1]]
    return Table(frame.iloc[:, :-1].to_numpy(float), labels, list(frame.columns[:-1]))


def orange_tab(path: Path, *, n_train: int) -> Table:
    """A file of Orange, without the lines that have no class."""
    # Names twice over must stay: pandas would number them.
    frame = pd.read_csv(path, sep="\t", header=None, dtype=str, keep_default_na=False)
    names, roles = frame.iloc[0], frame.iloc[2]
    target = int(np.flatnonzero(roles == "class")[0])
    rows = frame.iloc[3:]
    rows = rows[rows[target] != ""]
    labels = rows[target].tolist()
    X, names = rows.drop(columns=target).to_numpy().astype(float), names.drop(target)
    return Table(X, labels, names.tolist(), None, _split(len(labels), n_train))


def tsv_genes_by_samples(path: Path) -> Table:
    """A tab-separated file with a row for each gene; the first row is the classes."""
    frame = pd.read_csv(path, sep="\t", header=None, index_col=0, dtype=str)
    X = frame.iloc[1:].to_numpy().astype(float).T
    return Table(X, frame.iloc[0].tolist(), list(frame.index)[1:])


def arff_mixed(path: Path) -> Table:
    """An ARFF file with categories and gaps, and the class as last column."""
    frame = pd.DataFrame(arff.loadarff(path)[0])
    for name in frame.select_dtypes(object):
        frame[name] = frame[name].str.decode("ascii").replace("?", None)
    *names, target = frame.columns
    return Table(frame[names], frame[target].tolist(), names)


def census(train: Path, test: Path) -> Table:
    """The two files of the census, without a header; the class is the last column."""
    how = {"header": None, "skipinitialspace": True, "na_values": "?"}
    parts = [pd.read_csv(path, **how) for path in (train, test)]
    frame = pd.concat(parts, ignore_index=True)
    frame.columns = [f"column {j + 1}" for j in frame]
    *names, target = frame.columns
    labels = frame[target].str.removesuffix(".").tolist()
    return Table(frame[names], labels, names, None, _split(len(frame), len(parts[0])))


def idx_images(*paths: Path) -> Table:
    """The four gzipped IDX files of MNIST: images and labels, training and testing."""
    images, labels = [_idx(p) for p in paths[::2]], [_idx(p) for p in paths[1::2]]
    height, width = images[0].shape[1:]
    X = np.vstack([part.reshape(len(part), -1) for part in images]).astype(float)
    names = [f"pixel {i},{j}" for i in range(height) for j in range(width)]
    split = _split(len(X), len(images[0]))
    return Table(X, [str(one) for one in np.concatenate(labels)], names, None, split)


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
        testing = half.endswith("test")
        gone = edition == "paper" and group in damaged and testing
        if group in class_of and not gone:
            part = message_part(content.decode("latin-1"), text)
            messages.append((testing, group, int(number), part))
    table = _texts(messages, min_documents, min_count)
    names = [f"{group}/{number}" for _, group, number, _ in sorted(messages)]
    labels = [class_of[group] for group in table.labels]
    return table._replace(labels=labels, sample_names=names)


def c50(path: Path, *, min_documents: int = 3, min_count: int = 1) -> Table:
    """Count the words of the Reuter 50-50 articles; the classes are the authors."""
    articles = []
    for name, content in read_archive(path, "data/ReutersC50").items():
        half, author, file = name.removesuffix("newsML.txt").split("/")[-3:]
        articles.append((half == "C50test", author, file, content.decode("latin-1")))
    return _texts(articles, min_documents, min_count)


def _texts(documents: list[tuple], min_documents: int, min_count: int) -> Table:
    """Words of documents: whether of the test half, class, name, text."""
    testing, labels, names, texts = zip(*sorted(documents), strict=True)
    X, words = count_words(texts, min_documents=min_documents, min_count=min_count)
    split = ["test" if later else "train" for later in testing]
    return Table(X, list(labels), words, list(names), split)


def _split(n: int, n_train: int) -> list[str]:
    return ["train"] * n_train + ["test"] * (n - n_train)


def _r_objects(path: Path) -> dict[str, Any]:
    import rdata  # slow, and seldom needed

    # Files written before R 3.5 do not state their encoding.
    return rdata.read_rda(path, default_encoding="utf-8")


def _frame(x: Any) -> pd.DataFrame:
    """A matrix with names, which rdata gives as a data frame or an array of xarray."""
    return x if isinstance(x, pd.DataFrame) else x.to_pandas()


def _idx(path: Path) -> np.ndarray:
    """Unsigned bytes of a gzipped IDX file, in the shape that its header states."""
    content = gzip.decompress(path.read_bytes())
    _, _, kind, n_axes = content[:4]
    if kind != 8:
        raise ValueError(f"{path.name} holds values of kind {kind}, not unsigned bytes")
    start = 4 + 4 * n_axes
    shape = np.frombuffer(content[4:start], ">i4")
    return np.frombuffer(content[start:], np.uint8).reshape(shape)
