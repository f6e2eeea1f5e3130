from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special, stats

from benchmarks import moment_problems
from memdlib import MaxEntDensity
from memdlib.densities import NotConvergedError, polynomials
from memdlib.densities.measures import (
    InfeasibleMomentsError,
    measure_moments,
    measure_sample,
)
from memdlib.densities.polynomials import (
    Problem,
    Work,
    descend,
    follow,
    match_powers,
    solve_log_polynomials,
)
from memdlib.densities.support import Support, powers, read_support
from memdlib.moments.sums import translate_natural

LINE, HALF, LEFT = (-np.inf, np.inf), (0.0, np.inf), (-np.inf, 0.0)


def sampled(x, m, support=LINE):
    support = Support.interval(*support)
    share = np.full(len(x), 1 / len(x))
    measures = measure_sample(x, share, m, support)
    ends = measures.ends(support)
    rest = None, Work.of(x.shape[1])
    return Problem(measures.nodes, measures.weights, m, *ends, *rest)


def solve(part):
    ends = part.lower, part.upper
    return solve_log_polynomials(part.nodes, part.weights, part.m, *ends)


@pytest.mark.parametrize(("m", "support"), [(4, LINE), (3, HALF), (5, (0.0, 9.0))])
def test_a_newton_step_has_the_gradient_and_hessian_of_the_dual(m, support):
    """The misfit of orthonormal polynomials, and the identity, by differences."""
    x = np.random.default_rng([67, m]).beta(2, 3, size=(60, 1)) * 8
    part = sampled(x, m, support)
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
    part = sampled(np.random.default_rng([67, 1]).gamma(3.0, size=(200, 20)), 3, HALF)
    history = descend(part, part.start())
    assert (np.diff(history, axis=0) < 1e-12).all()


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
    found = solve(sampled(x, m))
    assert found.residual.max() < 1e-8
    assert (found.theta[:, -1] > 0).all()


@pytest.mark.parametrize("m", [2, 3, 5, 8])
def test_half_lines_have_a_density_or_one_moment_less_tells_why_not(m):
    """Where there is no maximum, the density of m - 1 moments has a smaller m-th."""
    rng = np.random.default_rng([67, 4, m])
    x = rng.gamma(1.0, size=(60, 16))
    part = sampled(x, m, HALF)
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
    left = sampled(-x, m, (-np.inf, 0.0))
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
    monkeypatch.setattr(polynomials, "MOST_EVALUATIONS", 300)
    mu = [0.6440516946608834, 0.4148571050778699, 0.267234337993828]
    mu += [0.1721434223513974, 0.11088935138582587, 0.07143147190512357]
    mu += [0.04601394315636889, 0.029640759730267103]
    with pytest.raises(NotConvergedError, match="bounded work; use fewer moments"):
        MaxEntDensity(8, (-1, 1)).from_moments(mu)
    # a step that was begun ends, and what was reached is checked
    assert 300 <= len(evaluations) <= 400


def match(mu, support, n_nodes=128, tol=1e-8):
    mu, support = np.atleast_2d(mu).astype(float), read_support(support)
    measures = measure_moments(mu, support)
    return match_powers(measures, mu.shape[1], support, n_nodes, tol=tol)


def natural(found):
    """Natural parameters of x, of densities about zero."""
    lam = found.basis.powers(found.theta)[:, 1:] / powers(
        found.unit, found.basis.degree
    )
    return translate_natural(lam, found.origin)


@pytest.mark.parametrize("n_nodes", [4, 40, 256])
@pytest.mark.parametrize("sd", [0.02, 1e-3, 1e-5])
def test_a_narrow_density_is_found_whatever_the_grid(sd, n_nodes):
    mean = 0.1
    found = match([mean, mean**2 + sd**2], (-1, 1), n_nodes=n_nodes)
    assert found.residual[0] < 1e-12
    expected = [-mean / sd**2, 0.5 / sd**2]
    # the variance that rounding leaves of the moments
    left = 1e-5 + 1e-17 / sd**2
    np.testing.assert_allclose(natural(found)[0], expected, rtol=left)


