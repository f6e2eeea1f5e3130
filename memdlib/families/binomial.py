"""A word of a document, and all its other words as one more."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib.families.counts import Bernoulli, CountFamily, Multinomial

Array = NDArray[np.float64]


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

    def observe(self, X):
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
