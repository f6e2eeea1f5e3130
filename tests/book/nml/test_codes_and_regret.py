"""Statements of *Code lengths and regret*."""

from fractions import Fraction
from itertools import pairwise, product
from math import comb, factorial

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import gammaln, logsumexp, xlogy

from memdlib import divergences
from memdlib.nml import discrete, multinomial_complexity


def huffman(q):
    """Lengths of the words if the two rarest messages are merged."""
    heap, depth = [(p, [i]) for i, p in enumerate(q)], np.zeros(len(q), int)
    while len(heap) > 1:
        heap.sort(key=lambda entry: entry[0], reverse=True)
        (p, left), (r, right) = heap.pop(), heap.pop()
        depth[left + right] += 1
        heap.append((p + r, left + right))
    return depth


def words(lengths):
    """Code words side by side, the shortest first."""
    start, found = Fraction(0), []
    for b in sorted(lengths.tolist()):
        found.append(format(int(start * 2**b), f"0{b}b"))
        start += Fraction(1, 2**b)
    return found


def some_distributions(seed, cases=200):
    rng = np.random.default_rng([41, seed])
    for _ in range(cases):
        yield rng.dirichlet(np.full(rng.integers(2, 40), 10.0 ** rng.uniform(-1, 1)))


def nml_of_sequences(levels, n_moments, n):
    """Error and length of every sequence."""
    size = len(levels)
    counts = [np.bincount(s, minlength=size) for s in product(range(size), repeat=n)]
    distinct, place = np.unique(counts, axis=0, return_inverse=True)
    codes = [discrete.discrete_codelength(c, levels, n_moments) for c in distinct]
    return np.array([(code.error, code.total) for code in codes])[place.ravel()].T


@pytest.mark.wrong("less than 0.9 digits above the logarithm", "< 1 - np", "< 0.9 - np")
def test_thm_cr_kraft_witness():
    of_memdlib = np.exp(-nml_of_sequences([0, 1, 2], 1, 6)[1])
    np.testing.assert_allclose(of_memdlib.sum(), 1, rtol=1e-12)
    sparse = [np.append(q, np.zeros(2)) for q in some_distributions(3, 20)]
    for distribution in [*some_distributions(1), *sparse, of_memdlib]:
        q = distribution[distribution > 0]
        lengths = np.ceil(-np.log2(q)).astype(int)
        assert (lengths < 1 - np.log2(q)).all()
        code = words(lengths)
        assert [len(word) for word in code] == sorted(lengths)
        assert not any(b.startswith(a) for a, b in pairwise(sorted(code)))


@pytest.mark.wrong("a message of probability zero gets a word", "> 1", "<= 1")
def test_thm_cr_kraft_leaves_no_word_for_a_message_of_probability_zero():
    """Of q = (1/2, 1/2, 0): words of less than two digits, and any third word."""
    for first, second, third in product((0, 1), (0, 1), range(60)):
        assert sum(Fraction(1, 2**b) for b in (first, second, third)) > 1


@pytest.mark.wrong("a code leaves a digit unused", "== 1", "== Fraction(1, 2)")
def test_thm_cr_kraft_second():
    """Huffman's words use the inequality up, and beat rounded logarithms."""
    for q in some_distributions(2):
        lengths = huffman(q)
        assert sum(Fraction(1, 2 ** int(b)) for b in lengths) == 1
        assert q @ lengths <= q @ np.ceil(-np.log2(q))


@pytest.mark.wrong("no code comes within five per cent", ">= least", ">= 1.05 * least")
def test_cor_cr_entropy_witness():
    """All prefix codes of up to seven digits, and codes near p."""
    rng = np.random.default_rng([41, 3])
    tried = np.array(list(product(range(1, 8), repeat=4)))
    tried = tried[(2.0**-tried).sum(axis=1) <= 1] * np.log(2)
    for p, q in rng.dirichlet(np.ones(4), size=(200, 2)):
        least = stats.entropy(p)
        mean = least + divergences.kl(p, q)
        np.testing.assert_allclose(-p @ np.log(q), mean, rtol=1e-10)
        near = p * np.exp(10.0 ** rng.uniform(-3, 0) * rng.normal(size=(50, 4)))
        near /= near.sum(axis=1, keepdims=True)
        assert (np.vstack([tried, -np.log(near)]) @ p >= least - 1e-12).all()


@pytest.mark.wrong("the entropy in digits", "np.log(p)", "np.log2(p)")
def test_cor_cr_entropy_second():
    """Huffman's words for blocks exceed it, by at most a digit a block."""
    p = np.array([0.7, 0.2, 0.1])
    least, block = -p @ np.log(p), np.ones(1)
    for size in range(1, 7):
        block = np.outer(block, p).ravel()
        mean = block @ huffman(block) * np.log(2) / size
        assert least <= mean <= least + np.log(2) / size


@pytest.mark.wrong("a mixture is shorter by a hundredth of a nat", "+ 1e-9", "- 0.01")
def test_prop_cr_two_part_witness():
    n, k = 38, np.arange(39)
    log_number = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    for g in range(1, 40):
        coins = np.sin(np.pi * (2 * np.arange(1, g + 1) - 1) / (4 * g)) ** 2
        terms = stats.binom.logpmf(k, n, coins[:, None]) - log_number
        lengths, mixture = np.log(g) - terms.max(0), np.log(g) - logsumexp(terms, 0)
        kraft = np.exp(log_number - lengths).sum()
        assert kraft <= 1 + 1e-12
        assert (mixture <= lengths + 1e-9).all()
        assert (g == 1) == np.isclose(kraft, 1, rtol=1e-9)