@pytest.mark.parametrize(
    ("mu", "support", "message"),
    [
        ([1.5], (-1, 1), r"density 0: E x = 1\.5 must lie strictly between -1 and 1"),
        ([1.0], (-1, 1), r"E x = 1 must lie strictly between -1 and 1"),
        ([1.0], (-np.inf, 1), r"E x = 1 must be below 1, the end"),
        ([0.5, 0.2], (-1, 1), r"E x\^2 = 0\.2 must lie strictly between 0\.25 and 1"),
        ([0.5, 1.2], (-1, 1), r"E x\^2 = 1\.2 must lie strictly between 0\.25 and 1"),
        (
            [0.0, 0.5, 0.9],
            (-1, 1),
            r"E u\^3 .* between -0\.7071.* and 0\.7071",
        ),
        ([0.0, 0.0], [-1, 0, 1], r"E x\^2 = 0 must .*between 0 and 1 with E x"),
        (
            [11.5, 132.35],
            [10, 11, 12, 13],
            r"E u\^2 with u = \(x - 11\.5\) / 1\.5 = 0\.0444.* between 0\.111",
        ),
        ([1.5, 4.5], [0, 1, 2, 3], r"E x\^2 = 4\.5 .* 2\.25 and 4\.5 \(to rounding"),
        ([0.5, 0.5], (0, 1), r"E x\^2 = 0\.5 .* 0\.25 and 0\.5 \(to rounding"),
        # a point at an end of the support, hidden by rounding
        (
            [-10.4655, 167.3399025, -1789.1634036374999],
            (-13, 34),
            r"E u\^3 .* must lie strictly between 2\.66667 and",
        ),
        ([0.0, 0.04, 0.0], [-1, -0.3, 0.3, 1], r"E u\^2 .* = 0\.04 must lie strictly"),
        ([0.0, 1.0, 0.0, 0.9], (-np.inf, np.inf), r"E u\^4 .* = 0\.9 must be above 1"),
        (
            [0.0, 1.0, 0.0, 4.0],
            (-np.inf, np.inf),
            r"no maximum on .-inf, .*4 is above",
        ),
        (
            [0.0, 1.0, 0.0, 4.0],
            (-np.inf, np.inf),
            r"entropy with 2 moments, .*ask for 2 m",
        ),
        ([0.0, 1.0, 0.0, 3.01], (-np.inf, np.inf), r"supremum .* is not attained"),
        (
            [0.0, 1.0, 0.0, 3.0 + 1e-6],
            (-np.inf, np.inf),
            r"is above 3 \(by 1e-06\), that",
        ),
        ([1.0, 2.5], (0, np.inf), r"the entropy has no maximum on \[0, inf\).*E u\^2"),
        (
            [1.0, 2.0 + 1e-6],
            (0, np.inf),
            r"\(by .*which has the others.*ask for 1 moment",
        ),
        ([-1.0, 2.0, -7.0], (-np.inf, 0), r"= -3 is below -2 \(by 1\)"),
        ([-1.0, 2.5], (-np.inf, 0), r"the entropy has no maximum on \(-inf, 0\]"),
        ([1.0, 1.0], (0, np.inf), r"E x\^2 = 1 must be above 1 with"),
        ([1.0, 1.5, 1.8], (0, np.inf), r"E u\^3 .* must be above"),
    ],
)
def test_impossible_moments_are_named(mu, support, message):
    with pytest.raises(InfeasibleMomentsError, match=message):
        match(mu, support)


def test_a_mean_next_to_an_end_has_its_steep_density():
    lower, upper, mean = -0.387, 0.691, 0.69093217
    lam = natural(match([mean], (lower, upper)))[0, 0]
    # mean = upper + 1 / lambda where the other end is out of reach
    assert lam == pytest.approx(-1.0 / (upper - mean), rel=1e-9)


def test_the_first_of_many_is_named():
    good = [[0.1, 0.3]] * 5
    with pytest.raises(InfeasibleMomentsError, match=r"density 3: E x\^2 = 0\.001"):
        match([*good[:3], [0.1, 0.001], *good], (-1, 1))


def test_moments_on_the_edge_of_levels_are_refused_however_well_they_are_matched():
    # two levels out of five carry everything: the limit is matched, but no density is
    u = np.linspace(-1, 1, 5)
    weights = np.array([0.5, 0.5, 0, 0, 0])
    with pytest.raises(InfeasibleMomentsError, match="must lie strictly between"):
        match([weights @ u**j for j in (1, 2, 3)], u.tolist())


def test_kurtosis_above_three_has_no_maximum_unless_skewed():
    """Junk's line: without skewness a normal has the largest fourth moment."""
    line = (-np.inf, np.inf)
    assert natural(match([0.0, 1.0, 0.0, 3.0 - 1e-6], line))[0, 3] > 0
    with pytest.raises(InfeasibleMomentsError, match="no maximum"):
        match([0.0, 1.0, 0.0, 3.05], line)
    assert natural(match([0.0, 1.0, 0.7, 3.05], line))[0, 3] > 0


