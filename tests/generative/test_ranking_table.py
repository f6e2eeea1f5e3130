"""The ranking table of every ranker against sums by pandas over repeated rows."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from memdlib import (
    DivergenceRanker,
    GreedyGaussianRanker,
    GreedyInformationRanker,
    MeMdClassifier,
    make_memd,
)
from memdlib.datasets import simulate_text_counts
from memdlib.families import Polynomial
from memdlib.generative import CorrelatedMeMdClassifier, MultinomialMeMdClassifier
from memdlib.nml import NMLClassifier, NMLFeatureSelector
from tests.scikit_learn import public

# many of the drawn tables say nothing about the classes
pytestmark = pytest.mark.filterwarnings(
    "ignore:accuracy is", "ignore:all training rows have", "ignore:the weights of"
)

NAMES = ["a", "b", "c", "d"]
MIXED = ["categorical", "normal", "poisson", "bernoulli"]
RANKERS = [
    DivergenceRanker(),
    DivergenceRanker("js", variance_shrinkage="auto"),
    DivergenceRanker("jeffreys", family="bernoulli"),
    DivergenceRanker(family="poisson"),
    DivergenceRanker(family="geometric"),
    DivergenceRanker(family="exponential"),
    DivergenceRanker(family="multinomial"),
    DivergenceRanker(family=Polynomial(1, support=(0.0, 3.0))),
    DivergenceRanker(family=Polynomial(3, levels=range(4))),
    DivergenceRanker(family="auto"),
    DivergenceRanker(family=MIXED),
    GreedyInformationRanker(n_features=None),
    GreedyGaussianRanker(n_features=None),
    MeMdClassifier(n_features=2, variance_shrinkage=1.0),
    MeMdClassifier(family=MIXED, n_features=None),
    MultinomialMeMdClassifier(n_features=None),
    NMLFeatureSelector(n_moments=2, n_bins=3),
    NMLFeatureSelector(n_moments=2, n_bins=3, criterion="error"),
    NMLClassifier(n_moments=2, n_bins=3),
]
FORMS = {
    "array": np.asarray,
    "sparse": sparse.csr_array,
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
}


def two_classes_only(ranker):
    return isinstance(ranker, NMLFeatureSelector | NMLClassifier)


def fitted(ranker, X, y, weight):
    """A fit to rows of weights; of the code lengths, to the repeated rows."""
    if not two_classes_only(ranker):
        return clone(ranker).fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    repeated = X[rows.tolist()] if isinstance(X, pl.DataFrame) else None
    if repeated is None:
        repeated = X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]
    return clone(ranker).fit(repeated, y[rows])


def fitted_in_batches(ranker, X, y, weight):
    model = clone(ranker)
    for part in (slice(0, 5), slice(5, None)):
        model.partial_fit(X[part], y[part], np.unique(y), weight[part])
    return model


def observed(values, family):
    """What a family averages, column by column."""
    values = values.copy()
    if family == "bernoulli":
        return (values > 0).where(values.notna()).astype(float)
    return values


def reference(table, y, weight, name, family):
    """Means, counts and missing share of a column, and the class that it marks."""
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    table = table.iloc[rows].reset_index(drop=True)
    column = observed(table[name], family)
    label = pd.Series(y[rows])
    if family == "categorical":
        shares = pd.crosstab(label, column, normalize="index")
        excess = (shares.max() - shares.mean()).round(9)
        level = excess[excess == excess.max()].index[-1]
        column = (column == level).astype(float).where(column.notna())
    groups = column.groupby(label)
    mean = groups.mean()
    if family in ("multinomial", "binomial"):
        counts = table.groupby(label).sum()
        mean = (counts[name] / counts.sum(axis=1)).fillna(0.0)
    top = mean.idxmax()
    mark = top
    lead = mean[top] - mean.drop(top).dropna()
    if lead.empty or lead.min() <= 1e-12:
        mark = None
    elif family in ("normal", "levels", "polynomial 3"):
        error = groups.sem(ddof=0)
        least = 2.0 * np.hypot(error[top], error[lead.index])
        assume(not np.isclose(lead, least).any())
        mark = top if (lead > least).all() else None
    return mean, groups.count(), column.isna().mean(), mark


def check(model, X, y, weight, named):
    """Compare a table with the reference, and its order with the ranking."""
    table = model.ranking_table()
    order = model.order_
    names = NAMES if named else ["x0", "x1", "x2", "x3"]
    assert table["feature"].tolist() == [names[s] for s in order]
    assert table["marks"].cat.categories.tolist() == model.classes_.tolist()
    frame = pd.DataFrame(X, columns=NAMES)
    for row, s in zip(table.itertuples(index=False), order, strict=True):
        family = row.family
        if family == "polynomial":
            family = f"polynomial {model.family.n_moments}"
        mean, count, missing, mark = reference(frame, y, weight, NAMES[s], family)
        for label in model.classes_:
            found = getattr(row, f"mean_{label}")
            assert_allclose(found, mean[label], rtol=1e-9, atol=1e-12)
            assert getattr(row, f"count_{label}") == pytest.approx(count[label])
        assert row.missing == pytest.approx(missing)
        assert row.marks == mark if mark is not None else pd.isna(row.marks)
    if hasattr(model, "families_"):
        assert table["family"].tolist() == model.families_[order].tolist()


@st.composite
def labelled(draw, n_classes):
    n = draw(st.integers(4 * n_classes, 18))
    X = draw(arrays(float, (n, 4), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0])))
    weight = draw(arrays(float, n, elements=st.sampled_from([1.0, 2.0, 3.0])))
    return X, np.array(["ape", "bee", "cow"])[np.arange(n) % n_classes], weight


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
@settings(max_examples=25)
@given(st.data())
def test_every_table_is_that_of_pandas(ranker, data):
    n_classes = 2 if two_classes_only(ranker) else data.draw(st.sampled_from([2, 3]))
    X, y, weight = data.draw(labelled(n_classes))
    tags = get_tags(ranker).input_tags
    if tags.allow_nan and data.draw(st.booleans()):
        for column in (0, 1):
            rows = data.draw(st.sets(st.integers(0, len(y) - 1), max_size=3))
            X[list(rows), column] = np.nan
    possible = [form for form in FORMS if form != "sparse" or tags.sparse]
    form = data.draw(st.sampled_from(possible))
    model = fitted(ranker, FORMS[form](X), y, weight)
    check(model, X, y, weight, named=form in ("pandas", "polars"))
    if hasattr(ranker, "partial_fit"):
        check(fitted_in_batches(ranker, X, y, weight), X, y, weight, named=False)


def test_nats_are_what_the_ranking_goes_by():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 4)) + np.outer(y, [0.5, 2.0, 0.0, 1.0])
    for ranker in (DivergenceRanker(), MeMdClassifier(n_features=1)):
        model = clone(ranker).fit(X, y)
        nats = model.ranking_table()["nats"]
        assert nats.tolist() == model.scores_[model.order_].tolist()
        assert nats.is_monotonic_decreasing
    for ranker in (GreedyGaussianRanker(), GreedyInformationRanker()):
        model = clone(ranker).set_params(n_features=3).fit(X, y)
        assert model.ranking_table()["nats"].tolist() == model.gains_.tolist()
        assert len(model.ranking_table()) == 3
    selector = NMLFeatureSelector(n_moments=2, n_bins=3).fit(X, y)
    lengths = selector.feature_codelengths_[selector.order_]
    assert selector.ranking_table()["nats"].tolist() == lengths.tolist()
    classifier = NMLClassifier(n_moments=2, n_bins=3).fit(X, y)
    pd.testing.assert_frame_equal(
        classifier.ranking_table(3), selector.ranking_table(3)
    )
    error = NMLFeatureSelector(n_moments=2, n_bins=3, criterion="error").fit(X, y)
    least = error.errors_.min(axis=1)[error.order_]
    assert error.ranking_table()["nats"].tolist() == least.tolist()


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
@settings(max_examples=10)
@given(st.integers(0, 10**6), st.permutations(range(4)))
def test_columns_and_classes_may_come_in_any_sequence(ranker, seed, columns):
    rng = np.random.default_rng(seed)
    n_classes = 2 if two_classes_only(ranker) else 3
    y = np.arange(36) % n_classes
    shifts = rng.normal(size=(3, 4))
    X = np.clip(np.round(1.5 + 0.7 * rng.normal(size=(36, 4)) + shifts[y], 3), 0, 3)
    family = getattr(ranker, "family", None)
    if family == MIXED or getattr(family, "levels", None) is not None:
        X = X.round()
    plain = pd.DataFrame(X, columns=NAMES)
    moved = plain.iloc[:, columns]
    other = clone(ranker)
    if family == MIXED:
        other.set_params(family=[MIXED[s] for s in columns])
    first = clone(ranker).fit(plain, y).ranking_table().set_index("feature")
    second = other.fit(moved, 9 - y).ranking_table().set_index("feature")
    if not hasattr(ranker, "gains_"):
        common = first.index.intersection(second.index)
        first, second = first.loc[common], second.loc[common]
    renamed = 9 - second["marks"].astype(float)
    assert_allclose(first["marks"].astype(float), renamed)
    for k in range(n_classes):
        for what in ("mean", "count"):
            assert_allclose(first[f"{what}_{k}"], second[f"{what}_{9 - k}"])


NORMAL_LIKE = [
    DivergenceRanker(),
    DivergenceRanker(family=Polynomial(2, support=(-20.0, 20.0))),
    GreedyGaussianRanker(),
    NMLFeatureSelector(n_moments=2, n_bins=3),
]


@pytest.mark.parametrize("ranker", NORMAL_LIKE, ids=str)
def test_variance_alone_marks_no_class(ranker):
    narrow = np.linspace(-1.0, 1.0, 50)
    y = np.repeat([0, 1], 50)
    for shift, expected in ((0.5, None), (0.0, None), (2.0, 1), (-9.0, 0)):
        X = np.concatenate([narrow, 4.0 * narrow + shift])[:, None]
        mark = clone(ranker).fit(X, y).ranking_table()["marks"][0]
        assert mark == expected if expected is not None else pd.isna(mark)


def test_a_mean_that_two_classes_have_marks_none_of_them():
    y = np.repeat([0, 1, 2], 20)
    X = (
        np.tile(np.linspace(-1.0, 1.0, 20), 3)[:, None]
        + np.array([5.0, 4.9, 0.0])[y][:, None]
    )
    assert pd.isna(DivergenceRanker().fit(X, y).ranking_table()["marks"][0])
    # many more rows tell that the first is higher; and weights are numbers of rows
    many = DivergenceRanker().fit(X, y, sample_weight=np.full(60, 100.0))
    assert many.ranking_table()["marks"][0] == 0
    counts = DivergenceRanker(family="poisson").fit(
        [[2], [3], [3], [2], [0]], [0, 0, 1, 1, 2]
    )
    assert pd.isna(counts.ranking_table()["marks"][0])


def test_a_class_without_a_value_has_no_mean_and_is_not_marked():
    X = np.array([[np.nan, 1.0], [np.nan, 2.0], [3.0, 5.0], [4.0, 6.0], [1.0, 0.0]])
    y = np.array([0, 0, 1, 1, 2])
    for family in ("normal", "poisson", ["poisson", "normal"]):
        model = DivergenceRanker(family=family).fit(X, y)
        table = model.ranking_table().set_index("feature")
        assert np.isnan(table.loc["x0", "mean_0"]) and table.loc["x0", "count_0"] == 0
        assert table["marks"].to_dict() == {"x0": 1, "x1": 1}
        assert table["missing"].to_dict() == {"x0": pytest.approx(0.4), "x1": 0.0}


def test_words_mark_the_class_in_which_they_were_made_frequent():
    text = simulate_text_counts(
        n_documents=600, n_words=200, n_informative=30, n_classes=3, lift=8.0,
        random_state=0,
    )  # fmt: skip
    truth = text.word_probabilities.argmax(axis=0)
    for ranker in (
        DivergenceRanker(family="bernoulli"),
        DivergenceRanker(family="multinomial"),
        MultinomialMeMdClassifier(n_features=10),
    ):
        table = ranker.fit(text.X, text.y).ranking_table(n_features=15)
        words = table["feature"].str[1:].astype(int)
        assert table["marks"].tolist() == truth[words].tolist()


def test_a_long_document_does_not_mark_its_class_with_every_word():
    X = np.array([[8, 2], [4, 1], [1, 1], [1, 2]])
    table = DivergenceRanker(family="multinomial").fit(X, [0, 0, 1, 1]).ranking_table()
    table = table.set_index("feature")
    assert table["marks"].to_dict() == {"x0": 0, "x1": 1}
    assert table["mean_0"].to_dict() == {"x0": 0.8, "x1": 0.2}


def test_a_category_is_its_clearest_level():
    level = np.repeat([0, 1, 2, 0, 1, 2], [4, 5, 1, 4, 1, 5])
    y = np.repeat(["no", "yes"], 10)
    X = np.column_stack([level, np.arange(20) % 2, y == "yes"]).astype(float)
    model = DivergenceRanker(family=["categorical", "normal", "categorical"])
    table = model.fit(X, y).ranking_table().set_index("feature")
    assert table.loc["x0", ["level", "marks"]].tolist() == [2.0, "yes"]
    assert table.loc["x0", ["mean_no", "mean_yes"]].tolist() == [0.1, 0.5]
    assert table.loc["x2", ["level", "marks"]].tolist() == [1.0, "yes"]
    assert np.isnan(table.loc["x1", "level"]) and pd.isna(table.loc["x1", "marks"])
    assert "level" not in DivergenceRanker().fit(X, y).ranking_table()


def test_rows_names_and_pipelines():
    texts = ["a cat and a dog", "a cat", "a bird", "the bird and a dog"] * 3
    y = ["cats", "cats", "birds", "birds"] * 3
    pipeline = make_pipeline(CountVectorizer(), DivergenceRanker(family="bernoulli"))
    pipeline.fit(texts, y)
    names = pipeline[:-1].get_feature_names_out()
    table = pipeline[-1].ranking_table(2, input_features=names)
    pairs = zip(table["feature"], table["marks"], strict=True)
    assert set(pairs) == {("bird", "birds"), ("cat", "cats")}
    assert table.index.tolist() == [0, 1]
    assert len(pipeline[-1].ranking_table(n_features=99)) == len(names)
    plain = pipeline[-1].ranking_table()
    assert set(plain["feature"]) == {f"x{s}" for s in range(len(names))}
    for wrong in (0, -1, True, 1.5, "all"):
        with pytest.raises(ValueError, match="n_features=.* must be an integer"):
            pipeline[-1].ranking_table(n_features=wrong)
    with pytest.raises(ValueError, match="input_features should have length"):
        pipeline[-1].ranking_table(input_features=["one"])


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_what_it_needs(ranker, monkeypatch):
    model = clone(ranker)
    with pytest.raises(NotFittedError):
        model.ranking_table()
    model.fit(np.arange(24).reshape(6, 4) % 4, [0, 1] * 3)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"ranking_table requires pandas\."):
        model.ranking_table()


def test_every_public_ranker_has_a_table():
    with_table = {
        kind for kind in public(BaseEstimator) if hasattr(kind, "ranking_table")
    }
    assert with_table == {type(ranker) for ranker in RANKERS}
    rng = np.random.default_rng(0)
    X, y = rng.random((30, 4)), np.arange(30) % 2
    # what it orders are coordinates after whitening, not columns
    assert not hasattr(CorrelatedMeMdClassifier().fit(X, y), "ranking_table")
    assert not hasattr(make_memd("table"), "ranking_table")
