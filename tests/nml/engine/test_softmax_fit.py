import numpy as np
import pytest

from memdlib.nml._engine import softmax_fit
from memdlib.nml._engine.level_model import NoMaximumError
from memdlib.nml._engine.softmax_fit import softmax_suprema
from tests.nml.literal_joint import supremum


@pytest.mark.parametrize("k", [2, 3, 4])
def test_suprema_are_those_of_a_general_optimiser(k):
    rng = np.random.default_rng([12, k])
    levels = np.arange(1.0, 6.0)
    tables = rng.integers(1, 5, size=(6, 5, k))
    totals = np.full(5, 20)
    tables[:, :, 0] += totals - tables.sum(axis=2)
    features = np.column_stack([np.ones(5), levels])
    cells = np.repeat(np.arange(5), k - 1)
    basis = np.kron(features, np.eye(k - 1))
    labels = tables[:, :, 1:].reshape(len(tables), -1).T.astype(float)
    found, doubt = softmax_suprema(totals.astype(float), cells, basis, labels)
    assert 0 < doubt < 1e-12
    for table, value in zip(tables, found, strict=True):
        where = np.repeat(np.arange(table.size), table.ravel())
        expected = supremum(features[where // k], where % k, k)
        assert value == pytest.approx(expected, abs=1e-8)


def test_cells_may_have_different_numbers_of_classes():
    """Free logits of three and of two classes: each cell for itself."""
    found, _ = softmax_suprema(
        np.array([6.0, 0.5, 4.0]),
        np.array([0, 0, 2]),
        np.eye(3),
        np.array([[2.0, 1.0], [3.0, 1.0], [1.0, 2.0]]),
    )
    parts = np.array([[1 / 6, 1 / 3, 1 / 2], [4 / 6, 1 / 6, 1 / 6]])
    three = (6 * parts * np.log(parts)).sum(axis=1)
    two = [np.log(1 / 4) + 3 * np.log(3 / 4), 4 * np.log(1 / 2)]
    assert found == pytest.approx(three + two, abs=1e-12)


def test_on_the_boundary_the_supremum_is_approached():
    """Labels of one class only: steps get longer and longer, and gain nothing."""
    found, _ = softmax_suprema(
        np.array([3.0]), np.array([0, 0]), np.eye(2), np.array([[0.0], [3.0]])
    )
    assert found == pytest.approx(0.0, abs=1e-7)


def test_what_does_not_settle_is_an_error(monkeypatch):
    monkeypatch.setattr(softmax_fit, "_STEPS", 1)
    labels = np.array([[1.0, 0.5], [3.0, 5.0]])
    with pytest.raises(NoMaximumError, match=r"of 2 label counts .* join levels"):
        softmax_suprema(np.array([6.0]), np.array([0, 0]), np.eye(2), labels)


def test_far_logits_are_in_the_doubt():
    """Labels that a logit a million times another tells, both on the way up."""
    basis, labels = np.array([[1e-6], [1.0]]), np.array([[2.0], [3.0]])
    value, doubt = softmax_suprema(
        np.array([3.0, 3.0]), np.array([0, 1]), basis, labels
    )
    expected = 2 * np.log(2 / 3) + np.log(1 / 3)
    assert abs(value[0] - expected) < doubt < 1e-9
