import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memdlib.nml._engine import rule
from memdlib.nml._engine.boundary import boundary_sum, complexity_bounds
from memdlib.nml._engine.draws import monte_carlo_complexity
from memdlib.nml._engine.enumeration import enumerated_complexity
from memdlib.nml._engine.level_model import level_model
from memdlib.nml._engine.rule import (
    N_KEPT,
    TooLongError,
    Tube,
    expected_fits,
    gauss_complexity,
    level_rule,
    rule_seconds,
)
from memdlib.nml._engine.saturated import saturated_complexity, two_outcome_sum
from memdlib.nml._engine.statistic_table import statistic_lattice, tabulated_complexity


def exact_law(n):
    """Maximised likelihoods of n labels, summed by their label count."""
    return [
        comb(n, k) * Fraction(k, n) ** k * Fraction(n - k, n) ** (n - k)
        for k in range(n + 1)
    ]


@pytest.mark.parametrize(("n", "n_nodes"), [(20, 3), (41, 6), (60, 1), (60, 7)])
def test_polynomials_are_integrated_exactly(n, n_nodes):
    nodes, weights = level_rule(n, n_nodes)
    law, half = exact_law(n), Fraction(n, 2)
    assert nodes.size == n_nodes + 2 * N_KEPT
    for degree in range(2 * n_nodes):
        # from 0 on, so that odd degrees do not vanish by symmetry
        exact = sum(w * (k / half) ** degree for k, w in enumerate(law))
        assert weights @ (nodes / float(half)) ** degree == pytest.approx(
            float(exact), rel=1e-13
        )
    degree = 2 * n_nodes
    exact = sum(w * (k / half - 1) ** degree for k, w in enumerate(law))
    above = weights @ (nodes / float(half) - 1) ** degree
    assert abs(above - float(exact)) > 1e-9


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 11, 30])
def test_few_label_counts_are_all_nodes(n):
    nodes, weights = level_rule(n, 23)
    assert nodes.tolist() == list(range(n + 1))
    assert weights == pytest.approx([float(w) for w in exact_law(n)], rel=1e-12)


@pytest.mark.parametrize(("n", "n_nodes"), [(9, 1), (10, 2), (200, 25), (5000, 90)])
def test_nodes_mirror_each_other_and_keep_the_ends(n, n_nodes):
    nodes, weights = level_rule(n, n_nodes)
    assert (np.diff(nodes) > 0).all()
    assert (weights > 0).all()
    assert (nodes + nodes[::-1] == n).all()
    assert weights == pytest.approx(weights[::-1], rel=1e-11)
    assert nodes[:N_KEPT].tolist() == list(range(N_KEPT))
    assert weights.sum() == pytest.approx(two_outcome_sum(n), rel=1e-11)


def all_counts(model):
    """Rules that leave no label count out."""
    return [level_rule(int(n), int(n)) for n in model.counts]


@given(
    st.lists(st.integers(1, 6), min_size=2, max_size=5),
    st.lists(st.integers(-12, 12), min_size=5, max_size=5, unique=True),
    st.integers(1, 4),
    st.booleans(),
    st.sampled_from([0.1, 2.0, 8.0, 30.0]),
)
@settings(max_examples=60, deadline=None)
def test_the_sum_and_what_is_left_out(counts, values, m, intercept, depth):
    values = np.array(values[: len(counts)], dtype=float)
    model = level_model(np.array(counts), values, m, intercept)
    assume(not model.saturated)
    exact = np.exp(enumerated_complexity(model)) - boundary_sum(model)
    found = Tube(model, all_counts(model), depth).sum()
    rounding = 1e-9 * (1.0 + exact)
    assert found.interior <= exact + rounding
    assert exact <= found.interior + found.omitted + rounding
    if depth == 30.0:
        assert found.omitted < 1e-8


def test_a_deeper_tube_takes_more_fits():
    model = level_model(np.full(4, 12), np.arange(1.0, 5.0), 2, False)
    shallow, deep = (Tube(model, all_counts(model), depth).sum() for depth in (3, 9))
    assert shallow.n_fits < deep.n_fits < 13**4
    assert shallow.interior < deep.interior
    assert deep.omitted < shallow.omitted


def test_the_order_of_the_levels_does_not_matter():
    """Rules of different sizes, with an odd and an even number of nodes."""
    counts = np.array([30, 7, 52, 11])
    for intercept in (False, True):
        sums = []
        for turn in (1, -1):
            model = level_model(
                counts[::turn], turn * np.arange(1.0, 5.0)[::turn], 2, intercept
            )
            rules = [level_rule(int(n), 9) for n in model.counts]
            sums.append(Tube(model, rules, 20.0).sum().interior)
        assert sums[0] == pytest.approx(sums[1], rel=1e-8)


def test_logits_that_go_far():
    """Near ties: maxima at logits of hundreds, which labels of one kind hardly tell."""
    values = np.array([-0.83, 0.15, 0.22, 0.84, 0.93, 1.93, 2.37])
    model = level_model(np.array([1, 3, 4, 4, 4, 3, 3]), values, 5, True)
    exact = np.exp(enumerated_complexity(model)) - boundary_sum(model)
    found = Tube(model, all_counts(model), 40.0).sum()
    assert found.interior == pytest.approx(exact, rel=2e-9)


def test_a_walk_ends_when_it_has_taken_all_its_fits():
    model = level_model(np.full(4, 12), np.arange(1.0, 5.0), 2, False)
    rules = all_counts(model)
    n_fits = Tube(model, rules, 9.0).sum().n_fits
    assert Tube(model, rules, 9.0, n_fits).sum().n_fits == n_fits
    with pytest.raises(TooLongError):
        Tube(model, rules, 9.0, n_fits - 1).sum()


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
    monkeypatch.setattr(rule, "_MOST_RULES", 1)
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
    assert rule._estimate(changes) == error


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
    monkeypatch.setattr(rule, "Tube", None)
    assert gauss_complexity(model, most_seconds=60.0) is None


def test_rules_that_take_longer_than_foreseen_are_left(monkeypatch):
    model = model_of([100] * 3, 2)
    limit = rule_seconds(model)
    assert gauss_complexity(model, most_seconds=3 * limit) is not None
    monkeypatch.setattr(rule, "expected_fits", lambda *_: 0.0)
    assert gauss_complexity(model, most_seconds=limit / 20) is None


def test_label_counts_that_are_all_nodes_take_one_rule(monkeypatch):
    model = model_of([8, 9, 14], 2)
    walks = []

    class Counted(Tube):
        def sum(self):
            walks.append([level.nodes.size for level in self.levels])
            return super().sum()

    monkeypatch.setattr(rule, "Tube", Counted)
    found, _ = gauss_complexity(model)
    assert found == pytest.approx(enumerated_complexity(model), abs=1e-6)
    assert walks == [[9, 10, 15]]
