import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memdlib.nml._engine import compiled, tube
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


@pytest.mark.parametrize(("counts", "m"), [([9, 12, 8], 1), ([60, 12, 8, 7], 2)])
def test_both_ways_agree(monkeypatch, counts, m):
    """Without numba the kernel runs in Python, on few cases."""
    model = level_model(np.array(counts), np.arange(1.0, len(counts) + 1), m, False)
    rules = [level_rule(int(n), 2) for n in model.counts]
    found = []
    for there in (None, math):
        monkeypatch.setattr(compiled, "numba", there)
        # Python warns of the lanes that hold no case
        with np.errstate(all="ignore"):
            found.append(Tube(model, rules, 12.0).sum())
    assert found[0].interior == pytest.approx(found[1].interior, rel=1e-10)
    assert found[0].omitted == pytest.approx(found[1].omitted, rel=1e-8)
    assert found[0].n_fits <= found[1].n_fits


def test_walks_that_the_kernel_gives_up_are_finished(monkeypatch):
    """A kernel that never settles anything leaves all of it to NumPy."""
    model = level_model(np.array([9, 12, 8]), np.arange(1.0, 4.0), 1, False)
    rules = [level_rule(int(n), 2) for n in model.counts]
    expected = Tube(model, rules, 12.0).sum()

    def give_up(counts, basis, products, target, *rest):
        none = np.empty(0, dtype=np.int64)
        stuck = rest[3].copy()
        return 0.0, 0.0, 0, stuck, none, none, np.empty((len(target), 0))

    monkeypatch.setattr(compiled, "numba", math)
    monkeypatch.setattr(tube, "walk", give_up)
    found = Tube(model, rules, 12.0).sum()
    assert found.interior == pytest.approx(expected.interior, rel=1e-10)
    assert found.n_fits == expected.n_fits


def test_logits_that_go_far_need_no_damped_steps(monkeypatch):
    """Near ties: maxima at logits of hundreds, which labels of one kind hardly tell."""
    values = np.array([-0.83, 0.15, 0.22, 0.84, 0.93, 1.93, 2.37])
    model = level_model(np.array([1, 3, 4, 4, 4, 3, 3]), values, 5, True)
    exact = np.exp(enumerated_complexity(model)) - boundary_sum(model)
    monkeypatch.setattr(tube, "damped_fit", None)
    found = Tube(model, all_counts(model), 40.0).sum()
    assert found.interior == pytest.approx(exact, rel=2e-9)


def test_a_walk_ends_when_it_has_taken_all_its_steps():
    model = level_model(np.full(4, 12), np.arange(1.0, 5.0), 2, False)
    rules = all_counts(model)
    n_steps = Tube(model, rules, 9.0).sum().n_steps
    assert Tube(model, rules, 9.0, n_steps).sum().n_steps == n_steps
    with pytest.raises(TooLongError):
        Tube(model, rules, 9.0, n_steps - 1).sum()
