"""Codes of densities on the unit interval, against sums over all that may be sent."""

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import gamma, logsumexp

from memdlib.nml import (
    moments_complexity,
    optimal_histogram,
    truncated_exponential_complexity,
)
from memdlib.nml.codes import interval

FINE = np.linspace(0.0, 1.0, 20001)


def pairs(mean, deviation):
    """Samples of two values, (2, d)."""
    mean, deviation = np.broadcast_arrays(mean, deviation)
    return np.stack([mean - deviation, mean + deviation]).reshape(2, -1)


def normal_codes(u, octaves, strength=0.0):
    octaves = np.full(u.shape[1], octaves)
    return interval.NormalColumns.of(u, octaves, strength).codelengths


@pytest.mark.parametrize("octaves", [1, 2, 3, 8])
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


@pytest.mark.parametrize("strength", [-40.0, -0.5, 0.0, 0.75, 15.0])
def test_maps_are_those_of_their_formula(strength):
    u = [0, 0.125, 0.5, 0.96875, 1]
    z, log_slope = interval.stretch(u, strength)
    for value, image, slope in zip(u, z, log_slope, strict=True):
        expected, derivative = mp.mpf(value), mp.mpf(1)
        if strength:
            t = mp.mpf(abs(strength))
            v = mp.mpf(value) if strength > 0 else 1 - mp.mpf(value)
            expected = mp.log(1 + t * v) / mp.log(1 + t)
            expected = expected if strength > 0 else 1 - expected
            derivative = t / (1 + t * v) / mp.log(1 + t)
        assert image == pytest.approx(float(expected), abs=1e-15)
        assert slope == pytest.approx(float(mp.log(derivative)), abs=1e-14)
    for part in (z, log_slope, *interval.stretch([0, 1], strength)):
        assert part.dtype == np.float64


@pytest.mark.parametrize(("cells", "m"), [(3, 1), (6, 4), (64, 4)])
def test_polynomials_of_the_cell_by_degree(cells, m):
    P = interval.cell_polynomials(cells, m)
    assert P.shape == (cells, m)
    np.testing.assert_allclose(P.T @ P / cells, np.eye(m), rtol=0, atol=1e-13)
    np.testing.assert_allclose(P.mean(axis=0), 0.0, rtol=0, atol=1e-13)
    for degree, values in enumerate(P.T, start=1):
        # differences of one order more vanish, those of the degree are all equal
        last = np.diff(values, degree)
        np.testing.assert_allclose(last, last[0], rtol=0, atol=1e-11)
        assert abs(last[0]) > 1e-8


@pytest.mark.parametrize("cells", [3, 7, 64])
def test_the_volume_of_one_moment_on_any_cells(cells):
    x = np.arange(cells) - 0.5 * (cells - 1)
    phi = x / np.sqrt((x * x).mean())

    def root(lam):
        p = np.exp(-lam * phi - np.max(-lam * phi))
        p /= p.sum()
        return np.sqrt(max(p @ phi**2 - (p @ phi) ** 2, 0.0))

    volume = 2 * integrate.quad(root, 0, 16, limit=200)[0]
    for n in (1, 7, 1000):
        expected = np.log(volume * np.sqrt(n / (2 * np.pi)))
        assert moments_complexity(n, 1, cells) == pytest.approx(expected, abs=5e-3)
    assert moments_complexity(7, 1) == moments_complexity(7, 1, 64)


@pytest.mark.parametrize(("cells", "m"), [(5, 3), (64, 3), (9, 4)])
def test_the_volume_of_more_moments_by_other_draws(cells, m):
    """Radii of equal spacing in their logarithm, directions of a generator."""
    x = np.linspace(-1, 1, cells)
    q = np.linalg.qr(np.vander(x, m + 1, increasing=True))[0][:, 1:] * np.sqrt(cells)
    rng = np.random.default_rng([1, cells, m])
    direction = rng.normal(size=(4000, m))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    edge = np.log(0.01), np.log(16.0)
    t = edge[0] + (edge[1] - edge[0]) * (np.arange(4000) + 0.5) / 4000
    lam = direction * np.exp(rng.permutation(t))[:, None]
    p = np.exp(-lam @ q.T - (-lam @ q.T).max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    centred = q - (p @ q)[:, None]
    covariance = np.einsum("bn,bni,bnj->bij", p, centred, centred)
    height = np.sqrt(np.maximum(np.linalg.det(covariance), 0.0))
    height *= np.linalg.norm(lam, axis=1) ** m * (edge[1] - edge[0])
    sphere = 2 * np.pi ** (m / 2) / gamma(m / 2)
    expected = np.log(sphere * height.mean()) + 0.5 * m * np.log(50 / (2 * np.pi))
    error = height.std() / height.mean() / np.sqrt(4000)
    found = moments_complexity(50, m, cells)
    assert found == pytest.approx(expected, abs=0.02 + 4 * error)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((5, 1, 2), "cells=2 must be an integer, 3 or more"),
        ((5, 4, 5), "cells=5 must be an integer, 6 or more"),
        ((5, 1, 8.0), "cells=8.0 must be an integer, 3 or more"),
    ],
)
def test_cells_too_few_for_the_moments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        moments_complexity(*arguments)


