import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from memdlib import DivergenceRanker, GreedyGaussianRanker, MeMdClassifier
from memdlib.generative import AccuracyCurveDisplay, RankingDisplay
from memdlib.nml import NMLClassifier


@pytest.fixture(autouse=True)
def _without_a_screen():
    mpl.use("Agg")
    yield
    plt.close("all")


def iris():
    return load_iris(return_X_y=True, as_frame=True)


def labels(shown):
    return [label.get_text() for label in shown.ax_.get_yticklabels()]


@pytest.mark.parametrize("before", [(), (PCA(3),)], ids=["alone", "in a pipeline"])
def test_the_curve_that_is_drawn_is_the_accuracy_curve(before):
    X, y = iris()
    model = make_pipeline(*before, MeMdClassifier()).fit(X, y)
    last = X if not before else model[0].transform(X)
    weight = np.arange(150.0)
    _, accuracy = model[-1].accuracy_curve(last, y, weight)
    for shown_model in [model] if before else [model, model[-1]]:
        _, ax = plt.subplots()
        shown = AccuracyCurveDisplay.from_estimator(
            shown_model,
            X,
            y,
            sample_weight=weight,
            n_features_grid=[2, 3],
            line_kw={"lw": 3},
            ax=ax,
        )
        assert shown.line_.get_xdata().tolist() == [2, 3]
        assert shown.line_.get_ydata().tolist() == accuracy[[1, 2]].tolist()
        assert shown.line_.get_linewidth() == 3
        assert shown.ax_ is ax and shown.figure_ is ax.figure
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of features", "accuracy")


def test_the_curve_of_another_classifier_is_drawn():
    X, y = iris()
    X, y = X[y < 2], y[y < 2]
    model = NMLClassifier(n_moments=2, n_bins=3).fit(X, y)
    n_features, accuracy = model.accuracy_curve(X, y)
    shown = AccuracyCurveDisplay.from_estimator(model, X, y)
    assert shown.line_.get_xdata().tolist() == n_features.tolist() == [1, 2, 3, 4]
    assert shown.line_.get_ydata().tolist() == accuracy.tolist()


@pytest.mark.parametrize(
    "estimator",
    [DivergenceRanker(), MeMdClassifier(), GreedyGaussianRanker(n_features=3)],
    ids=str,
)
def test_bars_are_the_best_features_with_their_names(estimator):
    X, y = iris()
    model = estimator.fit(X, y)
    best = model.order_[:2]
    if hasattr(model, "gains_"):
        expected = model.gains_[:2]
    else:
        expected = model.scores_[best]
    shown = RankingDisplay.from_estimator(model, n_features=2, bar_kw={"lw": 3})
    assert [bar.get_width() for bar in shown.bars_] == expected.tolist()
    assert {bar.get_linewidth() for bar in shown.bars_} == {3}
    assert labels(shown) == X.columns[best].tolist()
    assert shown.ax_.yaxis_inverted() and "(nats)" in shown.ax_.get_xlabel()
    plain = RankingDisplay.from_estimator(estimator.fit(X.to_numpy(), y), n_features=1)
    assert labels(plain) == [f"x{best[0]}"]
    mixed = make_pipeline(PCA(3), estimator).fit(X, y)
    shown = RankingDisplay.from_estimator(mixed)
    assert labels(shown) == [f"pca{s}" for s in mixed[-1].order_]


def test_bars_have_the_colour_of_the_class_that_they_mark():
    narrow = np.linspace(-1.0, 1.0, 20)
    y = np.repeat(["ape", "bee", "cow"], 20)
    X = np.zeros((60, 4))
    for s, (row, shift) in enumerate([(40, 9.0), (0, 8.0), (40, 7.0), (0, 0.0)]):
        X[:, s] = np.tile(narrow, 3)
        X[row : row + 20, s] *= 1.0 if shift else 5.0
        X[row : row + 20, s] += shift
    table = DivergenceRanker().fit(X, y).ranking_table()
    shown = RankingDisplay.from_estimator(DivergenceRanker().fit(X, y))
    colours = {"cow": "C2", "ape": "C0"}
    expected = [colours.get(mark, "0.6") for mark in table["marks"]]
    assert sorted(expected) == ["0.6", "C0", "C2", "C2"]
    found = [bar.get_facecolor() for bar in shown.bars_]
    assert found == [to_rgba(colour) for colour in expected]
    legend = shown.ax_.get_legend()
    named = {
        text.get_text(): bar.get_facecolor()
        for text, bar in zip(legend.get_texts(), legend.get_patches(), strict=True)
    }
    assert named == {
        "cow": to_rgba("C2"),
        "ape": to_rgba("C0"),
        "no class": to_rgba("0.6"),
    }
    plain = RankingDisplay.from_estimator(
        DivergenceRanker().fit(X, y), bar_kw={"color": "k"}
    )
    assert {bar.get_facecolor() for bar in plain.bars_} == {to_rgba("k")}
    without = RankingDisplay(np.ones(2), np.array(["a", "b"]), label="nats").plot()
    assert without.ax_.get_legend() is None


def test_code_lengths_are_drawn():
    X, y = iris()
    X, y = X[y < 2], y[y < 2]
    model = NMLClassifier(n_moments=2, n_bins=3).fit(X, y)
    shown = RankingDisplay.from_estimator(model)
    table = model.ranking_table()
    assert [bar.get_width() for bar in shown.bars_] == table["nats"].tolist()
    assert labels(shown) == table["feature"].tolist()
    assert shown.ax_.get_xlabel() == "code length (nats)"


def test_an_infinite_divergence_has_a_bar_without_an_end():
    shown = RankingDisplay(
        np.array([np.inf, 4.0, 1.0]), np.array(list("abc")), label="nats"
    )
    widths = [bar.get_width() for bar in shown.plot().bars_]
    assert widths[1:] == [4, 1] and widths[0] > shown.ax_.get_xlim()[1] > 4
    alone = RankingDisplay(
        np.array([np.inf, np.inf]), np.array(["a", "b"]), label="nats"
    )
    widths = [bar.get_width() for bar in alone.plot().bars_]
    assert widths[0] == widths[1] > alone.ax_.get_xlim()[1] > 0


def test_what_is_not_fitted_is_not_drawn():
    for model in (MeMdClassifier(), make_pipeline(PCA(2), MeMdClassifier())):
        with pytest.raises(NotFittedError):
            RankingDisplay.from_estimator(model)
    with pytest.raises(ValueError, match="no step of the pipeline has ranking_table"):
        RankingDisplay.from_estimator(make_pipeline(GaussianNB()).fit(*iris()))


def test_without_matplotlib_the_error_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shown = RankingDisplay(np.ones(1), np.array(["a"]), label="nats")
    with pytest.raises(ImportError, match="RankingDisplay requires matplotlib"):
        shown.plot()
