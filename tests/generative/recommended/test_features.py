import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import SplineTransformer, StandardScaler

from memdlib.generative.recommended.features import KernelFeatures, LinearSplines


def skewed(seed=0, n=90, d=3):
    return np.exp(np.random.default_rng([47, seed]).normal(size=(n, d)))


def same_span(A, B):
    """Whether columns of both, with a constant, span the same functions."""
    A, B = (np.column_stack([np.ones(len(M)), M]) for M in (A, B))
    for left, right in ((A, B), (B, A)):
        best = np.linalg.lstsq(left, right, rcond=None)[0]
        np.testing.assert_allclose(left @ best, right, rtol=0, atol=1e-8)


def test_splines_span_those_of_scikit_learn():
    X, Z = skewed(0), skewed(1)
    ours = LinearSplines(5).fit(X)
    quantiles = {"axis": 0, "method": "averaged_inverted_cdf"}
    knots = np.quantile(X, [0, 0.25, 0.5, 0.75, 1], **quantiles)
    theirs = SplineTransformer(degree=1, knots=knots, extrapolation="constant").fit(X)
    assert ours.transform(Z).shape == (90, 12)
    same_span(ours.transform(Z), theirs.transform(Z))


def test_knots_that_coincide_are_one():
    X = np.column_stack([np.arange(40) % 2, np.ones(40), np.arange(40)])
    found = LinearSplines().fit(X).transform(X)
    assert found.shape == (40, 1 + 7)
    np.testing.assert_array_equal(found[:, 0], X[:, 0])
    assert LinearSplines().fit(np.ones((4, 2))).transform(np.ones((3, 2))).shape == (
        3,
        1,
    )


def test_many_features_have_fewer_knots_each():
    X = skewed(2, 50, 100)
    assert LinearSplines().fit(X).transform(X).shape == (50, 200)
    assert LinearSplines(max_features=400).fit(X).transform(X).shape == (50, 400)


@given(st.integers(0, 200), st.sampled_from([1e-200, 0.1, 7.0, 1e150]))
def test_units_zeros_and_signs_do_not_matter(seed, unit):
    X, Z = skewed(seed, 40), skewed(seed + 1, 20)
    sign = np.array([1.0, -1.0, 1.0])
    for model in (LinearSplines(6), KernelFeatures(random_state=0)):
        one = clone(model).fit(X).transform(Z)
        two = clone(model).fit(unit * sign * X).transform(unit * sign * Z)
        if isinstance(model, LinearSplines):
            # of a feature of other sign the last interval comes first
            two[:, 5:10] = 1 - two[:, 9:4:-1]
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-6)


@pytest.mark.parametrize("model", [LinearSplines(), KernelFeatures(random_state=1)])
def test_weights_are_copies_and_order_is_none(model):
    X, Z = skewed(4, 30), skewed(5)
    counts = 1 + np.arange(30) % 3
    one = clone(model).fit(X, sample_weight=counts).transform(Z)
    copies = X.repeat(counts, axis=0)[::-1]
    two = clone(model).fit(copies).transform(Z)
    np.testing.assert_allclose(one @ one.T, two @ two.T, rtol=0, atol=1e-6)


def test_products_are_the_kernel_where_all_rows_are_landmarks():
    X = skewed(6, 60)
    Z = KernelFeatures(0.7, random_state=0).fit(X).transform(X)
    kernel = rbf_kernel(StandardScaler().fit_transform(X), gamma=0.7 / 3)
    np.testing.assert_allclose(Z @ Z.T, kernel, rtol=0, atol=1e-6)
    few = KernelFeatures(0.7, n_components=5, random_state=0).fit(X).transform(X)
    assert few.shape == (60, 5)
    # what is left of the kernel has no negative eigenvalues
    assert np.linalg.eigvalsh(kernel - few @ few.T)[0] > -1e-7


def test_features_that_do_not_vary_count_for_nothing():
    X = skewed(7, 30)
    wide = np.column_stack([X, np.full(30, 3.0)])
    one = KernelFeatures(random_state=0).fit(X).transform(X)
    two = KernelFeatures(random_state=0).fit(wide).transform(wide)
    np.testing.assert_allclose(one @ one.T, two @ two.T, rtol=0, atol=1e-7)
