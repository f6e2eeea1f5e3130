"""Statements of *MeMd*, each tried in two ways."""

import sys
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, special, stats
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.naive_bayes import GaussianNB

from memdlib import DivergenceRanker, MeMdClassifier
from memdlib.families import Normal
from memdlib.moments import class_moments

WINE, GROWER = load_wine(return_X_y=True)
X, Y = WINE[::2], GROWER[::2]
NEW, NEW_Y = WINE[1::2], GROWER[1::2]


@pytest.mark.wrong("the posterior of another rule", "found, l", "found, 0.99 * l")
def test_prop_decision_rule_witness():
    """Densities of scipy multiplied out, for every size; the curve in one pass."""
    whole = MeMdClassifier(n_features=None).fit(X, Y)
    curve = whole.accuracy_curve(NEW, NEW_Y)[1]
    of_features = np.stack(
        [
            stats.norm(X[Y == k].mean(axis=0), X[Y == k].std(axis=0)).logpdf(NEW)
            for k in range(3)
        ]
    )
    prior = np.log(np.bincount(Y) / len(Y))
    for S in range(1, X.shape[1] + 1):
        model = MeMdClassifier(n_features=S).fit(X, Y)
        joint = prior + of_features[:, :, model.order_[:S]].sum(axis=2).T
        log_p = special.log_softmax(joint, axis=1)
        found = model.predict_log_proba(NEW)
        assert_allclose(found, log_p, rtol=0, atol=1e-10)
        correct = np.mean(joint.argmax(axis=1) == NEW_Y)
        assert_allclose(curve[S - 1], correct, rtol=0, atol=1e-12)


def test_prop_decision_rule_second():
    """Gaussian naive Bayes on the columns kept, without natural parameters."""
    for S in (1, 4, 13):
        model = MeMdClassifier(n_features=S).fit(X, Y)
        kept = model.order_[:S]
        peer = GaussianNB(var_smoothing=0.0).fit(X[:, kept], Y)
        p = peer.predict_proba(NEW[:, kept])
        assert_allclose(model.predict_proba(NEW), p, rtol=0, atol=1e-10)


@pytest.mark.wrong("moments of one per cent more", ", expected,", ", 1.01 * expected,")
def test_prop_complement_witness():
    """Moments of complements, row by row."""
    rng = np.random.default_rng([8, 1])
    for _ in range(20):
        K, n = int(rng.integers(2, 7)), int(rng.integers(30, 90))
        labels = rng.permutation(np.arange(n) % K)
        data = rng.normal(size=(n, 5)) * 10.0 ** rng.uniform(-2, 2, size=5)
        pairs = class_moments(data, labels, K, order=2).one_vs_rest()
        for k in range(K):
            centred = data[labels != k] - pairs.location[k, 1]
            expected = np.stack([centred, centred**2], axis=-1).mean(axis=0)
            outside = pairs.sums[k, 1] / pairs.weight[k, 1]
            assert_allclose(outside, expected, rtol=1e-10, atol=1e-12)
            assert pairs.weight[k, 1] == np.sum(labels != k)


def test_prop_complement_second():
    """The formula written out, with class means taken by pandas."""
    table = pd.DataFrame(WINE)
    means, sizes = table.groupby(GROWER).mean(), table.groupby(GROWER).size()
    for k in means.index:
        others = means.drop(k).mul(sizes.drop(k), axis=0).sum()
        others /= sizes.sum() - sizes[k]
        assert_allclose(others, table[k != GROWER].mean(), rtol=1e-12)


@pytest.mark.wrong("twice the product of the priors", "prior.prod", "2 * prior.prod")
def test_prop_two_classes_witness():
    """The rankings of breast cancer by J and by JS_GM."""
    X, y = load_breast_cancer(return_X_y=True)
    prior = np.bincount(y) / len(y)
    by_j, by_gm = (
        DivergenceRanker(name, n_features=None).fit(X, y)
        for name in ("jeffreys", "js_gm")
    )
    assert np.array_equal(by_gm.order_, by_j.order_)
    J, js_gm = by_j.scores_, by_gm.scores_
    assert_allclose(js_gm, prior.prod() * J, rtol=1e-12)


def test_prop_two_classes_second():
    """JS_GM by its definition, with the unnormalised mean, on a grid."""
    X, y = load_breast_cancer(return_X_y=True)
    prior = np.bincount(y) / len(y)
    for column in X[:, [0, 7, 22]].T:
        laws = [stats.norm(column[y == k].mean(), column[y == k].std()) for k in (0, 1)]
        ends = [law.mean() + side * 12 * law.std() for law in laws for side in (-1, 1)]
        grid = np.linspace(min(ends), max(ends), 50_001)
        log_p = np.array([law.logpdf(grid) for law in laws])
        to_mean = np.exp(log_p) * (log_p - prior @ log_p)
        js_gm = prior @ np.trapezoid(to_mean, grid)
        difference = np.exp(log_p[0]) - np.exp(log_p[1])
        J = np.trapezoid(difference * (log_p[0] - log_p[1]), grid)
        assert_allclose(js_gm, prior.prod() * J, rtol=1e-9)


