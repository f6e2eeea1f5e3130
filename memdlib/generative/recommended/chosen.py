"""Which MeMd: model and preparation chosen on training rows held out, then calibrated.

Correlations help on one data set and mislead on the next, and so do preparations of the
samples. All candidates score the same held-out rows; each is calibrated on them, and
the one of least log-loss is fitted again to all rows. Fifty rows
tell two good candidates apart by luck as often as not: the first keeps its place unless
another is better by more than the error of their difference.
"""

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from memdlib.estimator import BayesClassifier, all_or_nothing, fitted
from memdlib.generative.calibration import fit_calibration
from memdlib.generative.correlated.whitened import CorrelatedMeMdClassifier
from memdlib.generative.memd.classifier import MeMdClassifier
from memdlib.generative.memd.joint import JointMaxEntClassifier
from memdlib.generative.recommended.samples import PREPARATIONS
from memdlib.holdout import content_positions
from memdlib.validation import (
    NONNEGATIVE,
    Number,
    Words,
    check_choice,
    check_parameters,
    labelled_data,
)

Array = NDArray[np.float64]

# Of a value that stands alone: as many times as far from the median as any other, in a
# feature of rows enough to tell.
_FAR, _LEAST_ROWS = 30.0, 20

MODELS = {
    "plain": MeMdClassifier(n_features=None),
    "shrunken": MeMdClassifier(shrinkage="auto"),
    "correlated": CorrelatedMeMdClassifier(),
    "full": JointMaxEntClassifier("full"),
}


@dataclass(frozen=True)
class _ChosenModel:
    """The candidate chosen, fitted to all rows, and what was found of the others."""

    classes: NDArray
    best: BaseEstimator
    chosen: dict
    temperature: float
    uniform_share: float
    cv_results: dict

    @property
    def class_prior(self) -> Array:
        return self.best.class_prior_


