"""Displays in scikit-learn's style: accuracy curves, rankings and class densities.

They need matplotlib (``pip install 'memdlib[plot]'``), which is imported on use.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from memdlib._types import Axes, Estimator, MatrixLike
from memdlib.densities.display import Display
from memdlib.families import Bernoulli, Multinomial, Polynomial
from memdlib.families.counts import CountFamily
from memdlib.generative.explanations import contributions, names_of_features
from memdlib.generative.marginals import ClassMarginals
from memdlib.validation import check_integer

Array = NDArray[np.float64]

# Share of its largest value below which a density is not drawn.
_VISIBLE = 1e-3


@dataclass
class AccuracyCurveDisplay(Display):
    """Accuracy against the number of features.

    Parameters
    ----------
    n_features : ndarray of int, shape (G,)
    accuracy : ndarray of shape (G,)

    Attributes
    ----------
    ax_, figure_, line_ : matplotlib Axes, Figure and Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from memdlib import MeMdClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> display = AccuracyCurveDisplay.from_estimator(MeMdClassifier().fit(X, y), X, y)
    >>> display.accuracy.round(3).tolist()
    [0.953, 0.96, 0.967, 0.96]
    """

    n_features: NDArray[np.intp]
    accuracy: Array
    line_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        ax: Axes | None = None,
        line_kw: dict[Any, Any] | None = None,
        **options: Any,
    ) -> "AccuracyCurveDisplay":
        """Draw the accuracy curve of a fitted classifier.

        Parameters
        ----------
        estimator : estimator with ``accuracy_curve``
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)
        ax : matplotlib Axes, default=None
        line_kw : dict, default=None
            Passed to ``Axes.plot``.
        **options
            Passed to ``accuracy_curve``: ``sample_weight``, ``n_features_grid``.

        Returns
        -------
        AccuracyCurveDisplay
        """
        found = cls(*estimator.accuracy_curve(X, y, **options))
        return found.plot(ax=ax, line_kw=line_kw)

    def plot(
        self, *, ax: Axes | None = None, line_kw: dict[Any, Any] | None = None
    ) -> "AccuracyCurveDisplay":
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        line_kw : dict, default=None

        Returns
        -------
        AccuracyCurveDisplay
        """
        ax = self._on(ax)
        (self.line_,) = ax.plot(self.n_features, self.accuracy, **line_kw or {})
        ax.set(xlabel="number of features", ylabel="accuracy", xscale="log")
        return self


@dataclass
class RankingDisplay(Display):
    """The best features, as horizontal bars.

    Parameters
    ----------
    values : ndarray of shape (S,)
        Divergences, or gains of a greedy ranker, from the best feature down; nats.
    names : ndarray of str, shape (S,)
    label : str

    Attributes
    ----------
    ax_, figure_, bars_ : matplotlib Axes, Figure and BarContainer

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from memdlib import DivergenceRanker
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = RankingDisplay.from_estimator(DivergenceRanker().fit(X, y))
    >>> display.names.tolist()[:2]
    ['petal length (cm)', 'petal width (cm)']
    """

    values: Array
    names: NDArray[Any]
    label: str
    bars_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        *,
        n_features: int = 10,
        feature_names: ArrayLike | None = None,
        ax: Axes | None = None,
        bar_kw: dict[Any, Any] | None = None,
    ) -> "RankingDisplay":
        """Draw the best features of a fitted ranker or classifier.

        Parameters
        ----------
        estimator : estimator with ``order_`` and ``gains_`` or ``feature_divergences_``
        n_features : int, default=10
            How many, at most.
        feature_names : array-like of str, shape (d,), default=None
            None takes ``feature_names_in_``, or numbers.
        ax : matplotlib Axes, default=None
        bar_kw : dict, default=None
            Passed to ``Axes.barh``.

        Returns
        -------
        RankingDisplay
        """
        check_is_fitted(estimator)
        best = estimator.order_[: check_integer(n_features, "n_features")]
        if hasattr(estimator, "gains_"):
            values, label = estimator.gains_[: len(best)], "gain (nats)"
        else:
            values, label = estimator.feature_divergences_[best], "divergence (nats)"
        names = names_of_features(estimator, estimator.n_features_in_, feature_names)
        return cls(values, names[best], label).plot(ax=ax, bar_kw=bar_kw)

    def plot(
        self, *, ax: Axes | None = None, bar_kw: dict[Any, Any] | None = None
    ) -> "RankingDisplay":
        """Draw the bars, the best feature on top; one that is infinite has no end.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        bar_kw : dict, default=None

        Returns
        -------
        RankingDisplay
        """
        ax = self._on(ax)
        place, finite = np.arange(len(self.values)), np.isfinite(self.values)
        beyond = 2.0 * self.values[finite].max(initial=1.0)
        widths = np.where(finite, self.values, beyond)
        self.bars_ = ax.barh(place, widths, **bar_kw or {})
        if not finite.all():
            ax.set_xlim(right=0.6 * beyond)
        ax.set_yticks(place, self.names)
        ax.invert_yaxis()
        ax.set_xlabel(self.label)
        return self