@pytest.mark.wrong("two parts use the inequality up", "two < 1", "two == 1")
def test_prop_cr_two_part_second():
    """In fractions, over all sequences of eleven tosses."""
    coins = [Fraction(1, 2), Fraction(1, 5), Fraction(9, 10)]
    weights = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    two, one = Fraction(0), Fraction(0)
    for heads in range(12):
        terms = [
            w * p**heads * (1 - p) ** (11 - heads)
            for w, p in zip(weights, coins, strict=True)
        ]
        assert max(terms) < sum(terms)
        two += comb(11, heads) * max(terms)
        one += comb(11, heads) * sum(terms)
    assert one == 1
    assert two < 1


@pytest.mark.wrong("other codes lose 0.01 nats", "> complexity", "> complexity + 0.01")
def test_thm_cr_shtarkov_witness():
    """Random changes of NML have a larger worst regret."""
    rng = np.random.default_rng([41, 4])
    four = [1, 2, 3, 4]
    for levels, n_moments, n in (([0, 1], 1, 10), (four, 1, 5), (four, 2, 5)):
        error, total = nml_of_sequences(levels, n_moments, n)
        complexity = discrete.discrete_complexity(n, levels, n_moments)
        np.testing.assert_allclose(total - error, complexity, rtol=1e-12)
        np.testing.assert_allclose(np.exp(-total).sum(), 1, rtol=1e-12)
        away = 10.0 ** rng.uniform(-4, 0, (200, 1)) * rng.normal(size=(200, len(total)))
        other = np.exp(away - total)
        other /= other.sum(axis=1, keepdims=True)
        assert ((-np.log(other) - error).max(axis=1) > complexity).all()


@pytest.mark.wrong("the least worst regret is 1 % less", "x[-1], ", "x[-1], 0.99 * ")
def test_thm_cr_shtarkov_second():
    """A linear program finds the code: q >= s times the largest likelihood."""

    def log_likelihood(p, heads):
        return xlogy(heads, p) + xlogy(6 - heads, 1 - p)

    likelihood = np.exp(
        [
            log_likelihood(np.linspace(0, 1, 6 * 7 + 1), sum(s)).max()
            for s in product((0, 1), repeat=6)
        ]
    )
    size = len(likelihood)
    found = optimize.linprog(
        np.r_[np.zeros(size), -1],
        A_ub=np.vstack([np.c_[-np.eye(size), likelihood], np.r_[np.ones(size), 0]]),
        b_ub=np.r_[np.zeros(size), 1],
    )
    nml = likelihood / likelihood.sum()
    np.testing.assert_allclose(found.x[:-1], nml, rtol=0, atol=1e-6)
    np.testing.assert_allclose(1 / found.x[-1], likelihood.sum(), rtol=1e-6)


@pytest.mark.wrong("a symbol more than there is", "=L) / n", "=L) / (n + 1)")
def test_thm_cr_recurrence_witness():
    """Sums over sequences, and over counts."""
    for L, n in ((1, 4), (2, 9), (3, 7), (4, 6), (6, 4)):
        total = 0.0
        for sequence in product(range(L), repeat=n):
            share = np.bincount(sequence, minlength=L) / n
            total += np.exp(n * xlogy(share, share).sum())
        found = multinomial_complexity(n, L)
        np.testing.assert_allclose(found, np.log(total), rtol=0, atol=1e-12)
    for L in (2, 3, 5):
        by_counts = discrete.discrete_complexity(38, range(L), L - 1)
        np.testing.assert_allclose(multinomial_complexity(38, L), by_counts, rtol=1e-12)


@pytest.mark.wrong("n / (L + 1), not n / L", "Fraction(n, L)", "Fraction(n, L + 1)")
def test_thm_cr_recurrence_second():
    """Coefficients of the powers of B in fractions."""
    n = 30
    series = [Fraction(j**j, factorial(j)) for j in range(n + 1)]
    power, of_n = [Fraction(1)] + [Fraction(0)] * n, []
    for _ in range(8):
        power = [
            sum(power[i] * series[j - i] for i in range(j + 1)) for j in range(n + 1)
        ]
        of_n.append(Fraction(factorial(n), n**n) * power[n])
    for L in range(1, 7):
        assert of_n[L + 1] == of_n[L] + Fraction(n, L) * of_n[L - 1]
    found = [multinomial_complexity(n, L) for L in range(1, 9)]
    np.testing.assert_allclose(found, np.log(np.array(of_n, float)), atol=1e-12)


def test_equal_mixture_loses_most_on_sequences_of_one_kind():
    """Exercise *Where the equal mixture loses*."""
    for n in (5, 50, 500):
        k = np.arange(n + 1)
        best = stats.binom.pmf(k, n, k / n)  # (n + 1) times it is the likelihood ratio
        regret = np.log(n + 1) + np.log(best)
        assert np.argmax(regret) in (0, n)
        np.testing.assert_allclose(regret.max(), np.log(n + 1), rtol=1e-9)
