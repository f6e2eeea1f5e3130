"""Families of counts: presence, Poisson, geometric, and documents as a whole."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.special import entr, expit, gammaln, logit, xlog1py

from memdlib._types import Array, ArrayLike, MatrixLike
from memdlib.divergences import itakura_saito, kl_terms
from memdlib.divergences import jensen_shannon as discrete_jensen_shannon
from memdlib.families.base import ROUNDING, NonnegativeFamily, smooth_towards_pooled
from memdlib.validation import check_domain

# Probability of the counts that are left out of a sum over all of them.
_TAIL = 1e-17
# Cells of a sum handled at a time, and the most that one feature may need.
_BLOCK, _MOST_CELLS = 2**22, 10**6


class CountFamily(NonnegativeFamily):
    """A family on the counts 0, 1, 2, ... with the mean as its only moment.

    Fractional values are read as expected counts: the densities extend to them, up to a
    base measure that all classes share.
    """

    def jensen_shannon(self, mu: ArrayLike, weights: ArrayLike) -> tuple[Array, Array]:
        mu = np.asarray(mu, dtype=np.float64)
        lam = self.natural(mu)
        last = self.largest_count(mu).max(axis=0)
        if last.max() > _MOST_CELLS:
            feature = int(np.argmax(last))
            raise ValueError(
                f"the Jensen-Shannon divergence of feature {feature} needs a sum over "
                f"{int(last.max())} counts; rescale it, or rank by js_gm"
            )
        value = np.empty(mu.shape[1])
        order, start = np.argsort(-last, kind="stable"), 0
        while start < len(order):
            cells = int(last[order[start]]) + 1
            step = max(1, _BLOCK // (cells * len(mu)))
            part = order[start : start + step]
            counts = np.arange(cells)[:, None, None]
            log_p = self.log_density(counts, lam[:, part])
            P = np.exp(np.moveaxis(log_p, 0, -1)).swapaxes(0, 1)
            value[part] = discrete_jensen_shannon(P, weights)
            start += step
        return value, np.full(len(value), _TAIL)

    def largest_count(self, mu: Array) -> Array:
        """Count (...) beyond which members mu (..., 1) have next to no probability."""
        raise NotImplementedError(f"{type(self).__name__} must bound its tail")


@dataclass(frozen=True)
class Bernoulli(CountFamily):
    """Presence of a feature: E [x > 0] on {0, 1}.

    Counts and weights are read as presence (x > 0), the usual document model;
    lambda = -logit(mu).

    Examples
    --------
    >>> Bernoulli().natural([[0.75], [0.25]]).ravel().round(6).tolist()
    [-1.098612, 1.098612]
    """

    name: ClassVar[str] = "bernoulli"

    def natural(self, mu: ArrayLike) -> Array:
        mu = np.asarray(mu, dtype=np.float64)
        remedy = "a Bernoulli density needs a mean strictly between 0 and 1"
        check_domain((mu > 0) & (mu < 1), mu, "mean", f"{remedy}; use smoothing > 0")
        return 0.0 - logit(mu)  # not -0.0

    def mean(self, lam: ArrayLike) -> Array:
        return expit(-np.asarray(lam, dtype=np.float64))

    def log_normaliser(self, lam: ArrayLike) -> Array:
        return np.logaddexp(0.0, -np.asarray(lam, dtype=np.float64)[..., 0])

    def entropy(self, mu: ArrayLike) -> Array:
        mu = _share(mu)
        return entr(mu) - xlog1py(1.0 - mu, -mu)

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        mu1, mu2 = _share(mu1), _share(mu2)
        change = mu2 - mu1
        absent = kl_terms(1.0 - mu1, 1.0 - mu2, -change)
        return kl_terms(mu1, mu2, change) + absent

    def jensen_shannon(self, mu: ArrayLike, weights: ArrayLike) -> tuple[Array, Array]:
        mu = _share(mu)
        cells = np.stack([mu, 1.0 - mu], axis=-1)
        value = discrete_jensen_shannon(cells.swapaxes(0, 1), weights)
        return value, np.zeros_like(value)

    def observe(self, X: MatrixLike) -> MatrixLike:
        X = super().observe(X).astype(np.float64)
        return X.sign() if sparse.issparse(X) else np.sign(X)

    def regularise(
        self, mu: Array, weight: Array, *, shrinkage: float, smoothing: float
    ) -> Array:
        """Add ``smoothing`` instances at the pooled mean to every class.

        A feature that is present everywhere or nowhere gets the mean 1/2 in every
        class, so that it carries no information.
        """
        smooth, pooled, _ = smooth_towards_pooled(mu, weight, smoothing)
        if smoothing > 0:  # what is added to a mean of one may be lost in rounding
            np.minimum(smooth, np.nextafter(1.0, 0.0), out=smooth)
        np.copyto(smooth, 0.5, where=(pooled == 0) | (pooled > 1.0 - ROUNDING))
        return smooth


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

    name: ClassVar[str] = "poisson"

    def natural(self, mu: ArrayLike) -> Array:
        return 0.0 - np.log(self._positive(mu))

    def mean(self, lam: ArrayLike) -> Array:
        return np.exp(-np.asarray(lam, dtype=np.float64))

    def log_normaliser(self, lam: ArrayLike) -> Array:
        return np.exp(-np.asarray(lam, dtype=np.float64)[..., 0])

    def log_base_measure(self, x: ArrayLike) -> Array:
        return -gammaln(np.asarray(x, dtype=np.float64) + 1.0)

    def entropy(self, mu: ArrayLike) -> Array:
        mu = self._positive(mu)[..., 0]
        return mu + entr(mu)

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        mu1, mu2 = (self._positive(mu)[..., 0] for mu in (mu1, mu2))
        return kl_terms(mu1, mu2, mu2 - mu1)

    def largest_count(self, mu: Array) -> Array:
        # Bernstein: P(X >= mu + t) <= exp(-t^2 / (2 mu + 2 t / 3))
        bound, mean = -np.log(_TAIL), mu[..., 0]
        excess = bound / 3.0 + np.sqrt(bound**2 / 9.0 + 2.0 * bound * mean)
        return np.ceil(mean + excess)


@dataclass(frozen=True)
class Geometric(CountFamily):
    """Geometric counts: E x on 0, 1, 2, ...; p(x) = (1 - q) q^x, q = mu / (1 + mu).

    Examples
    --------
    >>> f = Geometric()
    >>> np.exp(-f.natural([1.0])).tolist()
    [0.5]
    """

    name: ClassVar[str] = "geometric"

    def natural(self, mu: ArrayLike) -> Array:
        return np.log1p(1.0 / self._positive(mu))

    def mean(self, lam: ArrayLike) -> Array:
        lam = np.asarray(lam, dtype=np.float64)
        remedy = "exp(-lambda x) is summable only for lambda > 0"
        check_domain(lam > 0, lam, "lambda", remedy)
        return np.exp(-lam) / -np.expm1(-lam)

    def log_normaliser(self, lam: ArrayLike) -> Array:
        return -np.log(-np.expm1(-np.asarray(lam, dtype=np.float64)[..., 0]))

    def entropy(self, mu: ArrayLike) -> Array:
        mu = self._positive(mu)
        return (np.log1p(mu) + mu * self.natural(mu))[..., 0]

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        mu1, mu2 = (self._positive(mu)[..., 0] for mu in (mu1, mu2))
        # that of 1 + mu_1 coins of bias q, which are tossed on average
        heads = mu2 / (1.0 + mu2) * (1.0 + mu1)
        tails = itakura_saito(1.0 + mu1, 1.0 + mu2)
        return kl_terms(mu1, heads, (mu2 - mu1) / (1.0 + mu2)) + tails

    def largest_count(self, mu: Array) -> Array:
        return np.ceil(-np.log(_TAIL) / self.natural(mu)[..., 0])


@dataclass(frozen=True)
class Multinomial(Poisson):
    """Counts of one document as a whole: word probabilities theta, given its length.

    The mean parameters of the d features are the expected counts of a document of
    length one, theta_1..theta_d, which sum to one *over the features*; lambda = -log
    theta, and the log-normaliser is zero. Log densities, entropy and divergences are
    sums of one term a feature, which is what the methods return; divergences are those
    of documents of length one, and grow in proportion to the length.

    Examples
    --------
    >>> f = Multinomial()
    >>> f.entropy([[0.5], [0.25], [0.25]]).sum().round(6)
    np.float64(1.039721)
    """

    name: ClassVar[str] = "multinomial"

    def log_normaliser(self, lam: ArrayLike) -> Array:
        return np.zeros(np.shape(lam)[:-1])

    def entropy(self, mu: ArrayLike) -> Array:
        return entr(np.asarray(mu, dtype=np.float64)).sum(axis=-1)

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        mu1, mu2 = np.asarray(mu1, dtype=np.float64), np.asarray(mu2, dtype=np.float64)
        return kl_terms(mu1, mu2, mu2 - mu1).sum(axis=-1)

    def jensen_shannon(self, mu: ArrayLike, weights: ArrayLike) -> tuple[Array, Array]:
        mu, w = np.asarray(mu, dtype=np.float64), np.asarray(weights, dtype=np.float64)
        change = np.tensordot(w, mu - mu[:1], 1) - (mu - mu[:1])
        value = np.tensordot(w, kl_terms(mu, mu + change, change), 1).sum(axis=-1)
        return value, np.zeros_like(value)

    def regularise(
        self, mu: Array, weight: Array, *, shrinkage: float, smoothing: float
    ) -> Array:
        """Word probabilities of each class, with ``smoothing`` pooled documents added.

        The probabilities of all classes are then mixed with the uniform ones, in the
        ratio of ``smoothing`` to the total weight, so that no word is impossible; words
        of equal probability in all classes stay so. ``shrinkage`` has no effect.
        """
        theta, _, total = smooth_towards_pooled(mu, weight, smoothing)
        length = theta.sum(axis=-2, keepdims=True)
        np.copyto(theta, 1.0, where=length == 0)
        length = np.where(length > 0, length, mu.shape[-2])
        share = smoothing / (total + smoothing)
        theta /= length
        theta *= 1.0 - share
        theta += share / mu.shape[-2]
        return theta


@dataclass(frozen=True)
class Categorical(Multinomial):
    """Levels of one category: E [x = level] of each level.

    The mean parameters are the probabilities of the m levels, which are the last axis;
    lambda = -log p, and the log-normaliser is zero. Data are the places of the levels.

    Examples
    --------
    >>> Categorical().jeffreys([0.5, 0.25, 0.25], [0.25, 0.5, 0.25]).round(3)
    np.float64(0.347)
    """

    name: ClassVar[str] = "categorical"
    regularise = NonnegativeFamily.regularise

    def log_density(self, X: ArrayLike, lam: ArrayLike) -> Array:
        """Log probability of the places X (...) under parameters (..., m), in nats."""
        place = np.asarray(X, dtype=np.intp)[..., None]
        lam = np.broadcast_to(lam, (*place.shape[:-1], np.shape(lam)[-1]))
        return -np.take_along_axis(lam, place, axis=-1)[..., 0]


def _share(mu: ArrayLike) -> Array:
    mu = np.asarray(mu, dtype=np.float64)[..., 0]
    valid = (mu >= 0) & (mu <= 1)
    check_domain(valid, mu, "mean", "a probability lies between 0 and 1")
    return mu


@dataclass(frozen=True)
class Binomial(Bernoulli):
    """Count of one word given the length of its document: the word, or another.

    The marginals of the multinomial family, with its mean parameters: the share theta
    of a word in the documents of a class, which leaves 1 - theta to the rest of the
    document; lambda = -logit theta. Entropy and divergences are those of a document of
    one word; J and JS_GM grow in proportion to the length.

    Divergences of several words do not add up, because the counts of a document do, and
    a density depends on the length. So this family ranks words, and refuses densities:
    it is no name of the registry, and is given itself to
    :class:`memdlib.DivergenceRanker`. Documents are scored by the words that are kept
    and their rest together in :class:`memdlib.generative.MultinomialMeMdClassifier`.

    Examples
    --------
    >>> one, other = [[0.9], [0.05], [0.05]], [[0.8], [0.1], [0.1]]
    >>> Binomial().jeffreys(one, other).round(3).tolist()
    [0.081, 0.037, 0.037]
    >>> Multinomial().jeffreys(one, other).round(3).tolist()
    [0.012, 0.035, 0.035]
    """

    name: ClassVar[str] = "binomial"

    def log_normaliser(self, lam: ArrayLike) -> Array:
        raise ValueError(
            "the density of a binomial count depends on the length of its document; "
            "this family only ranks words: classify by MultinomialMeMdClassifier, or "
            'by MeMdClassifier(family="multinomial")'
        )

    def observe(self, X: MatrixLike) -> MatrixLike:
        return CountFamily.observe(self, X)

    def regularise(
        self, mu: Array, weight: Array, *, shrinkage: float, smoothing: float
    ) -> Array:
        """Word probabilities of each class, as the multinomial family has them.

        A vocabulary of one word leaves no rest: its share is then put at 1/2 in all
        classes, so that it carries no information. ``shrinkage`` has no effect.
        """
        if mu.shape[-2] == 1:
            return np.full(mu.shape, 0.5)
        return Multinomial().regularise(
            mu, weight, shrinkage=shrinkage, smoothing=smoothing
        )
