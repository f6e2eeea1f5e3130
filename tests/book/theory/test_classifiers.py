"""Statements of *Naive Bayes, discriminant analysis and logistic regression*, twice."""

import warnings

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose
from scipy import optimize, special, stats
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB

from memdlib import ConditionalMaxEntClassifier, JointMaxEntClassifier, MeMdClassifier
from tests.book.distributions import flattest, logistic_loss

X, Y = load_iris(return_X_y=True)
WINE, GROWER = load_wine(return_X_y=True)


@pytest.mark.wrong("the joint classifier is another one", "diagonal", "full")
def test_prop_cl_naive_witness():
    train = np.arange(178) % 2 == 0
    peer = GaussianNB(var_smoothing=0.0).fit(WINE[train], GROWER[train])
    for model in (
        MeMdClassifier(n_features=None),
        JointMaxEntClassifier("diagonal", variance_shrinkage=0.0),
    ):
        found = model.fit(WINE[train], GROWER[train]).predict_proba(WINE)
        assert_allclose(found, peer.predict_proba(WINE), rtol=0, atol=1e-8)
    y = np.arange(300) % 2
    presence = 1.0 * (
        np.random.default_rng([2, 1]).random((300, 6)) < 0.3 + 0.4 * y[:, None]
    )
    peer = BernoulliNB(alpha=0.0, force_alpha=True).fit(presence, y)
    model = MeMdClassifier(family="bernoulli", n_features=None, alpha=0.0)
    found = model.fit(presence, y).predict_log_proba(presence)
    assert_allclose(found, peer.predict_log_proba(presence), rtol=0, atol=1e-8)


def test_prop_cl_naive_second():
    """Two dependent bits and a class: eight probabilities, five means."""
    rng = np.random.default_rng([2, 2])
    truth = rng.dirichlet(np.ones(8)).reshape(2, 2, 2)  # class, first, second
    k, a, b = np.indices((2, 2, 2)).reshape(3, 8)
    A = np.array([k**0, k, k * a, k * b, (1 - k) * a, (1 - k) * b])
    of_class = truth.sum(axis=(1, 2))
    naive = (
        truth.sum(axis=2)[:, :, None]
        * truth.sum(axis=1)[:, None]
        / of_class[:, None, None]
    )
    assert np.abs(truth - naive).max() > 1e-3
    found = flattest(A, A @ truth.ravel(), np.ones(8))
    assert_allclose(found, naive.ravel(), rtol=0, atol=1e-5)


def test_prop_cl_multinomial_witness():
    rng = np.random.default_rng([2, 3])
    y = np.arange(200) % 3
    counts = rng.poisson(rng.gamma(1.0, size=(3, 30))[y]) + 1.0
    peer = MultinomialNB(alpha=0.0, force_alpha=True).fit(counts, y)
    model = MeMdClassifier(family="multinomial", n_features=None, alpha=0.0)
    found = model.fit(counts, y).predict_log_proba(counts)
    assert_allclose(found, peer.predict_log_proba(counts), rtol=0, atol=1e-8)


@pytest.mark.wrong("the multinomial has the most entropy", "> entropy(m", "< entropy(m")
def test_prop_cl_multinomial_second():
    """Four words of three: all 81 ordered documents and their 15 counts."""
    shares = np.array([0.5, 0.3, 0.2])
    documents = np.indices((3,) * 4).reshape(4, 81)
    seen = np.array([(documents == w).sum(axis=0) for w in range(3)])
    cells, which, ways = np.unique(
        seen, axis=1, return_inverse=True, return_counts=True
    )
    multinomial = stats.multinomial(4, shares).pmf(cells.T)

    def fitted(counts, base):
        conditions = np.vstack([np.ones(counts.shape[1]), counts[:2]])
        return flattest(conditions, np.r_[1, 4 * shares[:2]], base)

    def entropy(p):
        return special.entr(p).sum()

    ordered = np.bincount(which.ravel(), fitted(seen, np.ones(81)))
    assert_allclose(ordered, multinomial, rtol=0, atol=1e-4)
    assert_allclose(fitted(cells, ways), multinomial, rtol=0, atol=1e-4)
    plain = fitted(cells, np.ones(15))
    assert entropy(plain) > entropy(multinomial) + 0.05


