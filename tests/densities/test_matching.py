"""Moment problems by their answers: other quadratures, exact numbers, and refusals."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from memdlib import MaxEntDensity
from memdlib.densities import (
    InfeasibleMomentsError,
    NotConvergedError,
    matching,
    read_support,
)
from tests.densities import moment_problems

LINE, HALF, LEFT = (-np.inf, np.inf), (0.0, np.inf), (-np.inf, 0.0)


def asked(mu, support):
    return moment_problems.Problem(np.array(mu), read_support(support), possible=True)


# a mode at 20 to 150 standard deviations, or densities that are narrow or steep
FAR = [
    (LINE, [0.0, 1.0, 0.3, 3.4]),
    (LINE, [0.0, 1.0, -0.05, 3.3]),
    (LINE, [0.0, 1.0, 0.05, 3.2]),
    (LINE, [0.0, 1.0, 0.1, 2.9, 0.8, 14.5]),
    (HALF, [1.0, 2.2, 20.0]),
    (LINE, [-1.151527108431115, 5.498897721974007, -24.327680333840963,
            130.6902600572979, -751.9307275823426, 4672.879438866003]),
]  # fmt: skip


@pytest.mark.parametrize(("support", "mu"), FAR)
def test_moments_of_uneven_densities(support, mu):
    found = MaxEntDensity(len(mu), support=support).from_moments(mu)
    assert found.natural_params_[-1] > 0
    assert found.moment_residual_ < 1e-8 and moment_problems.is_matched(
        found, asked(mu, support)
    )


@pytest.mark.parametrize("mu", [[0.0, 1.0, 0.003, 3.2], [0.0, 1.0, 1e-7, 3.3]])
def test_a_mode_beyond_reach_is_told(mu):
    with pytest.raises(
        InfeasibleMomentsError, match="no maximum under these moments, or it has"
    ):
        MaxEntDensity(4).from_moments(mu)


@pytest.mark.parametrize("m", [2, 5])
def test_half_lines_have_a_density_or_one_moment_less_tells_why_not(m):
    """Where there is no maximum, the density of m - 1 moments has a smaller m-th."""
    x = np.random.default_rng([67, 4, m]).gamma(1.0, size=(60, 8))
    none = 0
    for column in x.T:
        try:
            found = MaxEntDensity(m, support=HALF).fit(column)
            left = MaxEntDensity(m, support=LEFT).fit(-column)
        except (InfeasibleMomentsError, NotConvergedError):
            none += 1
            mu = np.array([np.mean(column**j) for j in range(1, m + 1)])
            assert moment_problems.is_unattained(asked(mu, HALF))
        else:
            assert max(found.moment_residual_, left.moment_residual_) < 1e-8
            np.testing.assert_allclose(left.entropy_, found.entropy_, rtol=0, atol=1e-9)
    assert 0 < none < 8


@pytest.mark.parametrize(
    ("m", "support", "lam"),
    [
        (2, HALF, ["-0.4", "0.3"]),
        (3, HALF, ["0.2", "-0.5", "0.1"]),
        (4, LINE, ["0.3", "-0.6", "-0.2", "0.25"]),
        (6, LINE, ["0.1", "0.2", "0.05", "-0.3", "0.02", "0.06"]),
        (3, (-1.0, 2.0), ["1", "-2", "0.7"]),
        (4, read_support(levels=[0, 1, 2, 3, 5, 8]), ["1", "-0.5", "0.1", "-0.005"]),
    ],
)
def test_everything_agrees_with_mpmath(m, support, lam):
    """Moments of known parameters in thirty digits; lambda is found again."""
    mp.mp.dps = 30
    lam = [mp.mpf(v) for v in lam]

    def mass(x):
        return mp.exp(-sum(c * x ** (j + 1) for j, c in enumerate(lam)))

    def total(f, upper=None):
        if not isinstance(support, tuple):
            below = [x for x in support.levels if upper is None or x <= upper]
            return mp.fsum(f(mp.mpf(x)) for x in below)
        low = max(support[0], -12.0)
        high = min(support[1], 14.0) if upper is None else upper
        return mp.quad(f, mp.linspace(low, high, 25))

    z = total(mass)
    mu = [total(lambda x, j=j: x**j * mass(x)) / z for j in range(1, m + 1)]
    density = MaxEntDensity(m, support=support).from_moments([float(v) for v in mu])
    expected = np.array([float(v) for v in lam])
    np.testing.assert_allclose(density.natural_params_, expected, rtol=1e-6, atol=1e-8)
    assert float(density.log_normaliser_) == pytest.approx(float(mp.log(z)), abs=1e-7)
    entropy = mp.log(z) + mp.fdot(lam, mu)
    assert float(density.entropy_) == pytest.approx(float(entropy), abs=1e-9)
    for x in (0.0, 1.0):
        density_at = float(mass(mp.mpf(x)) / z)
        assert float(density.pdf(x)) == pytest.approx(density_at, rel=1e-8)
        below = float(total(mass, mp.mpf(x)) / z) if x > 0 or m != 2 else 0.0
        assert float(density.cdf(x)) == pytest.approx(below, abs=1e-9)


INSIDE = "must lie inside the set of possible moments"


@pytest.mark.parametrize(
    ("mu", "support", "message"),
    [
        ([1.5], (-1, 1), r"density 0: no density on \[-1, 1\] has mean 1\.5"),
        ([1.0], (-1, 1), "has mean 1: the mean must lie strictly inside"),
        ([0.5, 0.2], (-1, 1), r"has mean 0\.5 and variance 0"),
        ([0.5, 0.5], (0, 1), r"has mean 0\.5 and variance 0\.25"),
        (
            [1.0, 1.0 + 2.0**-51],
            LINE,
            "has mean 1 and variance 0: .* by more than rounding error",
        ),
        ([0.0, 0.5, 0.9], (-1, 1), INSIDE),
        ([0.4, 0.25, 0.3], (0, 1), INSIDE),
        ([1.0, 1.5, 1.8], HALF, INSIDE),
        ([0.0, 1.0, 0.0, 0.9], LINE, INSIDE),
        # a point at an end of the support, hidden by rounding
        ([-10.4655, 167.3399025, -1789.1634036374999], (-13, 34), INSIDE),
        ([0.0, 0.0], read_support(levels=[-1, 0, 1]), "has mean 0 and variance 0"),
        ([11.5, 132.35], read_support(levels=[10, 11, 12, 13]), INSIDE),
        ([0.0, 0.04, 0.0], read_support(levels=[-1, -0.3, 0.3, 1]), INSIDE),
        # two levels out of five carry everything
        ([-0.75, 0.625, -0.5625], read_support(levels=[-1, -0.5, 0, 0.5, 1]), INSIDE),
        ([0.0, 1.0, 0.0, 4.0], LINE, "the entropy has no maximum"),
        ([1.0, 2.5], HALF, "the entropy has no maximum"),
        ([-1.0, 2.0, -7.0], LEFT, "the entropy has no maximum"),
        (
            [0.0, 1.0, 1e-3],
            LINE,
            "no maximum under these moments unless the density with 2 moments",
        ),
        ([0.0, 1.0, 0.0, 5.0, 0.0], LINE, "no maximum under these moments unless"),
    ],
)
def test_impossible_moments_are_named(mu, support, message):
    with pytest.raises(InfeasibleMomentsError, match=message):
        MaxEntDensity(len(mu), support=support).from_moments(mu)


@pytest.mark.parametrize(
    ("mu", "support", "low", "high"),
    [
        ([0.4], (0, 1), 0.16, 0.4),
        ([0.4, 0.25], (0, 1), 0.25**2 / 0.4, 0.25 - 0.15**2 / 0.6),
        ([1.0, 1.5], HALF, 2.25, None),
        ([0.0, 1.0, 0.5], LINE, 1.25, None),
        ([-1.0, 1.5], LEFT, None, -2.25),
    ],
)
def test_the_edges_of_what_is_possible_are_those_of_the_classical_problems(
    mu, support, low, high
):
    """Hausdorff's, Stieltjes's and Hamburger's problem; determinants by hand."""
    for edge, side in ((low, 1.0), (high, -1.0)):
        if edge is None:
            continue
        inside = [*mu, edge + 1e-3 * side]
        found = MaxEntDensity(len(inside), support=support).from_moments(inside)
        assert moment_problems.is_matched(found, asked(inside, support))
        with pytest.raises(InfeasibleMomentsError, match="density 0"):
            MaxEntDensity(len(inside), support=support).from_moments(
                [*mu, edge - 1e-6 * side]
            )


