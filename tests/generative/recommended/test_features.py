import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.utils.validation import check_is_fitted

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


@pytest.mark.parametrize("kind", [LinearSplines, KernelFeatures])
def test_defaults_are_those_documented(kind):
    documented = re.findall(r"^ +(\w+) : .*default=(\S+)$", kind.__doc__, re.M)
    given = [(name, repr(value)) for name, value in kind().get_params().items()]
    assert sorted(given) == sorted(documented)


def awkward(n=53):
    """Columns of unequal spread and offset, one with ties, one far from zero."""
    rng = np.random.default_rng([47, 100])
    X = np.exp(rng.normal(size=(n, 4))) * [1.0, 5.0, 300.0, 1e-3]
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] += 4e6
    return X


@pytest.mark.parametrize("n_knots", [2, 3, 8])
@pytest.mark.parametrize("kind", ["float64", "float32", "int64"])
@pytest.mark.parametrize("weighted", [False, True])
def test_splines_are_shares_of_intervals_between_quantiles(n_knots, kind, weighted):
    X, Z = (np.asarray(M, dtype=kind) for M in (awkward(), awkward(31) * 1.3 - 1.0))
    counts = 1 + np.arange(53) % 4 if weighted else np.full(53, 3)
    copies = X.astype(float).repeat(counts, axis=0)
    expected = []
    for j in range(4):
        knots = np.quantile(
            copies[:, j], np.linspace(0, 1, n_knots), method="averaged_inverted_cdf"
        )
        z = Z[:, j].astype(float)
        for low, high in pairwise(knots):
            if high > low:
                expected.append(np.clip((z - low) / (high - low), 0, 1))
    splines = LinearSplines(n_knots).fit(X, sample_weight=counts)
    found = splines.transform(Z)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.transpose(expected), rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("d", "each"), [(1, 7), (34, 7), (35, 6), (80, 3), (81, 2), (120, 2), (150, 2)]
)
def test_few_intervals_where_features_are_many_but_two_at_least(d, each):
    X = skewed(8, 20, d)
    assert LinearSplines().fit(X).transform(X).shape == (20, d * each)
    assert LinearSplines(2).fit(X).transform(X).shape == (20, d)


def test_splines_of_nothing_that_varies_are_zero():
    found = LinearSplines().fit(np.full((5, 2), 7.0)).transform(np.eye(2))
    assert found.tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("constants", [0, 3])
@pytest.mark.parametrize("varying", [1, 2])
@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_kernels_are_of_the_mean_square_over_features_that_vary(
    constants, varying, kind
):
    rng = np.random.default_rng([47, 101])
    X = rng.normal(size=(25, varying)) * [3.0, 50.0][:varying] + 7.0
    X = np.column_stack([np.full((25, constants), 4.0), X]).astype(kind)
    counts = 1.0 + np.arange(25) % 3
    Z = KernelFeatures(0.6, random_state=0).fit(X, sample_weight=counts).transform(X)
    z = StandardScaler().fit_transform(X.astype(float), sample_weight=counts)
    kernel = rbf_kernel(z, gamma=0.6 / varying)
    np.testing.assert_allclose(Z @ Z.T, kernel, rtol=0, atol=1e-5)


def test_kernels_of_nothing_that_varies_are_one():
    X = np.full((6, 2), 3.0)
    Z = KernelFeatures(random_state=0).fit(X).transform(X)
    np.testing.assert_allclose(Z @ Z.T, 1.0, rtol=1e-8)


def test_landmarks_are_rows_that_differ_and_two_hundred_at_most():
    X = skewed(9, 260, 2)
    assert KernelFeatures(random_state=0).fit(X).transform(X[:1]).shape == (1, 200)
    repeated = X[:12].repeat(5, axis=0)
    model = KernelFeatures(n_components=30, random_state=0).fit(repeated)
    assert model.transform(X[:3]).shape == (3, 12)


def test_of_few_landmarks_the_kernel_is_projected_on_them():
    X = skewed(10, 40, 2)
    model = KernelFeatures(0.8, 6, random_state=3).fit(X)
    Z = model.transform(X)
    kernel = rbf_kernel(StandardScaler().fit_transform(X), gamma=0.4)
    # of a landmark the kernel with all rows is exact
    exact = np.flatnonzero(np.abs(Z @ Z.T - kernel).max(axis=1) < 1e-6)
    assert len(exact) == 6
    own = kernel[np.ix_(exact, exact)]
    expected = kernel[:, exact] @ np.linalg.solve(own, kernel[exact])
    np.testing.assert_allclose(Z @ Z.T, expected, rtol=0, atol=1e-6)
    other = KernelFeatures(0.8, 6, random_state=4).fit(X).transform(X)
    assert np.abs(Z @ Z.T - other @ other.T).max() > 1e-3


def test_what_is_far_from_all_landmarks_has_no_kernel():
    model = KernelFeatures(random_state=0).fit(skewed(11, 20))
    far = np.array([[1e5, 0.0, 0.0], [1e300, -1e300, 0.0], [1.7e308] * 3])
    with np.errstate(over="raise", invalid="raise"):
        assert not model.transform(far).any()
    # in so wide a kernel all that is further away is equally far
    wide = KernelFeatures(1e-12, random_state=0).fit(skewed(11, 20))
    one, two = wide.transform(np.array([[1e7, 1e7, 1e7], [1e12, 1e300, 1e9]]))
    assert one.tolist() == two.tolist()
    assert one.any()


@pytest.mark.parametrize("kind", [LinearSplines, KernelFeatures])
def test_parameters_have_edges(kind):
    X = skewed(12, 12)
    for name, value in {"n_knots": 2, "max_features": 1, "n_components": 1}.items():
        if name in kind().get_params():
            kind(**{name: value}).fit(X)
            with pytest.raises(ValueError, match=f"'{name}' parameter"):
                kind(**{name: value - 1}).fit(X)
    with pytest.raises(NotFittedError):
        check_is_fitted(kind())
    check_is_fitted(kind().fit(X))


@pytest.mark.parametrize("gamma", [0.0, -1.0])
def test_kernels_have_a_width(gamma):
    with pytest.raises(ValueError, match="'gamma' parameter"):
        KernelFeatures(gamma).fit(skewed(12, 12))


@pytest.mark.parametrize("offset", [1e6, -4e8])
def test_kernels_far_from_zero_keep_their_digits(offset):
    near = np.round(256 * skewed(13, 30)) / 256
    one = KernelFeatures(random_state=0).fit(near).transform(near)
    two = KernelFeatures(random_state=0).fit(near + offset).transform(near + offset)
    np.testing.assert_allclose(one @ one.T, two @ two.T, rtol=0, atol=1e-6)
