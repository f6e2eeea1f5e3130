import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from memdlib.topics import counts
from memdlib.topics.counts import (
    as_counts,
    document_blocks,
    expected_ratios,
    log_terms,
    mixture,
    ratios,
    times_rows,
    with_values,
)
from tests.topics.reference import documents, objective, parameters, responsibilities

KINDS = [np.asarray, sparse.csr_array]


def test_the_form_of_a_table_follows_from_its_zeros():
    full, empty = np.ones((4, 6)), np.zeros((4, 6))
    empty[1, 2] = 3
    stored = sparse.csr_array((np.array([3.0, 0.0]), [2, 5], [0, 0, 2, 2, 2]), (4, 6))
    for kind in (np.asarray, sparse.csr_array, sparse.csc_matrix):
        assert isinstance(as_counts(kind(full)), np.ndarray)
        assert isinstance(as_counts(kind(empty)), sparse.csr_array)
    assert as_counts(stored).nnz == 1
    assert stored.nnz == 2  # what was passed is as it was
    assert as_counts(np.ones((2, 2), dtype=np.float32)).dtype == np.float64


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("small", [False, True])
def test_gradients_against_all_responsibilities(kind, small, monkeypatch):
    if small:
        monkeypatch.setattr(counts, "_GATHER", 7)
        monkeypatch.setattr(counts, "_BLOCK", 50)
    X = documents(length=12)[0]
    theta, Q = parameters(*X.shape, 3)
    by_document, by_word, value = expected_ratios(kind(X), theta, Q.T.copy())
    expected = X[:, None, :] * responsibilities(theta, Q)
    np.testing.assert_allclose(theta * by_document, expected.sum(axis=2), rtol=1e-12)
    np.testing.assert_allclose(Q * by_word.T, expected.sum(axis=0), rtol=1e-12)
    assert value == pytest.approx(objective(X, theta, Q), rel=1e-13)
    blocks = list(document_blocks(kind(X)))
    assert (len(blocks) > 5) == small
    assert sum(block.shape[0] for _, block in blocks) == len(X)


@pytest.mark.parametrize("kind", KINDS)
def test_cells_one_by_one(kind):
    X = documents(length=12)[0]
    theta, Q = parameters(*X.shape, 3)
    table = kind(X)
    P = mixture(table, theta, Q.T.copy())
    shown = with_values(table, P)
    shown = shown.toarray() if sparse.issparse(shown) else shown
    seen = X > 0
    np.testing.assert_allclose(shown[seen], (theta @ Q)[seen], rtol=1e-13)
    quotient = ratios(table, P)
    quotient = quotient.toarray() if sparse.issparse(quotient) else quotient
    np.testing.assert_allclose(quotient, np.where(seen, X / (theta @ Q), 0), rtol=1e-12)
    assert log_terms(table, P).sum() == pytest.approx(objective(X, theta, Q))


def test_a_count_without_probability():
    X, nothing = np.array([[2.0, 0.0]]), np.zeros((1, 2))
    assert log_terms(X, nothing).tolist() == [[-np.inf, 0.0]]
    assert ratios(X, nothing).tolist() == [[0.0, 0.0]]


def test_no_table_of_cells_and_topics():
    rng = np.random.default_rng([92, 7])
    table = sparse.random_array((400, 900), density=0.1, rng=rng, format="csr")
    theta, Q = parameters(*table.shape, 50)
    words = Q.T.copy()
    expected_ratios(table, theta, words)
    tracemalloc.start()
    expected_ratios(table, theta, words)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * 8 * table.nnz * 50


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_multiplied_by_their_own_numbers_in_the_form_they_have(kind):
    X = documents(n=7, n_words=5, length=4)[0]
    factor = np.array([0.5, -2.0, 0.0, 3.0, 1.0, 7.0, 11.0])
    table = kind(X)
    found = times_rows(table, factor)
    assert type(found) is type(table)
    found = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_array_equal(found, np.diag(factor) @ X)
    before = table.toarray() if sparse.issparse(table) else table
    np.testing.assert_array_equal(before, X)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_a_table_with_a_quarter_of_its_cells_in_use_is_dense(kind):
    X = np.zeros((4, 6))
    X.flat[:5] = 2.0
    assert sparse.issparse(as_counts(kind(X)))
    X.flat[5] = 3.0
    found = as_counts(kind(X.astype(np.float32)))
    assert isinstance(found, np.ndarray) and found.flags.c_contiguous
    np.testing.assert_array_equal(found, X)
    X.flat[5] = 0.0
    found = as_counts(kind(X.astype(np.float32)))
    assert found.dtype == np.float64 and found.format == "csr"
    np.testing.assert_array_equal(found.toarray(), X)


@pytest.mark.parametrize("kind", KINDS)
def test_a_count_without_probability_makes_the_likelihood_minus_infinity(kind):
    X = np.array([[2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
    theta, Q = np.ones((2, 1)), np.array([[0.4, 0.6, 0.0]])
    with np.errstate(all="raise"):
        by_document, by_word, value = expected_ratios(kind(X), theta, Q.T.copy())
    np.testing.assert_allclose(by_document, [[2.0], [4.0]], rtol=1e-14)
    np.testing.assert_allclose(by_word, [[7.5], [5.0], [0.0]], rtol=1e-14)
    assert value == -np.inf