@pytest.mark.parametrize("strength", [0.0, 4.0, -64.0])
def test_normal_codes_of_columns_of_many_precisions(strength):
    """Error, complexity by quadrature, octave, and the slopes of the map."""
    rng = np.random.default_rng([1, 9])
    n, octaves = 7, np.array([9, 3, 12, 20, 6])
    low, high = [0.1, 0.2, 0.45, 0.3, 0.0], [0.9, 0.8, 0.5, 0.301, 1.0]
    u = rng.uniform(low, high, size=(n, 5))
    model = interval.NormalColumns.of(u, octaves, strength)
    lost = 0
    if strength:
        lost = int(np.ceil(np.log2(abs(strength) / np.log1p(abs(strength)))))
    for j in range(5):
        z, log_slope = interval.stretch(u[:, j], strength)
        s, most = z.std(), octaves[j] - lost
        octave = int(np.floor(-np.log2(s)))
        if not 1 <= octave <= most:
            assert model.codelengths[j] == np.inf
            continue
        assert model.mean[j] == pytest.approx(z.mean())
        assert model.deviation[j] == pytest.approx(s)

        def estimate(t):
            # the density of both estimates at the parameters that they are
            law = stats.chi(n - 1, scale=t / np.sqrt(n))
            return law.pdf(t) * stats.norm(0, t / np.sqrt(n)).pdf(0)

        inside = integrate.quad(estimate, 2.0 ** -(octave + 1), 2.0**-octave)[0]
        expected = np.log(inside) + np.log(most)
        expected -= stats.norm(z.mean(), s).logpdf(z).sum() + log_slope.sum()
        assert model.codelengths[j] == pytest.approx(expected, abs=1e-8)
    assert np.isfinite(model.codelengths).sum() >= 3
    columns = np.flatnonzero(np.isfinite(model.codelengths))[::-1]
    values = np.array([[0.2], [0.55], [0.999]]) * np.ones(len(columns))
    found = model.log_density(values, columns)
    for row, v in zip(found, (0.2, 0.55, 0.999), strict=True):
        z, log_slope = interval.stretch(v, strength)
        law = stats.norm(model.mean[columns], model.deviation[columns])
        np.testing.assert_allclose(row, law.logpdf(z) + log_slope, rtol=1e-12)


def test_the_first_and_the_last_octave_have_codes():
    widest = np.array([[0.0], [1.0]])
    assert np.isfinite(normal_codes(widest, 1)).all()
    edge = pairs(0.5, 0.25)
    assert np.isfinite(normal_codes(edge, 2)).all()
    assert np.isinf(normal_codes(edge, 1)).all()
    # a quarter is in the octave that it ends, not in the next one
    assert np.isfinite(normal_codes(pairs(0.5, 0.2501), 1)).all()


def test_cells_have_their_lower_ends_and_the_last_both():
    u = np.array([0.0, 0.2, 0.25, 0.5, 0.75, np.nextafter(1.0, 0.0), 1.0])
    assert interval.cell_of(u, 4).tolist() == [0, 0, 1, 2, 3, 3, 3]
    assert interval.cell_of(u, 1).tolist() == [0] * 7


