"""Naive Bayes whose class marginals are chosen by the length of their NML codes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from memdlib.estimator import BayesClassifier, all_or_nothing, fitted
from memdlib.generative.calibration import Calibration, fit_calibration
from memdlib.generative.explanations import JointByFeature, joint_by_feature
from memdlib.generative.recommended.held_out import HeldOut
from memdlib.holdout import content_positions
from memdlib.nml.codes.interval import NAMES, Columns, fit_columns
from memdlib.validation import (
    Number,
    check_parameters,
    check_priors,
    checked_data,
    labelled_data,
)

Array = NDArray[np.float64]

FAMILIES = ("normal", "transformed", "moments", "histogram")
_FAMILY = np.array([name.split()[0] for name in NAMES])

# Share of its range below which distances between values of a feature do not count.
_FINEST = 2.0**-10


@dataclass(frozen=True)
class FeatureRanges:
    """Where the values of features lie, and what tells them apart.

    Parameters
    ----------
    n_features : int
        d.
    varies : ndarray of int, shape (q,)
        Features that are not constant; what follows is of these.
    low, span : ndarray of shape (q,)
        Half the least value, and half the range: no range overflows.
    gap : ndarray of shape (q,)
        Least distance of two values, as a share of the range.
    """

    n_features: int
    varies: NDArray[np.intp]
    low: Array
    span: Array
    gap: Array

    @classmethod
    def of(cls, X: Array) -> "FeatureRanges":
        """Ranges of rows X (n, d)."""
        half = np.asarray(X, dtype=np.float64) / 2
        low, high = half.min(axis=0), half.max(axis=0)
        (varies,) = np.nonzero(high > low)
        low, span = low[varies], (high - low)[varies]
        gaps = np.diff(np.sort((half[:, varies] - low) / span, axis=0), axis=0)
        gap = np.where(gaps > 0, np.maximum(gaps, _FINEST), 1.0).min(axis=0)
        return cls(X.shape[1], varies, low, span, gap)

    @property
    def precision(self) -> Array:
        """Distance of values that are told apart, on the unit interval, (q,)."""
        return self.gap / (1.0 + self.gap)

    def scaled(self, X: Array) -> Array:
        """Values on the unit interval, (n, q), those out of range at its ends."""
        half = np.asarray(X[:, self.varies], dtype=np.float64) / 2
        with np.errstate(over="ignore"):
            u = np.clip((half - self.low) / self.span, 0.0, 1.0)
        return (u + 0.5 * self.gap) / (1.0 + self.gap)

    @property
    def log_width(self) -> Array:
        """Log of what the unit interval is on the scale of each feature, (q,)."""
        return log(2.0) + np.log(self.span) + np.log1p(self.gap)

    def for_all(self, values: Array, other: ArrayLike) -> Array:
        """Values (..., q) among those of all features, (..., d)."""
        found = np.full((*values.shape[:-1], self.n_features), other, values.dtype)
        found[..., self.varies] = values
        return found


@dataclass(frozen=True)
class CodedMarginals:
    """Densities of every feature in every class, chosen by code length.

    Parameters
    ----------
    classes : ndarray of shape (K,)
    class_prior : ndarray of shape (K,)
    ranges : FeatureRanges
    fits : list of K lists of M columns
        All models of each class.
    choice : ndarray of int, shape (K, q)
        Which of the M models is used.
    lengths : ndarray of shape (q,)
        Of the codes of each feature, the choice included, in nats.
    calibration : Calibration or None
        Of the scores of rows held out.
    """

    classes: NDArray
    class_prior: Array
    ranges: FeatureRanges
    fits: list[list[Columns]]
    choice: NDArray[np.intp]
    lengths: Array
    calibration: Calibration | None = None

    @classmethod
    def of(
        cls,
        X: Array,
        codes: NDArray[np.intp],
        classes: NDArray[Any],
        prior: Array,
        families: Sequence[str],
    ) -> "CodedMarginals":
        """Fit rows X (n, d) of classes 0..K-1, each of which has some."""
        K, ranges = len(classes), FeatureRanges.of(X)
        u, precision = ranges.scaled(X), ranges.precision
        fits = [fit_columns(u[codes == k], precision) for k in range(K)]
        lengths = np.array([[model.codelengths for model in own] for own in fits])
        used = np.isin(_FAMILY, families)
        lengths = np.where(used[:, None], lengths, np.inf)
        none = ~np.isfinite(lengths).any(axis=1)
        lengths[:, -1][none] = np.array([own[-1].codelengths for own in fits])[none]
        # one model for all classes, or one for each
        alike, apart = lengths.sum(axis=0), lengths.min(axis=1).sum(axis=0)
        said = log(2.0) + log(used.sum())
        alike_total = alike.min(axis=0) + said
        apart_total = apart + said + (K - 1) * log(used.sum())
        choice = np.where(
            alike_total <= apart_total, alike.argmin(axis=0), lengths.argmin(axis=1)
        )
        total = np.minimum(alike_total, apart_total)
        return cls(classes, prior, ranges, fits, choice, total)

    def log_densities(self, X: Array) -> Array:
        """Log density of each feature that varies, (K, n, q), in the units of X."""
        u = self.ranges.scaled(X)
        found = np.empty((len(self.classes), *u.shape))
        for out, models, choice in zip(found, self.fits, self.choice, strict=True):
            for i in np.unique(choice):
                (columns,) = np.nonzero(choice == i)
                out[:, columns] = models[i].log_density(u[:, columns], columns)
        return found - self.ranges.log_width

    def scores(self, X: Array) -> Array:
        """Joint log densities, (n, K), before calibration."""
        with np.errstate(divide="ignore"):
            log_prior = np.log(self.class_prior)
        return log_prior + self.log_densities(X).sum(axis=2).T

    @property
    def marginals(self) -> NDArray[np.str_]:
        """Names of the models in use, (K, d)."""
        return self.ranges.for_all(np.array(NAMES)[self.choice], "constant")

    @property
    def codelengths(self) -> Array:
        """Code length of each feature, (d,)."""
        return self.ranges.for_all(self.lengths, 0.0)

    @property
    def temperature(self) -> float:
        """What scores are divided by; inf if they say nothing."""
        with np.errstate(divide="ignore"):
            return float(1.0 / self.calibration.multipliers[0])


class NMLNaiveBayes(BayesClassifier):
    """Naive Bayes on class marginals that the shortest NML code chooses.

    For every feature, sixteen models compete for the density in a class: a normal law;
    normal laws of the feature spread by a logarithm from its lower or upper end, of ten
    strengths; maximum entropy on the range with one to four moments; and the histogram
    of best bins. That with the shortest code for the training values wins, for all
    classes together, or for each class where saying so pays.

    Parameters
    ----------
    families : sequence of str, default=("normal", "transformed", "moments", \
"histogram")
        Which models compete. Where none of them has a code (a class with one row, or
        one value), the histogram takes their place.
    priors : array-like of shape (K,), default=None
        Class probabilities, in the order of ``classes_``; None takes the shares of the
        rows.
    validation : int >= 2, default=5
        Folds of the training rows that are held out in turn to calibrate the scores;
        see :func:`memdlib.generative.fit_calibration`.
    random_state : int, RandomState or None, default=None
        Draws the folds.

    Attributes
    ----------
    classes_, class_prior_ : ndarray of shape (K,)
    marginals_ : ndarray of str, shape (K, d)
        Name of the model of each feature in each class, such as "transformed +4" or
        "moments 2"; "constant" for a feature of one value, which is left out.
    codelengths_ : ndarray of shape (d,)
        Of the values of each feature given the classes, in nats, the choice included;
        as densities in units of its range, so that they may be negative.
    temperature_ : float
        What scores are divided by.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    Notes
    -----
    Code lengths compare as densities of the same values with respect to one measure,
    with the range and the precision of a feature, the least distance of two of its
    training values, taken as known (from a thousandth of the range on). No model
    resolves more than the precision.
    The complexities of histograms and normal laws are exact, where the bounds of the
    bins, the strength and the octave of the standard deviation are said first; that of
    m moments is the limit for many rows, which is some tenths of a nat too large at ten
    rows a class (:func:`memdlib.nml.moments_complexity`).

    A new value outside the range of the training values counts as its end.

    Time is O(n log n) a feature for its precision, O(n) for each model, and a dynamic
    program that does not grow with n.

    References
    ----------
    .. [1] P. Kontkanen and P. Myllymaki, MDL histogram density estimation, AISTATS
       2007.

    Examples
    --------
    >>> from memdlib.nml import NMLNaiveBayes
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = NMLNaiveBayes(random_state=0).fit(X[::2], y[::2])
    >>> model.marginals_[0, :3].tolist()
    ['moments 2', 'transformed +64', 'moments 2']
    >>> round(model.score(X[1::2], y[1::2]), 3)
    0.933
    """

    _parameter_constraints: ClassVar[dict] = {
        "families": ["array-like"],
        "priors": [None, "array-like"],
        "validation": [Number(Integral, 2, None)],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        families: Sequence[Any] = FAMILIES,
        *,
        priors: ArrayLike | None = None,
        validation: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.families = families
        self.priors = priors
        self.validation = validation
        self.random_state = random_state

    classes_: NDArray[Any] = fitted("classes")
    class_prior_: Array = fitted("class_prior")
    marginals_: NDArray[np.str_] = fitted("marginals")
    codelengths_: Array = fitted("codelengths")
    temperature_: float = fitted("temperature")

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Choose the densities, and calibrate their scores.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Dense and finite.
        y : array-like of shape (n,)
            Class labels, at least two classes.

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
        families = list(self.families)
        if not families or not set(families) <= set(FAMILIES):
            raise ValueError(
                f"families={self.families!r} must name one or more of {list(FAMILIES)}"
            )
        X, codes, weight, classes = labelled_data(self, X, y, None, sparse_too=False)
        prior = check_priors(self.priors, len(classes))
        if prior is None:
            prior = np.bincount(codes) / len(codes)
        at = content_positions(X, codes, weight, check_random_state(self.random_state))
        fold = np.floor(at * self.validation)
        splits = [(fold != f, fold == f) for f in range(self.validation)]
        held_out = HeldOut.of(codes, weight, splits)
        scores = np.full((len(codes), len(classes)), -np.inf)
        for train, test in held_out.splits:
            present, own = np.unique(codes[train], return_inverse=True)
            part = CodedMarginals.of(X[train], own, present, prior[present], families)
            scores[np.ix_(test, present)] = part.scores(X[test])
        known = held_out.known & (prior[codes] > 0)
        calibration = Calibration(np.ones(1), 0.5 / (1.0 + len(codes)), np.nan, 0.0, 0)
        if known.any():
            calibration = fit_calibration([scores[known]], codes[known])
        found = CodedMarginals.of(X, codes, classes, prior, families)
        self._fitted = replace(found, calibration=calibration)
        return self

    def log_densities(self, X: ArrayLike) -> Array:
        """Log density of every feature in every class, before calibration.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (K, n, d)
            Nats, by one unit of each column of X; zero for a constant feature. Outside
            of the range of the training values it is that of the end.
        """
        check_is_fitted(self)
        X = checked_data(self, X, dtype=np.float64, reset=False)
        found = self._fitted
        return found.ranges.for_all(found.log_densities(X), 0.0)

    @property
    def _uniform_share(self):
        return self._fitted.calibration.uniform_share

    def _joint_log_density(self, X):
        return self._fitted.calibration.joint([self._fitted.scores(X)])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")


@joint_by_feature.register
def _(model: NMLNaiveBayes, X):
    beta = model._fitted.calibration.multipliers[0]
    with np.errstate(divide="ignore"):
        base = beta * np.log(model.class_prior_)
    return JointByFeature(base, list(beta * model.log_densities(X)))
