"""Criteria that rank features, side by side, and how far their rankings agree."""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import xlogy
from sklearn.feature_selection import chi2, f_classif

from compendium.study.greedy_js import DIVERGENCES
from memdlib.generative import DivergenceRanker
from memdlib.nml import LevelQuantiser, NMLFeatureSelector


def presence_scores(X, y) -> dict[str, NDArray[np.float64]]:
    """Score words, or pixels, by their presence.

    Parameters
    ----------
    X : sparse array of shape (n, d)
        Zeros and ones.
    y : ndarray of shape (n,)

    Returns
    -------
    dict
        Name of the criterion to scores of shape (d,), the larger the better; a feature
        that never occurs, or always, has the score zero. "chi2" is scikit-learn's,
        "Pearson" that of the whole table, "G" the likelihood-ratio statistic; the
        divergences "J" (of each class against the rest), "JS_GM" and "JS" are those of
        Bernoulli marginals with one pooled row as smoothing.

    Examples
    --------
    >>> import numpy as np
    >>> from compendium.study.agreement import presence_scores
    >>> X = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> found = presence_scores(X, np.array([0, 0, 1, 1]))
    >>> {name: score.round(2).tolist() for name, score in found.items()}
    {'chi2': [2.0, 0.0], 'Pearson': [4.0, 0.0], 'G': [5.55, 0.0], 'F': [inf, 0.0], \
'J': [2.15, 0.0], 'JS_GM': [0.54, 0.0], 'JS': [0.24, 0.0]}
    """
    codes = np.unique(y, return_inverse=True)[1]
    member = np.eye(codes.max() + 1)[codes]
    present, size = np.asarray((X.T @ member).T), member.sum(axis=0)[:, None]
    overall = present.sum(axis=0)
    informative = (overall > 0) & (overall < X.shape[0])
    statistics = _statistics([present, size - present], size)
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore")  # columns that are constant
        found = {"chi2": chi2(X, y)[0]} | statistics | {"F": f_classif(X, y)[0]}
    found |= divergences(X, y, family="bernoulli")
    return {name: np.where(informative, s, 0.0) for name, s in found.items()}


def level_scores(X, y, *, n_bins: int = 5) -> dict[str, NDArray[np.float64]]:
    """Score measurements, such as expression values.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    n_bins : int, default=5
        Levels, cut at quantiles, of the criteria that need levels.

    Returns
    -------
    dict
        As :func:`presence_scores`. "chi2" is scikit-learn's on values between 0 and 1,
        as is common practice; "Pearson" and "G" are statistics of the tables of levels
        and classes; the divergences are those of normal marginals. "NML" and "NML, 1"
        are code lengths of the labels given the levels, one or two moments without and
        with a constant, with a minus; with more than two classes there are none.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    codes = np.unique(y, return_inverse=True)[1]
    levels = LevelQuantiser(n_bins, strategy="quantile").fit_transform(X)
    member = np.eye(codes.max() + 1)[codes]
    size = member.sum(axis=0)[:, None]
    tables = [member.T @ (levels == level) for level in np.unique(levels)]
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore")  # columns that are constant
        found = {"chi2": np.nan_to_num(chi2((X - low) / width, y)[0])}
        found |= _statistics(tables, size)
        found["F"] = np.nan_to_num(f_classif(X, y)[0])
    found |= divergences(X, y, family="normal")
    if len(size) == 2:
        for name, constant in (("NML", False), ("NML, 1", True)):
            how = {"n_bins": n_bins, "strategy": "quantile", "intercept": constant}
            code = NMLFeatureSelector(n_moments=2, **how).fit(X, y)
            found[name] = -code.feature_codelengths_
    return found


def _statistics(tables, size) -> dict[str, NDArray[np.float64]]:
    """Pearson's statistic and the likelihood ratio of tables, (K, d) a level."""
    pearson, ratio = 0.0, 0.0
    for observed in tables:
        expected = size * observed.sum(axis=0) / size.sum()
        safe = np.where(expected > 0, expected, 1.0)
        pearson = pearson + ((observed - expected) ** 2 / safe).sum(axis=0)
        ratio = ratio + 2.0 * xlogy(observed, observed / safe).sum(axis=0)
    return {"Pearson": pearson, "G": ratio}


def divergences(X, y, family: str) -> dict[str, NDArray[np.float64]]:
    """Score features by J, by JS_GM and by JS of the class marginals."""
    return {
        name: DivergenceRanker(divergence, family=family).fit(X, y).scores_
        for name, divergence in DIVERGENCES.items()
    }


def rank_correlations(
    first: dict[str, NDArray], second: dict[str, NDArray] | None = None
) -> NDArray[np.float64]:
    """Spearman's correlations of scores, equal scores sharing the mean of their ranks.

    Parameters
    ----------
    first : dict
        Name to scores of shape (d,).
    second : dict, default=None
        Of the same names; None means `first`.

    Returns
    -------
    ndarray of shape (C, C)
        Each criterion of the first against each of the second.
    """
    count = len(first)
    both = [*first.values(), *(second or first).values()]
    # float noise must not break ties between equal counts
    ranks = [stats.rankdata(_rounded(score)) for score in both]
    return np.corrcoef(ranks)[:count, count:]


def overlaps(
    first: dict[str, NDArray], size: int, second: dict[str, NDArray] | None = None
) -> NDArray[np.float64]:
    """Share of the best features that two criteria have in common.

    Parameters
    ----------
    first, second : dict
        As for :func:`rank_correlations`.
    size : int
        Number of features of each list; of equal scores the first columns enter it.

    Returns
    -------
    ndarray of shape (C, C)
    """
    lists = [
        [set(np.argsort(-_rounded(score), kind="stable")[:size]) for score in part]
        for part in (first.values(), (second or first).values())
    ]
    return np.array([[len(a & b) / size for b in lists[1]] for a in lists[0]])


def _rounded(score):
    """Scores to ten significant digits of the largest."""
    finite = np.abs(score[np.isfinite(score)])
    largest = finite.max(initial=0.0) or 1.0
    return np.round(score / largest, 10)
