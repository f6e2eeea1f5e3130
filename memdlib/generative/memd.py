"""MeMd: generative maximum-entropy classification with maximum discrimination.

Class marginals are maximum-entropy densities of a few moments, features are ranked by
the divergence between them, and the top S features enter the Bayes rule

    argmax_k  log pi_k + sum_{s <= S} log p*_k(x_(s)),

which is linear in the sufficient statistics phi(x).
"""

from numbers import Integral, Real

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from memdlib.families import get
from memdlib.generative.marginals import ClassMarginals, family_moments, fold_moments
from memdlib.generative.ranking import describe_input, rank
from memdlib.generative.scores import MarginalScores
from memdlib.moments.folds import content_positions
from memdlib.moments.sums import ClassMoments, translate, translate_natural
from memdlib.validation import (
    count_features,
    labelled_data,
    sum_duplicates,
)


class MeMdClassifier(ClassifierMixin, BaseEstimator):
    """Maximum-entropy Bayes classifier on the features that discriminate most.

    Parameters
    ----------
    divergence : {"js_gm", "jeffreys", "js"}, default="js_gm"
        Ranks the features. "js_gm" is MeMd-JS; "jeffreys" is MeMd-J, one-vs-rest for
        more than two classes. For two classes they are one algorithm. "js" is the
        Jensen-Shannon divergence itself, by quadrature.
    family : str or Family, default="normal"
        Maximum-entropy family of the class marginals, by name (see
        :func:`memdlib.families.names`): "normal" (two moments), "bernoulli" (presence
        of counts), "multinomial" (counts of a document as a whole), "poisson", ...; or
        a family with its own support, such as ``Polynomial(4, (0.0, 1.0))``.
    n_features : "auto", int, float in (0, 1] or None, default="auto"
        How many of the ranked features enter the Bayes rule: a number S, a share of
        them, all (None), or the smallest S of highest accuracy on training rows that
        the ranking did not see.
    validation : float in (0, 1) or int >= 2, default=0.2
        How "auto" sets rows aside: a share of them once (the paper's rule for text),
        or that many cross-validation folds (its rule for genes).
    shrinkage : float in [0, 1] or "auto", default=0.0
        "normal" only: replaces each class variance v_k by (1 - shrinkage) v_k +
        shrinkage v_within. At 0 the moments are left as they are, except that a
        variance of zero is replaced (see :meth:`memdlib.families.Normal.regularise`);
        "auto" estimates it (see :meth:`memdlib.families.Normal.choose_shrinkage`).
    smoothing : float >= 0, default=1.0
        All other families: weight, in instances, of the pooled mean added to each
        class, which keeps it off the boundary of the family.
    random_state : int, RandomState or None, default=None
        Draws the rows that "auto" sets aside.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    class_prior_ : ndarray of shape (K,)
        Shares of the instance weight.
    mean_params_ : ndarray of shape (K, d, m)
        Mean parameters E x^j of the class marginals, regularised.
    natural_params_ : ndarray of shape (K, d, m)
        Natural parameters, p(x) = exp(-lambda_0 - sum_j lambda_j x^j).
    feature_divergences_ : ndarray of shape (d,)
        Nats.
    ranking_ : ndarray of shape (d,)
        Feature indices, the most divergent first.
    n_selected_ : int
        S, the number of features in use.
    shrinkage_ : float
        The shrinkage in use.
    validation_curve_ : ndarray of shape (d,) or None
        Held-out accuracy with the top 1..d features; None unless n_features="auto",
        or with too few rows to hold any out (all features are then used).
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    See Also
    --------
    memdlib.DivergenceRanker : the ranking alone, in front of any classifier.

    References
    ----------
    .. [1] Dukkipati, Pandey, Ghoshdastidar, Koley, Sriram, Generative maximum entropy
       learning for multiclass classification, ICDM 2013, algorithms 1-3.

    Examples
    --------
    >>> from memdlib import MeMdClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = MeMdClassifier(n_features=5).fit(X[::2], y[::2])
    >>> clf.ranking_[:5].tolist()
    [6, 9, 11, 12, 10]
    >>> round(clf.score(X[1::2], y[1::2]), 3)
    0.955
    """

    def __init__(
        self,
        divergence="js_gm",
        family="normal",
        n_features="auto",
        validation=0.2,
        shrinkage=0.0,
        smoothing=1.0,
        random_state=None,
    ):
        self.divergence = divergence
        self.family = family
        self.n_features = n_features
        self.validation = validation
        self.shrinkage = shrinkage
        self.smoothing = smoothing
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Estimate the class marginals, rank the features and choose how many to use.

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
        family = get(self.family)
        X, codes, weight, self.classes_ = labelled_data(self, X, y, sample_weight)
        X = family.observe(X)
        self._moments = family_moments(family, X, codes, len(self.classes_), weight)
        self._estimate()
        if self._automatic():
            self._choose_n_features(X, codes, weight)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Add a batch; the result is that of one fit on all batches together.

        With ``n_features="auto"`` all features are used, because rows that have gone
        by cannot be held out: give ``n_features``, or look at :meth:`accuracy_curve`
        on rows of your own.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like of shape (K,), default=None
            All classes that will ever occur; required on the first call.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If ``classes`` is missing on the first call or changes later, or if a
            label is not among them.
        """
        family = get(self.family)
        first = not hasattr(self, "_moments")
        X, codes, weight, seen = labelled_data(
            self, X, y, sample_weight, reset=first, several=False
        )
        if first:
            if classes is None:
                raise ValueError(
                    "classes must be passed on the first call to partial_fit"
                )
            self.classes_ = np.unique(classes)
        elif classes is not None and not np.array_equal(
            self.classes_, np.unique(classes)
        ):
            raise ValueError(
                f"classes={list(classes)} differs from the first call's "
                f"{self.classes_.tolist()}"
            )
        unknown = np.setdiff1d(seen, self.classes_)
        if unknown.size:
            raise ValueError(
                f"label {unknown.tolist()[0]!r} is not among the classes of the first "
                f"call, {self.classes_.tolist()}"
            )
        codes = np.searchsorted(self.classes_, seen)[codes]
        moments = family_moments(
            family,
            family.observe(X),
            codes,
            len(self.classes_),
            weight,
        )
        self._moments = moments if first else self._moments.merge(moments)
        self._estimate()
        return self

    def predict(self, X):
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        return self.classes_[self._joint_log_density(X).argmax(axis=1)]

    def predict_log_proba(self, X):
        """Log posterior probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)

        Returns
        -------
        ndarray of shape (n, K)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        joint = self._joint_log_density(X)
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict_proba(self, X):
        """Posterior probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)

        Returns
        -------
        ndarray of shape (n, K)
            Columns in the order of ``classes_``.
        """
        return np.exp(self.predict_log_proba(X))

    def accuracy_curve(self, X, y, sample_weight=None):
        """Accuracy with the top S features, for every S, from one pass over X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)
            Labels; one that the fit has not seen counts as an error.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        n_features : ndarray of shape (d,)
            1, 2, ..., d.
        accuracy : ndarray of shape (d,)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> S, accuracy = MeMdClassifier(n_features=1).fit(X, y).accuracy_curve(X, y)
        >>> S.tolist(), accuracy.round(3).tolist()
        ([1, 2, 3, 4], [0.953, 0.96, 0.967, 0.96])
        """
        check_is_fitted(self)
        X, codes, weight, seen = labelled_data(
            self, X, y, sample_weight, reset=False, several=False
        )
        known = np.isin(seen, self.classes_)
        position = np.where(known, np.searchsorted(self.classes_, seen), -1)
        correct = self._scores.correct_weight(
            get(self.family).observe(X),
            position[codes],
            weight,
            self.ranking_,
            grid := np.arange(1, X.shape[1] + 1),
        )
        return grid, correct / weight.sum()

    @property
    def mean_params_(self):
        """Mean parameters of the class marginals, shape (K, d, m)."""
        location = self._moments.location
        return translate(self._marginals.mean_params, np.ones(1), location)

    @property
    def natural_params_(self):
        """Natural parameters of the class marginals, shape (K, d, m)."""
        location = self._moments.location
        return translate_natural(self._marginals.natural_params, location)

    def __sklearn_tags__(self):
        tags = describe_input(super().__sklearn_tags__(), self.family)
        # continuous test data mean little to a family of counts
        tags.classifier_tags.poor_score = get(self.family).nonnegative
        return tags

    def _joint_log_density(self, X):
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        X = get(self.family).observe(sum_duplicates(X))
        return self._scores.total(X, self.ranking_[: self.n_selected_])

    def _automatic(self) -> bool:
        return isinstance(self.n_features, str) and self.n_features == "auto"

    def _estimate(self):
        """Everything that follows from the moments."""
        marginals = self._marginals = self._fit_marginals(self._moments)
        self.feature_divergences_ = marginals.divergences(self.divergence)
        self.ranking_ = rank(self.feature_divergences_)
        self._scores = MarginalScores.of(marginals)
        self.shrinkage_ = marginals.shrinkage
        self.class_prior_ = self._moments.prior
        self.validation_curve_ = None
        n_features = None if self._automatic() else self.n_features
        self.n_selected_ = count_features(n_features, len(self.ranking_), "n_features")

    def _fit_marginals(self, moments: ClassMoments) -> ClassMarginals:
        family = get(self.family)
        return ClassMarginals(moments, family, self.shrinkage, self.smoothing)

    def _choose_n_features(self, X, codes, weight):
        """Set n_selected_ to the smallest S of highest held-out accuracy."""
        family = get(self.family)
        position = content_positions(
            X, codes, weight, check_random_state(self.random_state)
        )
        fold, held_out = self._folds(position)
        n_folds, training = int(fold.max()) + 1, []
        if n_folds > 1:
            _, training = fold_moments(
                family, X, codes, len(self.classes_), weight, fold, n_folds
            )
        grid = np.arange(1, X.shape[1] + 1)
        correct, tested = np.zeros(len(grid)), 0.0
        for out, moments in zip(held_out, training, strict=False):
            test = fold == out
            if not test.any() or not moments.weight.any():
                continue
            marginals = self._fit_marginals(moments)
            ranking = rank(marginals.divergences(self.divergence))
            data = X[test], codes[test], weight[test]
            correct += MarginalScores.of(marginals).correct_weight(*data, ranking, grid)
            tested += weight[test].sum()
        if tested:
            curve = self.validation_curve_ = correct / tested
            # fractional weights add up to equal accuracies only within rounding
            self.n_selected_ = int(grid[np.argmax(curve >= curve.max() - 1e-12)])

    def _folds(self, position):
        """Fold of each row, and which folds are held out in turn."""
        asked = self.validation
        if isinstance(asked, Integral) and not isinstance(asked, bool) and asked >= 2:
            return (position * asked).astype(int), range(int(asked))
        if isinstance(asked, Real) and 0 < asked < 1:
            return (position >= asked).astype(int), range(1)
        raise ValueError(
            f"validation={asked!r} must be a share in (0, 1) or a number of folds >= 2"
        )
