"""What a fit costs is bounded, or told before it is paid."""

import tracemalloc

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from memdlib import ConditionalMaxEntClassifier, DivergenceRanker, MeMdClassifier, nml
from memdlib.families import Poisson
from memdlib.generative import (
    AccuracyCurveDisplay,
    CorrelatedMeMdClassifier,
    MixtureClassifier,
)

MEBIBYTE = 2**20


def peak(call, *args):
    """Largest memory in use during a call, in MiB."""
    tracemalloc.start()
    try:
        call(*args)
        return tracemalloc.get_traced_memory()[1] / MEBIBYTE
    finally:
        tracemalloc.stop()


def rows_in_pairs(n_classes):
    """Labels that number pairs of rows."""
    X = np.random.default_rng(0).normal(size=(2 * n_classes, 5))
    return X, np.arange(2 * n_classes) // 2


@pytest.mark.parametrize(
    ("model", "n_classes", "most"),
    [
        # a matrix of rows and classes alone has 61 MiB
        (CorrelatedMeMdClassifier(), 2000, 20),
        # one of classes and nodes, of which each class has its own, has 26 MiB
        (DivergenceRanker("js"), 120, 20),
    ],
    ids=str,
)
def test_memory_grows_no_faster_than_the_data_with_the_classes(model, n_classes, most):
    assert peak(model.fit, *rows_in_pairs(n_classes)) < most


def test_a_categorical_column_leaves_the_other_columns_sparse():
    rng = np.random.default_rng(0)
    stored = np.ones(100_000), rng.integers(0, [[20_000], [5000]], (2, 100_000))
    X = sparse.csr_array(stored, shape=(20_000, 5000))
    model = MeMdClassifier(family={0: "categorical"}, n_features=None)
    assert peak(model.fit, X, np.arange(20_000) % 2) < 100


def test_a_divergence_of_thousands_of_classes_is_refused_with_a_remedy():
    X, y = rows_in_pairs(4000)
    with pytest.raises(ValueError, match=r"4000 classes .* takes 2\.\de\+10 values .*"):
        DivergenceRanker("js").fit(X, y)
    assert np.isfinite(DivergenceRanker("js_gm").fit(X, y).scores_).all()


@pytest.mark.parametrize("means", [(3, 4), (100, 120), (5000, 5050)])
def test_counts_are_summed_where_their_probability_is(means):
    mu = np.array(means, dtype=float)[:, None, None]
    value, _ = Poisson().jensen_shannon(mu, [0.3, 0.7])
    expected = mpmath.mpf(0)
    for x in range(max(0, means[0] - 1000), means[1] + 1000):
        p = [mpmath.exp(x * mpmath.log(m) - m - mpmath.loggamma(x + 1)) for m in means]
        mixture = 0.3 * p[0] + 0.7 * p[1]
        expected += 0.3 * p[0] * mpmath.log(p[0] / mixture)
        expected += 0.7 * p[1] * mpmath.log(p[1] / mixture)
    assert_allclose(value, float(expected), rtol=1e-10)


def test_the_divergence_of_large_counts_takes_little_memory():
    mu = np.array([[[3e5]], [[3e5 + 400]]])
    assert peak(Poisson().jensen_shannon, mu, [0.5, 0.5]) < 5


@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
def test_levels_without_rows_cost_little(strategy):
    X = np.random.default_rng(0).random((300, 2))
    model = nml.LevelQuantiser(20_000, strategy=strategy).fit(X)
    above = X[:, :, None] > model.thresholds_
    assert_array_equal(model.transform(X), above.sum(axis=2))
    if strategy == "kmeans":  # with levels enough for each value
        assert_array_equal(model.transform(X), X.argsort(axis=0).argsort(axis=0))


@pytest.mark.parametrize("solver", ["gis", "iis"])
def test_scaling_stops_once_classes_are_proved_separable(solver):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    model = ConditionalMaxEntClassifier(solver, C=np.inf)
    with pytest.warns(ConvergenceWarning, match="are linearly separable, .* finite C"):
        model.fit(X, y)
    assert model.n_iter_ < 100
    assert model.score(X, y) == 1.0
    assert ConditionalMaxEntClassifier(solver, C=10.0, tol=1e-3).fit(X, y).n_iter_ > 100


def test_a_long_fit_says_how_much_is_left(capsys):
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    quiet = nml.NMLClassifier(n_moments=3, n_bins=3).fit(X, y)
    assert not capsys.readouterr().out
    loud = nml.NMLClassifier(n_moments=3, n_bins=3, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "12 of 12 complexities left"
    assert lines[-1] == "2 of 12 complexities left"
    assert_array_equal(loud.log_odds_, quiet.log_odds_)


# --- What the same estimators share with others --------------------------------------


def test_curves_of_all_classifiers_take_weights_and_a_grid():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    weight = np.arange(100.0)
    model = nml.NMLClassifier(n_moments=2, n_bins=3).fit(X, y)
    sizes, accuracy = model.accuracy_curve(X, y, weight, n_features_grid=[1, 4])
    assert sizes.tolist() == [1, 4]
    for size, value in zip(sizes, accuracy, strict=True):
        fewer = nml.NMLClassifier(int(size), n_moments=2, n_bins=3).fit(X, y)
        assert value == pytest.approx(fewer.score(X, y, weight))
    display = AccuracyCurveDisplay.from_estimator(
        model, X, y, sample_weight=weight, n_features_grid=[1, 4]
    )
    assert display.line_.get_ydata().tolist() == accuracy.tolist()
    assert model.accuracy_curve(X, y)[0].tolist() == [1, 2, 3, 4]


def test_seeds_of_draws_are_those_of_scikit_learn():
    def draw(random_state):
        estimate = nml.conditional_complexity_estimate(
            [40] * 4,
            2,
            method="monte-carlo",
            n_draws=4096,
            random_state=random_state,
        )
        return estimate.complexity

    assert draw(0) == draw(0) != draw(1)
    assert draw(np.random.RandomState(3)) == draw(np.random.RandomState(3))
    assert draw(None) != draw(None)
    for wrong in (-1, 1.5, "x"):
        with pytest.raises(ValueError, match="Seed must|cannot be used to seed"):
            draw(wrong)


def test_a_search_over_parameters_is_a_candidate_and_gets_the_weights():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(CorrelatedMeMdClassifier(), {"n_features": [1, 2]}, cv=3)
    candidate = [("search", search)]
    plain = MixtureClassifier(candidate, random_state=0).fit(X, y)
    weight = np.where(y == 2, 50.0, 1.0)
    weighted = MixtureClassifier(candidate, random_state=0).fit(X, y, weight)
    best = weighted.named_estimators_["search"].best_estimator_
    assert best.class_prior_[2] == pytest.approx(50 / 52)
    assert plain.score(X, y) > 0.9
