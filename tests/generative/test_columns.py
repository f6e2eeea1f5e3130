"""Tables as people have them: what a column is, what it says, and what is refused."""

import datetime
import operator
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from memdlib import DivergenceRanker, MeMdClassifier, make_memd
from memdlib.generative import contributions
from memdlib.generative.columns import ColumnEncoder


def as_polars(frame):
    cells = frame.astype(object).where(frame.notna(), None)
    return pl.DataFrame({name: cells[name].tolist() for name in cells}, strict=False)


def as_objects(frame):
    return frame.astype(object).to_numpy()


LIBRARIES = [pytest.param(pd.DataFrame, id="pandas"), as_polars, as_objects]


def name_of(column, frame, X):
    """How a message calls a column: by its index where there are no names."""
    return repr(column) if hasattr(X, "columns") else str(list(frame).index(column))


def measured(n=200):
    rng = np.random.default_rng(0)
    x = rng.normal(100, 15, n)
    noise = rng.normal(size=n)
    y = np.where((x - 100) / 15 + 0.3 * rng.normal(size=n) > 0, "hi", "lo")
    return x, noise, y


def table(**overrides):
    return make_memd("table", **{"random_state": 0, "cv": 3} | overrides)


def without_commas(column):
    return column.str.replace(",", "")


