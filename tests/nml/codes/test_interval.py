"""Codes of densities on the unit interval, against sums over all that may be sent."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import logsumexp

from memdlib.nml import moments_complexity, truncated_exponential_complexity
from memdlib.nml.codes import interval

FINE = np.linspace(0.0, 1.0, 20001)


def pairs(mean, deviation):
    """Samples of two values, (2, d)."""
    mean, deviation = np.broadcast_arrays(mean, deviation)
    return np.stack([mean - deviation, mean + deviation]).reshape(2, -1)


def normal_codes(u, octaves, strength=0.0):
    octaves = np.full(u.shape[1], octaves)
    return interval.NormalColumns.of(u, octaves, strength).codelengths


@pytest.mark.parametrize("octaves", [2, 3, 8])
def test_a_normal_code_of_two_values_fills_the_unit_of_probability(octaves):
    # the plane of two values by mean and deviation: area element 2, two orders
    total = 0.0
    for j in range(1, octaves + 1):
        s = 2.0 ** -(j + (np.arange(400) + 0.5) / 400)
        weight = s * np.log(2) / 400
        total += 4 * weight @ np.exp(-normal_codes(pairs(0.5, s), octaves))
    assert total == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("strength", [4.0, -16.0])
def test_a_map_moves_probability_and_makes_none(strength):
    octaves = 8
    middles = (np.arange(800) + 0.5) / 800
    u = np.stack(np.meshgrid(middles, middles)).reshape(2, -1)
    taken = np.exp(-normal_codes(u, octaves, strength)).mean()
    # of the same code on the mapped square, known to fewer octaves
    lost = int(np.ceil(interval.stretch(0.0, abs(strength))[1] / np.log(2)))
    on_square = np.exp(-normal_codes(u, octaves - lost)).mean()
    assert taken == pytest.approx(on_square, rel=2e-2)
    assert on_square < 1


@pytest.mark.parametrize("strength", [0.0, *interval.STRENGTHS])
def test_maps_are_increasing_and_know_their_slopes(strength):
    z, log_slope = interval.stretch(FINE, strength)
    np.testing.assert_allclose(z[[0, -1]], [0.0, 1.0], rtol=0, atol=1e-12)
    assert (np.diff(z) > 0).all()
    area = integrate.simpson(np.exp(log_slope), x=FINE)
    assert area == pytest.approx(1.0, abs=1e-6)
    mirrored, _ = interval.stretch(1.0 - FINE, -strength)
    np.testing.assert_allclose(1.0 - mirrored, z, rtol=0, atol=1e-12)


def test_normal_codes_are_those_of_the_closed_form_and_scipy():
    u = np.random.default_rng(1).beta(4, 6, size=(30, 1))
    (found,) = normal_codes(u, 6)
    s = u.std()
    error = -stats.norm(u.mean(), s).logpdf(u).sum()
    low = 2.0 ** -np.ceil(-np.log2(s))
    # density of both estimates at themselves, integrated over one octave
    inside = integrate.quad(
        lambda t: (
            stats.chi(29, scale=t / np.sqrt(30)).pdf(t)
            * stats.norm(0, t / np.sqrt(30)).pdf(0)
        ),
        low,
        2 * low,
    )[0]
    assert found == pytest.approx(error + np.log(inside) + np.log(6), abs=1e-8)


def test_what_is_finer_than_the_precision_has_no_normal_code():
    wide, narrow = pairs(0.5, 0.2), pairs(0.5, 0.1)
    assert np.isfinite(normal_codes(wide, 2)).all()
    assert np.isinf(normal_codes(narrow, 2)).all()
    assert np.isinf(normal_codes(np.full((5, 1), 0.5), 9)).all()
    assert np.isinf(normal_codes(np.array([[0.3]]), 9)).all()
    # a map that spreads the lower end nine times leaves four octaves less
    assert np.isinf(normal_codes(wide, 4, 256.0)).all()


@pytest.mark.parametrize(("n", "off"), [(3, 0.05), (10, 0.02), (50, 0.005)])
def test_one_moment_against_the_exact_complexity(n, off):
    rate = 2 * np.sqrt(3) * np.array([16.0, -16.0])
    mean = 1 / rate - 1 / np.expm1(rate)
    exact = truncated_exponential_complexity(n, mean_range=tuple(mean))
    assert -0.005 < moments_complexity(n, 1) - exact < off


def sampled_complexity(n, m, draws=2000):
    """Importance sampling from a mixture of members, and its standard error."""
    rng = np.random.default_rng([n, m])
    P = interval.cell_polynomials(64, m)
    lam = rng.normal(size=(draws, m))
    radius = np.expm1(rng.uniform(0, np.log1p(24.0), draws))
    lam *= (radius / np.linalg.norm(lam, axis=1))[:, None]
    psi = logsumexp(-lam @ P.T, axis=1)
    law = np.exp(-lam @ P.T - psi[:, None])
    mean = np.array([rng.multinomial(n, p / p.sum()) for p in law]) @ P / n
    mixture = logsumexp(-n * (psi + mean @ lam.T), axis=1) - np.log(draws)
    with np.errstate(over="ignore"):
        best = interval.solve_dual(P, np.zeros(64), mean)
    inside = (np.linalg.norm(best.natural, axis=1) <= 16) & (best.residual < 1e-9)
    error = best.log_normaliser + (best.natural * mean).sum(axis=1)
    ratio = np.where(inside, np.exp(-n * error - mixture), 0.0)
    return np.log(ratio.mean()), ratio.std() / ratio.mean() / np.sqrt(draws)


@pytest.mark.parametrize(("n", "least", "most"), [(10, 0.0, 0.3), (40, -0.05, 0.15)])
def test_two_moments_against_importance_sampling(n, least, most):
    exact, error = sampled_complexity(n, 2)
    assert error < 0.05
    difference = moments_complexity(n, 2) - exact
    assert least - 3 * error < difference < most + 3 * error


def test_the_volume_of_two_moments_on_a_grid_of_polar_coordinates():
    x = np.arange(64) - 31.5
    P = np.stack([x, x * x - (x * x).mean()])
    P /= np.sqrt((P * P).mean(axis=1, keepdims=True))
    r, rw = np.polynomial.legendre.leggauss(60)
    r, rw = 8 * (r + 1), 8 * rw
    angle = np.arange(90) * 2 * np.pi / 90
    total = 0.0
    for a in angle:
        lam = r[:, None] * [np.cos(a), np.sin(a)]
        p = np.exp(-lam @ P)
        p /= p.sum(axis=1, keepdims=True)
        mean = p @ P.T
        second = np.einsum("bn,in,jn->bij", p, P, P)
        covariance = second - mean[:, :, None] * mean[:, None]
        total += rw @ (r * np.sqrt(np.linalg.det(covariance))) * 2 * np.pi / 90
    own = moments_complexity(100, 2) - np.log(100 / (2 * np.pi))
    assert own == pytest.approx(np.log(total), abs=0.02)


@pytest.mark.parametrize("arguments", [(0, 1), (5, 0), (5, 1.5)])
def test_complexities_of_what_is_no_number(arguments):
    with pytest.raises(ValueError, match="must be an integer, 1 or more"):
        moments_complexity(*arguments)


@pytest.mark.parametrize("name", interval.NAMES)
def test_densities_are_those_whose_codes_were_measured(name):
    """Mass one on the interval (normal laws: on what it is mapped from), and the
    error of the training values with the code length less the complexity."""
    u = np.random.default_rng(2).beta(2, 3, size=(200, 2))
    models = dict(
        zip(interval.NAMES, interval.fit_columns(u, np.full(2, 2e-3)), strict=True)
    )
    model, columns = models[name], np.array([1, 0])
    log_density = model.log_density(np.column_stack([FINE, FINE]), columns)
    mass = integrate.trapezoid(np.exp(log_density), FINE, axis=0)
    if name.startswith(("normal", "transformed")):
        ends, _ = interval.stretch(np.array([0.0, 1.0]), model.strength)
        law = stats.norm(model.mean[columns], model.deviation[columns])
        expected = law.cdf(ends[1]) - law.cdf(ends[0])
        np.testing.assert_allclose(mass, expected, rtol=1e-4)
    else:
        np.testing.assert_allclose(mass, 1.0, rtol=2e-3)
    error = -model.log_density(u[:, columns], columns).sum(axis=0)
    complexity = model.codelengths[columns] - error
    assert (complexity > 0).all()
    assert (complexity < 60).all()


def test_a_class_of_one_value_has_a_histogram_and_no_normal_law():
    u = np.full((8, 1), 0.4)
    lengths = [m.codelengths[0] for m in interval.fit_columns(u, np.array([0.01]))]
    assert np.isinf(lengths[: 1 + len(interval.STRENGTHS)]).all()
    assert np.isfinite(lengths[-1])
    assert lengths[-1] < 0
