import re
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdlib.densities.measures import (
    InfeasibleMomentsError,
    RoundedMomentsError,
    check_possible,
    measure_moments,
    measure_sample,
)
from memdlib.densities.support import Support

LINE = Support.interval(-np.inf, np.inf)


@given(st.integers(0, 10**6), st.integers(2, 8), st.floats(-50, 50))
def test_a_few_points_have_the_moments_of_a_sample(seed, m, shift):
    rng = np.random.default_rng([61, seed])
    x = shift + rng.uniform(0.1, 10) * rng.normal(size=(40, 3))
    share = rng.dirichlet(np.ones(40))
    found = measure_sample(x, share, m, LINE)
    assert found.nodes.shape == (3, m // 2 + 1)
    np.testing.assert_allclose(found.weights.sum(axis=1), 1, rtol=1e-12)
    u = (x - found.origin) / found.unit
    for j in range(1, m + 1):
        size = share @ np.abs(u) ** j
        error = (found.weights * found.nodes**j).sum(axis=1) - share @ u**j
        assert (np.abs(error) < 1e-10 * size).all()


def test_moments_and_the_sample_that_has_them_give_the_same_measure():
    x = np.random.default_rng([61, 1]).gamma(3.0, size=(50, 2))
    raw = np.stack([(x**j).mean(axis=0) for j in range(1, 6)], axis=1)
    ours = measure_moments(raw, Support.interval(0, np.inf))
    peer = measure_sample(x, np.full(50, 0.02), 5, Support.interval(0, np.inf))
    np.testing.assert_allclose(ours.nodes, peer.nodes, rtol=1e-8)
    np.testing.assert_allclose(ours.weights, peer.weights, rtol=1e-7)
    low, high = ours[[1]].ends(Support.interval(0, np.inf))
    assert low == -ours.origin[1] / ours.unit[1]
    assert high == np.inf


@pytest.mark.parametrize(
    ("mu", "support", "low", "high"),
    [
        ([0.4, None], (0, 1), 0.16, 0.4),
        ([0.4, 0.25, None], (0, 1), 0.25**2 / 0.4, 0.25 - 0.15**2 / 0.6),
        ([1.0, 1.5, None], (0, np.inf), 2.25, None),
        ([0.0, 1.0, 0.5, None], (-np.inf, np.inf), 1.25, None),
        ([-1.0, 1.5, None], (-np.inf, 0), None, -2.25),
    ],
)
def test_the_edges_of_what_is_possible_are_those_of_the_classical_problems(
    mu, support, low, high
):
    """Hausdorff's, Stieltjes's and Hamburger's problem; determinants by hand."""
    support = Support.interval(*support)
    for edge, side in ((low, 1.0), (high, -1.0)):
        if edge is None:
            continue
        inside = np.array([[*mu[:-1], edge + 1e-6 * side]])
        check_possible(measure_moments(inside, support), len(mu), support)
        outside = np.array([[*mu[:-1], edge - 1e-6 * side]])
        with pytest.raises(InfeasibleMomentsError, match="must"):
            check_possible(measure_moments(outside, support), len(mu), support)


def test_rounding_that_hides_the_density_is_named():
    x = 1e6 + np.random.default_rng([61, 2]).normal(size=(100, 1))
    raw = np.stack([(x**j).mean(axis=0) for j in range(1, 5)], axis=1)
    with pytest.raises(
        (RoundedMomentsError, InfeasibleMomentsError), match="u\\^|x\\^"
    ):
        measure_moments(raw, LINE)
    assert measure_sample(x, np.full(100, 0.01), 4, LINE).nodes.shape == (1, 3)
    flat = np.array([[1.0, 1.0]])
    with pytest.raises(InfeasibleMomentsError, match=r"E x\^2 = 1 must be above 1"):
        measure_moments(flat, LINE)


def test_samples_of_too_few_values_are_named():
    x, share = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 1.0]]), np.full(3, 1 / 3)
    with pytest.raises(InfeasibleMomentsError, match="constant .1. in density 1"):
        measure_sample(x, share, 2, LINE)
    with pytest.raises(InfeasibleMomentsError, match="only 2 distinct values in dens"):
        measure_sample(x[:, [0]], share, 4, LINE)


