from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate

from memdlib import MaxEntDensity
from memdlib.densities import NotConvergedError
from memdlib.densities.fewer_moments import solve_log_polynomials
from memdlib.densities.log_polynomial import (
    MOST_EVALUATIONS,
    Problem,
    Work,
    descend,
)
from memdlib.densities.measures import InfeasibleMomentsError, measure_sample
from memdlib.densities.support import Support

LINE, HALF = (-np.inf, np.inf), (0.0, np.inf)


def problem(x, m, support=LINE):
    support = Support.interval(*support)
    share = np.full(len(x), 1 / len(x))
    measures = measure_sample(x, share, m, support)
    ends = measures.ends(support)
    proper = not np.isfinite(ends[1][0])
    rest = None, proper, Work.of(x.shape[1])
    return Problem(measures.nodes, measures.weights, m, *ends, *rest)


def solve(part):
    ends = part.lower, part.upper
    return solve_log_polynomials(part.nodes, part.weights, part.m, *ends)


@pytest.mark.parametrize(("m", "support"), [(4, LINE), (3, HALF), (5, (0.0, 9.0))])
def test_a_newton_step_has_the_gradient_and_hessian_of_the_dual(m, support):
    """The misfit of orthonormal polynomials, and the identity, by differences."""
    x = np.random.default_rng([67, m]).beta(2, 3, size=(60, 1)) * 8
    part = problem(x, m, support)
    state = part.start()
    for j in range(1, m + 1):
        theta, values = state.theta[0] + np.zeros((5, m + 1)), np.empty(5)
        theta[:, j] += 1e-3 * np.arange(-2, 3)
        for i, row in enumerate(theta):
            values[i] = part.measure(state.basis, row[None]).value[0]
        slope = values @ np.array([1, -8, 0, 8, -1]) / 12e-3
        bend = values @ np.array([-1, 16, -30, 16, -1]) / 12e-6
        assert slope == pytest.approx(state.gradient[0, j - 1], abs=1e-6)
        assert bend == pytest.approx(1.0, abs=1e-2)


def test_every_step_lowers_the_dual():
    part = problem(np.random.default_rng([67, 1]).gamma(3.0, size=(200, 20)), 3, HALF)
    found = descend(part, part.start(), np.zeros(20))
    assert (np.diff(found.history, axis=0) < 1e-12).all()


def test_a_smaller_highest_moment_and_the_room_for_it():
    x = np.random.default_rng([67, 2]).normal(size=(100, 1))
    part = problem(x, 4)
    u = (x[:, 0] - x.mean()) / x.std()
    third, fourth = np.mean(u**3), np.mean(u**4)
    # the Hankel determinant of 0, 1, third, fourth vanishes at 1 + third^2
    assert part.room()[0] == pytest.approx(fourth - 1 - third**2, rel=1e-9)
    odd = problem(np.abs(x), 3, HALF)
    v = (np.abs(x[:, 0]) - np.abs(x).mean()) / np.abs(x).std()
    # E (v + c) v^2 is at least (E (v + c) v)^2 / E (v + c)
    distance = np.abs(x).mean() / np.abs(x).std()
    assert odd.room()[0] == pytest.approx(np.mean(v**3) + distance - 1 / distance)


# kurtosis of samples that leave a tiny skewness: the mode stands at 10 to 300 sd
DISTANT = [
    (4, [0.0, 1.0, 0.3, 3.4]),
    (4, [0.0, 1.0, -0.01, 3.1]),
    (4, [0.0, 1.0, 0.003, 3.2]),
    (6, [0.0, 1.0, 0.1, 2.9, 0.8, 14.5]),
    (6, [0.0, 1.0, -0.0563331, 1.5044212, -0.1797609, 2.8866624]),
]


@pytest.mark.parametrize(("m", "mu"), DISTANT)
def test_moments_of_densities_with_a_distant_mode(m, mu):
    density = MaxEntDensity(m).from_moments(mu)
    lam = density.natural_params_
    assert lam[-1] > 0
    turns = np.polynomial.Polynomial(lam * np.arange(1, m + 1)).roots().real
    steps = np.sinh(np.linspace(-9, 9, 121)) / 100
    cuts = np.unique(np.add.outer(turns, steps))
    wanted = [1.0, *mu]
    for j in range(m + 1):
        parts = [
            integrate.fixed_quad(lambda x, j=j: x**j * density.pdf(x), *ends, n=20)[0]
            for ends in pairwise(cuts)
        ]
        assert sum(parts) == pytest.approx(wanted[j], abs=1e-6)


def test_a_mode_beyond_numbers_is_no_density():
    with pytest.raises((InfeasibleMomentsError, RuntimeError), match="maximum"):
        MaxEntDensity(4).from_moments([0.0, 1.0, 1e-7, 3.3])


@pytest.mark.parametrize("m", [4, 6, 8])
def test_small_samples_on_the_line_have_densities(m):
    rng = np.random.default_rng([67, 3, m])
    x = rng.normal(size=(30, 15)) * rng.uniform(0.3, 3, size=15)
    x[:10] += rng.normal(size=15)
    found = solve(problem(x, m))
    assert found.residual.max() < 1e-8
    assert (found.theta[:, -1] > 0).all()


