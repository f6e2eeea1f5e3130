import math

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.naive_bayes import GaussianNB

from memdlib import MeMdClassifier, densities
from memdlib.families import Polynomial
from memdlib.generative import scores
from memdlib.generative.memd import held_out_folds, size_grid
from tests.generative.conftest import wine, word_counts


def words(n=300):
    return word_counts(n, 200, 1, n_informative=20)


@pytest.mark.parametrize("family", ["normal", "bernoulli", "poisson", "multinomial"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("reach", "block"), [(0.3, 2**21), (2.0**14, 300), (0.3, 1)])
def test_a_curve_is_a_fit_for_every_size(monkeypatch, family, kind, reach, block):
    """Whether classes count as near to each other or as far."""
    monkeypatch.setattr(scores, "_FILLED", block)
    monkeypatch.setattr(scores, "_TOTALS", block)
    monkeypatch.setattr(scores, "_REACH", reach)
    X, y = words(n=160)
    X = X.toarray()[:, 20:32]
    new, y_new = kind(X[::2].astype(np.int8)), y[::2]
    weight = np.random.default_rng([7, 1]).uniform(0.5, 2, len(y_new))
    model = MeMdClassifier(family=family, n_features=1).fit(X[1::2], y[1::2])
    every = []
    for size in range(1, 13):
        one = MeMdClassifier(family=family, n_features=size).fit(X[1::2], y[1::2])
        every.append(one.score(kind(X[::2]), y_new, sample_weight=weight))
    assert len(set(every)) > 3
    for grid in ("every", [3, 4, 9, 12], [5, 9]):
        S, accuracy = model.accuracy_curve(new, y_new, weight, n_features_grid=grid)
        assert_allclose(accuracy, np.take(every, S - 1), rtol=1e-12)


def held_out_weight(model, X, y, weight, held_out):
    """Weight of the rows found right by a model of the others, for every S."""
    right = []
    for size in range(1, X.shape[1] + 1):
        inner = sklearn.clone(model).set_params(n_features=size)
        inner.fit(X[~held_out], y[~held_out], weight[~held_out])
        hit = inner.predict(X[held_out]) == y[held_out]
        # exact sums: the same rows found right have the same weight
        right.append(math.fsum(weight[held_out][hit]))
    return np.array(right)


@pytest.mark.parametrize("validation", [0.2, 4])
@pytest.mark.parametrize("divergence", ["js_gm", "jeffreys"])
@pytest.mark.parametrize(
    ("family", "kind"),
    [
        ("normal", np.asarray),
        *(("bernoulli", k) for k in (np.asarray, sparse.csr_array)),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_size_is_chosen_on_unseen_rows(validation, divergence, family, kind, weighted):
    X, y, _, _ = wine()
    X = kind(X - np.median(X, axis=0)) if family == "normal" else kind(X > X.mean(0))
    weight = np.random.default_rng([7, 5]).uniform(0.1, 1, len(y)) ** weighted
    model = MeMdClassifier(divergence, family=family, cv=validation, random_state=5)
    model.fit(X, y, weight)
    fold, n_held_out = held_out_folds(y, validation, 5)
    parts = [fold == f for f in range(n_held_out)]
    right = sum(held_out_weight(model, X, y, weight, part) for part in parts)
    curve = right / sum(weight[part].sum() for part in parts)
    assert_allclose(model.validation_curve_, curve, rtol=1e-12)
    assert model.n_selected_ == np.flatnonzero(curve > curve.max() - 1e-9)[0] + 1
    whole = sklearn.clone(model).set_params(n_features=1).fit(X, y, weight)
    assert_array_equal(model.order_, whole.order_)
    assert_allclose(model.mean_params_, whole.mean_params_, rtol=1e-12)


@pytest.mark.parametrize("validation", [0.1, 0.2, 0.9, 2, 5, 10])
def test_rows_are_held_out_by_class(validation):
    y = np.repeat([4, 0, 3, 1, 2], [60, 20, 7, 2, 1])
    fold, n_held_out = held_out_folds(y, validation, 0)
    assert n_held_out == (1 if validation < 1 else validation)
    assert (fold[y == 2] == n_held_out).all()  # the only row of its class
    for k, size in ((4, 60), (0, 20), (3, 7), (1, 2)):
        held = np.bincount(fold[y == k], minlength=n_held_out + 1)
        if validation < 1:
            assert abs(held[0] - validation * size) < 2
        else:
            assert np.ptp(held[:-1]) <= 1 and held[-1] == 0
    assert_array_equal(held_out_folds(y, validation, 0)[0], fold)
    assert (held_out_folds(y, validation, 1)[0] != fold).any()


def test_without_two_rows_of_any_class_all_features_are_kept():
    with pytest.warns(UserWarning, match="only one row in class 0, 1"):
        model = MeMdClassifier().fit([[0.0, 1], [7, 9]], [0, 1])
    assert model.validation_curve_ is None
    assert model.n_selected_ == 2


def test_batches_of_any_kind_and_weight_add_up():
    (X, y), w = words(n=150), np.random.default_rng([7, 8]).integers(1, 4, 150)
    one = MeMdClassifier(n_features=9).fit(X, y, w)
    many = MeMdClassifier(n_features=9).fit(X.toarray()[:50], y[:50], w[:50])
    many.partial_fit(X[50:51], y[50:51], sample_weight=w[50:51])
    many.partial_fit(sparse.csc_matrix(X[51:]), y[51:], range(4), w[51:])
    assert_allclose(many.mean_params_, one.mean_params_, rtol=1e-12, atol=1e-12)
    auto = MeMdClassifier().partial_fit(X, y, classes=range(4))
    assert auto.n_selected_ == X.shape[1]
    assert auto.validation_curve_ is None


@pytest.mark.parametrize("scale", [1e-30, 0.1, 1e13])
def test_only_the_ratio_of_weights_counts_for_the_normal_family(scale):
    X, y, X_new, _ = wine()
    one = MeMdClassifier(random_state=0).fit(X, y)
    other = MeMdClassifier(random_state=0).fit(X, y, np.full(len(y), scale))
    assert other.n_selected_ == one.n_selected_
    found, expected = other.predict_proba(X_new), one.predict_proba(X_new)
    assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("gap", [1e-100, 1e-6, 3.0, 1e9])
def test_a_feature_that_is_constant_in_every_class_still_tells_them_apart(kind, gap):
    rng = np.random.default_rng([7, 11])
    y = np.arange(200) % 2
    X = np.column_stack([rng.normal(size=200), (5.0 if gap > 1e-9 else 0) + gap * y])
    model = MeMdClassifier(n_features=None).fit(kind(X), y)
    assert model.score(kind(X), y) == 1.0
    assert model.order_.tolist() == [1, 0]


@pytest.mark.parametrize("asked", [[], [0, 1], [6], [0.5], [True], ["1"], "all"])
def test_sizes_asked_for_are_integers_each_tried_once(asked):
    assert size_grid("every", 5).tolist() == [1, 2, 3, 4, 5]
    assert size_grid([[4, 2], [2, 5]], 5).tolist() == [2, 4, 5]
    with pytest.raises(ValueError, match="n_features_grid=.* integers from 1 to 5"):
        size_grid(asked, 5)


def test_parameters_changed_after_the_fit_change_no_prediction():
    X, y = words(n=100)
    model = MeMdClassifier(family="poisson", n_features=9).fit(X, y)
    before, curve = model.predict_log_proba(X), model.accuracy_curve(X, y)[1]
    model.set_params(
        family="bernoulli", n_features=2, variance_shrinkage=1.0, alpha=9.0
    )
    assert_array_equal(model.predict_log_proba(X), before)
    assert_array_equal(model.accuracy_curve(X, y)[1], curve)
    with pytest.raises(ValueError, match=r"Bernoulli\(\) differs from that of the p"):
        model.partial_fit(X, y)


def test_sizes_are_tried_on_a_grid():
    rng = np.random.default_rng([7, 11])
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 300)) + 0.4 * np.outer(y, rng.normal(size=300))
    every, some, few = (
        MeMdClassifier(cv=3, random_state=0, n_features_grid=grid).fit(X, y)
        for grid in ("every", None, [99, 7])
    )
    assert every.validation_n_features_.tolist() == list(range(1, 301))
    assert some.validation_n_features_.tolist() == size_grid(None, 300).tolist()
    assert few.validation_n_features_.tolist() == [7, 99]
    for model in (every, some, few):
        S, curve = model.validation_n_features_, model.validation_curve_
        assert_array_equal(curve, every.validation_curve_[S - 1])
        assert model.n_selected_ == S[curve >= curve.max() - 1e-9][0]
    whole = every.accuracy_curve(X, y, n_features_grid="every")[1]
    for asked in (None, [3, 200], "every"):
        S, accuracy = some.accuracy_curve(X, y, n_features_grid=asked)
        assert S.tolist() == size_grid(asked, 300).tolist()
        assert_array_equal(accuracy, whole[S - 1])


def test_priors_replace_the_shares():
    X, y, X_new, _ = wine()
    prior = [0.7, 0.2, 0.1]
    ours = MeMdClassifier(n_features=None, priors=prior).fit(X, y)
    theirs = GaussianNB(priors=prior, var_smoothing=0).fit(X, y)
    many = MeMdClassifier(n_features=None, priors=prior)
    many.partial_fit(X[::2], y[::2], range(3)).partial_fit(X[1::2], y[1::2])
    expected = theirs.predict_proba(X_new)
    assert_allclose(ours.predict_proba(X_new), expected, rtol=0, atol=1e-8)
    assert_allclose(many.predict_proba(X_new), expected, rtol=0, atol=1e-8)
    assert_array_equal(ours.class_prior_, prior)


def test_it_selects_for_others_and_is_selected_from():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = MeMdClassifier(n_features=5).fit(X, y)
    assert_array_equal(model.feature_importances_, model.scores_)
    best = X.columns[np.sort(model.order_[:5])].tolist()
    assert model.get_feature_names_out().tolist() == best
    assert_array_equal(model.transform(X), X[best])
    shape = MeMdClassifier(n_features=None)
    kept = SelectFromModel(shape, max_features=5, threshold=-np.inf).fit(X, y)
    assert kept.get_feature_names_out().tolist() == best
    kept = RFE(shape, n_features_to_select=5, step=5).fit(X, y)
    assert kept.get_feature_names_out().tolist() == best


def test_moments_that_rounding_spoils_are_named_by_class_and_feature():
    rng = np.random.default_rng([7, 14])
    X, y = rng.uniform(0, 1000, size=(60, 9)), np.tile(["ape", "bee"], 30)
    X[y == "bee", 3] = 999 + rng.uniform(size=30)
    family = Polynomial(4, support=(0.0, 1000.0))
    model = MeMdClassifier(family=family, alpha=1e-12, n_features=None)
    message = "^class 'bee', feature 3: rounding.*support by -999.*, towards zero"
    with pytest.raises(densities.RoundedMomentsError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize("d", [1, 63, 64, 65, 66, 1000, 19956])
def test_the_grid_of_sizes(d):
    grid = size_grid(None, d)
    assert grid[0] == 1
    assert grid[-1] == d
    assert (np.diff(grid) > 0).all()
    assert_array_equal(grid[:64], np.arange(1, min(d, 64) + 1))
    # no step above 3 per cent but for the rounding up
    assert (np.diff(grid) < np.maximum(0.03 * grid[:-1] + 1, 1.5)).all()
    assert len(grid) < 64 + 240


def test_an_accuracy_curve_is_of_the_features_of_the_fit():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = MeMdClassifier().fit(X, y)
    with pytest.raises(ValueError, match="missing:\n- petal width"):
        model.accuracy_curve(X.iloc[:, :3], y)
    with pytest.raises(ValueError, match="same order"):
        model.accuracy_curve(X[X.columns[::-1]], y)
    assert model.feature_names_in_.tolist() == X.columns.tolist()


def test_a_warning_of_single_rows_points_at_the_call():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="only one row in class 2") as caught:
        MeMdClassifier().fit(X[:101], y[:101])
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="only one row in class 0, 2: such"):
        MeMdClassifier(n_features=2).fit(X[49:101], y[49:101])
    # several rows, classes that share their variances, or a family without any
    MeMdClassifier(n_features=2).fit(X[48:102], y[48:102])
    MeMdClassifier(n_features=2, variance_shrinkage=1.0).fit(X[:101], y[:101])
    MeMdClassifier(n_features=2, family="exponential").fit(X[:101], y[:101])