class ChosenMeMdClassifier(BayesClassifier):
    """MeMd whose model and preparation the training rows choose, calibrated.

    Parameters
    ----------
    models : sequence of str or (str, classifier), default=("correlated", "shrunken")
        Candidates; the first is the one to beat. By name: "plain" (normal marginals of
        all features, as the paper has them), "shrunken" (class variances shrunk,
        features selected), "correlated"
        (:class:`memdlib.generative.CorrelatedMeMdClassifier`), "full"
        (:class:`memdlib.JointMaxEntClassifier`, a covariance for each class). Or a
        name and a classifier of this package, such as ``("poisson",
        MeMdClassifier(family="poisson"))``.
    preparations : sequence of str, default=("unchanged",)
        What is done to each row before, in every model: "unchanged", "standardised"
        (mean zero and variance one over its features) or "normal_scores" (quantiles of
        its ranks). The last two suppose that features are measured alike. The first is
        tried with all models, then the next.
    criterion : {"log_loss", "accuracy", "code_length"}, default="log_loss"
        What is compared on held-out rows: log-loss, each candidate calibrated, or
        errors. "code_length" is the prequential code length of the labels [1]_: each
        fold is coded with the posteriors that the folds before it give, after one
        calibration for all.
    margin : float >= 0, default=2.0
        By how many standard errors of the difference a candidate has to be better than
        the first to take its place; of several that are, the best does. 0 takes the
        best of all.
    n_folds : int >= 2, default=5
        Folds of the training rows, stratified by class.
    random_state : int, RandomState or None, default=None
        Draws the folds, and what candidates draw.

    Attributes
    ----------
    classes_, class_prior_ : ndarray of shape (K,)
    chosen_ : dict
        "model" and "preparation".
    best_estimator_ : classifier
        Fitted to all rows, prepared.
    temperature_ : float
        Scores of the candidate chosen are divided by it.
    uniform_share_ : float
        Share of uniform posteriors that ``predict_proba`` mixes in: 1 / (n + 1), n the
        weight of the rows held out.
    cv_results_ : dict of str to ndarray of shape (number of candidates,)
        "model", "preparation"; on held-out rows "temperature", "log_loss" (nats a row;
        for "code_length" the rows are those of all folds but the first), "accuracy",
        and what of the criterion is "gained" over the first candidate, with its
        standard "error".
    n_features_in_ : int

    See Also
    --------
    memdlib.make_memd : the candidates that we recommend, by the kind of data.

    Notes
    -----
    Calibration changes no decision. It makes up for features that are counted as
    independent and are not, and for rows that no candidate foresees; see
    :func:`memdlib.generative.fit_calibration`. With too few rows to hold any out, the
    first candidate is taken as it is: temperature 1 and share 0.

    References
    ----------
    .. [1] Dawid, Present position and potential developments: some personal views,
       statistical theory, the prequential approach, Journal of the Royal Statistical
       Society A 147 (1984).

    Examples
    --------
    >>> from memdlib.generative import ChosenMeMdClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = ChosenMeMdClassifier(random_state=0).fit(X[::2], y[::2])
    >>> clf.chosen_["model"], round(clf.score(X[1::2], y[1::2]), 3)
    ('correlated', 0.966)
    """

    _parameter_constraints: ClassVar[dict] = {
        "models": [list, tuple],
        "preparations": [list, tuple],
        "criterion": [Words("log_loss", "accuracy", "code_length")],
        "margin": [NONNEGATIVE],
        "n_folds": [Number(Integral, 2, None)],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        models=("correlated", "shrunken"),
        preparations=("unchanged",),
        criterion="log_loss",
        margin=2.0,
        n_folds=5,
        random_state=None,
    ):
        self.models = models
        self.preparations = preparations
        self.criterion = criterion
        self.margin = margin
        self.n_folds = n_folds
        self.random_state = random_state

    classes_ = fitted("classes")
    class_prior_ = fitted("class_prior")
    chosen_ = fitted("chosen")
    best_estimator_ = fitted("best")
    temperature_ = fitted("temperature")
    uniform_share_ = fitted("uniform_share")
    _uniform_share = uniform_share_
    cv_results_ = fitted("cv_results")

    @all_or_nothing
    def fit(self, X, y, sample_weight=None):
        """Choose by held-out rows, and fit the choice to all.

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
            If the choice takes values as they are, and one of them lies thirty times as
            far from the median of its feature as any other: means and variances are
            then those of that row.
        """
        check_parameters(self)
        models = self._candidates()
        X, codes, weight, classes = labelled_data(
            self, X, y, sample_weight, sparse_too=False
        )
        rng = check_random_state(self.random_state)
        at = content_positions(X, codes, weight, rng)
        seed = int(rng.randint(2**31 - 1))
        fold, in_turn = np.floor(at * self.n_folds), self.criterion == "code_length"
        held_out = _HeldOut(codes, weight, fold, len(classes), in_turn)
        prepared = {how: PREPARATIONS[how](X) for how in self.preparations}
        found, losses = [], []
        for how, Z in prepared.items():
            for name, model in models:
                row, loss = held_out.of(_seeded(model, seed), Z, self.criterion)
                gained, error = held_out.gained(losses[0] if losses else loss, loss)
                found.append({"model": name, "preparation": how, **row})
                found[-1] |= {"gained": gained, "error": error}
                losses.append(loss)
        # an infinite error times a margin of zero would be no number
        better = [
            r["gained"] > (self.margin * r["error"] if self.margin else 0.0)
            for r in found
        ]
        best = max(range(len(found)), key=lambda i: better[i] * found[i]["gained"])
        chosen = found[best]
        model = _seeded(models[best % len(models)][1], seed)
        Z = prepared[chosen["preparation"]]
        self._fitted = _ChosenModel(
            classes,
            model.fit(Z, classes[codes], sample_weight=weight),
            {name: chosen[name] for name in ("model", "preparation")},
            chosen["temperature"],
            held_out.uniform_share,
            {name: np.array([row[name] for row in found]) for name in chosen},
        )
        if chosen["preparation"] == "unchanged":
            _warn_of_lone_values(X)
        return self

    def _candidates(self) -> list:
        """Names and classifiers, checked."""
        for how in self.preparations:
            check_choice(how, "preparations", tuple(PREPARATIONS))
        found = []
        for model in self.models:
            if isinstance(model, str):
                check_choice(model, "models", tuple(MODELS))
                found.append((model, MODELS[model]))
            elif (
                isinstance(model, tuple)
                and len(model) == 2
                and isinstance(model[1], BayesClassifier)
            ):
                found.append(model)
            else:
                raise ValueError(
                    f"models holds {model!r}; give names among {list(MODELS)}, or "
                    "pairs of a name and a classifier of memdlib"
                )
        if not found or not self.preparations:
            raise ValueError(
                f"models={self.models!r} and preparations={self.preparations!r} must "
                "hold one candidate at least"
            )
        return found

    def _joint_log_density(self, X):
        model = self._fitted
        Z = PREPARATIONS[model.chosen["preparation"]](X)
        return model.best._joint_log_density(Z) / model.temperature

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_fitted")


