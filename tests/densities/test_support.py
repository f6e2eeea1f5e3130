from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special

from memdlib.densities.recurrence import Recurrence
from memdlib.densities.support import (
    CHECK,
    STEPS,
    Support,
    breakpoints,
    feature_values,
    gauss_legendre,
    mirror,
    orthonormal_coefficients,
    panel_nodes,
    powers,
    read_support,
)


def test_a_pair_is_an_interval_and_a_list_is_a_set_of_levels():
    assert read_support((0, 1)) == Support(0.0, 1.0)
    assert read_support([1, 0]) == Support(0.0, 1.0, (0.0, 1.0))
    assert read_support((3, 1, 2)).levels == (1.0, 2.0, 3.0)
    assert read_support(np.array([2.0, 5.0])).kind == "levels"
    kinds = [read_support(s).kind for s in ((0, 1), (0, np.inf), (-np.inf, np.inf))]
    assert kinds == ["interval", "half-line", "line"]
    support = read_support((0, 2))
    assert read_support(support) is support
    assert str(read_support(range(7))) == "the levels 0, 1, 2, 3, ..."
    assert str(read_support((-np.inf, np.inf))) == "(-inf, inf)"


@pytest.mark.parametrize(
    ("support", "message"),
    [
        ((1.0, 0.0), "must be .a, b. with a < b"),
        ((0.0, np.nan), "must be .a, b. with a < b"),
        ([1.0], "a pair .a, b. or at least two levels"),
        (3.0, "a pair .a, b. or at least two levels"),
        ([1.0, 1.0, 2.0], "must be finite and distinct"),
        ([1.0, np.inf], "must be finite and distinct"),
    ],
)
def test_what_is_no_support_is_named(support, message):
    with pytest.raises(ValueError, match=message):
        read_support(support)


GAUSSIAN = np.sqrt(2 * np.pi)


@pytest.mark.parametrize(
    ("support", "function", "expected"),
    [
        ((-1, 1), lambda u: np.exp(u), 2 * np.sinh(1)),
        ((-3, 5), lambda u: u**4, 0.4),  # standard coordinates are [-1, 1] throughout
        ((0, np.inf), lambda u: u**3 * np.exp(-u), 6.0),
        ((7, np.inf), lambda u: np.exp(-2 * u), 0.5),
        ((-np.inf, 7), lambda u: np.exp(-2 * u), 0.5),
        ((-np.inf, np.inf), lambda u: u**2 * np.exp(-(u**2) / 2), GAUSSIAN),
        ((0.0, 2.0, 4.0), lambda u: u**2, 2.0),
    ],
)
def test_grids_integrate(support, function, expected):
    u, log_weights = read_support(support).grid(256)
    assert (np.diff(u) >= 0).all()
    found = np.sum(np.exp(log_weights) * function(u))
    assert found == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("support", "function", "expected"),
    [
        # singular at the ends, heavy in the tail, bent at the origin
        ((-1, 1), lambda u: np.sqrt(1 - np.minimum(np.abs(u), 1) ** 2), np.pi / 2),
        ((0, np.inf), lambda u: u**-0.5 * np.exp(-u), np.sqrt(np.pi)),
        ((0, np.inf), lambda u: u**-0.5 / (1 + u) ** 2, special.beta(0.5, 1.5)),
        ((-np.inf, np.inf), lambda u: (1 + u**2) ** -2.0, np.pi / 2),
        ((-np.inf, np.inf), lambda u: np.exp(-np.abs(u)), 2.0),
    ],
)
def test_grids_for_densities_that_are_not_smooth(support, function, expected):
    u, log_weights = read_support(support).grid(512)
    found = np.sum(np.exp(log_weights) * function(u))
    assert found == pytest.approx(expected, rel=1e-9)


