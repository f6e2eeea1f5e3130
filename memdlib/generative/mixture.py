"""A mixture of candidate classifiers, calibrated and weighted on held-out rows.

Modelling correlations helps on one data set and hurts on the next, and so does
preprocessing; choosing a single candidate is sometimes wrong. Here all candidates
score the same held-out rows and are calibrated on them. The mixture then treats the
candidate that generates a row as a latent class, and the weights of these latent
classes are those of maximum likelihood.
"""

import math
import warnings
from dataclasses import dataclass
from inspect import Parameter, signature
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from memdlib._sklearn import StrOptions, safe_indexing
from memdlib.estimator import BayesClassifier
from memdlib.generative.calibration import Calibration, fit_calibration
from memdlib.generative.correlated import CorrelatedMeMdClassifier
from memdlib.generative.memd import MeMdClassifier, held_out_folds
from memdlib.validation import POSITIVE, Interval, restore_on_error, validate_labelled

# No further fold is held out once this many rows are; the first fold always is.
_MAX_HELD_OUT = 10_000

# X is large if it holds more numbers than this in at least so many columns. With
# ``fast_candidates``, slow candidates are then skipped and fewer rows are held out.
_LARGE_SIZE = 1_000_000
_LARGE_COLUMNS = 250
_MAX_HELD_OUT_OF_LARGE = 1_000

# Largest weight of the class shares. On noise, half of the weight takes away three
# quarters of what the mixture loses against them; elsewhere it keeps three quarters of
# what the mixture gains, and the order of its classes (both up to third powers of the
# difference between the posteriors).
_MOST_OF_CLASS_SHARES = 0.5

# A value is an outlier if it lies this many times as far from the median of its
# feature as any other value. Fewer rows than _MIN_ROWS_FOR_OUTLIERS cannot tell.
_OUTLIER_RATIO = 30.0
_MIN_ROWS_FOR_OUTLIERS = 20

_DEFAULT = (
    ("correlated", CorrelatedMeMdClassifier()),
    ("shrunken", MeMdClassifier(variance_shrinkage="auto")),
)
_CLASS_SHARES = "class shares"


@dataclass(eq=False)
class SharedSteps:
    """Models that begin with the same transformers, which are fitted only once.

    Parameters
    ----------
    steps : list of transformers
        Applied to X one after the other; empty for models that take X as it is.
    models : list of classifiers
        All are fitted to what the last step returns.
    """

    steps: list
    models: list

    def fit(self, X, y, weight):
        """Fitted copies of the steps and models: X (n, d), y (n,), weight (n,)."""
        steps = []
        for step in self.steps:
            fitted_step = _fit_copy(step, X, y, weight)
            X = fitted_step.transform(X)
            steps.append(fitted_step)
        models = [_fit_copy(model, X, y, weight) for model in self.models]
        return SharedSteps(steps=steps, models=models)

    def class_scores(self, X):
        """Scores (n, K) of the rows of X (n, d), one array per fitted model."""
        for step in self.steps:
            X = step.transform(X)
        return [_class_scores(model, X) for model in self.models]

    def held_out_scores(self, X, y, weight, train, test):
        """Scores of the rows ``test`` from models fitted to the rows ``train``."""
        # steps may return frames
        fitted = self.fit(safe_indexing(X, train), y[train], weight[train])
        return fitted.class_scores(safe_indexing(X, test))

    def apply_stateless_steps(self, X):
        """Apply leading steps that learn nothing; return the remainder and new X.

        Such steps give the same result in every fold, so one application is enough.
        """
        steps = list(self.steps)
        while steps and not get_tags(steps[0]).requires_fit:
            X = clone(steps.pop(0)).fit(X).transform(X)
        return SharedSteps(steps=steps, models=self.models), X

    def pipeline(self, j):
        """Model j after the steps, if there are any."""
        if not self.steps:
            return self.models[j]
        return make_pipeline(*self.steps, self.models[j])

    def feature_divergences(self, j):
        """Divergences (d,) of the columns of X in nats by model j, if it has any.

        A step that learns must be able to add up, by ``sum_by_column``, what it made of
        each column; steps that learn nothing are taken to keep the columns.
        """
        divergences = getattr(self.models[j], "scores_", None)
        learnt = [step for step in self.steps if get_tags(step).requires_fit]
        for step in reversed(learnt):
            if divergences is None or not hasattr(step, "sum_by_column"):
                return None
            divergences = step.sum_by_column(divergences)
        return divergences


