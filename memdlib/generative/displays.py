"""Displays in scikit-learn's style: accuracy curves and rankings.

They need matplotlib, and :class:`RankingDisplay` draws a frame of pandas (``pip install
'memdlib[plot]'`` installs both), which are imported on use.
"""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from memdlib._sklearn import check_matplotlib_support
from memdlib._types import (
    Array,
    Indices,
    NDArray,
)


@dataclass
class _Display:
    """Axes and figure of a display, set when it is drawn."""

    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    def _set_axes(self, ax):
        """Keep these axes, or new ones, in ``ax_`` and their figure in ``figure_``."""
        if ax is None:
            check_matplotlib_support(type(self).__name__)
            from matplotlib import pyplot

            ax = pyplot.subplots()[1]
        self.ax_ = ax
        self.figure_ = ax.figure
        return ax


@dataclass
class AccuracyCurveDisplay(_Display):
    """Accuracy against the number of features.

    Parameters
    ----------
    n_features : ndarray of int, shape (G,)
        Numbers of features.
    accuracy : ndarray of shape (G,)
        Accuracy with that many of the best features.

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
        estimator,
        X,
        y,
        *,
        ax=None,
        line_kw=None,
        **options,
    ):
        """Draw the accuracy curve of a fitted classifier.

        Parameters
        ----------
        estimator : classifier with ``accuracy_curve``, or Pipeline with such a step
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)
            Class labels.
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.
        line_kw : dict, default=None
            Keyword arguments of ``Axes.plot``.
        **options
            Keyword arguments of ``accuracy_curve``, which say which numbers of features
            are drawn, or how rows are weighted.

        Returns
        -------
        AccuracyCurveDisplay

        Raises
        ------
        ValueError
            If no step of a pipeline has an accuracy curve.
        """
        preprocessing, classifier = _split_pipeline(estimator, "accuracy_curve")
        if preprocessing is not None:
            X = preprocessing.transform(X)
        n_features, accuracy = classifier.accuracy_curve(X, y, **options)
        return cls(n_features, accuracy).plot(ax=ax, line_kw=line_kw)

    def plot(self, *, ax=None, line_kw=None):
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.
        line_kw : dict, default=None
            Keyword arguments of ``Axes.plot``.

        Returns
        -------
        self
        """
        ax = self._set_axes(ax)
        (self.line_,) = ax.plot(self.n_features, self.accuracy, **line_kw or {})
        ax.set(xlabel="number of features", ylabel="accuracy", xscale="log")
        return self


@dataclass
class RankingDisplay(_Display):
    """The best features, as horizontal bars in the colour of the class they mark.

    Parameters
    ----------
    values : ndarray of shape (S,)
        Divergences, gains of a greedy ranker, or code lengths, in nats; the best
        feature first.
    names : ndarray of str, shape (S,)
        Names of the features.
    label : str
        Label of the axis of the values.
    marks : pandas.Series of length S, default=None
        Class that each feature marks, NaN for none: the column "marks" of a
        ``ranking_table``. None draws all bars in one colour.

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
    names: NDArray
    _: KW_ONLY
    label: str
    marks: Any = None
    bars_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator,
        *,
        n_features=10,
        ax=None,
        bar_kw=None,
    ):
        """Draw the best features of a fitted ranker or classifier.

        Parameters
        ----------
        estimator : estimator with ``ranking_table``, or Pipeline with such a step
        n_features : int, default=10
            How many features to draw.
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.
        bar_kw : dict, default=None
            Keyword arguments of ``Axes.barh``.

        Returns
        -------
        RankingDisplay

        Raises
        ------
        ValueError
            If no step of a pipeline has ``ranking_table``.
        """
        preprocessing, ranker = _split_pipeline(estimator, "ranking_table")
        names = None
        if preprocessing is not None:
            names = preprocessing.get_feature_names_out()
        table = ranker.ranking_table(n_features, names)
        label = "code length (nats)"
        if hasattr(ranker, "gains_"):
            label = "gain (nats)"
        elif hasattr(ranker, "scores_"):
            label = "divergence (nats)"
        display = cls(
            table["nats"].to_numpy(),
            table["feature"].to_numpy(),
            label=label,
            marks=table["marks"],
        )
        return display.plot(ax=ax, bar_kw=bar_kw)

    def plot(self, *, ax=None, bar_kw=None):
        """Draw the bars, the best feature on top, and a legend of the marked classes.

        The bar of an infinite divergence extends beyond the axes, and that of a feature
        that marks no class is grey.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.
        bar_kw : dict, default=None
            Keyword arguments of ``Axes.barh``.

        Returns
        -------
        self
        """
        ax = self._set_axes(ax)
        finite = np.isfinite(self.values)
        # the axes end at 0.6 of this, beyond all finite bars
        infinite_width = 2.0 * self.values[finite].max(initial=1.0)
        widths = np.where(finite, self.values, infinite_width)
        positions = np.arange(len(widths))
        options = {}
        if self.marks is not None:
            names = self.marks.astype(object).fillna("no class")
            codes = self.marks.cat.codes
            options["color"] = [f"C{k}" if k >= 0 else "0.6" for k in codes]
            # the legend leaves out what begins with an underscore
            options["label"] = names.mask(names.duplicated(), "_").tolist()
        self.bars_ = ax.barh(positions, widths, **options | (bar_kw or {}))
        if self.marks is not None:
            ax.legend(title="high in")
        if not finite.all():
            ax.set_xlim(right=0.6 * infinite_width)
        ax.set_yticks(positions, self.names)
        ax.invert_yaxis()
        ax.set_xlabel(self.label)
        return self


def _split_pipeline(estimator, attribute):
    """Return the last step with an attribute, after the steps before it as a pipeline.

    These are None if the step is the first, or the estimator is no pipeline.
    """
    check_is_fitted(estimator)
    if not isinstance(estimator, Pipeline):
        return None, estimator
    steps = [i for i, step in enumerate(estimator) if hasattr(step, attribute)]
    if not steps:
        raise ValueError(f"no step of the pipeline has {attribute}; {estimator!r}")
    last = steps[-1]
    return estimator[:last] if last else None, estimator[last]
