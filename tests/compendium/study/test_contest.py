import warnings

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from compendium.study.contest import (
    EVERYWHERE,
    LABELS,
    CalibratedSearch,
    StoppedBoosting,
    StoppedCatBoost,
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


def one_category(n_rows):
    """Classes that a category tells but for the rows where it is missing."""
    rng = np.random.default_rng(7)
    y = rng.integers(2, size=n_rows)
    jobs = np.where(y == 1, rng.choice([*"acegik"], n_rows), "")
    jobs = np.where(y == 0, rng.choice([*"bdfhjl"], n_rows), jobs).astype(object)
    jobs[rng.random(n_rows) < 0.1] = np.nan
    rare = np.full(n_rows, np.nan)
    rare[0] = 1.0
    noise = rng.normal(size=n_rows)
    return pd.DataFrame({"rare": rare, "noise": noise, "job": jobs}), y


@pytest.mark.parametrize("name", ["catboost", "native_boosting"])
def test_boosting_that_knows_categories_takes_them_with_gaps(name):
    X, y = one_category(400)
    # levels in another order, one of which no training row has
    test = X[300:].iloc[::-1].assign(job=lambda frame: frame["job"].replace("a", "z"))
    model = contestants("mixed", 3, folds=2)[name]
    found = measured(model, (X[:300], y[:300]), (test, y[300:][::-1]), seed=0)
    known = test["job"].notna() & (test["job"] != "z")
    assert found["right"][known].mean() > 0.95
    assert 0.2 < found["own"][test["job"].isna()].mean() < 0.8


def test_native_boosting_splits_by_sets_of_levels():
    X, y = one_category(300)
    model = contestants("mixed", 3, folds=2)["native_boosting"].fit(X, y)
    assert model[-1]._model.is_categorical_.tolist() == [False, True]


def test_catboost_stops_where_more_iterations_no_longer_help():
    X, y = boosting_case(0.5)
    model = StoppedCatBoost(200, random_state=0).fit(X, y)
    parts = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    X_train, X_held_out, y_train, y_held_out = parts
    how = {"random_seed": 0, "verbose": False, "allow_writing_files": False}
    watched = CatBoostClassifier(iterations=200, **how)
    watched.fit(X_train, y_train, eval_set=(X_held_out, y_held_out))
    how["learning_rate"] = watched.get_all_params()["learning_rate"]
    whole = CatBoostClassifier(iterations=200, **how).fit(X_train, y_train)
    losses = [log_loss(y_held_out, P) for P in whole.staged_predict_proba(X_held_out)]
    n = model.n_iter_
    assert 1 < n < 180
    assert losses[n - 1] == min(losses[: n + 20])
    assert -model.best_score_ == pytest.approx(losses[n - 1])
    # the rate of the fit that was stopped; by itself it would be another
    again = CatBoostClassifier(iterations=n, **how).fit(X, y)
    assert model.predict_proba(X) == pytest.approx(again.predict_proba(X))
    del how["learning_rate"]
    other = CatBoostClassifier(iterations=n, **how).fit(X, y)
    assert model.predict_proba(X) != pytest.approx(other.predict_proba(X))


def test_catboost_is_quiet_and_leaves_no_files(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    StoppedCatBoost(5, random_state=0).fit(*boosting_case(1.0))
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_the_machine_decides_and_the_sigmoid_says_how_surely():
    X, y = of("table")
    model = CalibratedSearch(SVC(kernel="linear"), {"C": (0.01, 1.0)}, 3).fit(X, y)
    plain = SVC(kernel="linear", **model.best_params_).fit(X, y)
    assert (model.predict(X) == plain.predict(X)).all()
    order = np.argsort(plain.decision_function(X))
    assert (np.diff(model.predict_proba(X)[order, 1]) >= 0).all()


def test_a_class_with_fewer_rows_than_folds_has_posteriors():
    X, y = of("table")
    rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:4]]
    machine = CalibratedSearch(SVC(kernel="linear"), {"C": (0.1, 1.0)}, 5)
    with pytest.warns(UserWarning, match="least populated class in y has only 4"):
        machine.fit(X[rows], y[rows])
    P = machine.predict_proba(X[rows])
    assert P[-4:, 1].min() > P[:-4, 1].mean()


def boosting_by_hand(X, y, most):
    """Iterations after which ten more do not help on a fifth held out, or all."""
    # the split that the class draws from the same seed
    seed = check_random_state(0).randint(np.iinfo(np.uint32).max, dtype="u8")
    parts = train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)
    X_train, X_held_out, y_train, y_held_out = parts
    model = HistGradientBoostingClassifier(
        max_iter=most, min_samples_leaf=5, early_stopping=False
    ).fit(X_train, y_train)
    stages = model.staged_predict_proba(X_held_out)
    losses = [log_loss(y_held_out, P) for P in stages]
    for iterations in range(1, most):
        so_far, next_ten = losses[:iterations], losses[iterations : iterations + 10]
        if min(next_ten) > so_far[-1]:
            return iterations, so_far[-1]
    return most, losses[-1]


def boosting_case(separation):
    bunch = simulate_gaussian_classes(
        80, n_features=6, n_informative=3, separation=separation
    )
    return bunch.X, bunch.y


def test_boosting_stops_where_more_iterations_no_longer_help():
    X, y = boosting_case(1.0)
    iterations, loss = boosting_by_hand(X, y, 60)
    assert 10 < iterations < 50
    model = StoppedBoosting(60, random_state=0).fit(X, y)
    assert model.n_iter_ == iterations
    assert -model.best_score_ == pytest.approx(loss)


def test_boosting_that_helps_to_the_end_has_all_iterations():
    X, y = boosting_case(6.0)
    assert boosting_by_hand(X, y, 30)[0] == 30
    assert StoppedBoosting(30, random_state=0).fit(X, y).n_iter_ == 30


def test_boosting_that_never_helps_has_one_iteration():
    X, y = of("table")
    y = np.random.default_rng(5).permutation(y)  # nothing to be learnt
    assert StoppedBoosting(60, random_state=0).fit(X, y).n_iter_ == 1
