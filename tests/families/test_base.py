from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import integrate, stats

from memdlib.families import Normal
from memdlib.families import base as quadrature
from memdlib.families.base import jensen_shannon_quadrature


def normals(mean, sd):
    """Mean parameters (K, d, 2)."""
    return Normal.mean_parameters(np.asarray(mean, float), np.asarray(sd, float) ** 2)


def reference(mean, sd, w):
    """JS of one feature, entropy of the mixture less the mean entropy, by quad."""
    laws = [stats.norm(m, s) for m, s in zip(mean, sd, strict=True)]

    def term(x):
        p = sum(v * law.pdf(x) for v, law in zip(w, laws, strict=True))
        return -p * np.log(p) if p > 0 else 0.0

    cuts = np.unique([m + z * s for m, s in zip(mean, sd, strict=True)
                      for z in (-10, -5, -2, -1, 0, 1, 2, 5, 10)])  # fmt: skip
    pieces = [
        integrate.quad(term, a, b, epsabs=1e-13, epsrel=1e-12, limit=200)[0]
        for a, b in pairwise(cuts)
    ]
    return sum(pieces) - sum(v * law.entropy() for v, law in zip(w, laws, strict=True))


@pytest.mark.parametrize(
    ("mean", "sd", "w"),
    [
        ([0, 1], [1, 1], [0.5, 0.5]),
        ([0, 0], [1, 3], [0.2, 0.8]),
        ([0, 5], [1, 0.01], [0.9, 0.1]),
        ([0, 0.5, 40], [1, 1e-4, 10], [0.2, 0.3, 0.5]),
        ([-3, 0, 3, 6], [1, 2, 1, 2], [0.25] * 4),
    ],
)
def test_against_entropies_by_adaptive_quadrature(mean, sd, w):
    mu = normals(mean, sd)[:, None]
    value, error = Normal().jensen_shannon(mu, w)
    assert value[0] == pytest.approx(reference(mean, sd, w), rel=1e-9, abs=1e-10)
    assert abs(value[0] - reference(mean, sd, w)) <= error[0] + 1e-9
    assert error[0] < 1e-9


@given(st.floats(-5, 5), st.floats(0.05, 20), st.floats(0.05, 0.95))
def test_bounds(shift, sd, weight):
    w = np.array([weight, 1 - weight])
    mu = normals([0, shift], [1, sd])[:, None]
    value, _ = Normal().jensen_shannon(mu, w)
    assert -1e-12 <= value[0] <= min(stats.entropy(w), Normal().js_gm(mu, w)[0]) + 1e-10


@pytest.mark.parametrize("block", [1, 10**4, 10**9])
def test_blocks_change_nothing(monkeypatch, block):
    rng = np.random.default_rng([43, 1])
    mu = normals(rng.normal(size=(3, 20)), rng.uniform(0.2, 3, size=(3, 20)))
    expected, _ = Normal().jensen_shannon(mu, [0.2, 0.3, 0.5])
    monkeypatch.setattr(quadrature, "_BLOCK", block)
    found, _ = Normal().jensen_shannon(mu, [0.2, 0.3, 0.5])
    assert_allclose(found, expected, rtol=1e-13)


def test_an_error_that_stays_is_told():
    """Steps are not smooth: halving helps slowly, and the estimate says so."""
    at = np.linspace(0.1, 0.9, 31)

    def log_density(x, features):
        with np.errstate(divide="ignore"):
            step = at[features][:, None]
            left = np.where(x < step, -np.log(step), -np.inf)
        return np.stack([left, np.zeros_like(x)])

    edges = np.tile([0.0, 1.0], (31, 1))
    value, error = jensen_shannon_quadrature(log_density, edges, np.full(2, 0.5))
    mixture = (1 + 1 / at) / 2
    left = -0.5 * np.log(at * mixture) - 0.5 * at * np.log(mixture)
    exact = left + 0.5 * (1 - at) * np.log(2)
    assert np.mean(error > 1e-6) > 0.9
    assert np.mean(np.abs(value - exact) < 10 * error) > 0.8
    assert_allclose(value, exact, rtol=0, atol=5e-3)
