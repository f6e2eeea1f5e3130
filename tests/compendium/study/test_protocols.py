import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

from compendium.study import protocols
from memdlib.generative.memd import MeMdClassifier

SEEN = []


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers its seed, the rows it was fitted on and those it was asked about."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        SEEN.append((self.random_state, set(X[:, 0])))
        return self

    def predict(self, X):
        SEEN[-1] += (set(X[:, 0]),)
        return np.zeros(len(X), int)


@given(
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=4),
    n_splits=st.integers(1, 7),
    seed=st.integers(0, 99),
)
def test_folds_part_the_rows_evenly(sizes, n_splits, seed):
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    folds = list(protocols.stratified_folds(y, n_splits, seed))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(len(y)))
    tests = [test for _, test in folds]
    assert sorted(np.concatenate(tests)) == list(range(len(y)))
    of_class = np.array([np.bincount(y[test], minlength=len(sizes)) for test in tests])
    assert np.ptp(of_class.sum(axis=1)) <= 1
    assert np.ptp(of_class, axis=0).max() <= 1


def test_accuracy_is_that_of_cross_validation():
    X, y = load_iris(return_X_y=True)
    models = {"nb": GaussianNB(), "memd": MeMdClassifier()}
    found = protocols.repeated_accuracy(models, X, y, n_splits=5, repeats=2)
    part = found["nb"]
    for r in range(2):
        folds = list(protocols.stratified_folds(y, 5, r))
        scores = cross_val_score(GaussianNB(), X, y, cv=folds)
        np.testing.assert_allclose(part["correct"][r] / part["tested"][r], scores)
    assert (part["n_features"] == 4).all()
    assert (found["memd"]["n_features"] <= 4).all()
    expected = 100 * part["correct"].sum(axis=1) / 150
    np.testing.assert_allclose(protocols.accuracy_by_repeat(part), expected)


def test_no_method_sees_the_rows_it_is_tested_on_and_each_repeat_has_a_seed():
    SEEN.clear()
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    for repeats, first in ((2, 5), (1, 6)):
        how = {"n_splits": 4, "repeats": repeats, "first_seed": first}
        protocols.repeated_accuracy({"r": Recorder()}, X, y, **how)
    assert [seed for seed, *_ in SEEN] == [5] * 4 + [6] * 8
    assert SEEN[4:8] == SEEN[8:]
    for _, fitted, asked in SEEN:
        assert not fitted & asked
        assert fitted | asked == set(X[:, 0])


@pytest.mark.parametrize(("right", "p"), [(5, 1.0), (6, 0.0)])
def test_folds_that_all_differ_alike_leave_no_doubt(right, p):
    tested = np.full((2, 3), 10)
    parts = [{"correct": np.full((2, 3), c), "tested": tested} for c in (right, 5)]
    found = protocols.corrected_interval(*parts)
    assert found["low"] == found["high"] == found["difference"]
    assert found["p"] == p


def test_corrected_interval_by_hand():
    rng = np.random.default_rng([8, 1])
    tested = np.full((3, 4), 10)
    first, second = (
        {"correct": c, "tested": tested} for c in rng.integers(5, 11, (2, 3, 4))
    )
    gap = 10.0 * (first["correct"] - second["correct"]).ravel()
    half = stats.t(11).ppf(0.975) * np.sqrt((1 / 12 + 1 / 3) * gap.var(ddof=1))
    found = protocols.corrected_interval(first, second)
    assert found["difference"] == pytest.approx(gap.mean())
    assert found["high"] - found["difference"] == pytest.approx(half)
    assert found["low"] == pytest.approx(gap.mean() - half)
    # the p-value is that of the level at which the interval would end at zero
    half = stats.t(11).ppf(1.0 - found["p"] / 2) * half / stats.t(11).ppf(0.975)
    assert half == pytest.approx(abs(found["difference"]))


@pytest.mark.parametrize("seed", range(3))
def test_samples_that_grow(seed):
    y = np.random.default_rng(7).permutation(np.repeat([0, 1, 2], [60, 30, 10]))
    order, rest = protocols.growing_samples(y, 80, seed)
    assert sorted([*order, *rest]) == list(range(100))
    for n in (10, 20, 50, 80):
        counts = np.bincount(y[order[:n]], minlength=3)
        assert np.abs(counts - n * np.array([0.6, 0.3, 0.1])).max() <= 1.0
