"""Documents scored by words kept and the rest, against literal multinomials."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats

from memdlib.generative import MultinomialMeMdClassifier
from tests.generative.conftest import word_counts


def documents(seed=1, K=3):
    X, y = word_counts(240, 40, seed, n_informative=8, n_classes=K)
    return X.toarray(), y


def theta_by_hand(X, y, smoothing):
    """Shares of words, with pooled documents and a share of uniform ones."""
    n, d = X.shape
    rows = []
    for k in np.unique(y):
        counts = X[y == k].sum(axis=0) + smoothing * X.mean(axis=0)
        mixed = n / (n + smoothing) * counts / counts.sum()
        rows.append(mixed + smoothing / (n + smoothing) / d)
    return np.array(rows)


def literal_posterior(X, theta, prior, kept):
    """Multinomial distribution of the words kept and the rest, row by row."""
    others = np.setdiff1d(range(X.shape[1]), kept)
    shares, cells = (
        np.column_stack([rows[:, kept], rows[:, others].sum(axis=1)])
        for rows in (theta, X)
    )
    p = np.array([stats.multinomial(x.sum(), shares).pmf(x) for x in cells]) * prior
    return p / p.sum(axis=1, keepdims=True)


@given(st.integers(0, 10**6), st.integers(2, 6), st.booleans(), st.booleans())
@settings(max_examples=20)
def test_brute_force_over_small_documents(seed, d, thin, impossible):
    rng = np.random.default_rng(seed)
    K, prior = 3, np.array([0.3, 0.0, 0.7] if impossible else [0.2, 0.3, 0.5])
    y = np.arange(6 * K) % K
    X = rng.poisson(rng.gamma(1.0, 2.0, size=(K, d))[y]) + 0.0
    X[:, 0] += 1.0
    S = int(rng.integers(1, d + 1))
    model = MultinomialMeMdClassifier(n_features=S, alpha=0.5, priors=prior)
    model.fit(sparse.csr_array(X) if thin else X, y)
    theta = theta_by_hand(X, y, 0.5)
    expected = literal_posterior(X, theta, prior, model.order_[:S])
    assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("grid", ["every", [1, 4, 5, 39], [9]])
def test_a_curve_is_what_each_size_gives(kind, grid):
    X, y = documents(4)
    weight = 1.0 + np.arange(120) % 3
    model = MultinomialMeMdClassifier(n_features=1).fit(X[::2], y[::2])
    sizes, accuracy = model.accuracy_curve(
        kind(X[1::2]), y[1::2], weight, n_features_grid=grid
    )
    for S, found in zip(sizes, accuracy, strict=True):
        single = MultinomialMeMdClassifier(n_features=int(S)).fit(X[::2], y[::2])
        assert found == pytest.approx(single.score(X[1::2], y[1::2], weight), abs=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_document_of_one_word_without_bound_belongs_to_its_class(kind):
    X = [[90.0, 5.0, 5.0], [80.0, 9.0, 9.0], [2.0, 50.0, 1.0], [1.0, 1.0, 60.0]]
    model = MultinomialMeMdClassifier(n_features=None).fit(X, [0, 0, 1, 2])
    far = kind(np.diag(np.full(3, 1e100)))
    assert model.predict(far).tolist() == [0, 1, 2]
    assert_array_equal(model.predict_proba(far), np.eye(3))
    sizes, accuracy = model.accuracy_curve(far, [0, 1, 2])
    assert (sizes[-1], accuracy[-1]) == (3, 1.0)