@dataclass
class ContributionDisplay(Display):
    """Why one row is given to a class: what speaks for it, and what against.

    Parameters
    ----------
    values : ndarray of shape (S,)
        What each feature adds towards the class, the strongest first; nats.
    names : ndarray of str, shape (S,)
    rest : float
        What all other features add together.
    base : float
        Score before any feature is seen; values, rest and base add up to the score.
    label : str
        The class.
    exact : bool, default=True
        Whether that is the score of the classifier, and not the average over the models
        of a mixture.

    Attributes
    ----------
    ax_, figure_, bars_ : matplotlib Axes, Figure and BarContainer

    See Also
    --------
    memdlib.generative.contributions : the numbers, and what they are relative to.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from memdlib import MeMdClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = MeMdClassifier(n_features=None).fit(X, y)
    >>> display = ContributionDisplay.from_estimator(model, X[:1], n_features=2)
    >>> display.label, display.names.tolist()
    ('0', ['petal length (cm)', 'petal width (cm)'])
    """

    values: Array
    names: NDArray[Any]
    rest: float
    base: float
    label: str
    exact: bool = True
    bars_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        *,
        target: float | None = None,
        n_features: int = 10,
        feature_names: ArrayLike | None = None,
        ax: Axes | None = None,
        bar_kw: dict[Any, Any] | None = None,
    ) -> "ContributionDisplay":
        """Draw what the strongest features of one row add to its score.

        Parameters
        ----------
        estimator : classifier
            As for :func:`memdlib.generative.contributions`.
        X : {array-like, sparse matrix} of shape (1, d)
            One row.
        target : scalar, default=None
            The class; None takes the one that is predicted.
        n_features : int, default=10
            How many, at most.
        feature_names : array-like of str, shape (d,), default=None
        ax : matplotlib Axes, default=None
        bar_kw : dict, default=None
            Passed to ``Axes.barh``.

        Returns
        -------
        ContributionDisplay

        Raises
        ------
        ValueError
            If X is not one row, or there is no such class.
        """
        found = contributions(estimator, X, feature_names)
        if len(found.base) != 1:
            raise ValueError(
                f"X has {len(found.base)} rows; give one, such as X[:1], for one "
                "prediction"
            )
        target = estimator.predict(X)[0] if target is None else target
        values = found.towards(target)
        values = values.toarray()[0] if sparse.issparse(values) else values[0]
        strongest = np.argsort(-np.abs(values), kind="stable")
        strongest = strongest[: check_integer(n_features, "n_features")]
        strongest = strongest[values[strongest] != 0]
        shown = cls(
            values[strongest],
            found.feature_names[strongest],
            float(np.delete(values, strongest).sum()),
            float(found.base_towards(target)[0]),
            str(target),
            found.left_out is None,
        )
        return shown.plot(ax=ax, bar_kw=bar_kw)

    def plot(
        self, *, ax: Axes | None = None, bar_kw: dict[Any, Any] | None = None
    ) -> "ContributionDisplay":
        """Draw the bars, the strongest on top; below them all others, and the base.

        Bars to the right speak for the class, those to the left against it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        bar_kw : dict, default=None

        Returns
        -------
        ContributionDisplay
        """
        ax = self._on(ax)
        widths = np.concatenate([self.values, [self.rest, self.base]])
        names = [*self.names, "all other features", "base"]
        colours = {"color": np.where(widths < 0, "C1", "C0").tolist()}
        place = np.arange(len(widths))
        self.bars_ = ax.barh(place, widths, **colours | (bar_kw or {}))
        ax.axvline(0.0, color="0.4", linewidth=0.8)
        ax.set_yticks(place, names)
        ax.invert_yaxis()
        whole = "in all" if self.exact else "in all, average of the models"
        total = f"{widths.sum():.2f} {whole}"
        ax.set_xlabel(f"towards {self.label} (nats), {total}")
        return self


