import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdlib.nml._engine import cell_sums
from memdlib.nml._engine.cell_sums import (
    TooLarge,
    cell_complexity,
    complexity_bounds,
    drawn_cell_complexity,
    exact_cell_complexity,
    label_tables,
    softmax_suprema,
    within_bounds,
)
from memdlib.nml._engine.cells import CellModel, additive_design, cell_model
from memdlib.nml._engine.level_model import NoMaximumError
from memdlib.nml.codes.conditional import conditional_complexity
from tests.nml import literal_joint as literal
from tests.nml.literal_joint import supremum

GRID = np.array(list(product([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])))


def model_of(values, counts, m, intercept, k=2):
    tables = np.zeros((len(values), k), dtype=int)
    tables[:, 0] = counts
    return cell_model(additive_design(values, m, intercept), tables, k)[0]


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 9), min_size=9, max_size=9).filter(any),
    st.sampled_from([1, 2]),
    st.booleans(),
)
def test_results_lie_within_the_bounds(counts, m, intercept):
    model = model_of(GRID, counts, m, intercept)
    lower, upper = complexity_bounds(model)
    assert lower <= upper <= model.saturated_complexity + 1e-12
    if m == 1:
        # asserted inside as well, within rounding
        assert lower <= exact_cell_complexity(model)[0] <= upper


def test_a_result_out_of_bounds_is_an_error(monkeypatch):
    monkeypatch.setattr(
        cell_sums, "suprema", lambda model, tables: (np.ones(len(tables)), 0.0)
    )
    with pytest.raises(RuntimeError, match="beyond its bounds"):
        exact_cell_complexity(model_of(GRID, [2] * 9, 1, True))


def test_rounding_beyond_a_bound_is_cut_off():
    assert within_bounds(2.5, (2.0, 3.0)) == 2.5
    assert within_bounds(2.0 - 1e-12, (2.0, 3.0)) == 2.0
    with pytest.raises(RuntimeError, match=r"beyond its bounds \[2.0, 3.0\]"):
        within_bounds(3.0 + 1e-8, (2.0, 3.0))


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
    monkeypatch.setattr(cell_sums, "_STEPS", 1)
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


@settings(max_examples=15)
@given(st.data())
def test_sums_over_all_label_sequences(data):
    """Any features of small whole numbers, equal and zero rows among them."""
    k = data.draw(st.sampled_from([2, 2, 3]))
    q = data.draw(st.integers(1, 3))
    n = data.draw(st.integers(1, 5 if k == 2 else 4))
    row = st.tuples(*[st.integers(-2, 2)] * q)  # zero rows too
    rows = data.draw(st.lists(row, min_size=n, max_size=n))
    model, *_ = cell_model(rows, np.eye(k, dtype=int)[np.zeros(n, dtype=int)], k)
    found = cell_complexity(model, "exact", 1, 0)[0]
    assert found == pytest.approx(literal.complexity(rows, k), abs=1e-6)


@pytest.mark.parametrize("counts", [[8, 7, 8, 7, 8], [1, 20, 1, 3, 9], [4, 0, 4, 4, 1]])
@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("intercept", [False, True])
def test_one_feature_is_the_model_of_levels(counts, m, intercept):
    values = np.array([-1.0, 0.5, 2.0, 3.0, 7.0])
    model = model_of(values[:, None], counts, m, intercept)
    expected = conditional_complexity(counts, m, values, intercept)
    found, uncertainty = exact_cell_complexity(model)
    assert abs(found - expected) < uncertainty + 1e-12 < 2e-12


def test_values_that_are_no_lattice_are_enumerated():
    """Powers of 0.1 and 0.7 as floats make statistics too wide for a key."""
    values = np.array([[0.1, 0.7], [0.3, 1e-9], [math.pi, 0.2], [5.0, math.e]])
    model = model_of(values, [2, 1, 2, 1], 1, True)
    wide = np.ceil(np.log2(np.abs(np.array(model.rows, dtype=float)).max()))
    assert wide > 50
    sequences = np.repeat(np.column_stack([np.ones(4), values]), [2, 1, 2, 1], axis=0)
    expected = literal.complexity(sequences)
    assert exact_cell_complexity(model)[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("n", "k"), [(1, 2), (6, 2), (5, 3), (4, 4)])
def test_label_tables_by_listing_sequences(n, k):
    seen = Counter(
        tuple(labels.count(c) for c in range(k))
        for labels in product(range(k), repeat=n)
    )
    tables, log_number = label_tables(n, k)
    found = dict(zip(map(tuple, tables.tolist()), np.exp(log_number), strict=True))
    assert found == pytest.approx(dict(seen), rel=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_draws_agree_with_the_exact_sum(k):
    model = model_of(GRID[:4], [9, 3, 4, 6], 1, True, k)
    expected, _ = exact_cell_complexity(model)
    off = []
    for seed in range(12):
        value, error = drawn_cell_complexity(model, 2**11, seed)
        assert 0 < error < 0.1
        off.append((value - expected) / error)
    assert abs(np.mean(off)) < 4 / math.sqrt(12)
    assert 0.4 < np.std(off) < 2.0


def test_too_few_draws_are_refused_and_enough_named():
    model = model_of(GRID[:4], [40] * 4, 1, False)
    with pytest.raises(ValueError, match="10 draws cannot be trusted: ") as told:
        drawn_cell_complexity(model, 10, 0)
    enough = int(str(told.value).split("n_draws of ")[1].split()[0])
    value, error = drawn_cell_complexity(model, enough, 0)
    assert error < 0.6
    assert complexity_bounds(model)[0] <= value <= complexity_bounds(model)[1]


def test_too_large_a_sum_names_its_size():
    with pytest.raises(TooLarge, match=r"900 samples in 9 cells make \d+ label tables"):
        exact_cell_complexity(model_of(GRID, [100] * 9, 2, True))
    with pytest.raises(TooLarge, match="5000 samples of one cell have more than"):
        label_tables(5000, 3)
    rows = tuple((1, round(math.pi * 10**i)) for i in range(18))
    with pytest.raises(TooLarge, match="720 samples in 18 cells have too many"):
        exact_cell_complexity(CellModel(rows, (40,) * 18, 2))


def test_rounding_of_many_samples_is_told():
    """Two cells of one parameter, against the enumeration of levels."""
    n = (300, 170)
    model = CellModel(((1,), (2,)), n, 2)
    value, uncertainty, _ = cell_complexity(model, "exact", 1, 0)
    expected = conditional_complexity(n, 1)
    assert abs(value - expected) < uncertainty + 1e-12
    assert uncertainty < 1e-11
