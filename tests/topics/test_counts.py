import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from memdlib.topics import counts
from memdlib.topics.counts import (
    as_counts,
    log_terms,
    mixture,
    ratios,
    times_rows,
    with_values,
)
from tests.topics.reference import documents, objective, parameters


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_what_is_stored_is_above_zero(kind):
    X = np.zeros((4, 6), dtype=np.float32)
    X[1, 2] = 3
    found = as_counts(kind(X))
    assert found.dtype == np.float64 and found.format == "csr" and found.nnz == 1
    stored = sparse.csr_array((np.array([3.0, 0.0]), [2, 5], [0, 0, 2, 2, 2]), (4, 6))
    assert as_counts(stored).nnz == 1
    assert stored.nnz == 2  # what was passed is as it was


@pytest.mark.parametrize("gathered", [7, 2**11])
def test_cells_one_by_one(gathered, monkeypatch):
    monkeypatch.setattr(counts, "_GATHER", gathered)
    X = documents(length=12)[0]
    theta, Q = parameters(*X.shape, 3)
    table = as_counts(X)
    P = mixture(table, theta, Q.T.copy())
    seen = X > 0
    shown = with_values(table, P).toarray()
    np.testing.assert_allclose(shown, np.where(seen, theta @ Q, 0), rtol=1e-13)
    quotient = ratios(table, P).toarray()
    np.testing.assert_allclose(quotient, np.where(seen, X / (theta @ Q), 0), rtol=1e-12)
    assert log_terms(table, P).sum() == pytest.approx(objective(X, theta, Q))
    factor = np.arange(len(X)) - 3.0
    found = times_rows(table, factor).toarray()
    np.testing.assert_array_equal(found, np.diag(factor) @ X)


def test_a_count_without_probability():
    X = as_counts(np.array([[2.0, 0.0]]))
    assert log_terms(X, np.zeros(1)).tolist() == [-np.inf]
    assert ratios(X, np.zeros(1)).toarray().tolist() == [[0.0, 0.0]]


def test_no_table_of_cells_and_topics():
    rng = np.random.default_rng([92, 7])
    table = sparse.random_array((400, 900), density=0.1, rng=rng, format="csr")
    theta, Q = parameters(*table.shape, 50)
    words = Q.T.copy()
    mixture(table, theta, words)
    tracemalloc.start()
    mixture(table, theta, words)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * 8 * table.nnz * 50