@pytest.mark.parametrize("skewness", [-0.5, -0.05, 0.01])
def test_a_little_skewness_puts_a_small_mode_far_out(skewness):
    """The quartic has a second mode, on the side of the skewness."""
    density = MaxEntDensity(4).from_moments([0.0, 1.0, skewness, 3.3])
    lam = density.natural_params_
    assert lam[3] > 0
    slope = np.polynomial.Polynomial(lam * [1, 2, 3, 4])
    turns = np.sort(slope.roots().real)
    cuts = np.unique(np.add.outer(turns, np.linspace(-12, 12, 25)))
    for j, wanted in enumerate([1.0, 0.0, 1.0, skewness, 3.3]):
        parts = [
            integrate.quad(lambda x, j=j: x**j * density.pdf(x), *ends, epsabs=1e-14)[0]
            for ends in pairwise(cuts)
        ]
        assert sum(parts) == pytest.approx(wanted, abs=1e-8)


def test_residual_gap_and_constant():
    rng = np.random.default_rng([37, 1])
    x = rng.beta(2, 3, size=(400, 20)) * 2 - 1
    mu = np.stack([(x**j).mean(axis=0) for j in range(1, 5)], axis=1)
    found = match(mu, (-1, 1))
    assert found.residual.max() < 1e-10
    assert found.gap.max() < 1e-9
    nodes, weights = np.polynomial.legendre.leggauss(300)
    p = np.exp(-found.basis.expand(found.theta, np.tile(nodes, (20, 1))))
    np.testing.assert_allclose(p @ weights, 1, rtol=1e-10)
    np.testing.assert_allclose(
        p @ (weights[:, None] * powers(nodes, 4)), mu, rtol=0, atol=1e-9
    )
    assert (np.diff(found.history, axis=0) <= 1e-12).all()
    basis = np.polynomial.legendre.legvander(nodes, 4)[:, 1:] * np.sqrt([3, 5, 7, 9])
    for row in (0, 19):
        covariance = np.cov(basis.T, aweights=p[row] * weights, ddof=0)
        np.testing.assert_allclose(found.covariance[row], covariance, rtol=0, atol=1e-9)
        condition = np.linalg.cond(covariance)
        assert found.condition[row] == pytest.approx(condition, rel=1e-6)


def normal_moments(mean, sd, m):
    """Rounded to floats from exact ones, by E x^(j+1) = a E x^j + j s^2 E x^(j-1)."""
    mean, sd = Fraction(mean), Fraction(sd)
    exact = [Fraction(1), mean]
    for j in range(1, m):
        exact.append(mean * exact[j] + j * sd**2 * exact[j - 1])
    return [float(x) for x in exact[1:]]


@settings(max_examples=25)
@given(st.floats(-2, 2), st.floats(0.7, 4), st.integers(3, 7))
def test_a_normal_density_whatever_the_number_of_its_moments(mean, sd, m):
    found = MaxEntDensity(m).from_moments(normal_moments(mean, sd, m))
    law = stats.norm(mean, sd)
    assert found.natural_params_[2:].tolist() == [0.0] * (m - 2)
    assert found.residual_ < 1e-8
    assert found.entropy_ == pytest.approx(law.entropy(), abs=1e-8)
    x = mean + sd * np.array([-30.0, -2.0, 0.1, 3.0, 1e9])
    np.testing.assert_allclose(found.logpdf(x), law.logpdf(x), rtol=1e-6)


