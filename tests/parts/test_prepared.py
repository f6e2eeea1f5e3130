"""Pipelines: each step is fitted to what those before make of the parts."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from memdlib import DivergenceRanker, MeMdClassifier
from memdlib.generative import CorrelatedMeMdClassifier
from memdlib.generative.recommended.samples import normal_scores
from memdlib.parts import fit_chunks, wide
from memdlib.parts.dask import fit_distributed
from memdlib.parts.prepared import StripsAfter
from tests.parts.comparing import agree, correlated, in_parts
from tests.parts.test_dask import blocks
from tests.parts.test_serial import Steps, Stopped, same_bits, stop_after

LESS = FunctionTransformer(np.tanh, feature_names_out="one-to-one")
LESS.set_output(transform="pandas")

PIPELINES = {
    "scores": make_pipeline(
        FunctionTransformer(normal_scores), CorrelatedMeMdClassifier()
    ),
    "selected": make_pipeline(
        LESS,
        "passthrough",
        DivergenceRanker(n_features=0.9),
        CorrelatedMeMdClassifier("auto", validation=0.4, random_state=0),
    ),
    "marginals": make_pipeline(LESS, MeMdClassifier(random_state=0)),
}


def steps_agree(one, other, X):
    for a, b in zip(one, other, strict=True):
        if not isinstance(a, str):
            agree(a, b, X)
            X = a.transform(X) if hasattr(a, "transform") else X
    np.testing.assert_allclose(one[-1].class_prior_, other[-1].class_prior_)


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("d", [20, 250])
@pytest.mark.parametrize("where", ["chunks", "dask"])
def test_a_pipeline_is_that_of_all_rows(monkeypatch, name, d, where):
    monkeypatch.setattr(wide, "_ENTRIES", 20_000)
    X, y = correlated(d=d)
    weight = np.random.default_rng([18, 2]).integers(4, size=len(y)) * 1.0
    one, other = clone(PIPELINES[name]), clone(PIPELINES[name])
    last = one.steps[-1][0]
    one.fit(X, y, **{f"{last}__sample_weight": weight})
    ranker = [step for step in one if isinstance(step, DivergenceRanker)]
    if ranker:  # all steps in parts know the weights
        one = clone(one)
        rows = one[:1].fit_transform(X)
        one[2].fit(rows, y, weight)
        one[3].fit(one[2].transform(rows), y, weight)
    if where == "chunks":
        fit_chunks(other, in_parts(X, y, weight))
    else:
        fit_distributed(other, *blocks(X, y, weight))
    steps_agree(one, other, X)


def test_names_of_columns_reach_the_steps():
    X, y = correlated()
    table = pd.DataFrame(X).rename(columns="x{}".format)
    one = clone(PIPELINES["marginals"]).fit(table, y)
    in_chunks = fit_chunks(clone(PIPELINES["marginals"]), in_parts(table, y))
    steps_agree(one, in_chunks, table)
    frames = dd.from_pandas(table, npartitions=3), dd.from_pandas(pd.Series(y), 3)
    steps_agree(one, fit_distributed(clone(PIPELINES["marginals"]), *frames), table)


@pytest.mark.parametrize(("name", "d"), [("selected", 20), ("scores", 250)])
def test_stopped_and_resumed_with_the_same_bits(tmp_path, monkeypatch, name, d):
    monkeypatch.setattr(wide, "_ENTRIES", 20_000)
    X, y = correlated(d=d)
    model, path, all_steps = PIPELINES[name], tmp_path / "fit.npz", Steps()
    one = fit_chunks(clone(model), in_parts(X, y), progress=all_steps)
    how = {"checkpoint": path, "every": 1}
    for n in range(0, all_steps.taken, 7):
        with pytest.raises(Stopped):
            fit_chunks(clone(model), in_parts(X, y), progress=stop_after(n), **how)
        left = Steps()
        other = fit_chunks(clone(model), in_parts(X, y), progress=left, **how)
        same_bits(one[-1], other[-1])
        assert left.taken == all_steps.taken - 1 - n
    with pytest.raises(Stopped):
        fit_chunks(clone(model), in_parts(X, y), progress=stop_after(9), **how)
    changed = clone(model).set_params(correlatedmemdclassifier__shrinkage=0.3)
    with pytest.raises(ValueError, match="checkpoint of another fit"):
        fit_chunks(changed, in_parts(X, y), **how)
    X[0, 0] += 1.0
    with pytest.raises(ValueError, match="chunk 1 has other values"):
        fit_chunks(clone(model), in_parts(X, y), **how)


def test_all_steps_or_none():
    X, y = correlated()
    model = clone(PIPELINES["selected"]).fit(X, y)
    before = [dict(vars(step)) for step in model if not isinstance(step, str)]
    with pytest.raises(ValueError, match="one class only"):
        fit_chunks(model, in_parts(X[:, :9], np.zeros(200)))
    assert [vars(step) for step in model if not isinstance(step, str)] == before
    with pytest.raises(TypeError, match="StandardScaler cannot be fitted in parts"):
        fit_chunks(make_pipeline(StandardScaler(), MeMdClassifier()), [])


def test_a_strip_of_rows_without_their_labels_is_refused():
    strips = StripsAfter(None, FunctionTransformer())
    for X, y in ((np.empty((0, 3)), [1]), (np.ones((2, 3)), [1])):
        with pytest.raises(ValueError, match="rows of X and 1 labels"):
            strips.strip(X, y, slice(0, 2))
    assert strips.strip(np.empty((0, 3)), [], slice(0, 2)).shape == (0, 2)
