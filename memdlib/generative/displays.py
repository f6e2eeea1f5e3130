"""Displays in scikit-learn's style: accuracy curves and rankings.

They need matplotlib (``pip install 'memdlib[plot]'``), which is imported on use.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from memdlib._types import Axes, Estimator, MatrixLike
from memdlib.densities.display import Display
from memdlib.generative.explanations import names_of_features
from memdlib.validation import check_integer

Array = NDArray[np.float64]


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
