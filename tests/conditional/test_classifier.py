import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import QuantileTransformer

from memdlib import ConditionalMaxEntClassifier
from memdlib.conditional.dual import ConditionalDual, has_optimum, solve
from memdlib.datasets import simulate_text_counts

SOLVERS = ["lbfgs", "gis", "iis"]


def documents(n_classes=3, n=150, d=8):
    """Presence of a few words, with classes that overlap."""
    text = simulate_text_counts(
        n_documents=n, n_words=d, n_informative=d, n_classes=n_classes,
        document_length=4.0, lift=2.0, random_state=3,
    )  # fmt: skip
    codes = np.unique(text.y, return_inverse=True)[1]
    return (text.X.toarray() > 0).astype(float), codes


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [np.inf, 10 / 3, 0.2])
@pytest.mark.parametrize("data", [load_iris, load_wine, load_breast_cancer])
def test_equals_logistic_regression(data, C, fit_intercept):
    X, y = data(return_X_y=True)
    X = X[:, 1:3] if data is load_breast_cancer else X[:, :3]
    if data is load_iris and C == np.inf:  # setosa is separable
        X, y = X[50:], y[50:]
    Z, K = X - X.mean(axis=0), len(set(y))
    units = np.array([1.0, 1e3, 1e-3])[: X.shape[1]] if C == np.inf else 1.0
    model = ConditionalMaxEntClassifier(C=C, fit_intercept=fit_intercept, tol=1e-8)
    model.fit(Z * units, y)
    peer = LogisticRegression(
        C=C if K > 2 else 2 * C,
        tol=1e-14,
        max_iter=500,
        solver="newton-cg",
        fit_intercept=fit_intercept,
    ).fit(Z, y)
    found = model.predict_proba(Z * units)
    np.testing.assert_allclose(found, peer.predict_proba(Z), rtol=0, atol=1e-6)
    ours = model.coef_ if K > 2 else np.diff(model.coef_, axis=0)
    theirs = peer.coef_ - peer.coef_.mean(axis=0) * (K > 2)
    np.testing.assert_allclose(ours * units, theirs, atol=2e-5, rtol=2e-5)
    if K == 2:
        np.testing.assert_allclose(model.coef_[0], -model.coef_[1], rtol=1e-12)
    if not fit_intercept:
        assert model.intercept_.tolist() == [0.0] * K


@pytest.mark.parametrize(
    ("C", "n_classes", "kind"), [(np.inf, 2, sparse.csc_matrix), (0.5, 3, np.asarray)]
)
def test_all_solvers_reach_the_same_optimum(C, n_classes, kind):
    X, y = documents(n_classes, n=60, d=6)
    found = {
        solver: ConditionalMaxEntClassifier(solver, C=C, tol=1e-7).fit(kind(X), y)
        for solver in SOLVERS
    }
    best = found["lbfgs"]
    for model in found.values():
        assert model.moment_residual_ <= 1e-7
        assert np.diff(model.history_).max() < 1e-14
        assert model.history_[-1] == pytest.approx(best.history_[-1], abs=1e-9)
        np.testing.assert_allclose(model.coef_, best.coef_, rtol=0, atol=2e-4)
        found_p, best_p = (m.predict_log_proba(kind(X)) for m in (model, best))
        np.testing.assert_allclose(found_p, best_p, rtol=0, atol=3e-4)
    assert found["iis"].n_iter_ < found["gis"].n_iter_
    assert best.n_iter_ < 100


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("n_classes", "to", "told"),
    [
        (2, {"tol": 1e-3}, "linearly separable, .*use a finite C"),
        (3, {"max_iter": 500}, "linearly separable"),
    ],
)
def test_separable_classes_have_no_optimum(solver, n_classes, to, told):
    """Of three iris species one is separable; then this is told too."""
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    model = ConditionalMaxEntClassifier(solver, C=np.inf, **to)
    with pytest.warns(ConvergenceWarning, match=told):
        model.fit(X, y)
    assert (model.predict(X[:50]) == 0).all()
    assert np.isfinite(model.coef_).all()


def separates(Z, y, K):
    """By linear programming: no margin below zero and the sum of all above it."""
    rows = []
    for z, own in zip(Z, y, strict=True):
        for other in set(range(K)) - {own}:
            row = np.zeros((K, Z.shape[1]))
            row[own], row[other] = z, -z
            rows.append(row.ravel())
    A = np.array(rows)
    found = optimize.linprog(-A.sum(axis=0), A_ub=-A, b_ub=0 * A[:, 0], bounds=(-1, 1))
    return -found.fun > 1e-9


