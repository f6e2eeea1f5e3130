import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit, logit
from sklearn.exceptions import NotFittedError

from compendium.study.preparations import ExpressionFilter
from memdlib.generative import contributions
from memdlib.nml import NMLClassifier, NMLFeatureSelector
from memdlib.nml.classifier import _level_evidence
from tests.data import load_or_skip


def simulated(n=40, d=8, seed=1):
    rng = np.random.default_rng([73, seed])
    y = (np.arange(n) % 3 == 0).astype(int)
    return rng.normal(size=(n, d)) + np.linspace(0, 2, d) * y[:, None], y


def posterior_logits(x, y, m, intercept, smoothing):
    """Penalised fit of one feature by a general optimiser, at its occupied levels."""
    prior, occupied = y.mean(), np.unique(x)
    n = np.array([(x == v).sum() for v in occupied]) + smoothing
    k = np.array([y[x == v].sum() for v in occupied]) + smoothing * prior
    powers = np.power.outer(occupied / 5.0, np.arange(0 if intercept else 1, m + 1))
    orthonormal = np.linalg.qr(powers)[0]

    def loss(c):
        eta = orthonormal @ c
        return n @ np.logaddexp(0, eta) - k @ eta

    def slope(c):
        return orthonormal.T @ (n * expit(orthonormal @ c) - k)

    start = np.zeros(orthonormal.shape[1])
    fit = optimize.minimize(loss, start, jac=slope, options={"gtol": 1e-9})
    return dict(zip(occupied, orthonormal @ fit.x, strict=True))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_posteriors_multiplied_one_by_one(m, intercept):
    X, y = simulated()
    model = NMLClassifier(3, n_moments=(m,), intercept=intercept, smoothing=0.5)
    model.fit(X, y)
    levels = model.selector_.quantiser_.transform(X)
    prior = y.mean()
    odds = np.zeros(len(y))
    for j in model.order_[:3]:
        x = levels[:, j] + 1
        table = posterior_logits(x, y, m, intercept, 0.5)
        odds += [table[v] for v in x]
    odds -= 2 * logit(prior)
    np.testing.assert_allclose(model.decision_function(X), odds, rtol=0, atol=1e-5)
    np.testing.assert_allclose(
        model.predict_proba(X)[:, 1], expit(odds), rtol=0, atol=1e-5
    )
    np.testing.assert_allclose(
        np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-12
    )
    np.testing.assert_array_equal(model.predict(X), odds > 0)


def test_saturated_posteriors_are_shares():
    X, y = simulated()
    model = NMLClassifier(n_moments=(5,), smoothing=2.0).fit(X, y)
    levels = model.selector_.quantiser_.transform(X)
    for j in range(X.shape[1]):
        for level in range(5):
            here = levels[:, j] == level
            if not here.any():
                assert model.evidence_[j, level] == 0
                continue
            share = (y[here].sum() + 2.0 * y.mean()) / (here.sum() + 2.0)
            expected = logit(share) - logit(y.mean())
            assert model.evidence_[j, level] == pytest.approx(expected, abs=1e-9)


def test_the_curve_is_a_fit_for_every_number_of_features():
    X, y = simulated()
    labels = np.where(y == 1, "yes", "no")
    whole = NMLClassifier(n_moments=3).fit(X[::2], labels[::2])
    sizes, curve = whole.accuracy_curve(X[1::2], labels[1::2])
    assert sizes.tolist() == list(range(1, 9))
    for s, accuracy in zip(sizes, curve, strict=True):
        part = NMLClassifier(int(s), n_moments=3).fit(X[::2], labels[::2])
        assert part.score(X[1::2], labels[1::2]) == pytest.approx(accuracy)
    strange = labels[1::2].copy()
    strange[:] = "maybe"
    assert not whole.accuracy_curve(X[1::2], strange)[1].any()


def test_a_feature_that_separates_has_finite_odds_unless_smoothing_is_off():
    X = np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]])
    y = [0, 0, 0, 1, 1, 1]
    previous = 0.0
    for smoothing in (1.0, 0.1, 0.01):
        odds = NMLClassifier(smoothing=smoothing).fit(X, y).decision_function(X)
        assert np.isfinite(odds).all()
        assert odds[-1] > previous
        previous = odds[-1]
    with pytest.raises(ValueError, match="smoothing=0 gives a feature"):
        NMLClassifier(smoothing=0).fit(X, y)


def test_without_smoothing_the_means_are_those_of_the_data():
    X, y = simulated(n=60)
    model = NMLClassifier(n_moments=(2,), n_bins=3, smoothing=0, strategy="quantile")
    model.fit(X, y)
    levels = model.selector_.quantiser_.transform(X)
    for j in range(X.shape[1]):
        p = expit(model.evidence_[j] + logit(y.mean()))[levels[:, j]]
        for power in (1, 2):
            moment = (levels[:, j] + 1) ** power
            assert moment @ p == pytest.approx(moment @ y, rel=1e-9)


def test_an_unknown_level_leaves_the_prior():
    X = np.array([[0.0], [0.1], [9.0], [9.1], [0.2]])
    y = [0, 0, 1, 1, 1]
    model = NMLClassifier(n_moments=2).fit(X, y)
    assert model.decision_function([[5.0]])[0] == pytest.approx(np.log(3 / 2))
    assert model.class_prior_.tolist() == [0.4, 0.6]


