"""Features chosen one after another by how well the class is predicted with them.

The entropy of the class less the expected log-loss of *any* posterior is at most the
information that the features hold about the class together. So what a feature adds for
a model can be measured on rows that the model has not seen, without the assumption that
the model is right: a copy of a chosen feature, which only makes the posteriors surer,
adds nothing.
"""

from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from memdlib.families import get
from memdlib.generative.marginals import ClassMarginals, fold_moments
from memdlib.generative.ranking import (
    MARGINAL_CONSTRAINTS,
    SIZE_CONSTRAINTS,
    RankedSelector,
    describe_input,
    rank,
)
from memdlib.moments.folds import content_positions
from memdlib.state import all_or_nothing
from memdlib.validation import (
    COUNT,
    Number,
    check_parameters,
    count_features,
    labelled_data,
)

Array = NDArray[np.float64]

# Entries of (rows, features, classes) arrays handled at a time.
_BLOCK = 2**21

# Nats: farther apart two classes need not be told in one feature.
_FAR = 1e9


class GreedyHeldOutRanker(RankedSelector):
    """Greedy ranker: the features that leave least log-loss on rows held out.

    Each step adds the feature with which the Bayes rule of the class marginals, as in
    :class:`memdlib.MeMdClassifier`, has the least log-loss on training rows that the
    marginals have not seen. A step costs O(n C K) for C candidates.

    Parameters
    ----------
    n_features : int, float in (0, 1] or None, default=0.1
        How many features to choose: a number, a share of them, or all; never more than
        there are candidates.
    n_candidates : int or None, default=200
        How many features of largest marginal divergence to choose among; None is all.
    divergence : {"js", "js_gm", "jeffreys"}, default="js"
        That divergence, as in :class:`memdlib.DivergenceRanker`.
    family : str or Family, default="normal"
        Maximum-entropy family of the marginals.
    shrinkage : float in [0, 1] or "auto", default=0.0
    smoothing : float, default=1.0
        Of the marginals, as in :class:`memdlib.DivergenceRanker`.
    n_folds : int, default=5
        Rows of a fold are scored by the marginals of the others.
    random_state : int, RandomState or None, default=None
        Draws the folds; copies of a row stay in one.

    Attributes
    ----------
    order_ : ndarray of shape (S,)
        Feature indices in the order of choice.
    ranking_ : ndarray of shape (d,)
        Rank of each feature, 1 the first chosen; those not chosen share the last.
    n_selected_ : int
        S, the number of features chosen.
    log_losses_ : ndarray of shape (S,)
        Mean held-out log-loss after each choice, in nats. Where it stops falling the
        model gains nothing more; as a minimum over candidates it flatters a little.
    feature_divergences_ : ndarray of shape (d,)
        Nats.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    See Also
    --------
    GreedyInformationRanker : pays for redundancy in pairs, and needs no rows held out.

    References
    ----------
    .. [1] Langley & Sage, Induction of selective Bayesian classifiers, UAI 1994: greedy
       choice of features for naive Bayes, there by accuracy.

    Examples
    --------
    >>> from memdlib.generative import GreedyHeldOutRanker
    >>> from sklearn.datasets import load_wine
    >>> ranker = GreedyHeldOutRanker(n_features=4, random_state=0)
    >>> ranker.fit(*load_wine(return_X_y=True)).order_.tolist()
    [6, 0, 10, 12]
    """

    _parameter_constraints = (
        MARGINAL_CONSTRAINTS
        | SIZE_CONSTRAINTS
        | {
            "n_candidates": [COUNT, None],
            "n_folds": [Number(Integral, 2, None)],
            "random_state": ["random_state"],
        }
    )

    def __init__(
        self,
        n_features=0.1,
        n_candidates=200,
        divergence="js",
        family="normal",
        shrinkage=0.0,
        smoothing=1.0,
        n_folds=5,
        random_state=None,
    ):
        self.n_features = n_features
        self.n_candidates = n_candidates
        self.divergence = divergence
        self.family = family
        self.shrinkage = shrinkage
        self.smoothing = smoothing
        self.n_folds = n_folds
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X, y, sample_weight=None):
        """Choose the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Finite values inside the support of the family.
        y : array-like of shape (n,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative instance weights; weight 2 means the row twice.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            On a single class, values outside the support, or a parameter out of range.
        """
        check_parameters(self)
        family = get(self.family)
        X, codes, weight, self.classes_ = labelled_data(self, X, y, sample_weight)
        size = count_features(self.n_features, X.shape[1], "n_features")
        X = family.observe(X)
        at = content_positions(X, codes, weight, check_random_state(self.random_state))
        fold = (at * self.n_folds).astype(np.intp)
        moments, training = fold_moments(
            family, X, codes, len(self.classes_), weight, fold, self.n_folds
        )
        whole = ClassMarginals(moments, family, self.shrinkage, self.smoothing)
        self.feature_divergences_ = whole.divergences(self.divergence)
        best = rank(self.feature_divergences_)[: self.n_candidates]
        X = X[:, best].toarray() if sparse.issparse(X) else X[:, best]
        margins = np.zeros((*X.shape, len(self.classes_)))
        for f, part in enumerate(training):
            rows = fold == f
            if rows.any() and part.weight.any():
                model = ClassMarginals(part, family, self.shrinkage, self.smoothing)
                margins[rows] = _log_odds(model, X[rows], best, codes[rows])
        prior = np.log(moments.prior)
        order, self.log_losses_ = greedy_log_loss(
            margins,
            prior - prior[codes][:, None],
            weight / weight.sum(),
            min(size, len(best)),
        )
        self.order_ = best[order]
        self.n_selected_ = len(order)
        return self

    def __sklearn_tags__(self):
        return describe_input(super().__sklearn_tags__(), self.family)


