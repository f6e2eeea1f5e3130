import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit, logit

from compendium.study.preparations import ExpressionFilter
from memdlib.nml import NMLClassifier
from tests.data import load_or_skip


def simulated(n=40, d=8, seed=1):
    rng = np.random.default_rng([73, seed])
    y = (np.arange(n) % 3 == 0).astype(int)
    return rng.normal(size=(n, d)) + np.linspace(0, 2, d) * y[:, None], y


def posterior_logits(x, y, m, intercept, smoothing):
    """Penalised fit of one feature by a general optimiser, at its occupied levels."""
    prior = y.mean()
    occupied = np.unique(x)
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


@pytest.mark.filterwarnings("ignore:accuracy is")  # one moment says little here
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_posteriors_multiplied_one_by_one(m, intercept):
    X, y = simulated()
    model = NMLClassifier(3, n_moments=(m,), intercept=intercept, alpha=0.5)
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
    found = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(found, expit(odds), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), odds > 0)


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
        odds = NMLClassifier(alpha=smoothing).fit(X, y).decision_function(X)
        assert np.isfinite(odds).all()
        assert odds[-1] > previous
        previous = odds[-1]
    with pytest.raises(ValueError, match="alpha=0 gives a feature"):
        NMLClassifier(alpha=0).fit(X, y)


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
