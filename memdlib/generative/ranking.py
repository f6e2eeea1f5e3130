"""Features ranked by how far apart a divergence puts the classes.

By Theorem 1 of MeMd the greedy choice of features under class-conditional independence
is the ranking by marginal divergence, so one number a feature is all there is to find.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from memdlib.families import get
from memdlib.generative.marginals import ClassMarginals, family_moments
from memdlib.validation import count_features, labelled_data


def rank(divergences: NDArray[np.float64]) -> NDArray[np.intp]:
    """Features from the largest divergence down; ties keep the order of the columns.

    Parameters
    ----------
    divergences : ndarray of shape (d,)

    Returns
    -------
    ndarray of shape (d,)
        Feature indices.

    Examples
    --------
    >>> import numpy as np
    >>> rank(np.array([0.5, 2.0, 0.5])).tolist()
    [1, 0, 2]
    """
    return np.argsort(-divergences, kind="stable")


class DivergenceRanker(SelectorMixin, BaseEstimator):
    """Select the features whose class marginals diverge most.

    Parameters
    ----------
    divergence : {"js_gm", "jeffreys", "js"}, default="js_gm"
        Divergence between the class marginals. For two classes the first two rank
        alike; "js" is the Jensen-Shannon divergence itself, by quadrature.
    family : str or Family, default="normal"
        Maximum-entropy family of the marginals.
    k : int, float in (0, 1] or None, default=0.1
        How many features to keep: a number, a share of them, or all.
    shrinkage : float in [0, 1] or "auto", default=0.0
        Pull of class variances towards the pooled one; see
        :class:`memdlib.MeMdClassifier`.
    smoothing : float, default=1.0
        Weight, in instances, of the pooled mean in each class (count families).

    Attributes
    ----------
    feature_divergences_ : ndarray of shape (d,)
        Nats.
    ranking_ : ndarray of shape (d,)
        Feature indices, the most divergent first.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    References
    ----------
    .. [1] Dukkipati, Pandey, Ghoshdastidar, Koley, Sriram, Generative maximum entropy
       learning for multiclass classification, ICDM 2013, Theorem 1.

    Examples
    --------
    >>> from memdlib import DivergenceRanker
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> DivergenceRanker(k=2).fit(X, y).get_feature_names_out().tolist()
    ['petal length (cm)', 'petal width (cm)']
    """

    def __init__(
        self,
        divergence="js_gm",
        family="normal",
        k=0.1,
        shrinkage=0.0,
        smoothing=1.0,
    ):
        self.divergence = divergence
        self.family = family
        self.k = k
        self.shrinkage = shrinkage
        self.smoothing = smoothing

    def fit(self, X, y, sample_weight=None):
        """Rank the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Finite values inside the support of the family.
        y : array-like of shape (n,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative instance weights.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            On a single class, values outside the support, or k out of range.
        """
        family = get(self.family)
        X, codes, weight, self.classes_ = labelled_data(self, X, y, sample_weight)
        self._n_selected = count_features(self.k, X.shape[1], "k")
        moments = family_moments(
            family, family.observe(X), codes, len(self.classes_), weight
        )
        marginals = ClassMarginals(moments, family, self.shrinkage, self.smoothing)
        self.feature_divergences_ = marginals.divergences(self.divergence)
        self.ranking_ = rank(self.feature_divergences_)
        return self

    def _get_support_mask(self):
        check_is_fitted(self)
        mask = np.zeros(self.ranking_.size, dtype=bool)
        mask[self.ranking_[: self._n_selected]] = True
        return mask

    def __sklearn_tags__(self):
        return describe_input(super().__sklearn_tags__(), self.family)


def describe_input(tags, family):
    """Set the input tags that follow from the family."""
    tags.input_tags.sparse = True
    tags.input_tags.positive_only = get(family).nonnegative
    tags.target_tags.required = True
    return tags
