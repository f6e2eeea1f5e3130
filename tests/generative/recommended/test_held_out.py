import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from memdlib.generative import CorrelatedMeMdClassifier
from memdlib.generative.recommended.held_out import HeldOut, fit_weighted


def rows(n=60, seed=0):
    rng = np.random.default_rng([48, seed])
    codes = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + codes[:, None], codes


def test_every_row_is_scored_by_the_others():
    X, codes = rows()
    fold = np.arange(60) // 3 % 4
    splits = [(fold != f, fold == f) for f in range(4)]
    held_out = HeldOut.of(codes, np.ones(60), splits)
    found = held_out.log_posteriors(LogisticRegression(), X)
    for i in range(60):
        others = fold != fold[i]
        one = LogisticRegression().fit(X[others], codes[others])
        np.testing.assert_allclose(found[i], one.predict_log_proba(X[[i]])[0])


def test_rows_of_a_class_that_was_not_trained_are_left_out():
    X, codes = rows(8)
    codes = np.array([0, 1, 0, 1, 0, 1, 0, 2])
    fold = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    splits = [(fold != f, fold == f) for f in range(2)]
    held_out = HeldOut.of(codes, np.ones(8), splits)
    assert np.flatnonzero(~held_out.known).tolist() == [7]
    found = held_out.log_posteriors(CorrelatedMeMdClassifier(), X)
    assert found.shape == (7, 3)
    # only the second fold has trained class 2
    assert np.isfinite(found[:, 2]).tolist() == (fold[:7] == 0).tolist()


def test_a_fold_that_leaves_one_class_scores_nothing():
    codes, fold = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])
    splits = [(fold != f, fold == f) for f in range(2)]
    assert HeldOut.of(codes, np.ones(4), splits).splits == []


def test_weights_reach_the_steps_that_take_them():
    X, codes = rows()
    weight = 1.0 + np.arange(60) % 2
    # the range takes no weights, the scale does
    model = make_pipeline(MinMaxScaler(), StandardScaler(), LogisticRegression())
    one = fit_weighted(model, X, codes, weight)
    scaled = MinMaxScaler().fit_transform(X)
    mean = np.average(scaled, axis=0, weights=weight)
    np.testing.assert_allclose(one[1].mean_, mean)
    two = LogisticRegression().fit(one[1].transform(scaled), codes, weight)
    np.testing.assert_allclose(one[-1].coef_, two.coef_)
