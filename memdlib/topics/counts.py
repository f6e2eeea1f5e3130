"""Tables of counts against a mixture of topics, without a table of cells and topics.

A cell of document d and word w has the probability P(w | d) = sum_z theta_dz Q_zw. All
that EM needs of a table C are the ratios C / P where counts are, and two products of
these with the parameters.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from memdlib._types import MatrixLike

Array = NDArray[np.float64]

# Cells whose parameters are gathered at a time: they fit a processor's own cache.
_GATHER = 1 << 11
# Stored cells of a block of documents.
_BLOCK = 1 << 19
# Tables with fewer cells in use are kept sparse.
_DENSE = 0.25


def as_counts(X: MatrixLike) -> MatrixLike:
    """A table in the form, dense or sparse, that its share of zeros asks for.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_documents, n_words)
        Nonnegative.

    Returns
    -------
    ndarray or csr_array
        float64; what is stored is above zero, if it is sparse.
    """
    n_used = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    if n_used < _DENSE * X.shape[0] * X.shape[1]:
        thin = sparse.csr_array(X, dtype=np.float64, copy=True)
        thin.eliminate_zeros()
        return thin
    X = X.toarray() if sparse.issparse(X) else X
    return np.ascontiguousarray(X, dtype=np.float64)


def document_blocks(counts: MatrixLike) -> Iterator[tuple[slice, object]]:
    """Blocks of whole documents, with the rows that they are.

    Parameters
    ----------
    counts : ndarray or csr_array of shape (n_documents, n_words)

    Yields
    ------
    rows : slice
    block : ndarray or csr_array

    Returns
    -------
    iterator
    """
    n = counts.shape[0]
    stored = counts.nnz if sparse.issparse(counts) else counts.size
    height = max(1, int(_BLOCK * n / max(stored, 1)))
    for first in range(0, n, height):
        rows = slice(first, min(first + height, n))
        yield rows, counts[rows]


def mixture(counts: MatrixLike, theta: Array, words: Array) -> Array:
    """Probabilities sum_z theta_dz Q_zw of the cells that a table stores.

    Parameters
    ----------
    counts : ndarray or csr_array of shape (n_documents, n_words)
        Only the places count.
    theta : ndarray of shape (n_documents, n_topics)
    words : ndarray of shape (n_words, n_topics)
        Q, transposed.

    Returns
    -------
    ndarray
        Of the shape of the table, or of its stored cells in their order.
    """
    if not sparse.issparse(counts):
        return theta @ words.T
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    found = np.empty(counts.nnz)
    room = np.empty((2, _GATHER, theta.shape[1]))
    for first in range(0, counts.nnz, _GATHER):
        part = slice(first, min(first + _GATHER, counts.nnz))
        ours, theirs = room[:, : part.stop - part.start]
        np.take(theta, rows[part], axis=0, out=ours, mode="clip")
        np.take(words, counts.indices[part], axis=0, out=theirs, mode="clip")
        np.vecdot(ours, theirs, out=found[part])
    return found


def with_values(counts: MatrixLike, values: Array) -> MatrixLike:
    """A table with other numbers in the same places.

    Parameters
    ----------
    counts : ndarray or csr_array
    values : ndarray
        As from :func:`mixture`.

    Returns
    -------
    ndarray or csr_array
    """
    if not sparse.issparse(counts):
        return values
    return sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def times_rows(counts: MatrixLike, factor: Array) -> MatrixLike:
    """A table whose rows are multiplied by one number each, in the form that it has.

    Parameters
    ----------
    counts : ndarray or csr_array of shape (n_documents, n_words)
    factor : ndarray of shape (n_documents,)

    Returns
    -------
    ndarray or csr_array
    """
    if not sparse.issparse(counts):
        return counts * factor[:, None]
    return with_values(counts, counts.data * factor.repeat(np.diff(counts.indptr)))


def log_terms(counts: MatrixLike, probability: Array) -> Array:
    """Terms C log P of the log-likelihood, zero where there is no count.

    Parameters
    ----------
    counts : ndarray or csr_array
    probability : ndarray
        As from :func:`mixture`.

    Returns
    -------
    ndarray
        As ``probability``; minus infinity where a count has no probability.
    """
    number = counts.data if sparse.issparse(counts) else counts
    with np.errstate(divide="ignore"):
        return number * np.log(np.where(number > 0, probability, 1.0))


def ratios(counts: MatrixLike, probability: Array) -> MatrixLike:
    """Quotients C / P, zero where either is.

    Parameters
    ----------
    counts : ndarray or csr_array
    probability : ndarray
        As from :func:`mixture`.

    Returns
    -------
    ndarray or csr_array
    """
    number = counts.data if sparse.issparse(counts) else counts
    quotient = np.zeros(probability.shape)
    np.divide(number, probability, out=quotient, where=(number > 0) & (probability > 0))
    return with_values(counts, quotient)


def expected_ratios(
    counts: MatrixLike, theta: Array, words: Array
) -> tuple[Array, Array, float]:
    """Gradients of the log-likelihood in theta and in Q, and the log-likelihood.

    Parameters
    ----------
    counts : ndarray or csr_array of shape (n_documents, n_words)
    theta : ndarray of shape (n_documents, n_topics)
    words : ndarray of shape (n_words, n_topics)
        Q, transposed.

    Returns
    -------
    by_document : ndarray of shape (n_documents, n_topics)
        Times theta, the expected number of words of each topic in each document.
    by_word : ndarray of shape (n_words, n_topics)
        Times Q, the expected number of times that each topic gave each word.
    log_likelihood : float
        sum C log P, in nats.
    """
    by_document, by_word = np.empty(theta.shape), np.zeros(words.shape)
    total = 0.0
    for rows, block in document_blocks(counts):
        probability = mixture(block, theta[rows], words)
        quotient = ratios(block, probability)
        total += float(log_terms(block, probability).sum())
        by_document[rows] = quotient @ words
        by_word += quotient.T @ theta[rows]
    return by_document, by_word, total
