"""The discriminant of pooled second moments, for data too wide for their covariance.

Of all class densities with given class means and one second-moment matrix for all
classes, those of maximum entropy are normal with a common covariance, and Bayes' rule
is linear. Where features outnumber rows the matrix is singular, and a penalty lambda
relaxes the constraints: with S the covariance of all rows, Delta the class means less
that of all, and P the class shares,

    W = (S + (lambda / n) I)^-1 Delta' P,

which are the coefficients of ridge regression on the indicators of the classes,

    min_W  sum_i w_i |y_i - p - W'(x_i - m)|^2 + lambda |W|^2.

For two classes this is the direction of the regularised linear discriminant; for more
the two differ by a small matrix that mixes the classes. S is never formed: the
solutions for all penalties and classes come from one Krylov space
(:mod:`memdlib.generative.correlated.krylov`), by products with the rows as they are,
sparse or dense.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state

from memdlib._types import MatrixLike
from memdlib.estimator import (
    BayesClassifier,
    all_or_nothing,
    finite_scores,
    fitted,
)
from memdlib.families import Family, get
from memdlib.families.base import MarginalFamily
from memdlib.generative.calibration import fit_calibration
from memdlib.generative.correlated.krylov import IndicatorRegression
from memdlib.generative.marginals import (
    DIVERGENCES,
    ClassMarginals,
    fold_moments,
)
from memdlib.generative.scores import MarginalScores, about_best
from memdlib.generative.weighting import divergence_weights, weighted_rows
from memdlib.holdout import MOST_HELD_OUT, content_positions, folds
from memdlib.moments import ClassMoments
from memdlib.validation import (
    COUNT,
    NONNEGATIVE,
    POSITIVE,
    Number,
    Words,
    check_parameters,
    labelled_data,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RidgeModel:
    """What a fit leaves behind.

    Parameters
    ----------
    classes : ndarray of shape (K,)
    class_prior : ndarray of shape (K,)
    feature_weights : ndarray of shape (d,) or None
    coef : ndarray of shape (K, d)
    intercept : ndarray of shape (K,)
    marginals : ClassMarginals or None
        Of the rows as they are.
    known : ndarray of bool, shape (d,), or None
        Words that a training document holds; None where rows are no documents.
    multipliers : ndarray of shape (1,) or (2,)
    uniform_share : float
    penalty, power, residual : float
    n_iter : int
    validation_log_loss : ndarray of shape (n_powers, n_penalties)
    """

    classes: NDArray
    class_prior: Array
    feature_weights: Array | None
    coef: Array
    intercept: Array
    marginals: ClassMarginals | None
    known: NDArray[np.bool_] | None
    multipliers: Array
    uniform_share: float
    penalty: float
    power: float
    residual: float
    n_iter: int
    validation_log_loss: Array

    @property
    def temperature(self) -> float:
        """What the discriminant's scores are divided by; inf if they say nothing."""
        with np.errstate(divide="ignore"):
            return float(1.0 / self.multipliers[0])

    def joint_log_density(self, X: MatrixLike) -> Array:
        """Scores times their multipliers, added, (n, K); empty documents: the prior."""
        rows = with_feature_weights(X, self.feature_weights)
        place = np.arange(len(self.classes)) + 1
        with np.errstate(over="ignore", invalid="ignore"):
            score = about_best(self._about, rows, place * (self.multipliers[0] > _SURE))
        if self.marginals is not None and self.multipliers[1]:
            score = score + self.multipliers[1] * marginal_scores(self.marginals, X)
        score = finite_scores(score, X)
        if self.known is not None:
            score[~holds_any(X, self.known)] = np.log(self.class_prior)
        return score

    def _about(self, rows, p) -> Array:
        """Scores of the discriminant, or what they exceed those of class p - 1 by."""
        coef, intercept = self.coef, self.intercept
        if p:
            coef, intercept = coef - coef[p - 1], intercept - intercept[p - 1]
        return (rows @ coef.T + intercept) * self.multipliers[0]


def with_feature_weights(X: MatrixLike, weights: Array | None) -> MatrixLike:
    """Rows of weighted features, each as long as before; None leaves them as they are.

    Parameters
    ----------
    X : {ndarray, csr} of shape (n, d)
    weights : ndarray of shape (d,) or None

    Returns
    -------
    {ndarray, csr} of shape (n, d)
    """
    return X if weights is None else weighted_rows(X, weights)