@pytest.mark.parametrize("m", [2, 3, 5, 8])
def test_half_lines_have_a_density_or_one_moment_less_tells_why_not(m):
    """Where there is no maximum, the density of m - 1 moments has a smaller m-th."""
    rng = np.random.default_rng([67, 4, m])
    x = rng.gamma(1.0, size=(60, 16))
    part = problem(x, m, HALF)
    found = solve(part)
    none = found.unattained
    assert 0 < none.sum() < 16
    assert found.residual[~none].max() < 1e-8
    for b in np.flatnonzero(none)[:2]:
        fewer = MaxEntDensity(m - 1, HALF).fit(x[:, b])
        moment = integrate.quad(
            lambda t, f=fewer: t**m * f.pdf(t), 0, 60 * x[:, b].mean(), limit=400
        )[0]
        assert moment < np.mean(x[:, b] ** m)
    left = problem(-x, m, (-np.inf, 0.0))
    mirrored = solve_log_polynomials(
        left.nodes, left.weights, m, left.lower, left.upper
    )
    np.testing.assert_array_equal(mirrored.unattained, none)


@pytest.mark.parametrize(
    ("m", "support", "lam"),
    [
        (2, HALF, ["-0.4", "0.3"]),
        (3, HALF, ["0.2", "-0.5", "0.1"]),
        (4, LINE, ["0.3", "-0.6", "-0.2", "0.25"]),
        (6, LINE, ["0.1", "0.2", "0.05", "-0.3", "0.02", "0.06"]),
        (3, (-1.0, 2.0), ["1", "-2", "0.7"]),
        (4, [0, 1, 2, 3, 5, 8], ["1", "-0.5", "0.1", "-0.005"]),
    ],
)
def test_everything_agrees_with_mpmath(m, support, lam):
    """Moments of known parameters in thirty digits; lambda is found again."""
    mp.mp.dps = 30
    lam = [mp.mpf(v) for v in lam]

    def mass(x):
        return mp.exp(-sum(c * x ** (j + 1) for j, c in enumerate(lam)))

    def total(f, upper=None):
        if isinstance(support, list):
            return mp.fsum(f(mp.mpf(x)) for x in support if upper is None or x <= upper)
        low = max(support[0], -12.0)
        high = min(support[1], 14.0) if upper is None else upper
        return mp.quad(f, mp.linspace(low, high, 25))

    z = total(mass)
    mu = [total(lambda x, j=j: x**j * mass(x)) / z for j in range(1, m + 1)]
    density = MaxEntDensity(m, support).from_moments([float(v) for v in mu])
    expected = np.array([float(v) for v in lam])
    np.testing.assert_allclose(density.natural_params_, expected, rtol=1e-6, atol=1e-8)
    assert float(density.log_normaliser_) == pytest.approx(float(mp.log(z)), abs=1e-7)
    entropy = mp.log(z) + mp.fdot(lam, mu)
    assert float(density.entropy_) == pytest.approx(float(entropy), abs=1e-9)
    for x in (0.0, 1.0, 2.0):
        density_at = float(mass(mp.mpf(x)) / z)
        assert float(density.pdf(x)) == pytest.approx(density_at, rel=1e-8)
        below = float(total(mass, mp.mpf(x)) / z) if x > 0 or m != 2 else 0.0
        assert float(density.cdf(x)) == pytest.approx(below, abs=1e-9)


def test_a_solution_is_that_of_newton_in_mpmath():
    """The dual solved in twenty digits from another start, no basis, no panels."""
    mp.mp.dps = 20
    mu = [mp.mpf(0), mp.mpf(1), mp.mpf("0.2"), mp.mpf("2.6")]
    places = mp.linspace(-7, 7, 8)

    def moments(lam):
        def mass(x):
            return mp.exp(-sum(c * x ** (j + 1) for j, c in enumerate(lam)))

        raw = [mp.quad(lambda x, j=j: x**j * mass(x), places) for j in range(9)]
        return [v / raw[0] for v in raw], mp.log(raw[0])

    lam = mp.matrix([0, mp.mpf("0.4"), 0, mp.mpf("0.03")])
    for _ in range(30):
        raw, log_normaliser = moments(lam)
        gradient = mp.matrix([mu[j] - raw[j + 1] for j in range(4)])
        hessian = mp.matrix(4, 4)
        for i in range(4):
            for j in range(4):
                hessian[i, j] = raw[i + j + 2] - raw[i + 1] * raw[j + 1]
        step = mp.lu_solve(hessian, gradient)
        lam = lam - step
        if mp.norm(step) < mp.mpf("1e-13"):
            break
    density = MaxEntDensity(4).from_moments([float(v) for v in mu])
    expected = [float(v) for v in lam]
    np.testing.assert_allclose(density.natural_params_, expected, rtol=1e-9, atol=1e-11)
    assert float(density.log_normaliser_) == pytest.approx(float(log_normaliser))


def test_a_failure_takes_bounded_work(monkeypatch):
    grid, evaluations = Problem.grid, []

    def counted(self, *given):
        evaluations.append(given)
        return grid(self, *given)

    monkeypatch.setattr(Problem, "grid", counted)
    mu = [0.6440516946608834, 0.4148571050778699, 0.267234337993828]
    mu += [0.1721434223513974, 0.11088935138582587, 0.07143147190512357]
    mu += [0.04601394315636889, 0.029640759730267103]
    with pytest.raises(NotConvergedError, match="bounded work; use fewer moments"):
        MaxEntDensity(8, (-1, 1)).from_moments(mu)
    # a step that was begun ends, and what was reached is checked
    assert MOST_EVALUATIONS <= len(evaluations) <= 1.1 * MOST_EVALUATIONS
