"""Marginals by code length: what is chosen, what is scored, and what is refused."""

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.special import log_softmax
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from memdlib.generative import contributions, fit_calibration
from memdlib.holdout import content_positions
from memdlib.nml import NMLNaiveBayes
from memdlib.nml.codes import interval

FAMILIES = ("normal", "transformed", "moments", "histogram")


def drawn(n=400, seed=0):
    """A feature of each kind, classes a little apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    bell = rng.normal(size=n) + y
    skewed = np.exp(0.9 * rng.normal(size=n) + 0.5 * y)
    even = rng.uniform(size=n) * (1 + 0.05 * y)
    blocks = np.floor(3 * rng.random(n)) * 2 + 0.4 * rng.random(n)
    return np.column_stack([bell, skewed, even, blocks]), y


def test_each_feature_gets_the_density_that_it_came_from():
    model = NMLNaiveBayes(random_state=0).fit(*drawn())
    found = [set(column) for column in model.marginals_.T]
    assert found[0] <= {"normal", "moments 2"}
    assert all(name.startswith("transformed +") for name in found[1])
    assert found[2] == {"moments 1"} or found[2] == {"histogram"}
    assert found[3] == {"histogram"}


def test_one_model_for_all_classes_unless_saying_more_pays():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 300)
    same = rng.normal(size=600) + y
    block = np.where(rng.random(600) < 0.5, rng.random(600), 9 + rng.random(600))
    other = np.where(y == 0, 5 + rng.normal(size=600), block)
    model = NMLNaiveBayes(random_state=0).fit(np.column_stack([same, other]), y)
    assert len(set(model.marginals_[:, 0])) == 1
    assert model.marginals_[0, 1] != "histogram"
    assert model.marginals_[1, 1] == "histogram"


def test_choice_and_code_length_are_those_of_all_that_could_be_said():
    X, y = drawn(150)
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    gap = np.array([max(np.diff(np.unique(c)).min(), 0) for c in ((X - low) / span).T])
    gap = np.maximum(gap, 2.0**-10)
    u = ((X - low) / span + gap / 2) / (1 + gap)
    lengths = np.array(
        [
            [m.codelengths for m in interval.fit_columns(u[y == k], gap / (1 + gap))]
            for k in range(2)
        ]
    )
    model = NMLNaiveBayes(random_state=0).fit(X, y)
    for s in range(4):
        ways = {}
        for i in range(16):
            ways[i, i] = lengths[0, i, s] + lengths[1, i, s] + np.log(2 * 16)
            for j in range(16):
                apart = lengths[0, i, s] + lengths[1, j, s] + np.log(2 * 16**2)
                ways[i, j] = min(ways.get((i, j), np.inf), apart)
        best = min(ways, key=ways.get)
        assert model.codelengths_[s] == pytest.approx(ways[best], rel=1e-6, abs=1e-6)
        names = [interval.NAMES[i] for i in best]
        assert model.marginals_[:, s].tolist() == names


def test_normal_scores_are_those_of_scipy_before_calibration():
    X, y = drawn(60)
    X = X[:, :2]
    model = NMLNaiveBayes(("normal",), random_state=0).fit(X, y)
    assert (model.marginals_ == "normal").all()
    joint = np.log([0.5, 0.5]) + np.column_stack(
        [
            stats.norm(X[y == k].mean(axis=0), X[y == k].std(axis=0))
            .logpdf(X)
            .sum(axis=1)
            for k in range(2)
        ]
    )
    expected = log_softmax(joint / model.temperature_, axis=1)
    share = 1 / 122
    expected = np.log((1 - share) * np.exp(expected) + share / 2)
    np.testing.assert_allclose(model.predict_log_proba(X), expected, rtol=0, atol=1e-9)


def test_densities_are_by_one_unit_of_each_column():
    X, y = drawn(200)
    model = NMLNaiveBayes(random_state=0).fit(X, y)
    for s in (0, 2, 3):
        grid = np.tile(X.mean(axis=0), (20001, 1))
        low, high = X[:, s].min(), X[:, s].max()
        grid[:, s] = np.linspace(low, high, 20001)
        mass = np.exp(model.log_densities(grid)[:, :, s]).mean(axis=1) * (high - low)
        assert ((mass > 0.9) & (mass < 1.01)).all()
    X[:, 1] = 3.0
    flat = NMLNaiveBayes(random_state=0).fit(X, y).log_densities(X)
    assert not flat[:, :, 1].any()


def test_calibration_is_that_of_rows_held_out():
    X, y = load_iris(return_X_y=True)
    model = NMLNaiveBayes(validation=3, random_state=0).fit(X, y)
    at = content_positions(X, y, np.ones(150), np.random.RandomState(0))
    fold, scores = np.floor(3 * at), np.empty((150, 3))
    for f in range(3):
        part = NMLNaiveBayes(random_state=1).fit(X[fold != f], y[fold != f])
        scores[fold == f] = part.temperature_ * part.decision_function(X[fold == f])
    found = fit_calibration([scores], y)
    assert model.temperature_ == pytest.approx(1 / found.multipliers[0], rel=1e-4)


def test_contributions_add_up_exactly():
    X, y = load_iris(return_X_y=True)
    for rows in (slice(None), y > 0):
        model = NMLNaiveBayes(random_state=0).fit(X[rows], y[rows])
        parts = contributions(model, X[rows])
        score = model.decision_function(X[rows]).reshape(len(X[rows]), -1)
        if score.shape[1] > 1:
            score = score - score.mean(axis=1, keepdims=True)
        total = parts.base + np.column_stack([v.sum(axis=1) for v in parts.values])
        np.testing.assert_allclose(total, score, rtol=0, atol=1e-10)


def test_units_and_the_order_of_rows_do_not_matter():
    X, y = drawn(120)
    p = NMLNaiveBayes(random_state=0).fit(X, y).predict_proba(X)
    units = 2.0 ** np.array([20, -30, 3, 0])
    moved = X * units + np.array([0.0, 0.0, 64.0, 0.0])
    found = NMLNaiveBayes(random_state=0).fit(moved, y).predict_proba(moved)
    np.testing.assert_allclose(found, p, rtol=0, atol=1e-6)
    turn = np.random.default_rng(3).permutation(len(y))
    shuffled = NMLNaiveBayes(random_state=0).fit(X[turn], y[turn])
    np.testing.assert_allclose(shuffled.predict_proba(X), p, rtol=0, atol=1e-9)


def test_values_beyond_the_range_count_as_its_end():
    X, y = drawn(120)
    model = NMLNaiveBayes(random_state=0).fit(X, y)
    low, high = X.min(axis=0), X.max(axis=0)
    ends = model.predict_proba([low, high])
    far = model.predict_proba([low - 1e99, high + 1e99])
    np.testing.assert_array_equal(far, ends)


def test_columns_of_one_and_of_two_values():
    rng = np.random.default_rng(2)
    y = np.arange(90) % 3
    X = np.column_stack([np.full(90, 7.0), rng.random(90) < 0.2 + 0.3 * (y == 1)])
    model = NMLNaiveBayes(random_state=0).fit(X, y)
    assert (model.marginals_[:, 0] == "constant").all()
    assert model.codelengths_[0] == 0
    assert (model.marginals_[:, 1] == "histogram").all()
    X[:, 1] = 1.0
    flat = NMLNaiveBayes(random_state=0).fit(X, y)
    np.testing.assert_allclose(flat.predict_proba(X), 1 / 3, rtol=0, atol=1e-12)


@pytest.mark.parametrize("families", [("normal",), ("moments",), FAMILIES])
def test_a_class_of_one_row_or_of_one_value_takes_a_histogram(families):
    X, y = drawn(41)
    y = np.where(np.arange(41) == 40, 2, y)
    X[y == 1, 0] = 0.5
    model = NMLNaiveBayes(families, random_state=0).fit(X, y)
    if families == ("normal",):
        assert (model.marginals_[2] == "histogram").all()
        assert model.marginals_[1, 0] == "histogram"
        assert model.marginals_[0, 1] == "normal"
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_priors():
    X, y = drawn(80)
    even = NMLNaiveBayes(random_state=0).fit(X, y)
    same = NMLNaiveBayes(priors=[0.5, 0.5], random_state=0).fit(X, y)
    np.testing.assert_array_equal(even.predict_proba(X), same.predict_proba(X))
    sure = NMLNaiveBayes(priors=[0.0, 1.0], random_state=0).fit(X, y)
    assert (sure.predict(X) == 1).all()
    np.testing.assert_array_equal(sure.class_prior_, [0.0, 1.0])


def test_two_rows_cannot_be_held_out():
    model = NMLNaiveBayes(random_state=0).fit([[0.0], [1.0]], [0, 1])
    assert model.temperature_ == 1
    np.testing.assert_allclose(model.predict_proba([[0.1], [0.9]]), 0.5)


@pytest.mark.parametrize("families", [(), ("normal", "cauchy"), "normal"])
def test_families_that_are_none(families):
    with pytest.raises(ValueError, match="families"):
        NMLNaiveBayes(families).fit(*drawn(20))


def test_data_that_are_none():
    X, y = drawn(20)
    with pytest.raises(ValueError, match="one class only"):
        NMLNaiveBayes().fit(X, np.zeros(20))
    with pytest.raises(ValueError, match="priors"):
        NMLNaiveBayes(priors=[1.0]).fit(X, y)
    with pytest.raises(ValueError, match="validation"):
        NMLNaiveBayes(validation=1).fit(X, y)


@pytest.mark.parametrize(
    "families", [("moments", "histogram"), ("moments",), ("normal", "transformed")]
)
def test_code_lengths_of_three_unequal_classes_and_some_families(families):
    """All that could be said: one model for all, or one for each class."""
    rng = np.random.default_rng([76, 1])
    y = rng.choice(3, size=40, p=[0.6, 0.25, 0.15])
    wide = np.exp(rng.normal(size=40)) * (1.0 + 4.0 * (y == 1))
    X = np.column_stack([np.full(40, 2.0), wide, rng.normal(size=40) + 2 * y])
    half = X[:, 1:] / 2
    u = (half - half.min(axis=0)) / np.ptp(half, axis=0)
    gap = np.maximum([np.diff(np.unique(c)).min() for c in u.T], 2.0**-10)
    u = (u + gap / 2) / (1 + gap)
    lengths = np.array(
        [
            [m.codelengths for m in interval.fit_columns(u[y == k], gap / (1 + gap))]
            for k in range(3)
        ]
    )
    own = [i for i, n in enumerate(interval.NAMES) if n.split()[0] in families]
    lengths, M = lengths[:, own], len(own)
    model = NMLNaiveBayes(families, validation=2, random_state=0).fit(X, y)
    assert model.codelengths_[0] == 0
    for s in range(2):
        alike = lengths[..., s].sum(axis=0).min() + np.log(2 * M)
        apart = lengths[..., s].min(axis=1).sum() + np.log(2 * M**3)
        least = min(alike, apart)
        assert model.codelengths_[1 + s] == pytest.approx(least, rel=1e-6)
        chosen = lengths[..., s].argmin(axis=1)
        if alike <= apart:
            chosen = [lengths[..., s].sum(axis=0).argmin()] * 3
        names = [interval.NAMES[own[i]] for i in chosen]
        assert model.marginals_[:, 1 + s].tolist() == names
    share = np.bincount(y) / 40
    np.testing.assert_allclose(model.class_prior_, share, rtol=1e-15)
    assert model.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("priors", [None, [0.7, 0.1, 0.2], [0.0, 0.4, 0.6]])
def test_scores_are_densities_and_priors_at_a_temperature(priors):
    """Mixed with uniform ones among the classes that are possible."""
    rng = np.random.default_rng([76, 2])
    y = rng.choice(3, size=30, p=[0.5, 0.3, 0.2])
    X = np.column_stack([rng.normal(size=30) + y, rng.random(30), np.ones(30)])
    model = NMLNaiveBayes(("normal",), priors=priors, validation=2, random_state=0)
    model.fit(X, y)
    prior = np.bincount(y) / 30 if priors is None else np.array(priors)
    np.testing.assert_allclose(model.class_prior_, prior)
    density = model.log_densities(X)
    assert density.shape == (3, 30, 3)
    assert not density[..., 2].any()
    for k in range(3):
        for s in range(2):
            x = X[y == k, s]
            expected = stats.norm(x.mean(), x.std()).logpdf(X[:, s])
            np.testing.assert_allclose(density[k, :, s], expected, rtol=0, atol=1e-9)
    with np.errstate(divide="ignore"):
        joint = (np.log(prior) + density.sum(axis=2).T) / model.temperature_
    P = np.exp(log_softmax(joint, axis=1))
    fitted = (prior[y] > 0).sum()
    share = 1 / (2 * fitted + 2)
    expected = np.where(prior > 0, (1 - share) * P + share / (prior > 0).sum(), 0.0)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-9)


def test_single_precision_is_the_same_numbers_in_double():
    X, y = drawn(24)
    single = X[:, :1].astype(np.float32)
    model = NMLNaiveBayes(("normal",), validation=2, random_state=0).fit(single, y)
    found = model.log_densities(single)
    assert found.dtype == model.codelengths_.dtype == np.float64
    double = single.astype(np.float64)
    np.testing.assert_array_equal(found, model.log_densities(double))
    again = NMLNaiveBayes(("normal",), validation=2, random_state=0).fit(double, y)
    np.testing.assert_allclose(again.log_densities(double), found, rtol=1e-9)


def test_scores_that_no_row_could_calibrate_are_taken_as_they_are():
    """Two rows of two classes, mixed with uniform posteriors by a sixth."""
    X, y = [[0.0, 1.0], [1.0, 1.0]], ["a", "b"]
    model = NMLNaiveBayes(priors=[0.9, 0.1], random_state=0).fit(X, y)
    assert model.temperature_ == 1
    joint = np.log([0.9, 0.1]) + model.log_densities(X).sum(axis=2).T
    P = np.exp(log_softmax(joint, axis=1))
    expected = (1 - 1 / 6) * P + 1 / 12
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)


def test_contributions_of_classes_of_unequal_priors():
    X, y = drawn(30)
    X = X[:, :2]
    model = NMLNaiveBayes(priors=[0.2, 0.8], validation=2, random_state=0).fit(X, y)
    found = contributions(model, X)
    np.testing.assert_allclose(found.total, model.decision_function(X), rtol=1e-9)
    odds = np.diff(model.log_densities(X), axis=0)[0] / model.temperature_
    np.testing.assert_allclose(found.values[0], odds, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"validation": 1}, r"'validation' .*range \[2, inf\)\. Got 1"),
        ({"validation": 2.5}, r"'validation' .*Got 2\.5"),
        ({"random_state": "a"}, "'random_state' parameter of NMLNaiveBayes"),
        ({"families": 3}, "'families' parameter of NMLNaiveBayes .*Got 3"),
        ({"priors": 0.5}, "'priors' parameter of NMLNaiveBayes .*Got 0.5"),
    ],
)
def test_parameters_out_of_range_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        NMLNaiveBayes(**parameters).fit(*drawn(20))


def test_sparse_data_are_refused_and_nothing_is_known_before_a_fit():
    X, y = drawn(20)
    model = NMLNaiveBayes()
    with pytest.raises(TypeError, match="Sparse data was passed to NMLNaiveBayes"):
        model.fit(sparse.csr_array(X), y)
    for ask in (model.predict, model.log_densities):
        with pytest.raises(NotFittedError, match="Call 'fit'"):
            ask(X)
    model = NMLNaiveBayes(("normal",), validation=2).fit(X[:4, :1], y[:4])
    with pytest.raises(ValueError, match="X has 4 features, but NMLNaiveBayes"):
        model.log_densities(X)


def test_values_out_of_range_by_more_than_any_number():
    """In features of a tiny range, too: their log densities are those of the end."""
    rng = np.random.default_rng([76, 3])
    y = np.arange(40) % 2
    X = np.column_stack([1e-90 * (rng.random(40) + y), rng.normal(size=40)])
    model = NMLNaiveBayes(("normal",), validation=2, random_state=0).fit(X, y)
    ends = model.log_densities([X.min(axis=0), X.max(axis=0)])
    far = model.log_densities([[-1e100, -1e100], [1e100, 1e100]])
    np.testing.assert_array_equal(far, ends)