def lines_of_memdlib(call):
    """Lines of memdlib that a call executes; each does all features or rows."""
    done, before = 0, sys.gettrace()

    def trace(frame, event, _):
        nonlocal done
        if not frame.f_globals.get("__name__", "").startswith("memdlib"):
            return None
        done += event == "line"
        return trace

    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return done


def lines_of_parts(n, d, K):
    """Lines for moments, complements, a ranking by covariance, and a new row."""
    rng = np.random.default_rng([8, n, d, K])
    rows, classes = rng.normal(size=(n, d)), np.arange(n) % K
    moments = class_moments(rows, classes, K, order=2)
    spread = rng.uniform(0.5, 2, size=(K, d))
    mu = Normal.mean_parameters(rng.normal(size=(K, d)), spread)
    fitted = MeMdClassifier().fit(rows, classes)
    return [
        lines_of_memdlib(call)
        for call in (
            lambda: class_moments(rows, classes, K, order=2),
            moments.one_vs_rest,
            lambda: Normal().js_gm(mu, np.full(K, 1 / K)),
            lambda: fitted.predict(rows[:1]),
        )
    ]


@pytest.mark.wrong("complements cost all pairs of classes", "(1, 1, 0", "(1, 2, 0")
def test_prop_cost_witness():
    """Lines grow with the classes as claimed, and not with rows and features."""
    by_classes = np.array([lines_of_parts(320, 6, K) for K in (4, 8, 12, 16)])
    for order, lines in zip((1, 1, 0, 0), by_classes.T, strict=True):
        assert (np.diff(lines, order + 1) == 0).all()
        assert (np.diff(lines, order) > 0).all()
    for n, d in ((640, 6), (320, 24)):
        assert lines_of_parts(n, d, 4) == by_classes[0].tolist()


class Counting(float):
    """A number that counts the operations it takes part in."""

    done = 0

    def counted(operation):
        def wrapped(self, other):
            Counting.done += 1
            return Counting(getattr(float, operation)(self, float(other)))

        return wrapped

    __add__ = __radd__ = counted("__add__")
    __mul__ = __rmul__ = counted("__mul__")
    __sub__, __truediv__ = counted("__sub__"), counted("__truediv__")
    __rtruediv__ = counted("__rtruediv__")


def density(sums):
    """Natural and mean parameters of normal densities, from sizes and sums."""
    size, first, second = sums
    mean, square = first / size, second / size
    v = square - mean * mean
    return np.array([-1 * mean / v, 0.5 / v]), np.array([mean, square])


def j_of(p, q):
    """J of two normal densities from natural and mean parameters."""
    return ((p[0] - q[0]) * (q[1] - p[1])).sum(axis=0)


def over_pairs(densities):
    pairs = combinations(densities, 2)
    return sum(j_of(p, q) for p, q in pairs) / len(densities) ** 2


def as_covariance(densities):
    lam, mu = np.swapaxes(densities, 0, 1)
    return (lam * (mu.sum(axis=0) / len(mu) - mu)).sum(axis=(0, 1)) / len(mu)


def against_rest(parts):
    """Running sums from both sides give all complements."""
    none, K = np.zeros((1, *parts[0].shape)), len(parts)
    left = np.vstack([none, np.cumsum(parts, axis=0)[:-1]])
    right = np.vstack([np.cumsum(parts[::-1], axis=0)[-2::-1], none])
    rests = left + right
    return sum(j_of(density(parts[k]), density(rests[k])) for k in range(K)) / K


