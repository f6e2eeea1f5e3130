import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memdlib.nml import conditional_complexity, conditional_complexity_estimate, sums
from memdlib.nml.level_model import level_model
from memdlib.nml.sums import exact_complexity, exact_way, statistic_keys
from tests.nml.literal import literal_complexity


def test_batches_of_label_counts_add_up(monkeypatch):
    model = level_model(np.array([4, 3, 5, 2]), np.arange(1.0, 5.0), 2, False)
    ways = ("enumeration", "table")
    whole = [exact_complexity(model, way)[0] for way in ways]
    monkeypatch.setattr(sums, "_BATCH", 17)
    monkeypatch.setattr(sums, "_TRACED", 5)
    parts = [exact_complexity(model, way)[0] for way in ways]
    assert parts == pytest.approx(whole, abs=1e-13)


def test_the_sum_is_the_literal_one_within_its_uncertainty():
    counts, values = [3, 1, 4, 2], [-1.0, 0.5, 2.0, 7.0]
    model = level_model(np.array(counts), np.array(values), 2, True)
    found, uncertainty = exact_complexity(model, "enumeration")
    truth = literal_complexity(counts, values, 2, True)
    assert abs(found - truth) < uncertainty + 1e-9
    assert 0.0 < uncertainty < 1e-11


def test_more_levels_than_there_are_patterns_for():
    """Ten levels of one sample: whichever way tells the boundary."""
    model = level_model(np.full(10, 1), np.sqrt(np.arange(1.0, 11.0)), 3, True)
    few = exact_complexity(model, "enumeration")[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sums, "_MOST_PATTERNS", 3**10)
        assert exact_complexity(model, "enumeration")[0] == pytest.approx(
            few, rel=1e-14
        )


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


def test_the_precision_of_the_machine_bounds_the_table():
    most = (np.finfo(np.longdouble).maxexp - 24) * 2
    for n, there in ((1000, True), (most // 2, True), (most // 2 + 1, False)):
        model = level_model(np.array([n, n]), np.array([1.0, 2.0]), 1, False)
        assert (statistic_keys(model) is not None) == there


def test_extended_precision_beyond_the_range_of_doubles(monkeypatch):
    model = level_model(np.array([300, 200]), np.array([1.0, 2.0]), 1, False)
    found = exact_complexity(model, "table")[0]
    monkeypatch.setattr(sums, "_MOST_DOUBLE", 100)
    assert exact_complexity(model, "table")[0] == pytest.approx(found, abs=1e-12)


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
    def keys(*values):
        model = level_model(np.array([2, 3, 4]), np.array(values), 1, False)
        found = statistic_keys(model)
        return None if found is None else found.tolist()

    assert keys(0.1, 0.2, 0.3) == [1, 2, 3]  # 0.3 / 0.1 is not 3
    assert keys(1 / 3, 0.5, 7 / 6) == [2, 3, 7]
    assert keys(-2.0, 4.0, 8.0) == [-1, 2, 4]
    assert keys(1.0, 2.0, 3.0 * (1 + 1e-12)) is None
    assert keys(1.0, 2.0 * (1 - 1e-12), 3.0) is None
    assert keys(1.0, 2.0, 3.0001) is None
    assert keys(1.0, 2.0, 10001.0) is None


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