@dataclass
class DensityDisplay(Display):
    """Class densities of one feature.

    Parameters
    ----------
    x : ndarray of shape (N,)
    density : ndarray of shape (K, N)
        Densities, or probabilities of counts and levels.
    classes : ndarray of shape (K,)
    name : str
        Of the feature.
    discrete : bool

    Attributes
    ----------
    ax_, figure_, lines_ : matplotlib Axes, Figure and list of Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from memdlib import MeMdClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = MeMdClassifier().fit(X, y)
    >>> display = DensityDisplay.from_estimator(model, "petal length (cm)")
    >>> [len(display.lines_), display.density.argmax(axis=1).argmax().item()]
    [3, 2]
    """

    x: Array
    density: Array
    classes: NDArray[Any]
    name: str
    discrete: bool
    lines_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        feature: int | str,
        *,
        ax: Axes | None = None,
        line_kw: dict[Any, Any] | None = None,
    ) -> "DensityDisplay":
        """Draw the class densities of one feature.

        Parameters
        ----------
        estimator : MeMdClassifier, or JointMaxEntClassifier("diagonal")
            Fitted.
        feature : int or str
            Index, or name where X had names.
        ax : matplotlib Axes, default=None
        line_kw : dict, default=None
            Passed to ``Axes.plot``.

        Returns
        -------
        DensityDisplay

        Raises
        ------
        ValueError
            If there is no such feature, or the family is "multinomial", which has no
            density of one feature.
        """
        check_is_fitted(estimator)
        names = names_of_features(estimator, estimator.n_features_in_)
        if isinstance(feature, str):
            if feature not in names:
                raise ValueError(f"feature={feature!r} is not among {names.tolist()}")
            feature = names.tolist().index(feature)
        feature = check_integer(feature, "feature", minimum=0)
        if feature >= len(names):
            raise ValueError(f"feature={feature}, but X had {len(names)} features")
        x, density, discrete = _class_densities(estimator._fitted.marginals, feature)
        found = cls(x, density, estimator.classes_, str(names[feature]), discrete)
        return found.plot(ax=ax, line_kw=line_kw)

    def plot(
        self, *, ax: Axes | None = None, line_kw: dict[Any, Any] | None = None
    ) -> "DensityDisplay":
        """Draw one line a class.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        line_kw : dict, default=None

        Returns
        -------
        DensityDisplay
        """
        ax = self._on(ax)
        style = {"marker": "o" if self.discrete else ""} | (line_kw or {})
        self.lines_ = [
            ax.plot(self.x, values, label=str(name), **style)[0]
            for name, values in zip(self.classes, self.density, strict=True)
        ]
        ylabel = "probability" if self.discrete else "density"
        ax.set(xlabel=self.name, ylabel=ylabel)
        ax.legend()
        return self


def _class_densities(marginals: ClassMarginals, s: int) -> tuple[Array, Array, bool]:
    """Points, densities of all classes there, and whether they are probabilities."""
    family, mu = marginals.family, marginals.mean_params[:, s]
    origin = marginals.moments.location[:, s, None]
    lam = marginals.natural_params[:, s, None]
    x, discrete = _points(family, mu, origin)
    density = np.exp(family.log_density(x - origin, lam))
    peak = density.max(axis=1, keepdims=True)
    (seen,) = np.nonzero((density > _VISIBLE * peak).any(axis=0))
    shown = slice(seen[0], seen[-1] + 1)
    return x[shown], density[:, shown], discrete


def _points(family, mu: Array, origin: ArrayLike) -> tuple[Array, bool]:
    if isinstance(family, Multinomial):
        raise ValueError(
            'the family "multinomial" is of a document as a whole; it has no density '
            "of one feature"
        )
    if isinstance(family, Bernoulli):
        return np.array([0.0, 1.0]), True
    if isinstance(family, CountFamily):
        return np.arange(family.largest_count(mu).max() + 1), True
    if isinstance(family, Polynomial) and len(family.support) > 2:
        return np.sort(family.support), True
    ends = family.panels(mu) + origin
    return np.unique(np.linspace(ends.min(axis=1), ends.max(axis=1), 1025)), False
