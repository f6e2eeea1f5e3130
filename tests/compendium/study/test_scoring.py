import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from compendium.study.contest import contestants
from compendium.study.scoring import calibration_error, features_used, log_loss


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
