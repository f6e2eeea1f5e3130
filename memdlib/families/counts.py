"""Families of counts: presence, Poisson, geometric, and documents as a whole."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import entr, expit, gammaln, logit, xlog1py

from memdlib.divergences import itakura_saito, kl_terms, within_entropy
from memdlib.divergences import jensen_shannon as discrete_jensen_shannon
from memdlib.families.base import (
    ROUNDING,
    NonnegativeFamily,
    as_floats,
    as_parameters,
    as_weights,
    drop_weightless,
    smooth_towards_pooled,
)
from memdlib.validation import check_domain

# Probability of the counts that are left out of a sum over all of them.
_TAIL = 1e-17
# Cells (classes, features, counts) of a sum handled at a time.
_BLOCK = 2**22
# Most counts that the sum of one feature may take.
_MOST_COUNTS = 10**6


class CountFamily(NonnegativeFamily):
    """A family on the counts 0, 1, 2, ... with the mean as its only moment.

    Fractional values are read as expected counts: the densities extend to them, up to a
    base measure that all classes share.
    """

    @abstractmethod
    def largest_count(self, mu):
        """Count (...) beyond which members mu (..., 1) have probability 1e-17."""

    def smallest_count(self, mu):
        """Count (...) below which members mu (..., 1) have probability 1e-17."""
        return np.zeros(mu.shape[:-1])

    def jensen_shannon(
        self,
        mu,
        weights,
        location=None,
    ):
        """Jensen-Shannon divergence (d,) of K members, by summation, and its error.

        A ValueError names a feature whose sum would need more than a million counts.
        """
        mu, weights, _ = drop_weightless(mu, weights)
        lam = self.natural(mu)
        first = self.smallest_count(mu).min(axis=0)
        n_counts = self._n_counts(mu, first)
        value = np.empty(len(n_counts))
        # features of similar range together, so that few cells are of probability zero
        order = np.argsort(-n_counts, kind="stable")
        start = 0
        while start < len(order):
            offsets = np.arange(n_counts[order[start]])
            step = max(1, _BLOCK // (len(offsets) * len(mu)))
            features = order[start : start + step]
            counts = first[features, None] + offsets
            log_p = self.log_density(counts, lam[:, features, None])
            P = np.exp(log_p).swapaxes(0, 1)
            value[features] = discrete_jensen_shannon(P, weights)
            start += step
        return value, np.full(len(value), _TAIL)

    def _n_counts(self, mu, first):
        """Number of counts (d,) from the first (d,) that hold the mass of (K, d, 1)."""
        n_counts = self.largest_count(mu).max(axis=0) - first + 1.0
        if n_counts.max() > _MOST_COUNTS:
            feature = int(np.argmax(n_counts))
            raise ValueError(
                f"the Jensen-Shannon divergence of feature {feature} needs a sum over "
                f"{n_counts[feature]:.0f} counts; rescale it, or rank by "
                'divergence="js_gm"'
            )
        return n_counts.astype(np.intp)


@dataclass(frozen=True)
class Poisson(CountFamily):
    """Poisson counts: E x, relative to the base measure 1/x! on 0, 1, 2, ...

    Maximum entropy under a mean alone is geometric; relative to 1/x! it is Poisson,
    lambda = -log mu.

    Examples
    --------
    >>> f = Poisson()
    >>> bool(np.isclose(np.exp(f.log_density(2.0, f.natural([3.0]))), 4.5 * np.exp(-3)))
    True
    """

    name = "poisson"

    def natural(self, mu):
        """Natural parameters lambda = -log mu (..., 1) of means (..., 1) above zero."""
        return 0.0 - np.log(self._positive(mu))  # not -0.0

    def mean(self, lam):
        """Means exp(-lambda) (..., 1) of natural parameters (..., 1)."""
        return np.exp(-as_parameters(lam))

    def log_normaliser(self, lam):
        """Log-normaliser psi(lambda) = exp(-lambda) (...), the mean."""
        return self.mean(lam)[..., 0]

    def log_base_measure(self, x):
        """Log of 1/x! (...), by the gamma function where x is no integer."""
        return -gammaln(as_floats(x) + 1.0)

    def entropy(self, mu):
        """Entropy mu - mu log mu (...), nats, relative to the base measure 1/x!."""
        mean = self._positive(mu)[..., 0]
        return mean + entr(mean)

    def kl(self, mu1, mu2):
        """KL(p_1 || p_2) = mu_1 log(mu_1 / mu_2) - mu_1 + mu_2 (...), nats."""
        mean1 = self._positive(mu1)[..., 0]
        mean2 = self._positive(mu2)[..., 0]
        return kl_terms(mean1, mean2, mean2 - mean1)

    def largest_count(self, mu):
        """Count (...) from Bernstein's bound on the tail of members mu (..., 1)."""
        # P(X >= mean + t) <= exp(-t^2 / (2 mean + 2 t / 3))
        mean = mu[..., 0]
        bound = -np.log(_TAIL)
        root = np.sqrt(bound**2 / 9.0 + 2.0 * bound * mean)
        return np.ceil(mean + (bound / 3.0 + root))

    def smallest_count(self, mu):
        """Count (...) from Chernoff's bound on the tail of members mu (..., 1)."""
        # P(X <= mean - t) <= exp(-t^2 / (2 mean))
        mean = mu[..., 0]
        root = np.sqrt(-2.0 * np.log(_TAIL) * mean)
        return np.floor(np.maximum(mean - root, 0.0))


