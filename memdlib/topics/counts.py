"""Sparse tables of counts under a mixture of topics.

In document d the word w has the probability P(w | d) = sum_z theta_dz Q_zw. All that EM
needs of a table C are the ratios C / P of the cells that hold counts, and the products
of the table of these ratios with the parameters: no array of cells by topics is formed.
``words`` stands for the transpose of Q, of shape (n_words, n_components).
"""

import numpy as np
from scipy import sparse

# Number of cells whose parameters are gathered at a time, so that they fit into the
# cache of a processor.
_BLOCK = 1 << 11


def as_counts(X):
    """Copy a nonnegative table as float64 csr that stores no zeros."""
    counts = sparse.csr_array(X, dtype=np.float64, copy=True)
    counts.eliminate_zeros()
    return counts


def cell_probabilities(counts, theta, words):
    """Probabilities sum_z theta_dz Q_zw of the stored cells, of shape (nnz,)."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    columns = counts.indices
    # If many cells are stored, a product of matrices costs less than gathering the
    # parameters of each of them.
    if 4 * counts.nnz > np.prod(counts.shape):
        return (theta @ words.T)[rows, columns]
    probability = np.empty(counts.nnz)
    for start in range(0, counts.nnz, _BLOCK):
        block = slice(start, start + _BLOCK)
        np.vecdot(theta[rows[block]], words[columns[block]], out=probability[block])
    return probability


def with_values(counts, values):
    """A table with other values (nnz,) in the same cells."""
    return sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def scale_rows(counts, factor):
    """A table whose rows are multiplied by one factor each, of shape (n_documents,)."""
    return with_values(counts, counts.data * factor.repeat(np.diff(counts.indptr)))


def log_terms(counts, probability):
    """Terms C log P of the log-likelihood, one for each stored cell."""
    with np.errstate(divide="ignore"):
        return counts.data * np.log(probability)


def ratios(counts, probability):
    """The table of C / P, with zero where P is zero."""
    return with_values(counts, divide_or_zero(counts.data, probability))


def divide_or_zero(numerator, denominator):
    """Quotients, with zero where a nonnegative denominator is zero."""
    quotient = np.zeros_like(numerator)
    return np.divide(numerator, denominator, out=quotient, where=denominator > 0)
