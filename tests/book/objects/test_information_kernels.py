"""Statements of *Kernels from entropies*."""

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate
from scipy.special import gamma, xlogy

from memdlib.divergences import jensen_shannon
from memdlib.kernels import (
    exponential_js_kernel,
    js_kernel,
    jt_kernel,
    weighted_jt_kernel,
)


def f(a, b, q):
    """The cell function."""
    if q == 1:
        return xlogy(a + b, a + b) - xlogy(a, a) - xlogy(b, b)
    return ((a + b) ** q - a**q - b**q) / (q - 1)


def some_measures(n=12):
    rng = np.random.default_rng([15, 21])
    return rng.gamma(0.7, size=(n, 9)) * 10.0 ** rng.uniform(-1, 1, size=(n, 1))


@pytest.mark.wrong("the kernel is half the sum for every order", "/ 2**q", "/ 2")
def test_prop_ik_cells_witness():
    M = some_measures()
    p = M / M.sum(axis=1, keepdims=True)
    for q in (0.3, 0.9, 1.0, 1.1, 1.7, 2.0):
        cells = f(M[:, None], M, q).sum(axis=2)
        np.testing.assert_allclose(
            weighted_jt_kernel(M, q=q, version="B"), cells, rtol=1e-11
        )
        cells = f(p[:, None], p, q).sum(axis=2) / 2**q
        np.testing.assert_allclose(jt_kernel(p, q=q), cells, rtol=1e-11)
    np.testing.assert_allclose(jt_kernel(p, q=2), p @ p.T / 2, rtol=1e-11)
    np.testing.assert_allclose(jt_kernel(p, q=0), np.full((12, 12), 9), rtol=1e-11)


@pytest.mark.wrong(
    "version A is the difference without the entropy of the shares",
    "tsallis(pi, q) - T",
    "-T",
)
def test_prop_ik_cells_second():
    """Versions A and B as they are defined, entropies in forty digits."""

    def tsallis(p, q):
        return (1 - mp.fsum(v**q for v in p)) / (q - 1)

    for q in (0.3, 0.9, 1.1, 1.7):
        for pair in some_measures().reshape(6, 2, 9)[:3]:
            with mp.workdps(40):
                m = [[mp.mpf(float(v)) for v in measure] for measure in pair]
                mass = [mp.fsum(measure) for measure in m]
                pi = [v / mp.fsum(mass) for v in mass]
                mix = [mp.fsum(cell) / mp.fsum(mass) for cell in zip(*m, strict=True)]
                T = tsallis(mix, q)
                for share, measure, w in zip(pi, m, mass, strict=True):
                    T -= share**q * tsallis([v / w for v in measure], q)
                A = tsallis(pi, q) - T
                expected = float(A), float(A * mp.fsum(mass) ** q)
            found = [weighted_jt_kernel(*pair, q, version) for version in "AB"]
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    half = some_measures(2) / some_measures(2).sum(axis=1, keepdims=True)
    both = js_kernel(*half) + jensen_shannon(half)
    np.testing.assert_allclose(both, np.log(2), rtol=1e-12)


CELLS = [(1.0, 1.0), (0.2, 3.0), (1e-3, 0.7)]


@pytest.mark.wrong(
    "the factor has the gamma function of one less the order",
    "gamma(2 - q)",
    "gamma(3 - q)",
)
def test_lem_ik_integral_witness():
    """Quadrature over t = e^u, where the integrand falls off on both sides."""

    def integrand(u, a, b, q):
        part = np.exp(-0.5 * q * u)
        return part * np.expm1(-np.exp(u) * a) * (part * np.expm1(-np.exp(u) * b))

    for q in (0.1, 0.5, 1.0, 1.5, 1.9):
        for a, b in CELLS:
            whole = integrate.quad(
                integrand, -40 / (2 - q), 40 / q, args=(a, b, q), limit=500,
                points=[-5.0, 0.0, 5.0, 9.0], epsabs=0, epsrel=1e-9,
            )[0]  # fmt: skip
            found = weighted_jt_kernel([a], [b], q=q, version="B")
            np.testing.assert_allclose(found, q / gamma(2 - q) * whole, rtol=1e-8)