@pytest.mark.parametrize(
    ("mu", "support", "message"),
    [
        (
            [0.4, 0.5],
            (0, 1),
            r"E x\^2 = 0\.5 must lie strictly between 0\.16 and 0\.4 t",
        ),
        ([0.4, 0.25, 0.3], (0, 1), "lie strictly between -0.583333 and 1.5 to occur"),
        (
            [1.0, 1.5, 2.0],
            (0, np.inf),
            r"E u\^3 .* must be above -0\.707107 to occur on",
        ),
        (
            [-1.0, 1.5, -2.0],
            (-np.inf, 0),
            r"E u\^3 .* must be below 0\.707107 to occur",
        ),
        (
            [0.4, 0.4],
            (0, 1),
            r"0\.4 must .* and 0\.4 \(to rounding it lies on that edge",
        ),
    ],
)
def test_the_range_that_is_left_to_a_moment_is_told(mu, support, message):
    """Of x in units from the mean: E u^3 = (E x^3 - 3 m E x^2 + 2 m^3) / s^3."""
    support = Support.interval(*support)
    with pytest.raises(InfeasibleMomentsError, match=message):
        check_possible(measure_moments(np.array([mu]), support), len(mu), support)


@pytest.mark.parametrize(
    ("mean", "support", "message"),
    [
        (1.0, (0, 1), "must lie strictly between 0 and 1"),
        (0.0, (0, 1), "must lie strictly between 0 and 1"),
        (0.0, (0, np.inf), "must be above 0, the end of the support"),
        (5.0, (-np.inf, 5), "must be below 5, the end of the support"),
    ],
)
@pytest.mark.parametrize("m", [1, 2])
def test_a_mean_at_an_end_is_outside(mean, support, message, m):
    rows = np.array([[2.0, 5.0][:m], [mean, mean**2 + 1.0][:m]])
    rows[0] = [0.5, 0.5][:m]
    with pytest.raises(InfeasibleMomentsError, match=f"density 1: E x = .* {message}"):
        measure_moments(rows, Support.interval(*support))


@pytest.mark.parametrize("shift", [0.0, 1e2, 1e3, 1e4, 3e5])
@pytest.mark.parametrize("m", [2, 3, 4])
def test_moments_about_zero_are_right_or_refused(shift, m):
    """Against exact arithmetic of the sample, within five per cent."""
    x = shift + np.random.default_rng([61, 3]).gamma(2.0, size=(60, 1))
    raw = np.stack([(x**j).mean(axis=0) for j in range(1, m + 1)], axis=1)
    mean = Fraction(x.mean())
    exact = [sum((Fraction(v) - mean) ** j for v in x[:, 0]) / 60 for j in range(m + 1)]
    if shift**m > 1e10:
        with pytest.raises(RoundedMomentsError, match="in doubt by"):
            measure_moments(raw, LINE)
    else:
        found = measure_moments(raw, LINE)
        u = found.nodes * found.unit / float(exact[2]) ** 0.5
        for j in range(2, m + 1):
            expected = float(exact[j]) / float(exact[2]) ** (j / 2)
            about = (found.weights * u**j).sum()
            assert about == pytest.approx(expected, abs=0.05)


def test_a_variance_within_rounding_of_the_square_is_none():
    """Moments about zero are rounded by 2^-53 of themselves each."""
    for rounding, error, message in (
        (2.0**-51, InfeasibleMomentsError, "must be positive"),
        (2.0**-48, RoundedMomentsError, r"leaves E u\^2"),
    ):
        with pytest.raises(error, match=message):
            measure_moments(np.array([[1.0, 1.0 + rounding]]), LINE)
    found = measure_moments(np.array([[1.0, 1.0 + 1e-8]]), LINE)
    assert found.unit[0] == pytest.approx(1e-4, rel=1e-6)


