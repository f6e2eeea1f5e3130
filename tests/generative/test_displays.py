import inspect
import sys
from dataclasses import fields

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris

from memdlib import DivergenceRanker, GreedyGaussianRanker, MeMdClassifier
from memdlib.generative import (
    AccuracyCurveDisplay,
    RankingDisplay,
)


@pytest.fixture(autouse=True)
def _without_a_screen():
    mpl.use("Agg")
    yield
    mpl.pyplot.close("all")


def iris():
    return load_iris(return_X_y=True, as_frame=True)


def test_the_curve_that_is_drawn_is_the_accuracy_curve():
    X, y = iris()
    model = MeMdClassifier().fit(X, y)
    weight = np.arange(150.0)
    shown = AccuracyCurveDisplay.from_estimator(
        model, X, y, sample_weight=weight, n_features_grid=[2, 4], line_kw={"lw": 3}
    )
    _, accuracy = model.accuracy_curve(X, y, weight)
    assert shown.line_.get_xdata().tolist() == [2, 4]
    assert shown.line_.get_ydata().tolist() == accuracy[[1, 3]].tolist()
    assert shown.line_.get_linewidth() == 3
    _, ax = mpl.pyplot.subplots()
    assert shown.plot(ax=ax).ax_ is ax and shown.figure_ is ax.figure


@pytest.mark.parametrize(
    ("estimator", "values"),
    [
        (DivergenceRanker(), "feature_divergences_"),
        (MeMdClassifier(), "feature_divergences_"),
        (GreedyGaussianRanker(n_features=3), "gains_"),
    ],
)
def test_bars_are_the_best_features_with_their_names(estimator, values):
    X, y = iris()
    model = estimator.fit(X, y)
    shown = RankingDisplay.from_estimator(model, n_features=3)
    expected = getattr(model, values)
    expected = expected if values == "gains_" else expected[model.order_[:3]]
    assert [bar.get_width() for bar in shown.bars_] == expected.tolist()
    labels = [label.get_text() for label in shown.ax_.get_yticklabels()]
    assert labels == X.columns[model.order_[:3]].tolist()
    assert shown.ax_.yaxis_inverted()
    plain = RankingDisplay.from_estimator(estimator.fit(X.to_numpy(), y), n_features=1)
    assert plain.names.tolist() == [f"feature {model.order_[0]}"]
    with pytest.raises(ValueError, match="has 2 names; the estimator gets 4"):
        RankingDisplay.from_estimator(model, feature_names=["a", "b"])


DRAWN = [
    AccuracyCurveDisplay(np.array([1, 2]), np.array([0.5, 0.75])),
    RankingDisplay(np.array([2.0, 1.0]), np.array(["a", "b"]), "nats"),
]


@pytest.mark.parametrize("display", DRAWN, ids=lambda display: type(display).__name__)
def test_a_display_is_told_by_its_data_and_labels_its_axes(display):
    told = repr(display)
    drawn = [part.name for part in fields(display) if part.name.endswith("_")]
    assert len(drawn) == 3 and not any(getattr(display, name) for name in drawn)
    assert display.plot() is display
    assert repr(display) == told and "Axes" not in told and "_=" not in told
    given = inspect.signature(type(display)).parameters
    assert given and not any(name.endswith("_") for name in given)
    assert [f"{name}=" in told for name in given] == [True] * len(given)
    assert display.figure_ is display.ax_.figure
    assert display.ax_.get_xlabel() and not display.ax_.get_title()
    named = display.ax_.get_ylabel() or [
        label.get_text() for label in display.ax_.get_yticklabels()
    ]
    assert named and all(named)


def test_an_accuracy_curve_has_its_axes_named():
    ax = DRAWN[0].plot().ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of features", "accuracy")
    assert ax.get_xscale() == "log"


def test_what_is_not_fitted_is_not_drawn():
    with pytest.raises(ValueError, match="not fitted"):
        RankingDisplay.from_estimator(MeMdClassifier())


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shown = RankingDisplay(np.ones(1), np.array(["a"]), "nats")
    with pytest.raises(ImportError, match=r"pip install 'memdlib\[plot\]'"):
        shown.plot()


def test_an_infinite_divergence_has_a_bar_without_an_end():
    shown = RankingDisplay(np.array([np.inf, 4.0, 1.0]), np.array(list("abc")), "nats")
    widths = [bar.get_width() for bar in shown.plot().bars_]
    assert widths[1:] == [4, 1] and widths[0] > shown.ax_.get_xlim()[1] > 4
    shown.figure_.canvas.draw()


@pytest.mark.parametrize(
    ("display", "parts"),
    [
        (AccuracyCurveDisplay, "line_"),
        (RankingDisplay, "bars_"),
    ],
)
def test_a_display_is_drawn_where_and_as_it_is_asked(display, parts):
    X, y = iris()
    model = MeMdClassifier().fit(X, y)
    given = {
        AccuracyCurveDisplay: (X, y),
        RankingDisplay: (),
    }[display]
    _, (ax, other) = plt.subplots(2)
    style = {"bar_kw" if parts == "bars_" else "line_kw": {"lw": 3, "color": "r"}}
    shown = display.from_estimator(model, *given, ax=ax, **style)
    for place in (ax, other):
        assert shown.ax_ is place and shown.figure_ is place.figure
        drawn = np.ravel(getattr(shown, parts))
        assert len(drawn) and all(part.get_linewidth() == 3 for part in drawn)
        shown.plot(ax=other, **style)


def test_as_many_bars_as_asked_for_and_infinite_ones_alone():
    X, y = iris()
    ranker = GreedyGaussianRanker(n_features=3).fit(X, y)
    shown = RankingDisplay.from_estimator(ranker, n_features=2)
    assert shown.values.tolist() == ranker.gains_[:2].tolist()
    assert len(shown.names) == len(shown.bars_) == 2
    alone = RankingDisplay(np.array([np.inf, np.inf]), np.array(["a", "b"]), "nats")
    widths = [bar.get_width() for bar in alone.plot().bars_]
    assert widths[0] == widths[1] > alone.ax_.get_xlim()[1] > 0
    ordinary = RankingDisplay(np.array([5.0, 1.0]), np.array(["a", "b"]), "nats")
    assert ordinary.plot().ax_.get_xlim()[1] > 5
