"""Two ways to choose features that the comparison needs and scikit-learn lacks."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin, f_classif
from sklearn.utils.validation import check_is_fitted, validate_data


def level_information(X, y, n_levels: int = 5) -> NDArray[np.float64]:
    """Mutual information of each feature's levels with the classes.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, d)
        Measurements, cut into levels at their quantiles; or, if sparse, counts, whose
        levels are absence and presence.
    y : array-like of shape (n,)
        Classes.
    n_levels : int, default=5
        Levels of measurements.

    Returns
    -------
    ndarray of shape (d,)
        Nats; 0 for a constant feature.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]])
    >>> level_information(X, [0, 0, 1, 1], n_levels=2).round(3).tolist()
    [0.693, 0.0]
    """
    classes, codes = np.unique(y, return_inverse=True)
    member = np.eye(len(classes))[codes]
    size = member.sum(axis=0)[:, None]
    if sparse.issparse(X):
        present = sparse.csr_array(X, dtype=float, copy=True)
        present.data = (present.data != 0).astype(float)
        there = np.asarray((present.T @ member).T)
        tables = [there, size - there]
    else:
        # the quantiles of the empirical distribution
        last = -(-np.arange(1, n_levels) * len(codes) // n_levels) - 1
        above = [member.T @ (X > cut) for cut in np.sort(X, axis=0)[last]]
        above = [size, *above, np.zeros_like(size)]
        tables = [more - less for more, less in pairwise(above)]
    n = len(codes)
    found = np.zeros(X.shape[1])
    for table in tables:
        expected = size * table.sum(axis=0) / n
        ratio = np.divide(table, expected, out=np.ones_like(expected), where=table > 0)
        found += (table * np.log(ratio)).sum(axis=0) / n
    return found


class RelevantRedundantSelector(SelectorMixin, BaseEstimator):
    """Maximum relevance, minimum redundancy: a greedy choice by F and correlation.

    The first feature is that of largest F. Each next one has the largest quotient of
    its F and its mean absolute correlation with those chosen before.

    Parameters
    ----------
    n_features : int, default=10
        How many are chosen, at most `pool`.
    pool : int, default=200
        Only so many features, of largest F, are looked at.

    Attributes
    ----------
    chosen_ : ndarray of int
        Columns in the order in which they were chosen.
    n_features_in_ : int

    References
    ----------
    .. [1] Ding and Peng, Minimum redundancy feature selection from microarray gene
       expression data, Journal of Bioinformatics and Computational Biology 3 (2005);
       its criterion FCQ.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> RelevantRedundantSelector(3).fit(X, y).chosen_.tolist()
    [6, 9, 12]
    """

    def __init__(self, n_features=10, pool=200):
        self.n_features = n_features
        self.pool = pool

    def fit(self, X, y):
        """Choose the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, accept_sparse="csr")
        with np.errstate(divide="ignore", invalid="ignore"):
            relevance = np.nan_to_num(f_classif(X, y)[0], posinf=np.finfo(float).max)
        pool = np.argsort(-relevance, kind="stable")[: self.pool]
        Z = X[:, pool].toarray() if sparse.issparse(X) else X[:, pool].astype(float)
        Z = Z - Z.mean(axis=0)
        length = np.linalg.norm(Z, axis=0)
        Z /= np.where(length > 0, length, 1.0)
        chosen, redundancy = [0], np.zeros(len(pool))
        while len(chosen) < min(self.n_features, len(pool)):
            redundancy += np.abs(Z.T @ Z[:, chosen[-1]])
            # no feature is less redundant than rounding can tell
            mean = np.maximum(redundancy / len(chosen), np.finfo(float).eps)
            with np.errstate(over="ignore"):
                score = relevance[pool] / mean
            score[chosen] = -np.inf
            chosen.append(int(np.argmax(score)))
        self.chosen_ = pool[chosen]
        return self

    def _get_support_mask(self):
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, bool)
        mask[self.chosen_] = True
        return mask

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
