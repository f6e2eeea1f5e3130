import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdlib.nml import (
    added_feature_codelengths,
    conditional_complexity,
    conditional_complexity_estimate,
    conditional_error,
    joint_bounds,
    joint_codelength,
    joint_complexity,
    joint_error,
)
from tests.nml import literal_joint as literal

LEVELS = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [2, 1], [2, 0], [0, 0]])
LABELS = [0, 1, 0, 1, 0, 1, 1, 0]


def features(levels, m, intercept, values=None):
    values = np.arange(1.0, 9.0) if values is None else np.asarray(values)
    x = values[np.asarray(levels)]
    powers = [column**j for column in x.T for j in range(1, m + 1)]
    return np.column_stack([*powers, *[np.ones(len(x))] * intercept])


@settings(max_examples=15)
@given(st.data())
def test_complexity_and_error_by_literal_enumeration(data):
    k = data.draw(st.sampled_from([2, 2, 3]))
    n = data.draw(st.integers(1, 7 if k == 2 else 4))
    d = data.draw(st.integers(1, 3))
    row = st.lists(st.integers(0, 2), min_size=d, max_size=d)
    levels = data.draw(st.lists(row, min_size=n, max_size=n))
    labels = data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    m, intercept = data.draw(st.integers(1, 2)), data.draw(st.booleans())
    values = data.draw(st.sampled_from([None, [-1.0, 0.0, 2.0], [0.5, 0.25, 4.0]]))
    given = levels, labels, m, values, intercept, k
    x = features(levels, m, intercept, values)
    found = joint_codelength(*given)
    assert found.complexity == pytest.approx(literal.complexity(x, k), abs=1e-6)
    expected = -literal.supremum(x, np.array(labels), k)
    assert found.error == pytest.approx(expected, abs=1e-6)
    assert joint_error(*given) == found.error
    assert joint_complexity(levels, m, values, intercept, k)[0] == found.complexity


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_one_feature_has_the_code_length_of_one_feature(m, intercept):
    rng = np.random.default_rng(12)
    level, labels = rng.integers(0, 4, size=38), rng.integers(0, 2, size=38)
    counts, ones = np.bincount(level), np.bincount(level, weights=labels)
    found = joint_codelength(level[:, None], labels, m, intercept=intercept)
    expected = conditional_complexity(counts, m, intercept=intercept)
    assert found.complexity == pytest.approx(expected, abs=1e-10)
    error = conditional_error(counts, ones, m, intercept=intercept)
    assert found.error == pytest.approx(error, abs=1e-10)


def test_the_order_of_features_classes_and_samples_does_not_matter():
    base = joint_codelength(LEVELS, LABELS, 1, intercept=True)
    turned = joint_codelength(
        LEVELS[::-1, ::-1], 1 - np.array(LABELS)[::-1], 1, intercept=True
    )
    assert turned.error == pytest.approx(base.error, abs=1e-12)
    assert turned.complexity == pytest.approx(base.complexity, abs=1e-12)


def test_the_unit_of_the_values_does_not_matter():
    base = joint_complexity(LEVELS, 2, [1.0, 2.0, 5.0]).complexity
    for factor in (0.5, -4.0, 2.0**-40, 2.0**300):
        scaled = joint_complexity(LEVELS, 2, factor * np.array([1.0, 2.0, 5.0]))
        assert scaled.complexity == pytest.approx(base, abs=1e-12)
    shifted = [
        joint_complexity(LEVELS, 2, np.array([1.0, 2.0, 5.0]) + b, True).complexity
        for b in (0.0, -3.0, 2.0**40)
    ]
    assert shifted == pytest.approx([shifted[0]] * 3, abs=1e-9)


def test_bounds_hold_and_meet_where_the_model_is_saturated():
    lower, upper = joint_bounds(LEVELS, 1, intercept=True)
    assert lower < joint_complexity(LEVELS, 1, intercept=True).complexity < upper
    lower, upper = joint_bounds(LEVELS[:, :1], 3)
    assert lower == pytest.approx(upper, abs=1e-12)
    assert upper == pytest.approx(joint_complexity(LEVELS[:, :1], 3).complexity)


def test_enough_moments_of_one_feature_saturate():
    found = joint_complexity(LEVELS[:, :1], 3)
    assert found.method == "saturated"
    # two features stay additive: four cells and three parameters
    assert joint_complexity(LEVELS % 2, 5, intercept=True).method == "statistics"