def test_the_doubt_that_rounding_leaves_is_told():
    """2^-53 of every product that makes a moment about the mean, in units of s^j."""
    x = 1e4 + np.random.default_rng([61, 4]).normal(size=(80, 1))
    raw = np.stack([(x**j).mean(axis=0) for j in range(1, 4)], axis=1)
    mean, square, cube = raw[0]
    sizes = mean**3 + 3 * mean**2 * mean + 3 * mean * square + cube
    doubt = 2.0**-53 * sizes / x.std() ** 3
    with pytest.raises(RoundedMomentsError, match=r"in doubt by (\S+);") as told:
        measure_moments(raw, LINE)
    found = float(re.search(r"in doubt by (\S+);", str(told.value))[1])
    assert found == pytest.approx(doubt, rel=0.06)


ENDS = [(-1.5, 4.0), (0.5, np.inf), (-np.inf, -0.5), (-np.inf, np.inf)]


def at_an_edge(support, m, side):
    """Points and weights whose m-th moment is extreme given those before it, or None.

    So few points have an index of m / 2 at most, an end counting half (Krein).
    """
    ends = [end for end in support if np.isfinite(end)]
    if m % 2 == 0:
        chosen = [] if side < 0 else ends
        if side > 0 and len(ends) < 2:
            return None
    else:
        chosen = [support[0] if side < 0 else support[1]]
        if not np.isfinite(chosen).all():
            return None
    count = (m - len(chosen)) // 2
    rng = np.random.default_rng([61, 5, m])
    low = support[0] if np.isfinite(support[0]) else min(support[1], 3.0) - 5.0
    high = support[1] if np.isfinite(support[1]) else low + 5.0
    place = (np.arange(count) + rng.uniform(0.4, 0.8, size=count)) / max(count, 1)
    x = np.array([*chosen, *(low + (high - low) * place)])
    return x, rng.uniform(0.5, 1.5, size=len(x))


EDGES = [
    (support, m, side)
    for support in ENDS
    for m in (3, 4, 5, 6)
    for side in (-1, 1)
    if at_an_edge(support, m, side) is not None
]


