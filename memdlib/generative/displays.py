"""Displays in scikit-learn's style: accuracy curves and rankings.

They need matplotlib (``pip install 'memdlib[plot]'``), which is imported on use.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils.validation import check_is_fitted

from memdlib._types import (
    Array,
    ArrayLike,
    Axes,
    Estimator,
    Indices,
    MatrixLike,
    NDArray,
)


@dataclass
class _Display:
    """The axes that a display was drawn on, and the figure."""

    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    def _on(self, ax: Axes | None) -> Axes:
        """The axes given, or those of a new figure, from here on also in ``ax_``."""
        if ax is None:
            check_matplotlib_support(type(self).__name__)
            from matplotlib import pyplot

            ax = pyplot.subplots()[1]
        self.ax_, self.figure_ = ax, ax.figure
        return ax


@dataclass
class AccuracyCurveDisplay(_Display):
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

    n_features: Indices
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
        """Draw the curve of a fitted classifier, or of the last step of a pipeline.

        Options are those of ``accuracy_curve``; ``line_kw`` is passed to ``Axes.plot``.
        """
        before, last = _last_step(estimator, "accuracy_curve")
        X = X if before is None else before.transform(X)
        return cls(*last.accuracy_curve(X, y, **options)).plot(ax=ax, line_kw=line_kw)

    def plot(
        self, *, ax: Axes | None = None, line_kw: dict[Any, Any] | None = None
    ) -> "AccuracyCurveDisplay":
        """Draw the curve, on these axes or new ones."""
        ax = self._on(ax)
        (self.line_,) = ax.plot(self.n_features, self.accuracy, **line_kw or {})
        ax.set(xlabel="number of features", ylabel="accuracy", xscale="log")
        return self


@dataclass
class RankingDisplay(_Display):
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
        ax: Axes | None = None,
        bar_kw: dict[Any, Any] | None = None,
    ) -> "RankingDisplay":
        """Draw the best features of a fitted ranker or classifier, or of a pipeline's.

        ``bar_kw`` is passed to ``Axes.barh``.
        """
        before, last = _last_step(estimator, "order_")
        best = last.order_[:n_features]
        if hasattr(last, "gains_"):
            values, label = last.gains_[:n_features], "gain (nats)"
        else:
            values, label = last.feature_divergences_[best], "divergence (nats)"
        if before is not None:
            names = before.get_feature_names_out()
        else:
            numbers = [f"x{s}" for s in range(last.n_features_in_)]
            names = getattr(last, "feature_names_in_", numbers)
        return cls(values, np.asarray(names)[best], label).plot(ax=ax, bar_kw=bar_kw)

    def plot(
        self, *, ax: Axes | None = None, bar_kw: dict[Any, Any] | None = None
    ) -> "RankingDisplay":
        """Draw the bars, the best feature on top; one that is infinite has no end."""
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


def _last_step(estimator, name):
    """The last step that has an attribute, and those before; None if there are none."""
    check_is_fitted(estimator)
    if not isinstance(estimator, Pipeline):
        return None, estimator
    having = [i for i, step in enumerate(estimator) if hasattr(step, name)]
    if not having:
        raise ValueError(f"no step of the pipeline has {name}; {estimator!r}")
    at = having[-1]
    return estimator[:at] if at else None, estimator[at]
