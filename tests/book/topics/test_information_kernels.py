"""Statements of *Kernels from entropies, and whether they help*."""

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate
from scipy.special import gamma, xlogy

from memdlib.divergences import jensen_shannon
from memdlib.kernels import js_kernel, jt_kernel, weighted_jt_kernel
from memdlib.topics import PLSA, GenerativeEmbedding


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


@pytest.mark.wrong("A has no entropy of the shares", "tsallis(pi, q) - T", "-T")
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
            found = [
                weighted_jt_kernel(*pair, q=q, version=version) for version in "AB"
            ]
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    half = some_measures(2) / some_measures(2).sum(axis=1, keepdims=True)
    both = js_kernel(*half) + jensen_shannon(half)
    np.testing.assert_allclose(both, np.log(2), rtol=1e-12)


CELLS = [(1.0, 1.0), (0.2, 3.0), (1e-3, 0.7)]


@pytest.mark.wrong("another gamma function", "gamma(2 - q)", "gamma(3 - q)")
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


@pytest.mark.wrong("A has weights of another Gamma law", "gamma(q)", "gamma(q + 1)")
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


@pytest.mark.wrong("and definite by a margin", "> -1e-12", "> 1e-3")
def test_prop_ik_embedded_witness():
    """Topics, energies and gradients of documents, seen, new and repeated."""
    rng = np.random.default_rng([15, 24])
    seen, new = rng.poisson(1.5, size=(2, 20, 15)) + 1.0
    plsa = PLSA(3, alpha=0.1, random_state=0)
    objects = np.vstack([seen, new, seen[:5]])
    for kind in ("MT-2", "FESS-2", "FS"):
        embedding = GenerativeEmbedding(kind, plsa=plsa).fit(seen)
        values = embedding.transform(objects)
        M = np.hstack([np.maximum(values, 0), np.maximum(-values, 0)])
        M = M / M.sum(axis=1, keepdims=True)
        for q in (0.0, 0.7, 1.0, 2.0):
            for version in ("A", "B"):
                K = weighted_jt_kernel(M, q=q, version=version)
                own = np.sqrt(np.diag(K))
                assert np.linalg.eigvalsh(K / np.outer(own, own))[0] > -1e-12


@pytest.mark.wrong("each pair may have a map of its own", "pairs[0, 0]", "pairs[i, j]")
def test_prop_ik_embedded_second():
    """Quadratic forms, with and without one map for all pairs of three objects.

    The kernel min(y, z) is the overlap of the intervals from 0 to y and to z.
    """
    rng = np.random.default_rng([15, 25])
    least = np.inf
    for _ in range(200):
        pairs = rng.uniform(0.1, 3, size=(3, 3, 3))  # the images of the objects
        weights = rng.normal(size=3)
        form = 0.0
        for i in range(3):
            for j in range(3):
                image = pairs[0, 0]
                form += weights[i] * weights[j] * min(image[i], image[j])
        one_map = pairs[0][0]
        ends = np.sort(np.append(0.0, one_map))
        inside = np.subtract.outer(one_map, ends[:-1]) > 0
        as_squares = np.diff(ends) @ (weights @ inside) ** 2
        np.testing.assert_allclose(form, as_squares, rtol=0, atol=1e-12)
        least = min(least, form)
    assert least >= 0
