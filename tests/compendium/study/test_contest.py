import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from compendium.study.contest import (
    EVERYWHERE,
    LABELS,
    CalibratedSearch,
    StoppedBoosting,
    contestants,
)
from compendium.study.scoring import measured
from memdlib.datasets import simulate_gaussian_classes, simulate_text_counts


def of(kind):
    if kind == "text":
        bunch = simulate_text_counts(
            80, n_words=150, n_informative=60, n_classes=2, lift=8.0
        )
        X = bunch.X
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return X, bunch.y
    d = {"expression": 130, "table": 6}[kind]
    bunch = simulate_gaussian_classes(80, n_features=d, n_informative=6, separation=2.0)
    return bunch.X, bunch.y


@pytest.mark.parametrize("kind", ["expression", "table", "text"])
def test_all_take_part_and_learn(kind):
    X, y = of(kind)
    models = contestants(kind, X.shape[1], folds=2, iterations=5)
    assert set(EVERYWHERE) <= set(models) <= set(LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # solvers that are stopped early
        for name, model in models.items():
            found = measured(model, (X[:50], y[:50]), (X[50:], y[50:]), seed=0)
            assert found["right"].mean() > 0.6, name
            assert ((found["own"] >= 0) & (found["own"] <= found["top"])).all(), name
            assert 1 <= found["features"] <= X.shape[1], name
            assert min(found["fit"], found["predict"]) >= 0


def test_mixed_tables_have_peers_on_one_preparation():
    rng = np.random.default_rng(3)
    y = np.arange(120) % 2
    X = pd.DataFrame({"job": np.where(rng.random(120) < 0.8, y, 2).astype(str)})
    X["age"] = np.where(rng.random(120) < 0.2, np.nan, y + rng.normal(size=120))
    models = contestants("mixed", 2, folds=2, iterations=5)
    assert set(models) < set(LABELS)
    for name, model in models.items():
        train, test = (X[:80], y[:80]), (X[80:], y[80:])
        assert measured(model, train, test, seed=0)["right"].mean() > 0.7, name


def test_the_machine_decides_and_the_sigmoid_says_how_surely():
    X, y = of("table")
    model = CalibratedSearch(SVC(kernel="linear"), {"C": (0.01, 1.0)}, 3).fit(X, y)
    plain = SVC(kernel="linear", **model.best_params_).fit(X, y)
    assert (model.predict(X) == plain.predict(X)).all()
    order = np.argsort(plain.decision_function(X))
    assert (np.diff(model.predict_proba(X)[order, 1]) >= 0).all()


def test_boosting_stops():
    X, y = of("table")
    y = np.random.default_rng(5).permutation(y)  # nothing to be learnt
    assert StoppedBoosting(60, random_state=0).fit(X, y).n_iter_ < 60