@pytest.mark.wrong("one covariance for all classes", '", own)', '", [pooled] * 3)')
def test_prop_cl_discriminants_witness():
    prior, means = np.bincount(Y) / 150, [X[Y == k].mean(axis=0) for k in range(3)]
    own = [np.cov(X[Y == k].T, bias=True) for k in range(3)]
    pooled = np.tensordot(prior, own, axes=1)
    for covariance, C in (("full", own), ("pooled", [pooled] * 3)):
        normal = [
            stats.multivariate_normal(*mc).logpdf(X)
            for mc in zip(means, C, strict=True)
        ]
        expected = special.softmax(np.log(prior) + np.transpose(normal), axis=1)
        model = JointMaxEntClassifier(
            covariance, correlation_shrinkage=0.0, variance_shrinkage=0.0
        ).fit(X, Y)
        assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-9)
    for covariance, peer in (
        ("full", QuadraticDiscriminantAnalysis(tol=0)),
        ("pooled", LinearDiscriminantAnalysis(solver="lsqr")),
    ):
        model = JointMaxEntClassifier(
            covariance, correlation_shrinkage=0.0, variance_shrinkage=0.0
        ).fit(WINE, GROWER)
        expected = peer.fit(WINE, GROWER).predict_proba(WINE)
        assert_allclose(model.predict_proba(WINE), expected, rtol=0, atol=1e-6)


@pytest.mark.wrong("any covariances will do", "s[0] * one", "s[0] * one[::-1]")
def test_prop_cl_discriminants_second():
    """No rival of the same means has as much entropy: normal, Student, uniform."""
    rng = np.random.default_rng([2, 4])
    shares, C = np.array([0.3, 0.7]), np.array([[2.0, 0.6], [0.6, 1.0]])

    def entropy(C):
        return 0.5 * np.linalg.slogdet(2 * np.pi * np.e * C)[1]

    change = rng.normal(size=(300, 2, 2)) * 10.0 ** rng.uniform(-3, 0, size=(300, 1, 1))
    one = C + change + np.swapaxes(change, 1, 2)
    two = (C - shares[0] * one) / shares[1]
    valid = np.linalg.eigvalsh([one, two]).min(axis=(0, 2)) > 0
    assert valid.sum() > 100
    rivals = shares @ entropy(np.array([one, two])[:, valid])
    assert rivals.max() < entropy(C)
    for df in (3, 5, 30):
        student = stats.multivariate_t([0, 0], C * (df - 2) / df, df)
        assert student.entropy() < entropy(C)
    assert np.log(12 * np.sqrt(np.linalg.det(C))) < entropy(C)


@pytest.mark.wrong("twice the scores", "softmax(scores", "softmax(2 * scores")
def test_prop_cl_lda_witness():
    for Z, y in ((X, Y), (WINE, GROWER)):
        means = np.array([Z[y == k].mean(axis=0) for k in range(3)])
        within = (Z - means[y]).T @ (Z - means[y]) / len(y)
        W = np.linalg.solve(within, means.T).T
        scores = Z @ W.T - 0.5 * (W * means).sum(axis=1) + np.log(np.bincount(y))
        model = JointMaxEntClassifier("pooled", correlation_shrinkage=0.0).fit(Z, y)
        expected = special.softmax(scores, axis=1)
        assert_allclose(model.predict_proba(Z), expected, rtol=0, atol=1e-8)


@pytest.mark.wrong("priors move the slopes", "np.log(0.5 / 0.2)", "np.log(0.5 / 0.3)")
def test_prop_cl_lda_second():
    """Log-odds of two normal densities, for priors that are not the shares."""
    rng = np.random.default_rng([2, 5])
    C = np.cov(rng.normal(size=(4, 9)))
    a, b, x = rng.normal(size=4), rng.normal(size=4), rng.normal(size=(40, 4))
    odds = stats.multivariate_normal(b, C).logpdf(x) - stats.multivariate_normal(
        a, C
    ).logpdf(x)
    odds += np.log(0.5 / 0.2)
    fitted = np.linalg.lstsq(np.column_stack([np.ones(40), x]), odds, rcond=None)[0]
    assert_allclose(fitted[1:], np.linalg.inv(C) @ (b - a), rtol=1e-8)
    intercept = (a @ np.linalg.inv(C) @ a - b @ np.linalg.inv(C) @ b) / 2 + np.log(2.5)
    assert_allclose(fitted[0], intercept, rtol=1e-8)