@pytest.mark.wrong("the power is another", "power = mp.mpf(q) - 1", "power = mp.mpf(q)")
def test_lem_ik_integral_second():
    """A product is an integral of e^(-t (r + s)) over a rectangle: powers of r + s."""

    def edge(s, b, q):  # the Gamma integral q (r + s)^(q - 2), integrated over r
        power = mp.mpf(q) - 1
        return q * ((s + b) ** power - s**power) / power

    for q in (0.5, 1.5, 1.9):
        for a, b in CELLS:
            cuts = [0, a / 1000, a / 10, a]
            value = mp.quad(lambda s, b=b, q=q: edge(s, b, q), cuts)
            found = weighted_jt_kernel([a], [b], q=q, version="B")
            np.testing.assert_allclose(found, float(value), rtol=1e-6)


@pytest.mark.wrong("and definite by a margin", "> -1e-12", "> 1e-3")
def test_thm_ik_positive_witness():
    """No negative eigenvalue, of matrices scaled to a diagonal of one."""
    rng = np.random.default_rng([15, 22])
    for case in range(60):
        q = [0.0, 2.0, 1.0, rng.uniform(0, 2)][case % 4]
        M = rng.gamma(0.6, size=(25, rng.integers(1, 12)))
        M *= 10.0 ** rng.uniform(-2, 2, size=(25, 1))
        M[rng.random(M.shape) < 0.2] = 0
        M[:, 0] += 1e-3
        p = M / M.sum(axis=1, keepdims=True)
        for K in (
            weighted_jt_kernel(M, q=q, version="A"),
            weighted_jt_kernel(M, q=q, version="B"),
            jt_kernel(p, q=q),
        ):
            own = np.sqrt(np.diag(K))
            assert np.linalg.eigvalsh(K / np.outer(own, own))[0] > -1e-12


@pytest.mark.wrong(
    "the weights of version A are e^(-t mass) under another Gamma law",
    "du / gamma(q)",
    "du / gamma(q + 1)",
)
def test_thm_ik_positive_second():
    """Gram matrices of the feature maps themselves, by the trapezoid rule."""
    M = np.random.default_rng([15, 23]).gamma(1.0, size=(6, 4))
    for q in (0.4, 1.0, 1.3, 1.8):
        far = 40 / min(q, 2 - q)
        u, du = np.linspace(-far, far, 8001, retstep=True)
        t, half = np.exp(u), np.exp(0.5 * q * u)
        F = (-np.expm1(-M[:, :, None] * t) / half).reshape(6, -1)
        B = F @ F.T * du * q / gamma(2 - q)
        h = np.exp(-np.outer(M.sum(axis=1), t)) * half
        A = B * (h @ h.T * du / gamma(q))
        for version, expected in (("A", A), ("B", B)):
            found = weighted_jt_kernel(M, q=q, version=version)
            np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.wrong("orders from 1.5 on fail as well", "2.1, 9.0", "1.5, 9.0")
def test_orders_outside_the_range_fail_on_one_cell():
    """Section *Outside the range*: two masses far apart, and the refusals."""
    for q in (-4.0, -0.1, 2.1, 9.0):
        mass = 10.0 ** np.linspace(0, 12, 121)
        mass = mass if q < 0 else 1 / mass
        determinant = f(1, 1, q) * f(mass, mass, q) - f(1, mass, q) ** 2
        assert determinant.min() < 0
        for kernel in (weighted_jt_kernel, jt_kernel):
            with pytest.raises(ValueError, match="q"):
                kernel([[1.0]], q=q)


