"""Ratios of means from 1e-100 to 1e100, against 300 digits."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from memdlib.divergences import itakura_saito, kl_terms
from memdlib.families import Normal, TruncatedExponential, get_family

MEANS = [1e-100, 1e-20, 1e-9, 0.3, 1.0, 1 + 1e-9, 2.0, 1e9, 1e20, 1e100]
SHARES = [1e-100, 1e-20, 1e-9, 0.3, 0.5, 0.5 + 1e-12, 0.7, 1 - 1e-9, 1 - 2**-53]


def information(p, q):
    return p * mp.log(p / q) - p + q


def geometric_kl(a, b):
    return a * mp.log(a * (1 + b) / (b * (1 + a))) - mp.log((1 + a) / (1 + b))


# family: means to try, lambda, entropy, KL
EXACT = {
    "exponential": (
        MEANS,
        lambda a: 1 / a,
        lambda a: 1 + mp.log(a),
        lambda a, b: a / b - 1 - mp.log(a / b),
    ),
    "poisson": (MEANS, lambda a: -mp.log(a), lambda a: a - a * mp.log(a), information),
    "geometric": (
        MEANS,
        lambda a: mp.log1p(1 / a),
        lambda a: (1 + a) * mp.log(1 + a) - a * mp.log(a),
        geometric_kl,
    ),
    "bernoulli": (
        SHARES,
        lambda a: mp.log((1 - a) / a),
        lambda a: -a * mp.log(a) - (1 - a) * mp.log(1 - a),
        lambda a, b: a * mp.log(a / b) + (1 - a) * mp.log((1 - a) / (1 - b)),
    ),
    "multinomial": (
        SHARES,
        lambda a: -mp.log(a),
        lambda a: -a * mp.log(a),
        information,
    ),
}


def close(found, exact, rel):
    """Equal but for rounding; infinite only where doubles end."""
    if abs(exact) > np.finfo(float).max:
        return np.isinf(found)
    return abs(mp.mpf(float(found)) - exact) <= rel * abs(exact) + mp.mpf(10) ** -305


@pytest.mark.parametrize("name", EXACT)
def test_every_ratio_keeps_its_digits(name):
    means, natural, entropy, kl = EXACT[name]
    f = get_family(name)
    with mp.workdps(300):
        for a in means:
            A = mp.mpf(a)
            lam = f.natural([a])
            assert close(lam[0], natural(A), 1e-15)
            assert close(f.mean(lam)[0], A, 1e-13)
            psi = mp.mpf(float(f.log_normaliser(lam)))
            size = abs(entropy(A)) + abs(natural(A) * A)
            assert abs(psi - entropy(A) + natural(A) * A) <= 1e-13 * size + 1e-16
            assert close(f.entropy([a]), entropy(A), 1e-15)
            for b in means:
                forward, backward = kl(A, mp.mpf(b)), kl(mp.mpf(b), A)
                assert close(f.kl([a], [b]), forward, 1e-14), (a, b)
                assert close(f.jeffreys([a], [b]), forward + backward, 1e-14), (a, b)


def test_variances_of_every_ratio_keep_their_digits():
    f = Normal()
    with mp.workdps(300):
        for v in MEANS:
            for w in MEANS:
                r = mp.mpf(v) / mp.mpf(w)
                a, b = f.mean_parameters(0.0, v), f.mean_parameters(0.0, w)
                assert close(f.kl(a, b), (r - 1 - mp.log(r)) / 2, 1e-14), (v, w)
                assert close(f.jeffreys(a, b), (r + 1 / r - 2) / 2, 1e-14), (v, w)


def exact_rate(mean):
    """Rate of an exponential density on [0, 1] of that mean, by bisection."""
    if mean > 0.5:
        return -exact_rate(1 - mean)
    low, high = mp.mpf(0), 2 / mean
    for _ in range(400):
        middle = (low + high) / 2
        deficit = mp.mpf(1) / 2 if middle == 0 else mean
        if middle:
            deficit = 1 / middle - 1 / mp.expm1(min(middle, mp.mpf(10) ** 4)) - mean
        low, high = (middle, high) if deficit > 0 else (low, middle)
    return low


def exact_psi(rate):
    return mp.log(-mp.expm1(-rate) / rate) if rate else mp.mpf(0)


def test_truncated_densities_near_their_ends():
    f = TruncatedExponential()
    means = [1e-100, 1e-20, 1e-9, 0.01, 0.3, 0.499, 0.501, 0.99, 1 - 1e-9, 1 - 2**-53]
    with mp.workdps(60):
        rate = {m: exact_rate(mp.mpf(m)) for m in means}
        for a in means:
            A, lam = mp.mpf(a), f.natural([a])
            assert close(lam[0], rate[a], 1e-12)
            assert close(f.mean(lam)[0], A, 1e-14)
            assert close(f.log_normaliser(lam), exact_psi(rate[a]), 1e-12)
            entropy = exact_psi(rate[a]) + rate[a] * A
            assert abs(float(f.entropy([a])) - entropy) <= 1e-14 + 1e-14 * abs(entropy)
            for b in means:
                psi = exact_psi(rate[b]) - exact_psi(rate[a])
                kl = psi + (rate[b] - rate[a]) * A
                J = (rate[b] - rate[a]) * (A - mp.mpf(b))
                assert f.kl([a], [b]) >= 0
                assert close(f.kl([a], [b]), kl, 1e-11), (a, b)
                assert close(f.jeffreys([a], [b]), J, 1e-11), (a, b)


@pytest.mark.parametrize("ends", [(0.0, 1.0), (-3.0, 5.0), (1e3, 1e3 + 1)])
@pytest.mark.parametrize("size", [1e-4, 1e-8])
def test_near_truncated_densities_keep_their_digits_at_both_ends(ends, size):
    f, (a, b) = TruncatedExponential(*ends), ends
    for share in (1e-3, 0.4, 0.999):
        mean = np.array([a + (b - a) * share])
        moved = mean + size * np.minimum(mean - a, b - mean)
        both = f.kl(mean, moved) + f.kl(moved, mean)
        assert both > 0
        # the means themselves, and lambda, have the digits of their own size
        rtol = 1e-14 * (1 + abs(a)) / (1e-3 * size)
        assert_allclose(both, f.jeffreys(mean, moved), rtol=rtol)


def test_near_densities_close_to_an_end_keep_their_digits():
    f, mean = TruncatedExponential(), np.array([1e-9])
    moved = mean * (1 + 1e-4)
    # as if the interval had but one end
    expected = itakura_saito(mean[0], moved[0])
    assert f.kl(mean, moved) == pytest.approx(expected, rel=1e-10, abs=0)


def test_the_parts_at_their_edges():
    assert kl_terms(0.0, [0.0, 2.0], [0.0, 2.0]).tolist() == [0.0, 2.0]
    assert kl_terms(2.0, 0.0, -2.0) == np.inf
    assert itakura_saito([1.0, 3.0], [1.0, 3.0]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", ["bernoulli", "multinomial", "poisson", "geometric"])
@pytest.mark.parametrize(
    ("weight", "smoothing"), [(1e7, 1e-12), (1e15, 1e-3), (1, 1e-20)]
)
def test_smoothing_below_the_last_digit_still_smooths(name, weight, smoothing):
    """A class that never has the first word, and always the second, expects both."""
    family = get_family(name)
    mu = np.array([[[0.0], [1.0]], [[0.5], [0.5]]])
    weights = np.full(2, float(weight))
    found = family.regularise(mu, weights, variance_shrinkage=0.0, alpha=smoothing)
    # alpha instances of the pooled mean, 1/4 of the first word
    expected = 0.25 * smoothing / (weight + smoothing)
    if name == "multinomial":  # and those of a uniform one, to all classes together
        expected += 0.5 * smoothing / (2.0 * weight + smoothing)
    assert_allclose(found[0, 0, 0], expected, rtol=1e-6)
    assert (found > 0).all()
    divergence = family.jeffreys(*found)
    assert np.isfinite(divergence).all()
    assert (divergence > 0).all()


@pytest.mark.parametrize("upper", [False, True])
def test_an_end_that_rounding_has_moved_is_still_the_end(upper):
    a, b = 0.1, 0.3
    end = np.nextafter(b, a) if upper else np.nextafter(a, b)
    mu, f = np.full((2, 1, 1), end), TruncatedExponential(a, b)
    mu = f.regularise(mu, np.ones(2), variance_shrinkage=0.0, alpha=1.0)
    assert_allclose(mu, 0.2, rtol=1e-15)
