"""Features ranked by how short the labels become, given the level of one of them."""

from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import ClassifierTags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from memdlib.generative.ranking import rank
from memdlib.nml.checks import positive_integer
from memdlib.nml.genes import gene_codelengths
from memdlib.nml.levels import LevelQuantiser
from memdlib.nml.multinomial import multinomial_codelength
from memdlib.validation import check_choice, count_features

Array = NDArray[np.float64]

CRITERIA = ("nml", "error")

# Digits after the point, in nats, that two ways to add the same terms agree in.
_DIGITS = 9


class NMLMomentSelector(SelectorMixin, BaseEstimator):
    """Select the features that make the NML code length of two-class labels least.

    Each feature is cut into levels. For every number m of moments, the labels have a
    code length under the conditional maximum-entropy model with P(1 | x) the logistic
    function of a polynomial of degree m in the level x; the best m is kept, and the
    features are ranked by the code length it gives.

    Parameters
    ----------
    n_moments : int or iterable of int, default=7
        The numbers m to choose from: 1 to that number, or those listed.
    k : int, float in (0, 1] or None, default=None
        How many features to keep: a number, a share of them, or all.
    n_levels : int, default=5
        Levels that each feature is cut into.
    strategy : {"width", "frequency", "kmeans"}, default="width"
        How; see :class:`memdlib.nml.LevelQuantiser`.
    intercept : bool, default=False
        Whether the polynomial has a constant term.
    criterion : {"nml", "error"}, default="nml"
        What is made least: error plus complexity, or the error alone, which is the
        minimax entropy principle.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The second is the label 1 of the model.
    moments_ : ndarray of shape (M,)
        The numbers m tried, increasing.
    errors_, complexities_, codelengths_ : ndarray of shape (d, M)
        In nats; the last is the sum of the others.
    best_moments_ : ndarray of shape (d,)
        Of equally good m the smallest.
    feature_codelengths_ : ndarray of shape (d,)
        NML code length at ``best_moments_``, in nats.
    ranking_ : ndarray of shape (d,)
        Feature indices, the shortest code first; ties keep the order of the columns.
    null_codelength_ : float
        Code length of the labels without features, in nats.
    quantiser_ : LevelQuantiser
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    Notes
    -----
    The choice among features and moments is not part of the code length. A code that
    says which of d features and M moments it uses is log(d M) nats longer.

    References
    ----------
    .. [1] Pandey and Dukkipati, Minimum description length principle for maximum
       entropy model selection, ISIT 2013.

    Examples
    --------
    >>> from memdlib.nml import NMLMomentSelector
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> two = (y < 2) & (X.index % 2 == 0)
    >>> selector = NMLMomentSelector(n_moments=2, k=2).fit(X[two], y[two])
    >>> selector.get_feature_names_out().tolist()
    ['alcohol', 'proline']
    >>> selector.feature_codelengths_[selector.ranking_[:2]].round(3).tolist()
    [20.101, 23.182]
    >>> round(selector.null_codelength_, 3)
    47.24
    """

    def __init__(
        self,
        n_moments=7,
        k=None,
        n_levels=5,
        strategy="width",
        intercept=False,
        criterion="nml",
    ):
        self.n_moments = n_moments
        self.k = k
        self.n_levels = n_levels
        self.strategy = strategy
        self.intercept = intercept
        self.criterion = criterion

    def fit(self, X, y):
        """Quantise the features and find their code lengths.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite values.
        y : array-like of shape (n,)
            Labels of two classes.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there are not two classes, or a parameter is out of range.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = two_classes(y)
        check_choice(self.criterion, "criterion", CRITERIA)
        self._n_selected = count_features(self.k, X.shape[1], "k")
        self.moments_ = np.array(_moments(self.n_moments))
        self.quantiser_ = LevelQuantiser(self.n_levels, self.strategy).fit(X)
        found = gene_codelengths(
            self.quantiser_.transform(X) - 1,
            codes,
            self.moments_.tolist(),
            np.arange(1.0, self.n_levels + 1),
            self.intercept,
        )
        self.errors_, self.complexities_ = found.error, found.complexity
        self.codelengths_ = found.total
        cost = (self.codelengths_ if self.criterion == "nml" else self.errors_).round(
            _DIGITS
        )
        best = cost.argmin(axis=1)
        row = np.arange(len(best))
        self.best_moments_ = self.moments_[best]
        self.feature_codelengths_ = self.codelengths_[row, best]
        self.ranking_ = rank(-cost[row, best])
        self.null_codelength_ = multinomial_codelength(np.bincount(codes))
        return self

    def _get_support_mask(self):
        check_is_fitted(self)
        mask = np.zeros(self.ranking_.size, dtype=bool)
        mask[self.ranking_[: self._n_selected]] = True
        return mask

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def two_classes(y) -> tuple[NDArray, NDArray[np.intp]]:
    """The two classes and the code, 0 or 1, of each label.

    Parameters
    ----------
    y : ndarray of shape (n,)

    Returns
    -------
    classes : ndarray of shape (2,)
    codes : ndarray of shape (n,)

    Raises
    ------
    ValueError
        If the labels are not of exactly two classes.

    Examples
    --------
    >>> classes, codes = two_classes(np.array(["b", "a", "b"]))
    >>> classes.tolist(), codes.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({classes.tolist()[0]!r}); give two classes"
        )
    if len(classes) > 2:
        # the first sentence is the one that scikit-learn's checks look for
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"multiclass: y holds {len(classes)} classes; compare them two at a time"
        )
    return classes, codes


def _moments(asked) -> list[int]:
    if isinstance(asked, Integral):
        return list(range(1, positive_integer(asked, "n_moments") + 1))
    found = sorted({positive_integer(m, "n_moments") for m in asked})
    if not found:
        raise ValueError("n_moments is empty; give at least one number of moments")
    return found
