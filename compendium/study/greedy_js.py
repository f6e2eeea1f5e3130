"""Features chosen by exact Jensen-Shannon divergence, one by one or together.

The Jensen-Shannon divergence of the class densities is the information that features
hold about the class. Of one feature it is a quadrature or a sum; of a set of features
that are independent given the class it is the entropy of the class less the mean
entropy of its posterior, and a mean can be taken over rows.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from memdlib.families import Normal, get_family
from memdlib.generative.greedy import greedy_information
from memdlib.generative.marginals import ClassMarginals, family_moments

Array = NDArray[np.float64]


DIVERGENCES = {"J": "jeffreys", "JS_GM": "js_gm", "JS": "js"}


@dataclass(frozen=True)
class FittedMarginals:
    """Class marginals of plain MeMd, to draw from and to score with.

    Parameters
    ----------
    family : {"normal", "bernoulli"}
    prior : ndarray of shape (K,)
    mean, variance : ndarray of shape (K, d)
        Of every feature in every class; probabilities are means.
    """

    family: str
    prior: Array
    mean: Array
    variance: Array

    @classmethod
    def of(cls, marginals: ClassMarginals) -> "FittedMarginals":
        """Means and variances of class marginals.

        Parameters
        ----------
        marginals : ClassMarginals
            As :func:`fit_marginals` returns them.

        Returns
        -------
        FittedMarginals
        """
        mu = marginals.mean_params
        if isinstance(marginals.family, Normal):
            mean = marginals.moments.location + mu[..., 0]
            return cls("normal", marginals.prior, mean, Normal.variance(mu))
        mean = mu[..., 0]
        return cls("bernoulli", marginals.prior, mean, mean * (1.0 - mean))

    def select(self, features) -> "FittedMarginals":
        """Marginals of some features, in the order given."""
        mean, variance = self.mean[:, features], self.variance[:, features]
        return FittedMarginals(self.family, self.prior, mean, variance)

    def log_densities(self, X) -> Array:
        """Log densities of every feature under every class.

        What is the same for all classes is left out.

        Parameters
        ----------
        X : {ndarray, sparse array} of shape (n, d)

        Returns
        -------
        ndarray of shape (K, n, d)
        """
        x = X.toarray() if sparse.issparse(X) else np.asarray(X)
        mean, variance = self.mean[:, None], self.variance[:, None]
        if self.family == "bernoulli":
            return x * np.log(mean) + (1.0 - x) * np.log1p(-mean)
        return -0.5 * ((x - mean) ** 2 / variance + np.log(variance))

    def draw(self, size: int, rng) -> tuple[Array, NDArray[np.intp]]:
        """Rows of the model: features that are independent given the class.

        Parameters
        ----------
        size : int
            Rows of each class.
        rng : numpy.random.Generator

        Returns
        -------
        rows : ndarray of shape (K * size, d)
        codes : ndarray of shape (K * size,)
        """
        codes = np.repeat(np.arange(len(self.prior)), size)
        mean = self.mean[codes]
        if self.family == "bernoulli":
            return (rng.random(mean.shape) < mean).astype(float), codes
        noise = rng.standard_normal(mean.shape)
        return mean + np.sqrt(self.variance[codes]) * noise, codes


def fit_marginals(X, codes, family: str, shrinkage=0.0) -> ClassMarginals:
    """Class marginals of some rows.

    Parameters
    ----------
    X : {ndarray, sparse array} of shape (n, d)
        Zeros and ones for "bernoulli".
    codes : ndarray of int of shape (n,)
        Classes 0..K-1, each with a row.
    family : {"normal", "bernoulli"}
    shrinkage : float in [0, 1] or "auto", default=0.0
        As in :class:`memdlib.DivergenceRanker`.

    Returns
    -------
    ClassMarginals

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [2.0], [4.0], [6.0]])
    >>> marginals = fit_marginals(X, np.array([0, 0, 1, 1]), "normal")
    >>> {name: v.round(3).item() for name, v in scores(marginals).items()}
    {'J': 16.0, 'JS_GM': 4.0, 'JS': 0.633}
    >>> fitted = FittedMarginals.of(marginals)
    >>> fitted.mean.ravel().tolist(), fitted.variance.ravel().tolist()
    ([1.0, 5.0], [1.0, 1.0])
    """
    kind, n_classes = get_family(family), int(codes.max()) + 1
    moments = family_moments(kind, X, codes, n_classes, np.ones(len(codes)))
    return ClassMarginals(moments, kind, variance_shrinkage=shrinkage)


def scores(marginals: ClassMarginals) -> dict[str, Array]:
    """J (each class against the rest), JS_GM and JS of every feature, in nats."""
    return {name: marginals.divergences(word) for name, word in DIVERGENCES.items()}


def left_doubt(log_joint: Array, codes=None) -> Array:
    """Doubt about the class that rows leave, in nats.

    Parameters
    ----------
    log_joint : ndarray of shape (K, n, ...)
        Log prior plus log density, but for what all classes share; finite.
    codes : ndarray of int of shape (n,), default=None
        The classes, with which the doubt is the log-loss. None takes the entropy of the
        posterior instead, the mean of the log-loss if the model holds.

    Returns
    -------
    ndarray of shape (n, ...)

    Examples
    --------
    >>> import numpy as np
    >>> left_doubt(np.log([[0.5], [0.25]])).round(4).tolist()
    [0.6365]
    >>> left_doubt(np.log([[0.5], [0.25]]), np.array([1])).round(4).tolist()
    [1.0986]
    """
    relative = log_joint - log_joint.max(axis=0)
    weight = np.exp(relative)
    total = weight.sum(axis=0)
    if codes is None:
        inner = (weight * relative).sum(axis=0)
        return np.log(total) - inner / total
    return np.log(total) - relative[codes, np.arange(len(codes))]


def greedy_by_doubt(
    log_density: Array, prior: Array, row_weight: Array, size: int, codes=None
) -> tuple[NDArray[np.intp], Array]:
    """Features, each of which leaves least doubt beside those chosen before.

    Parameters
    ----------
    log_density : ndarray of shape (K, n, C)
        Of C candidates, as :meth:`FittedMarginals.log_densities` gives them. They are
        taken as independent given the class: their columns add up.
    prior : ndarray of shape (K,)
    row_weight : ndarray of shape (n,)
        Of sum one.
    size : int
        How many to choose.
    codes : ndarray of int of shape (n,), default=None
        As in :func:`left_doubt`.

    Returns
    -------
    order : ndarray of int of shape (size,)
        Candidates in the order of choice; of equal ones the first.
    doubt : ndarray of shape (size,)
        What is left after each, in nats. The entropy of the prior less these is the
        joint Jensen-Shannon divergence, or what the rows show of it.
    """
    total = np.tile(np.log(prior)[:, None], (1, log_density.shape[1]))
    free = np.arange(log_density.shape[2])
    order, doubt = [], []
    for _ in range(size):
        trial = total[..., None] + log_density[..., free]
        left = row_weight @ left_doubt(trial, codes)
        best = int(left.argmin())
        total = trial[..., best]
        order.append(free[best])
        doubt.append(left[best])
        free = np.delete(free, best)
    return np.array(order), np.array(doubt)


def greedy_by_model(
    fitted: FittedMarginals, size: int, rows: int, seed: int
) -> tuple[NDArray[np.intp], Array]:
    """Greedy choice by the joint Jensen-Shannon divergence of the model itself.

    The mean entropy of the posterior is taken over rows drawn from the model.

    Parameters
    ----------
    fitted : FittedMarginals
        Of the candidates.
    size : int
    rows : int
        Drawn of each class.
    seed : int

    Returns
    -------
    order, doubt
        As :func:`greedy_by_doubt` returns them.
    """
    values, codes = fitted.draw(rows, np.random.default_rng(seed))
    weight = fitted.prior[codes] / rows
    return greedy_by_doubt(fitted.log_densities(values), fitted.prior, weight, size)


def greedy_by_rows(
    X, codes, fold, family: str, size: int, shrinkage=0.0
) -> tuple[NDArray[np.intp], Array]:
    """Greedy choice by the log-loss on rows that the marginals have not seen.

    By Gibbs' inequality the entropy of the class less the expected log-loss is at most
    the information about the class, wherever the rows come from.

    Parameters
    ----------
    X, codes, family, shrinkage
        As in :func:`fit_marginals`; the columns are the candidates.
    fold : ndarray of int of shape (n,)
        Rows of a fold are scored by marginals of the others, which must have all
        classes.
    size : int

    Returns
    -------
    order, doubt
        As :func:`greedy_by_doubt` returns them; the doubt is the log-loss.
    """
    prior = np.bincount(codes) / len(codes)
    log_density = np.empty((len(prior), *X.shape))
    for f in np.unique(fold):
        out = fold == f
        marginals = fit_marginals(X[~out], codes[~out], family, shrinkage)
        log_density[:, out] = FittedMarginals.of(marginals).log_densities(X[out])
    weight = np.full(len(codes), 1.0 / len(codes))
    return greedy_by_doubt(log_density, prior, weight, size, codes)


def greedy_by_redundancy(
    relevance: Array, X, size: int
) -> tuple[NDArray[np.intp], Array]:
    """Greedy choice by JS less mean redundancy with the features chosen before.

    Parameters
    ----------
    relevance : ndarray of shape (d,)
        JS of the candidates, in nats.
    X : {ndarray, sparse array} of shape (n, d)
    size : int

    Returns
    -------
    order, gains
        As :class:`memdlib.GreedyInformationRanker` has them.
    """
    x = X.toarray() if sparse.issparse(X) else np.asarray(X)
    centred = x - x.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    z = centred / np.where(length > 0, length, 1.0)
    return greedy_information(relevance, lambda s: z[:, s] @ z, size)