class MixtureClassifier(BayesClassifier):
    """Mixture of candidate classifiers, calibrated and weighted on held-out rows.

    If q_j are the calibrated posteriors of the candidates, those of the mixture are
    p(k | x) = sum_j w_j q_j(k | x). Bayes' rule then averages the mixture with the
    class shares: if its log-likelihood of the held-out labels is higher by L nats in
    all, its odds against the class shares are exp(L - ``baseline_log_odds``), but never
    below one. With few rows, the posteriors are therefore cautious and not constant.

    Parameters
    ----------
    estimators : list of (str, classifier or list of classifiers), default=None
        Names and candidates. A candidate is a classifier whose ``fit`` takes
        ``sample_weight``, by name or by ``**params`` as ``GridSearchCV``, a pipeline
        that ends in one, or a list of these, whose scores are calibrated together. None
        stands for "correlated"
        (:class:`memdlib.generative.CorrelatedMeMdClassifier`) and "shrunken"
        (:class:`memdlib.MeMdClassifier` with shrunken class variances).
    cv : int >= 2, default=5
        Number of stratified folds. With more than 10,000 rows, only as many folds are
        held out as it takes to reach 10,000 rows, at least one. The only row of a class
        is always a training row.
    expected_log_odds : float > 0 or None, default=3.0
        Log odds, in nats, that the best class of the median held-out row is expected to
        have against the second best, before the labels are seen; calibration shrinks
        towards it. None expects the candidates' own log posteriors, which suits models
        of few features; products of thousands of densities are far too confident for
        it. See :func:`memdlib.generative.fit_calibration`.
    baseline_log_odds : float, default=5.0
        Nats by which the mixture must predict the held-out rows better than the class
        shares do to get more than half of the weight. It makes up for weights and
        calibrations that were fitted to these rows.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of candidates that draw random numbers.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel, in joblib's processes.
    verbose : int, default=0
        Above zero, print one line per candidate.
    class_weight : None, "balanced" or dict, default=None
        Factors of the row weights by class; posteriors and class shares are those of
        the weighted rows.
    fast_candidates : list of str or None, default=None
        Names of the candidates that are fast enough for an X of more than a million
        numbers in 250 columns or more. For such an X, the other candidates are skipped,
        and folds are held out only until they have 1,000 rows, at least one fold. None
        makes no distinction.
    add_log_prior : bool, default=False
        Whether to add the logarithms of the class shares to the calibrated scores, for
        candidates whose scores are evidence alone: a row whose scores are zero then
        gets the class shares. False suits candidates that are Bayes' rules, whose
        scores include the class shares.

    Attributes
    ----------
    classes_, class_prior_ : ndarray of shape (K,)
        Class labels, and their shares of the row weights.
    named_estimators_ : dict of str to classifier or list of classifiers
        The candidates with a positive weight, fitted to all rows.
    calibrations_ : dict of str to Calibration
        Of all candidates.
    cv_results_ : dict of str to ndarray of shape (number of candidates + 1,)
        "name", with the class shares last; "log_loss" (nats per row, calibrated) and
        "accuracy" on held-out rows; "weight", zero for candidates that are left out.
    skipped_ : list of str
        Candidates that were skipped because X is large.
    feature_importances_ : ndarray of shape (d,)
        Divergence of the classes in each column, beyond what other columns say, in
        nats: the weighted mean over the candidates with ``scores_``.
    duality_gap_ : float
        Upper bound on how far the weights are from the best ones, in nats per row.
    n_features_in_ : int
        Number of columns of X.

    See Also
    --------
    memdlib.make_memd : The recommended candidates for each kind of data.

    Notes
    -----
    The weights are fitted to the held-out rows and one additional row, which all
    candidates share equally. A candidate whose weight amounts to less than one row is
    left out, unless all of them are. If there are too few rows to hold any out, the
    first candidate gets all the weight, uncalibrated.

    Candidates that begin with equal steps share them. Steps that learn nothing
    (scikit-learn's tag ``requires_fit``) are applied once, not once per fold.

    Examples
    --------
    >>> from memdlib.generative import MixtureClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = MixtureClassifier(random_state=0).fit(X[::2], y[::2])
    >>> list(clf.named_estimators_), clf.score(X[1::2], y[1::2]) > 0.95
    (['correlated', 'shrunken'], True)
    """

    _parameter_constraints = {
        "estimators": [list, tuple, None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "expected_log_odds": [POSITIVE, None],
        "baseline_log_odds": [Real],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
        "class_weight": [None, StrOptions({"balanced"}), dict],
        "fast_candidates": [list, tuple, None],
        "add_log_prior": ["boolean"],
    }

    def __init__(
        self,
        estimators=None,
        *,
        cv=5,
        expected_log_odds=3.0,
        baseline_log_odds=5.0,
        random_state=None,
        n_jobs=None,
        verbose=0,
        class_weight=None,
        fast_candidates=None,
        add_log_prior=False,
    ):
        self.estimators = estimators
        self.cv = cv
        self.expected_log_odds = expected_log_odds
        self.baseline_log_odds = baseline_log_odds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.class_weight = class_weight
        self.fast_candidates = fast_candidates
        self.add_log_prior = add_log_prior

    @restore_on_error
    def fit(self, X, y, sample_weight=None):
        """Weight the candidates on held-out rows, and fit them to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Training data; sparse if all candidates take it.
        y : array-like of shape (n,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Counts of rows: a weight of 2 is equivalent to repeating the row. Divide
            weights on any other scale by their mean. None gives every row the weight 1.

        Returns
        -------
        self : MixtureClassifier

        Raises
        ------
        ValueError
            If there is only one class, or a parameter is out of range.

        Warns
        -----
        UserWarning
            If candidates without preprocessing hold more than half of the weight, and
            one value lies more than thirty times as far from the median of its feature
            as any other: that row then determines means and variances. Also if the
            weights of several rows sum to one or less.
        """
        estimators = _check_estimators(self.estimators or _DEFAULT)
        X, codes, weight, classes = validate_labelled(
            self, X, y, sample_weight, class_weight=self.class_weight
        )
        self.classes_ = classes
        self.class_prior_ = np.bincount(codes, weight) / weight.sum()
        max_held_out = self._skip_slow_candidates(estimators, X)

        rng = check_random_state(self.random_state)
        seed = rng.randint(2**31 - 1)  # of what the candidates draw
        splits = _held_out_splits(codes, self.cv, rng, max_held_out)
        if splits:
            self._cross_validate(estimators, seed, X, codes, weight, splits)
        else:
            self._take_first(estimators)

        self._refit(estimators, seed, X, codes, weight)
        weight_without_steps = sum(
            share
            for name, share in self._weights.items()
            if all(len(_steps(model)) == 1 for model in estimators[name])
        )
        if weight_without_steps > 0.5:
            _warn_of_outlier(X, getattr(self, "feature_names_in_", None))
        self._warn_of_outcome(X, codes, weight)
        return self

    def _skip_slow_candidates(self, estimators, X):
        """Remove candidates too slow for X; return how many rows to hold out."""
        self.skipped_ = []
        is_large = X.size > _LARGE_SIZE and X.shape[1] >= _LARGE_COLUMNS
        if self.fast_candidates is None or not is_large:
            return _MAX_HELD_OUT
        self.skipped_ = [
            name for name in estimators if name not in self.fast_candidates
        ]
        if len(self.skipped_) == len(estimators):
            raise ValueError(
                f"fast_candidates={self.fast_candidates!r} must hold at least one of "
                f"the names {list(estimators)}"
            )
        for name in self.skipped_:
            del estimators[name]
            if self.verbose:
                print(f"{name}: skipped, too slow for so large an X")
        return _MAX_HELD_OUT_OF_LARGE

    def _cross_validate(self, estimators, seed, X, codes, weight, splits):
        """Calibrate and weight the candidates on the test rows of the splits."""
        y = self.classes_[codes]
        shared_steps, positions = _share_steps(estimators, seed)
        scores = []
        for shared in shared_steps:
            remaining, Z = shared.apply_stateless_steps(X)
            arguments = [(Z, y, weight, train, test) for train, test in splits]
            by_fold = _run(self.n_jobs, remaining.held_out_scores, arguments)
            by_model = zip(*by_fold, strict=True)
            scores.append([np.concatenate(folds) for folds in by_model])
        test = np.concatenate([test for _, test in splits])
        self.calibrations_ = {}
        log_posteriors = []
        for name in estimators:
            model_scores = [scores[i][j] for i, j in positions[name]]
            calibration = fit_calibration(
                model_scores,
                codes[test],
                weight[test],
                expected_log_odds=self.expected_log_odds,
                log_prior=self._log_prior(),
            )
            self.calibrations_[name] = calibration
            log_posteriors.append(calibration.log_posterior(model_scores))
        self._evaluate(log_posteriors, codes[test], weight[test])

    def _log_prior(self):
        """Logarithms (K,) of the class shares, or zero if the scores include them."""
        return np.log(self.class_prior_) if self.add_log_prior else 0.0

    def _evaluate(self, log_posteriors, codes, weight):
        """Weight the candidates by log posteriors (n, K) of rows of known classes."""
        log_prior = np.tile(np.log(self.class_prior_), (len(codes), 1))
        log_posteriors = [*log_posteriors, log_prior]
        rows = np.arange(len(codes))
        # of the true classes; shape (J + 1, n), the class shares last
        log_q = np.array([log_p[rows, codes] for log_p in log_posteriors])
        correct = [log_p.argmax(axis=1) == codes for log_p in log_posteriors]
        log_loss = -np.average(log_q, axis=1, weights=weight)
        accuracy = np.average(correct, axis=1, weights=weight)
        weights, self.duality_gap_ = select_weights(
            log_q, weight, self.baseline_log_odds
        )
        self.cv_results_ = {
            "name": np.array([*self.calibrations_, _CLASS_SHARES]),
            "log_loss": log_loss,
            "accuracy": accuracy,
            "weight": weights,
        }
        if self.verbose:
            for j, name in enumerate(self.calibrations_):
                print(f"{name}: {accuracy[j]:.2%}, {log_loss[j]:.4f} nats per row")

    def _take_first(self, estimators):
        """Give the first candidate all the weight, where no row can be held out."""
        self.calibrations_ = {
            name: Calibration(
                multipliers=np.ones(len(models)),
                uniform_share=0.0,
                log_loss=np.nan,
                log_prior=self._log_prior(),
            )
            for name, models in estimators.items()
        }
        self.duality_gap_ = 0.0
        names = np.array([*estimators, _CLASS_SHARES])
        unknown = np.full(len(names), np.nan)
        self.cv_results_ = {
            "name": names,
            "log_loss": unknown,
            "accuracy": unknown,
            "weight": np.eye(len(names))[0],
        }

    def _refit(self, estimators, seed, X, codes, weight):
        """Fit the candidates with a positive weight to all rows."""
        weights = zip(estimators, self.cv_results_["weight"][:-1], strict=True)
        self._weights = {name: w for name, w in weights if w > 0}
        used = {name: estimators[name] for name in self._weights}
        shared_steps, self._positions = _share_steps(used, seed)
        y = self.classes_[codes]
        self._shared_steps = [shared.fit(X, y, weight) for shared in shared_steps]

    @property
    def named_estimators_(self):
        """Candidates with a positive weight, fitted to all rows."""
        check_is_fitted(self)
        estimators = {}
        for name, positions in self._positions.items():
            models = [self._shared_steps[i].pipeline(j) for i, j in positions]
            estimators[name] = models if len(models) > 1 else models[0]
        return estimators

    @property
    def feature_importances_(self):
        """Divergence of the classes in each column in nats, (d,)."""
        check_is_fitted(self)
        divergences = []
        weights = []
        for name, weight in self._weights.items():
            i, j = self._positions[name][0]
            of_columns = self._shared_steps[i].feature_divergences(j)
            if of_columns is not None:
                divergences.append(of_columns)
                weights.append(weight)
        if not divergences:
            raise AttributeError(
                "no candidate has divergences of the columns of X; "
                "use DivergenceRanker, which does"
            )
        return np.average(divergences, axis=0, weights=weights)

    def _joint_log_density(self, X):
        scores = [shared.class_scores(X) for shared in self._shared_steps]
        log_terms = []
        for name, weight in self._weights.items():
            model_scores = [scores[i][j] for i, j in self._positions[name]]
            log_posterior = self.calibrations_[name].log_posterior(model_scores)
            log_terms.append(np.log(weight) + log_posterior)
        prior_weight = self.cv_results_["weight"][-1]
        if prior_weight > 0:
            log_prior = np.log(prior_weight) + np.log(self.class_prior_)
            log_terms.append(np.tile(log_prior, (X.shape[0], 1)))
        return np.logaddexp.reduce(log_terms, axis=0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        input_tags = []
        try:
            for _, candidate in self.estimators or _DEFAULT:
                for model in _models(candidate):
                    input_tags.append(get_tags(model).input_tags)
        except (AttributeError, TypeError, ValueError):
            return tags  # tags never raise; fit says what is wrong
        tags.input_tags.sparse = all(tag.sparse for tag in input_tags)
        tags.input_tags.positive_only = any(tag.positive_only for tag in input_tags)
        return tags


def mixture_weights(log_q, row_weight, tol=1e-5, max_iter=10_000):
    """Maximum-likelihood weights of the candidates, and a bound on their gap in nats.

    ``log_q`` (J, n) holds the log posteriors q_ij of the true classes, ``row_weight``
    (n,) the weights c_i of the rows. With p_i = sum_j w_j q_ij and N = 1 + sum_i c_i,
    the objective F(w) = (sum_i c_i log p_i + sum_j log(w_j) / J) / N is concave: its
    last term is one row that all candidates share. A step of expectation-maximisation
    multiplies the weights by the slopes of F, and no F is larger by more than the
    logarithm of the largest slope (Lindsay, Annals of Statistics 11, 1983).
    """
    J = len(log_q)
    q = np.vstack([np.exp(log_q - log_q.max(axis=0)).T, np.eye(J)])
    fractions = np.append(row_weight, np.full(J, 1.0 / J)) / (1.0 + row_weight.sum())
    weights = np.full(J, 1.0 / J)
    for _ in range(max_iter):
        slopes = (fractions / (q @ weights)) @ q
        gap = float(np.log(slopes.max()))
        if gap <= tol:
            break
        weights = weights * slopes
    else:
        warnings.warn(
            f"the weights are within {gap:.1e} nats per row of the best ones after "
            f"max_iter={max_iter} steps, not within tol={tol:g}",
            ConvergenceWarning,
            stacklevel=2,
        )
    return weights, max(gap, 0.0)


def select_weights(log_q, row_weight, baseline_log_odds):
    """Weights (J + 1,) of the candidates and of the class shares, and the gap of EM.

    ``log_q`` (J + 1, n) holds the log posteriors of the true classes, those of the
    class shares in the last row; ``row_weight`` (n,) are the weights of the n rows.
    """
    weights, gap = mixture_weights(log_q[:-1], row_weight)
    one_row = 1.0 / (1.0 + row_weight.sum())
    # the largest weight stays, even where all are below one row
    weights = np.where(weights < min(one_row, weights.max()), 0.0, weights)
    weights /= weights.sum()
    mixture_log_q = np.log(np.exp(log_q[:-1]).T @ weights)
    log_likelihood_ratio = row_weight @ (mixture_log_q - log_q[-1])
    prior_weight = float(expit(baseline_log_odds - log_likelihood_ratio))
    prior_weight = min(prior_weight, _MOST_OF_CLASS_SHARES)
    if prior_weight < one_row:
        prior_weight = 0.0
    return np.append((1.0 - prior_weight) * weights, prior_weight), gap


def _check_estimators(estimators):
    """The models of each candidate by its name; ValueError if any is not valid."""
    models_by_name = {}
    for pair in estimators:
        models = []
        if isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str):
            models = _models(pair[1])
        classifiers = [_steps(model)[-1] for model in models]
        if not models or not all(map(_takes_weight, classifiers)):
            raise ValueError(
                f"estimators holds {pair!r}; give pairs of a name and a classifier "
                "whose fit takes sample_weight, a pipeline that ends in one, or a list "
                "of these"
            )
        models_by_name[pair[0]] = models
    if _CLASS_SHARES in models_by_name or len(models_by_name) < len(estimators):
        names = [name for name, _ in estimators]
        raise ValueError(
            f"estimators has the names {names}: they must be unique, and none may be "
            f"{_CLASS_SHARES!r}"
        )
    return models_by_name


def _takes_weight(estimator):
    """Whether ``fit`` takes ``sample_weight``, a classifier's also by ``**params``.

    Those of a search over parameters go to the classifier that it fits. A step, like
    ColumnTransformer, may take ``**params`` only to refuse what nobody asked for.
    """
    if has_fit_parameter(estimator, "sample_weight"):
        return True
    if not hasattr(estimator, "fit") or not is_classifier(estimator):
        return False
    parameters = signature(estimator.fit).parameters.values()
    return any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters)


