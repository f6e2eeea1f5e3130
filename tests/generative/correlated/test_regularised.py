import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import log_softmax
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.exceptions import NotFittedError

from memdlib.generative import CorrelatedMeMdClassifier, RegularisedMeMdClassifier
from memdlib.generative.pooled import PooledMoments, WhitenedMeans
from memdlib.generative.regularised import _Spread


def blobs(seed=0, n=40, d=6, n_classes=3):
    rng = np.random.default_rng([57, seed])
    y = rng.permutation(np.arange(n) % n_classes)
    mixing = rng.normal(size=(n_classes, d, d))
    X = np.einsum("is,ist->it", rng.normal(size=(n, d)), mixing[y])
    return X + rng.normal(size=(n_classes, d))[y], y


def by_definition(X, y, new, g, s, v, weight=None):
    """Log posteriors from the covariances, written down in full."""
    weight = np.ones(len(y)) if weight is None else weight
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    X, new = (X - low) / width, np.clip((new - low) / width, 0, 1)
    classes = np.unique(y)
    prior = np.array([weight[y == k].sum() for k in classes]) / weight.sum()
    means = [np.average(X[y == k], axis=0, weights=weight[y == k]) for k in classes]
    own = [np.cov(X[y == k].T, aweights=weight[y == k], ddof=0) for k in classes]
    pooled = np.tensordot(prior, own, 1)
    variance = np.diag(pooled)
    R = pooled / np.sqrt(np.outer(variance, variance))
    R = s * np.eye(len(R)) + (1 - s) * R
    variance = (1 - v) * variance + v * np.median(variance)
    common = R * np.sqrt(np.outer(variance, variance))
    score = [
        np.log(p) + multivariate_normal(m, g * common + (1 - g) * C).logpdf(new)
        for p, m, C in zip(prior, means, own, strict=True)
    ]
    return log_softmax(np.transpose(score), axis=1)


@pytest.mark.parametrize(("n", "d"), [(60, 5), (45, 18), (12, 30)])
@pytest.mark.parametrize("g", [0.05, 0.6, 1.0])
@pytest.mark.parametrize("v", [0.0, 0.3])
def test_posteriors_by_definition(n, d, g, v):
    for seed in range(3):
        X, y = blobs(seed, n, d)
        new = np.concatenate([X, 1.7 * X])
        weight = np.random.default_rng(seed).uniform(0.5, 2.0, size=n)
        model = RegularisedMeMdClassifier(g, 0.4, v).fit(X, y, sample_weight=weight)
        expected = by_definition(X, y, new, g, 0.4, v, weight)
        np.testing.assert_allclose(
            model.predict_log_proba(new), expected, rtol=1e-9, atol=1e-8
        )


def test_all_of_the_pooled_covariance_is_linear_discriminant_analysis():
    X, y = load_wine(return_X_y=True)
    ours = RegularisedMeMdClassifier(1.0, "auto", 0.0).fit(X, y)
    linear = CorrelatedMeMdClassifier().fit(X, y)
    assert ours.shrinkage_ == pytest.approx(linear.shrinkage_, rel=1e-9)
    np.testing.assert_allclose(
        ours.predict_proba(X), linear.predict_proba(X), rtol=0, atol=1e-9
    )


def test_next_to_none_of_it_is_quadratic_discriminant_analysis():
    X, y = load_iris(return_X_y=True)
    ours = RegularisedMeMdClassifier(1e-9, 0.0, 0.0).fit(X, y)
    # whose covariances are divided by one row less
    theirs = QuadraticDiscriminantAnalysis(priors=np.full(3, 1 / 3)).fit(X, y)
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=0.05
    )


@given(
    scale=st.sampled_from([1e-90, 1e-9, 1.0, 1e9, 1e90]),
    shift=st.sampled_from([0.0, -3.0, 1e6]),
    seed=st.integers(0, 20),
)
def test_units_do_not_matter(scale, shift, seed):
    X, y = blobs(seed, 24, 5)
    other = X.copy()
    other[:, 1] = scale * (X[:, 1] + shift)
    one = RegularisedMeMdClassifier().fit(X, y)
    two = RegularisedMeMdClassifier().fit(other, y)
    np.testing.assert_allclose(
        two.predict_proba(other), one.predict_proba(X), rtol=0, atol=1e-7
    )


def test_what_lies_outside_the_range_counts_as_its_end():
    X, y = blobs(3)
    model = RegularisedMeMdClassifier().fit(X, y)
    far = np.concatenate([X - 1e3, X + 1e90, np.full((1, 6), 1e100)])
    ends = np.clip(far, X.min(axis=0), X.max(axis=0))
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(
            model.predict_proba(far), model.predict_proba(ends)
        )
    wide = X.copy()
    wide[:2, 0] = -1e100, 1e100
    assert np.isfinite(RegularisedMeMdClassifier().fit(wide, y).predict_proba(X)).all()