def test_all_values_at_zero_leave_uniform_labels():
    found = joint_codelength(
        np.zeros((5, 2), dtype=int), [0, 1, 2, 2, 0], 1, [0.0], n_classes=3
    )
    assert found.complexity == 0.0
    assert found.error == pytest.approx(5 * math.log(3), rel=1e-14)


def test_added_features_are_those_of_the_pairs():
    rng = np.random.default_rng(13)
    levels = rng.integers(0, 3, size=(14, 4))
    labels = (levels[:, 0] + levels[:, 2] > 2).astype(int)
    found = added_feature_codelengths(levels, labels, [0], 1, intercept=True)
    for j, total in enumerate(found.total):
        columns = [0, j] if j else [0]
        pair = joint_codelength(levels[:, columns], labels, 1, intercept=True)
        assert total == pair.total
    assert found.total.argmin() == 2
    assert found.method.tolist() == ["statistics"] * 4
    some = added_feature_codelengths(levels, labels, [0], 1, [2, 3], intercept=True)
    assert some.total.tolist() == found.total[2:].tolist()
    alone = added_feature_codelengths(levels, labels, [], 1, intercept=True)
    first = joint_codelength(levels[:, :1], labels, 1, intercept=True)
    assert alone.total[0] == first.total == found.total[0]


def test_draws_are_told_and_come_near():
    levels = np.random.default_rng(14).integers(0, 3, size=(38, 2))
    exact = joint_complexity(levels, 1, intercept=True)
    drawn = joint_complexity(
        levels, 1, intercept=True, method="monte-carlo", n_draws=2**14, seed=2
    )
    assert (exact.method, drawn.method) == ("statistics", "monte-carlo")
    assert 0 < exact.uncertainty < 2e-12
    assert 0 < drawn.uncertainty < 0.1
    assert abs(drawn.complexity - exact.complexity) < 4 * drawn.uncertainty


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levels": [0, 1]}, r"levels has shape \(2,\); give samples x features"),
        ({"levels": [[0.5]]}, "levels is float64; give level indices"),
        ({"levels": [[-1]]}, "levels is negative"),
        ({"labels": [0]}, r"labels has shape \(1,\); give one class a sample, 8"),
        ({"labels": [2] * 8}, "labels holds 2; map the classes to 0, .., 1"),
        ({"labels": [0.5] * 8}, "labels holds 0.5"),
        ({"n_moments": 0}, "n_moments=0 must be an integer, 1 or more"),
        ({"n_classes": 1}, "n_classes=1 must be an integer, 2 or more"),
        ({"intercept": "no"}, "intercept='no' must be True or False"),
        ({"level_values": [1.0, 2.0]}, "levels holds 2, so give 3 values or more"),
        ({"level_values": [1.0, 2.0, 2.0]}, "holds 2.0 more than once; join levels"),
        ({"level_values": [1.0, np.inf, 2.0]}, "level_values holds inf"),
        ({"level_values": [1.0, 2j, 3.0]}, "level_values must be real numbers"),
        ({"labels": [None, 1] * 4}, "labels holds None; map the classes"),
        ({"method": "fisher"}, "method='fisher' must be one of"),
        ({"n_draws": 0}, "n_draws=0 must be an integer"),
    ],
)
def test_what_cannot_be_is_named(change, message):
    given = {"levels": LEVELS, "labels": LABELS, "n_moments": 1, **change}
    with pytest.raises(ValueError, match=message):
        joint_codelength(**given)


def test_columns_must_exist():
    for name, inside, more in (("given", [2], None), ("candidates", [0], [5])):
        with pytest.raises(ValueError, match=f"{name} holds .; levels has the columns"):
            added_feature_codelengths(LEVELS, LABELS, inside, 1, more)
    with pytest.raises(ValueError, match="given=0 must be several columns"):
        added_feature_codelengths(LEVELS, LABELS, 0, 1)
    with pytest.raises(ValueError, match="candidates is empty"):
        added_feature_codelengths(LEVELS, LABELS, [0], 1, [])


def test_what_is_too_large_for_any_method_is_refused():
    levels = np.random.default_rng(15).integers(0, 5, size=(400, 6))
    with pytest.raises(ValueError, match=r"\d+ cells .* join levels, or take fewer"):
        joint_complexity(levels, 2)


def of_one_feature(counts, m, k, values=None, intercept=False):
    levels = np.repeat(np.arange(len(counts)), counts)[:, None]
    return joint_complexity(levels, m, values, intercept, k)