def _models(candidate):
    """The models of a candidate, which is a model or a list of models."""
    if isinstance(candidate, list):
        return candidate
    return [candidate]


def _steps(model):
    """The steps of a pipeline, the classifier last; a model alone is its only step."""
    if isinstance(model, Pipeline):
        return [step for _, step in model.steps]
    return [model]


def _share_steps(estimators, seed):
    """Copies of all models, grouped by the steps that they begin with.

    ``estimators`` maps names to lists of models. Returns a list of SharedSteps, and for
    each name a list of (i, j), one per model: it is model j of the i-th SharedSteps.
    Every ``random_state`` is set to ``seed``, so that equal steps and models draw the
    same numbers whenever they are fitted.
    """
    shared_steps = []
    positions = {name: [] for name in estimators}
    for name, models in estimators.items():
        for model in clone(models):
            for parameter in model.get_params():
                if parameter.split("__")[-1] == "random_state":
                    model.set_params(**{parameter: seed})
            *steps, classifier = _steps(model)
            i = _find_equal([shared.steps for shared in shared_steps], steps)
            if i == len(shared_steps):
                shared_steps.append(SharedSteps(steps=steps, models=[]))
            shared = shared_steps[i]
            j = _find_equal(shared.models, classifier)
            if j == len(shared.models):
                shared.models.append(classifier)
            positions[name].append((i, j))
    return shared_steps, positions