@pytest.mark.wrong(
    "every detour is at least a tenth longer", "best <= 1 + 1e-12", "best <= 0.9"
)
def test_thm_mi_metric_witness():
    """Triples changed step by step, to make the detour as short as possible."""

    def direct_over_detour(P):
        legs = [np.sqrt(jensen_shannon(P[pair])) for pair in ([0, 2], [0, 1], [1, 2])]
        return legs[0] / (legs[1] + legs[2])

    rng = np.random.default_rng([5, 9])
    for _ in range(6):
        P = rng.dirichlet(np.full(4, 10.0 ** rng.uniform(-1, 1)), size=3)
        best = direct_over_detour(P)
        for _ in range(60):
            change = rng.normal(size=P.shape) * rng.uniform(0, 0.5)
            other = np.maximum(P * np.exp(change), 1e-9)
            other /= other.sum(axis=1, keepdims=True)
            if direct_over_detour(other) > best:
                P, best = other, direct_over_detour(other)
        assert best <= 1 + 1e-12
    apart = jensen_shannon(np.eye(2))
    np.testing.assert_allclose(np.sqrt(apart), np.sqrt(np.log(2)), rtol=1e-14)


@pytest.mark.wrong("the integral is JS", "2 * jensen_shannon", "jensen_shannon")
@pytest.mark.wrong("the root of J is a distance as well", "centre @ js", "centre @ J")
def test_thm_mi_metric_second():
    """The integral in twenty digits; distances of points of a Euclidean space."""
    rng = np.random.default_rng([5, 10])
    for pair in rng.dirichlet(np.full(4, 0.5), size=(2, 2)):
        with mp.workdps(20):
            squared = mp.mpf(0)
            for a, b in pair.T:
                squared += mp.quad(
                    lambda t, a=a, b=b: (
                        ((mp.exp(-a * t / 2) - mp.exp(-b * t / 2)) / t) ** 2
                    ),
                    [0, 1, 10, 100, 1000, mp.inf],
                )
        np.testing.assert_allclose(2 * jensen_shannon(pair), float(squared), rtol=1e-8)

    P = rng.dirichlet(np.full(5, 0.4), size=30) + 1e-6
    P /= P.sum(axis=1, keepdims=True)
    p, q = P[:, None], P[None]
    m, J = 0.5 * (p + q), ((p - q) * np.log(p / q)).sum(axis=2)
    js = 0.5 * (p * np.log(p / m) + q * np.log(q / m)).sum(axis=2)
    centre = np.eye(30) - 1 / 30
    assert np.linalg.eigvalsh(-0.5 * centre @ js @ centre)[0] > -1e-12
    assert np.linalg.eigvalsh(-0.5 * centre @ J @ centre)[0] < -0.01


@pytest.mark.wrong(
    "also of its opposite",
    "exponential_js_kernel(p, t=t)",
    "1 / exponential_js_kernel(p, t=t)",
)
def test_prop_ik_exponential_witness():
    rng = np.random.default_rng([15, 24])
    for t in [0.0, 0.1, 3.0, 50.0] * 5:
        p = rng.dirichlet(np.full(rng.integers(2, 9), 0.4), size=25)
        assert np.linalg.eigvalsh(exponential_js_kernel(p, t=t))[0] > -1e-12


@pytest.mark.wrong(
    "the series has no factor two to the minus t", "2.0**-3 * term", "1.0 * term"
)
def test_prop_ik_exponential_second():
    """The series of the proof, each term a kernel, with JS by its definition."""
    P = np.random.default_rng([15, 25]).dirichlet(np.ones(5), size=15)
    p, q = P[:, None], P[None]
    m = 0.5 * (p + q)
    js = 0.5 * (p * np.log(p / m) + q * np.log(q / m)).sum(axis=2)
    term, series = np.ones((15, 15)), np.zeros((15, 15))
    for i in range(1, 60):
        assert np.linalg.eigvalsh(term)[0] > -1e-12
        series += 2.0**-3 * term
        term = term * 3.0 * (np.log(2) - js) / i
    np.testing.assert_allclose(series, np.exp(-3.0 * js), rtol=0, atol=1e-12)
