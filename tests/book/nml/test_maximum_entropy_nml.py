"""Statements of *Normalised maximum likelihood of maximum-entropy models*."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import optimize, stats

from memdlib.nml import multinomial_complexity
from memdlib.nml.discrete import discrete_codelength
from tests.book.distributions import dual, entropy, flattest

LEVELS = np.array([0.0, 1, 2, 3, 5])


def some_counts(seed, cases):
    """Counts of eight values on the levels, and scaled powers of these."""
    rng = np.random.default_rng([42, seed])
    for _ in range(cases):
        m = int(rng.integers(1, 4))
        counts = rng.multinomial(8, rng.dirichlet(np.full(5, 0.6)))
        yield counts, m, np.vander(LEVELS / 5, m + 1, increasing=True).T


@pytest.mark.wrong("on the line every sequence has a largest likelihood", "> 6", "< 1")
def test_thm_gm_error_witness():
    """Likelihoods by a general optimiser, and normal laws of two observations."""
    for counts, m, powers in some_counts(1, 20):
        phi, options = powers[1:], {"gtol": 1e-9}
        found = optimize.minimize(
            dual, np.zeros(m), (phi, phi @ counts / 8), jac=True, options=options
        )
        error = discrete_codelength(counts, LEVELS, m).error
        np.testing.assert_allclose(8 * found.fun, error, rtol=0, atol=1e-4)
    for pair in np.random.default_rng([42, 2]).normal(size=(20, 2)):
        reached = stats.norm(pair.mean(), pair.std()).logpdf(pair).sum()
        entropy = 2 * stats.norm(0, pair.std()).entropy()
        np.testing.assert_allclose(-reached, entropy, rtol=1e-12)
    alone = [stats.norm(0.3, s).logpdf(0.3) for s in (1, 1e-3, 1e-6)]
    assert (np.diff(alone) > 6).all()


@pytest.mark.wrong("the error is n - 1 times the entropy", "8 * found", "7 * found")
def test_thm_gm_error_second():
    """No family and no likelihood: entropy maximised over the probabilities."""
    for counts, m, powers in some_counts(3, 12):
        found = entropy(flattest(powers, powers @ counts / 8, np.ones(5)))
        error = discrete_codelength(counts, LEVELS, m).error
        np.testing.assert_allclose(8 * found, error, rtol=0, atol=1e-5)


@pytest.mark.wrong("it has the largest entropy", "entropies.argmin", "entropies.argmax")
def test_cor_gm_minimax_witness():
    """Every feature with two values on eight points, once up to complement."""
    rng = np.random.default_rng([42, 6])
    codes = [discrete_codelength([4 - k, k], [0, 1], 1) for k in range(5)]
    error, total = np.array([(code.error, code.total) for code in codes]).T
    features = (np.arange(1, 128)[:, None] >> np.arange(8)) & 1
    block = features.sum(axis=1)
    for _ in range(100):
        data = rng.choice(8, size=4, p=rng.dirichlet(np.full(8, 0.5)))
        ones = features[:, data].sum(axis=1)
        # the label of the block, then the place in it
        spread = (4 - ones) * np.log(8 - block) + ones * np.log(block)
        lengths, entropies = total[ones] + spread, (error[ones] + spread) / 4
        assert lengths.argmin() == entropies.argmin()
        complexity = multinomial_complexity(4, 2)
        np.testing.assert_allclose(lengths - 4 * entropies, complexity, rtol=1e-12)


@pytest.mark.wrong("the most probable has the most", "entropy.min(", "entropy.max(")
def test_cor_gm_minimax_second():
    """NML as probabilities, normalised over all sequences."""
    x1, x2, x3 = np.array(list(product((0, 1), repeat=3))).T
    every = np.array(list(product(range(8), repeat=4)))
    probability, entropy = [], []
    for f in (x1, x2, x3, x1 * x2, x1 ^ x2, (x1 + x2 + x3) % 2, x1 * x2 * x3):
        share, block = f[every].mean(axis=1, keepdims=True), f.mean()
        p = np.where(f[every], share / block, (1 - share) / (1 - block)) / 8
        probability.append(p.prod(axis=1) / p.prod(axis=1).sum())
        entropy.append(-np.log(p).mean(axis=1))
    entropy = np.array(entropy)
    best = np.argmax(probability, axis=0)
    found = entropy[best, np.arange(len(every))]
    np.testing.assert_allclose(found, entropy.min(axis=0), rtol=0, atol=1e-12)


@pytest.mark.wrong("a moment lowers the complexity", "<= codes[1:", ">= codes[1:")
def test_prop_gm_nested_witness():
    """All counts of three values on five levels, up to all four moments."""
    counts = [c for c in product(range(4), repeat=5) if sum(c) == 3]
    codes = [[discrete_codelength(c, LEVELS, m) for c in counts] for m in range(1, 5)]
    codes = np.array([[(c.error, c.complexity) for c in row] for row in codes])
    assert (codes[1:, :, 0] <= codes[:-1, :, 0] + 1e-12).all()
    assert (codes[:-1, :, 1] <= codes[1:, :, 1]).all()


@pytest.mark.wrong("they stay the same", "larger.sum() >", "larger.sum() ==")
def test_prop_gm_nested_second():
    """Blocks of eight points, refined: their shares are likelihoods."""
    every = np.array(list(product(range(8), repeat=4)))
    point, likelihoods = np.arange(8), []
    for block_of in (point // 8, point // 4, point // 2, point):
        share = (block_of[every][:, :, None] == block_of[every][:, None]).mean(axis=2)
        likelihoods.append((share / np.bincount(block_of)[0]).prod(axis=1))
    for smaller, larger in pairwise(likelihoods):
        assert (smaller <= larger).all()
        assert larger.sum() > smaller.sum()


@pytest.mark.wrong("a block of two counts twice", "/ block_of.count(b)", "* 1")
def test_independent_partitions_add_their_complexities():
    """Blocks of sizes one to three, and a product of two by three, in fractions."""
    for partitions, parts in (
        ([[0, 1, 1, 2, 2, 2]], (3,)),
        ([[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]], (2, 3)),
    ):
        total = Fraction(0)
        for s in product(range(6), repeat=4):
            likelihood = Fraction(1, 6**4)
            for block_of in partitions:
                seen = [block_of[x] for x in s]
                for b in seen:
                    likelihood *= Fraction(6 * seen.count(b), 4) / block_of.count(b)
            total += likelihood
        exact = sum(multinomial_complexity(4, L) for L in parts)
        np.testing.assert_allclose(np.log(float(total)), exact, rtol=1e-12)
