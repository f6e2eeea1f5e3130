"""Tables of counts against a mixture of topics, without a table of cells and topics.

A cell of document d and word w has the probability P(w | d) = sum_z theta_dz Q_zw. All
that EM needs of a table C are the ratios C / P where counts are, and two products of
these with the parameters. Tables are sparse, and ``words`` is Q, transposed.
"""

import numpy as np
from scipy import sparse

from memdlib._types import Array, MatrixLike

# Cells whose parameters are gathered at a time: they fit a processor's own cache.
_GATHER = 1 << 11


def as_counts(X: MatrixLike) -> sparse.csr_array:
    """A nonnegative table in double precision that stores what is above zero."""
    counts = sparse.csr_array(X, dtype=np.float64, copy=True)
    counts.eliminate_zeros()
    return counts


def mixture(counts: sparse.csr_array, theta: Array, words: Array) -> Array:
    """Probabilities sum_z theta_dz Q_zw of the cells that a table stores."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    # of a full table a product costs less than the parameters of every cell
    if 4 * counts.nnz > np.prod(counts.shape):
        return (theta @ words.T)[rows, counts.indices]
    found = np.empty(counts.nnz)
    for first in range(0, counts.nnz, _GATHER):
        part = slice(first, first + _GATHER)
        np.vecdot(theta[rows[part]], words[counts.indices[part]], out=found[part])
    return found


def with_values(counts: sparse.csr_array, values: Array) -> sparse.csr_array:
    """A table with other numbers in the same places."""
    return sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def times_rows(counts: sparse.csr_array, factor: Array) -> sparse.csr_array:
    """A table whose rows are multiplied by one number each."""
    return with_values(counts, counts.data * factor.repeat(np.diff(counts.indptr)))


def log_terms(counts: sparse.csr_array, probability: Array) -> Array:
    """Terms C log P of the log-likelihood of the stored cells."""
    with np.errstate(divide="ignore"):
        return counts.data * np.log(probability)


def ratios(counts: sparse.csr_array, probability: Array) -> sparse.csr_array:
    """Quotients C / P, zero where P is."""
    quotient = np.zeros(probability.shape)
    np.divide(counts.data, probability, out=quotient, where=probability > 0)
    return with_values(counts, quotient)