@dataclass(frozen=True)
class Geometric(CountFamily):
    """Geometric counts: E x on 0, 1, 2, ...; p(x) = (1 - q) q^x, q = mu / (1 + mu).

    Examples
    --------
    >>> f = Geometric()
    >>> np.exp(-f.natural([1.0])).tolist()
    [0.5]
    """

    name = "geometric"

    def natural(self, mu):
        """Natural parameters lambda = -log q (..., 1) of means (..., 1) above zero."""
        return np.log1p(1.0 / self._positive(mu))

    def mean(self, lam):
        """Means 1 / (exp(lambda) - 1) (..., 1) of natural parameters (..., 1) > 0."""
        lam = as_parameters(lam)
        remedy = "exp(-lambda x) is summable only for lambda > 0"
        check_domain(lam > 0, lam, "lambda", remedy)
        return np.exp(-lam) / -np.expm1(-lam)

    def log_normaliser(self, lam):
        """Log-normaliser psi(lambda) = -log(1 - exp(-lambda)) (...)."""
        lam = as_parameters(lam)[..., 0]
        return -np.log(-np.expm1(-lam))

    def entropy(self, mu):
        """Entropy log(1 + mu) + mu log(1 + 1/mu) (...), nats."""
        mean = self._positive(mu)[..., 0]
        return np.log1p(mean) + mean * np.log1p(1.0 / mean)

    def kl(self, mu1, mu2):
        """KL(p_1 || p_2) (...), nats, as a sum of terms that are never negative."""
        mean1 = self._positive(mu1)[..., 0]
        mean2 = self._positive(mu2)[..., 0]
        # a count is the number of heads before the first tail: the divergence is that
        # of the coins, of bias q, times the number of tosses expected, 1 + mean_1
        n_tosses1 = 1.0 + mean1
        n_tosses2 = 1.0 + mean2
        heads2 = mean2 / n_tosses2 * n_tosses1
        heads_change = (mean2 - mean1) / n_tosses2
        heads = kl_terms(mean1, heads2, heads_change)
        tails = itakura_saito(n_tosses1, n_tosses2, mean1 - mean2)
        return heads + tails

    def largest_count(self, mu):
        """Count (...) from the tail q^x of members mu (..., 1)."""
        lam = self.natural(mu)[..., 0]
        return np.ceil(-np.log(_TAIL) / lam)


class TwoOutcomeFamily(NonnegativeFamily):
    """A family of two outcomes, whose mean is the probability theta of one of them."""

    def natural(self, mu):
        """Natural parameters lambda = -logit(theta) (..., 1) of theta (..., 1)."""
        mu = as_parameters(mu)
        remedy = (
            f"a {self.name.capitalize()} density needs a mean strictly between 0 and 1"
        )
        check_domain((mu > 0) & (mu < 1), mu, "mean", f"{remedy}; use alpha > 0")
        return 0.0 - logit(mu)  # not -0.0

    def mean(self, lam):
        """Probabilities theta = 1 / (1 + exp(lambda)) (..., 1) of lambda (..., 1)."""
        return expit(-as_parameters(lam))

    def entropy(self, mu):
        """Entropy -theta log theta - (1 - theta) log(1 - theta) (...), nats."""
        theta = _probability(mu)
        return entr(theta) - xlog1py(1.0 - theta, -theta)

    def kl(self, mu1, mu2):
        """KL(p_1 || p_2) (...), nats, with one nonnegative term for each outcome."""
        theta1 = _probability(mu1)
        theta2 = _probability(mu2)
        change = theta2 - theta1
        first = kl_terms(theta1, theta2, change)
        second = kl_terms(1.0 - theta1, 1.0 - theta2, -change)
        return first + second

    def jensen_shannon(
        self,
        mu,
        weights,
        location=None,
    ):
        """Jensen-Shannon divergence (d,) of K members, nats, and zero as its error."""
        theta = _probability(mu)
        P = np.stack([theta, 1.0 - theta], axis=-1)
        value = discrete_jensen_shannon(P.swapaxes(0, 1), weights)
        return value, np.zeros_like(value)