@pytest.mark.parametrize(("support", "m", "side"), EDGES)
def test_the_edges_are_those_of_principal_representations(support, m, side):
    within = Support.interval(*support)
    x, w = at_an_edge(support, m, side)
    w = w / w.sum()
    sd = np.sqrt(w @ (x - w @ x) ** 2)
    rows = np.array([[w @ x**j for j in range(1, m + 1)]] * 2)
    rows[:, -1] -= side * 1e-5 * sd**m
    assert check_possible(measure_moments(rows, within), m, within).nodes.shape[0] == 2
    rows[1, -1] += 2 * side * 1e-5 * sd**m
    with pytest.raises(InfeasibleMomentsError, match=rf"density 1: E u\^{m} ") as told:
        check_possible(measure_moments(rows, within), m, within)
    numbers = re.search(r"(between|above|below) (\S+)( and (\S+))?", str(told.value))
    edge = numbers[4] if numbers[4] and side > 0 else numbers[2]
    expected = w @ ((x - w @ x) / sd) ** m
    assert float(edge.rstrip(",")) == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_measures_of_moments_have_them_and_tell_their_doubt(m):
    rng = np.random.default_rng([61, 6, m])
    x = np.array([1.0, -2.0, 0.5]) + rng.gamma(3.0, size=(40, 3)) * [1.0, 0.5, 2.0]
    raw = np.stack([(x**j).mean(axis=0) for j in range(1, m + 1)], axis=1)
    found = measure_moments(raw, LINE)
    assert found.nodes.shape == found.weights.shape == (3, m // 2 + 1)
    np.testing.assert_allclose(found.unit, x.std(axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.origin, x.mean(axis=0), rtol=1e-12)
    points = found.origin[:, None] + found.unit[:, None] * found.nodes
    for j in range(m + 1):
        expected = (x**j).mean(axis=0)
        np.testing.assert_allclose(
            (found.weights * points**j).sum(axis=1), expected, rtol=1e-8
        )
    mean, mu = np.abs(x.mean(axis=0)), np.abs(np.insert(raw, 0, 1.0, axis=1))
    for j in range(1, m + 1):
        sizes = sum(comb(j, i) * mean ** (j - i) * mu[:, i] for i in range(j + 1))
        expected = 2.0**-53 * sizes / x.std(axis=0) ** j
        np.testing.assert_allclose(found.doubt[:, j - 1], expected, rtol=1e-6)
    sample = measure_sample(x, np.full(40, 1 / 40), m, LINE)
    assert sample.doubt.shape == (3, m) and not sample.doubt.any()


@pytest.mark.parametrize(
    ("support", "unit"),
    [((0, 10), [2.0, 3.0, 5.0]), ((0, np.inf), [2, 7, 5]), ((-np.inf, 10), [8, 3, 5])],
)
def test_one_moment_is_measured_by_the_distance_of_the_nearer_end(support, unit):
    within, means = Support.interval(*support), np.array([[2.0], [7.0], [5.0]])
    for found in (
        measure_moments(means, within),
        measure_sample(means.T.repeat(3, 0), np.array([0.2, 0.5, 0.3]), 1, within),
    ):
        assert found.unit.tolist() == unit
        assert found.origin.tolist() == [2.0, 7.0, 5.0]
        assert found.nodes.tolist() == [[0.0]] * 3
        np.testing.assert_allclose(found.weights, 1.0, rtol=1e-15)
        low, high = found.ends(within)
        np.testing.assert_allclose(low * unit, support[0] - means[:, 0])
        np.testing.assert_allclose(high * unit, support[1] - means[:, 0])


@pytest.mark.parametrize(("end", "support"), [(1.0, (1, 3)), (3.0, (1, 3))])
def test_one_moment_of_a_constant_sample_at_an_end_has_no_density(end, support):
    x = np.column_stack([[1.5, 2.5, 2.0], np.full(3, end)])
    with pytest.raises(InfeasibleMomentsError, match=r"constant .* in density 1"):
        measure_sample(x, np.full(3, 1 / 3), 1, Support.interval(*support))


def test_values_without_weight_are_not_there():
    x = np.array([[1.0, 4.0], [1.0, 2.0], [9.0, 3.0], [1.0, 7.0]])
    share = np.array([0.3, 0.2, 0.0, 0.5])
    with pytest.raises(InfeasibleMomentsError, match=r"constant .1. in density 0"):
        measure_sample(x, share, 2, LINE)
    found = measure_sample(x[:, [1]], share, 2, LINE)
    assert found.origin[0] == pytest.approx(5.1) and found.unit[0] ** 2 == (
        pytest.approx(0.3 * 1.1**2 + 0.2 * 3.1**2 + 0.5 * 1.9**2)
    )


@pytest.mark.parametrize(("count", "m"), [(2, 3), (3, 5), (3, 4), (4, 7)])
def test_as_many_values_carry_one_moment_less_than_twice_their_number(count, m):
    x = np.arange(count, dtype=float).repeat(2)[:, None]
    share = np.full(2 * count, 0.5 / count)
    assert measure_sample(x, share, m, LINE).nodes.shape == (1, m // 2 + 1)
    with pytest.raises(
        InfeasibleMomentsError,
        match=f"only {count} distinct .*: {2 * count} moments .* than {2 * count} mom",
    ):
        measure_sample(x, share, 2 * count, LINE)
