"""How expression values can be prepared without a leak.

Each sample by itself, as a choice of the classifier or for all, or by a filter of genes
that is learnt from training rows.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from memdlib.generative import normal_scores

PREPARATIONS = ("raw", "log", "standardised", "log, standardised")


def prepare(X: NDArray, how: str, floor: float | None = None) -> NDArray[np.float64]:
    """Prepare expression values, row by row.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Intensities, average differences or ratios.
    how : {"raw", "log", "standardised", "log, standardised"}
        Leave the values; take logarithms; give each sample mean zero and variance one
        over its genes; both, in this order.
    floor : float, default=None
        Values below it are raised to it before the logarithm.

    Returns
    -------
    ndarray of shape (n, d)

    Raises
    ------
    ValueError
        If the preparation has another name, or a logarithm meets a value that is not
        positive.

    Examples
    --------
    >>> import numpy as np
    >>> from compendium.study.preparations import prepare
    >>> prepare(np.array([[-5.0, 100.0]]), "log", floor=1.0).round(2).tolist()
    [[0.0, 4.61]]
    >>> prepare(np.array([[1.0, 3.0]]), "standardised").tolist()
    [[-1.0, 1.0]]
    """
    if how not in PREPARATIONS:
        raise ValueError(f"how={how!r} must be one of {', '.join(PREPARATIONS)}")
    X = np.asarray(X, np.float64)
    if how.startswith("log"):
        X = X if floor is None else np.maximum(X, floor)
        if X.min() <= 0:
            raise ValueError(
                f"the logarithm needs positive values, found {X.min():g}; give a floor"
            )
        X = np.log(X)
    if how.endswith("standardised"):
        scale = X.std(axis=1, keepdims=True)
        X = (X - X.mean(axis=1, keepdims=True)) / scale
    return X


class ExpressionFilter(SelectorMixin, BaseEstimator):
    """Clip expression values, keep the genes that vary, and take logarithms.

    Parameters
    ----------
    floor, ceiling : float, default=100.0, 16000.0
        Values beyond are replaced by these.
    fold : float, default=5.0
        Genes whose largest training value is at most so many times the smallest are
        dropped.
    spread : float, default=500.0
        So are genes whose largest training value exceeds the smallest by no more.

    Attributes
    ----------
    least_, most_ : ndarray of shape (d,)
        Range of each gene over the training rows, after clipping.
    n_features_in_ : int

    Notes
    -----
    The logarithm is to base 10. Clipping and logarithm treat each value by itself;
    which genes are kept is learnt, so that samples put aside have no part in it.

    References
    ----------
    .. [1] Dudoit, Fridlyand, Speed, Comparison of discrimination methods for the
       classification of tumors using gene expression data, Journal of the American
       Statistical Association 97 (2002), section 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from compendium.study.preparations import ExpressionFilter
    >>> X = np.array([[-40.0, 900.0, 100.0], [1000.0, 1000.0, 20000.0]])
    >>> ExpressionFilter().fit_transform(X).round(3).tolist()
    [[2.0, 2.0], [3.0, 4.204]]
    """

    def __init__(self, floor=100.0, ceiling=16000.0, fold=5.0, spread=500.0):
        self.floor = floor
        self.ceiling = ceiling
        self.fold = fold
        self.spread = spread

    def fit(self, X, y=None):
        """Learn which genes vary.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Average differences, or other intensities.
        y : None
            Not used.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the floor is not positive or not below the ceiling.
        """
        if not 0 < self.floor < self.ceiling:
            raise ValueError(
                f"floor={self.floor!r} and ceiling={self.ceiling!r}: the floor must be "
                "positive, or there is no logarithm, and below the ceiling"
            )
        X = validate_data(self, X, dtype=np.float64)
        clipped = np.clip(X, self.floor, self.ceiling)
        self.least_, self.most_ = clipped.min(axis=0), clipped.max(axis=0)
        return self

    def transform(self, X):
        """Logarithms of the clipped values of the genes that are kept.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, number kept)
        """
        return np.log10(np.clip(super().transform(X), self.floor, self.ceiling))

    def _get_support_mask(self):
        check_is_fitted(self)
        folds = self.most_ > self.fold * self.least_
        return folds & (self.most_ - self.least_ > self.spread)


class PreparedClassifier(ClassifierMixin, BaseEstimator):
    """A classifier on normal scores of each sample, or on the values as they are.

    The classifier is fitted to both, and what it found out about itself on rows held
    out inside its own fit decides; with a tie the scores stay.

    Parameters
    ----------
    model : classifier or Pipeline
        Its last step has, fitted, a ``best_score_`` or an ``oob_score_``.

    Attributes
    ----------
    preparation_ : {"normal scores", "values"}
    model_ : classifier
        Fitted to all rows so prepared.
    classes_ : ndarray of shape (K,)

    Notes
    -----
    ``make_memd("expression")`` has the same two preparations among its choices.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from memdlib.datasets import simulate_gaussian_classes
    >>> genes = simulate_gaussian_classes(
    ...     n_samples=60, n_features=40, n_informative=10, separation=2.0
    ... )
    >>> shifted = genes.X + 50.0 * np.arange(60)[:, None]  # each at its own level
    >>> model = PreparedClassifier(GridSearchCV(GaussianNB(), {}, cv=5))
    >>> model.fit(shifted, genes.y).preparation_
    'normal scores'
    """

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        """Fit the classifier to both, and keep the better."""
        fitted = {
            how: clone(self.model).fit(prepared(X), y)
            for how, prepared in _BY_SAMPLE.items()
        }
        self.preparation_ = max(fitted, key=lambda how: _own_score(fitted[how]))
        self.model_ = fitted[self.preparation_]
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        """Predict the class of each row."""
        return self.model_.predict(_BY_SAMPLE[self.preparation_](X))

    def predict_proba(self, X):
        """Posterior probabilities, (n, K)."""
        return self.model_.predict_proba(_BY_SAMPLE[self.preparation_](X))


_BY_SAMPLE = {"normal scores": normal_scores, "values": np.asarray}


def _own_score(model) -> float:
    last = model[-1] if isinstance(model, Pipeline) else model
    return last.oob_score_ if hasattr(last, "oob_score_") else last.best_score_
