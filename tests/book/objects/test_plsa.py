"""Statements of *Topics*."""

import numpy as np
import pytest
from scipy.special import rel_entr, xlogy

from memdlib import PLSA
from memdlib.topics import fold_in


def entropy(p):
    return -xlogy(p, p).sum()


def shares(table, axis=-1):
    return table / table.sum(axis=axis, keepdims=True)


def model(pi, Q, R):
    return np.einsum("z,zw,zi->ziw", pi, Q, R)


@pytest.mark.wrong(
    "moves that keep the pairs lose nothing", "< entropy(best)", "> entropy(best)"
)
@pytest.mark.wrong(
    "two models with the same pairs of document and word have the same entropy",
    "more - np.log(2)",
    "more",
)
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
        one = PLSA(1, smoothing=0).fit(n[0])
        np.testing.assert_allclose(one.components_[0], Q[0], rtol=1e-9)
        more = entropy([best / 2, best / 2]) - entropy(best)
        assert abs(more - np.log(2)) < 1e-12


@pytest.mark.wrong(
    "it is the table of largest entropy for the pairs of topic and word alone",
    "(share.sum(3) / p.sum(3))[..., None]",
    "1.0",
)
@pytest.mark.wrong(
    "the largest entropy belongs to the model of the counts, not to every model",
    "(unfitted, unfitted)",
    "(unfitted, best)",
)
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


@pytest.mark.wrong(
    "where EM stands still no share raises the likelihood",
    "slope.max(axis=1) > length * (1 + 1e-9)",
    "np.zeros(8, bool)",
)
@pytest.mark.wrong(
    "at the limit the derivatives are at least the counts",
    "in_theta <= 1.01",
    "in_theta >= 0.99",
)
def test_thm_pl_em_witness():
    """The climb of PLSA, its end, and hard topics, where EM stands still."""
    rng = np.random.default_rng([15, 3])
    for case in range(15):
        table = rng.poisson(1.5, size=(12, 9)) + np.eye(1, 9)
        to = {"tol": 1e-12, "max_iter": 50_000} if case < 3 else {"tol": 1e-4}
        fit = PLSA(3, smoothing=0, **to, random_state=case).fit(table)
        assert np.diff(fit.history_).min() > -1e-9
        if case < 3:
            theta, Q = fit.transform(table), fit.components_
            ratio = table / (theta @ Q)
            in_theta = ratio @ Q.T / table.sum(axis=1, keepdims=True)
            in_Q = theta.T @ ratio / (theta.T @ ratio * Q).sum(axis=1, keepdims=True)
            assert (in_theta <= 1.01).all()
            assert (in_Q[Q > 1e-3] <= 1.01).all()
    theta, table = np.repeat(np.eye(2), 4, axis=0), rng.poisson(4.0, size=(8, 5)) + 1.0
    Q, length = shares(theta.T @ table), table.sum(axis=1)
    slope = (table / (theta @ Q)) @ Q.T
    np.testing.assert_allclose(theta * slope, theta * length[:, None], rtol=1e-12)
    moved = theta + 0.001 * (theta[:, ::-1] - theta)
    rise = xlogy(table, moved @ Q).sum(axis=1) - xlogy(table, theta @ Q).sum(axis=1)
    wants = slope.max(axis=1) > length * (1 + 1e-9)
    assert set(wants) == {True, False}
    assert ((rise > 0) == wants).all()