@dataclass(frozen=True)
class Bernoulli(TwoOutcomeFamily):
    """Presence of a feature: E [x > 0] on {0, 1}.

    Counts and weights are read as presence (x > 0), the usual document model;
    lambda = -logit(mu). A feature counts as present everywhere if the rows without it
    hold less than 2e-13 of the weight. Where they hold little more, 1 - mu has few
    digits, as mu is near one.

    Examples
    --------
    >>> Bernoulli().natural([[0.75], [0.25]]).ravel().round(6).tolist()
    [-1.098612, 1.098612]
    """

    name = "bernoulli"

    def log_normaliser(self, lam):
        """Log-normaliser psi(lambda) = log(1 + exp(-lambda)) (...)."""
        lam = as_parameters(lam)[..., 0]
        return np.logaddexp(0.0, -lam)

    def observe(self, X):
        """Presence [x > 0] of X (n, d), float64; a value below zero is a ValueError."""
        X = super().observe(X).astype(np.float64)
        if sparse.issparse(X):
            return X.sign()
        return np.sign(X)

    def regularise(
        self,
        mu,
        weight,
        *,
        variance_shrinkage,
        alpha,
        location=None,
    ):
        """Add ``alpha`` instances at the pooled mean to every class.

        A feature that is present everywhere or nowhere gets the mean 1/2 in every
        class, so that it carries no information. ``variance_shrinkage`` and
        ``location`` have no effect.

        Parameters
        ----------
        mu, weight, variance_shrinkage, alpha, location
            As for :meth:`MarginalFamily.regularise`.

        Returns
        -------
        ndarray of shape (..., K, d, 1)
        """
        smooth, pooled, _ = smooth_towards_pooled(mu, weight, alpha)
        if alpha > 0:  # what is added to a mean of one may be lost in rounding
            np.minimum(smooth, np.nextafter(1.0, 0.0), out=smooth)
        np.copyto(smooth, 0.5, where=(pooled == 0) | (pooled > 1.0 - ROUNDING))
        return smooth


@dataclass(frozen=True)
class Binomial(TwoOutcomeFamily):
    """Count of one word given the length of its document: the word, or another.

    The marginals of the multinomial family, with its mean parameters: the probability
    theta of a word in the documents of a class, which leaves 1 - theta to all other
    words; lambda = -logit theta. Entropy and divergences are those of a document of one
    word; J and JS_GM grow in proportion to the length.

    Divergences of several words do not add up, because the counts of a document do, and
    a density depends on the length. This family therefore ranks words, and refuses
    densities: it is not in the registry, and an instance is passed to
    :class:`memdlib.DivergenceRanker`. Documents are scored by the selected words and
    all others together in :class:`memdlib.generative.MultinomialMeMdClassifier`.

    Examples
    --------
    >>> one, other = [[0.9], [0.05], [0.05]], [[0.8], [0.1], [0.1]]
    >>> Binomial().jeffreys(one, other).round(3).tolist()
    [0.081, 0.037, 0.037]
    >>> Multinomial().jeffreys(one, other).round(3).tolist()
    [0.012, 0.035, 0.035]
    """

    name = "binomial"

    def log_normaliser(self, lam):
        """Refuse with a ValueError, as does any density: it depends on the length."""
        # a classifier asks for this first, so that it stops here and does not add up
        # the scores of words as if their counts were independent
        raise ValueError(
            "the density of a binomial count depends on the length of its document; "
            "this family only ranks words: classify by MultinomialMeMdClassifier, or "
            'by MeMdClassifier(family="multinomial")'
        )

    def regularise(
        self,
        mu,
        weight,
        *,
        variance_shrinkage,
        alpha,
        location=None,
    ):
        """Word probabilities of each class, as the multinomial family has them.

        In a vocabulary of one word there is no other: its probability is then put at
        1/2 in all classes, so that it carries no information. ``variance_shrinkage``
        and ``location`` have no effect.

        Parameters
        ----------
        mu, weight, variance_shrinkage, alpha, location
            As for :meth:`MarginalFamily.regularise`.

        Returns
        -------
        ndarray of shape (..., K, d, 1)
        """
        if mu.shape[-2] == 1:
            return np.full(mu.shape, 0.5)
        return Multinomial().regularise(
            mu,
            weight,
            variance_shrinkage=variance_shrinkage,
            alpha=alpha,
        )


