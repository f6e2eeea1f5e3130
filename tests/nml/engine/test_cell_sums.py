import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdlib.nml._engine.cell_bounds import complexity_bounds
from memdlib.nml._engine.cell_model import CellModel, additive_design, cell_model
from memdlib.nml._engine.cell_sums import (
    TooLarge,
    cell_complexity,
    drawn_cell_complexity,
    exact_cell_complexity,
    label_tables,
)
from memdlib.nml.codes.conditional import conditional_complexity
from tests.nml import literal_joint as literal

GRID = np.array(list(product([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])))


def model_of(values, counts, m, intercept, k=2):
    tables = np.zeros((len(values), k), dtype=int)
    tables[:, 0] = counts
    return cell_model(additive_design(values, m, intercept), tables, k)[0]


@settings(max_examples=25)
@given(st.data())
def test_sums_over_all_label_sequences(data):
    """Any features of small whole numbers, equal and zero rows among them."""
    k = data.draw(st.sampled_from([2, 2, 3]))
    q = data.draw(st.integers(1, 3))
    n = data.draw(st.integers(1, 6 if k == 2 else 4))
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
    model = model_of(values, [3, 2, 2, 3], 1, True)
    wide = np.ceil(np.log2(np.abs(np.array(model.rows, dtype=float)).max()))
    assert wide > 50
    sequences = np.repeat(np.column_stack([np.ones(4), values]), [3, 2, 2, 3], axis=0)
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
