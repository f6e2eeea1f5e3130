"""Which MeMd: model and preparation chosen on training rows held out, then calibrated.

Correlations help on one data set and mislead on the next, and so do preparations of the
samples. All candidates score the same held-out rows; each gets the temperature that
suits it best, and the one of least log-loss is fitted again to all rows.
"""

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from memdlib.bayes import BayesClassifier
from memdlib.generative.joint import JointMaxEntClassifier
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.samples import PREPARATIONS
from memdlib.generative.tempered import fit_temperature
from memdlib.generative.whitened import CorrelatedMeMdClassifier
from memdlib.moments.folds import content_positions
from memdlib.state import all_or_nothing, fitted
from memdlib.validation import (
    Number,
    Words,
    check_choice,
    check_parameters,
    labelled_data,
)

Array = NDArray[np.float64]

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
    cv_results: dict

    @property
    def class_prior(self) -> Array:
        return self.best.class_prior_


class ChosenMeMdClassifier(BayesClassifier):
    """MeMd whose model and preparation the training rows choose, calibrated.

    Parameters
    ----------
    models : sequence of str or (str, classifier), default=("shrunken", "correlated")
        Candidates. By name: "plain" (normal marginals of all features, as the paper
        has them), "shrunken" (class variances shrunk, features selected),
        "correlated" (:class:`memdlib.generative.CorrelatedMeMdClassifier`), "full"
        (:class:`memdlib.JointMaxEntClassifier`, a covariance for each class). Or a
        name and a classifier of this package, such as ``("poisson",
        MeMdClassifier(family="poisson"))``.
    preparations : sequence of str, default=("unchanged",)
        What is done to each row before, in every model: "unchanged", "standardised"
        (mean zero and variance one over its features) or "normal_scores" (quantiles of
        its ranks). The last two suppose that features are measured alike.
    criterion : {"log_loss", "accuracy"}, default="log_loss"
        Log-loss after one temperature each, or accuracy (log-loss among equals).
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
    cv_results_ : dict of str to ndarray of shape (number of candidates,)
        "model", "preparation", "temperature", "log_loss" (nats) and "accuracy" on
        held-out rows.
    n_features_in_ : int

    See Also
    --------
    memdlib.make_memd : the candidates that we recommend, by the kind of data.

    Notes
    -----
    The temperature changes no decision. It makes up for features that are counted as
    independent and are not; see :func:`memdlib.generative.fit_temperature`. With too
    few rows to hold any out, the first candidate is taken at temperature 1.

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
        "criterion": [Words("log_loss", "accuracy")],
        "n_folds": [Number(Integral, 2, None)],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        models=("shrunken", "correlated"),
        preparations=("unchanged",),
        criterion="log_loss",
        n_folds=5,
        random_state=None,
    ):
        self.models = models
        self.preparations = preparations
        self.criterion = criterion
        self.n_folds = n_folds
        self.random_state = random_state

    classes_ = fitted("classes")
    class_prior_ = fitted("class_prior")
    chosen_ = fitted("chosen")
    best_estimator_ = fitted("best")
    temperature_ = fitted("temperature")
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
        """
        check_parameters(self)
        models = self._candidates()
        X, codes, weight, classes = labelled_data(
            self, X, y, sample_weight, sparse_too=False
        )
        rng = check_random_state(self.random_state)
        at = content_positions(X, codes, weight, rng)
        fold = np.floor(at * self.n_folds)
        seed = int(rng.randint(2**31 - 1))
        found = []
        for how in self.preparations:
            Z = PREPARATIONS[how](X)
            for name, model in models:
                model = _seeded(model, seed)
                held_out = _held_out(model, Z, codes, weight, fold, len(classes))
                found.append({"model": name, "preparation": how, **held_out})
        best = min(range(len(found)), key=lambda i: self._loss(found[i]))
        chosen = found[best]
        model = _seeded(models[best % len(models)][1], seed)
        Z = PREPARATIONS[chosen["preparation"]](X)
        self._fitted = _ChosenModel(
            classes,
            model.fit(Z, classes[codes], sample_weight=weight),
            {name: chosen[name] for name in ("model", "preparation")},
            chosen["temperature"],
            {name: np.array([row[name] for row in found]) for name in chosen},
        )
        return self

    def _loss(self, found):
        if self.criterion == "log_loss":
            return found["log_loss"]
        return -found["accuracy"], found["log_loss"]

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


def _seeded(model: BaseEstimator, seed: int) -> BaseEstimator:
    """A fresh copy, which draws the same whenever it is fitted."""
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    return model


def _held_out(model, X, codes, weight, fold, n_classes: int) -> dict:
    """Temperature, log-loss and accuracy of a candidate on held-out rows.

    The rows of a class that a fold did not train are errors of every candidate, and no
    matter of temperature.
    """
    scores = np.full((len(codes), n_classes), -np.inf)
    tested = np.zeros(len(codes), dtype=bool)
    for f in np.unique(fold):
        test = fold == f
        present = np.unique(codes[~test])
        if len(present) > 1:
            part = clone(model).fit(X[~test], codes[~test], weight[~test])
            joint = part.predict_log_proba(X[test])
            scores[np.ix_(test, present)] = joint
            tested |= test
    known = np.isfinite(scores[np.arange(len(codes)), codes])
    if not known.any():
        return {"temperature": 1.0, "log_loss": np.inf, "accuracy": 0.0}
    found = fit_temperature(scores[known], codes[known], weight[known])
    right = (scores.argmax(axis=1) == codes) & known
    return {
        "temperature": found.temperature,
        "log_loss": found.log_loss,
        "accuracy": float(weight[right].sum() / weight[tested].sum()),
    }
