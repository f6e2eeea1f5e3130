import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.svm import SVC

from compendium.study.contest import (
    EVERYWHERE,
    LABELS,
    CalibratedSVM,
    StoppedBoosting,
    calibration_error,
    contestants,
    features_used,
    growing_samples,
    log_loss,
    measured,
)
from memdlib.datasets import simulate_gaussian_classes, simulate_text_counts


def of(kind):
    if kind == "text":
        bunch = simulate_text_counts(80, 150, 60, 2, lift=8.0)
        X = bunch.X
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return X, bunch.y
    d = {"expression": 130, "table": 6}[kind]
    bunch = simulate_gaussian_classes(80, d, 6, separation=2.0)
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


def test_an_unknown_kind():
    with pytest.raises(ValueError, match="'images' must be one of"):
        contestants("images", 10)


def test_the_machine_decides_and_the_sigmoid_says_how_surely():
    X, y = of("table")
    model = CalibratedSVM(SVC(kernel="linear"), (0.01, 1.0), 3).fit(X, y)
    plain = SVC(kernel="linear", C=model.cost_).fit(X, y)
    assert (model.predict(X) == plain.predict(X)).all()
    order = np.argsort(plain.decision_function(X))
    assert (np.diff(model.predict_proba(X)[order, 1]) >= 0).all()


def test_boosting_stops():
    X, y = of("table")
    y = np.random.default_rng(5).permutation(y)  # nothing to be learnt
    assert StoppedBoosting(60, random_state=0).fit(X, y).n_iter_ < 60


def test_features_that_are_used():
    X, y = load_wine(return_X_y=True)
    models = contestants("table", 13, folds=3)
    lasso = clone(models["lasso"])
    lasso[-1].set_params(param_grid={"estimator__C": [0.01]})
    lasso.fit(X, y)
    weights = np.vstack([one.coef_ for one in lasso[-1].best_estimator_.estimators_])
    assert features_used(lasso, 13) == (np.abs(weights).max(axis=0) > 0).sum() < 13
    chosen = clone(models["f_logistic"]).set_params(param_grid={"selectkbest__k": [4]})
    assert features_used(chosen.fit(X, y), 13) == 4
    plain = models["plain"].set_params(n_features=5)
    assert features_used(plain.fit(X, y), 13) == 5


def test_log_loss_is_clipped():
    own = np.array([0.5, 0.0, 1.0])
    assert log_loss(own) == pytest.approx((np.log(2) + 6 * np.log(10)) / 3)


def test_calibration_error_bin_by_bin():
    rng = np.random.default_rng(6)
    top, hit = rng.uniform(0.3, 1.0, 500), rng.random(500) < 0.6
    total = 0.0
    for low in np.arange(10) / 10:
        rows = (top >= low) & (top < low + 0.1)
        if rows.any():
            total += rows.sum() * abs(hit[rows].mean() - top[rows].mean())
    assert calibration_error(top, hit) == pytest.approx(total / 500)
    assert calibration_error(np.ones(4), np.ones(4, bool)) == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_samples_that_grow(seed):
    y = np.random.default_rng(7).permutation(np.repeat([0, 1, 2], [60, 30, 10]))
    order, rest = growing_samples(y, 80, seed)
    assert sorted([*order, *rest]) == list(range(100))
    for n in (10, 20, 50, 80):
        counts = np.bincount(y[order[:n]], minlength=3)
        assert np.abs(counts - n * np.array([0.6, 0.3, 0.1])).max() <= 1.0


def test_sparse_counts_are_left_alone():
    X, y = of("text")
    before = sparse.csr_array(X, copy=True)
    measured(contestants("text", 150, folds=2)["plain"], (X, y), (X, y), 0)
    assert (X != before).nnz == 0
