"""Statements of *Topics and embeddings*."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import rel_entr, xlogy

from memdlib import PLSA
from memdlib.families import get_family
from memdlib.topics import fold_in, maxent_scores


def entropy(p):
    return -xlogy(p, p).sum()


def shares(table, axis=-1):
    return table / table.sum(axis=axis, keepdims=True)


def model(pi, Q, R):
    return np.einsum("z,zw,zi->ziw", pi, Q, R)


@pytest.mark.wrong("moves that keep the pairs lose nothing", "< e", "> e")
@pytest.mark.wrong("models of the same pairs are alike", "more - np.log(2)", "more")
def test_prop_pl_seen_witness():
    """Moves that keep the pairs, other words, and a topic cut in two."""
    rng = np.random.default_rng([15, 2])
    for _ in range(40):
        n = rng.integers(1, 9, size=(2, 4, 5)).astype(float)
        pi, Q, R = (
            shares(n.sum(axis=(1, 2))),
            shares(n.sum(axis=1)),
            shares(n.sum(axis=2)),
        )
        best = model(pi, Q, R)
        # plus and minus on the corners of a rectangle keep (z, w) and (z, i)
        other, z = best.copy(), rng.integers(2)
        i, j = rng.choice(4, 2, replace=False)
        v, w = rng.choice(5, 2, replace=False)
        step = 0.5 * min(other[z, i, w], other[z, j, v])
        other[z, [i, j], [v, w]] += step
        other[z, [i, j], [w, v]] -= step
        assert entropy(other) < entropy(best)
        words = np.array([rng.dirichlet(50 * q + 0.1) for q in Q])
        assert (n * np.log(best / model(pi, words, R))).sum() > 0
        # one topic: pLSA itself has the shares of rows and columns
        one = PLSA(1, alpha=0).fit(n[0])
        np.testing.assert_allclose(one.components_[0], Q[0], rtol=1e-9)
        more = entropy([best / 2, best / 2]) - entropy(best)
        assert abs(more - np.log(2)) < 1e-12


@pytest.mark.wrong("the pairs with words are enough", "share.sum(3)", "p.sum(3)")
@pytest.mark.wrong("of one model alone", "unfitted, unfitted", "unfitted, best")
def test_prop_pl_seen_second():
    """From the uniform table, scaling to the pairs in turn; it knows no triples."""
    rng = np.random.default_rng([15, 7])
    n = rng.integers(1, 9, size=(40, 2, 4, 5)).astype(float)
    fitted = [n.sum(axis=(2, 3)), n.sum(axis=2), n.sum(axis=3)]
    best = np.array([model(*map(shares, parts)) for parts in zip(*fitted, strict=True)])
    drawn = (rng.dirichlet(np.ones(k), (40, 2)) for k in (5, 4))
    parts = zip(rng.dirichlet([1, 1], 40), *drawn, strict=True)
    unfitted = np.array([model(*each) for each in parts])
    for share, expected in (
        (n / n.sum(axis=(1, 2, 3), keepdims=True), best),
        (unfitted, unfitted),
    ):
        p = np.full(n.shape, 1 / 40)
        for _ in range(60):
            p = p * (share.sum(2) / p.sum(2))[:, :, None]
            p = p * (share.sum(3) / p.sum(3))[..., None]
        np.testing.assert_allclose(p, expected, rtol=0, atol=1e-13)
    # what any model lacks in likelihood is a divergence of the triples
    lacks = (n * np.log(best / unfitted)).sum(axis=(1, 2, 3)) / n.sum(axis=(1, 2, 3))
    divergence = rel_entr(best, unfitted).sum(axis=(1, 2, 3))
    np.testing.assert_allclose(lacks, divergence, rtol=0, atol=1e-13)


def some_documents():
    rng = np.random.default_rng([15, 4])
    Q = rng.dirichlet(np.full(8, 0.5), size=(40, 4))
    c = rng.poisson(rng.uniform(0.5, 5, size=(40, 8))) + np.eye(1, 8)
    c[::4, 1:] = 0  # of one word only
    theta, gap = zip(
        *(fold_in(d[None], q, np.ones(4) / 4) for d, q in zip(c, Q, strict=True)),
        strict=True,
    )
    return Q, c, np.concatenate(theta), np.concatenate(gap)


@pytest.mark.wrong("nine tenths of the bound will do", "N * np.log", "0.9 * N * np.log")
def test_prop_pl_fold_witness():
    """Random topics against the certificate, near the optimum and far from it."""
    rng = np.random.default_rng([15, 10])
    for Q, c, theta, gap in zip(*some_documents(), strict=True):
        others = np.vstack([rng.dirichlet(np.full(4, 0.5), size=500), np.eye(4)])
        words, N = c > 0, c.sum()
        with np.errstate(divide="ignore"):  # some topics lack words of the document
            ell = np.log(others @ Q[:, words]) @ c[words]
        mine = np.log(theta @ Q[:, words]) @ c[words]
        assert (ell - mine <= gap + 1e-9).all()
        g = (c / (others[:50] @ Q)) @ Q.T
        bound = N * np.log(g.max(axis=1) / N)
        assert (ell.max() - ell[:50] <= bound + 1e-9).all()


@pytest.mark.wrong("less likely by a hundredth", "reached, top", "reached + 0.01, top")
def test_prop_pl_fold_second():
    """Plain EM with the words held fixed, a slow way up the same hill."""
    Q, c, theta, _ = some_documents()
    slow = np.full((40, 1, 4), 0.25)
    for _ in range(5000):
        slow = shares(slow * (c[:, None] / (slow @ Q) @ Q.swapaxes(1, 2)))
    top, reached = (
        xlogy(c[:, None], mixed @ Q).sum(axis=(1, 2))
        for mixed in (slow, theta[:, None])
    )
    np.testing.assert_allclose(reached, top, rtol=0, atol=5e-3)


def fits_of_amounts():
    """Criterion by unit and number of topics, log-likelihoods in the unit one."""
    rng = np.random.default_rng([15, 5])
    amounts = rng.dirichlet(np.full(2, 0.7), 25) @ rng.dirichlet(np.ones(12), 2)
    amounts = rng.poisson(480 * amounts) + 1.0
    fits = [
        [PLSA(Z, alpha=0, random_state=1).fit(u * amounts) for Z in range(1, 5)]
        for u in (0.01, 1.0, 100.0)
    ]
    ell = np.array([fit.log_likelihood_ for fit in fits[1]])
    return amounts, ell, np.array([[fit.bic_ for fit in row] for row in fits])


@pytest.mark.wrong("the unit does not matter", "[0, 3]", "[1, 1]")
def test_prop_pl_bic_witness():
    """The smallest unit takes one topic, the largest all four."""
    _, _, bic = fits_of_amounts()
    np.testing.assert_array_equal(bic.argmin(axis=1)[[0, 2]], [0, 3])


@pytest.mark.wrong("a topic has a parameter for each row and word", "d - 2", "d")
def test_prop_pl_bic_second():
    """A line and a logarithm of the unit, parameters counted by hand."""
    amounts, ell, bic = fits_of_amounts()
    (n, d), N, Z = amounts.shape, amounts.sum(), np.arange(1, 5)
    r, u = Z - 1 + Z * (n + d - 2), np.array([[0.01], [1.0], [100.0]])
    np.testing.assert_allclose(bic, -u * ell + 0.5 * r * np.log(u * N), rtol=1e-9)
    gain, more = ell[3] - ell[0], r[3] - r[0]
    units = more / (2 * gain) * np.geomspace(0.01, 100, 2001)
    tallest = (-units * gain + 0.5 * more * np.log(units * N)).max()
    peak = 0.5 * more * (np.log(N * more / (2 * gain)) - 1)
    np.testing.assert_allclose(tallest, peak, rtol=1e-9)


@pytest.mark.wrong("it is the gradient in the prior", "[:, z]", "[:, z] / 0.5")
def test_prop_ge_literal_witness():
    """Finite differences at a fitted model."""
    X = np.random.default_rng([15, 20]).poisson(5, size=(20, 8)) + 1.0
    fit = PLSA(2, alpha=0.1, random_state=0).fit(X)
    theta, Q = fit.transform(X), fit.components_
    joint = theta * (X.sum(axis=1) / X.sum())[:, None]  # of topic and document
    for z, w in np.ndindex(2, 8):
        moved = Q.copy()
        moved[z, w] += 1e-6
        slope = np.log(joint @ moved.sum(axis=1) / joint.sum(axis=1)) / 1e-6
        np.testing.assert_allclose(slope, theta[:, z], rtol=0, atol=1e-4)


@pytest.mark.wrong("priors and words have one slope", "topics[z] / pi[z]", "topics[z]")
@pytest.mark.wrong(
    "documents and words have one slope", "topics[z] / R[z]", "topics[z]"
)
def test_prop_ge_literal_second():
    """Complex steps, which have no error of differences."""
    rng = np.random.default_rng([15, 12])
    for _ in range(50):
        pi, R, Q = (
            rng.dirichlet(np.ones(3)),
            rng.random(3),
            rng.dirichlet(np.ones(4), 3),
        )
        topics = pi * R / (pi @ R)
        for z, unit in enumerate(1e-30j * np.eye(3)):
            slope = np.log(((pi + unit) * R) @ Q.sum(axis=1)).imag / 1e-30
            np.testing.assert_allclose(slope, topics[z] / pi[z], rtol=1e-12)
            words = Q + np.outer(unit, np.eye(4)[1])
            slope = np.log((pi * R) @ words.sum(axis=1)).imag / 1e-30
            np.testing.assert_allclose(slope, topics[z], rtol=1e-12)
            slope = np.log((pi * (R + unit)) @ Q.sum(axis=1)).imag / 1e-30
            np.testing.assert_allclose(slope, topics[z] / R[z], rtol=1e-12)


@pytest.mark.wrong("the log-normaliser is finite on both sides", "> 1e10", "< 1")
@pytest.mark.wrong("the end needs the gradient", "(mean - x)", "(0 - x)")
def test_thm_ge_maxent_witness():
    """Finite differences of families, and a density at the end of its range."""
    h = 1e-6
    for name, x, means in (
        ("normal", [-1.0, 0.3, 2.0], ([0.2, 1.5], [1.0, 1.9])),
        ("poisson", [0.0, 1.0, 4.0], ([2.0], [0.7])),
        ("exponential", [0.1, 1.0, 3.0], ([2.0], [0.7])),
    ):
        family, x = get_family(name), np.array(x)[:, None]
        one, two = (family.natural(np.array([m])) for m in means)
        score = maxent_scores(x, one, family=name)[:, 0]
        for j, step in enumerate(h * np.eye(one.shape[1])):
            ahead, behind = (family.log_density(x, one + s * step) for s in (1, -1))
            slope = (ahead - behind).ravel() / (2 * h)
            np.testing.assert_allclose(slope, score[:, j], rtol=0, atol=1e-7)
        ratio = family.log_density(x, one) - family.log_density(x, two)
        linear = family.kl(*(np.array([m]) for m in means)) + score @ (one - two)[0]
        np.testing.assert_allclose(ratio.ravel(), linear, rtol=0, atol=1e-9)

    def weight(x, a):  # has a mean at a = 0, and no log-normaliser below
        return np.exp(-a * x) / (1 + x) ** 4

    norm = [integrate.quad(weight, 0, np.inf, (a,))[0] for a in (0.0, 1.0)]
    mean = integrate.quad(lambda x: x * weight(x, 0.0) / norm[0], 0, np.inf)[0]
    kl = np.log(norm[1] / norm[0]) + mean
    for x in (0.0, 0.5, 7.0):
        ratio = np.log(weight(x, 0.0) / norm[0] * norm[1] / weight(x, 1.0))
        np.testing.assert_allclose(ratio, kl - (mean - x), rtol=0, atol=1e-7)
    assert weight(3000.0, -0.02) > 1e10


@pytest.mark.wrong("the divergence has the other mean", "= a * np", "= b * np")
def test_thm_ge_maxent_second():
    """Formulas by hand and scipy's densities."""
    x = np.linspace(-3, 3, 13)
    for a, v, b, u in ((0.0, 1.0, 1.0, 2.0), (-1.0, 0.5, 0.3, 0.6)):
        kl = 0.5 * (np.log(u / v) + (v + (a - b) ** 2) / u - 1)
        linear = (
            kl + (a - x) * (b / u - a / v) + (a**2 + v - x**2) * 0.5 * (1 / v - 1 / u)
        )
        ratio = stats.norm.logpdf(x, a, v**0.5) - stats.norm.logpdf(x, b, u**0.5)
        np.testing.assert_allclose(ratio, linear, rtol=0, atol=1e-12)
    x = np.arange(12)
    for a, b in ((2.0, 0.7), (0.3, 5.0)):
        linear = a * np.log(a / b) - a + b + (a - x) * np.log(b / a)
        ratio = stats.poisson.logpmf(x, a) - stats.poisson.logpmf(x, b)
        np.testing.assert_allclose(ratio, linear, rtol=0, atol=1e-12)