@pytest.mark.wrong("one parameter less", "K - 1 + 2 * K * d", "K - 2 + 2 * K * d")
@pytest.mark.wrong("products count once for all classes", "+ K * half", "+ half")
@pytest.mark.wrong("every class has a vector of its own", "(K - 1) *", "K *")
def test_prop_cl_counts_witness():
    """In how many directions do fitted numbers move if rows get other weights?"""
    rng, K, d = np.random.default_rng([30, 1]), 3, 4
    half = d * (d + 1) // 2
    bits = 1.0 * (rng.random(X.shape) < 0.2 + 0.2 * Y[:, None])
    generative = ("class_prior_", "mean_params_", "covariances_")
    for model, rows, expected in (
        (MeMdClassifier(family="bernoulli", n_features=None), bits, K - 1 + K * d),
        (
            JointMaxEntClassifier("diagonal", variance_shrinkage=0.0),
            X,
            K - 1 + 2 * K * d,
        ),
        (
            JointMaxEntClassifier("pooled", correlation_shrinkage=0.0),
            X,
            K - 1 + K * d + half,
        ),
        (
            JointMaxEntClassifier("full", correlation_shrinkage=0.0),
            X,
            K - 1 + K * d + K * half,
        ),
        (ConditionalMaxEntClassifier(C=1.0, tol=1e-8), X, (K - 1) * (d + 1)),
    ):

        def numbers(weights, model=model, rows=rows):
            model.fit(rows, Y, sample_weight=weights)
            names = [n for n in generative if hasattr(model, n)]
            if isinstance(model, ConditionalMaxEntClassifier):
                names = ["natural_params_"]
            return np.concatenate([np.ravel(getattr(model, n)) for n in names])

        u = 1e-3 * rng.normal(size=(expected + 4, len(Y)))
        moves = np.array([numbers(1 + v) - numbers(1 - v) for v in u])
        moves /= np.abs(moves).max(axis=0) + 1e-300
        values = np.linalg.svd(moves, compute_uv=False)
        assert np.sum(values > 1e-3 * values[0]) == expected


def test_prop_cl_counts_second():
    """The rank of the functions of each model at random places."""
    rng = np.random.default_rng([30, 2])
    for K, d in ((2, 1), (3, 4), (4, 2)):
        u, k = rng.normal(size=(600, d)), np.eye(K)[rng.integers(K, size=600)]
        bits, one = 1.0 * (u > 0), np.ones((600, 1))
        products = np.einsum("ni,nj->nij", u, u).reshape(600, -1)

        def rank(*columns, one=one, k=k):
            return np.linalg.matrix_rank(np.hstack([one, k, *columns])) - 1

        def each(columns, k=k):
            return np.einsum("nk,nj->nkj", k, columns).reshape(600, -1)

        free, pairs = K - 1 + K * d, d * (d + 1) // 2
        assert rank(each(bits)) == free
        assert rank(each(u), each(u**2)) == free + K * d
        assert rank(each(u), products) == free + pairs
        assert rank(each(u), each(products)) == free + K * pairs
        log_odds = np.kron(np.eye(K) - 1 / K, np.hstack([one, u])[:50])
        assert np.linalg.matrix_rank(log_odds) == (K - 1) * (d + 1)


@pytest.mark.wrong("quadratic terms are never needed", "> 0.1", "< 0.1")
def test_prop_cl_shape_witness():
    rng = np.random.default_rng([2, 6])

    def rest(columns, log_p):
        """Largest log-odds that the columns and a constant do not explain."""
        design = np.column_stack([np.ones(len(columns)), columns])
        odds = log_p[:, 0] - log_p[:, 1]
        return np.abs(
            odds - design @ np.linalg.lstsq(design, odds, rcond=None)[0]
        ).max()

    x = rng.normal(size=(60, 4)) * X.std(axis=0) + X.mean(axis=0)
    products = np.einsum("ni,nj->nij", x, x).reshape(60, 16)
    for covariance, columns in (
        ("pooled", x),
        ("diagonal", np.hstack([x, x**2])),
        ("full", np.hstack([x, products])),
    ):
        model = JointMaxEntClassifier(
            covariance, correlation_shrinkage=0.0, variance_shrinkage=0.0
        )
        log_p = model.fit(X[Y > 0], Y[Y > 0]).predict_log_proba(x)
        assert rest(columns, log_p) < 1e-7
        if covariance != "pooled":
            assert rest(x, log_p) > 0.1
    counts, y = rng.poisson(3.0, size=(90, 6)) + 1.0, np.arange(90) % 3
    for family, rows in (("multinomial", counts), ("bernoulli", 1.0 * (counts > 4))):
        model = MeMdClassifier(family=family, n_features=None).fit(rows, y)
        assert rest(rows, model.predict_log_proba(rows)) < 1e-8


