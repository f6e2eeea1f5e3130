from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from memdlib.nml._engine.cell_model import additive_design, cell_model, face_basis
from memdlib.nml._engine.faces import (
    allowed_classes,
    arrangement,
    free_sets,
    saturated_faces,
)

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