def test_standard_coordinates():
    for support, origin, unit in (
        ((-np.inf, np.inf), 0, 1),
        ((1, np.inf), 1, 1),
        ((-np.inf, 3), 3, -1),
        ((0, 10), 5, 5),
        ([0, 2, 6], 3, 3),
    ):
        assert read_support(support).standardise() == (origin, unit)


def test_an_interval_and_levels_can_be_named():
    assert Support.interval(0, 1) == read_support((0, 1))
    assert Support.of([1, 0]) == read_support([0, 1])
    assert str(Support.interval(-np.inf, 2)) == "(-inf, 2]"
    with pytest.raises(ValueError, match="must be .a, b. with a < b"):
        Support.interval(2, 1)
    with pytest.raises(ValueError, match="finite and distinct, two at least"):
        Support.of([1.0])


@given(st.integers(1, 60))
def test_gauss_legendre_is_exact_for_polynomials(n):
    nodes, weights = gauss_legendre(n)
    degree = 2 * n - 2
    assert np.sum(weights * nodes**degree) == pytest.approx(2 / (degree + 1), rel=1e-10)


def test_rules_are_shared_and_so_cannot_be_written_to():
    nodes, weights = gauss_legendre(5)
    assert gauss_legendre(5)[0] is nodes
    for array in (nodes, weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    with pytest.raises(ValueError, match="n_nodes=0 must be an integer, 1 or more"):
        gauss_legendre(0)


@pytest.mark.parametrize("support", [(-1, 1), (0, np.inf), (-np.inf, np.inf)])
def test_folding_undoes_unfolding(support):
    support, t = read_support(support), np.linspace(-0.75, 0.8, 39)
    u, slope = support.unfold(t)
    found = support.fold(u)
    # at the ends of an interval u itself has lost the digits
    np.testing.assert_allclose(
        found, t, rtol=0, atol=1e-6 if support.bounded else 1e-12
    )
    numerical = (support.unfold(t + 1e-6)[0] - u) / 1e-6
    np.testing.assert_allclose(slope, numerical, rtol=1e-3)


def test_an_interval_is_not_empty():
    with pytest.raises(ValueError, match="must be .a, b. with a < b"):
        read_support((1, 1))


@pytest.mark.parametrize("m", [1, 3, 10])
@pytest.mark.parametrize(
    "support", [(-1, 1), (0, np.inf), (-np.inf, np.inf), range(12)]
)
def test_polynomials_become_orthonormal(m, support):
    support = read_support(support)
    u, log_weights = support.grid(300)
    measure = log_weights + support.log_reference(u)
    C = orthonormal_coefficients(powers(u, m), measure)
    basis = np.column_stack([np.ones(len(u)), powers(u, m)]) @ C
    mass = np.exp(measure - measure.max())
    gram = (basis.T * (mass / mass.sum())) @ basis
    np.testing.assert_allclose(gram, np.eye(m + 1), rtol=0, atol=1e-6)
    assert (np.diag(C) > 0).all()
    np.testing.assert_array_equal(C, np.triu(C))


def test_legendre_and_hermite_are_found_again():
    for support, evaluate in (
        ((-1, 1), lambda j, u: np.sqrt(2 * j + 1) * special.eval_legendre(j, u)),
        (
            (-np.inf, np.inf),
            lambda j, u: special.eval_hermitenorm(j, u) / np.sqrt(special.factorial(j)),
        ),
        ((0, np.inf), lambda j, u: (-1.0) ** j * special.eval_laguerre(j, u)),
    ):
        support = read_support(support)
        u, log_weights = support.grid(300)
        C = orthonormal_coefficients(
            powers(u, 5), log_weights + support.log_reference(u)
        )
        x = np.linspace(0.1, 0.9, 5)
        basis = np.column_stack([np.ones(5), powers(x, 5)]) @ C
        for j in range(6):
            np.testing.assert_allclose(basis[:, j], evaluate(j, x), rtol=1e-7)


def test_dependent_features_are_refused():
    u = np.linspace(-1, 1, 4)
    with pytest.raises(ValueError, match="4 moments and the constant are not linearly"):
        orthonormal_coefficients(powers(u, 4), np.zeros(4))
    twice = np.column_stack([u, 2 * u - 1])
    with pytest.raises(ValueError, match="not linearly independent on 4 points"):
        orthonormal_coefficients(twice, np.zeros(4))


@pytest.mark.parametrize("make", [Support.interval, lambda *ends: Support.of(ends)])
def test_ends_whose_products_are_no_numbers_are_refused(make):
    with pytest.raises(ValueError, match="wider than 1e.300.* scale of order one"):
        make(-1e308, 1e308)
    assert make(-4e299, 4e299).standardise() == (0.0, 4e299)


@pytest.mark.parametrize("levels", [[0, 1, 2j], [[0, 1], [2]], ["a", "b"]])
def test_levels_are_real_numbers(levels):
    with pytest.raises(ValueError, match="levels must be real numbers"):
        Support.of(levels)
    with pytest.raises(ValueError, match="at least two levels, all of them numbers"):
        read_support(levels)


@pytest.mark.parametrize("levels", [STEPS, CHECK])
@pytest.mark.parametrize(
    ("coef", "lower", "upper"),
    [
        ([0, 0, 0.5, 0, 0], -np.inf, np.inf),
        ([0, 0.3, -8.0, 0, 2.0], -np.inf, np.inf),
        ([0, -900.0, 450.0, 0, 0], -1.0, 5.0),
        ([0, 2.0, 0, 0, 1e-3], 0.0, np.inf),
        ([0, -2.0, 0, 0, 1e-3], -np.inf, 0.0),
        ([0, 0, 0, 0, 0], -1.0, 1.0),
        ([0, 30.0, 0, -700.0, 0], -1.0, 1.0),
    ],
)
def test_panels_integrate_what_lives_on_them(coef, lower, upper, levels):
    basis = Recurrence(np.zeros((1, 4)), np.sqrt([[1.0, 2.0, 3.0, 4.0]]))
    log_density = np.polynomial.Polynomial(coef)
    u = np.linspace(-1, 1, 5)
    change = basis.evaluate(u[None])[:, 0].T
    theta = np.linalg.solve(change, log_density(u))[None]
    ends = breakpoints(basis, theta, np.array([lower]), np.array([upper]), levels)
    nodes, weights = panel_nodes(ends, 20)
    turns = [t.real for t in log_density.deriv().roots()] if any(coef) else [0.0]
    inside = np.clip([*turns, 0.0], lower, upper)
    low, high = max(lower, inside.min() - 40), min(upper, inside.max() + 40)
    least = log_density(np.linspace(low, high, 200001)).min()
    around = [low, high, *inside, *(inside + 1), *(inside - 1)]
    cuts = np.unique(np.clip(around, low, high))
    expected = sum(
        integrate.quad(lambda x: np.exp(least - log_density(x)), a, b, epsabs=1e-15)[0]
        for a, b in pairwise(cuts)
    )
    found = (weights * np.exp(least - log_density(nodes))).sum()
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_reference_is_normal_exponential_or_uniform():
    u = np.array([-2.0, 0.5, 3.0])
    for ends, expected in (
        ((-np.inf, np.inf), -(u**2) / 2),
        ((0, np.inf), -u),
        ((0, 1), 0 * u),
    ):
        found = Support.interval(*ends).log_reference(u)
        np.testing.assert_array_equal(found, expected)


def test_the_widest_support_is_the_one_documented():
    for make in (Support.interval, lambda *ends: Support.of(ends)):
        assert make(-5e299, 5e299).upper == 5e299
        with pytest.raises(ValueError, match="from -5e.299 to 5.001e.299 is wider"):
            make(-5e299, 5.001e299)
    # an end alone may be anywhere
    assert Support.interval(1e305, np.inf).kind == "half-line"
    assert Support.interval(-np.inf, -1e305).kind == "half-line"


def test_supports_are_told_in_full_up_to_four_levels():
    told = [
        str(read_support(s))
        for s in ((-1, 2.5), (0, np.inf), (-np.inf, 0), [4, 1, 2, 3], [5, 1, 2, 3, 4])
    ]
    assert told[:3] == ["[-1, 2.5]", "[0, inf)", "(-inf, 0]"]
    assert told[3:] == ["the levels 1, 2, 3, 4", "the levels 1, 2, 3, 4, ..."]
    assert Support(0.0, np.inf) == Support(0.0, np.inf, close=-6.5)
    assert "close" not in repr(Support(0.0, np.inf))


@pytest.mark.parametrize(
    ("support", "expected"),
    [
        ((-1, 2), [0, 0, 1, 1, 1, 0, 0, 0]),
        ((-1, np.inf), [0, 0, 1, 1, 1, 1, 0, 0]),
        ((-np.inf, 2), [0, 1, 1, 1, 1, 0, 0, 0]),
        ((-np.inf, np.inf), [0, 1, 1, 1, 1, 1, 0, 0]),
        ([-1, 2], [0, 0, 1, 0, 1, 0, 0, 0]),
    ],
)
def test_ends_belong_to_a_support_and_infinity_does_not(support, expected):
    x = np.array([[-np.inf, -1.1, -1.0, 0.5], [2.0, 2.1, np.inf, np.nan]])
    found = read_support(support).contains(x)
    np.testing.assert_array_equal(found, np.array(expected, bool).reshape(2, 4))


@pytest.mark.parametrize("lower", [0.0, 3.0])
def test_grids_reach_as_far_as_they_say(lower):
    """To 1e12 from an end or the origin, and as close as exp(s - exp(-s)), s = -4.2."""
    end = np.array([-1.0, 1.0])
    close = np.exp(-4.2 - np.exp(4.2))
    half = Support.interval(lower, np.inf).unfold(end)[0]
    np.testing.assert_allclose(half, [close, 1e12], rtol=1e-9)
    closer = Support(lower, np.inf, close=-5.0).unfold(end)[0]
    np.testing.assert_allclose(closer[0], np.exp(-5.0 - np.exp(5.0)), rtol=1e-9)
    line = Support.interval(-np.inf, np.inf).unfold(end)[0]
    np.testing.assert_allclose(line, [-1e12, 1e12], rtol=1e-9)
    for support in ((lower, np.inf), (-np.inf, lower), (-np.inf, np.inf)):
        support = read_support(support)
        t = np.linspace(-1, 1, 41)
        u, slope = support.unfold(t)
        np.testing.assert_allclose(support.fold(u), t, rtol=0, atol=1e-12)
        bend = support.unfold(t + 1e-7)[0] - support.unfold(t - 1e-7)[0]
        np.testing.assert_allclose(slope, bend / 2e-7, rtol=1e-5)
    beyond = read_support((0, np.inf)).fold(np.array([0.0, 1e-30, 1e13]))
    assert beyond[0] < -1 < beyond[1] < 1 < beyond[2]
    inside = read_support((0, 1)).fold(np.array([-1.0, -0.5, 0.0, 0.5, 1.0]))
    np.testing.assert_allclose(inside[1:4], -inside[3:0:-1], rtol=0, atol=1e-15)
    assert inside[0] == -np.inf and inside[4] == np.inf


@pytest.mark.parametrize("n", [1, 2, 7])
def test_plain_grids_are_gauss_rules_and_crowded_ones_are_not(n):
    support = Support.interval(3, 5)
    u, log_weights = support.grid(n, crowded=False)
    nodes, weights = np.polynomial.legendre.leggauss(n)
    np.testing.assert_allclose(u, nodes, rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.exp(log_weights), weights, rtol=1e-12)
    crowded = support.grid(n)[0]
    assert crowded.shape == (n,)
    assert n == 1 or crowded[-1] > nodes[-1]
    # one rule on either side
    line = Support.interval(-np.inf, np.inf).grid(n)[0]
    assert line.shape == (2 * n,) and (line[:n] < 0).all() and (line[n:] > 0).all()


def test_a_mirrored_sum_has_the_values_of_the_other_side():
    rng = np.random.default_rng([37, 2])
    basis = Recurrence(rng.normal(size=(2, 3)), rng.uniform(0.5, 2, size=(2, 3)))
    theta, u = rng.normal(size=(2, 4)), rng.normal(size=(2, 5))
    turned = mirror(basis, theta)
    expected = basis.expand(theta, -u)
    np.testing.assert_allclose(turned[0].expand(turned[1], u), expected, rtol=1e-12)


def test_nodes_of_panels_are_in_order_and_add_up_to_their_widths():
    ends = np.array([[-1.0, 0.0, 0.5, 4.0], [2.0, 2.0, 3.0, 9.0]])
    nodes, weights = panel_nodes(ends, 4)
    assert nodes.shape == weights.shape == (2, 12)
    assert (np.diff(nodes) >= 0).all()
    for row in range(2):
        parts = weights[row].reshape(3, 4).sum(axis=1)
        np.testing.assert_allclose(parts, np.diff(ends[row]), rtol=1e-13)
        for j in range(8):
            low, high = ends[row, 0], ends[row, -1]
            expected = (high ** (j + 1) - low ** (j + 1)) / (j + 1)
            assert weights[row] @ nodes[row] ** j == pytest.approx(expected)


def test_panels_of_a_batch_are_those_of_each_density_and_end_where_it_does():
    """Every panel of a normal density ends a given number of nats below its top."""
    mean, sd = np.array([0.0, 5.0, -2.0]), np.array([1.0, 0.1, 3.0])
    basis = Recurrence(
        np.repeat(mean[:, None], 2, 1), sd[:, None] * np.sqrt([[1.0, 2.0]])
    )
    theta = np.tile([0.0, 0.0, np.sqrt(0.5)], (3, 1))
    nats = np.array([0.5, 8.0, 50.0])
    infinite = np.full(3, np.inf)
    ends = breakpoints(basis, theta, -infinite, infinite, nats)
    far = np.sqrt(2 * nats)
    expected = mean[:, None] + sd[:, None] * np.array([*-far[::-1], 0.0, *far])
    np.testing.assert_allclose(ends, expected, rtol=0, atol=1e-6)
    # a support that ends within keeps its ends, on either side
    for lower, upper in ((mean - sd, infinite), (-infinite, mean + sd)):
        ends = breakpoints(basis, theta, lower, upper, nats)
        inside = np.clip(expected, lower[:, None], upper[:, None])
        for row in range(3):
            np.testing.assert_allclose(
                np.unique(ends[row].round(6)),
                np.unique(inside[row].round(6)),
                rtol=0,
                atol=1e-5,
            )


def test_powers_of_whole_numbers_and_of_single_ones():
    assert powers(np.array([2, -3]), 3).tolist() == [[2, 4, 8], [-3, 9, -27]]
    found = powers(np.float32(0.1), 2)
    assert found.dtype == np.float64 and found.shape == (2,)
    assert powers(np.zeros((2, 3)), 4).shape == (2, 3, 4)


def test_features_that_are_not_finite_are_told_with_their_place():
    support = Support.interval(0, 2)
    functions = [np.sqrt, lambda x: 1.0 / (x - 1.0), lambda x: x.astype(np.float32)]
    found = feature_values(functions, np.array([[0.25, 2.0]]), support)
    assert found.dtype == np.float64
    assert found.tolist() == [[[0.5, 1 / -0.75, 0.25], [2**0.5, 1.0, 2.0]]]
    with np.errstate(divide="ignore"):
        with pytest.raises(ValueError, match=r"at x = 1, which .* support \[0, 2\]"):
            feature_values(functions, np.array([0.5, 1.0, 1.5]), support)