def _find_equal(items, item):
    """Position of the first item that equals this one, or the number of items."""
    for i, other in enumerate(items):
        if _are_equal(other, item):
            return i
    return len(items)


def _are_equal(a, b):
    """Whether two estimators, lists of them or parameters are certainly equal.

    Their ``repr`` does not tell, as NumPy shortens long arrays in it. In doubt the
    answer is False: steps are then fitted twice, which costs time but is not wrong.
    """
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_are_equal, a, b))
    if isinstance(a, dict):
        return _are_equal(list(a.items()), list(b.items()))
    if isinstance(a, BaseEstimator):  # unfitted, so that it holds its parameters alone
        return _are_equal(vars(a), vars(b))
    try:
        if isinstance(a, np.ndarray):
            return a.dtype == b.dtype and np.array_equal(a, b)
        return bool(a == b)
    except (TypeError, ValueError):  # frames and sparse matrices compare by cell
        return False


def _fit_copy(estimator, X, y, weight):
    """A copy of a step or model fitted to X (n, d), with weights if it takes them."""
    fit_params = {"sample_weight": weight} if _takes_weight(estimator) else {}
    copy = clone(estimator)
    # The mixture has warned of the weights, and measures outcomes on held-out rows.
    copy._is_candidate = True
    return copy.fit(X, y, **fit_params)