def test_prop_cl_shape_second():
    """The Hessian of the log-odds of two normal densities, with symbols."""
    x = sympy.Matrix(sympy.symbols("x1 x2", real=True))
    means = [sympy.Matrix(sympy.symbols(f"a{k} b{k}", real=True)) for k in (1, 2)]
    s, t, u, v, w, z = sympy.symbols("s t u v w z")
    one, two = sympy.Matrix([[s, t], [t, u]]), sympy.Matrix([[v, w], [w, z]])

    def bend(*C):
        p, q = (
            ((x - m).T * c.inv() * (x - m))[0] for m, c in zip(means, C, strict=True)
        )
        return sympy.hessian(p - q, list(x)).applyfunc(sympy.simplify)

    assert bend(one, one) == sympy.zeros(2)
    diagonal = bend(one.subs(t, 0), two.subs(w, 0))
    assert diagonal[0, 1] == 0
    assert diagonal[0, 0] != 0
    full = bend(one, two)
    assert full[0, 1] != 0
    assert not full.free_symbols & set(x)


@pytest.mark.wrong("classes that touch are not separable", "max() <=", "max() <")
def test_thm_cl_conditional_witness():
    rng = np.random.default_rng([12, 1])
    ash = WINE[:, [2, 3]]
    design = np.column_stack([np.ones(178), ash])
    model = ConditionalMaxEntClassifier(C=np.inf, tol=1e-8)
    P = model.fit(ash, GROWER).predict_proba(ash)
    assert_allclose(design.T @ P, design.T @ np.eye(3)[GROWER], rtol=1e-6)
    likelihood = np.log(P[np.arange(178), GROWER]).sum()
    assert_allclose(special.entr(P).sum(), -likelihood, rtol=1e-6)
    basis = np.linalg.qr(design)[0]
    for _ in range(50):  # other tables with the same means
        change = rng.normal(size=P.shape)
        change -= change.mean(axis=1, keepdims=True)
        change -= basis @ (basis.T @ change)
        Q = P + rng.uniform(0.01, 1) * np.min(P / np.abs(change)) * change
        assert special.entr(Q).sum() < special.entr(P).sum()
    for _ in range(40):  # one feature: separable if the ranges touch at most
        x, label = rng.integers(0, 9, size=(9, 1)) + 0.0, np.arange(9) % 2
        low, high = sorted((x[label == 0], x[label == 1]), key=np.mean)
        separable = low.max() <= high.min()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            ConditionalMaxEntClassifier(C=np.inf).fit(x, label)
        assert separable == any("separable" in str(w.message) for w in said)


def test_thm_cl_conditional_second():
    """Two linear programmes: a separating vector, or a table of positive numbers."""
    rng, kinds = np.random.default_rng([12, 2]), set()
    for _ in range(40):
        n = rng.integers(4, 10)
        rows = np.column_stack([np.ones(n), rng.integers(-2, 3, size=(n, 2))])
        y = rng.integers(3, size=n)
        Phi = np.einsum("kc,ij->ickj", np.eye(3), rows).reshape(n, 3, 9)
        a = (Phi - Phi[np.arange(n), y][:, None]).reshape(-1, 9)
        separating = optimize.linprog(
            -a.sum(axis=0),
            A_ub=np.vstack([-a, a]),
            b_ub=np.repeat([0, 1], len(a)),
            bounds=(None, None),
        )
        # the last variable is at most every probability, and as large as can be
        positive = optimize.linprog(
            -np.eye(3 * n + 1)[-1],
            A_ub=np.column_stack([-np.eye(3 * n), np.ones(3 * n)]),
            b_ub=np.zeros(3 * n),
            A_eq=np.vstack([np.kron(np.eye(n), np.ones(3)), a.T])
            @ np.eye(3 * n, 3 * n + 1),
            b_eq=np.repeat([1, 0], [n, 9]),
        )
        exists = -positive.fun > 1e-6
        assert (-separating.fun > 1e-6) != exists
        kinds.add(exists)
        if exists:  # the minimum is found, at the entropy of its table
            options = {"gtol": 1e-9, "maxiter": 3000}
            end = optimize.minimize(
                logistic_loss, np.zeros(9), (rows, y), jac=True, options=options
            )
            log_p = special.log_softmax(rows @ end.x.reshape(3, 3).T, axis=1)
            assert np.abs(end.jac).max() < 1e-6
            of_table = -np.sum(np.exp(log_p) * log_p) / n
            assert_allclose(of_table, end.fun, rtol=1e-6)
        else:  # the likelihood rises along the vector, from everywhere
            start, u = rng.normal(size=9), -separating.x
            along = [logistic_loss(start + t * u, rows, y)[0] for t in (0, 1, 3)]
            assert np.all(np.diff(along) < 0)
    assert kinds == {True, False}