def _warn_of_lone_values(X: Array) -> None:
    """Warn of one value far beyond all others of a feature that varies."""
    if len(X) < _LEAST_ROWS:
        return
    half = 0.5 * X
    far = np.abs(half - np.median(half, axis=0))
    typical = np.median(far, axis=0)
    second, first = np.partition(far, (-2, -1), axis=0)[-2:]
    lone = np.flatnonzero((typical > 0) & (first / _FAR > second))
    if lone.size:
        j = int(lone[(first[lone] / typical[lone]).argmax()])
        i = int(far[:, j].argmax())
        warnings.warn(
            f"row {i} holds {X[i, j]:.6g} in feature {j}, more than {_FAR:g} times as "
            "far from its median as any other row: correct the value or leave the row "
            "out if it is an error, or put a transformer that bounds it in front, such "
            "as sklearn.preprocessing.QuantileTransformer",
            UserWarning,
            stacklevel=4,
        )


def _seeded(model: BaseEstimator, seed: int) -> BaseEstimator:
    """A fresh copy, which draws the same whenever it is fitted."""
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    return model


class _HeldOut:
    """Rows held out in turn, the same for all candidates.

    The rows of a class that a fold did not train are errors of every candidate, and no
    matter of log-loss. All other folds train a fold or, ``in_turn``, those before it.
    """

    def __init__(self, codes, weight, fold, n_classes: int, in_turn: bool):
        self.codes, self.weight, self.n_classes = codes, weight, n_classes
        self.parts, self.known = [], np.zeros(len(codes), dtype=bool)
        for f in np.unique(fold):
            train, test = fold < f if in_turn else fold != f, fold == f
            present = np.unique(codes[train])
            if len(present) > 1:
                self.parts.append((train, test, present))
                self.known |= test & np.isin(codes, present)

    @property
    def uniform_share(self) -> float:
        """Of calibrated posteriors; zero if no row could be held out."""
        tested = self.weight[self.known].sum()
        return float(1.0 / (1.0 + tested)) if tested else 0.0

    def of(self, model, X, criterion: str) -> tuple[dict, Array]:
        """Temperature, log-loss and accuracy of a candidate, and its losses."""
        scores = np.full((len(self.codes), self.n_classes), -np.inf)
        for train, test, present in self.parts:
            part = clone(model)
            part.fit(X[train], self.codes[train], sample_weight=self.weight[train])
            scores[np.ix_(test, present)] = part.predict_log_proba(X[test])
        scores, codes = scores[self.known], self.codes[self.known]
        own = np.arange(len(codes)), codes
        wrong = (scores.argmax(axis=1) != codes).astype(float)
        temperature, loss = 1.0, np.full(len(codes), np.inf)
        if len(codes) and np.isfinite(scores[own]).all():
            found = fit_calibration([scores], codes, self.weight[self.known])
            temperature = 1.0 / found.multipliers[0]
            loss = -found.log_posterior([scores])[own]
        row = {
            "temperature": temperature,
            "log_loss": self._mean(loss),
            "accuracy": 1.0 - self._mean(wrong),
        }
        return row, wrong if criterion == "accuracy" else loss

    def gained(self, first: Array, loss: Array) -> tuple[float, float]:
        """Mean of what the losses lie below the first ones, and its standard error."""
        if not len(loss) or not np.isfinite(loss).all():
            return 0.0, np.inf
        if not np.isfinite(first).all():
            return np.inf, 0.0
        gain = self._mean(first - loss)
        square = self._mean((first - loss - gain) ** 2)
        return gain, float(np.sqrt(square / self.weight[self.known].sum()))

    def _mean(self, values: Array) -> float:
        weight = self.weight[self.known]
        return float(weight @ values / weight.sum()) if len(values) else np.nan