def test_leukemia():
    """Some dozens of genes classify nearly all 34 samples of the test set."""
    bunch = load_or_skip("leukemia")
    train = bunch.split == "train"
    screen = ExpressionFilter().fit(bunch.X[train])
    X = screen.transform(bunch.X)
    first = X[train][bunch.y[train] == 0].mean(axis=0)
    second = X[train][bunch.y[train] == 1].mean(axis=0)
    best = np.argsort(-abs(first - second) / X[train].std(axis=0))[:300]
    model = NMLClassifier(n_moments=(2, 5)).fit(X[train][:, best], bunch.y[train])
    _, curve = model.accuracy_curve(X[~train][:, best], bunch.y[~train])
    assert (curve[9:130] * 34).round().min() >= 31
    assert (curve[9:130] * 34).mean() > 32


def test_what_each_feature_adds_is_its_evidence():
    X, y = simulated()
    model = NMLClassifier(n_features=3, n_moments=2).fit(X, y)
    base, values = contributions(model, X, 1)
    total = base + values.sum(axis=1)
    np.testing.assert_allclose(total, model.decision_function(X), rtol=1e-9)
    assert not values[:, model.order_[3:]].any()
    assert values[:, model.order_[:3]].any(axis=0).all()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("smoothing", [0.25, 1.0, 3.0])
def test_evidence_meets_the_moments_of_smoothed_labels(intercept, smoothing):
    """Polynomials in the level whose moments are those of the labels, level by level.

    Features share the number of labels, not the levels that have rows.
    """
    rng = np.random.default_rng([73, 5])
    prior, x = 0.3, np.arange(1.0, 6)
    counts, ones = np.zeros((2, 24, 5), dtype=int)
    for j in range(24):
        occupied = np.flatnonzero(rng.random(5) < 0.7)
        occupied = occupied if len(occupied) else np.array([1, 3])
        level = rng.choice(occupied, size=20)
        counts[j] = np.bincount(level, minlength=5)
        ones[j] = np.bincount(level[:6], minlength=5)
    m = rng.integers(1, 5, size=24)
    found = _level_evidence(counts, ones, m, intercept, smoothing)
    assert not found[counts == 0].any()
    for j in range(24):
        here = counts[j] > 0
        z = found[j, here] + logit(prior)
        n = counts[j, here] + smoothing
        k = ones[j, here] + smoothing * prior
        powers = np.power.outer(x[here] / 5, np.arange(1 - intercept, m[j] + 1))
        np.testing.assert_allclose(powers.T @ (n * expit(z)), powers.T @ k, rtol=1e-7)
        fit = np.linalg.lstsq(powers, z, rcond=None)[0]
        np.testing.assert_allclose(powers @ fit, z, rtol=0, atol=1e-6)


@pytest.mark.parametrize("n_features", [None, 2, 0.5])
def test_features_are_ranked_by_a_selector_of_the_same_settings(n_features):
    X, y = simulated(n=24, d=4)
    settings = {
        "n_moments": (1, 3),
        "n_bins": 4,
        "strategy": "kmeans",
        "intercept": True,
        "criterion": "error",
    }
    model = NMLClassifier(n_features, **settings).fit(X, np.where(y, "b", "a"))
    peer = NMLFeatureSelector(n_features=n_features, **settings).fit(X, y)
    assert model.selector_.get_params() == peer.get_params()
    assert model.n_selected_ == peer.n_selected_
    for name in ("order_", "best_n_moments_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(peer, name))
        assert getattr(model, name) is getattr(model.selector_, name)
    np.testing.assert_array_equal(model.selector_.codelengths_, peer.codelengths_)
    np.testing.assert_allclose(model.class_prior_, [16 / 24, 8 / 24])
    np.testing.assert_array_equal(
        model.evidence_,
        _level_evidence(
            peer.level_counts_, peer.level_ones_, peer.best_n_moments_, True, 1.0
        ),
    )
    assert model.classes_.tolist() == ["a", "b"]
    assert model.__sklearn_tags__().classifier_tags.multi_class is False


def test_even_odds_are_decided_alike_everywhere():
    """A constant feature says nothing, and classes of one size leave no odds."""
    X, y = np.full((6, 1), 3.0), np.array([1, 0, 1, 0, 0, 1])
    model = NMLClassifier(n_moments=1, n_bins=2).fit(X, y)
    assert model.decision_function(X).tolist() == [0.0] * 6
    assert model.predict(X).tolist() == [0] * 6
    sizes, accuracy = model.accuracy_curve(X, y)
    assert sizes.tolist() == [1]
    assert accuracy.tolist() == [model.score(X, y)] == [0.5]


def test_a_classifier_needs_a_fit_and_parameters_in_range():
    X, y = simulated(n=12, d=2)
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        NMLClassifier().accuracy_curve(X, y)
    with pytest.raises(ValueError, match="'smoothing' parameter of NMLClassifier"):
        NMLClassifier(smoothing=-0.1).fit(X, y)
    with pytest.raises(ValueError, match="'n_features' parameter of NMLClassifier"):
        NMLClassifier(n_features=0).fit(X, y)
    with pytest.raises(ValueError, match="n_features=3 is out of range: X has 2"):
        NMLClassifier(n_features=3).fit(X, y)
    model = NMLClassifier(n_moments=1, n_bins=2).fit(X, y)
    with pytest.raises(ValueError, match="X has 1 features, but NMLClassifier"):
        model.accuracy_curve(X[:, :1], y)
    whole = X.round().astype(int)
    assert model.accuracy_curve(whole.tolist(), y.tolist())[1].shape == (2,)