def test_four_classes_by_literal_enumeration():
    found = of_one_feature([1, 1, 2], 1, 4)
    expected = literal.complexity([[1.0], [2.0], [3.0], [3.0]], 4)
    assert found.complexity == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("k", [3, 5])
def test_a_saturated_model_has_the_closed_form(k):
    found = of_one_feature([5, 8, 3], 3, k)
    assert found.method == "saturated"
    expected = conditional_complexity([5, 8, 3], 3, n_classes=k)
    assert found.complexity == pytest.approx(expected, rel=1e-14)


def test_complexity_rises_with_moments_and_classes():
    by_m = [of_one_feature([3, 2, 2, 3], m, 3).complexity for m in (1, 2, 3, 4)]
    assert (np.diff(by_m) > 0).all()
    by_k = [of_one_feature([1, 2, 2], 1, k).complexity for k in (2, 3, 4)]
    assert (np.diff(by_k) > 0).all()


def test_classes_may_be_renamed_and_need_not_occur():
    level = np.repeat([0, 1, 2], 4)[:, None]
    labels = np.array([0, 0, 0, 1, 0, 1, 2, 2, 1, 2, 2, 2])
    expected = joint_error(level, labels, 1, n_classes=3)
    for order in ([1, 0, 2], [2, 1, 0], [1, 2, 0]):
        renamed = joint_error(level, np.array(order)[labels], 1, n_classes=3)
        assert renamed == pytest.approx(expected, abs=1e-10)
    level, labels = np.array([[0], [0], [1], [1], [2]]), [0, 0, 1, 1, 1]
    found = joint_codelength(level, labels, 2, n_classes=3)
    assert found.complexity == of_one_feature([2, 2, 1], 2, 3).complexity


@pytest.mark.parametrize("intercept", [False, True])
def test_levels_too_uneven_for_its_fits_are_refused(intercept):
    with pytest.raises(ValueError, match="too uneven for"):
        of_one_feature([2, 3, 2, 2], 3 - intercept, 3, [1.0, 2.0, 4.0, 1e7], intercept)


@pytest.mark.parametrize("least", [1e-308, 5e-324])
def test_a_level_next_to_nothing_is_refused(least):
    """One logit may be more times another than there are numbers for."""
    with pytest.raises(ValueError, match="too uneven for"):
        of_one_feature([2, 3, 2, 2], 1, 3, [1.0, 2.0, 4.0, least], False)


@pytest.mark.parametrize(
    ("counts", "m", "values", "intercept"),
    [
        ([2, 3, 2, 2], 2, [1.0, 2.0, 4.0, 8.0], False),
        ([2, 3, 2, 2], 2, [1.0, 2.0, 4.0, 1e3], False),
        ([2, 3, 2, 2], 1, [1.0, 2.0, 4.0, 1e3], True),
        ([4, 1, 5], 2, [11.0, 26.0, 7860.0], False),
        ([1, 1, 3, 4], 3, [1.0, 3.0, 197.0, 643.0], False),
        ([1, 6, 2, 6], 2, [1.5, 5.0, 7.0, 2000.0], False),
    ],
)
def test_uneven_levels_are_as_far_off_as_it_says(counts, m, values, intercept):
    """Against the certified solver of two classes and one feature."""
    found = of_one_feature(counts, m, 2, values, intercept)
    exact = conditional_complexity_estimate(counts, m, values, intercept, "exact")
    assert abs(found.complexity - exact.complexity) < (
        found.uncertainty + exact.uncertainty
    )
    assert found.uncertainty < 1e-9
    assert found.kind == "estimate"


@pytest.mark.parametrize(
    ("method", "k", "intercept"), [("auto", 2, True), ("monte-carlo", 3, False)]
)
def test_added_features_with_everything_that_can_be_said(method, k, intercept):
    levels = np.array([[0, 0, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 0]])
    labels = np.array([0, 1, 1, 0, k - 1])
    given = 1, [-1.0, 0.5, 7.0], intercept, k, method, 2**10, 5
    m, values, *rest = given
    found = added_feature_codelengths(
        levels, labels, iter([2, 2]), m, iter([1, 2, 0, 1]), values, *rest
    )
    for j, column in enumerate([1, 2, 0, 1]):
        columns = [2] if column == 2 else [2, column]
        one = joint_codelength(levels[:, columns], labels, *given)
        assert found.error[j] == one.error
        assert found.complexity[j] == one.complexity
        assert found.uncertainty[j] == one.uncertainty
        assert found.method[j] == one.method
        apart = joint_complexity(levels[:, columns], *given)
        assert tuple(apart) == (one.complexity, one.uncertainty, one.method)
        error = joint_error(levels[:, columns], labels, *given[:4])
        assert error == one.error and type(error) is float
    assert found.total.shape == (4,) and found.method.shape == (4,)
    assert found.error.dtype == found.uncertainty.dtype == np.float64
    ways = {"statistics": "estimate", "monte-carlo": "standard error"}
    kinds = [ways.get(way, "bound") for way in found.method]
    assert found.kind.tolist() == kinds