def test_a_mean_next_to_an_end_has_its_steep_density():
    lower, upper, mean = -0.387, 0.691, 0.69093217
    found = MaxEntDensity(1, support=(lower, upper)).from_moments([mean])
    # mean = upper + 1 / lambda where the other end is out of reach
    assert found.natural_params_[0] == pytest.approx(-1.0 / (upper - mean), rel=1e-9)


def test_what_is_not_matched_in_the_end_is_told(monkeypatch):
    x = np.random.default_rng([67, 7]).beta(0.3, 0.2, size=(40, 3))
    monkeypatch.setattr(matching, "_PANELS", (12, 14))
    with pytest.raises(
        NotConvergedError, match="density 0: 8 moments .* matched only to"
    ):
        MaxEntDensity(8, support=(0, 1)).fit(x)


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
    assert found.moment_residual_ < 1e-8
    assert found.entropy_ == pytest.approx(law.entropy(), abs=1e-8)
    x = mean + sd * np.array([-30.0, -2.0, 0.1, 3.0, 1e9])
    np.testing.assert_allclose(found.logpdf(x), law.logpdf(x), rtol=1e-6)


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize(("support", "sign"), [(HALF, 1.0), (LEFT, -1.0)])
def test_an_exponential_density(m, support, sign):
    scale = 2.0
    mu = [sign**j * mp.factorial(j) * scale**j for j in range(1, m + 1)]
    found = MaxEntDensity(m, support=support).from_moments(np.array(mu, dtype=float))
    expected = [sign / scale] + [0.0] * (m - 1)
    np.testing.assert_allclose(found.natural_params_, expected, rtol=0, atol=1e-12)
    assert found.entropy_ == pytest.approx(1.0 + np.log(scale), abs=1e-12)
    far = sign * np.array([1.0, 50.0, 1e8])
    law = stats.expon(scale=scale)
    np.testing.assert_allclose(found.logpdf(far), law.logpdf(sign * far), rtol=1e-12)


@pytest.mark.parametrize("name", moment_problems.SUPPORTS)
def test_no_random_problem_is_answered_wrongly(name):
    found = moment_problems.outcomes(name, 12, seed=1)
    assert sum(found.values()) == 12
    assert found["wrong"] == found["refused wrongly"] == 0
    assert found["matched"] > 4
    if name in ("[a, b]", "levels"):
        assert found["not converged"] == 0
