import inspect
import sys
from dataclasses import fields

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from scipy import sparse, stats
from sklearn.datasets import load_iris

from memdlib import DivergenceRanker, GreedyGaussianRanker, MeMdClassifier
from memdlib.families import Polynomial
from memdlib.generative import (
    AccuracyCurveDisplay,
    ContributionDisplay,
    DensityDisplay,
    JointMaxEntClassifier,
    RankingDisplay,
    contributions,
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


@pytest.mark.parametrize(
    "model", [MeMdClassifier(), JointMaxEntClassifier("diagonal", shrinkage=0.0)]
)
@pytest.mark.parametrize("origin", [0.0, 1e6])
def test_densities_are_those_of_the_classes(model, origin):
    X, y = iris()
    shown = DensityDisplay.from_estimator(model.fit(X + origin, y), "sepal width (cm)")
    x = X.iloc[:, 1]
    for k in range(3):
        law = stats.norm(x[y == k].mean() + origin, x[y == k].std(ddof=0))
        np.testing.assert_allclose(shown.density[k], law.pdf(shown.x), rtol=1e-4)
    assert np.trapezoid(shown.density, shown.x) == pytest.approx(1, abs=0.01)
    assert [line.get_label() for line in shown.lines_] == ["0", "1", "2"]


@pytest.mark.parametrize(
    "family", ["bernoulli", "poisson", "geometric", Polynomial(2, (0, 1, 2, 3, 4, 5))]
)
def test_counts_have_probabilities(family):
    rng = np.random.default_rng([24, 1])
    X, y = rng.binomial(5, 0.4, size=(60, 2)), np.arange(60) % 2
    model = MeMdClassifier(family=family).fit(X, y)
    shown = DensityDisplay.from_estimator(model, 1)
    assert shown.density.sum(axis=1) == pytest.approx(1, abs=0.02)
    assert (shown.x == shown.x.round()).all()
    assert shown.ax_.get_ylabel() == "probability"


DRAWN = [
    AccuracyCurveDisplay(np.array([1, 2]), np.array([0.5, 0.75])),
    RankingDisplay(np.array([2.0, 1.0]), np.array(["a", "b"]), "nats"),
    ContributionDisplay(np.array([2.0, -1.0]), np.array(["a", "b"]), 0.5, 1.0, "few"),
    DensityDisplay(
        np.array([0.0, 1.0]), np.ones((1, 2)), np.array(["few"]), "width", False
    ),
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


def test_what_cannot_be_drawn_is_said():
    X, y = iris()
    model = MeMdClassifier().fit(X, y)
    for feature, message in (
        (4, "X had 4 features"),
        ("width", "not among"),
        (-1, "0"),
    ):
        with pytest.raises(ValueError, match=message):
            DensityDisplay.from_estimator(model, feature)
    words = MeMdClassifier(family="multinomial").fit(X, y)
    with pytest.raises(ValueError, match="it has no density of one feature"):
        DensityDisplay.from_estimator(words, 0)
    for display in (DensityDisplay, RankingDisplay):
        with pytest.raises(ValueError, match="not fitted"):
            display.from_estimator(MeMdClassifier(), *[0][: display is DensityDisplay])


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


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_bars_of_one_prediction_add_up_to_its_score(kind):
    X = np.random.default_rng([62, 0]).poisson(2.0, (40, 6)).astype(float)
    y = np.where(X[:, 0] + X[:, 1] > 4, "many", "few")
    model = MeMdClassifier(family="poisson", n_features=5).fit(kind(X), y)
    row = kind(X[:1])
    shown = ContributionDisplay.from_estimator(model, row, n_features=3)
    widths = [bar.get_width() for bar in shown.bars_]
    sign = 1 if shown.label == "many" else -1
    assert shown.label == model.predict(row)[0]
    assert sum(widths) == pytest.approx(sign * model.decision_function(row)[0])
    labels = [label.get_text() for label in shown.ax_.get_yticklabels()]
    assert labels[-2:] == ["all other features", "base"] and len(labels) == 5
    values = contributions(model, X[:1]).towards(shown.label)[0]
    best = np.argsort(-np.abs(values))[:3]
    assert labels[:3] == [f"feature {s}" for s in best]
    assert widths[:3] == pytest.approx(values[best])
    colours = {bar.get_facecolor() for bar in shown.bars_ if bar.get_width() < 0}
    assert len(colours) <= 1 and not colours & {
        bar.get_facecolor() for bar in shown.bars_ if bar.get_width() > 0
    }
    against = ContributionDisplay.from_estimator(
        model, row, target="few", feature_names=list("abcdef"), bar_kw={"color": "k"}
    )
    assert set(against.names) <= set("abcdef") and len(against.values) <= 5
    assert "towards few (nats)" in against.ax_.get_xlabel()
    assert against.plot(ax=shown.ax_).ax_ is shown.ax_
    with pytest.raises(ValueError, match=r"X has 40 rows; give one, such as X\[:1\]"):
        ContributionDisplay.from_estimator(model, X)
    with pytest.raises(ValueError, match="no class 'none'"):
        ContributionDisplay.from_estimator(model, row, target="none")


@pytest.mark.parametrize(
    ("display", "parts"),
    [
        (AccuracyCurveDisplay, "line_"),
        (RankingDisplay, "bars_"),
        (ContributionDisplay, "bars_"),
        (DensityDisplay, "lines_"),
    ],
)
def test_a_display_is_drawn_where_and_as_it_is_asked(display, parts):
    X, y = iris()
    model = MeMdClassifier().fit(X, y)
    given = {
        AccuracyCurveDisplay: (X, y),
        RankingDisplay: (),
        ContributionDisplay: (X[:1],),
        DensityDisplay: (0,),
    }[display]
    _, (ax, other) = plt.subplots(2)
    style = {"bar_kw" if parts == "bars_" else "line_kw": {"lw": 3, "color": "r"}}
    shown = display.from_estimator(model, *given, ax=ax, **style)
    for place in (ax, other):
        assert shown.ax_ is place and shown.figure_ is place.figure
        drawn = np.ravel(getattr(shown, parts))
        assert len(drawn) and all(part.get_linewidth() == 3 for part in drawn)
        shown.plot(ax=other, **style)


def test_a_row_is_explained_by_the_features_that_speak_in_the_order_of_columns():
    X, y = iris()
    X = X.to_numpy()[:, [2, 2, 3, 3]]
    model = MeMdClassifier(n_features=3).fit(X, y)
    found = contributions(model, X[60:61])
    values = found.towards(1)[0]
    shown = ContributionDisplay.from_estimator(model, X[60:61], target=1)
    names = shown.names.tolist()
    assert len(names) == np.count_nonzero(values) == 3
    assert names.index("feature 0") + 1 == names.index("feature 1")
    one = ContributionDisplay.from_estimator(model, X[60:61], target=1, n_features=1)
    assert one.rest == pytest.approx(values.sum() - one.values[0])
    total = found.total[0, 1]
    for drawn in (shown, one):
        assert drawn.exact
        assert drawn.ax_.get_xlabel() == f"towards 1 (nats), {total:.2f} in all"
        (zero,) = drawn.ax_.lines
        assert list(zero.get_xdata()) == [0, 0]
        assert drawn.ax_.yaxis_inverted()


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


def test_counts_are_drawn_up_to_a_thousandth_of_the_peak():
    y = np.repeat([0, 1, 2], [10, 30, 20])
    X = np.random.default_rng([24, 2]).poisson(np.array([25, 40, 60])[y])[:, None]
    model = MeMdClassifier(family="poisson").fit(X, y)
    shown = DensityDisplay.from_estimator(model, 0)
    x = np.arange(200)
    p = np.array([stats.poisson(m).pmf(x) for m in model.mean_params_[:, 0, 0]])
    (seen,) = np.nonzero((p > 1e-3 * p.max(axis=1, keepdims=True)).any(axis=0))
    assert seen[0] > 0
    assert shown.x.tolist() == list(range(seen[0], seen[-1] + 1))
    np.testing.assert_allclose(shown.density, p[:, seen], rtol=1e-9)
    assert shown.discrete and shown.name == "feature 0"
    assert {line.get_marker() for line in shown.lines_} == {"o"}
    assert len(shown.ax_.get_legend().get_texts()) == 3
    assert shown.ax_.get_xlabel() == "feature 0"


@pytest.mark.parametrize("family", ["normal", Polynomial(2, (0.0, 9.0))])
def test_densities_on_a_line_or_interval_are_drawn_where_a_class_is_seen(family):
    X, y = iris()
    model = MeMdClassifier(family=family).fit(X, y)
    shown = DensityDisplay.from_estimator(model, 2)
    mean, square = model.mean_params_[:, 2].T
    far = np.sqrt(2 * np.log(1000) * (square - mean**2))
    assert shown.x[0] == pytest.approx(max(0, np.min(mean - far)), abs=0.1)
    assert shown.x[-1] == pytest.approx(min(9, np.max(mean + far)), abs=0.1)
    assert not shown.discrete and shown.ax_.get_ylabel() == "density"
    assert (np.diff(shown.x) > 0).all() and np.diff(shown.x).max() < 0.02
    assert np.trapezoid(shown.density, shown.x) == pytest.approx(1, abs=0.01)
    assert {line.get_marker() for line in shown.lines_} <= {"", "None"}