def test_draws_follow_their_seed_and_number():
    def drawn(*given):
        return joint_complexity(LEVELS, 1, None, True, 2, "monte-carlo", *given)

    assert drawn() == drawn(2**16, 0)
    assert drawn(2**10) == drawn(2**10, 0) != drawn(2**10, 1)
    ratio = drawn(2**10).uncertainty / drawn(2**14).uncertainty
    assert ratio == pytest.approx(4.0, rel=0.3)
    for n_draws in (0, 2.0):
        with pytest.raises(ValueError, match="must be an integer, 1 or more"):
            drawn(n_draws)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_bounds_enclose_the_complexity_of_any_values_and_classes(k, intercept):
    # two features of two classes, one feature of three
    levels, values = LEVELS[[0, 2, 3, 5, 6], : 4 - k], [0.0, -1.0, 2.5, 9.0]
    given = 1, values, intercept, k
    lower, upper = joint_bounds(levels, *given)
    exact = joint_complexity(levels, *given).complexity
    assert lower <= exact <= upper and lower < upper
    assert type(lower) is float and type(upper) is float
    free = joint_bounds(levels[:, :1], 4, values, True, k)
    counts = np.bincount(levels[:, 0])
    saturated = conditional_complexity(counts, 4, values[:3], True, n_classes=k)
    assert free == pytest.approx((saturated, saturated), abs=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levels": [[0.5]]}, "levels is float64; give level indices 0, 1, .."),
        (
            {"level_values": [1.0, 2.0]},
            "level_values has shape (2,); levels holds 2, so give 3 values or more",
        ),
        (
            {"level_values": [[1.0, 2.0, 3.0]]},
            "level_values has shape (1, 3); levels holds 2, so give 3 values or more",
        ),
        (
            {"given": [0, 2]},
            "given holds 2; levels has the columns 0 to 1",
        ),
        ({"given": [-1]}, "given=-1 must be an integer, 0 or more"),
        ({"candidates": [1, 2]}, "candidates holds 2; levels has the columns 0 to 1"),
        ({"candidates": [1.0]}, "candidates=1.0 must be an integer, 0 or more"),
        ({"candidates": 1}, "candidates=1 must be several columns, such as [0]"),
        ({"candidates": ()}, "candidates is empty; give at least one column"),
        ({"intercept": 1}, "intercept=1 must be True or False"),
        ({"n_classes": 1}, "n_classes=1 must be an integer, 2 or more"),
    ],
)
def test_messages_of_added_features_name_the_remedy(change, message):
    arguments = {"given": [0], "n_moments": 1, **change}
    arguments = {"levels": LEVELS, "labels": LABELS, **arguments}
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        added_feature_codelengths(**arguments)


@pytest.mark.parametrize("call", [joint_complexity, joint_bounds])
def test_what_needs_no_labels_refuses_the_same(call):
    for change, message in (
        ({"n_classes": 1}, "n_classes=1 must be an integer, 2 or more"),
        ({"n_moments": 0}, "n_moments=0 must be an integer, 1 or more"),
        ({"intercept": 0}, "intercept=0 must be True or False"),
        ({"level_values": [1, 2]}, "levels holds 2, so give 3 values or more"),
    ):
        with pytest.raises(ValueError, match=message):
            call(**{"levels": LEVELS, "n_moments": 1, **change})


def test_samples_at_zero_cost_the_logarithm_of_the_classes():
    """Without an intercept, next to those whose labels can be told."""
    levels = np.array([[0], [0], [0], [1], [1], [1], [1]])
    labels = [0, 1, 2, 2, 2, 2, 1]
    found = joint_error(levels, labels, 1, [0.0, 3.0, 4.0], n_classes=3)
    told = 4 * math.log(4) - 3 * math.log(3)
    assert found == pytest.approx(3 * math.log(3) + told, abs=1e-9)
