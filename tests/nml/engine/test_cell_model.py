from fractions import Fraction

import numpy as np
import pytest

from memdlib.nml._engine.cell_model import (
    CellModel,
    additive_design,
    cell_model,
    difference,
    face_basis,
)
from memdlib.nml.codes.multinomial import multinomial_complexity


def test_the_design_is_exact():
    (row,) = additive_design(np.array([[0.1, 3.0]]), 3, True)
    x = Fraction(0.1)
    assert row == [1, x, x * x, x * x * x, 3, 9, 27]


def test_cells_are_joined_dropped_and_counted():
    design = [[Fraction(1, 3)], [0], [Fraction(1, 3)], [2], [5]]
    tables = np.array([[1, 2], [3, 4], [5, 6], [0, 0], [1, 0]])
    model, joined, fixed = cell_model(design, tables, 2)
    assert model.counts == (14, 1)
    assert joined.tolist() == [[6, 8], [1, 0]]
    assert fixed == 7
    assert Fraction(model.rows[1][0], model.rows[0][0]) == 15


def test_a_model_without_cells_has_no_complexity():
    model, joined, fixed = cell_model([[0]], np.array([[2, 1]]), 2)
    assert model == CellModel((), (), 2)
    assert joined.shape == (0, 2)
    assert fixed == 3
    assert model.saturated_complexity == 0.0


def test_the_saturated_complexity():
    model = CellModel(((1, 0), (0, 1)), (5, 7), 3)
    each = [multinomial_complexity(n, 3) for n in (5, 7)]
    assert model.saturated_complexity == pytest.approx(sum(each), rel=1e-14)


def test_differences_of_classes_add_up():
    row = (2, -3)
    for k in (2, 3, 4):
        parts = [difference(row, c + 1, c, k) for c in range(k - 1)]
        total = tuple(sum(column) for column in zip(*parts, strict=True))
        assert total == difference(row, k - 1, 0, k)


def test_the_basis_spans_the_free_logits():
    """Random parameters give free logits that the basis reaches, and it is minimal."""
    rng = np.random.default_rng(12)
    rows = ((1, 1, 1), (1, 1, 2), (1, 2, 1), (1, 2, 2), (1, 3, 1))
    face = ((True,) * 3, (False, True, True), (True,) * 3, (True, False, False))
    face = (*face, (True, False, True))
    form = face_basis(rows, face)
    assert form.cells.tolist() == [0, 0, 1, 2, 2, 4]
    assert form.classes.tolist() == [1, 2, 2, 1, 2, 2]
    reached = []
    for _ in range(12):
        logits = np.array(rows) @ rng.normal(size=(3, 3))
        first = np.argmax(face, axis=1)[form.cells]
        reached.append(logits[form.cells, form.classes] - logits[form.cells, first])
    together = np.column_stack([form.basis, *reached])
    assert np.linalg.matrix_rank(form.basis) == form.basis.shape[1]
    assert np.linalg.matrix_rank(together) == form.basis.shape[1]
    assert np.linalg.matrix_rank(np.array(reached)) == form.basis.shape[1]