def test_parameters_of_the_standard_normal_density():
    found = MaxEntDensity(3).from_moments([[0.0, 1.0, 0.0], [1.0, 2.0, 4.0]])
    expected = [[0.0, 0.5, 0.0], [-1.0, 0.5, 0.0]]
    np.testing.assert_allclose(found.natural_params_, expected, rtol=0, atol=1e-14)
    half = 0.5 * np.log(2 * np.pi * np.e)
    np.testing.assert_allclose(found.entropy_, half, rtol=1e-14)
    np.testing.assert_allclose(found.ppf(0.975), [1.959964, 2.959964], rtol=1e-6)
    np.testing.assert_allclose(found.std(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize(("support", "sign"), [(HALF, 1.0), (LEFT, -1.0)])
def test_an_exponential_density(m, support, sign):
    scale = 2.0
    mu = [sign**j * mp.factorial(j) * scale**j for j in range(1, m + 1)]
    found = MaxEntDensity(m, support).from_moments(np.array(mu, dtype=float))
    expected = [sign / scale] + [0.0] * (m - 1)
    np.testing.assert_allclose(found.natural_params_, expected, rtol=0, atol=1e-12)
    assert found.entropy_ == pytest.approx(1.0 + np.log(scale), abs=1e-12)
    far = sign * np.array([1.0, 50.0, 1e8])
    law = stats.expon(scale=scale)
    np.testing.assert_allclose(found.logpdf(far), law.logpdf(sign * far), rtol=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_a_quartic_density_has_its_fifth_moment_and_no_other(shift):
    def weight(x):
        return mp.exp(x / 2 + x**2 - x**4)

    ends = [-mp.inf, -1, 0, 1, mp.inf]
    with mp.workdps(30):
        mass = mp.quad(weight, ends)
        mu = [
            mp.quad(lambda x, j=j: (x + shift) ** j * weight(x), ends) / mass
            for j in range(1, 6)
        ]
    mu = np.array(mu, dtype=float)
    found = MaxEntDensity(5).from_moments(mu)
    assert found.natural_params_[4] == 0.0
    # -u/2 - u^2 + u^4 with u = x - shift
    lam = np.polynomial.Polynomial([0, -0.5, -1, 0, 1])(
        np.polynomial.Polynomial([-shift, 1])
    ).coef[1:]
    np.testing.assert_allclose(found.natural_params_[:4], lam, rtol=0, atol=1e-9)
    for change in (-1e-3, 1e-9):
        moved = mu.copy()
        moved[4] += change * found.std() ** 5
        with pytest.raises(
            InfeasibleMomentsError, match=rf"difference of {change:g}\)"
        ):
            MaxEntDensity(5).from_moments(moved)


@pytest.mark.parametrize("third", [1e-3, -1e-3, 1e-6, 1e-9, 1e-12])
def test_a_near_miss_on_the_line_has_none(third):
    with pytest.raises(InfeasibleMomentsError, match=r"is 0 and not .* an even number"):
        MaxEntDensity(3).from_moments([0.0, 1.0, third])


def test_odd_moments_whose_even_ones_have_none():
    with pytest.raises(
        InfeasibleMomentsError, match=r"4 moments, which does not exist"
    ):
        MaxEntDensity(5).from_moments([0.0, 1.0, 0.0, 5.0, 0.0])


@pytest.mark.parametrize(
    ("mu", "support"),
    [([0.0, 1.0, 0.0, 3.0 - 1e-7], LINE), ([1.0, 2.0, 6.0, 24.0 - 1e-4], HALF)],
)
def test_a_near_miss_from_below_has_a_density_of_its_own(mu, support):
    found = MaxEntDensity(4, support).from_moments(mu)
    assert found.natural_params_[-1] > 0
    assert found.residual_ < 1e-9


def test_rounding_of_moments_about_zero_is_no_miss():
    mu = np.array(normal_moments(100.3, 1.7, 3))
    assert MaxEntDensity(3).from_moments(mu).natural_params_[2] == 0.0
    # in units of the standard deviation a millionth, more than rounding leaves in doubt
    with pytest.raises(InfeasibleMomentsError, match="difference of 1e-06"):
        MaxEntDensity(3).from_moments([*mu[:2], mu[2] + 1e-6 * 1.7**3])


def test_a_symmetric_sample_has_the_third_moment_of_a_normal_density():
    x = np.array([-2.0, -0.5, 0.5, 2.0])
    found = MaxEntDensity(3).fit(x + 3.0)
    law = stats.norm(3.0, x.std())
    assert found.entropy_ == pytest.approx(law.entropy(), abs=1e-13)
    assert float(found.cdf(3.7)) == pytest.approx(law.cdf(3.7), abs=1e-10)


# In modes so narrow that Newton's method loses them from every other start.
NARROW = [
    [
        -0.6771238529332609,
        0.5346052830097953,
        -0.43876902572128296,
        0.3745703958653437,
        -0.32812972217660585,
        0.29297696598168343,
        -0.2652454616408897,
        0.24262185365795141,
        -0.2236503048445866,
        0.20738504864101404,
    ],
    [
        1.290110762327035,
        1.7974433010594595,
        2.648554172371777,
        4.057992485464482,
        6.389043154640802,
        10.258539056235836,
        16.718299537982087,
        27.570361683672747,
        45.916678596998835,
        77.12109014264351,
    ],
]


@pytest.mark.parametrize("mu", NARROW)
def test_ten_moments_that_are_reached_from_the_uniform_density(mu):
    asked = moment_problems.Problem(np.array(mu), (-1.0, 2.0), possible=True)
    found = MaxEntDensity(10, asked.support).from_moments(mu)
    assert found.residual_ < 1e-8 and moment_problems.is_matched(found, asked)


@pytest.mark.parametrize("name", moment_problems.SUPPORTS)
def test_no_random_problem_is_answered_wrongly(name):
    found = moment_problems.outcomes(name, 25, seed=1)
    assert sum(found.values()) == 25
    assert found["wrong"] == found["refused wrongly"] == 0
    assert found["matched"] > 10
    if name in ("[a, b]", "levels"):
        assert found["not converged"] == 0


@pytest.mark.parametrize(
    ("mu", "support", "possible"),
    [
        ([0.5, 0.26], (0.0, 1.0), True),
        ([0.5, 0.24], (0.0, 1.0), False),
        ([0.5, 0.51], (0.0, 1.0), False),
        ([1.0, 1.5, 2.26], (0.0, np.inf), True),
        ([1.0, 1.5, 2.24], (0.0, np.inf), False),
        ([0.0, 1.0, 0.5, 1.26], (-np.inf, np.inf), True),
        ([0.0, 1.0, 0.5, 1.24], (-np.inf, np.inf), False),
        ([0.0, 0.5], [-1.0, 0.0, 1.0], True),
        ([0.0, 1.01], [-1.0, 0.0, 1.0], False),
    ],
)
def test_what_is_possible_is_decided_by_the_edges_known(mu, support, possible):
    assert moment_problems.is_possible(np.array(mu), support) == possible


# Which Newton's method does not reach from a normal or exponential density.
FOLLOWED = [
    # a mode at 700 standard deviations, four millionths of one wide
    (
        LINE,
        [
            -0.5142294002971491,
            7.432750601049139,
            -12.275618772299609,
            90.97134859410214,
            -236.13400667192744,
            1456.6880466754062,
        ],
    ),
    # two moments less, with a positive coefficient
    (
        LINE,
        [
            -1.151527108431115,
            5.498897721974007,
            -24.327680333840963,
            130.6902600572979,
            -751.9307275823426,
            4672.879438866003,
        ],
    ),
    # from a normal density
    (
        LINE,
        [
            0.9107024234181738,
            5.142401851645243,
            10.752814501737856,
            49.74028773609387,
            147.9057379729257,
            647.4636435307842,
            2347.83061883437,
            10250.198014973457,
        ],
    ),
    # one moment less, and a tenth of what is missing
    (
        HALF,
        [
            1.690940166358332,
            2.913401725353598,
            5.102909609465205,
            9.068460229719886,
            16.324464588126457,
            29.726666050166514,
            54.697614220630655,
        ],
    ),
]


@pytest.mark.parametrize(("support", "mu"), FOLLOWED)
def test_moments_that_are_followed_from_a_density_of_others(support, mu):
    asked = moment_problems.Problem(np.array(mu), support, possible=True)
    found = MaxEntDensity(len(mu), support).from_moments(mu)
    assert found.residual_ < 1e-8 and moment_problems.is_matched(found, asked)


def test_a_density_is_followed_to_moments_that_are_far_from_its_own():
    x = np.random.default_rng([67, 5]).beta(0.3, 0.2, size=(40, 3)) * 9
    part = sampled(x, 8, (0.0, 9.0))
    start = part.measure(part.hermite(), np.zeros((3, 9)))
    found = part.check(start[np.arange(3)], [start.value], False)
    assert found.residual.min() > 1e-2
    follow(part, found, np.arange(3), start)
    assert found.residual.max() < 1e-8
    for j in range(9):
        moment, _ = integrate.quad(
            lambda u, j=j: float(
                u**j
                * np.exp(-found.basis.expand(found.theta, np.full((3, 1), u)))[1, 0]
            ),
            part.lower[1],
            part.upper[1],
            limit=400,
        )
        wanted = part.weights[1] @ part.nodes[1] ** j
        assert moment == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize(("m", "support"), [(4, LINE), (3, HALF)])
def test_a_barred_step_is_that_of_the_dual_and_its_barrier(m, support):
    """Differences of both; a strength of zero leaves the dual."""
    x = np.random.default_rng([67, 9, m]).gamma(3.0, size=(60, 1))
    part = sampled(x, m, support)
    state, strength = part.start(), np.array([0.3])
    lead = state.theta[0, -1]
    assert lead > 0

    def barred(size):
        theta = state.theta + np.eye(m + 1)[-1] * size * lead
        return part.measure(state.basis, theta).objective(strength)[0]

    slope = (barred(1e-4) - barred(-1e-4)) / 2e-4 / lead
    push = strength[0] / lead
    step, length = state.newton(strength)
    own = -state.gradient[0].copy()
    assert slope == pytest.approx(-own[-1] - push, rel=1e-5, abs=1e-6)
    own[-1] += push
    bend = np.ones(m)
    bend[-1] += push**2 / strength[0]
    np.testing.assert_allclose(step[0], own / bend, rtol=1e-12)
    assert length[0] == pytest.approx(np.sqrt((own**2 / bend).sum()), rel=1e-12)
    plain, length = state.newton(np.zeros(1))
    np.testing.assert_array_equal(plain, -state.gradient)
    assert length[0] == pytest.approx(np.linalg.norm(state.gradient), rel=1e-12)
    assert state.objective(np.zeros(1))[0] == state.value[0]


# coefficients of orthonormal Legendre polynomials from degree 1 on
STEEP = [[3.0], [-40.0], [2.0, -5.0], [1.0, 0.5, -2.0], [0.3, -1.0, 0.2, 2.5]]


def exponential_of_legendre(natural, x):
    """Values of orthonormal Legendre polynomials at x, and of their sum."""
    degrees = range(1, len(natural) + 1)
    values = [mp.sqrt(2 * j + 1) * mp.legendre(j, x) for j in degrees]
    return values, mp.fdot(natural, values)


@pytest.mark.parametrize("natural", STEEP)
def test_the_error_of_a_shared_rule_is_at_most_its_bound(natural):
    mp.mp.dps = 20
    m = len(natural)
    reference = polynomials._reference(Support.interval(-1, 1), m)
    x, w = (v.tolist() for v in np.polynomial.legendre.leggauss(150))
    rows = [exponential_of_legendre(natural, v) for v in x]
    p = [v * mp.exp(-total) for v, (_, total) in zip(w, rows, strict=True)]
    mass = mp.fsum(p)
    mean = [mp.fdot(p, [v[j] for v, _ in rows]) / mass for j in range(m)]
    seen = 0
    for n in range(2 * m + 1, 60, 2):
        nodes, weights = np.polynomial.legendre.leggauss(n)
        features = reference.evaluate(nodes[None])[1:, 0].T
        found = polynomials._integrate(features, np.log(weights), np.array([natural]))
        psi, means, error = (value[0] for value in found)
        assert abs(np.expm1(psi - float(mp.log(mass)))) <= error + 2e-12
        # of a quotient: the error of the sum, and of the mass times the mean
        lost = np.abs(means - np.array(mean, dtype=float))
        most = np.sqrt(2.0 * np.arange(1, m + 1) + 1.0)
        assert (lost <= 2.0 * most * error / max(1.0 - error, 0.5) + 2e-12).all()
        seen += 1e-10 < error < 0.1
    assert seen > 1


@pytest.mark.parametrize(
    ("natural", "n"),
    [([600.0], 1000), ([20.0, -590.0], 2000), ([9.0, 2.0, 190.0], 2000)],
)
def test_the_bound_of_a_shared_rule_is_that_of_trefethen(natural, n):
    """Theorem 19.3 on the ellipse of the docstring, to a hundredth, in logarithms."""
    m = len(natural)
    nodes, weights = special.roots_legendre(n)
    degrees = np.arange(1, m + 1)
    root = np.sqrt(2.0 * degrees + 1.0)
    features = special.eval_legendre(degrees, nodes[:, None]) * root
    natural = np.array(natural)
    error = polynomials._integrate(features, np.log(weights), natural[None])[2][0]
    x = np.linspace(-1, 1, 20001)[:, None]
    linear = (special.eval_legendre(degrees, x) * root) @ natural
    half = np.ptp(linear) / 2
    log_mass = np.log(np.exp(linear.min() - features @ natural) @ weights)
    rho = ((4 * n / m - 2) / (2 * half)) ** (1 / m)
    # the largest value of the density on the interval is one
    log_most = half * rho**m - half + 0.5 * np.log(2 * m + 1) + m * np.log(rho)
    expected = np.log(64 / 15) + log_most - 2 * n * np.log(rho)
    expected -= np.log(1 - rho**-2) + log_mass
    assert -700 < expected < -20
    assert np.log(error) == pytest.approx(expected, abs=0.012)


def test_a_rule_that_is_hopeless_bounds_nothing():
    nodes, weights = np.polynomial.legendre.leggauss(20)
    features, steep = np.sqrt(3.0) * nodes[:, None], np.array([[1e4], [0.0], [1e-5]])
    psi, mean, error = polynomials._integrate(features, np.log(weights), steep)
    assert error[0] == 1.0 and error[1:].max() < 1e-16
    np.testing.assert_allclose(psi[1:], np.log(2.0), rtol=1e-9)
    np.testing.assert_allclose(mean[1:, 0], [0.0, -1e-5], rtol=0, atol=1e-12)


def gauss_of(*moments):
    """Measures of mean 0 and variance 1, by eigenvalues of Jacobi's matrix."""
    measures = measure_moments(np.array(moments), Support.interval(*LINE))
    return measures.nodes, measures.weights


@pytest.mark.parametrize("m", [3, 4])
def test_the_excess_of_a_moment_is_told_for_every_density_of_a_batch(m):
    """Over the normal density: skewness, and kurtosis less three."""
    last = [[0.2, -0.3, 0.01], [3.5, 5.0, 4.0]][m - 3]
    moments = [[*[0.0, 1.0, 0.0][: m - 1], value] for value in last]
    ends = np.full(3, -np.inf), np.full(3, np.inf)
    found = solve_log_polynomials(*gauss_of(*moments), m, *ends)
    assert found.unattained.all()
    np.testing.assert_allclose(
        found.excess, np.array(last) - [0.0, 3.0][m - 3], rtol=1e-9
    )


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_excess_over_an_exponential_density_in_units_of_its_own(sign):
    square = np.array([2.5, 3.0, 2.2])
    support = Support.interval(*(HALF if sign > 0 else LEFT))
    measures = measure_moments(np.stack([np.full(3, sign), square], 1), support)
    found = solve_log_polynomials(
        measures.nodes, measures.weights, 2, *measures.ends(support)
    )
    assert found.unattained.all()
    np.testing.assert_allclose(found.excess, (square - 2) / (square - 1), rtol=1e-9)


@pytest.mark.parametrize("kurtosis", [1.01, 3.0, 9.0])
@pytest.mark.parametrize("sd", [0.6, 1.0, 2.5])
def test_a_certificate_is_the_misfit_in_polynomials_of_two_kinds(sd, kurtosis):
    """Own ones by Cholesky, Hermite's over the root mean square of those asked for."""
    nodes, weights = gauss_of([0.0, 1.0, 0.0, kurtosis], [0.0, 1.0, 0.3, 4.0])
    work = Work.of(2)
    part = Problem(
        nodes, weights, 4, *np.full((2, 2), np.inf) * [[-1], [1]], None, work
    )
    theta = np.array([[0.0, 0.1, 0.5 / sd**2, 0.02, 0.01], [0.0, 0.0, 1.0, 0.0, 0.1]])
    state = part.measure(part.hermite(), theta)
    found = part.check(state, [state.value], True)
    x = np.linspace(-12, 12, 4001)
    root = np.sqrt(special.factorial(np.arange(5)))
    for row in range(2):
        u, w = nodes[row], weights[row]
        at_x, at_u = (
            special.eval_hermitenorm(np.arange(5), v[:, None]) / root for v in (x, u)
        )
        p = np.exp(-at_x @ theta[row])
        mass = p.sum()
        p /= mass
        log_mass = np.log(mass * (x[1] - x[0]))
        factor = np.linalg.cholesky((at_x.T * p) @ at_x)
        wanted = w @ at_u
        own = np.linalg.solve(factor, wanted)[1:]
        size = np.sqrt(w @ at_u**2)
        plain = (wanted - p @ at_x) / np.maximum(size, 1.0)
        expected = max(np.abs(own).max(), np.abs(plain[1:]).max())
        assert found.residual[row] == pytest.approx(expected, rel=1e-9)
        # cross entropy of what is asked for, less the entropy of the density
        cross = log_mass + wanted @ theta[row]
        entropy = log_mass + p @ at_x @ theta[row]
        assert found.gap[row] == pytest.approx(abs(cross - entropy), rel=1e-8)
        values = found.basis.evaluate(x[None].repeat(2, 0))[:, row]
        np.testing.assert_allclose(
            (values * p) @ values.T, np.eye(5), rtol=0, atol=1e-9
        )
        log_density = -found.basis.expand(found.theta, x[None].repeat(2, 0))[row]
        np.testing.assert_allclose(
            log_density, -at_x @ theta[row] - log_mass, rtol=1e-9, atol=1e-9
        )


def test_an_end_that_is_improper_has_no_certificate():
    nodes, weights = gauss_of([0.0, 1.0, 0.0, 2.0], [0.0, 1.0, 0.0, 2.0])
    ends = np.full(2, -np.inf), np.full(2, np.inf)
    part = Problem(nodes, weights, 4, *ends, None, Work.of(2))
    state = part.start()
    state.theta[1, -1] = 0.0
    found = part.check(state, [state.value], True)
    assert np.isfinite(found.residual[0]) and np.isfinite(found.gap[0])
    assert found.residual[1] == found.gap[1] == np.inf
    assert found.failed.tolist() == [0, 1]
    assert not found.unattained.any() and found.excess.tolist() == [0.0, 0.0]


def test_work_is_counted_for_each_density():
    work = Work.of(4)
    part = work[[1, 3]]
    part.count()
    part[[1]].count()
    assert work.spent.tolist() == [0, 1, 0, 2]
    work.spent[:] = polynomials.MOST_EVALUATIONS - np.array([1, 0, 2, -1])
    assert work.left.tolist() == [True, False, True, False]
    assert part.left.tolist() == [False, False]


@pytest.mark.parametrize(("m", "n"), [(6, 40), (5, 30), (8, 50)])
def test_the_bound_of_a_shared_rule_allows_for_peaks_between_its_nodes(m, n):
    """Chebyshev's polynomial rises to one on the interval, at few nodes or none."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    features = np.polynomial.legendre.legvander(nodes, m)[:, 1:]
    chebyshev = np.polynomial.Chebyshev.basis(m)
    natural = chebyshev.convert(kind=np.polynomial.Legendre).coef
    found = polynomials._integrate(features, np.log(weights), natural[None, 1:])[2][0]
    mass = integrate.quad(lambda x: np.exp(-1.0 - chebyshev(x)), -1, 1)[0]
    # of range two
    rho = (2 * n / m - 1) ** (1 / m)
    most = np.exp(rho**m - 1) * np.sqrt(2 * m + 1) * rho**m
    expected = 64 / 15 * most * rho ** (-2 * n) / (1 - rho**-2) / mass
    assert expected <= found < 3 * expected


@pytest.mark.parametrize("size", [0.3, -0.3])
@pytest.mark.parametrize(("m", "n"), [(1, 4), (2, 7), (3, 10), (5, 16), (6, 40)])
def test_the_bound_of_a_shared_rule_allows_for_peaks_beyond_its_nodes(m, n, size):
    """Of what lies within one at the nodes, that which is largest at the end."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    values = np.polynomial.legendre.legvander(nodes, m)
    most = optimize.linprog(
        -np.ones(m + 1), np.r_[values, -values], np.ones(2 * n), bounds=(None, None)
    )
    natural = size * most.x
    found = polynomials._integrate(values[:, 1:], np.log(weights), natural[None, 1:])
    x = np.cos(np.linspace(np.pi, 0, 4001))
    linear = np.polynomial.legendre.legval(x, natural)
    mass = integrate.simpson(np.exp(-linear), x=x)
    half = np.ptp(linear) / 2
    rho = ((2 * n / m - 1) / half) ** (1 / m)
    most = np.exp(half * rho**m - half - linear.min()) * np.sqrt(2 * m + 1) * rho**m
    expected = 64 / 15 * most * rho ** (-2 * n) / (1 - rho**-2) / mass
    assert expected <= found[2][0] < 2.5 * expected


@pytest.mark.parametrize("n", [1, 2, 3, 10, 101, 1000])
def test_no_angle_is_far_from_those_of_legendres_zeros(n):
    angle = np.sort(np.arccos(special.roots_legendre(n)[0]))
    zero = special.jn_zeros(0, 1)[0]
    assert angle[0] < zero / (n + 0.5)
    assert np.diff(angle).max(initial=0.0) < np.pi / (n + 0.5)


@pytest.mark.parametrize(("m", "n"), [(3, 4), (4, 5), (5, 7)])
def test_a_polynomial_of_high_degree_is_not_bounded_by_few_nodes(m, n):
    """The nodes are too far apart for what is known of how fast it falls."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    features = np.polynomial.legendre.legvander(nodes, m)[:, 1:]
    error = polynomials._integrate(features, np.log(weights), 0.1 * np.eye(m))[2]
    assert (error == 1.0).all()
