import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MinMaxScaler,
    SplineTransformer,
    StandardScaler,
)

from memdlib.generative import CorrelatedMeMdClassifier
from memdlib.generative.recommended.held_out import HeldOut, TrainingRows, settings


def rows(n=60, seed=0):
    rng = np.random.default_rng([48, seed])
    codes = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + codes[:, None], codes


def test_every_row_is_scored_by_the_others():
    X, codes = rows()
    fold = np.arange(60) // 3 % 4
    splits = [(fold != f, fold == f) for f in range(4)]
    held_out = HeldOut.of(codes, np.ones(60), splits)
    (found,) = held_out.log_posteriors([LogisticRegression()], X)
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
    (found,) = held_out.log_posteriors([CorrelatedMeMdClassifier()], X)
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
    one = TrainingRows(X, codes, weight).fit(model)
    scaled = MinMaxScaler().fit_transform(X)
    mean = np.average(scaled, axis=0, weights=weight)
    np.testing.assert_allclose(one[1].mean_, mean)
    two = LogisticRegression().fit(one[1].transform(scaled), codes, weight)
    np.testing.assert_allclose(one[-1].coef_, two.coef_)


def test_steps_are_the_same_only_if_all_their_settings_are():
    """Long settings look alike when they are printed; functions have no settings."""
    X, codes = rows()
    X = np.clip(X / 6, 0, 1)
    ends = np.linspace(0, 0.1, 1000), np.linspace(0.9, 1, 1000)
    few, many = (
        SplineTransformer(knots=np.r_[ends[0], middle, ends[1]][:, None] * np.ones(4))
        for middle in (np.full(9, 0.5) + 1e-6 * np.arange(9), np.linspace(0.2, 0.8, 9))
    )
    assert repr(few) == repr(many)
    training = TrainingRows(X, codes, np.ones(60))
    one, two = (
        training.fit(make_pipeline(step, LogisticRegression(max_iter=1000)))
        for step in (few, many)
    )
    np.testing.assert_array_equal(two[0].knots, many.knots)
    assert one[0] is not two[0]
    halves = FunctionTransformer(lambda X: X / 2), FunctionTransformer(lambda X: X / 4)
    half, quarter = (
        training.fit(make_pipeline(step, StandardScaler(), LogisticRegression()))
        for step in halves
    )
    np.testing.assert_allclose(half[1].mean_, 2 * quarter[1].mean_)


def test_folds_may_be_held_out_by_several_processes():
    X, codes = rows()
    fold = np.arange(60) // 3 % 4
    held_out = HeldOut.of(
        codes, np.ones(60), [(fold != f, fold == f) for f in range(4)]
    )
    models = [CorrelatedMeMdClassifier(), LogisticRegression()]
    one, two = (held_out.log_posteriors(models, X, n_jobs=n) for n in (None, 2))
    np.testing.assert_array_equal(one, two)


def test_weights_several_models_and_classes_that_a_fold_lacks():
    X, codes = rows(40, 5)
    codes = np.where(np.arange(40) % 10 == 2, 3, codes)  # four unequal classes
    codes[codes == 3] = np.where(np.arange((codes == 3).sum()) == 0, 4, 3)
    weight = np.random.default_rng([48, 5]).uniform(0.2, 5.0, 40)
    fold = np.arange(40) // 4 % 3
    # the last of these holds out nothing
    splits = [(fold != f, fold == f) for f in range(3)] + [(fold < 3, fold > 3)]
    held_out = HeldOut.of(codes, weight, splits)
    assert len(held_out.splits) == 3
    assert (held_out.known == (codes != 4)).all()
    models = [LogisticRegression(), CorrelatedMeMdClassifier(shrinkage=0.5)]
    found = held_out.log_posteriors(models, X)
    assert found.shape == (2, 39, 5)
    for model, ours in zip(models, found, strict=True):
        expected = np.full((40, 5), -np.inf)
        for f in range(3):
            train = fold != f
            part = clone(model).fit(X[train], codes[train], weight[train])
            expected[np.ix_(~train, part.classes_)] = part.predict_log_proba(X[~train])
        np.testing.assert_allclose(ours, expected[codes != 4], rtol=1e-9)
        assert not hasattr(model, "classes_")


def test_a_split_of_two_classes_is_enough():
    codes = np.array([0, 0, 1, 1, 2])
    first = np.array([True, False, True, False, False])
    held_out = HeldOut.of(codes, np.ones(5), [(first, ~first)])
    assert len(held_out.splits) == 1
    assert held_out.known.tolist() == [False, True, False, True, False]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Binarizer(threshold=1), Binarizer(threshold=1.0)),
        (Binarizer(threshold=1), Binarizer(threshold=True)),
        (Binarizer(copy=True), Binarizer(copy=False)),
        (Binarizer(), StandardScaler()),
        (MinMaxScaler((0, 1)), MinMaxScaler([0, 1])),
        (MinMaxScaler((0, 1)), MinMaxScaler((0, 2))),
        (
            BaggingClassifier(LogisticRegression(C=1.0)),
            BaggingClassifier(LogisticRegression(C=2.0)),
        ),
        (Binarizer(threshold=np.ones(2)), Binarizer(threshold=np.ones(2, np.float32))),
        (Binarizer(threshold=np.ones((2, 1))), Binarizer(threshold=np.ones((1, 2)))),
        (Binarizer(threshold=np.ones(2)), Binarizer(threshold=np.zeros(2))),
        (Binarizer(threshold={1: 2}), Binarizer(threshold={1: 2})),
    ],
)
def test_steps_that_differ_in_a_type_a_shape_or_a_value(one, other):
    assert settings(one) == settings(one)
    assert settings(one) != settings(other)
    hash(settings(one))


def test_steps_that_are_set_alike():
    for make in (
        lambda: MinMaxScaler((0, 1)),
        lambda: Binarizer(threshold=np.arange(3.0)),
        lambda: Binarizer(threshold=[np.ones(2), (1, "a")]),
        lambda: BaggingClassifier(LogisticRegression(C=3.0), n_estimators=4),
    ):
        assert settings(make()) == settings(make())


def test_steps_are_fitted_once():
    X, codes = rows(30, 7)
    weight = 1.0 + np.arange(30) % 3
    training = TrainingRows(X, codes, weight)
    model = make_pipeline(MinMaxScaler(), StandardScaler(), LogisticRegression())
    found = training.fit(model)
    scaled = MinMaxScaler().fit_transform(X)
    np.testing.assert_allclose(
        found[1].mean_, np.average(scaled, axis=0, weights=weight)
    )
    with pytest.raises(NotFittedError):
        model[0].transform(X)
    again = training.fit(model)
    assert again[0] is found[0]
    assert again[1] is found[1]
    # without steps the rows are taken as they are again
    plain = training.fit(LogisticRegression())
    expected = LogisticRegression().fit(X, codes, weight)
    np.testing.assert_allclose(plain.coef_, expected.coef_)
    pooled = training.fit(make_pipeline(StandardScaler(), CorrelatedMeMdClassifier()))
    alone = CorrelatedMeMdClassifier().fit(X, codes, weight)
    np.testing.assert_allclose(
        pooled.predict_proba(X), alone.predict_proba(X), rtol=0, atol=1e-9
    )