# How numbers come as strings, and what has to be done before pd.to_numeric.
SPELLINGS = {
    "one question mark": (
        lambda x: ["?" if i == 7 else f"{v:.2f}" for i, v in enumerate(x)],
        lambda column: column,
    ),
    "decimal comma": (
        lambda x: [f"{v:.1f}".replace(".", ",") for v in x],
        lambda column: column.str.replace(",", "."),
    ),
    "thousands": (lambda x: [f"{1000 * v:,.0f}" for v in x], without_commas),
    "bounds": (
        lambda x: ["<75" if v < 75 else f"{v:.2f}" for v in x],
        lambda column: column.str.removeprefix("<"),
    ),
    "units": (
        lambda x: [f"{v:.1f} mg/dl" for v in x],
        lambda column: column.str.removesuffix(" mg/dl"),
    ),
    "currency": (
        lambda x: [f"${v:.2f}" for v in x],
        lambda column: column.str.removeprefix("$"),
    ),
    "exponents": (lambda x: [f"{v:.3e}" for v in x], lambda column: column),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_numbers_that_are_read_as_categories_are_named(spelling, library):
    x, noise, y = measured()
    spell, clean = SPELLINGS[spelling]
    frame = pd.DataFrame({"noise": noise, "x": spell(x)})
    X = library(frame)
    share = 0.995 if spelling == "one question mark" else 1.0
    message = rf"by column, is \{{{name_of('x', frame, X)}: {share}\}}: remove"
    with pytest.warns(UserWarning, match=message) as caught:
        lost = table().fit(X, y).score(X, y)
    assert len(caught) == 1  # neither the folds nor the candidates repeat it
    frame["x"] = pd.to_numeric(clean(frame["x"]), errors="coerce")
    X = library(frame)
    assert table().fit(X, y).score(X, y) > max(0.9, lost)


def test_a_number_among_the_cells_counts_as_its_text():
    x, _, _ = measured()
    cells = x.astype(object)
    cells[:50] = "unknown"
    with pytest.warns(UserWarning, match=r"by column, is \{'x': 0.75\}"):
        ColumnEncoder().fit(pd.DataFrame({"x": cells}))


@pytest.mark.parametrize(
    "cells",
    [
        ["1", "2", "3", "4", "5"] * 6,
        pd.Categorical([f"{i % 15}" for i in range(60)]),
        pd.Series([f"{i % 15}" for i in range(60)]).astype("category"),
        pl.Series([f"{i % 15}" for i in range(60)], dtype=pl.Categorical),
        [f"2020-01-{i % 15:02}" for i in range(60)],
        [f"{i % 15}-{i % 15 + 9}" for i in range(60)],
        [f"A{i % 15}" for i in range(60)],
        ["only"] * 60,
        [None] * 60,
        np.ones(60),
        np.full(60, np.nan),
    ],
    ids=lambda cells: f"{type(cells).__name__} {cells[0]}",
)
def test_codes_dates_and_constant_columns_are_no_reason_to_warn(cells):
    library = pl if isinstance(cells, pl.Series) else pd
    X = library.DataFrame({"code": cells})
    assert ColumnEncoder().fit_transform(X).shape[0] == len(X)


@pytest.mark.parametrize("library", LIBRARIES)
def test_categories_without_any_frequent_level_are_named_together(library):
    x, _, y = measured()
    words = [f"{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(len(x))]
    columns = {f"name {j}": words for j in range(9)}
    frame = pd.DataFrame({"x": x, "group": words[:2] * (len(x) // 2), **columns})
    X = library(frame)
    first = name_of("name 0", frame, X)
    message = rf"no level occurs in 3 rows of the columns \[{first}, .*\.\.\.\]"
    with pytest.warns(UserWarning, match=message) as caught:
        model = table().fit(X, y)
    assert len(caught) == 1
    assert not model.feature_importances_[2:].any()
    table().fit(library(frame[["x", "group"]]), y)
    frame["name 0"] = frame["name 0"].str[-1]  # merge levels, as advised
    table().fit(library(frame[["x", "name 0"]]), y)


SAME = [
    ("1", 1),
    ("1", 1.0),
    (1, "1"),
    (1.0, "1"),
    (1.0, 1),
    (True, "True"),
    ("False", False),
    (10**16, f"1{16 * '0'}"),
    (10.0**16, 10**16),
    (2.5, "2.5"),
    (np.float32(0.1), 0.1),
    (np.int8(3), 3.0),
    (np.True_, True),
]
OTHERS = [
    ("3", "3.0"),
    (None, "missing"),
    (None, "nan"),
    (None, "None"),
    (np.nan, "nan"),
    (1, True),
    ("a", "A"),
]


def encode(fitted, new):
    """Codes of a level of the fit, and of a new cell, where "z" is another level."""
    cells = pd.Series([fitted] * 4 + ["z"] * 4, dtype=object)
    step = ColumnEncoder().fit(pd.DataFrame({"c": cells}))
    rows = pd.DataFrame({"c": pd.Series([fitted, new], dtype=object)})
    return step.transform(rows)


@pytest.mark.parametrize(("fitted", "new"), SAME, ids=repr)
def test_levels_are_the_same_by_their_text(fitted, new):
    one, other = encode(fitted, new)
    assert_array_equal(one, other)
    assert one.sum() == 1


@pytest.mark.parametrize(("fitted", "new"), OTHERS, ids=repr)
def test_levels_of_other_text_are_others(fitted, new):
    one, other = encode(fitted, new)
    assert one.sum() == 1 and not other.any()


@pytest.mark.parametrize(
    "cells", [[1, 2] * 30, [True, False] * 30, [10**16, 10**16 + 2] * 30, [1.0, 2] * 30]
)
def test_types_of_categories_do_not_matter(cells):
    declared = pd.DataFrame({"c": pd.Categorical(cells)})
    expected = ColumnEncoder().fit_transform(declared)
    step = ColumnEncoder().fit(declared)
    for new in (pd.Series(cells), pd.Series(cells, dtype=object)):
        assert_array_equal(step.transform(pd.DataFrame({"c": new})), expected)
    words = pd.Series([str(cell).removesuffix(".0") for cell in cells])
    assert_array_equal(step.transform(pd.DataFrame({"c": words})), expected)
    text = pd.DataFrame({"c": words})
    assert_array_equal(ColumnEncoder().fit(text).transform(declared), expected)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_column_without_a_known_level_is_named(library):
    frame = pd.DataFrame({"size": np.arange(60.0), "job": ["clerk", "smith"] * 30})
    X = library(frame)
    model = table().fit(X, frame["job"])
    new = library(frame.assign(job=frame["job"].str.upper()))
    message = rf"in the columns \{{{name_of('job', frame, X)}: 'CLERK'\}}, which"
    with pytest.warns(UserWarning, match=message) as caught:
        model.predict(new)
    assert len(caught) == 1
    assert model.score(X, frame["job"]) == 1  # written as in fit
    # a few rows may be new, and gaps are no levels
    model.predict(new[:2])
    model.predict(library(frame.assign(job=[None] * 60)))


def test_contributions_leave_out_columns_without_a_warning():
    frame = pd.DataFrame({"size": np.arange(60.0), "job": ["clerk", "smith"] * 30})
    step = make_pipeline(ColumnEncoder(), MeMdClassifier(family="normal"))
    base, values = contributions(step.fit(frame, frame["job"]), frame, "smith")
    assert np.isfinite(base) and np.ptp(values[:, 1]) > 1


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("word", ["Y", 7, 7.5, True])
def test_a_category_without_a_cell_in_the_fit_says_nothing_later(word, library):
    x, _, y = measured()
    frame = pd.DataFrame({"x": x, "note": pd.Series([None] * len(x), dtype=object)})
    later = frame.copy()
    later.loc[150, "note"] = word
    model = table().fit(library(frame), y)
    expected = model.predict_proba(library(frame))
    assert_array_equal(model.predict_proba(library(later)), expected)
    assert model.feature_importances_[1] == 0
    if isinstance(word, str):
        X = frame.assign(note=later["note"].astype("str").where(later["note"].notna()))
        assert np.isfinite(cross_val_score(table(), X, y, cv=4)).all()


@pytest.mark.parametrize("library", [pd.DataFrame, as_objects])
def test_a_word_in_a_column_of_numbers_is_named_and_the_advice_works(library):
    x, _, y = measured()
    code = np.arange(len(x)) % 5
    frame = pd.DataFrame({"x": x, "code": code.astype(object)})
    later = frame.copy()
    later.loc[155, "code"] = "other"
    X, new = library(frame), library(later)
    model = table().fit(X, y)
    name = name_of("code", frame, X)
    message = rf"column {name} held numbers in fit, but row 155 holds 'other': convert"
    with pytest.raises(ValueError, match=message):
        model.predict(new)
    numbers = pd.to_numeric(later["code"], errors="coerce")
    gap = model.predict_proba(library(later.assign(code=numbers)))
    assert np.isfinite(gap).all()
    strings = table().fit(library(frame.astype({"code": "str"})), y)
    assert np.isfinite(strings.predict_proba(new)).all()
    assert np.isfinite(cross_val_score(table(), later.astype({"code": "str"}), y)).all()


def test_types_of_numbers_are_numbers_even_without_a_cell():
    types = ["float64", "Float64", "Int64", "boolean"]
    frame = pd.DataFrame({name: pd.Series([None] * 8, dtype=name) for name in types})
    step = ColumnEncoder().fit(frame)
    assert step.get_feature_names_out()[:4].tolist() == types
    with pytest.raises(ValueError, match="column 'Int64' held numbers in fit, but row"):
        step.transform(frame.assign(Int64=["many"] * 8))


def test_decimals_are_numbers():
    X = pd.DataFrame({"price": [Decimal("1.50"), Decimal(2), None]})
    made = ColumnEncoder().fit_transform(X)
    assert made.tolist() == [[1.5, 0], [2, 0], [1.75, 1]]


@pytest.mark.parametrize("family", ["auto", {"c": "categorical"}])
def test_a_category_of_codes_without_a_cell_says_nothing(family):
    x, _, y = measured(120)
    codes = np.where(np.arange(120) < 60, np.nan, np.arange(120) % 2)
    X = pd.DataFrame({"x": x, "c": codes})
    empty, full = slice(0, 60), slice(60, None)
    ranker = DivergenceRanker(family=family, n_features=1).fit(X[empty], y[empty])
    assert ranker.scores_[1] == 0 and ranker.order_.tolist() == [0, 1]
    model = MeMdClassifier(family=family, n_features=2).fit(X[empty], y[empty])
    expected = model.predict_proba(X[empty])
    assert_array_equal(model.predict_proba(X[empty].assign(c=1.0)), expected)
    if family != "auto":  # which is by the batch
        whole = clone(model).fit(X, y).predict_proba(X)
        for batches in ((empty, full), (full, empty)):
            parts = clone(model)
            for rows in batches:
                parts.partial_fit(X[rows], y[rows], classes=["hi", "lo"])
            assert_allclose(parts.predict_proba(X), whole, rtol=1e-12)


@pytest.mark.parametrize("library", [pd.DataFrame, as_polars])
def test_columns_are_those_of_the_fit_in_their_order(library):
    x, noise, y = measured()
    frame = pd.DataFrame({"x": x, "noise": noise, "job": ["clerk", "smith"] * 100})
    X = library(frame)
    model = table().fit(X, y)
    assert model.feature_names_in_.tolist() == list(frame)
    for names in (["noise", "x", "job"], ["x", "noise"], ["x", "noise", "job", "x2"]):
        other = library(frame.assign(x2=x)[names])
        with pytest.raises(ValueError, match="feature names should match|2 features"):
            model.predict(other)
    assert model.score(library(frame[list(model.feature_names_in_)]), y) > 0.9


def gap_and_dummies(n=200):
    """Columns that are called as what is made of other columns."""
    rng = np.random.default_rng(0)
    gap = rng.random(n) < 0.1
    steak = rng.choice(["infrequent_sklearn", "medium", "nan"], n).astype(object)
    steak[:7] = ["blue", "blue", "burnt", "burnt", None, None, None]
    return pd.DataFrame(
        {
            "age": np.where(gap, np.nan, rng.normal(40, 10, n)),
            "missingindicator_age": gap,
            "steak": steak,
            "steak_medium": rng.normal(size=n),
            "steak_nan": rng.normal(size=n),
        }
    )


@pytest.mark.parametrize("library", [pd.DataFrame, as_polars])
def test_names_of_what_is_made_are_unique(library):
    frame = gap_and_dummies()
    X = library(frame)
    y = frame["steak"].isin(["medium"])
    step = ColumnEncoder().set_output(transform=X.__class__.__module__.split(".")[0])
    made = step.fit_transform(X)
    names = step.get_feature_names_out().tolist()
    assert list(made.columns) == names and len(set(names)) == len(names) == 10
    assert {"missingindicator_age.1", "steak_medium.1", "steak_nan.1"} < set(names)
    assert "steak_nan.2" in names and "steak_infrequent_sklearn.1" in names
    assert table().set_output(transform="pandas").fit(X, y).score(X, y) == 1


ROWS = pd.DataFrame({"a": np.arange(60.0), "s": ["u", "v"] * 30})
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(i) for i in range(60)]
CALENDAR = "column 'd' of X holds dates; convert them to numbers, .* reference date"
LISTS = r"column 'd' of X holds lists; spread .* \(row 0 holds \[1, 2\]\)"
REMEDIES = {
    "series": (ROWS["a"], "Expected a 2-dimensional container", pd.Series.to_frame),
    "texts": (ROWS["s"].tolist(), r"X is a list of strings.*make_memd\('text'\)", None),
    "series of strings": (ROWS["s"], r"pass X.to_frame\(\)", pd.Series.to_frame),
    "dict": (ROWS.to_dict("list"), r"pass pandas.DataFrame\(X\)", pd.DataFrame),
    "json": (ROWS.to_dict("records"), r"pass pandas.DataFrame\(X\)", pd.DataFrame),
    "records": (
        ROWS.to_records(index=False),
        r"X is a recarray .* pass pandas.DataFrame\(X\)",
        pd.DataFrame,
    ),
    "lazy": (
        as_polars(ROWS).lazy(),
        r"X is a LazyFrame; pass X.collect\(\)",
        operator.methodcaller("collect"),
    ),
    "dates": (
        ROWS.assign(d=DAYS),
        CALENDAR,
        lambda X: X.assign(d=[(day - DAYS[0]).days for day in X["d"]]),
    ),
    "datetimes": (
        ROWS.assign(d=pd.to_datetime(DAYS)),
        CALENDAR,
        lambda X: X.assign(d=(X["d"] - X["d"].min()).dt.days),
    ),
    "spans": (
        ROWS.assign(d=pd.to_datetime(DAYS) - pd.to_datetime(DAYS[0])),
        CALENDAR,
        lambda X: X.assign(d=X["d"].dt.days),
    ),
    "periods": (
        ROWS.assign(d=pd.period_range("2015", periods=60, freq="M")),
        CALENDAR,
        lambda X: X.assign(d=(X["d"].dt.to_timestamp() - pd.Timestamp(0)).dt.days),
    ),
    "polars dates": (
        as_polars(ROWS).with_columns(d=pl.Series(DAYS)),
        CALENDAR,
        lambda X: X.with_columns(d=(pl.col("d") - pl.col("d").min()).dt.total_days()),
    ),
    "lists": (
        ROWS.assign(d=[[1, 2]] * 60),
        LISTS,
        lambda X: (
            X.drop(columns="d").join(pd.DataFrame(X["d"].tolist())).rename(columns=str)
        ),
    ),
    "dicts": (
        ROWS.assign(d=[{"e": i % 3, "f": 1.0} for i in range(60)]),
        "column 'd' of X holds dicts; spread",
        lambda X: X.drop(columns="d").join(pd.json_normalize(X["d"])),
    ),
    "sets": (ROWS.assign(d=[{1, 2}] * 60), "column 'd' of X holds lists", None),
    "none": (None, "Expected 2D array, got scalar array", None),
    "number": (np.array(5), "Expected 2D array, got scalar array", None),
    "no rows": (ROWS[:0], r"0 sample\(s\)", None),
    "no columns": (as_polars(ROWS)[[]], r"0 feature\(s\)|0 sample\(s\)", None),
    "cube": (np.zeros((60, 2, 2)), "Found array with dim 3", None),
}


@pytest.mark.filterwarnings("ignore:all training rows have")  # by strings alone
@pytest.mark.parametrize("case", REMEDIES)
def test_what_is_no_table_is_refused_and_the_advice_works(case):
    X, message, remedy = REMEDIES[case]
    y = np.array(["p", "q"]).repeat(30)
    with pytest.raises(ValueError, match=message):
        table().fit(X, y)
    if remedy is not None:
        assert table().fit(remedy(X), y).predict(remedy(X)).shape == (60,)


def test_texts_that_are_no_table_are_for_another_kind():
    texts = ["good film", "bad film"] * 30
    with pytest.raises(ValueError, match=r"make_memd\('text'\) for texts"):
        table().fit(texts, texts)
    assert make_memd("text", random_state=0).fit(texts, texts).score(texts, texts) == 1


def test_a_single_row_is_a_table_of_one_row():
    y = np.array(["p", "q"]).repeat(30)
    model = table().fit(ROWS, y)
    with pytest.raises(ValueError, match="Pass a DataFrame containing a single row"):
        model.predict(ROWS.iloc[0])
    assert model.predict(ROWS.iloc[[0]]).tolist() == ["p"]


def test_intervals_are_categories():
    interval = pd.cut(ROWS["a"], 3)
    expected = ColumnEncoder().fit_transform(pd.DataFrame({"i": interval}))
    objects = pd.DataFrame({"i": interval.astype(object)})
    assert_array_equal(ColumnEncoder().fit_transform(objects), expected)


NUMBERS = {
    "normal": MeMdClassifier(n_features=1),
    "auto": MeMdClassifier(family="auto", n_features=1),
    "ranker": DivergenceRanker(n_features=1),
    "expression": make_memd("expression"),
}


@pytest.mark.parametrize("library", [pd.DataFrame, as_polars])
@pytest.mark.parametrize("name", NUMBERS)
def test_estimators_of_numbers_name_the_cell_and_the_advice_works(name, library):
    model = clone(NUMBERS[name])
    y = np.array(["p", "q"]).repeat(30)
    marked = ROWS.assign(a=["?", *map(str, ROWS["a"][1:])])
    message = (
        r"'a' of X holds strings; .*to_numeric.*make_memd\('table'\) \(row 0 .*'\?'"
    )
    with pytest.raises(ValueError, match=message):
        model.fit(library(marked), y)
    for cells, message in ((DAYS, CALENDAR), ([[1, 2]] * 60, LISTS)):
        with pytest.raises(ValueError, match=message):
            model.fit(ROWS[["a"]].assign(d=cells), y)
    with pytest.raises(ValueError, match="Expected a 2-dimensional container|2D array"):
        model.fit(library(ROWS)["s"], y)
    numbers = pd.to_numeric(marked["a"], errors="coerce").fillna(0)
    encoded = OrdinalEncoder().fit_transform(ROWS[["s"]]).ravel()
    model.fit(library(pd.DataFrame({"a": numbers, "s": encoded})), y)


@pytest.mark.parametrize("estimator", [MeMdClassifier, DivergenceRanker])
@pytest.mark.parametrize("family", ["gaussian", {"a": "gaussian"}, ["gaussian"]])
def test_an_unknown_family_lists_those_by_column_too(estimator, family):
    y = np.array(["p", "q"]).repeat(30)
    message = "'gaussian' is not known; .*'normal'.* also 'auto' or 'categorical'"
    with pytest.raises(ValueError, match=message):
        estimator(family=family).fit(ROWS[["a"]], y)
    for named in ("normal", "auto", "categorical"):
        estimator(family=named, n_features=1).fit(ROWS[["a"]], y)


def weighted(kind):
    """Data whose last rows, of weight zero, would change every first step."""
    x, noise, y = measured()
    if kind == "text":
        words = np.where(x > 100, "much", "little").astype(object)
        words[150:] = "other words entirely"
        return words.tolist(), y
    if kind == "expression":
        return np.random.default_rng(1).normal(size=(200, 300)) + x[:, None] / 10, y
    job = np.array(["clerk", "smith"] * 100, dtype=object)
    job[150:] = "pilot"
    gaps = np.where(np.arange(200) < 150, noise, np.nan)
    return pd.DataFrame({"x": x + (np.arange(200) > 150), "gaps": gaps, "job": job}), y


def first(rows, n):
    return rows.iloc[:n] if hasattr(rows, "iloc") else rows[:n]


@pytest.mark.parametrize(
    ("kind", "routed"),
    [("table", False), ("expression", False), ("text", False), ("table", True)],
)
def test_rows_of_weight_zero_are_left_out(kind, routed):
    X, y = weighted(kind)
    weight = np.where(np.arange(200) < 150, 1.0, 0.0)
    expected = make_memd(kind, random_state=0).fit(first(X, 150), y[:150])
    model = make_memd(kind, random_state=0)
    if routed:
        with sklearn.config_context(enable_metadata_routing=True):
            model["memd"].set_fit_request(sample_weight=True)
            model.fit(X, y, sample_weight=weight)
    else:
        model.fit(X, y, memd__sample_weight=weight)
    assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    if kind == "table":
        names = expected[0].get_feature_names_out().tolist()
        assert model[0].get_feature_names_out().tolist() == names
        assert names == ["x", "gaps", "job_clerk", "job_smith"]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros(200), "at least one non-zero number"),
        (np.r_[np.ones(100), np.zeros(99)], "inconsistent numbers of samples"),
        (np.r_[-np.ones(1), np.zeros(1), np.ones(198)], "Negative values"),
    ],
    ids=["all zero", "too few", "negative"],
)
def test_weights_that_make_no_sense_are_refused(weight, message):
    X, y = weighted("table")
    with pytest.raises(ValueError, match=message):
        table().fit(X, y, memd__sample_weight=weight)
