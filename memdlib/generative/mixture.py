"""A mixture of candidates, calibrated and weighted by training rows held out.

Correlations help on one data set and mislead on the next, and so do preparations of the
samples; to choose is to be wrong now and then. All candidates score the same held-out
rows and are calibrated on them. Then each row may come from each of the models, a
latent class, and the weights of the classes are those of maximum likelihood.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter
from threadpoolctl import threadpool_limits

from memdlib._types import Array, ArrayLike, MatrixLike, NDArray, Weights
from memdlib.estimator import BayesClassifier, all_or_nothing
from memdlib.generative.calibration import Calibration, fit_calibration
from memdlib.generative.correlated import CorrelatedMeMdClassifier
from memdlib.generative.memd import MeMdClassifier, held_out_folds
from memdlib.validation import POSITIVE, Number, Words, labelled_data

# Of more rows than this about so many are held out.
_MANY = 10_000

# Numbers in X; smaller data are done sooner with one thread of BLAS. Of more, from so
# many columns on, fewer rows are held out.
_SMALL, _WIDE, _MANY_WIDE = 1_000_000, 250, 1_000

# Of a value that stands alone: as many times as far from the median as any other, in a
# feature of rows enough to tell.
_FAR, _LEAST_ROWS = 30.0, 20

_DEFAULT = (
    ("correlated", CorrelatedMeMdClassifier()),
    ("shrunken", MeMdClassifier(shrinkage="auto")),
)
_CLASS_SHARES = "class shares"


@dataclass(frozen=True)
class _Group:
    """Models that begin with the same steps, which are taken once for all."""

    steps: list[Any]
    models: dict[str, Any]

    def fit(self, X, y, weight) -> "_Group":
        steps = []
        for step in self.steps:
            steps.append(_fit(step, X, y, weight))
            X = steps[-1].transform(X)
        models = {key: _fit(model, X, y, weight) for key, model in self.models.items()}
        return _Group(steps, models)

    def scores(self, X) -> dict[str, Array]:
        for step in self.steps:
            X = step.transform(X)
        return {key: _class_scores(model, X) for key, model in self.models.items()}

    def divergences(self) -> dict[str, Array]:
        """Nats of the columns of X by models whose first steps keep them apart."""
        learnt = [step for step in reversed(self.steps) if get_tags(step).requires_fit]
        found = {}
        for key, model in self.models.items():
            apart = all(hasattr(step, "sum_by_column") for step in learnt)
            if apart and hasattr(model, "feature_divergences_"):
                found[key] = model.feature_divergences_
                for step in learnt:
                    found[key] = step.sum_by_column(found[key])
        return found

    def held_out(self, X, y, weight, train, test) -> dict[str, Array]:
        return self.fit(X[train], y[train], weight[train]).scores(X[test])

    def without_fixed_steps(self, X) -> "tuple[_Group, Any]":
        """The group without first steps that learn nothing, and X after these."""
        steps = list(self.steps)
        while steps and not get_tags(steps[0]).requires_fit:
            X = steps.pop(0).transform(X)
        return _Group(steps, self.models), X


class MixtureClassifier(BayesClassifier):
    """Candidates calibrated and mixed, by training rows held out.

    With the calibrated posteriors q_j of the candidates those of the mixture are
    p(k | x) = sum_j w_j q_j(k | x). They are averaged with the class shares by Bayes'
    rule: rows held out that the mixture foresees better by L nats in all give it the
    odds exp(L - margin).

    Parameters
    ----------
    estimators : list of (str, classifier or list of classifiers), default=None
        Names and candidates: classifiers whose ``fit`` takes ``sample_weight``, or
        pipelines that end in one; the scores of several are calibrated together. None
        takes "correlated" (:class:`memdlib.generative.CorrelatedMeMdClassifier`) and
        "shrunken" (:class:`memdlib.MeMdClassifier` with shrunken class variances).
    cv : int >= 2, default=5
        Stratified folds. Of more than 10,000 rows about 10,000 are held out, in fewer
        folds. The only row of a class is always a training row.
    lead : float > 0 or None, default=3.0
        Of :func:`memdlib.generative.fit_calibration`: nats, or None for log posteriors
        that need no temperature as a rule. Products of thousands of densities are far
        too sure; models of few features may be right.
    margin : float, default=5.0
        Nats by which rows held out must be foreseen better than by the class shares, to
        be believed as much; weights and calibrations were fitted to them.
    random_state : int, RandomState or None, default=None
        Draws the folds, and what candidates draw.
    n_jobs : int or None, default=None
        Folds that are held out at the same time, in processes of joblib.
    verbose : int, default=0
        Above zero, a line for each candidate.
    class_weight : None, "balanced" or dict, default=None
        Factors of the weights of rows: posteriors and class shares are those of the
        weighted rows.
    wide : list of str or None, default=None
        Names of the candidates that can pay their time where X holds more than a
        million numbers in 250 columns or more. Others are then left out, and about
        1,000 rows held out. None: no difference is made.

    Attributes
    ----------
    classes_, class_prior_ : ndarray of shape (K,)
    named_estimators_ : dict of str to classifier or list of classifiers
        Those that have a weight, fitted to all rows.
    calibrations_ : dict of str to Calibration
        Of all candidates.
    cv_results_ : dict of str to ndarray of shape (number of candidates + 1,)
        "name", the class shares last; "log_loss" (nats a row, calibrated) and
        "accuracy" on held-out rows; "weight", zero for those left out.
    left_out_ : list of str
        Candidates that could not pay their time.
    feature_importances_ : ndarray of shape (d,)
        Nats of each column, by which the classes differ beyond what other columns say:
        mean over the candidates that have ``feature_divergences_``, by their weights.
    duality_gap_ : float
        How far the weights may be from the best ones, nats a row.
    n_features_in_ : int

    See Also
    --------
    memdlib.make_memd : the candidates that we recommend, by the kind of data.

    Notes
    -----
    In the weights one row counts that all candidates share; one that holds less than a
    row is left out, unless all do. With too few rows to hold any out, the first
    candidate is taken as it is. Candidates that begin with the same steps share them;
    those that learn nothing (scikit-learn's tag ``requires_fit``) are taken once.

    Examples
    --------
    >>> from memdlib.generative import MixtureClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = MixtureClassifier(random_state=0).fit(X[::2], y[::2])
    >>> list(clf.named_estimators_), clf.score(X[1::2], y[1::2]) > 0.95
    (['correlated', 'shrunken'], True)
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimators": [list, tuple, None],
        "cv": [Number(Integral, 2, None)],
        "lead": [POSITIVE, None],
        "margin": [Real],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": [Number(Integral, 0, None), "boolean"],
        "class_weight": [None, Words("balanced"), dict],
        "wide": [list, tuple, None],
    }

    def __init__(
        self,
        estimators: Sequence[Any] | None = None,
        *,
        cv: int = 5,
        lead: float | None = 3.0,
        margin: float = 5.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        class_weight: dict[Any, Any] | str | None = None,
        wide: Sequence[str] | None = None,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.lead = lead
        self.margin = margin
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.class_weight = class_weight
        self.wide = wide

    class_prior_: Array
    calibrations_: dict[str, Calibration]
    cv_results_: dict[str, NDArray[Any]]
    left_out_: list[str]
    duality_gap_: float

    @all_or_nothing
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Weight the candidates by held-out rows, and fit them to all.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Sparse if all candidates take it.
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
            On a single class, or a parameter out of range.

        Warns
        -----
        UserWarning
            If candidates that take values as they are hold more than half the weight,
            and one value lies thirty times as far from the median of its feature as any
            other: means and variances are then those of that row.
        """
        estimators = _checked(self.estimators or _DEFAULT)
        X, codes, weight, classes = labelled_data(
            self, X, y, sample_weight, class_weight=self.class_weight
        )
        wide = self.wide is not None and X.size > _SMALL and X.shape[1] >= _WIDE
        kept = {n: m for n, m in estimators.items() if not wide or n in self.wide}
        self.left_out_ = [name for name in estimators if name not in kept]
        if self.left_out_ and self.verbose:
            print("left out, too dear:", *self.left_out_, sep="\n")
        rng = check_random_state(self.random_state)
        groups, candidates = _grouped(kept, rng.randint(2**31 - 1))
        self.classes_, y = classes, classes[codes]
        self.class_prior_ = np.bincount(codes, weight) / weight.sum()
        names = np.array([*candidates, _CLASS_SHARES])
        unknown = np.full(len(names), np.nan)
        self.cv_results_ = {"name": names, "log_loss": unknown, "accuracy": unknown}
        self.cv_results_["weight"], self.duality_gap_ = np.eye(len(names))[0], 0.0
        self.calibrations_ = {
            name: Calibration(np.ones(len(keys)), 0.0, np.nan)
            for name, keys in candidates.items()
        }
        with threadpool_limits(1 if X.size < _SMALL else None, "blas"):
            splits = _splits(codes, self.cv, rng, _MANY_WIDE if wide else _MANY)
            if splits:
                rows = np.concatenate([test for _, test in splits])
                scores = self._held_out(groups, X, y, weight, splits)
                self._weigh(candidates, scores, codes[rows], weight[rows])
            shares = self.cv_results_["weight"][:-1]
            raw = {key for group in groups if not group.steps for key in group.models}
            if shares @ [raw.issuperset(keys) for keys in candidates.values()] > 0.5:
                _warn_of_lone_values(X, getattr(self, "feature_names_in_", None))
            pairs = zip(candidates.items(), shares, strict=True)
            self._candidates = dict(pair for pair, share in pairs if share > 0)
            used = {key for keys in self._candidates.values() for key in keys}
            self._groups = []
            for group in groups:
                models = {key: m for key, m in group.models.items() if key in used}
                if models:
                    group = _Group(group.steps, models).fit(X, y, weight)
                    self._groups.append(group)
        return self

    def _held_out(self, groups, X, y, weight, splits) -> dict[str, Array]:
        """Scores of the rows held out, by all models."""
        scores = {}
        for group in groups:
            rest, Z = group.without_fixed_steps(X)
            work = (delayed(rest.held_out)(Z, y, weight, *split) for split in splits)
            parts = Parallel(n_jobs=self.n_jobs)(work)
            for key in rest.models:
                scores[key] = np.concatenate([part[key] for part in parts])
        return scores

    def _weigh(self, candidates, scores, own, share) -> None:
        """Calibrate and weight the candidates by rows of these classes and weights."""
        log_q, hits = [], []
        for name, keys in candidates.items():
            parts = [scores[key] for key in keys]
            found = fit_calibration(parts, own, share, lead=self.lead)
            self.calibrations_[name], log_p = found, found.log_posterior(parts)
            log_q.append(log_p[np.arange(len(own)), own])
            hits.append(log_p.argmax(axis=1) == own)
            if self.verbose:
                rate = np.average(hits[-1], weights=share)
                print(f"{name}: {rate:.2%}, {found.log_loss:.4f} nats")
        log_q = np.array([*log_q, np.log(self.class_prior_)[own]])
        hits.append(own == self.class_prior_.argmax())
        weights, self.duality_gap_ = _weights_of_a_row_or_more(
            log_q, share, self.margin
        )
        self.cv_results_ |= {
            "log_loss": -np.average(log_q, axis=1, weights=share),
            "accuracy": np.average(hits, axis=1, weights=share),
            "weight": weights,
        }

    @property
    def named_estimators_(self) -> dict[str, BaseEstimator | list[BaseEstimator]]:
        """Candidates that have a weight, fitted to all rows."""
        check_is_fitted(self)
        models = {}
        for group in self._groups:
            for key, model in group.models.items():
                whole = make_pipeline(*group.steps, model)
                models[key] = whole if group.steps else model
        found = {n: [models[key] for key in k] for n, k in self._candidates.items()}
        return {n: part if len(part) > 1 else part[0] for n, part in found.items()}

    @property
    def feature_importances_(self) -> Array:
        """Nats of each column, (d,)."""
        check_is_fitted(self)
        if not self._candidates:
            return np.zeros(self.n_features_in_)
        known = {}
        for group in self._groups:
            known |= group.divergences()
        shares = self.cv_results_["weight"][:-1]
        pairs = zip(shares[shares > 0], self._candidates.values(), strict=True)
        told = [(share, known[k]) for share, (k, *_) in pairs if k in known]
        if not told:
            raise AttributeError(
                "no candidate has nats of columns: DivergenceRanker has"
            )
        shares, nats = zip(*told, strict=True)
        return np.average(nats, axis=0, weights=shares)

    def _joint_log_density(self, X):
        scores = {}
        for group in self._groups:
            scores |= group.scores(X)
        parts = [
            self.calibrations_[name].log_posterior([scores[key] for key in keys])
            for name, keys in self._candidates.items()
        ]
        weights = self.cv_results_["weight"]
        if weights[-1] > 0:
            parts.append(np.tile(np.log(self.class_prior_), (X.shape[0], 1)))
        weights = weights[weights > 0][:, None, None]
        return np.logaddexp.reduce(np.log(weights) + parts, axis=0)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            models = [m for _, c in self.estimators or _DEFAULT for m in _models(c)]
            parts = [get_tags(model).input_tags for model in models]
        except (AttributeError, TypeError, ValueError):
            return tags  # fit says what is wrong
        tags.input_tags.sparse = all(part.sparse for part in parts)
        tags.input_tags.positive_only = any(part.positive_only for part in parts)
        return tags


def mixture_weights(
    log_q: Array, counts: Array, tol: float = 1e-5, max_iter: int = 10_000
) -> tuple[Array, float]:
    """Weights that make labels of rows held out most probable, and their gap, nats.

    With p_i = sum_j w_j q_ij and N = 1 + sum_i c_i, F(w) = (sum_i c_i log p_i + sum_j
    log(w_j) / J) / N is concave. A step of expectation-maximisation multiplies the
    weights by the slopes of F, and no F is larger by more than the logarithm of the
    largest slope (Lindsay, Annals of Statistics 11, 1983).
    """
    J = log_q.shape[1]
    q = np.vstack([np.exp(log_q - log_q.max(axis=1, keepdims=True)), np.eye(J)])
    share = np.append(counts, np.full(J, 1.0 / J)) / (1.0 + counts.sum())
    weights = np.full(J, 1.0 / J)
    for _ in range(max_iter):
        slopes = (share / (q @ weights)) @ q
        gap = float(np.log(slopes.max()))
        if gap <= tol:
            break
        weights = weights * slopes
    else:
        warnings.warn(
            f"the weights are within {gap:.1e} nats a row of the best ones after "
            f"max_iter={max_iter} steps, not within tol={tol:g}",
            ConvergenceWarning,
            stacklevel=2,
        )
    return weights, max(gap, 0.0)


def _weights_of_a_row_or_more(log_q, counts, margin) -> tuple[Array, float]:
    """Of candidates, and of the class shares, whose log posteriors come last."""
    found, gap = mixture_weights(log_q[:-1].T, counts)
    row = 1.0 / (1.0 + counts.sum())
    weights = np.where(found < min(row, found.max()), 0.0, found)
    weights /= weights.sum()
    mixed = np.log(np.exp(log_q[:-1]).T @ weights)
    rest = float(expit(margin - counts @ (mixed - log_q[-1])))
    rest = 0.0 if rest < row else 1.0 if rest > 1.0 - row else rest
    return np.append((1.0 - rest) * weights, rest), gap


def _checked(estimators) -> dict[str, list[Any]]:
    """The models of each candidate, or ValueError if there are no such."""
    found = {}
    for pair in estimators:
        well = isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)
        models = _models(pair[1]) if well else []
        takes = [
            has_fit_parameter(_steps(model)[-1], "sample_weight") for model in models
        ]
        if not takes or not all(takes):
            raise ValueError(
                f"estimators holds {pair!r}; give pairs of a name and a classifier "
                "whose fit takes sample_weight, a pipeline that ends in one, or a list "
                "of these"
            )
        found[pair[0]] = models
    if len({*found, _CLASS_SHARES}) <= len(estimators):
        names = [name for name, _ in estimators]
        raise ValueError(f"estimators has the names {names}: each must be another")
    return found


def _models(candidate) -> list[Any]:
    return candidate if isinstance(candidate, list) else [candidate]


def _steps(model) -> list[Any]:
    return [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]


def _grouped(estimators, seed: int) -> tuple[list[_Group], dict[str, list[str]]]:
    """Copies of all models, which draw the same whenever fitted, and keys to them."""
    groups, candidates = {}, {name: [] for name in estimators}
    for name, models in estimators.items():
        for model in clone(models):
            params = [p.split("__") for p in model.get_params()]
            seeds = ["__".join(p) for p in params if p[-1] == "random_state"]
            model.set_params(**dict.fromkeys(seeds, seed))
            *steps, last = _steps(model)
            start = repr([(type(step), step.get_params()) for step in steps])
            key = start + repr((type(last), last.get_params()))
            groups.setdefault(start, _Group(steps, {})).models[key] = last
            candidates[name].append(key)
    return list(groups.values()), candidates


def _fit(model, X, y, weight):
    takes = has_fit_parameter(model, "sample_weight")
    with warnings.catch_warnings():  # what a candidate is worth is measured here
        warnings.filterwarnings("ignore", "accuracy is", UserWarning)
        return clone(model).fit(X, y, **({"sample_weight": weight} if takes else {}))


def _class_scores(model, X) -> Array:
    """One column of scores a class."""
    if hasattr(model, "predict_log_proba"):
        return model.predict_log_proba(X)
    score = model.decision_function(X)
    return np.column_stack([0.0 * score, score]) if score.ndim == 1 else score


def _splits(codes, cv: int, rng, many: int) -> list[tuple[NDArray, NDArray]]:
    """Training rows of all classes, and rows held out, about so many at most."""
    fold, n_folds = held_out_folds(codes, cv, rng)
    n_folds = math.ceil(n_folds * min(1.0, many / len(codes)))
    return [
        (np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(n_folds)
    ]


def _warn_of_lone_values(X: Array, names: NDArray[Any] | None) -> None:
    """Warn of one value far beyond all others of a feature that varies."""
    if sparse.issparse(X) or len(X) < _LEAST_ROWS:
        return
    far = np.abs(X - np.median(X, axis=0))
    second, first = np.partition(far, (-2, -1), axis=0)[-2:]
    lone = np.flatnonzero((np.median(far, axis=0) > 0) & (first > _FAR * second))
    for j in lone[:1]:
        i, feature = far[:, j].argmax(), j if names is None else repr(names[j])
        warnings.warn(
            f"row {i} holds {X[i, j]:.6g} in feature {feature}"
            f", more than {_FAR:g} times as far from its median as any other row: "
            "correct it, leave the row out, or bound it first "
            "(sklearn.preprocessing.QuantileTransformer)",
            UserWarning,
            stacklevel=4,
        )