def greedy_log_loss(
    log_odds: Array, prior_odds: Array, weight: Array, size: int
) -> tuple[NDArray[np.intp], Array]:
    """Greedy choice of the columns whose sum has the least log-loss.

    Parameters
    ----------
    log_odds : ndarray of shape (n, C, K)
        Log density of each class less that of the row's own class, for C features.
    prior_odds : ndarray of shape (n, K)
        Log prior of each class less that of the row's own class.
    weight : ndarray of shape (n,)
        Of sum one.
    size : int
        How many to choose.

    Returns
    -------
    order : ndarray of int of shape (size,)
        Columns; of equal ones the first.
    loss : ndarray of shape (size,)
        Log-loss after each choice, in nats.

    Examples
    --------
    >>> import numpy as np
    >>> odds = np.zeros((2, 2, 2))
    >>> odds[:, 1, 1] = -np.log(3)
    >>> order, loss = greedy_log_loss(odds, np.zeros((2, 2)), np.full(2, 0.5), 2)
    >>> order.tolist(), loss.round(3).tolist()
    ([1, 0], [0.288, 0.288])
    """
    n, _, n_classes = log_odds.shape
    total, free = prior_odds.copy(), np.arange(log_odds.shape[1])
    step = max(1, _BLOCK // (n * n_classes))
    order, losses = [], []
    for _ in range(size):
        loss = np.concatenate(
            [
                weight @ _losses(total, log_odds[:, free[start : start + step]])
                for start in range(0, len(free), step)
            ]
        )
        best = int(loss.argmin())
        order.append(free[best])
        losses.append(loss[best])
        total += log_odds[:, free[best]]
        free = np.delete(free, best)
    return np.array(order), np.array(losses)


def _losses(total: Array, log_odds: Array) -> Array:
    """Log-loss (n, C) of each row with each feature; one class has the odds zero."""
    odds = total[:, None] + log_odds
    largest = odds.max(axis=-1)
    odds -= largest[..., None]
    return largest + np.log(np.exp(odds, out=odds).sum(axis=-1))


@np.errstate(over="ignore", invalid="ignore")
def _log_odds(marginals: ClassMarginals, X, features, codes) -> Array:
    """Log densities (n, C, K) of features, less those of the class of each row."""
    lam = marginals.natural_params[:, features]
    location = marginals.moments.location[:, features]
    log_density = np.stack(
        [
            marginals.family.log_density(X - at, member)
            for at, member in zip(location, lam, strict=True)
        ],
        axis=-1,
    )
    own = np.take_along_axis(log_density, codes[:, None, None], axis=-1)
    # a value that overflows in the class of its row and in others says nothing
    odds = np.nan_to_num(log_density - own, nan=0.0, posinf=_FAR, neginf=-_FAR)
    return np.clip(odds, -_FAR, _FAR)