@pytest.mark.parametrize("m", [1, 2, 3])
def test_matched_cells_have_the_moments_and_the_largest_entropy(m):
    rng = np.random.default_rng([1, m])
    counts = rng.multinomial(60, rng.dirichlet(np.full(9, 2.0)), size=4)
    counts[2] = [60, *[0] * 8]
    heights, lengths = interval.match_cells(counts, m)
    assert np.isfinite(lengths).tolist() == [True, True, False, True]
    x = np.linspace(-1, 1, 9)
    powers = np.vander(x, m + 1, increasing=True)
    for j in (0, 1, 3):
        p = np.exp(heights[j]) / 9
        np.testing.assert_allclose(
            p @ powers, counts[j] / 60 @ powers, rtol=0, atol=1e-9
        )
        # of all densities with these moments, that whose logarithm is a polynomial
        off = heights[j] - powers @ np.linalg.lstsq(powers, heights[j])[0]
        np.testing.assert_allclose(off, 0.0, rtol=0, atol=1e-9)
        expected = moments_complexity(60, m, 9) - counts[j] @ heights[j]
        assert lengths[j] == pytest.approx(expected, rel=1e-12)
    assert heights[2].tolist() == [0.0] * 9
    nothing, none = interval.match_cells(counts[2:3], m)
    assert nothing.shape == (1, 9) and none.tolist() == [np.inf]


def test_parameters_end_at_the_ball():
    """Two neighbours at an end: the fewer values in the inner one, the steeper."""
    x = np.arange(64) - 31.5
    phi = x / np.sqrt((x * x).mean())
    steep, columns, finite = [], [], []
    for k in range(62, 84):
        counts = np.zeros((1, 64), dtype=np.int64)
        counts[0, :2] = 100 - k, k
        heights, lengths = interval.match_cells(counts, 1)
        # a geometric law, whose neighbours have the ratio k to 100 + k
        slope = (heights[0, 0] - heights[0, 1]) / (phi[1] - phi[0])
        steep.append(slope)
        columns.append(counts[0])
        finite.append(np.isfinite(lengths[0]))
        assert finite[-1] == (slope <= 16.0)
        assert slope * (phi[1] - phi[0]) == pytest.approx(
            np.log((100 + k) / k), abs=1e-6
        )
    assert min(steep) < 16 < max(steep)
    together = interval.match_cells(np.array(columns), 1)[1]
    assert np.isfinite(together).tolist() == finite


def test_columns_of_many_precisions_are_fitted_as_each_alone():
    rng = np.random.default_rng([1, 8])
    precision = np.array([1 / 300, 0.3, 1.0, 1 / 64, 0.11, 1 / 300, 1 / 63.4])
    u = rng.beta(2, 3, size=(40, 7))
    models = interval.fit_columns(u, precision)
    assert len(models) == len(interval.NAMES) == 16
    cells, octaves = [64, 3, 1, 64, 9, 64, 63], [9, 2, 0, 6, 4, 9, 6]
    values = rng.random((6, 1))
    for j in range(7):
        alone = interval.fit_columns(u[:, [j]], precision[[j]])
        for model, one in zip(models, alone, strict=True):
            assert model.codelengths.shape == (7,)
            length = one.codelengths[0]
            assert model.codelengths[j] == pytest.approx(length, rel=1e-12)
            if np.isfinite(length):
                found = model.log_density(values, np.array([j]))
                expected = one.log_density(values, np.array([0]))
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        for model in models[11:]:
            assert len(model.log_heights[j]) == cells[j]
        for model, strength in zip(models, (0.0, *interval.STRENGTHS), strict=False):
            direct = normal_codes(u[:, [j]], octaves[j], strength)
            assert model.codelengths[j] == pytest.approx(direct[0], rel=1e-12)
            assert model.strength == strength
        counts = np.bincount(np.minimum((u[:, j] * cells[j]).astype(int), cells[j] - 1))
        counts = np.append(counts, [0] * (cells[j] - len(counts)))
        best = optimal_histogram(counts, 16)
        assert models[-1].codelengths[j] == best.codelength
        heights = best.log_density((np.arange(cells[j]) + 0.5) / cells[j])
        np.testing.assert_array_equal(models[-1].log_heights[j], heights)
        for m in range(1, 5):
            expected = interval.match_cells(counts[None], m)[1][0]
            found = models[10 + m].codelengths[j]
            assert found == pytest.approx(expected, rel=1e-9)


def test_names_are_in_the_order_of_the_models():
    powers = [1, 4, 16, 64, 256]
    assert interval.STRENGTHS == (*powers, *(-t for t in powers))
    maps = [f"transformed {sign}{t}" for sign in "+-" for t in powers]
    moments = [f"moments {m}" for m in (1, 2, 3, 4)]
    assert interval.NAMES == ("normal", *maps, *moments, "histogram")
