"""Mixtures in parts against those of all rows, and what they learn from a sample."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from memdlib import make_memd
from memdlib.generative import (
    CorrelatedMeMdClassifier,
    MixedMeMdClassifier,
    RegularisedMeMdClassifier,
)
from memdlib.generative.recommended import mixed as in_memory
from memdlib.parts import ArrayChunks, TableChunks, fit_chunks, predict_chunks
from memdlib.parts import mixed as in_parts_of
from memdlib.parts.dask import fit_distributed, predict_blocks
from tests.parts.comparing import agree, correlated, in_parts
from tests.parts.test_dask import blocks
from tests.parts.test_serial import Steps, Stopped, stop_after

KINDS = ("table", "expression")


def rows(n=200, d=5, K=3, seed=0):
    """Rows of three classes, one feature of which is far from normal."""
    rng = np.random.default_rng([32, seed])
    y = rng.integers(K, size=n)
    X = rng.normal(size=(n, d)) + 1.5 * np.eye(K, d)[y]
    X[:, 0] = np.exp(X[:, 0])
    return X, y


def hold_out(monkeypatch, most):
    """So many rows at most are held out, and none more are in memory but a sample."""
    for module in (in_memory, in_parts_of):
        monkeypatch.setattr(module, "MOST_HELD_OUT", most)
    monkeypatch.setattr(in_parts_of, "_IN_MEMORY", 0)


def same_mixture(one, other, X, within=1e-8):
    if hasattr(one, "steps"):
        one, other = one[-1], other[-1]
    agree(one, other, X)
    assert one.names_ == other.names_
    for name in ("estimator_weights_", "uniform_share_"):
        np.testing.assert_allclose(
            getattr(one, name),
            getattr(other, name),
            rtol=within,
            atol=within,
            err_msg=name,
        )
    for name, values in one.cv_results_.items():
        found = other.cv_results_[name]
        if name == "name":
            assert values.tolist() == found.tolist()
        else:
            np.testing.assert_allclose(values, found, within, within, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_mixture_is_that_of_all_rows(kind, weighted):
    X, y = rows()
    columns, how = [X, np.array(["ape", "bee", "cow"])[y]], {}
    if weighted:
        columns.append(np.random.default_rng([18, 2]).integers(4, size=len(y)) * 1.0)
        how = {"memd__sample_weight": columns[2]}
    one = make_memd(kind, random_state=0).fit(*columns[:2], **how)
    other = fit_chunks(make_memd(kind, random_state=0), in_parts(*columns))
    same_mixture(one, other, X)


MIXTURES = {
    "expression": make_memd("expression", random_state=0)[-1],
    "table": MixedMeMdClassifier(  # of what learns nothing but moments
        make_memd("table")[-1].estimators[:5], lead=None, random_state=0
    ),
    "chosen": MixedMeMdClassifier(
        [
            ("auto", CorrelatedMeMdClassifier("auto")),
            ("balanced", RegularisedMeMdClassifier(class_weight="balanced")),
        ],
        validation=0.3,
        random_state=1,
    ),
}


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize(("most", "weighted"), [(15, False), (50, True), (90, False)])
def test_of_more_rows_the_same_are_held_out(monkeypatch, name, most, weighted):
    hold_out(monkeypatch, most)
    X, y = rows()
    columns = [X, np.array(["ape", "bee", "cow"])[y]]
    if weighted:
        columns.append(np.random.default_rng([18, 2]).integers(4, size=len(y)) * 1.0)
    one = clone(MIXTURES[name]).fit(*columns)
    same_mixture(one, fit_chunks(clone(MIXTURES[name]), in_parts(*columns)), X)
    cuts = range(0, 201, 8)
    other = fit_chunks(clone(MIXTURES[name]), in_parts(*columns, cuts=cuts))
    same_mixture(one, other, X)


def test_steps_that_have_learnt_are_steps_of_all_folds(monkeypatch):
    """In memory, with these steps as they are, all is the same."""
    hold_out(monkeypatch, 60)
    X, y = rows()
    names = ["correlated, splines", "regularised, 0.2, 0.9, splines", "kernel, 1.0"]
    estimators = [e for e in make_memd("table")[-1].estimators if e[0] in names]
    model = MixedMeMdClassifier(estimators, lead=None, random_state=0)
    other = fit_chunks(clone(model), in_parts(X, y))
    assert other.names_ == names
    known = [
        (name, make_pipeline(FunctionTransformer(fitted[0].transform), old[-1]))
        for (name, old), fitted in zip(estimators, other.estimators_, strict=True)
    ]
    same_mixture(clone(model).set_params(estimators=known).fit(X, y), other, X)


def test_what_candidates_learn_they_learn_from_a_sample(monkeypatch):
    hold_out(monkeypatch, 600)
    X, y = rows(n=6000)
    test, labels = rows(n=6000, seed=1)
    chunks = ArrayChunks(X, y, rows=1000)
    models = (
        make_memd("table", random_state=0).fit(X, y),
        fit_chunks(make_memd("table", random_state=0), chunks),
        fit_chunks(make_memd("table", random_state=0), ArrayChunks(X, y, rows=777)),
    )
    one, other, another = (model.predict_proba(test) for model in models)
    np.testing.assert_allclose(other, another, rtol=1e-9, atol=1e-9)
    losses = [log_loss(labels, p) for p in (one, other)]
    assert one.tolist() != other.tolist()
    assert abs(losses[0] - losses[1]) < 0.005


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_a_fold_has_alone(monkeypatch, kind):
    hold_out(monkeypatch, 90)
    X, y = rows()
    y[17] = 3  # in the third of five folds, which is held out
    one = clone(MIXTURES[kind]).fit(X, y)
    same_mixture(one, fit_chunks(clone(MIXTURES[kind]), in_parts(X, y)), X)


def test_too_few_rows_to_hold_any_out(monkeypatch):
    hold_out(monkeypatch, 1)
    X, y = np.array([[1.0], [2.0], [4.0], [7.0]]), np.array([0, 0, 1, 1])
    model = MixedMeMdClassifier(random_state=0, validation=0.1)
    one = clone(model).fit(X, y)
    same_mixture(one, fit_chunks(model, in_parts(X, y, cuts=(0, 3, 4))), X)
    assert model.uniform_share_ == 0


@pytest.mark.parametrize("name", ["expression", "table"])
@pytest.mark.parametrize("most", [10_000, 50])
def test_stopped_and_resumed_with_the_same_bits(tmp_path, monkeypatch, name, most):
    hold_out(monkeypatch, most)
    X, y = rows()
    if most > len(X):
        monkeypatch.undo()
    model, path, all_steps = MIXTURES[name], tmp_path / "fit.npz", Steps()
    one = fit_chunks(clone(model), in_parts(X, y), progress=all_steps)
    expected = one.predict_log_proba(X).tobytes()
    how = {"checkpoint": path, "every": 1}
    for n in range(2, all_steps.taken, 61 if name == "expression" else 19):
        with pytest.raises(Stopped):
            fit_chunks(clone(model), in_parts(X, y), progress=stop_after(n), **how)
        left = Steps()
        other = fit_chunks(clone(model), in_parts(X, y), progress=left, **how)
        assert other.predict_log_proba(X).tobytes() == expected
        assert left.taken == all_steps.taken - 1 - n
    assert not list(tmp_path.iterdir())


def test_a_fit_that_goes_on_must_draw_the_same(tmp_path):
    X, y = rows()
    for kind in KINDS:
        with pytest.raises(ValueError, match="random_state=None draws other rows"):
            fit_chunks(make_memd(kind), in_parts(X, y), checkpoint=tmp_path / "fit")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("most", [10_000, 50])
def test_dask(monkeypatch, kind, most):
    X, y = rows()
    if most < len(X):
        hold_out(monkeypatch, most)
    one = fit_chunks(make_memd(kind, random_state=0), in_parts(X, y))
    other = fit_distributed(make_memd(kind, random_state=0), *blocks(X, y))
    same_mixture(one, other, X)
    found = predict_blocks(other, blocks(X)[0], "predict_log_proba").compute()
    np.testing.assert_allclose(found, one.predict_log_proba(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("most", [10_000, 50])
def test_tables_keep_their_names(monkeypatch, tmp_path, most):
    X, y = rows()
    if most < len(X):
        hold_out(monkeypatch, most)
    model = MIXTURES["table"]
    table = pd.DataFrame(X).rename(columns="x{}".format)
    one = clone(model).fit(table, y)
    same_mixture(one, fit_chunks(clone(model), in_parts(table, y)), table)
    frames = dd.from_pandas(table, npartitions=3), dd.from_pandas(pd.Series(y), 3)
    same_mixture(one, fit_distributed(clone(model), *frames), table)
    file = tmp_path / "t.parquet"
    pq.write_table(
        pa.Table.from_pandas(table.assign(y=y), preserve_index=False),
        file,
        row_group_size=70,
    )
    chunks = TableChunks(file, "y")
    other = fit_chunks(clone(model), chunks)
    same_mixture(one, other, table)
    kept = predict_chunks(other, chunks, tmp_path / "found", method="predict_proba")
    np.testing.assert_array_equal(np.concatenate(kept), other.predict_proba(table))


@pytest.mark.parametrize("most", [10_000, 50])
def test_what_cannot_be_fitted(monkeypatch, most):
    X, y = rows()
    if most < len(X):
        hold_out(monkeypatch, most)
    model = make_memd("table", random_state=0).fit(X, y)
    before = dict(vars(model[-1]))
    for chunks, error, message in (
        (in_parts(sparse.csr_array(X), y), TypeError, "needs dense"),
        (in_parts(np.where(X == X[150, 2], np.nan, X), y), ValueError, "NaN"),
        (in_parts(X, np.zeros(200)), ValueError, "one class only"),
        (in_parts(X, y, np.zeros(200)), ValueError, "no row of positive weight"),
        ([(X, y), (X[:, 1:], y)], ValueError, "4 features"),
        ([], ValueError, "no row in any chunk"),
    ):
        with pytest.raises(error, match=message):
            fit_chunks(model, chunks)
        assert vars(model[-1]) == before
    with pytest.raises(ValueError, match="estimators"):
        fit_chunks(MixedMeMdClassifier([("one", None)]), [])
    wrong = CorrelatedMeMdClassifier(7)
    with pytest.raises(ValueError, match="n_features"):
        fit_chunks(MixedMeMdClassifier([("one", wrong)]), in_parts(X, y))


def test_candidates_that_have_no_fit_in_parts(monkeypatch):
    X, y = rows()
    model = MixedMeMdClassifier([("other", LogisticRegression())], random_state=0)
    same_mixture(clone(model).fit(X, y), fit_chunks(clone(model), in_parts(X, y)), X)
    hold_out(monkeypatch, 50)
    with pytest.raises(TypeError, match="LogisticRegression cannot be fitted in parts"):
        fit_chunks(model, in_parts(X, y))


def test_auto_with_fewer_rows_than_features(monkeypatch):
    hold_out(monkeypatch, 50)
    X, y = correlated(d=250)
    model = MixedMeMdClassifier(random_state=0)
    same_mixture(clone(model).fit(X, y), fit_chunks(clone(model), in_parts(X, y)), X)
    model = MixedMeMdClassifier([("auto", CorrelatedMeMdClassifier("auto"))])
    with pytest.raises(ValueError, match="fix n_features"):
        fit_chunks(model, in_parts(X, y))


REGULARISED = {
    "default": RegularisedMeMdClassifier(),
    "quadratic": RegularisedMeMdClassifier(0.01, 0.3, 0.0, priors=[0.2, 0.3, 0.5]),
    "balanced": RegularisedMeMdClassifier(0.2, 0.9, "auto", class_weight="balanced"),
}


CHANGES = {
    "none": lambda X: X,
    "offset": lambda X: X + 1.7e9,
    "units": lambda X: X * np.logspace(-150, 150, X.shape[1]),
    "float32": lambda X: X.astype(np.float32),
}


@pytest.mark.parametrize("d", [5, 250])
@pytest.mark.parametrize(
    ("name", "change"),
    [(name, "none") for name in REGULARISED]
    + [("default", "offset"), ("balanced", "units"), ("quadratic", "float32")],
)
def test_regularised_covariances(name, d, change):
    X, y = correlated(d=d)
    X = CHANGES[change](X)
    weight = np.random.default_rng([18, 2]).integers(4, size=len(y)) * 1.0
    one = clone(REGULARISED[name]).fit(X, y, weight)
    other = fit_chunks(clone(REGULARISED[name]), in_parts(X, y, weight))
    agree(one, other, X)
    other = fit_distributed(clone(REGULARISED[name]), *blocks(X, y, weight))
    agree(one, other, X)
