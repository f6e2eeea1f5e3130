"""An outcome that says nothing about the classes is told in a warning by every fit."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from memdlib import MeMdClassifier, make_memd
from memdlib.datasets import simulate_gaussian_classes
from tests.test_contract import CLASSIFIERS

TABLE = make_memd("table", random_state=0)
COUNTS = MeMdClassifier(family="poisson", n_features=None)


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, COUNTS, TABLE], ids=str)
def test_constant_posteriors(estimator):
    y = np.arange(60) % 3 == 0
    with pytest.warns(UserWarning, match="same posteriors, so X says nothing"):
        clone(estimator).fit(np.ones((60, 4)), y)


def rare_counts(seed, n=190):
    """Counts that are mostly zero, and say nothing about three unequal classes."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.52, 0.37, 0.11])
    is_present = rng.random((n, 60)) < 0.03
    return np.where(is_present, rng.integers(1, 4, (n, 60)), 0).astype(float), y


def rare_indicators(seed, n=3000):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.283).astype(int)
    rate = np.where(y == 1, 0.03, 0.02)[:, None]
    return (rng.random((n, 30)) < rate).astype(float), y


@pytest.mark.parametrize(
    "data", [rare_counts(1), rare_counts(7), rare_indicators(2), rare_indicators(5)]
)
def test_accuracy_below_the_largest_class(data):
    """On the training rows no error bar is needed; the remedy helps."""
    X, y = data
    share = np.bincount(y).max() / len(y)
    with pytest.warns(UserWarning, match="below the share .* variance_shrinkage=1.0"):
        model = MeMdClassifier(random_state=0).fit(X, y)
    assert model.score(X, y) < share
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(variance_shrinkage=1.0).fit(X, y)
    assert model.score(X, y) >= share


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, TABLE], ids=str)
def test_what_can_be_told_apart_raises_no_warning(estimator):
    data = simulate_gaussian_classes(
        n_samples=120, n_features=6, n_informative=4, random_state=0
    )
    clone(estimator).fit(np.abs(data.X), data.y)


def test_priors_of_the_caller_may_prefer_another_class():
    X, y = rare_indicators(0)
    MeMdClassifier(family="auto", priors=[0.2, 0.8], n_features=None).fit(X, y)
