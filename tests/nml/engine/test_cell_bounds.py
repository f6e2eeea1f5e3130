from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdlib.nml._engine import cell_sums
from memdlib.nml._engine.cell_bounds import complexity_bounds, within_bounds
from memdlib.nml._engine.cell_model import additive_design, cell_model
from memdlib.nml._engine.cell_sums import exact_cell_complexity

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
