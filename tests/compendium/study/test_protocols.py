from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from compendium.study.protocols import (
    accuracy_by_repeat,
    corrected_interval,
    paired_test,
    repeated_accuracy,
)
from memdlib.generative.memd import MeMdClassifier

SEEN = []


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers the rows it was fitted on and asked about."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        SEEN.append((set(X[:, 0]), None))
        return self

    def predict(self, X):
        SEEN[-1] = (SEEN[-1][0], set(X[:, 0]))
        return np.zeros(len(X), int)


def test_accuracy_is_that_of_cross_validation():
    X, y = load_iris(return_X_y=True)
    found = repeated_accuracy(
        {"nb": GaussianNB(), "memd": MeMdClassifier()}, X, y, n_splits=5, repeats=2
    )
    for r in range(2):
        folds = StratifiedKFold(5, shuffle=True, random_state=r)
        part = found["nb"]
        np.testing.assert_allclose(
            part["correct"][r] / part["tested"][r],
            cross_val_score(GaussianNB(), X, y, cv=folds),
        )
    assert (found["nb"]["n_features"] == 4).all()
    assert (found["memd"]["n_features"] <= 4).all()
    expected = 100 * found["nb"]["correct"].sum(axis=1) / 150
    np.testing.assert_allclose(accuracy_by_repeat(found["nb"]), expected)


def test_no_method_sees_the_rows_it_is_tested_on():
    SEEN.clear()
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    repeated_accuracy({"r": Recorder()}, X, y, n_splits=4, repeats=2)
    assert len(SEEN) == 8
    for fitted, asked in SEEN:
        assert not fitted & asked
        assert fitted | asked == set(X[:, 0])


def test_every_fold_begins_with_an_estimator_as_it_was_given():
    class Warm(Recorder):
        """Goes on where its last fit ended."""

        def fit(self, X, y):
            self.fits_ = getattr(self, "fits_", 0) + 1
            fits.append(self.fits_)
            return super().fit(X, y)

    fits, given = [], Warm()
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    repeated_accuracy({"r": given}, X, y, n_splits=3, repeats=2)
    assert fits == [1] * 6
    assert vars(given) == {}


def test_each_repeat_has_a_seed_of_its_own():
    seeds = []

    class Seeded(Recorder):
        def __init__(self, random_state=None):
            self.random_state = random_state

        def fit(self, X, y):
            seeds.append(self.random_state)
            return super().fit(X, y)

    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    first, second = (
        repeated_accuracy({"r": Seeded()}, X, y, n_splits=2, repeats=r, first_seed=s)
        for r, s in ((2, 5), (1, 6))
    )
    assert seeds == [5, 5, 6, 6, 6, 6]
    assert first["r"]["correct"][1].tolist() == second["r"]["correct"][0].tolist()


def test_corrected_interval_by_hand():
    rng = np.random.default_rng([8, 1])
    tested = np.full((3, 4), 10)
    first, second = (
        {"correct": c, "tested": tested} for c in rng.integers(5, 11, (2, 3, 4))
    )
    gap = 10.0 * (first["correct"] - second["correct"]).ravel()
    half = stats.t(11).ppf(0.975) * np.sqrt((1 / 12 + 1 / 3) * gap.var(ddof=1))
    found = corrected_interval(first, second)
    assert found["difference"] == pytest.approx(gap.mean())
    assert found["high"] - found["difference"] == pytest.approx(half)
    assert found["low"] == pytest.approx(gap.mean() - half)


@pytest.mark.parametrize(
    ("only_first", "only_second"), [(0, 0), (1, 0), (3, 1), (2, 7)]
)
def test_paired_test_counts_the_splits_of_the_rows_that_tell(only_first, only_second):
    first = np.repeat([True, False, True, False], [only_first, only_second, 4, 2])
    second = np.repeat([False, True, True, False], [only_first, only_second, 4, 2])
    # every way in which fair coins could have split these rows, by their likeliness
    heads = [sum(s) for s in product((0, 1), repeat=only_first + only_second)]
    uneven = abs(only_first - only_second)
    extreme = [abs(2 * h - only_first - only_second) >= uneven for h in heads]
    found = paired_test(first, second)
    assert found.pop("p") == pytest.approx(np.mean(extreme))
    assert found == {"first": only_first, "second": only_second}