def test_weights_are_repetitions():
    X, y = blobs(4)
    times = np.random.default_rng(4).integers(0, 4, size=len(y))
    one = RegularisedMeMdClassifier(0.3, 0.2).fit(X, y, sample_weight=times)
    many = RegularisedMeMdClassifier(0.3, 0.2).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times)
    )
    np.testing.assert_allclose(
        one.predict_proba(X), many.predict_proba(X), rtol=0, atol=1e-9
    )


def test_constant_features_and_classes_of_one_row():
    X, y = blobs(6, 11, 8)
    X[:, 2] = 4.0
    y = np.where(np.arange(11) == 10, 7, y)
    model = RegularisedMeMdClassifier().fit(X, y)
    far = X.copy()
    far[:, 2] = 1e100
    assert np.isfinite(model.predict_log_proba(far)).all()
    np.testing.assert_allclose(
        model.predict_proba(X),
        RegularisedMeMdClassifier()
        .fit(X[:, np.arange(8) != 2], y)
        .predict_proba(X[:, np.arange(8) != 2]),
        rtol=0,
        atol=1e-9,
    )


def test_priors_are_those_given():
    X, y = blobs(2)
    prior = [0.7, 0.2, 0.1]
    model = RegularisedMeMdClassifier(priors=prior).fit(X, y)
    plain = RegularisedMeMdClassifier().fit(X, y)
    assert model.class_prior_.tolist() == prior
    shift = np.log(prior) - np.log(plain.class_prior_)
    # the centre moves with the priors, and cancels
    np.testing.assert_allclose(
        model.predict_log_proba(X),
        log_softmax(plain.predict_log_proba(X) + shift, axis=1),
        rtol=0,
        atol=1e-8,
    )
    with pytest.raises(ValueError, match="must be 3 numbers"):
        RegularisedMeMdClassifier(priors=[1.0]).fit(X, y)


def test_what_it_refuses():
    X, y = blobs()
    with pytest.raises(TypeError, match="RegularisedMeMdClassifier, which needs dense"):
        RegularisedMeMdClassifier().fit(sparse.csr_array(X), y)
    for name, value in (
        ("class_shrinkage", 0.0),
        ("class_shrinkage", 1.5),
        ("shrinkage", "ledoit"),
        ("variance_shrinkage", -0.1),
    ):
        with pytest.raises(ValueError, match=name):
            RegularisedMeMdClassifier(**{name: value}).fit(X, y)
    copies = np.repeat(X, 2, axis=1)
    with pytest.raises(ValueError, match="use shrinkage > 0"):
        RegularisedMeMdClassifier(shrinkage=0.0).fit(copies, y)
    with pytest.raises(NotFittedError):
        RegularisedMeMdClassifier().predict(X)


def test_a_failed_fit_leaves_the_old_one():
    X, y = blobs()
    model = RegularisedMeMdClassifier().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="class"):
        model.fit(X, np.zeros(len(y)))
    np.testing.assert_array_equal(model.predict_proba(X), before)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), before)


def test_class_weights_multiply_the_weights_of_rows():
    X, y = load_wine(return_X_y=True)
    weighted = RegularisedMeMdClassifier(class_weight={0: 3, 2: 2}).fit(X, y)
    copies = np.repeat(np.arange(len(y)), np.take([3, 1, 2], y))
    expected = RegularisedMeMdClassifier().fit(X[copies], y[copies])
    np.testing.assert_allclose(
        weighted.predict_log_proba(X), expected.predict_log_proba(X), rtol=0, atol=1e-8
    )
    balanced = RegularisedMeMdClassifier(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.class_prior_, 1 / 3)


@pytest.mark.parametrize("shape", [(3, 8), (8, 8), (20, 8)])
def test_a_covariance_of_few_rows_is_that_of_its_matrix(shape):
    rng = np.random.default_rng([57, 9])
    rows, z, floor = rng.normal(size=shape), rng.normal(size=(5, 8)), 0.2
    matrix = floor * np.eye(8) + (1 - floor) * rows.T @ rows
    found = _Spread.of(rows, floor)
    solved = np.linalg.solve(matrix, z.T).T
    np.testing.assert_allclose(found.solve(z), solved, rtol=1e-9)
    np.testing.assert_allclose(found.distance(z), (z * solved).sum(axis=1), rtol=1e-9)
    assert found.log_determinant == pytest.approx(np.linalg.slogdet(matrix)[1])