def operations(n, d, K, S):
    """Operations of each part, after the values of the rankings are compared."""
    rng, counts = np.random.default_rng([9, n, d, K]), {}
    rows, label = rng.normal(size=(n, d)), np.arange(n) % K
    numbers = np.vectorize(Counting, otypes=[object])(rows)
    X = [numbers[label == k] for k in range(K)]

    def counted(name, call):
        Counting.done = 0
        value = call()
        counts[name] = Counting.done
        return value

    sums = counted("moments", lambda: [(x.sum(axis=0), (x * x).sum(axis=0)) for x in X])
    sums = np.array([([n // K] * d, *of_class) for of_class in sums], dtype=object)
    fitted = counted("densities", lambda: np.array([density(part) for part in sums]))
    found = [
        counted("all pairs", lambda: over_pairs(fitted)),
        counted("covariance", lambda: as_covariance(fitted)),
        counted("against the rest", lambda: against_rest(sums)),
    ]
    lam, x = fitted[:, 0, :, :S], numbers[0, :S]
    counted("new row", lambda: (lam * np.array([x, x * x])).sum(axis=(1, 2)))
    groups = [rows[label == k] for k in range(K)] + [rows[label != k] for k in range(K)]
    mean, var = (
        np.array([getattr(g, f)(axis=0) for g in groups]) for f in ("mean", "var")
    )

    def j(a, b):
        spread = var[a] / var[b] + var[b] / var[a] - 2
        return (spread + (mean[a] - mean[b]) ** 2 * (1 / var[a] + 1 / var[b])) / 2

    pairs = sum(j(a, b) for a in range(K) for b in range(a)) / K**2
    rest = sum(j(k, K + k) for k in range(K)) / K
    assert_allclose(np.array(found, float), [pairs, pairs, rest], rtol=1e-9)
    mu = np.stack([mean[:K], mean[:K] ** 2 + var[:K]], axis=-1)
    assert_allclose(Normal().js_gm(mu, np.full(K, 1 / K)), pairs, rtol=1e-9)
    return counts


@pytest.mark.wrong("moments take all classes for a row", "n * d,", "n * d * K,")
@pytest.mark.wrong("pairs cost as little as a covariance", "K**2 * d,", "K * d,")
@pytest.mark.wrong("a new row takes all features", "S * K,", "d * K,")
def test_prop_cost_second():
    """Numbers that count their operations: these grow by the orders claimed."""
    sizes = np.array(
        [(64, 4, 8, 2), (64, 4, 32, 2), (256, 4, 8, 2), (64, 16, 8, 2), (64, 16, 8, 8)]
    )
    counts = pd.DataFrame([operations(*size) for size in sizes.tolist()])
    n, d, K, S = sizes.T
    for name, order in {
        "moments": n * d,
        "densities": K * d,
        "against the rest": d * K,
        "all pairs": K**2 * d,
        "covariance": d * K,
        "new row": S * K,
    }.items():
        share = counts[name] / order
        assert share.max() < 1.5 * share.min(), name


def wines_with_gaps():
    """Three measurements of the wines, a fifth of them missing, and the growers."""
    X, y = load_wine(return_X_y=True)
    gone = np.random.default_rng([8, 4]).random((len(X), 3)) < 0.2
    return np.where(gone, np.nan, X[:, [6, 9, 12]]), y


def test_prop_me_missing_witness():
    """The other cells are integrated out of the product on a grid."""
    X, y = wines_with_gaps()
    model = MeMdClassifier(n_features=None).fit(X, y)
    frame = pd.DataFrame(X).groupby(y)
    mean, sd = frame.mean().to_numpy(), frame.std(ddof=0).to_numpy()
    nodes, step = np.linspace(-9.0, 9.0, 201, retstep=True)
    rows = np.flatnonzero(np.isnan(X).any(axis=1))[:20]
    for x, found in zip(X[rows], model.predict_proba(X[rows]), strict=True):
        density = model.class_prior_.copy()
        for k in range(3):
            cells = [
                stats.norm.pdf(m + s * nodes, m, s) * s * step if np.isnan(v)
                else np.array([stats.norm.pdf(v, m, s)])
                for v, m, s in zip(x, mean[k], sd[k], strict=True)
            ]  # fmt: skip
            density[k] *= np.einsum("a,b,c->", *cells)
        assert_allclose(found, density / density.sum(), rtol=0, atol=1e-10)


def test_prop_me_missing_second():
    """The likelihood of all observed cells is largest at the moments of the fit."""
    X, y = wines_with_gaps()
    mu = MeMdClassifier(n_features=None).fit(X, y).mean_params_[0]
    own, X = np.isfinite(X[y == 0]), np.nan_to_num(X[y == 0])
    unit = X.sum(axis=0) / own.sum(axis=0)

    def minus_log_likelihood(parameters):
        m, log_sd = parameters.reshape(2, 3)
        z = (X / unit - m) / np.exp(log_sd)
        return (own * (0.5 * z**2 + log_sd)).sum()

    best = optimize.minimize(minus_log_likelihood, np.ones(6) * 0.5, tol=1e-12)
    m, sd = best.x[:3] * unit, np.exp(best.x[3:]) * unit
    assert_allclose(m, mu[:, 0], rtol=1e-5, atol=0)
    assert_allclose(sd, np.sqrt(mu[:, 1] - mu[:, 0] ** 2), rtol=1e-4, atol=0)
