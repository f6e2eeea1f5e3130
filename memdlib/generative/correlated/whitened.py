"""MeMd with correlations: a classifier on the whitened class means that differ most.

With M_k the mean of class k in the coordinates z of
:mod:`memdlib.generative.correlated.pooled`, Bayes' rule on the coordinates S of largest
J_j is linear in x:

    argmax_k  log pi_k + sum_{j in S} (z_j M_kj - M_kj^2 / 2).
"""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from memdlib.estimator import finite_scores, fitted
from memdlib.generative.calibration import fit_calibration
from memdlib.generative.correlated.classifier import PooledClassifier
from memdlib.generative.correlated.pooled import PooledMoments, WhitenedMeans
from memdlib.generative.memd import size_grid, smallest_best
from memdlib.generative.ranking import rank
from memdlib.generative.scores import LinearScores
from memdlib.holdout import content_positions, folds
from memdlib.validation import (
    COUNT,
    SHARE,
    UNIT,
    Number,
    Words,
    check_priors,
    count_features,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WhitenedModel:
    """What prediction needs: a linear score of each class."""

    classes: NDArray
    class_prior: Array
    scores: LinearScores
    whitened_means: Array
    feature_divergences: Array
    order: NDArray[np.intp]
    n_selected: int
    shrinkage: float
    variance_shrinkage: float
    validation_n_features: NDArray[np.intp] | None = None
    validation_curve: Array | None = None

    @classmethod
    def of(
        cls, classes: NDArray[Any], found: WhitenedMeans, n_selected: int
    ) -> "WhitenedModel":
        divergences = found.divergences
        order = rank(divergences)
        kept = np.zeros(len(order))
        kept[order[:n_selected]] = 1.0
        return cls(
            classes,
            found.prior,
            found.linear(kept),
            found.means,
            divergences,
            order,
            n_selected,
            found.root.shrinkage,
            found.variance_shrinkage,
        )

    @property
    def coef(self) -> Array:
        """Slopes by x, (1, d) for two classes, else (K, d)."""
        return _of_second(self.scores.slopes[0])

    @property
    def intercept(self) -> Array:
        """Scores at x = 0, (1,) for two classes, else (K,)."""
        scores = self.scores
        return _of_second(scores.offsets[0] - scores.slopes[0] @ scores.points[0])

    @np.errstate(over="ignore", invalid="ignore")
    def joint_log_density(self, X: Array) -> Array:
        """Log p(x, k) up to what is common to all classes, (n, K), of X (n, d)."""
        return finite_scores(self.scores(X), X)


def _of_second(scores: Array) -> Array:
    """Of two classes the second less the first."""
    return scores[1:] - scores[:1] if len(scores) == 2 else scores


class CorrelatedMeMdClassifier(PooledClassifier):
    """Maximum-entropy Bayes classifier that knows of correlations between features.

    Constraints are the class means and the second moments about them, pooled over the
    classes. It is linear discriminant analysis with shrunken correlations, on the
    whitened coordinates that discriminate most; with thousands of features it costs
    O(n^2 d).

    Parameters
    ----------
    n_features : "auto", int, float in (0, 1] or None, default=None
        How many whitened coordinates enter Bayes' rule: a number S, a share of them,
        all (None), or the smallest S that is best on training rows held out ("auto").
    shrinkage : float in [0, 1] or "auto", default="auto"
        R is shrinkage I + (1 - shrinkage) R-hat. "auto" is the intensity of least mean
        squared error [1]_ and always gives a proper density.
    variance_shrinkage : float in [0, 1] or "auto", default=0.0
        Variances v become (1 - variance_shrinkage) v + variance_shrinkage median(v).
        Leave it at zero unless all features are in the same units.
    criterion : {"accuracy", "log_loss"}, default="accuracy"
        What "auto" means by best; "log_loss" is that of calibrated posteriors;
        see :func:`memdlib.generative.fit_calibration`.
    validation : float in (0, 1) or int >= 2, default=5
        How "auto" holds rows out: a share of them once, or in so many folds.
    n_features_grid : None, "every" or array-like of int, default=None
        Which S "auto" tries, as in :class:`memdlib.MeMdClassifier`.
    priors : array-like of shape (K,), default=None
        Class probabilities, in the order of ``classes_``; None takes the shares of the
        instance weight.
    class_weight : None, "balanced" or dict, default=None
        Multiplies the weights of the instances of each class.
    random_state : int, RandomState or None, default=None
        Draws the rows that "auto" holds out.

    Attributes
    ----------
    classes_, class_prior_ : ndarray of shape (K,)
    whitened_means_ : ndarray of shape (K, d)
        M, of average zero.
    feature_divergences_ : ndarray of shape (d,)
        J_j of each coordinate, in nats; they add up to JS_GM of the classes.
    order_ : ndarray of shape (d,)
        Coordinates, the most divergent first.
    n_selected_ : int
        S, the number of coordinates in use.
    shrinkage_, variance_shrinkage_ : float
        In use.
    validation_n_features_, validation_curve_ : ndarray of shape (G,) or None
        Numbers S tried by "auto", and the held-out accuracy, or log-loss, of each.
    coef_ : ndarray of shape (1, d) for two classes, else (K, d)
        Nats by one unit of each column of X, towards the second of two classes, or
        towards each class.
    intercept_ : ndarray of shape (1,) for two classes, else (K,)
        ``X @ coef_.T + intercept_`` is ``decision_function``, with more than two
        classes up to what all classes of a row have in common. For data far from zero
        beside their spread it keeps fewer digits.
    n_features_in_ : int

    Notes
    -----
    **What is selected** is a coordinate after whitening, not a column of X. Among all
    ways to make features uncorrelated, R^(-1/2) leaves each coordinate nearest to the
    feature it comes from (the sum of their correlations is largest [2]_), so that the
    name of feature j may stand for coordinate j in a ranking: J_j says what feature j
    contributes beyond what its neighbours say, and for two classes it is the square of
    the correlation-adjusted t-score [3]_ but for a factor. But z_j is a
    combination of all features: leaving coordinates out steadies the rule and saves no
    measurements. To measure fewer features, put :class:`memdlib.DivergenceRanker` in
    front.

    References
    ----------
    .. [1] Schaefer & Strimmer, A shrinkage approach to large-scale covariance matrix
       estimation, Statistical Applications in Genetics and Molecular Biology 4 (2005).
    .. [2] Kessy, Lewin & Strimmer, Optimal whitening and decorrelation, The American
       Statistician 72 (2018).
    .. [3] Zuber & Strimmer, Gene ranking and biomarker discovery under correlation,
       Bioinformatics 25 (2009).

    Examples
    --------
    >>> from memdlib.generative import CorrelatedMeMdClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = CorrelatedMeMdClassifier().fit(X[::2], y[::2])
    >>> round(clf.score(X[1::2], y[1::2]), 3), round(clf.shrinkage_, 3)
    (0.966, 0.255)
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_features": [Words("auto"), COUNT, SHARE, None],
        "shrinkage": [Words("auto"), UNIT],
        "variance_shrinkage": [Words("auto"), UNIT],
        "criterion": [Words("accuracy", "log_loss")],
        "validation": [Number(Real, 0, 1, "neither"), Number(Integral, 2, None)],
        "n_features_grid": [None, Words("every"), "array-like"],
        "priors": [None, "array-like"],
        "class_weight": [None, Words("balanced"), dict],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features: float | int | str | None = None,
        shrinkage: float | str = "auto",
        variance_shrinkage: float | str = 0.0,
        *,
        criterion: str = "accuracy",
        validation: float | int = 5,
        n_features_grid: ArrayLike | str | None = None,
        priors: ArrayLike | None = None,
        class_weight: dict[Any, Any] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_features = n_features
        self.shrinkage = shrinkage
        self.variance_shrinkage = variance_shrinkage
        self.criterion = criterion
        self.validation = validation
        self.n_features_grid = n_features_grid
        self.priors = priors
        self.class_weight = class_weight
        self.random_state = random_state

    whitened_means_: Array = fitted("whitened_means")
    feature_divergences_: Array = fitted("feature_divergences")
    order_: NDArray[np.intp] = fitted("order")
    n_selected_: int = fitted("n_selected")
    validation_n_features_: NDArray[np.intp] | None = fitted("validation_n_features")
    validation_curve_: Array | None = fitted("validation_curve")
    coef_: Array = fitted("coef")
    intercept_: Array = fitted("intercept")

    @property
    def moments_suffice(self) -> bool:
        """Whether no class is weighted, and nothing chosen on rows held out."""
        return super().moments_suffice and self.n_features != "auto"

    def _of_rows(self, X, codes, weight, classes) -> WhitenedModel:
        if self.n_features != "auto":
            return super()._of_rows(X, codes, weight, classes)
        found = self._whitened(X, codes, weight, len(classes))
        grid = size_grid(self.n_features_grid, X.shape[1])
        curve = self._held_out(X, codes, weight, len(classes), grid)
        if curve is None:
            return WhitenedModel.of(classes, found, X.shape[1])
        gain = curve if self.criterion == "accuracy" else -curve
        model = WhitenedModel.of(classes, found, smallest_best(grid, gain))
        return replace(model, validation_n_features=grid, validation_curve=curve)

    def _estimate(self, moments, classes) -> WhitenedModel:
        n_features = moments.means.shape[1]
        size = count_features(self.n_features, n_features, "n_features")
        return WhitenedModel.of(classes, self._of_moments(moments), size)

    def _of_moments(self, moments: PooledMoments) -> WhitenedMeans:
        prior = check_priors(self.priors, len(moments.weight))
        return WhitenedMeans.of(moments, prior, self.shrinkage, self.variance_shrinkage)

    def _whitened(self, X, codes, weight, n_classes) -> WhitenedMeans:
        return self._of_moments(self.collect_moments(X, codes, n_classes, weight))

    def _held_out(self, X, codes, weight, n_classes, grid) -> Array | None:
        """Accuracy or log-loss on held-out rows with each number of coordinates."""
        at = content_positions(X, codes, weight, check_random_state(self.random_state))
        fold, n_folds = folds(at, self.validation)
        scores, tested = [], []
        for f in range(n_folds):
            test = fold == f
            if test.any() and not test.all():
                part = [values[~test] for values in (X, codes, weight)]
                found = self._whitened(*part, n_classes)
                order = rank(found.divergences)
                scores.append(found.scores(X[test], order, grid))
                tested.append(np.flatnonzero(test))
        if not tested:
            return None
        scores, tested = np.concatenate(scores, axis=1), np.concatenate(tested)
        codes, weight = codes[tested], weight[tested]
        if self.criterion == "accuracy":
            return (scores.argmax(axis=2) == codes) @ weight / weight.sum()
        # a class that a fold did not train is the same loss for every number
        known = np.isfinite(scores[0, np.arange(len(codes)), codes])
        if not known.any():
            return None
        scores, codes, weight = scores[:, known], codes[known], weight[known]
        found = [fit_calibration([s], codes, weight).log_loss for s in scores]
        return np.array(found)
