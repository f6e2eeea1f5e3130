import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memdlib.nml._engine.enumeration import enumerated_complexity
from memdlib.nml._engine.level_model import level_model
from memdlib.nml._engine.level_rule import level_rule
from memdlib.nml._engine.separation import boundary_sum
from memdlib.nml._engine.tube import TooLongError, Tube


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