@pytest.mark.parametrize("family", ["normal", "poisson"])
def test_a_curve_weighs_rows_of_classes_in_any_order(family):
    X, y = load_iris(return_X_y=True)
    names = np.array(["m", "a", "z"])
    model = MeMdClassifier(family=family, n_features=2).fit(X, names[y])
    asked = np.where(np.arange(150) % 7 == 0, "q", names[y])
    weight = np.random.default_rng([7, 15]).uniform(0.1, 3, 150)
    rows = np.r_[120:150, 0:70]
    S, accuracy = model.accuracy_curve(
        X[rows], asked[rows], weight[rows], n_features_grid=[2]
    )
    right = model.predict(X[rows]) == asked[rows]
    assert S.tolist() == [2]
    assert accuracy[0] == pytest.approx(np.average(right, weights=weight[rows]))


@pytest.mark.parametrize(("k", "s"), [(0, 1), (1, 3), (2, 0), (2, 2), (2, 3)])
def test_the_first_density_that_is_not_found_is_named(k, s):
    y = np.arange(60) % 3
    X = np.random.default_rng([18, 9]).random((60, 4))
    X[y == k, s] = X[y == 2, 3] = 0.25
    model = MeMdClassifier(family=Polynomial(3), alpha=0.0, n_features=None)
    kind = densities.InfeasibleMomentsError
    named = f"^class '{'abc'[k]}', feature {s}: there is no density of Polynomial"
    with pytest.raises(kind, match=named + r".* moments \[0\.25, 0\.0625,") as caught:
        model.fit(X, np.array(list("abc"))[y])
    assert isinstance(caught.value.__cause__, kind)
