import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memdlib.nml import conditional_complexity_estimate, sums
from memdlib.nml.level_model import level_model
from memdlib.nml.sums import exact_complexity, exact_way, statistic_keys
from tests.nml.literal import literal_complexity


def test_the_sum_is_the_literal_one_within_its_uncertainty():
    counts, values = [3, 1, 4, 2], [-1.0, 0.5, 2.0, 7.0]
    model = level_model(np.array(counts), np.array(values), 2, True)
    found, uncertainty = exact_complexity(model, "enumeration")
    truth = literal_complexity(counts, values, 2, True)
    assert abs(found - truth) < uncertainty + 1e-9
    assert 0.0 < uncertainty < 1e-11


occupancies = st.lists(st.integers(0, 5), min_size=2, max_size=5).filter(any)


@given(occupancies, st.integers(1, 2), st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_table_is_the_enumeration(counts, m, intercept):
    values = np.arange(len(counts)) - 1.0
    model = level_model(np.array(counts), values, m, intercept)
    assume(model.dimension <= 2 and not model.saturated)
    table, every = (exact_complexity(model, w)[0] for w in ("table", "enumeration"))
    assert table == pytest.approx(every, abs=1e-12)


def test_the_way_of_fewest_terms():
    def way(counts, m, values=None):
        x = np.arange(1.0, len(counts) + 1) if values is None else np.array(values)
        return exact_way(level_model(np.array(counts), x, m, False))

    assert way([5, 4, 6], 3) == ("saturated", 0.0)
    assert way([40] * 5, 1)[0] == "table"
    assert way([8, 8, 8, 7, 7], 3) == ("enumeration", 9**3 * 8**2 / 2)
    assert way([3, 4, 5], 1, values=[1.0, math.e, math.pi])[0] == "enumeration"
    assert way([10**11] * 40, 4) == ("enumeration", math.inf)


def test_extended_precision_beyond_the_range_of_doubles(monkeypatch):
    model = level_model(np.array([300, 200]), np.array([1.0, 2.0]), 1, False)
    found = exact_complexity(model, "table")[0]
    monkeypatch.setattr(sums, "_MOST_DOUBLE", 100)
    assert exact_complexity(model, "table")[0] == pytest.approx(found, abs=1e-12)


def test_values_that_no_scale_makes_integers_are_enumerated():
    found = conditional_complexity_estimate([3, 4, 5], 1, [1.0, math.e, math.pi])
    assert found.method == "enumeration"
    close = conditional_complexity_estimate([3, 4, 5], 1, [0.1, 0.2, 0.3])
    assert close.method in ("table", "enumeration")
    even = conditional_complexity_estimate([3, 4, 5], 1)
    both = close.uncertainty + even.uncertainty
    assert close.complexity == pytest.approx(even.complexity, rel=0, abs=both)


def test_each_pair_of_statistics_has_a_key_of_its_own():
    for values, intercept in (((-3.0, -1.0, 2.0, 4.0), False), ((0.0, 1, 2, 5), True)):
        model = level_model(
            np.array([2, 3, 1, 4]), np.array(values), 2 - intercept, intercept
        )
        ones = np.indices((3, 4, 2, 5)).reshape(4, -1)
        first = np.ones(4) if intercept else np.array(values)
        pairs = np.stack([first, first * np.array(values)]) @ ones
        distinct = np.unique(pairs, axis=1).shape[1]
        assert len(np.unique(statistic_keys(model) @ ones)) == distinct