class ProbabilityVectorFamily(NonnegativeFamily):
    """A family whose mean parameters are probabilities p of several outcomes.

    lambda = -log p, and the log-normaliser is zero: what p and lambda are summed over
    is the last axis of :class:`Categorical`, and the features of :class:`Multinomial`.
    """

    def natural(self, mu):
        """Natural parameters lambda = -log p (..., m) of p (..., m) above zero."""
        return 0.0 - np.log(self._positive(mu))  # not -0.0

    def mean(self, lam):
        """Probabilities p = exp(-lambda) (..., m) of natural parameters (..., m)."""
        return np.exp(-as_parameters(lam))

    def log_normaliser(self, lam):
        """Log-normaliser (...), which is zero."""
        return np.zeros(as_parameters(lam).shape[:-1])

    def entropy(self, mu):
        """Entropy, the sum of -p log p over the last axis (...), nats."""
        return entr(as_parameters(mu)).sum(axis=-1)

    def kl(self, mu1, mu2):
        """KL(p_1 || p_2) (...), nats, with one nonnegative term for each outcome."""
        p1 = as_parameters(mu1)
        p2 = as_parameters(mu2)
        return kl_terms(p1, p2, p2 - p1).sum(axis=-1)

    def jensen_shannon(
        self,
        mu,
        weights,
        location=None,
    ):
        """Jensen-Shannon divergence (d,) of K members, nats, and zero as its error."""
        p = as_parameters(mu)
        w = as_weights(weights, p)
        # mixture - p from differences to one p, so that near-equality keeps its digits
        offset = p - p[np.argmax(w)]
        change = np.tensordot(w, offset, 1) - offset
        terms = kl_terms(p, p + change, change)
        value = within_entropy(np.tensordot(w, terms, 1).sum(axis=-1), w)
        return value, np.zeros_like(value)


@dataclass(frozen=True)
class Multinomial(ProbabilityVectorFamily):
    """Counts of one document as a whole: word probabilities theta, given its length.

    The mean parameters of the d features are the expected counts of a document of
    length one, theta_1..theta_d, which sum to one *over the features*; lambda = -log
    theta, and the log-normaliser is zero. Log densities, entropy and divergences are
    sums of one term per feature, which is what the methods return; divergences are
    those of documents of length one, and grow in proportion to the length.

    Examples
    --------
    >>> f = Multinomial()
    >>> f.entropy([[0.5], [0.25], [0.25]]).sum().round(6)
    np.float64(1.039721)
    """

    name = "multinomial"

    def log_base_measure(self, x):
        """Log of 1/x! (...), by the gamma function where x is no integer."""
        return -gammaln(as_floats(x) + 1.0)

    def regularise(
        self,
        mu,
        weight,
        *,
        variance_shrinkage,
        alpha,
        location=None,
    ):
        """Word probabilities of each class, with ``alpha`` pooled documents added.

        The probabilities of all classes are then mixed with the uniform ones, in the
        ratio of ``alpha`` to the total weight, so that no word is impossible; words of
        equal probability in all classes stay so. ``variance_shrinkage`` and
        ``location`` have no effect.

        Parameters
        ----------
        mu, weight, variance_shrinkage, alpha, location
            As for :meth:`MarginalFamily.regularise`.

        Returns
        -------
        ndarray of shape (..., K, d, 1)
            Probabilities, of sum one over the features.
        """
        theta, _, total = smooth_towards_pooled(mu, weight, alpha)
        length = theta.sum(axis=-2, keepdims=True)
        # in documents without words, each word is as probable as any other
        np.copyto(theta, 1.0, where=length == 0)
        n_words = mu.shape[-2]
        theta /= np.where(length > 0, length, n_words)
        uniform_fraction = alpha / (total + alpha)
        theta *= 1.0 - uniform_fraction
        theta += uniform_fraction / n_words
        return theta


@dataclass(frozen=True)
class Categorical(ProbabilityVectorFamily):
    """Levels of one category: E [x = level] of each level.

    The mean parameters are the probabilities of the m levels, which are the last axis;
    lambda = -log p, and the log-normaliser is zero. Data are the indices of the levels.

    Examples
    --------
    >>> Categorical().jeffreys([0.5, 0.25, 0.25], [0.25, 0.5, 0.25]).round(3)
    np.float64(0.347)
    """

    name = "categorical"

    def log_density(self, X, lam):
        """Log probability of the levels X (...) under parameters (..., m), in nats."""
        lam = as_parameters(lam)
        n_levels = lam.shape[-1]
        x = as_floats(X)
        is_level = (x >= 0) & (x < n_levels)
        check_domain(is_level, x, "level", f"there are {n_levels} levels, 0, 1, ...")
        level = x.astype(np.intp)[..., None]
        lam = np.broadcast_to(lam, (*level.shape[:-1], n_levels))
        lam_of_level = np.take_along_axis(lam, level, axis=-1)
        return -lam_of_level[..., 0]


def _probability(mu):
    """Probabilities (...) of mean parameters (..., 1), checked to lie in [0, 1]."""
    theta = as_parameters(mu)[..., 0]
    valid = (theta >= 0) & (theta <= 1)
    check_domain(valid, theta, "mean", "a probability lies between 0 and 1")
    return theta
