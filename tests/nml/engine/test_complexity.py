import math
from itertools import product

import numpy as np
import pytest

from memdlib.nml import conditional_complexity, conditional_complexity_estimate
from memdlib.nml._engine import complexity
from memdlib.nml._engine.complexity import (
    Budget,
    complexities,
    exact_complexity,
    forget,
)
from memdlib.nml._engine.enumeration import enumerated_complexity
from memdlib.nml._engine.level_model import level_model

CENTRED = (-1.5, -0.5, 0.5, 1.5)


def test_the_cheapest_way_within_the_limit():
    def way(counts, m, seconds=10.0, values=None):
        x = np.arange(1.0, len(counts) + 1) if values is None else np.array(values)
        found = exact_complexity(level_model(np.array(counts), x, m, False), seconds)
        return found and found[2]

    assert way([5, 4, 6], 3) == "saturated"
    assert way([40] * 5, 1) == "table"
    assert way([8, 8, 8, 7, 7], 3) == "enumeration"
    assert way([3, 4, 5], 1, values=[1.0, math.e, math.pi]) == "enumeration"
    assert way([40] * 5, 1, seconds=1e-9) is None
    assert way([200] * 5, 4) is None


@pytest.mark.parametrize(
    "values", [(1.0, 2.0, 3.0, 4.0), CENTRED, (4.0, 3.0, 2.0, 1.0), (-3.0, 1.0, 2.0, 6)]
)
def test_what_is_kept_is_never_the_complexity_of_another_model(values):
    """Alike in counts, values or dimension, but for one of them, or the intercept."""
    forget()
    counts = [(2, 3, 1, 4), (4, 1, 3, 2), (3, 2, 1, 4), (2, 3, 4, 1)]
    for row, m, intercept in product(counts, (1, 2, 3), (False, True)):
        model = level_model(np.array(row), np.array(values), m, intercept)
        found = conditional_complexity(row, m, values, intercept)
        assert found == pytest.approx(enumerated_complexity(model), abs=1e-11)


@pytest.mark.parametrize(
    ("values", "intercept", "n_fits"),
    [
        (CENTRED, False, 1),
        (CENTRED, True, 1),
        ((1.0, 2.0, 3.0, 4.0), True, 1),
        ((1.0, 2.0, 3.0, 4.0), False, 2),
        ((1.0, 2.0, 3.0, 5.0), True, 2),
    ],
)
def test_mirrored_models_are_worked_out_once(monkeypatch, values, intercept, n_fits):
    forget()
    done = []
    way = complexity.exact_complexity
    monkeypatch.setattr(
        complexity, "exact_complexity", lambda *a: done.append(1) or way(*a)
    )
    rows = np.array([[2, 3, 1, 4], [4, 1, 3, 2], [2, 3, 1, 4]])
    models = [level_model(row, np.array(values), 2, intercept) for row in rows]
    found = complexities(models)[0]
    assert len(done) == n_fits
    assert found[0] == found[2]
    assert (found[0] == found[1]) == (n_fits == 1)
    again = complexities(models)[0]
    assert len(done) == n_fits
    np.testing.assert_array_equal(again, found)
    forget()
    complexities(models[:1])
    assert len(done) == n_fits + 1


def test_saturated_levels_in_any_order_are_worked_out_once(monkeypatch):
    forget()
    done = []
    way = complexity.exact_complexity
    monkeypatch.setattr(
        complexity, "exact_complexity", lambda *a: done.append(1) or way(*a)
    )
    rows = np.array([[1, 2, 3], [3, 1, 2], [2, 3, 1], [1, 2, 4]])
    values = np.array([-1.0, 0.3, 2.0])
    found = complexities([level_model(row, values, 3, False) for row in rows])[0]
    assert len(done) == 2
    assert found[0] == found[1] == found[2] < found[3]


def test_the_way_is_found_once(monkeypatch):
    forget()
    done = []
    way = complexity.statistic_lattice
    monkeypatch.setattr(
        complexity, "statistic_lattice", lambda *a: done.append(1) or way(*a)
    )
    rows = np.array([[30, 20, 40], [20, 30, 40], [40, 20, 30]])
    models = [level_model(row, np.arange(1.0, 4.0), 1, False) for row in rows]
    assert set(complexities(models)[2]) == {"table"}
    complexities(models, "exact")
    assert len(done) == 3


def test_one_complexity_whichever_function_finds_it():
    forget()
    found = conditional_complexity_estimate([4, 1, 3, 2], 1, CENTRED)
    assert found.complexity == conditional_complexity([2, 3, 1, 4], 1, CENTRED)
    assert found.complexity == conditional_complexity([[4, 1, 3, 2]], 1, CENTRED)[0]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_rows_are_found_in_their_order(n_jobs):
    rng = np.random.default_rng([5, 11])
    rows = rng.integers(1, 5, size=(25, 3))
    forget()
    models = [level_model(row, np.arange(1.0, 4.0), 1, False) for row in rows]
    found, uncertainty, method = complexities(models, n_jobs=n_jobs)
    for i, model in enumerate(models):
        assert found[i] == pytest.approx(enumerated_complexity(model), abs=1e-12)
    assert (0.0 < uncertainty).all() and (uncertainty < 1e-12).all()
    assert set(method) <= {"table", "enumeration"}


def test_a_budget_decides_between_the_ways():
    """What is not cheap is exact, settled or drawn as the budget goes."""
    model = level_model(np.full(4, 33), np.arange(1.0, 5.0), 3, False)
    found = {}
    for exact, rules in ((9.0, 9.0), (0.0, 9.0), (0.0, 0.0)):
        value, doubt, way = complexities([model], budget=Budget(exact, rules, 2**14))
        found[str(way[0])] = value[0], doubt[0]
    assert list(found) == ["enumeration", "gauss", "monte-carlo"]
    exact = found["enumeration"][0]
    for value, doubt in found.values():
        assert abs(value - exact) < 5.0 * doubt + 1e-12
    assert found["gauss"][1] < 1e-6 < found["monte-carlo"][1] < 0.01


def test_results_come_in_the_order_of_their_models():
    rows = [[2, 1, 3], [1, 1, 1], [9, 9, 9], [2, 1, 3], [30, 30, 30], [1, 2, 2]]
    cases = [(np.array(row), m) for row in rows for m in (1, 2, 3)]
    models = [level_model(row, np.arange(1.0, 4.0), m, False) for row, m in cases]
    together = complexities(models)[0]
    forget()
    alone = [complexities([model])[0][0] for model in models]
    assert together == pytest.approx(alone, abs=1e-12)
