"""A mixture of candidates, calibrated and weighted by training rows held out.

Correlations help on one data set and mislead on the next, and so do preparations of the
samples; to choose is to be wrong now and then. All candidates score the same held-out
rows and are calibrated on them. Then each row may come from each of the models, a
latent class, and the weights of the classes are those of maximum likelihood.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from memdlib._types import Estimator, MatrixLike
from memdlib.estimator import BayesClassifier, all_or_nothing, fitted, log_posterior
from memdlib.generative.calibration import fit_calibration
from memdlib.generative.correlated.whitened import CorrelatedMeMdClassifier
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.recommended.held_out import HeldOut, TrainingRows, settings
from memdlib.generative.recommended.weights import fit_mixture_weights
from memdlib.holdout import MOST_HELD_OUT, content_positions, folds
from memdlib.validation import POSITIVE, Number, check_parameters, labelled_data

Array = NDArray[np.float64]

# Of a value that stands alone: as many times as far from the median as any other, in a
# feature of rows enough to tell.
_FAR, _LEAST_ROWS = 30.0, 20

_DEFAULT = (
    ("correlated", CorrelatedMeMdClassifier()),
    ("shrunken", MeMdClassifier(shrinkage="auto")),
)


@dataclass(frozen=True)
class Candidate:
    """A classifier, steps before it that learn nothing, and its place in a mixture.

    Parameters
    ----------
    name : str
    steps : tuple
        Before the classifier; once fitted, those too that learn.
    model : classifier, or Pipeline
        The latter if steps learn, and are not fitted.
    weight, temperature : float
        In the mixture.
    """

    name: str
    steps: tuple
    model: BaseEstimator
    weight: float = 0.0
    temperature: float = 1.0

    @classmethod
    def of(cls, name: str, model: Estimator, seed: int) -> "Candidate":
        """A fresh copy, which draws the same whenever it is fitted."""
        model = clone(model)
        seeds = [p for p in model.get_params() if p.split("__")[-1] == "random_state"]
        model.set_params(**dict.fromkeys(seeds, seed))
        if not isinstance(model, Pipeline):
            return cls(name, (), model)
        steps = [step for _, step in model.steps]
        learns = [get_tags(step).requires_fit for step in steps]
        first = learns.index(True)
        return cls(name, tuple(steps[:first]), model[first:])

    def fitted(self, rows: TrainingRows) -> "Candidate":
        """The same, fitted to rows after its steps."""
        model = rows.fit(self.model)
        if isinstance(model, Pipeline):
            steps = [step for _, step in model.steps]
            return replace(self, steps=(*self.steps, *steps[:-1]), model=steps[-1])
        return replace(self, model=model)


@dataclass(frozen=True)
class Mixture:
    """Candidates of weight above zero, and what was found of all."""

    classes: NDArray
    class_prior: Array
    members: tuple[Candidate, ...]
    uniform_share: float
    duality_gap: float
    cv_results: dict

    @classmethod
    def of(
        cls,
        classes: NDArray[Any],
        class_prior: Array,
        candidates: Sequence[Candidate],
        found: "Weighed",
        fit_all: Callable[[list[Candidate]], Iterable[Candidate]],
    ) -> "Mixture":
        """Mixture of those candidates that have a weight.

        Parameters
        ----------
        classes : ndarray of shape (K,)
        class_prior : ndarray of shape (K,)
        candidates : sequence of J Candidate
        found : Weighed
            What the rows held out say of them.
        fit_all : callable
            Fits candidates to all rows.

        Returns
        -------
        Mixture
        """
        chosen = [
            replace(candidate, weight=float(w), temperature=float(T))
            for candidate, w, T in zip(
                candidates, found.weights, found.temperatures, strict=True
            )
            if w
        ]
        results = {
            "name": np.array([c.name for c in candidates]),
            "temperature": found.temperatures,
            "log_loss": found.log_losses,
            "accuracy": found.accuracies,
            "weight": found.weights,
        }
        members = tuple(fit_all(chosen))
        return cls(
            classes, class_prior, members, found.uniform_share, found.gap, results
        )

    @property
    def estimators(self) -> list[Any]:
        return [
            Pipeline([(str(i), step) for i, step in enumerate((*m.steps, m.model))])
            if m.steps
            else m.model
            for m in self.members
        ]

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.members]

    @property
    def estimator_weights(self) -> Array:
        return np.array([member.weight for member in self.members])

    def log_posterior(self, X: MatrixLike) -> Array:
        """Log posteriors of the mixture, (n, K)."""
        prepared = PreparedRows(X)
        parts = [
            np.log(m.weight)
            + log_posterior(
                m.model.predict_log_proba(prepared(m.steps)) / m.temperature,
                self.uniform_share,
            )
            for m in self.members
        ]
        return logsumexp(parts, axis=0)


class PreparedRows:
    """Data after steps, each sequence of the same steps taken once.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    """

    known: dict[Any, Any]

    def __init__(self, X: NDArray[Any]) -> None:
        self.X, self.known = np.asarray(X, dtype=np.float64), {}

    def __call__(self, steps: tuple[Any, ...]) -> Array:
        key = tuple(map(id, steps))
        if key not in self.known:
            self.known[key] = reduce(lambda Z, s: s.transform(Z), steps, self.X)
        return self.known[key]


class MixedMeMdClassifier(BayesClassifier):
    """Candidates calibrated and mixed, by training rows held out.

    Parameters
    ----------
    estimators : sequence of (str, classifier), default=None
        Names and candidates: classifiers with log posteriors, whose ``fit`` takes
        ``sample_weight``, or pipelines that end in one. None takes "correlated"
        (:class:`memdlib.generative.CorrelatedMeMdClassifier`) and "shrunken"
        (:class:`memdlib.MeMdClassifier` with shrunken class variances). With a single
        candidate the classifier only calibrates.
    validation : float in (0, 1) or int >= 2, default=5
        How rows are held out, stratified by class: a share of them once, or in so many
        folds. Of more than 10,000 rows about 10,000 are held out, in fewer folds.
    random_state : int, RandomState or None, default=None
        Draws the rows held out, and what candidates draw.
    lead : float > 0 or None, default=3.0
        What is expected of candidates before any row is held out: that the median row's
        first class leads the second by so many nats, or (None) that their log
        posteriors need no temperature. Products of thousands of densities are far too
        sure; models of few features may be right.
    n_jobs : int or None, default=None
        Folds that are held out at the same time, in processes of joblib.
    verbose : int, default=0
        Above zero, joblib says how many folds are done.

    Attributes
    ----------
    classes_, class_prior_ : ndarray of shape (K,)
    estimators_ : list of classifiers
        Those that are mixed, fitted to all rows; ``names_`` has their names.
    estimator_weights_ : ndarray
        Of them, of sum one.
    uniform_share_ : float
        Share of uniform posteriors in those of every candidate: 1 / (2 (n + 1)), n the
        weight of the rows held out; zero if no candidate could be calibrated.
    duality_gap_ : float
        How far the weights may be from the best ones, nats a row, before candidates are
        left out; see :func:`memdlib.generative.fit_mixture_weights`.
    cv_results_ : dict of str to ndarray of shape (number of candidates,)
        "name"; on held-out rows "temperature", by which log posteriors are divided,
        "log_loss" (nats a row, calibrated), "accuracy" and "weight", zero for those
        left out.
    n_features_in_ : int

    See Also
    --------
    memdlib.make_memd : the candidates that we recommend, by the kind of data.

    Notes
    -----
    With the calibrated posteriors q_j of the candidates those of the mixture are

        p(k | x) = sum_j w_j q_j(k | x).

    None is below the floor 1 / (2 K (n + 1)) that each q_j has. In the weights one row
    counts that all candidates share; a candidate that holds less than a row is left
    out, unless all do. One whose held-out rows include an impossible class cannot be
    calibrated and is left out, too. With too few rows to hold any out, the first
    candidate is taken as it is: temperature 1 and share 0.

    Steps of a pipeline that learn nothing (scikit-learn's tag ``requires_fit``) and
    stand first are taken once for all rows and candidates; all other steps are fitted
    to the training rows of each fold. Neighbours in the list that have first steps in
    common share them, and their pooled moments. Ten thousand rows tell J weights and
    temperatures up to about J / 10,000 nats a row; to hold out more costs time alone.

    Examples
    --------
    >>> from memdlib.generative import MixedMeMdClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = MixedMeMdClassifier(random_state=0).fit(X[::2], y[::2])
    >>> clf.names_, clf.estimator_weights_.round(2).tolist()
    (['correlated', 'shrunken'], [0.9, 0.1])
    >>> round(clf.score(X[1::2], y[1::2]), 3)
    0.966
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimators": [list, tuple, None],
        "validation": [Number(Real, 0, 1, "neither"), Number(Integral, 2, None)],
        "random_state": ["random_state"],
        "lead": [POSITIVE, None],
        "n_jobs": [Integral, None],
        "verbose": [Number(Integral, 0, None), "boolean"],
    }

    def __init__(
        self,
        estimators: Sequence[Any] | None = None,
        *,
        validation: float | int = 5,
        random_state: int | np.random.RandomState | None = None,
        lead: float | None = 3.0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.validation = validation
        self.random_state = random_state
        self.lead = lead
        self.n_jobs = n_jobs
        self.verbose = verbose

    classes_: NDArray[Any] = fitted("classes")
    class_prior_: Array = fitted("class_prior")
    estimators_: list[Estimator] = fitted("estimators")
    names_: list[str] = fitted("names")
    estimator_weights_: Array = fitted("estimator_weights")
    uniform_share_: float = fitted("uniform_share")
    duality_gap_: float = fitted("duality_gap")
    cv_results_: dict[str, NDArray[Any]] = fitted("cv_results")

    @all_or_nothing
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Weight the candidates by held-out rows, and fit them to all.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Dense and finite, inside the supports of all candidates.
        y : array-like of shape (n,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative instance weights; weight 2 means the row twice.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            On sparse X.
        ValueError
            On a single class, or a parameter out of range.

        Warns
        -----
        UserWarning
            If candidates that take values as they are hold more than half the weight,
            and one value lies thirty times as far from the median of its feature as any
            other: means and variances are then those of that row.
        """
        check_parameters(self)
        estimators = checked_candidates(self)
        X, codes, weight, classes = labelled_data(
            self, X, y, sample_weight, sparse_too=False
        )
        rng = check_random_state(self.random_state)
        at = content_positions(X, codes, weight, rng)
        candidates = seeded(estimators, rng)
        fold, n_folds = folds(at, self.validation, MOST_HELD_OUT)
        splits = [(fold != f, fold == f) for f in range(n_folds)]
        held_out = HeldOut.of(codes, weight, splits)
        prepared, scored = PreparedRows(X), []
        for steps, group in alike(candidates):
            models = [candidate.model for candidate in group]
            scored.extend(
                held_out.log_posteriors(
                    models, prepared(steps), n_jobs=self.n_jobs, verbose=self.verbose
                )
            )

        def fit_all(chosen: list[Candidate]):
            for steps, group in alike(chosen):
                rows = TrainingRows(prepared(steps), classes[codes], weight)
                yield from (candidate.fitted(rows) for candidate in group)

        known = held_out.known
        found = weigh(scored, codes[known], weight[known], self.lead)
        prior = np.bincount(codes, weight) / weight.sum()
        self._fitted = Mixture.of(classes, prior, candidates, found, fit_all)
        if found.weights[[not c.steps for c in candidates]].sum() > 0.5:
            _warn_of_lone_values(X, getattr(self, "feature_names_in_", None))
        return self

    def _joint_log_density(self, X):
        return self._fitted.log_posterior(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")


@dataclass(frozen=True)
class Weighed:
    """What held-out rows say of candidates.

    Parameters
    ----------
    weights, temperatures, log_losses, accuracies : ndarray of shape (J,)
        Log-losses, nats a row, are those after calibration.
    uniform_share : float
        Of calibrated posteriors; zero if no row could be held out.
    gap : float
        Of the weights, before candidates are left out.
    """

    weights: Array
    temperatures: Array
    log_losses: Array
    accuracies: Array
    uniform_share: float
    gap: float


def weigh(
    scores: list[Array], codes: NDArray[np.intp], weight: Array, lead: float | None
) -> Weighed:
    """Calibrate candidates and weight them.

    Parameters
    ----------
    scores : list of J ndarray of shape (n, K)
        Log posteriors of rows that the candidates were not fitted to.
    codes : ndarray of int, shape (n,)
        Class indices.
    weight : ndarray of shape (n,)
    lead : float or None
        As of :func:`memdlib.generative.fit_calibration`.

    Returns
    -------
    Weighed
    """
    J, total, own = len(scores), weight.sum(), (np.arange(len(codes)), codes)
    weights, temperatures = np.eye(J)[0], np.ones(J)
    log_losses, accuracies = np.full(J, np.inf), np.full(J, np.nan)
    if not total:
        return Weighed(weights, temperatures, log_losses, accuracies, 0.0, 0.0)
    share, gap = 0.0, 0.0
    told = np.empty((J, len(codes)))
    for j, score in enumerate(scores):
        accuracies[j] = np.average(score.argmax(axis=1) == codes, weights=weight)
        if np.isfinite(score[own]).all():
            found = fit_calibration([score], codes, weight, lead=lead)
            temperatures[j], share = 1.0 / found.multipliers[0], found.uniform_share
            told[j] = found.log_posterior([score])[own]
            log_losses[j] = found.log_loss
    (usable,) = np.nonzero(np.isfinite(log_losses))
    if usable.size:
        found = fit_mixture_weights(told[usable].T, weight)
        gap, kept = found.gap, found.weights
        kept = np.where(kept < min(1.0 / (1.0 + total), kept.max()), 0.0, kept)
        weights = np.zeros(J)
        weights[usable] = kept / kept.sum()
    return Weighed(weights, temperatures, log_losses, accuracies, share, gap)


def seeded(estimators: Sequence[Any], rng: np.random.RandomState) -> list[Candidate]:
    """Candidates that draw the same whenever they are fitted.

    Parameters
    ----------
    estimators : sequence of (str, classifier)
    rng : RandomState
        Draws their seed.

    Returns
    -------
    list of Candidate
        Not fitted; steps that are set alike are the same objects.
    """
    seed, known = int(rng.randint(2**31 - 1)), {}

    def one(steps: tuple[Any, ...]) -> tuple[Any, ...]:
        return known.setdefault(tuple(map(settings, steps)), steps)

    candidates = [Candidate.of(name, model, seed) for name, model in estimators]
    return [replace(candidate, steps=one(candidate.steps)) for candidate in candidates]


def alike(
    candidates: Iterable[Candidate],
) -> Iterator[tuple[tuple[Any, ...], list[Candidate]]]:
    """Steps before models, and the neighbours that have them in common.

    Parameters
    ----------
    candidates : iterable of Candidate

    Yields
    ------
    steps : tuple
    group : list of Candidate
    """
    for _, group in groupby(candidates, lambda candidate: id(candidate.steps)):
        group = list(group)
        yield group[0].steps, group


def checked_candidates(mixed: MixedMeMdClassifier) -> list[tuple[str, BaseEstimator]]:
    """Names and candidates of a classifier, or ValueError if there are no such.

    Parameters
    ----------
    mixed : MixedMeMdClassifier

    Returns
    -------
    list of (str, classifier)
    """
    estimators = _DEFAULT if mixed.estimators is None else mixed.estimators
    for pair in estimators:
        well = isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)
        model = pair[1] if well else None
        last = model.steps[-1][1] if isinstance(model, Pipeline) else model
        if not (
            isinstance(last, BaseEstimator)
            and hasattr(last, "predict_log_proba")
            and has_fit_parameter(last, "sample_weight")
        ):
            raise ValueError(
                f"estimators holds {pair!r}; give pairs of a name and a classifier "
                "with predict_log_proba whose fit takes sample_weight, or a pipeline "
                "that ends in one"
            )
    if not estimators:
        raise ValueError(f"estimators={estimators!r} must hold one candidate at least")
    return list(estimators)


def _warn_of_lone_values(X: Array, names: NDArray[Any] | None) -> None:
    """Warn of one value far beyond all others of a feature that varies."""
    if len(X) < _LEAST_ROWS:
        return
    far = np.abs(X - np.median(X, axis=0))
    typical = np.median(far, axis=0)
    second, first = np.partition(far, (-2, -1), axis=0)[-2:]
    lone = np.flatnonzero((typical > 0) & (first / _FAR > second))
    if lone.size:
        j = int(lone[(first[lone] / typical[lone]).argmax()])
        i = int(far[:, j].argmax())
        feature = j if names is None else repr(names[j])
        warnings.warn(
            f"row {i} holds {X[i, j]:.6g} in feature {feature}, more than {_FAR:g} "
            "times as far from its median as any other row: correct the value or leave "
            "the row out if it is an error, or put a transformer that bounds it in "
            "front, such as sklearn.preprocessing.QuantileTransformer",
            UserWarning,
            stacklevel=4,
        )
