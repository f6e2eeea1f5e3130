"""From documents to counts of words."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

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
    >>> from memdlib.datasets.texts import message_part
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
    >>> from memdlib.datasets.texts import count_words
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