@pytest.mark.wrong(
    "the gain is the sum of the divergences the other way round",
    "rel_entr(q, q_new)",
    "rel_entr(q_new, q)",
)
@pytest.mark.wrong(
    "the shares of the documents are in the likelihood, and not in the gain",
    "N * rel_entr(P_new, P).sum()",
    "0",
)
def test_thm_pl_em_second():
    """Responsibilities written out."""
    rng = np.random.default_rng([15, 8])
    for case in range(30):
        table = rng.poisson(2.0, size=(7, 6)) + 1.0
        length, N = table.sum(axis=1), table.sum()
        P, P_new = rng.dirichlet(np.ones(7)), length / N
        theta, Q = rng.dirichlet(np.ones(3), size=7), rng.dirichlet(np.ones(6), size=3)
        if case % 3 == 0:  # zeros stay zeros
            theta[0], Q[0] = [0.5, 0.5, 0], [0.2, 0.3, 0.5, 0, 0, 0]
        joint = theta.T[:, :, None] * Q[:, None]
        q = joint / joint.sum(axis=0)
        n = table * q
        theta_new, Q_new = n.sum(axis=2).T / length[:, None], shares(n.sum(axis=1))
        joint_new = theta_new.T[:, :, None] * Q_new[:, None]
        q_new = joint_new / joint_new.sum(axis=0)
        now, then = P[:, None] * joint.sum(0), P_new[:, None] * joint_new.sum(0)
        parts = (
            N * rel_entr(P_new, P).sum()
            + length @ rel_entr(theta_new, theta).sum(axis=1)
            + n.sum(axis=(1, 2)) @ rel_entr(Q_new, Q).sum(axis=1)
            + (table * rel_entr(q, q_new)).sum()
        )
        np.testing.assert_allclose(parts, (table * np.log(then / now)).sum(), rtol=1e-9)
        np.testing.assert_array_equal(theta_new == 0, theta == 0)


@pytest.mark.wrong(
    "the likelihood rises at twice the derivative less the count",
    "rate, slope - count",
    "rate, 2 * slope - count",
)
def test_thm_pl_em_stands_still_at_zeros():
    """EM by hand from a zero; there l rises at the derivative less the count."""
    rng, h, most = np.random.default_rng([15, 9]), 1e-6, 0
    for _ in range(6):
        table = rng.poisson(4.0, size=(5, 4)) + 1.0
        theta, Q = rng.dirichlet(np.ones(2), size=5), rng.dirichlet(np.ones(4), size=2)
        theta[0], Q[1] = [1, 0], [0.3, 0.3, 0.4, 0]
        for _ in range(5000):
            ratio = table / (theta @ Q)
            theta, Q = shares(theta * (ratio @ Q.T)), shares(Q * (theta.T @ ratio))
        ratio, here = table / (theta @ Q), xlogy(table, theta @ Q).sum()
        to_topic, to_word = theta.copy(), Q.copy()
        to_topic[0] += h * (np.array([0, 1]) - theta[0])
        to_word[1] += h * (np.eye(4)[3] - Q[1])
        for a, b, slope, count in (
            (to_topic, Q, ratio[0] @ Q[1], table[0].sum()),
            (theta, to_word, ratio[:, 3] @ theta[:, 1], theta[:, 1] @ ratio @ Q[1]),
        ):
            rate = (xlogy(table, a @ b).sum() - here) / h
            np.testing.assert_allclose(rate, slope - count, rtol=0, atol=1e-2)
            most = max(most, slope / count)
    assert most > 1.05  # the condition fails somewhere


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


@pytest.mark.wrong(
    "a document is less likely by a hundredth", "reached, top", "reached + 0.01, top"
)
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
        [PLSA(Z, smoothing=0, random_state=1).fit(u * amounts) for Z in range(1, 5)]
        for u in (0.01, 1.0, 100.0)
    ]
    ell = np.array([fit.log_likelihood_ for fit in fits[1]])
    return amounts, ell, np.array([[fit.bic_ for fit in row] for row in fits])


@pytest.mark.wrong("the unit does not matter", "[0, 3]", "[1, 1]")
def test_prop_pl_bic_witness():
    """The smallest unit takes one topic, the largest all four."""
    _, _, bic = fits_of_amounts()
    np.testing.assert_array_equal(bic.argmin(axis=1)[[0, 2]], [0, 3])


@pytest.mark.wrong(
    "every topic has as many free parameters as documents and words",
    "Z - 1 + Z * (n + d - 2)",
    "Z - 1 + Z * (n + d)",
)
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
