from collections import Counter
from datetime import date

import numpy as np
import pandas as pd
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from memdlib import MeMdClassifier, make_memd
from memdlib.generative import MixtureClassifier, columns, mixture, normal_scores
from tests.generative.conftest import word_counts


def text(n_classes=3):
    return word_counts(300, 400, 3, n_classes=n_classes)


def messages():
    rng = np.random.default_rng(4)
    y = np.array(["apples", "pears"])[np.arange(60) % 2]
    common = rng.choice(["tree", "fruit", "sun", "rain", "soil"], size=(60, 6))
    own = np.where(y == "apples", "Apple", "pear")
    return [" ".join([*row, word]) for row, word in zip(common, own, strict=True)], y


@given(st.integers(0, 1000), st.integers(1, 20))
def test_normal_scores_are_quantiles_of_ranks(seed, d):
    X = np.random.default_rng(seed).integers(0, 9, size=(3, d)).astype(float)
    found = normal_scores(X)
    for x, z in zip(X, found, strict=True):
        rank = [(x < v).sum() + ((x == v).sum() + 1) / 2 for v in x]
        expected = stats.norm.ppf((np.array(rank) - 0.5) / d)
        assert_allclose(z, expected, rtol=1e-12, atol=1e-14)
    assert_array_equal(normal_scores(np.exp(X)), found)
    with pytest.raises(ValueError, match="NaN"):
        normal_scores(X * np.nan)


@pytest.mark.parametrize("kind", ["expression", "table", "text"])
def test_a_pipeline_of_its_own_with_all_overrides(kind):
    model = make_memd(kind, cv=3, random_state=7)
    assert (model["memd"].cv, model["memd"].random_state) == (3, 7)
    for _, candidate in model["memd"].estimators:
        last = candidate[0] if isinstance(candidate, list) else candidate
        last = last[-1] if isinstance(last, Pipeline) else last
        last.set_params(**{sorted(last.get_params())[-1]: 0.77})
    assert "0.77" in model["memd"].__repr__(N_CHAR_MAX=10**6)
    assert "0.77" not in make_memd(kind)["memd"].__repr__(N_CHAR_MAX=10**6)
    for wrong, message in ((kind, "parameter 'folds'"), ("images", "'images' must be")):
        with pytest.raises(ValueError, match=message):
            make_memd(wrong, folds=3)


