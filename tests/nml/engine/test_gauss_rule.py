import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memdlib.nml._engine import gauss_rule
from memdlib.nml._engine.bounds import complexity_bounds
from memdlib.nml._engine.draws import monte_carlo_complexity
from memdlib.nml._engine.enumeration import enumerated_complexity
from memdlib.nml._engine.gauss_rule import (
    expected_fits,
    gauss_complexity,
    rule_seconds,
)
from memdlib.nml._engine.level_model import level_model
from memdlib.nml._engine.level_rule import level_rule
from memdlib.nml._engine.saturated import saturated_complexity
from memdlib.nml._engine.statistic_table import statistic_lattice, tabulated_complexity
from memdlib.nml._engine.tube import Tube


def model_of(counts, m, values=None, intercept=False):
    values = np.arange(1.0, len(counts) + 1) if values is None else np.array(values)
    return level_model(np.array(counts), values, m, intercept)


@pytest.mark.parametrize(
    ("counts", "m", "intercept"),
    [
        ([200, 200, 200], 2, False),
        ([150, 20, 90], 1, True),
        ([66, 66, 66, 66], 2, False),
        ([30, 31, 32, 33, 34], 2, False),
        ([1000, 1000], 1, False),
        ([700, 100, 700, 500], 1, False),
        ([200] * 5, 1, False),
    ],
)
def test_tables_agree_within_the_error(counts, m, intercept):
    model = model_of(counts, m, intercept=intercept)
    exact = tabulated_complexity(model, statistic_lattice(model))
    found, error = gauss_complexity(model)
    assert 0 < error <= 1e-6
    assert abs(found - exact) < error


@pytest.mark.parametrize(
    ("counts", "m", "values"),
    [
        ([18, 19, 20, 21], 3, [-3.0, -1.0, 2.0, 7.0]),
        ([14, 15, 14, 15, 14], 3, None),
        ([60, 45, 30], 2, [-1.0, 0.4, math.pi]),
    ],
)
def test_enumeration_agrees_within_the_error(counts, m, values):
    model = model_of(counts, m, values)
    exact = enumerated_complexity(model)
    found, error = gauss_complexity(model, 1e-5)
    assert abs(found - exact) < error <= 1e-5


@given(
    st.lists(st.integers(1, 40), min_size=2, max_size=3),
    st.lists(st.integers(-8, 8), min_size=3, max_size=3, unique=True),
    st.integers(1, 2),
    st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_any_values_and_counts(counts, values, m, intercept):
    model = model_of(counts, m, np.array(values[: len(counts)], float), intercept)
    assume(not model.saturated)
    found = gauss_complexity(model, 1e-5)
    assert found is not None
    assert abs(found[0] - enumerated_complexity(model)) < found[1] <= 1e-5


@pytest.mark.parametrize(
    ("counts", "values"), [([34, 2], [0.03125, 13.0]), ([356, 229], [71.8, -0.043])]
)
def test_kinks_are_not_taken_for_settled(counts, values):
    """Level values that differ by hundreds: the sum has the scale of single labels."""
    model = model_of(counts, 1, values)
    found = gauss_complexity(model, 1e-5)
    if found is not None:
        assert abs(found[0] - enumerated_complexity(model)) < found[1]


def test_draws_agree_where_nothing_exact_is_in_reach():
    model = model_of([200] * 4, 3)
    found, error = gauss_complexity(model)
    drawn, spread = monte_carlo_complexity(model, 2**16)
    assert error <= 1e-6
    assert abs(found - drawn) < 5 * spread < 0.05
    lower, upper = complexity_bounds(model)
    assert lower < found < upper


def test_more_nodes_tell_the_error():
    """Stated errors fall with the tolerance, and their differences obey them."""
    model = model_of([90, 110, 100, 95], 2)
    results = [gauss_complexity(model, tolerance) for tolerance in (1e-2, 1e-5, 1e-8)]
    best = results[-1][0]
    for (found, error), tolerance in zip(results, (1e-2, 1e-5, 1e-8), strict=True):
        assert abs(found - best) <= error + results[-1][1]
        assert error <= tolerance


def test_nothing_is_returned_above_the_tolerance_or_the_time(monkeypatch):
    model = model_of([100] * 3, 2)
    assert gauss_complexity(model, most_seconds=1e-6) is None
    assert gauss_complexity(model_of([10**6] * 3, 2), most_seconds=1e9) is None
    monkeypatch.setattr(gauss_rule, "_MOST_RULES", 1)
    assert gauss_complexity(model) is None
    few = model_of([8, 7, 8], 2)
    assert gauss_complexity(few)[0] == pytest.approx(
        enumerated_complexity(few), abs=1e-6
    )


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ([], math.inf),
        ([1e-9], math.inf),
        # falling fast, and once by chance
        ([1.0, 0.125], 0.25),
        ([1.0, 0.125, 1e-9], 0.0625),
        # at some time too slowly
        ([1.0, 0.5], 8.0),
        ([1.0, 0.5, 1e-9], 4.0),
        ([1.0, 0.5, 1e-9, 1e-9], 1 / 32),
    ],
)
def test_the_error_from_changes(changes, error):
    assert gauss_rule._estimate(changes) == error


def test_a_saturated_model_has_its_closed_form():
    model = model_of([200] * 3, 3)
    assert gauss_complexity(model)[0] == saturated_complexity(model)


@pytest.mark.parametrize(
    ("counts", "m"), [([100] * 3, 1), ([100] * 3, 2), ([40] * 4, 2), ([30] * 5, 1)]
)
def test_the_work_is_foreseen(counts, m):
    model = model_of(counts, m)
    rules = [level_rule(int(n), 12) for n in counts]
    taken = Tube(model, rules, 18.0).sum()
    expected = expected_fits(model, [12] * len(counts), 18.0)
    assert 1 / 3 < expected / taken.n_fits < 3


def test_many_moments_take_a_minute_or_more_and_are_not_begun(monkeypatch):
    counts = [10, 4, 7, 12, 4, 13, 4, 0, 5, 10]
    model = model_of(counts, 6, np.arange(-6.0, 4.0), True)
    assert 60 < rule_seconds(model) < 1000
    monkeypatch.setattr(gauss_rule, "Tube", None)
    assert gauss_complexity(model, most_seconds=60.0) is None


def test_rules_that_take_longer_than_foreseen_are_left(monkeypatch):
    model = model_of([100] * 3, 2)
    limit = rule_seconds(model)
    assert gauss_complexity(model, most_seconds=3 * limit) is not None
    monkeypatch.setattr(gauss_rule, "expected_fits", lambda *_: 0.0)
    assert gauss_complexity(model, most_seconds=limit / 20) is None


def test_label_counts_that_are_all_nodes_take_one_rule(monkeypatch):
    model = model_of([8, 9, 14], 2)
    walks = []

    class Counted(Tube):
        def sum(self):
            walks.append([level.nodes.size for level in self.levels])
            return super().sum()

    monkeypatch.setattr(gauss_rule, "Tube", Counted)
    found, _ = gauss_complexity(model)
    assert found == pytest.approx(enumerated_complexity(model), abs=1e-6)
    assert walks == [[9, 10, 15]]
