"""Maximum-entropy classifier that uses, for each feature, the moments chosen by NML."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from memdlib._sklearn import check_feature_names_in
from memdlib.estimator import BayesClassifier
from memdlib.generative.memd import size_grid
from memdlib.nml.boundary import on_boundary
from memdlib.nml.fits import max_log_likelihoods
from memdlib.nml.level_model import level_model, orthonormal_basis
from memdlib.nml.selector import CODE_CONSTRAINTS, NMLFeatureSelector
from memdlib.validation import (
    NONNEGATIVE,
    check_sample_weight,
    count_features,
    restore_on_error,
    validate_features,
    validate_labelled,
)


class NMLClassifier(BayesClassifier):
    """Two-class classifier that combines one conditional model per selected feature.

    Features are cut into levels, ranked by NML code length and fitted with the number
    of moments that minimises it. Assuming independence within the classes, their
    posteriors P(1 | x_j) combine to the log-odds

        logit pi + sum_j (logit P(1 | x_j) - logit pi),

    with pi the proportion of class 1: every posterior includes the prior, which must
    count only once.

    Parameters
    ----------
    n_features : int, float in (0, 1] or None, default=None
        How many of the ranked features to use: a number, a fraction of them, or all.
    n_moments, n_bins, strategy, intercept, criterion
        As for :class:`memdlib.nml.NMLFeatureSelector`, which ranks the features.
    alpha : float, default=1.0
        Weight, in instances, of the class proportions that are added to each level
        before the final fit. Without smoothing, a feature that separates the classes
        would have infinite log-odds. Code lengths are those of the data without
        smoothing.
    verbose : int, default=0
        Above zero, print how many of the complexities that rank the features are left.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    class_prior_ : ndarray of shape (2,)
        Proportions of the training rows.
    selector_ : NMLFeatureSelector
        The fitted selector, which holds the code lengths.
    order_ : ndarray of shape (d,)
        Feature indices, the shortest code first.
    best_n_moments_ : ndarray of shape (d,)
        Number of moments of each feature.
    log_odds_ : ndarray of shape (d, L)
        What each level of each feature adds to the log-odds of the second class. A
        level without training rows adds nothing.
    n_selected_ : int
        The number of features in use.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    Examples
    --------
    >>> from memdlib.nml import NMLClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> X, y = X[y < 2], y[y < 2]
    >>> model = NMLClassifier(n_features=5, n_moments=2).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 3)
    0.923
    """

    _parameter_constraints = CODE_CONSTRAINTS | {"alpha": [NONNEGATIVE]}

    def __init__(
        self,
        n_features=None,
        *,
        n_moments=7,
        n_bins=5,
        strategy="uniform",
        intercept=False,
        criterion="nml",
        alpha=1.0,
        verbose=0,
    ):
        self.n_features = n_features
        self.n_moments = n_moments
        self.n_bins = n_bins
        self.strategy = strategy
        self.intercept = intercept
        self.criterion = criterion
        self.alpha = alpha
        self.verbose = verbose

    @restore_on_error
    def fit(self, X, y):
        """Rank the features, choose their moments and fit their posteriors.

        Parameters
        ----------
        X, y
            As for :meth:`memdlib.nml.NMLFeatureSelector.fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If ``alpha`` is zero and a feature separates the classes.
        """
        X, codes, weight, self.classes_ = validate_labelled(self, X, y, None)
        self.n_selected_ = count_features(self.n_features, X.shape[1], "n_features")
        self.selector_ = NMLFeatureSelector(
            n_moments=self.n_moments,
            n_features=self.n_features,
            n_bins=self.n_bins,
            strategy=self.strategy,
            intercept=self.intercept,
            criterion=self.criterion,
            verbose=self.verbose,
        ).fit(X, self.classes_[codes])
        self.order_ = self.selector_.order_
        self.best_n_moments_ = self.selector_.best_n_moments_
        self.class_prior_ = np.bincount(codes) / len(codes)
        self.log_odds_ = _level_log_odds(
            self.selector_, self.class_prior_[1], self.alpha
        )
        self._warn_of_outcome(X, codes, weight)
        return self

    def ranking_table(self, n_features=None, input_features=None):
        """Tabulate the ranked features and the class that each one marks.

        Parameters
        ----------
        n_features, input_features
            As for :meth:`memdlib.nml.NMLFeatureSelector.ranking_table`.

        Returns
        -------
        pandas.DataFrame
            As there, with the columns "feature", "family", "nats" (the code length),
            "marks", "mean_<class>" and "count_<class>" for each class, and "missing".
        """
        check_is_fitted(self)
        names = check_feature_names_in(self, input_features)
        return self.selector_.ranking_table(n_features, names)

    def accuracy_curve(
        self,
        X,
        y,
        sample_weight=None,
        *,
        n_features_grid=None,
    ):
        """Accuracy with the top S features, for many S, in one pass over X.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Labels; one not seen during fit counts as an error.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative instance weights; None gives every row the weight 1.
        n_features_grid : None, "every" or array-like of int, default=None
            Values of S; None and "every" are 1, 2, ..., d.

        Returns
        -------
        n_features : ndarray of int, shape (G,)
            Values of S.
        accuracy : ndarray of shape (G,)
            Accuracy with the top S features, for each S.
        """
        check_is_fitted(self)
        X, y = validate_features(self, X, y, dtype=np.float64, reset=False)
        weight = check_sample_weight(sample_weight, X)
        if n_features_grid is None:
            n_features_grid = "every"
        grid = size_grid(n_features_grid, X.shape[1])
        evidence = self._evidence(X, self.order_[: grid[-1]])
        odds = self._prior_logit() + evidence.cumsum(axis=1)[:, grid - 1]
        guess = self.classes_[(odds > 0).astype(np.intp)]
        return grid, np.average(guess == y[:, None], axis=0, weights=weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _joint_log_density(self, X):
        used = self.order_[: self.n_selected_]
        odds = self._prior_logit() + self._evidence(X, used).sum(axis=1)
        return np.column_stack([np.zeros_like(odds), odds])

    def _prior_logit(self):
        return float(np.log(self.class_prior_[1] / self.class_prior_[0]))

    def _evidence(self, X, used):
        levels = self.selector_.quantiser_.transform(X)[:, used]
        return self.log_odds_[used, levels]


def _level_log_odds(selector, prior, alpha):
    """Posterior log-odds (d, L) of the levels of all features, less the prior's."""
    counts = selector.level_counts_
    ones = selector.level_ones_
    prior_logit = np.log(prior / (1.0 - prior))
    values = np.arange(1.0, counts.shape[1] + 1)
    log_odds = np.zeros(counts.shape)
    # features with the same occupied levels and number of moments have the same model
    kinds = np.column_stack([counts > 0, selector.best_n_moments_])
    distinct, kind_of_feature = np.unique(kinds, axis=0, return_inverse=True)
    for i, kind in enumerate(distinct):
        features = np.flatnonzero(kind_of_feature == i)
        model = level_model(kind[:-1], values, int(kind[-1]), selector.intercept)
        cells = np.ix_(features, model.order)
        smoothed_counts = counts[cells].T + alpha
        smoothed_ones = ones[cells].T + alpha * prior
        logits = _posterior_logits(model, smoothed_counts, smoothed_ones)
        log_odds[cells] = logits.T - prior_logit
    return log_odds


def _posterior_logits(model, counts, ones):
    """Logits (L, B) that maximise the likelihood; raise if they are infinite."""
    has_pure_level = ((ones <= 0) | (ones >= counts)).any(axis=0)
    if (has_pure_level & on_boundary(model, ones, counts)).any():
        raise ValueError(
            "alpha=0 gives a feature that separates the classes infinite "
            "log-odds; give a positive number"
        )
    basis = orthonormal_basis(model)
    _, coefficients, _ = max_log_likelihoods(model, basis, counts, ones)
    return basis @ coefficients