def _run(n_jobs, function, arguments):
    """Values of a function for each tuple of arguments, in parallel if asked for."""
    parallel = Parallel(n_jobs=n_jobs)
    if parallel.n_jobs == 1:
        # a call of Parallel sets the warning filters, which all threads share
        return [function(*args) for args in arguments]
    return parallel(delayed(function)(*args) for args in arguments)


def _class_scores(model, X):
    """Scores (n, K) of the rows of X: log posteriors, or else a decision function."""
    if hasattr(model, "predict_log_proba"):
        return model.predict_log_proba(X)
    score = model.decision_function(X)
    if score.ndim == 1:  # of two classes, that of the second
        return np.column_stack([0.0 * score, score])
    return score


def _held_out_splits(codes, cv, rng, max_held_out):
    """Training rows, of all classes, and test rows of each fold that is held out.

    Only as many of the ``cv`` stratified folds are held out as it takes to reach
    ``max_held_out`` rows, at least one. The list is empty if all classes have a single
    row.
    """
    fold, n_folds = held_out_folds(codes, cv, rng)
    n_folds = math.ceil(n_folds * min(1.0, max_held_out / len(codes)))
    splits = []
    for f in range(n_folds):
        train = np.flatnonzero(fold != f)
        test = np.flatnonzero(fold == f)
        splits.append((train, test))
    return splits


def _warn_of_outlier(X, names):
    """Warn if one value of X (n, d) lies far beyond all others of its feature.

    Features in which more than half of the rows have the median value, as in indicators
    of rare events, do not count: there a single other value is nothing unusual.
    """
    if sparse.issparse(X) or len(X) < _MIN_ROWS_FOR_OUTLIERS:
        return
    distance = np.abs(X - np.median(X, axis=0))
    second, largest = np.partition(distance, (-2, -1), axis=0)[-2:]
    varies = np.median(distance, axis=0) > 0
    features = np.flatnonzero(varies & (largest > _OUTLIER_RATIO * second))
    if not features.size:
        return
    j = features[0]
    i = distance[:, j].argmax()
    feature = j if names is None else repr(names[j])
    warnings.warn(
        f"row {i} holds {X[i, j]:.6g} in feature {feature}, more than "
        f"{_OUTLIER_RATIO:g} times as far from its median as any other row: "
        "correct it, leave the row out, or bound it first "
        "(sklearn.preprocessing.QuantileTransformer)",
        UserWarning,
        stacklevel=4,  # the line that calls fit
    )