def test_the_certificate_agrees_with_linear_programming():
    counts = {True: 0, False: 0}
    for seed in range(40):
        rng = np.random.default_rng([59, 3, seed])
        K, d = rng.integers(2, 5), rng.integers(1, 4)
        n = rng.integers(2 * K, 25)
        X = rng.integers(0, 4, size=(n, d)).astype(float)
        y = rng.permutation(np.arange(n) % K)
        Z = np.column_stack([np.ones(n), X])
        dual = ConditionalDual.of(Z, y, K, np.ones(n), np.zeros(d + 1))
        separable = separates(Z, y, K)
        assert has_optimum(dual, y, solve(dual, y, "lbfgs", 1e-8, 1000)) != separable
        counts[separable] += 1
    assert min(counts.values()) >= 8


def test_the_certificate_holds_its_tongue_far_from_the_optimum():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="or a smaller tol"):
        ConditionalMaxEntClassifier(C=np.inf, tol=1e-3).fit(X[50:], y[50:])


def test_bad_data_are_named():
    X = sparse.csr_array([[1.0, -2.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="Negative values"):
        ConditionalMaxEntClassifier("iis").fit(X, [0, 1])
    centred = [[-1.0], [1.0]]
    with pytest.raises(ValueError, match="shifts dense features with an intercept"):
        ConditionalMaxEntClassifier("gis", fit_intercept=False).fit(centred, [0, 1])
    ConditionalMaxEntClassifier("gis").fit(centred, [0, 1])


@pytest.mark.parametrize(
    ("solver", "zeros"), [("lbfgs", 0.0), ("lbfgs", 0.7), ("gis", 0.7), ("iis", 0.7)]
)
def test_offsets_of_sparse_features_do_no_harm(solver, zeros):
    rng = np.random.default_rng(67)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 3)) + 1.5 * y[:, None] * [1.0, 0.0, -0.5]
    X = X * [1.0, 1e-5, 1e8] + [1e6, 3.0, 1e11]
    X[rng.random(X.shape) < zeros] = 0.0
    weight = rng.exponential(size=200)
    thin = sparse.csr_array(X)
    clf = ConditionalMaxEntClassifier(solver, C=0.05, tol=1e-9)
    dense, found = (clone(clf).fit(Z, y, weight) for Z in (X, thin))
    assert np.abs(found.predict_proba(thin) - dense.predict_proba(X)).max() < 1e-8
    difference = (found.coef_ - dense.coef_) * X.std(axis=0)
    assert np.abs(difference).max() < 1e-8


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_means_that_hide_how_features_vary_are_told(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 3)) + 1.2 * y[:, None] * [1.0, 0.0, 0.5]
    clf = ConditionalMaxEntClassifier(fit_intercept=False).fit(kind(X + 10.0), y)
    with pytest.warns(ConvergenceWarning, match="use fit_intercept=True, or Standard"):
        clf.fit(kind(X + 1e6), y)
    X, y = np.vstack([X, X[:50] + 1e8]), np.append(y, np.full(50, 2))
    Z = QuantileTransformer(n_quantiles=50).fit_transform(X)
    clf = ConditionalMaxEntClassifier().fit(Z, y)
    with pytest.warns(ConvergenceWarning, match="use QuantileTransformer"):
        clf.fit(X, y)


def weighted_documents():
    """Unequal classes, and rows of unequal weight."""
    X, y = documents()
    kept = np.arange(len(y)) % 4 > (y == 1)
    weight = np.random.default_rng([59, 5]).uniform(0.5, 3.0, size=len(y))
    return X[kept], y[kept], weight[kept]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_column_that_rounding_alone_varies_counts_as_constant(kind):
    X, y, weight = weighted_documents()
    noise = 3.0 * (1.0 + 2.3e-16 * (np.arange(len(y)) % 3))
    model = ConditionalMaxEntClassifier(C=np.inf, tol=1e-8)
    found = clone(model).fit(kind(np.column_stack([X, noise])), y, weight)
    plain = clone(model).fit(kind(X), y, weight)
    np.testing.assert_allclose(found.coef_[:, :-1], plain.coef_, rtol=0, atol=1e-4)
    assert np.abs(found.coef_[:, -1]).max() < 1e-6