@pytest.mark.parametrize("far", [100.0, 1e8])
def test_a_far_class_does_not_blur_the_others(far):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 200)
    X = rng.normal(size=(600, 2)) + np.array([0, 4, far])[y][:, None]
    # log odds of the normal truth: 16 nats between the first two at zero
    a, b = (make_memd("table", random_state=0).fit(Z, y) for Z in (X, X[:, ::-1]))
    assert a.predict_proba([[0.0, 0.0]])[0, 0] > 0.98
    # sums in another order, as by another processor
    assert_allclose(b.predict_proba(X[:, ::-1]), a.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("differ_in", ["means", "variances"])
def test_genes_select_where_few_features_carry_everything(differ_in):
    rng = np.random.default_rng(9)
    y = np.arange(60) % 2
    X, second = rng.normal(size=(120, 1500)), np.tile(y == 1, 2)
    if differ_in == "means":
        X[second, :6] += 2.0
    else:
        X[second, :6] *= 5.0
    model = make_memd("expression", random_state=0).fit(X[:60], y)["memd"]
    table = model.cv_results_
    uses_all = [name.startswith("correlated") for name in table["name"]]
    assert table["weight"][uses_all].sum() < 0.2
    assert model.score(X[60:], y) > 0.95


def test_tables_bend_where_one_feature_does():
    """Classes of equal mean and variance, inside and outside of a gap."""
    rng = np.random.default_rng(12)
    y = np.arange(300) % 2
    near = rng.uniform(0.4, 0.6, 300)
    X = rng.choice([-1.0, 1.0], 300) * np.where(y, near, 1.0 - near)
    X = np.column_stack([X, rng.normal(size=(300, 2))])
    y = (np.abs(X[:, 0]) < 0.5).astype(int)
    model = make_memd("table", random_state=0).fit(X[::2], y[::2])
    assert any("splines" in name for name in model["memd"].named_estimators_)
    assert model.score(X[1::2], y[1::2]) > 0.85


@pytest.mark.parametrize("kind", ["table", "expression", "text"])
def test_numbers_of_other_types_have_the_same_posteriors(kind):
    X, y = text()
    X, y = X.toarray()[:90, :8], y[:90]
    expected = make_memd(kind, random_state=0).fit(X, y).predict_proba(X)
    for dtype in (np.float32, np.int16, np.longdouble, ">f8"):
        Z = X.astype(dtype)
        found = make_memd(kind, random_state=0).fit(Z, y).predict_proba(Z)
        assert_allclose(found, expected, rtol=0, atol=1e-4)


def test_counts_in_and_posteriors_out():
    X, y = text()
    model = make_memd("text", random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.8
    assert cross_val_score(clone(model), X.toarray(), y, cv=2).min() > 0.8
    weighted = TfidfTransformer().fit_transform(X)
    assert make_memd("text", random_state=0).fit(weighted, y).score(weighted, y) > 0.9


def test_a_file_sent_as_text_moves_little():
    """Where the family of counts is thrown off by one attachment, this is not."""
    X, y = text(n_classes=2)
    train, test = slice(0, 150), slice(150, 300)
    rng = np.random.default_rng(0)
    spoilt = X[train].tolil()
    # one message of class 0 with an attachment of the words that tell class 1
    spoilt[int(np.flatnonzero(y[train] == 0)[0])] = 300 * rng.poisson(1.0, X.shape[1])
    spoilt = sparse.csr_array(spoilt)

    def changed(model):
        clean = clone(model).fit(X[train], y[train]).predict(X[test])
        return np.mean(clone(model).fit(spoilt, y[train]).predict(X[test]) != clean)

    ours = changed(make_memd("text", random_state=0))
    assert ours <= 0.05
    with pytest.warns(UserWarning, match="below the share"):
        assert ours < changed(MeMdClassifier(family="multinomial", n_features=None))


def test_texts_in_any_container_and_counts_of_the_same_words():
    texts, y = messages()
    counter = CountVectorizer().fit(texts)
    counts = counter.transform(texts)
    expected = make_memd("text", random_state=0).fit(counts, y).predict_proba(counts)
    for these in (texts, tuple(texts), np.array(texts), pd.Series(texts)):
        model = make_memd("text", random_state=0).fit(these, y)
        assert_array_equal(model.predict_proba(these), expected)
        assert_array_equal(model.predict_proba(counts), expected)
    words = model["words"].get_feature_names_out()
    assert words.tolist() == counter.get_feature_names_out().tolist()
    # other words count for nothing
    new = model.predict_proba(["apple zebra", "apple"])
    assert_array_equal(new[0], new[1])


def mixed(n, seed=6):
    """A frame with gaps and categories of two classes, by the rows of its truth."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    age = rng.normal(50, 9, n).round() + 6.0 * y
    job = np.where(rng.random(n) < 0.7, np.array(["clerk", "smith"])[y], "other")
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.2, np.nan, age),
            "job": np.where(rng.random(n) < 0.1, None, job),
            "town": pd.Categorical(rng.choice([3, 1, 2], n)),
            "owner": rng.random(n) < 0.5,
            "visits": pd.array(rng.poisson(2 + y), dtype="Int64"),
        }
    )
    frame.loc[::7, "visits"] = pd.NA
    return frame, np.array(["no", "yes"])[y]


def by_hand(X):
    """The same columns by pandas and a dictionary."""
    visits = X["visits"].astype(float)
    found = {
        "age": X["age"].fillna(X["age"].median()),
        "missingindicator_age": X["age"].isna(),
        "visits": visits.fillna(visits.median()),
        "missingindicator_visits": visits.isna(),
        "owner": X["owner"],
    }
    for job in ("clerk", "nan", "other", "smith"):
        found[f"job_{job}"] = X["job"].fillna("nan") == job
    for town in (1, 2, 3):
        found[f"town_{town}"] = X["town"] == town
    return pd.DataFrame(found).astype(float)


def test_tables_take_frames_as_they_are():
    X, y = mixed(300)
    model = make_memd("table", random_state=0).fit(X, y)
    made = model[:-1].transform(X)
    names = model[:-1].get_feature_names_out()
    expected = by_hand(X)
    assert set(names) == set(expected.columns)
    assert_array_equal(made, expected[names])
    plain = MixtureClassifier(
        model[-1].estimators, expected_log_odds=None, random_state=0
    )
    plain.fit(made, y)
    assert_array_equal(model.predict_proba(X), plain.predict_proba(made))
    new, labels = mixed(200, seed=7)
    assert model.score(new, labels) > 0.8
    # arrays of objects, lists of rows and other frames hold the same
    rows = X.astype(object).where(X.notna(), None)
    polar = polars.DataFrame({name: rows[name].tolist() for name in rows})
    one, *others = (
        make_memd("table", random_state=0).fit(these, y)[:-1].transform(these)
        for these in (rows.to_numpy(), rows.to_numpy().tolist(), polar)
    )
    # a category of numbers is one only where the type says so
    town = [name.startswith("town_") for name in names]
    assert one.shape[1] == made[:, ~np.array(town)].shape[1] + 1
    for other in others:
        assert_array_equal(other, one)


def test_what_new_rows_hold_alone_says_nothing():
    X, y = mixed(300)
    model = make_memd("table", random_state=0).fit(X, y)
    new = X.iloc[:2].assign(job=["pilot", "diver"], owner=[None, True])
    names = model[:-1].get_feature_names_out()
    made = pd.DataFrame(model[:-1].transform(new), columns=names)
    assert not made.filter(like="job_").to_numpy().any()
    assert made["owner"].iloc[0] == X["owner"].median()
    assert np.isfinite(model.predict_log_proba(new)).all()
    with pytest.raises(
        ValueError, match="'age' held numbers in fit, but row 0 holds 'old'"
    ):
        model.predict(X.assign(age="old"))


def test_rare_levels_are_one():
    levels = ["a"] * 9 + ["b"] * 6 + ["c", "c", "d", None]
    y, X = np.arange(19) % 2, pd.DataFrame({"level": levels})
    step = make_memd("table", cv=2, random_state=0).fit(X, y)["columns"]
    names = ["level_a", "level_b", "level_infrequent_sklearn"]
    assert step.get_feature_names_out().tolist() == names
    made = step.transform(pd.DataFrame({"level": ["a", "d", "new"]}))
    assert made.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1]]
    many = pd.DataFrame({"level": np.repeat([f"l{j:03}" for j in range(150)], 3)})
    y = np.arange(450) % 2
    step = make_memd("table", cv=2, random_state=0).fit(many, y)["columns"]
    assert len(step.get_feature_names_out()) == 101


def test_dates_and_infinite_numbers_are_named():
    X, y = mixed(40)
    dates = pd.date_range("2020", periods=40)
    with pytest.raises(ValueError, match="column 'since' of X holds dates; convert"):
        make_memd("table").fit(X.assign(since=dates), y)
    with pytest.raises(ValueError, match="column 'since' of X holds dates; convert"):
        make_memd("table").fit(X.assign(since=[date(2020, 1, 1)] * 40), y)
    with pytest.raises(ValueError, match="infinity"):
        make_memd("table").fit(X.assign(age=np.inf), y)


def test_encoded_categories_may_be_sparse(monkeypatch):
    X, y = mixed(200)
    X = X[["job", "town"]]
    inside, dense = (
        make_pipeline(coder, make_memd("table", random_state=0)).fit(X, y)
        for coder in (OneHotEncoder(), OneHotEncoder(sparse_output=False))
    )
    expected = dense.predict_proba(X)
    assert_allclose(inside.predict_proba(X), expected, rtol=0, atol=1e-12)
    monkeypatch.setattr(columns, "_FILLED", 300)
    with pytest.raises(ValueError, match="200 x 7 is too large for a dense array"):
        inside.fit(X, y)


def test_importances_are_of_the_given_columns():
    X, y = mixed(400)
    model = make_memd("table", random_state=0).fit(X, y)
    told = dict(zip(X.columns, model.feature_importances_, strict=True))
    assert min(told["job"], told["age"], told["visits"]) > 5 * told["town"]
    assert told["town"] >= 0 and told["owner"] >= 0
    selector = SelectFromModel(make_memd("table", random_state=0)).fit(X, y)
    kept = selector.get_feature_names_out().tolist()
    assert "job" in kept and "owner" not in kept
    texts, labels = messages()
    with pytest.raises(AttributeError, match="DivergenceRanker"):
        _ = make_memd("text", random_state=0).fit(texts, labels).feature_importances_


def test_wide_tables_leave_out_what_they_cannot_pay(monkeypatch, capsys):
    rng = np.random.default_rng(1)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 60))
    X[:, 0] += 2 * y
    monkeypatch.setattr(mixture, "_LARGE_SIZE", 1000)
    monkeypatch.setattr(mixture, "_LARGE_COLUMNS", 50)
    monkeypatch.setattr(mixture, "_MAX_HELD_OUT_OF_LARGE", 60)
    wide = make_memd("table", random_state=0, verbose=1).fit(X, y)["memd"]
    names = [name for name, _ in wide.estimators]
    assert wide.skipped_ == [name for name in names if name not in wide.fast_candidates]
    assert "regularised, 0.6, 0.5: skipped, too slow" in capsys.readouterr().out
    assert wide.cv_results_["name"].tolist() == [*wide.fast_candidates, "class shares"]
    assert wide.calibrations_["linear"].uniform_share == 0.5 / 61
    every = make_memd("table", random_state=0, fast_candidates=None, cv=2).fit(X, y)[
        "memd"
    ]
    assert every.skipped_ == []
    assert len(every.cv_results_["name"]) == len(names) + 1


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda t: pd.DataFrame({"text": t}), lambda X: X["text"]),
        (lambda t: np.array(t)[:, None], lambda X: X[:, 0]),
        (lambda t: (one for one in t), list),
        (lambda t: [one.split() for one in t], lambda X: [" ".join(w) for w in X]),
        (lambda t: [None, *t[1:]], lambda X: [text or "" for text in X]),
        (lambda t: [*t[:-1], pd.NA], lambda X: pd.Series(X).fillna("")),
    ],
)
def test_advice_on_texts_is_good(wrong, advice):
    texts, y = messages()
    with pytest.raises(ValueError, match=r'df\["text"\]|list of texts|is not a text; '):
        make_memd("text").fit(wrong(texts), y)
    model = make_memd("text", random_state=0).fit(advice(wrong(texts)), y)
    assert model.score(texts, y) > 0.9


def test_one_text_alone_and_counts_in_dictionaries():
    texts, y = messages()
    model = make_memd("text", random_state=0).fit(texts, y)
    with pytest.raises(ValueError, match="X is a str; pass a list of texts"):
        model.predict(texts[0])
    assert model.predict([texts[0]]) == y[0]
    raw = [text.encode() for text in texts]
    assert_array_equal(model.predict_proba(raw), model.predict_proba(texts))
    counts = [dict(Counter(text.split())) for text in texts]
    with pytest.raises(ValueError, match="DictVectorizer in front"):
        make_memd("text").fit(counts, y)
    model = make_pipeline(DictVectorizer(), make_memd("text", random_state=0))
    assert model.fit(counts, y).score(counts, y) > 0.9