def holds_any(X: MatrixLike, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each document holds a known word.

    Parameters
    ----------
    X : {ndarray, csr} of shape (n, d)
        Counts.
    known : ndarray of bool, shape (d,)

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    return (X != 0) @ known.astype(np.intp) > 0


def marginal_scores(marginals: ClassMarginals, X: MatrixLike) -> Array:
    """Log posteriors of all classes, up to a constant a row, of independent features.

    Parameters
    ----------
    marginals : ClassMarginals
        Of d features.
    X : {ndarray, csr} of shape (n, d)

    Returns
    -------
    ndarray of shape (n, K)
        One instance of unknown class keeps the prior of a class above zero that the
        rows of a fold do not hold.
    """
    X = marginals.family.observe(X)
    return with_one_more_row(marginals).total(X)


def with_one_more_row(marginals: ClassMarginals) -> MarginalScores:
    """Scores whose prior counts one instance of unknown class.

    Parameters
    ----------
    marginals : ClassMarginals

    Returns
    -------
    MarginalScores
    """
    moments = marginals.moments
    log_prior = np.log(moments.weight + 1.0 / len(moments.weight))
    scores = MarginalScores.of(marginals, np.arange(moments.sums.shape[1]))
    return replace(scores, log_prior=log_prior)


# Residual of the smallest penalty in the folds, which only serve the choice: that of
# larger penalties, which are chosen as a rule, is smaller by far.
FOLD_TOL = 0.1

# Multiplier that takes scores of order one so far apart that digits of nats are lost.
_SURE = 1e3

# Nats by which the first class of the median row is expected to lead. A discriminant
# of few rows, its penalty chosen on the same, is less sure than other models.
_LEAD = 1.0


@dataclass(frozen=True)
class Evidence:
    """What a fit takes from the rows.

    Parameters
    ----------
    classes, class_prior, known
        As in :class:`RidgeModel`.
    presence, marginals : dict of ClassMarginals
        Of presence and of the family, of all rows (None) and of those outside each
        fold; empty where there is no need of them.
    X, codes, weight, fold : {ndarray, csr} of shape (m, d), ndarray of shape (m,)
        Rows held out, and in which fold.
    regressions : callable
        Gets feature weights by place of the power and fold (None: no row is held out),
        the least penalty and the residual to stop at; yields, for each in turn, the
        regression on the rows outside the fold, and the space of its solutions.
    """

    classes: NDArray
    class_prior: Array
    known: NDArray[np.bool_] | None
    presence: dict[int | None, ClassMarginals]
    marginals: dict[int | None, ClassMarginals]
    X: MatrixLike
    codes: NDArray[np.intp]
    weight: Array
    fold: NDArray[np.intp]
    regressions: Callable[[dict, float, float], Iterator[tuple]]

    def feature_weights(
        self, powers: list[float], folds: list[Any], divergence: str
    ) -> dict[Any, Any]:
        """Divergences outside each fold, to each power; None for power zero."""
        found = {}
        if any(powers):
            found = {f: divergence_weights(self.presence[f], divergence) for f in folds}
        return {
            (p, f): found[f] ** power if power else None
            for p, power in enumerate(powers)
            for f in folds
        }

    def scores(
        self, features: dict[Any, Any], penalties: list[float], tol: float
    ) -> Iterator[Array]:
        """Of the rows held out, (n_penalties, m, K), for one power after another."""
        solved = self.regressions(features, min(penalties), tol)
        for _, pairs in groupby(features.items(), lambda pair: pair[0][0]):
            found = np.empty((len(penalties), len(self.codes), len(self.classes)))
            for (_, f), weights in pairs:
                test = self.fold == f
                rows = with_feature_weights(self.X[test], weights)
                # no regression and no space is kept
                part = IndicatorRegression.scores(*next(solved), penalties, rows)
                found[:, test] = part
            yield found

    def second_scores(self, folds: list[Any]) -> list[Array]:
        """Those of the marginals, (m, K), if there are any."""
        if not self.marginals:
            return []
        found = np.empty((len(self.codes), len(self.classes)))
        for f in folds:
            test = self.fold == f
            found[test] = marginal_scores(self.marginals[f], self.X[test])
        return [found]


def fit_evidence(estimator: "RidgeDiscriminantClassifier", evidence: Evidence) -> None:
    """Choose penalty, power and multipliers on rows held out; then fit all rows.

    Parameters
    ----------
    estimator : RidgeDiscriminantClassifier
        Gets what is fitted.
    evidence : Evidence

    Returns
    -------
    None

    Warns
    -----
    ConvergenceWarning
        As :meth:`RidgeDiscriminantClassifier.fit`.
    """
    penalties, powers = penalties_and_powers(estimator)
    tol, divergence = estimator.tol, estimator.divergence
    power, penalty = powers[0], max(penalties)
    folds = np.unique(evidence.fold).tolist()
    second = evidence.second_scores(folds)
    multipliers, uniform_share = np.eye(2 if evidence.marginals else 1)[0], 0.0
    losses = np.full((len(powers), len(penalties)), np.nan)
    tested = np.ones(len(evidence.codes), dtype=bool)
    if evidence.known is not None:
        tested = holds_any(evidence.X, evidence.known)
    target = evidence.codes[tested], evidence.weight[tested]
    beside = [part[tested] for part in second]
    features = evidence.feature_weights(powers, folds, divergence)
    for p, of_penalties in enumerate(
        evidence.scores(features, penalties, max(tol, FOLD_TOL)) if tested.any() else ()
    ):
        found = [
            fit_calibration([part[tested], *beside], *target, lead=_LEAD)
            for part in of_penalties
        ]
        losses[p] = [one.log_loss for one in found]
        if p and losses[p].min() >= losses[p - 1].min():
            break
        q = losses[p].argmin()
        power, penalty = powers[p], penalties[q]
        multipliers, uniform_share = found[q].multipliers, found[q].uniform_share
    features = evidence.feature_weights([power], [None], divergence)
    ridge, space = next(evidence.regressions(features, penalty, tol))
    residual = ridge.residual(space, penalty)
    model = RidgeModel(
        evidence.classes,
        evidence.class_prior,
        features[0, None],
        *ridge.coefficients(space, penalty),
        evidence.marginals.get(None),
        evidence.known,
        multipliers,
        uniform_share,
        penalty,
        power,
        residual,
        space.n_iter,
        losses,
    )
    estimator._fitted = model
    if residual > tol:
        warnings.warn(
            f"the residual is {residual:.1e} after {space.n_iter} products, above "
            f"tol={tol:g}; raise max_iter={estimator.max_iter} or tol, use larger "
            "penalties, or bring the features to one scale",
            ConvergenceWarning,
            stacklevel=4,
        )


def penalties_and_powers(
    estimator: "RidgeDiscriminantClassifier",
) -> tuple[list[float], list[float]]:
    """Those that are asked for, checked.

    Parameters
    ----------
    estimator : RidgeDiscriminantClassifier

    Returns
    -------
    penalties, powers : list of float

    Raises
    ------
    ValueError
        If one is out of range.
    """
    penalties = _numbers(estimator.penalties, "penalties", above_zero=True)
    return penalties, _numbers(estimator.powers, "powers", above_zero=False)


def holds_documents(estimator: "RidgeDiscriminantClassifier") -> bool:
    """Whether rows are counts of words; one that holds none says nothing.

    Parameters
    ----------
    estimator : RidgeDiscriminantClassifier

    Returns
    -------
    bool
    """
    counts = estimator.family is not None and get(estimator.family).nonnegative
    return bool(counts or np.any(np.asarray(estimator.powers) > 0))


def needed_families(
    estimator: "RidgeDiscriminantClassifier",
) -> tuple[Family | None, Family | None]:
    """Families whose class marginals a fit needs: of presence, and the second opinion.

    Parameters
    ----------
    estimator : RidgeDiscriminantClassifier

    Returns
    -------
    presence, family : Family or None
    """
    presence = get("bernoulli") if max(penalties_and_powers(estimator)[1]) > 0 else None
    return presence, None if estimator.family is None else get(estimator.family)


def class_marginals(
    family: Family,
    total: ClassMoments,
    training: Sequence[ClassMoments],
    folds: list[Any],
) -> dict[int | None, ClassMarginals]:
    """Class marginals of all rows (None), and of those outside each fold.

    Parameters
    ----------
    family : Family
    total : ClassMoments
        Of all rows.
    training : sequence of ClassMoments
        Of the rows outside each fold.
    folds : list of int
        Those that are held out.

    Returns
    -------
    dict of ClassMarginals
    """
    moments = {None: total} | {f: training[f] for f in folds}
    return {f: ClassMarginals(part, family) for f, part in moments.items()}


class RidgeDiscriminantClassifier(BayesClassifier):
    """Regularised discriminant of sparse or wide data, its penalty chosen inside.

    Maximum entropy with class means and pooled second moments, relaxed by a penalty:
    ridge regression on the indicators of the classes. Posteriors are softmax(scores /
    T) with one temperature T, or, with a ``family``, softmax(scores / T + beta b),
    where b are the log posteriors of plain marginals, mixed with a small share of
    uniform ones: a calibration on rows held out in turn (see
    :func:`memdlib.generative.fit_calibration`). Penalty and power are those of least
    log-loss on the same rows.

    Parameters
    ----------
    penalties : float or array-like of float, default=(0.1, 0.3, 1.0, 3.0, 10.0)
        Above zero: weights of the squared coefficients, beside squared errors summed
        over the rows. The default suits rows of length one.
    powers : float or array-like of float, default=0.0
        Tried in this order, until one is no better than the one before. With a power
        above zero, features are multiplied by their divergence to that power, and rows
        then keep their length; see
        :class:`memdlib.generative.DivergenceWeighter`. Divergences are of
        presence (x > 0): X must be zero or above.
    divergence : {"js_gm", "jeffreys", "js"}, default="jeffreys"
        For powers above zero.
    family : None, str or Family, default=None
        Maximum-entropy family whose class marginals score the rows as well, all
        features taken as independent: a second opinion, from first moments, with a
        multiplier of its own.
    validation : int >= 2, default=5
        Folds that are held out in turn; of more than 10,000 rows fewer of them, about
        10,000 rows in all.
    tol : float, default=1e-3
        Largest residual of the linear system, as a share, to stop at; see
        :mod:`memdlib.generative.correlated.krylov`. In the folds, which only serve the
        choice, 0.1 for the smallest penalty will do.
    max_iter : int, default=200
        Largest number of products by the rows and back.
    class_weight : None, "balanced" or dict, default=None
        Multiplies the weights of the instances of each class.
    random_state : int, RandomState or None, default=None
        Draws the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    class_prior_ : ndarray of shape (K,)
        Shares of the weight.
    coef_ : ndarray of shape (K, d)
        Of the weighted rows, before the temperature.
    intercept_ : ndarray of shape (K,)
    penalty_, power_ : float
        Those chosen.
    feature_weights_ : ndarray of shape (d,) or None
        What features are multiplied by; None for power 0.
    multipliers_ : ndarray of shape (1,) or (2,)
        1 / T and beta; 1 and 0 if no row could be held out.
    temperature_ : float
        T.
    uniform_share_ : float
        Share of uniform posteriors that ``predict_proba`` mixes in: 1 / (2 (n + 1)), n
        the weight of the rows held out.
    residual_ : float
        Certificate: what ``tol`` bounds, computed anew from the solution.
    n_iter_ : int
        Products that the last fit took.
    validation_log_loss_ : ndarray of shape (n_powers, n_penalties)
        Nats a row held out; NaN for powers not tried. All are NaN if no row could be
        held out: then the largest penalty and the first power are used.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    References
    ----------
    .. [1] Hastie, Buja & Tibshirani, Penalized discriminant analysis, Annals of
       Statistics 23 (1995).
    .. [2] Zhang & Oles, Text categorization based on regularized linear classification
       methods, Information Retrieval 4 (2001).

    Examples
    --------
    >>> from memdlib.datasets import simulate_text_counts
    >>> from memdlib.generative.weighting import DivergenceWeighter
    >>> text = simulate_text_counts(n_documents=400, n_words=300, seed=1)
    >>> X = DivergenceWeighter(power=0).fit_transform(text.X)
    >>> clf = RidgeDiscriminantClassifier(random_state=0).fit(X[::2], text.y[::2])
    >>> clf.score(X[1::2], text.y[1::2]), clf.penalty_
    (0.735, 3.0)
    """

    _parameter_constraints: ClassVar[dict] = {
        "penalties": [POSITIVE, "array-like"],
        "powers": [NONNEGATIVE, "array-like"],
        "divergence": [Words(*DIVERGENCES)],
        "family": [None, str, MarginalFamily],
        "validation": [Number(Integral, 2, None)],
        "tol": [Number(Real, 0, 1, "neither")],
        "max_iter": [COUNT],
        "class_weight": [None, Words("balanced"), dict],
        "random_state": ["random_state"],
    }

    classes_: NDArray[Any] = fitted("classes")
    class_prior_: Array = fitted("class_prior")
    coef_: Array = fitted("coef")
    intercept_: Array = fitted("intercept")
    penalty_: float = fitted("penalty")
    power_: float = fitted("power")
    feature_weights_: Array | None = fitted("feature_weights")
    multipliers_: Array = fitted("multipliers")
    temperature_: float = fitted("temperature")
    uniform_share_: float = fitted("uniform_share")
    _uniform_share = uniform_share_
    residual_: float = fitted("residual")
    n_iter_: int = fitted("n_iter")
    validation_log_loss_: Array = fitted("validation_log_loss")

    def __init__(
        self,
        penalties: ArrayLike | float = (0.1, 0.3, 1.0, 3.0, 10.0),
        powers: ArrayLike | float = 0.0,
        divergence: str = "jeffreys",
        validation: int = 5,
        tol: float = 1e-3,
        max_iter: int = 200,
        class_weight: dict[Any, Any] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        *,
        family: str | MarginalFamily | None = None,
    ) -> None:
        self.penalties = penalties
        self.powers = powers
        self.divergence = divergence
        self.validation = validation
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.random_state = random_state
        self.family = family

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Choose penalty, power and multipliers on rows held out; then fit all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Finite; zero or above if a power is above zero.
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
            On a single class, negative values with a power or outside the support of
            the family, values whose products overflow, or a parameter out of range.

        Warns
        -----
        ConvergenceWarning
            If the residual is above ``tol`` after ``max_iter`` products, or where
            features of very different scales let no product lower it.
        """
        check_parameters(self)
        families = needed_families(self)
        X, codes, weight, classes = labelled_data(
            self, X, y, sample_weight, class_weight=self.class_weight
        )
        X = _short_indices(X.astype(np.float64, copy=False))
        check_products(X, X.size, weight.max())
        K = len(classes)
        rng = check_random_state(self.random_state)
        at = content_positions(X, codes, weight, rng)
        fold, n_folds = folds(at, self.validation, MOST_HELD_OUT)
        size = np.bincount(fold, minlength=n_folds)[:n_folds]
        held_out = np.flatnonzero((size > 0) & (size < len(fold))).tolist()
        tested = np.isin(fold, held_out)

        def marginals(family):
            if family is None:
                return {}
            cells = codes, K, weight, fold, n_folds + (n_folds < self.validation)
            found = fold_moments(family, family.observe(X), *cells)
            return class_marginals(family, *found, held_out)

        def regression(f, weights, penalty, tol):
            train = slice(None) if f is None else fold != f
            rows = with_feature_weights(X if f is None else X[train], weights)
            ridge = IndicatorRegression.of(rows, codes[train], weight[train], K)
            return ridge, ridge.space(penalty, tol, self.max_iter)

        def regressions(features, *how):
            return (regression(f, w, *how) for (_, f), w in features.items())

        evidence = Evidence(
            classes,
            np.bincount(codes, weight, minlength=K) / weight.sum(),
            np.ravel(X.sum(axis=0)) > 0 if holds_documents(self) else None,
            *map(marginals, families),
            X[tested],
            codes[tested],
            weight[tested],
            fold[tested],
            regressions,
        )
        fit_evidence(self, evidence)
        return self

    def _joint_log_density(self, X):
        return self._fitted.joint_log_density(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = holds_documents(self)
        # presence may say little, or all but nothing, of values that are no counts
        tags.classifier_tags.poor_score = bool(np.all(np.asarray(self.powers) > 0))
        return tags


def _numbers(given, name: str, *, above_zero: bool) -> list[float]:
    """One number or several as a list."""
    values = np.atleast_1d(np.asarray(given, dtype=np.float64))
    bad = ~np.isfinite(values) | (values < 0) | (above_zero & (values == 0))
    if values.ndim != 1 or not values.size or bad.any():
        raise ValueError(
            f"{name}={given!r} must be finite numbers, one at least, "
            f"{'above zero' if above_zero else 'zero or above'}"
        )
    return values.tolist()


def check_products(X: MatrixLike, size: int, most: float) -> None:
    """Raise, naming the feature, if norms of products of rows may overflow.

    Parameters
    ----------
    X : {ndarray, csr} of shape (n, d)
        The rows, or others that hold the ends of the range of each feature.
    size : int
        Entries that the rows store, or more.
    most : float
        No row weighs more.

    Returns
    -------
    None
    """
    values = X.data if sparse.issparse(X) else X
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    with np.errstate(over="ignore"):
        bound = np.square(largest * largest * size * most)
    if not np.isfinite(bound):
        columns = (
            np.ravel(abs(X).max(axis=0).toarray())
            if sparse.issparse(X)
            else (np.abs(X).max(axis=0))
        )
        raise ValueError(
            f"feature {int(columns.argmax())} holds {largest:.6g}, and weights are "
            f"{most:.6g} or less: products of rows overflow; rescale it (for example "
            "with MaxAbsScaler)"
        )


def _short_indices(X):
    """Sparse rows with indices of 32 bits, faster to read, where these will do."""
    if not sparse.issparse(X):
        return X
    kind = sparse.get_index_dtype(maxval=max(*X.shape, X.nnz))
    indices, indptr = (a.astype(kind, copy=False) for a in (X.indices, X.indptr))
    return sparse.csr_array((X.data, indices, indptr), X.shape)
