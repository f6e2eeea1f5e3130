import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memdlib.nml import conditional_complexity, conditional_complexity_estimate
from memdlib.nml._engine import statistic_table
from memdlib.nml._engine.enumeration import enumerated_complexity
from memdlib.nml._engine.level_model import level_model
from memdlib.nml._engine.statistic_table import statistic_lattice, tabulated_complexity

occupancies = st.lists(st.integers(0, 5), min_size=2, max_size=5).filter(any)


@given(occupancies, st.integers(1, 2), st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_table_is_the_enumeration(counts, m, intercept):
    values = np.arange(len(counts)) - 1.0
    model = level_model(np.array(counts), values, m, intercept)
    lattice = statistic_lattice(model)
    in_reach = model.dimension <= 2 and not model.saturated
    assert (lattice is not None) == in_reach
    assume(in_reach)
    assert tabulated_complexity(model, lattice) == pytest.approx(
        enumerated_complexity(model), abs=1e-12
    )


def test_the_precision_of_the_machine_bounds_the_table():
    most = (np.finfo(np.longdouble).maxexp - 24) * 2
    for n, there in ((1000, True), (most // 2, True), (most // 2 + 1, False)):
        model = level_model(np.array([n, n]), np.array([1.0, 2.0]), 1, False)
        assert (statistic_lattice(model) is not None) == there


def test_extended_precision_beyond_the_range_of_doubles(monkeypatch):
    """The same table in both, and one that no double holds against draws."""
    model = level_model(np.array([300, 200]), np.array([1.0, 2.0]), 1, False)
    found = tabulated_complexity(model, statistic_lattice(model))
    monkeypatch.setattr(statistic_table, "_MOST_DOUBLE", 100)
    statistic_table._binomials.cache_clear()
    again = tabulated_complexity(model, statistic_lattice(model))
    monkeypatch.undo()
    statistic_table._binomials.cache_clear()
    assert found == pytest.approx(again, abs=1e-12)


def test_a_thousand_samples_a_level_against_draws():
    found = conditional_complexity([1000, 1000], 1)
    estimate = conditional_complexity_estimate([1000, 1000], 1, method="monte-carlo")
    assert found == pytest.approx(estimate.complexity, abs=5 * estimate.uncertainty)


def test_values_that_no_scale_makes_integers_are_enumerated():
    found = conditional_complexity_estimate([3, 4, 5], 1, [1.0, math.e, math.pi])
    assert found.method == "enumeration"
    close = conditional_complexity_estimate([3, 4, 5], 1, [0.1, 0.2, 0.3])
    assert close.method in ("table", "enumeration")
    even = conditional_complexity_estimate([3, 4, 5], 1)
    both = close.uncertainty + even.uncertainty
    assert close.complexity == pytest.approx(even.complexity, rel=0, abs=both)


def test_what_the_table_takes_for_multiples_of_one_unit():
    def generators(*values):
        model = level_model(np.array([2, 3, 4]), np.array(values), 1, False)
        lattice = statistic_lattice(model)
        return None if lattice is None else lattice.generators.ravel().tolist()

    assert generators(0.1, 0.2, 0.3) == [1, 2, 3]  # 0.3 / 0.1 is not 3
    assert generators(1 / 3, 0.5, 7 / 6) == [2, 3, 7]
    assert generators(1.0, 2.0, 3.0 * (1 + 1e-12)) is None
    assert generators(1.0, 2.0 * (1 - 1e-12), 3.0) is None
    assert generators(1.0, 2.0, 3.0001) is None
    assert generators(1.0, 2.0, 10001.0) is None
