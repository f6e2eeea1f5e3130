"""Several classifiers on several data sets: average ranks and what tells them apart."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats


class Friedman(NamedTuple):
    """Average ranks and the test of whether they differ by chance.

    Attributes
    ----------
    ranks : ndarray of shape (k,)
        1 is the best.
    statistic : float
        Friedman's, with the correction for ties.
    p : float
        Of the F statistic of Iman and Davenport.
    """

    ranks: NDArray[np.float64]
    statistic: float
    p: float


def friedman(scores: ArrayLike) -> Friedman:
    """Average ranks of classifiers over data sets, with Friedman's test.

    Parameters
    ----------
    scores : array-like of shape (N, k)
        A row for each data set, a column for each classifier, the larger the better.

    Returns
    -------
    Friedman

    References
    ----------
    .. [1] Demsar, Statistical comparisons of classifiers over multiple data sets,
       Journal of Machine Learning Research 7 (2006), section 3.2.2.

    Examples
    --------
    >>> friedman([[90, 80, 70], [85, 84, 60], [70, 75, 65]]).ranks.round(2).tolist()
    [1.33, 1.67, 3.0]
    """
    table = np.asarray(scores, float)
    n_sets, k = table.shape
    statistic = stats.friedmanchisquare(*table.T).statistic
    left = n_sets * (k - 1) - statistic
    quotient = (n_sets - 1) * statistic / left if left > 0 else np.inf
    p = stats.f.sf(quotient, k - 1, (k - 1) * (n_sets - 1))
    ranks = stats.rankdata(-table, axis=1).mean(axis=0)
    return Friedman(ranks, float(statistic), float(p))


def critical_difference(k: int, n_sets: int, level: float = 0.95) -> float:
    """Difference of average ranks from which on two classifiers differ.

    Nemenyi's test, which accounts for all pairs.

    Parameters
    ----------
    k : int
        Classifiers.
    n_sets : int
        Data sets.
    level : float, default=0.95
        Probability that no pair is told apart wrongly if none differ.

    Returns
    -------
    float

    References
    ----------
    .. [1] Demsar (2006), as for :func:`friedman`; the quantiles of its table 5 are
       those of the studentised range over sqrt(2).

    Examples
    --------
    >>> round(critical_difference(4, 14, 0.9), 2)
    1.12
    """
    quantile = stats.studentized_range.ppf(level, k, np.inf) / np.sqrt(2.0)
    return float(quantile * np.sqrt(k * (k + 1) / (6.0 * n_sets)))


class SignedRanks(NamedTuple):
    """Probabilities that one classifier is worse, practically equal, or better."""

    worse: float
    equal: float
    better: float


def bayesian_signed_ranks(
    differences: ArrayLike, rope: float = 1.0, *, draws: int = 20000, seed: int = 0
) -> SignedRanks:
    """Bayesian signed-rank test with a region of practical equivalence.

    The differences have a Dirichlet process as prior, of strength 1/2 with all of it at
    zero. A draw of its posterior gives weights w to zero and to the differences z, and
    with them shares of pairs by where (z_i + z_j) / 2 lies: below, within and above the
    region. The probabilities say how often each share is the largest.

    Parameters
    ----------
    differences : array-like of shape (N,)
        Of two classifiers, one for each data set; repeated draws of folds are averaged
        before, since they are no further data sets.
    rope : float, default=1.0
        Half-width of the region, in the unit of the differences; its ends belong to it.
    draws : int, default=20000
        Of the posterior.
    seed : int, default=0

    Returns
    -------
    SignedRanks
        They sum to one.

    References
    ----------
    .. [1] Benavoli, Corani, Demsar and Zaffalon, Time for a change: a tutorial for
       comparing multiple classifiers through Bayesian analysis, Journal of Machine
       Learning Research 18 (2017), section 4.2.

    Examples
    --------
    >>> bayesian_signed_ranks([3.0, 4.0, 5.0, 2.5, 6.0]).better > 0.99
    True
    """
    values = np.asarray(differences, float)
    z = np.concatenate([[0.0], values])
    weights = np.random.default_rng(seed).dirichlet([0.5, *np.ones(len(values))], draws)
    middle = (z[:, None] + z[None]) / 2.0
    places = middle < -rope, np.abs(middle) <= rope, middle > rope
    shares = np.array([((weights @ place) * weights).sum(axis=1) for place in places])
    won = np.bincount(shares.argmax(axis=0), minlength=3) / draws
    return SignedRanks(*won.tolist())