@pytest.mark.parametrize("kind", [np.float32, np.int16])
def test_other_types_are_taken_as_doubles(kind):
    X, y = blobs(8, 50, 5)
    X = (100 * X + 700).astype(kind)
    before = X.copy()
    one = RegularisedMeMdClassifier(0.3, 0.4).fit(X, y)
    two = RegularisedMeMdClassifier(0.3, 0.4).fit(X.astype(float), y)
    for rows in (X, X[::-1].astype(float) + 3.0):
        np.testing.assert_allclose(
            one.predict_log_proba(rows),
            two.predict_log_proba(rows.astype(float)),
            rtol=0,
            atol=1e-10,
        )
        assert one.predict_proba(rows).dtype == np.float64
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("prior", [None, [0.6, 0.1, 0.3], [0.5, 0.0, 0.5]])
@pytest.mark.parametrize(("n", "d"), [(60, 4), (14, 20)])
def test_posteriors_of_unequal_classes_by_definition(prior, n, d):
    X, y = blobs(9, n, d)
    y = np.where((y == 2) & (np.arange(n) % 2 == 0), 0, y)
    weight = np.random.default_rng([57, n]).uniform(0.1, 3.0, n) * (1 + 4 * (y == 1))
    model = RegularisedMeMdClassifier(0.15, 0.3, 0.2, priors=prior)
    model.fit(X, y, sample_weight=weight)
    share = np.bincount(y, weight) / weight.sum()
    expected = by_definition(X, y, X, 0.15, 0.3, 0.2, weight)
    if prior is not None:
        with np.errstate(divide="ignore"):
            expected = log_softmax(expected + np.log(np.array(prior) / share), axis=1)
    found = model.predict_log_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-7)
    np.testing.assert_allclose(model.class_prior_, share if prior is None else prior)


@pytest.mark.parametrize("shrinkage", [0.0, 0.35, 1.0, "auto"])
def test_what_is_in_use(shrinkage):
    X, y = blobs(10, 60, 4)
    model = RegularisedMeMdClassifier(0.5, shrinkage, shrinkage).fit(X, y)
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    moments = PooledMoments.of((X - low) / width, y, 3, np.ones(60))
    pooled = WhitenedMeans.of(moments, None, shrinkage, shrinkage)
    assert model.shrinkage_ == pytest.approx(pooled.root.shrinkage)
    assert model.variance_shrinkage_ == pytest.approx(pooled.variance_shrinkage)
    if shrinkage != "auto":
        assert model.shrinkage_ == model.variance_shrinkage_ == shrinkage


@pytest.mark.parametrize(("n", "d"), [(20, 8), (5, 8)])
def test_a_covariance_of_low_rank_keeps_its_floor(n, d):
    rng = np.random.default_rng([57, 11])
    rows = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d))
    found = _Spread.of(rows, 1e-18)
    assert (found.variances >= 1e-18).all()
    assert np.isfinite(found.log_determinant)
    assert (found.distance(rng.normal(size=(4, d))) > 0).all()


def test_edges_of_the_parameters():
    X, y = blobs(12)
    for options in (
        {"class_shrinkage": 1.0},
        {"class_shrinkage": 1e-9},
        {"shrinkage": 1.0},
        {"shrinkage": 0.0},
        {"variance_shrinkage": 1.0},
        {"variance_shrinkage": 0},
    ):
        RegularisedMeMdClassifier(**options).fit(X, y)
    for name in ("class_shrinkage", "shrinkage", "variance_shrinkage"):
        with pytest.raises(ValueError, match=name):
            RegularisedMeMdClassifier(**{name: 1.0 + 1e-12}).fit(X, y)


def test_moments_that_are_collected_once_serve_all_parameters():
    X, y = blobs(13, 50, 5)
    weight = np.random.default_rng([57, 13]).uniform(0.2, 2.0, 50)
    moments = RegularisedMeMdClassifier().collect_moments(X, y, 3, weight)
    for options in ((0.2, 0.5, 0.0), (1.0, "auto", "auto")):
        names = np.array(["a", "b", "c"])
        one = RegularisedMeMdClassifier(*options).fit_moments(moments, names)
        two = RegularisedMeMdClassifier(*options).fit(X, names[y], sample_weight=weight)
        assert one.n_features_in_ == 5
        assert one.classes_.tolist() == ["a", "b", "c"]
        np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert RegularisedMeMdClassifier().moments_suffice is True
    assert RegularisedMeMdClassifier(class_weight="balanced").moments_suffice is False
    with pytest.raises(ValueError, match="class_shrinkage"):
        RegularisedMeMdClassifier(2.0).fit_moments(moments, names)


def test_values_far_beyond_a_narrow_range_count_as_its_end():
    X, y = blobs(14)
    X[:, 1] *= 1e-90
    model = RegularisedMeMdClassifier().fit(X, y)
    far = X.copy()
    far[:, 1] = 1e100
    ends = X.copy()
    ends[:, 1] = X[:, 1].max()
    with np.errstate(over="raise"):
        np.testing.assert_array_equal(
            model.predict_proba(far), model.predict_proba(ends)
        )
