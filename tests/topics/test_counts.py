import numpy as np
import pytest

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
