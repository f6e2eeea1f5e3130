from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sympy import Matrix

from memdlib.nml._engine.cells import (
    CellModel,
    additive_design,
    allowed_classes,
    arrangement,
    cell_model,
    difference,
    face_basis,
    free_sets,
    normal,
    reduce_rows,
    saturated_faces,
    whole_columns,
)
from memdlib.nml.codes.multinomial import multinomial_complexity

SMALL = st.integers(-4, 4)


@given(
    st.integers(1, 4).flatmap(
        lambda q: st.lists(st.tuples(*[SMALL] * q), min_size=1, max_size=6)
    )
)
def test_the_reduced_form_is_that_of_sympy(rows):
    found = reduce_rows(rows)
    reduced, pivots = Matrix(rows).rref()
    ours = sorted(zip(found.pivots, found.rows, strict=True))
    assert len(found.pivots) == len(pivots)
    for _, row in ours:
        exact = Matrix([[Fraction(x, found.scale) for x in row]])
        assert reduced.col_join(exact).rank() == len(pivots)


@given(st.lists(st.tuples(SMALL, SMALL, SMALL), min_size=2, max_size=2))
def test_the_normal_is_the_cross_product(rows):
    reduced = reduce_rows(rows)
    expected = np.cross(*np.array(rows))
    if len(reduced.pivots) == 2:
        assert not np.cross(normal(reduced, 3), expected).any() and expected.any()
    else:
        assert not expected.any()


def test_columns_become_whole_and_keep_their_ratios():
    table = [[0.1, Fraction(1, 3)], [0.25, Fraction(2, 3)], [-3.0, Fraction(0)]]
    whole = whole_columns(table)
    for column, values in zip(
        zip(*whole, strict=True), zip(*table, strict=True), strict=True
    ):
        assert all(isinstance(x, int) for x in column)
        factor = Fraction(column[0]) / Fraction(values[0])
        assert factor > 0
        assert all(
            x == factor * Fraction(v) for x, v in zip(column, values, strict=True)
        )


def test_a_column_of_zeros_stays():
    assert whole_columns([[0.0, 2.0], [0.0, 4.0]]) == ((0, 1), (0, 2))


def test_pivots_are_the_largest():
    """Powers of uneven values leave columns of moderate size."""
    x = (3, 4, 23, 3592)
    found = reduce_rows([tuple(v**j for v in x) for j in (1, 2, 3)])
    assert found.pivots == (3, 2, 1)
    assert all(abs(v) <= abs(found.scale) for row in found.rows for v in row)


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


GRID = np.array(list(product([1.0, 2.0], [1.0, 2.0, 3.0])))
MODELS = [
    (np.array([[1.0], [2.0], [3.0]]), 1, False, 2),
    (np.array([[-1.0], [1.0], [2.0], [4.0]]), 2, False, 2),
    (GRID[:4], 1, True, 2),
    (GRID, 1, False, 2),
    (GRID, 1, True, 2),
    (np.array([[1.0], [2.0], [3.0]]), 1, False, 3),
    (np.array([[-1.0], [1.0], [2.0]]), 1, True, 3),
    (np.array([[1.0], [2.0]]), 1, False, 4),
]


def model_of(values, m, intercept, k):
    tables = np.full((len(values), k), 2)
    return cell_model(additive_design(values, m, intercept), tables, k)[0]


def classes_left(rows, support):
    """Classes that no direction removes, by one linear programme for each of them.

    Unknown are parameters of every class; in each cell those that occur are equal, and
    the others at most as large.
    """
    x = np.array(rows, dtype=float)
    x /= np.abs(x).max(axis=0)
    n, k = support.shape
    left = np.ones((n, k), dtype=bool)
    equal, less = [], []
    for cell in range(n):
        first, *others = np.flatnonzero(support[cell])
        for c in range(k):
            if c != first:
                row = np.zeros((k, x.shape[1]))
                row[c], row[first] = x[cell], -x[cell]
                (equal if c in others else less).append((cell, c, row.ravel()))
    for cell, c, row in less:
        found = linprog(
            row,
            A_ub=np.array([r for *_, r in less]),
            b_ub=np.zeros(len(less)),
            A_eq=np.array([r for *_, r in equal]) if equal else None,
            b_eq=np.zeros(len(equal)) if equal else None,
            bounds=(-1, 1),
        )
        assert found.status == 0
        left[cell, c] = found.fun > -1e-7
    return left


def supports(n, k):
    """All patterns of classes that occur, or 150 of them."""
    each = [p for p in product([False, True], repeat=k) if any(p)]
    if len(each) ** n <= 150:
        return np.array(list(product(each, repeat=n)))
    rng = np.random.default_rng([12, n, k])
    # more pure cells than others, or all would be in the interior
    weight = np.array([4.0 if sum(p) == 1 else 1.0 for p in each])
    chosen = rng.choice(len(each), size=(150, n), p=weight / weight.sum())
    return np.array(each)[chosen]


@pytest.mark.parametrize(("values", "m", "intercept", "k"), MODELS)
def test_the_classes_left_by_linear_programming(values, m, intercept, k):
    model = model_of(values, m, intercept, k)
    support = supports(len(model.rows), k)
    found = allowed_classes(arrangement(model.rows, k), support)
    for pattern, left in zip(support, found, strict=True):
        assert left.tolist() == classes_left(model.rows, pattern).tolist()


@pytest.mark.parametrize(("values", "m", "intercept", "k"), MODELS)
def test_saturated_faces_are_those_of_the_patterns(values, m, intercept, k):
    """A face with free logits is the one of labels in which all its classes occur."""
    model = model_of(values, m, intercept, k)
    each = [p for p in product([False, True], repeat=k) if any(p)]
    every = np.array(list(product(each, repeat=len(model.rows))))
    left = allowed_classes(arrangement(model.rows, k), every)
    expected = {
        face.tobytes()
        for pattern, face in zip(every, left, strict=True)
        if (pattern == face).all()
        and face_basis(model.rows, tuple(map(tuple, face.tolist()))).saturated
    }
    found = saturated_faces(model.rows, k)
    assert {face.tobytes() for face in found} == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize(("values", "m", "intercept"), [m[:3] for m in MODELS[:5]])
def test_free_sets_by_ranks(values, m, intercept):
    model = model_of(values, m, intercept, 2)
    x = np.array(model.rows, dtype=float)
    expected = {
        chosen
        for chosen in product([False, True], repeat=len(x))
        if np.linalg.matrix_rank(x[list(chosen)]) == sum(chosen)
    }
    found = free_sets(model.rows)
    assert set(map(tuple, found.tolist())) == expected
    assert len(found) == len(expected)


def test_too_many_hyperplanes_and_signs_are_refused():
    rng = np.random.default_rng(12)
    rows = tuple(map(tuple, rng.integers(1, 99, size=(30, 12)).tolist()))
    with pytest.raises(ValueError, match=r"30 cells with 12 parameters .* join levels"):
        arrangement(rows, 2)
    with pytest.raises(ValueError, match=r"30 cells of 3 classes have too many signs"):
        arrangement(rows, 3)
