"""Moments against sums in fractions and by numpy, which share no code with them."""

from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from memdlib import moments
from memdlib import moments as module

KINDS = pytest.mark.parametrize(
    "kind", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix]
)


def sample(n=200, d=4, n_classes=3, seed=0):
    """Rows, classes (one of them in few rows) and weights."""
    rng = np.random.default_rng([4, seed])
    y = rng.choice(n_classes, size=n, p=np.arange(n_classes, 0, -1) / (
        n_classes * (n_classes + 1) / 2))  # fmt: skip
    X = rng.normal(3, 2, size=(n, d)) + y[:, None] * rng.normal(size=d)
    return X, y, rng.uniform(0.2, 3.0, n)


def raw(m):
    return moments.translate(m.mean, np.ones(1), m.location)


def direct(X, y, weight, n_classes, order):
    """Raw power means (K, d, m), class by class."""
    powers = X[..., None] ** np.arange(1, order + 1)
    rows = [y == k for k in range(n_classes)]
    return np.array([np.average(powers[r], axis=0, weights=weight[r]) for r in rows])


def exact_variance(x):
    x = [Fraction(float(v)) for v in x]
    mean = sum(x) / len(x)
    return float(sum((v - mean) ** 2 for v in x) / len(x))


def variance(m):
    return m.mean[..., 1] - m.mean[..., 0] ** 2


@KINDS
@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("about_zero", [True, False])
@pytest.mark.parametrize("block", [1, 50, 2**17])
def test_every_container_gives_means(monkeypatch, kind, order, about_zero, block):
    monkeypatch.setattr(module, "_BLOCK", block)
    X, y, weight = sample()
    X[X < 2] = 0
    X[:, 3] = abs(X[:, 3]) + 1  # stored throughout
    options = {"order": order, "sample_weight": weight, "about_zero": about_zero}
    m = moments.class_moments(kind(X), y, 3, **options)
    expected = direct(X, y, weight, 3, order)
    assert_allclose(raw(m), expected, rtol=1e-10)
    assert_allclose(m.prior, np.bincount(y, weight) / weight.sum())
    assert (m.location == 0).all() == about_zero
    thin = sparse.issparse(kind(X))
    if not about_zero:
        assert (m.location[:, :3] == 0).all() == thin and m.location[:, 3].all()


@KINDS
@pytest.mark.parametrize("weighing", ["none", "tenth", "uneven"])
def test_a_class_that_is_constant_has_no_variance(kind, weighing):
    # a plain sum of equal terms is off by up to n ulp, always to the same side
    rng = np.random.default_rng([4, 1])
    X, y = rng.normal(size=(2500, 2)), np.arange(2500) % 8 // 7
    X[y == 0] = rng.uniform(-10, 10, 2)
    weights = {
        "none": None,
        "tenth": np.full(2500, 0.1),
        "uneven": 1 + rng.random(2500),
    }
    m = moments.class_moments(kind(X), y, 2, order=2, sample_weight=weights[weighing])
    assert_array_equal(m.sums[0], 0)
    assert_array_equal(m.location[0], X[0])


@KINDS
@pytest.mark.parametrize("offset", [0.0, 1e8, 1e12])
@pytest.mark.parametrize("scale", [1e-90, 1.0, 1e87])
def test_classes_far_apart_keep_their_variances(kind, offset, scale):
    rng = np.random.default_rng([4, 8])
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) + np.array([0.0, 4.0, offset])[y, None]
    X[:, 1] = np.round(X[:, 1])  # with zeros that are not stored
    X *= scale
    m = moments.class_moments(kind(X), y, 3, order=2)
    pair = m.one_vs_rest()
    for k in range(3):
        own, rest = ([exact_variance(X[rows, s]) for s in range(2)]
                     for rows in (y == k, y != k))  # fmt: skip
        assert_allclose(variance(m)[k], own, rtol=1e-11)
        assert_allclose(variance(pair)[k], [own, rest], rtol=1e-11)


@KINDS
def test_powers_beyond_all_numbers_are_refused(kind):
    X, y, _ = sample(10)
    X[3, 2] = 1e200
    with pytest.raises(ValueError, match=r"feature 2 overflow; rescale"):
        moments.class_moments(kind(X), y, 3, order=2)


def about_zero(sums, weight, location, joint):
    """Sums (or means, of weight one) about the locations as sums about zero."""
    if not joint:
        return moments.translate(sums, weight, location)
    at, weight = location[..., None], weight[..., None]
    first, second = sums[..., :1], sums[..., 1:]
    second = second + first * at.mT + at * first.mT + weight * at * at.mT
    return np.concatenate([first + weight * at, second], axis=-1)


def sums_about_zero(m, joint):
    return about_zero(m.sums, m.count, m.location, joint)


def collected(X, y, weight, joint):
    if joint:
        return moments.joint_moments(X, y, 4, sample_weight=weight)
    return moments.class_moments(X, y, 4, order=3, sample_weight=weight)


@pytest.mark.parametrize("joint", [False, True])
@given(cuts=st.lists(st.integers(1, 199), min_size=1, max_size=5, unique=True))
def test_batches_add_up_wherever_they_are_cut(joint, cuts):
    """Batches without rows of a class, and a class without any, too."""
    X, y, weight = sample()
    parts = [
        collected(X[rows], y[rows], weight[rows], joint)
        for rows in np.split(np.arange(200), sorted(cuts))
    ]
    whole = collected(X, y, weight, joint)
    for order in (parts, parts[::-1]):
        merged = reduce(moments.ClassMoments.merge, order)
        assert type(merged) is type(whole)
        assert_allclose(merged.weight, whole.weight, rtol=1e-12)
        assert_allclose(
            sums_about_zero(merged, joint), sums_about_zero(whole, joint), rtol=1e-9
        )


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("n_parts", [2, 5])
def test_parts_but_one_and_a_class_beside_the_rest(joint, n_parts):
    X, y, weight = sample()
    part = np.arange(200) % n_parts
    parts = [collected(X[part == p], y[part == p], weight[part == p], joint)
             for p in range(n_parts)]  # fmt: skip
    for p, m in enumerate(moments.leave_one_out(parts)):
        rows = part != p
        expected = collected(X[rows], y[rows], weight[rows], joint)
        assert_allclose(
            sums_about_zero(m, joint), sums_about_zero(expected, joint), rtol=1e-9
        )
    pairs = collected(X, y, weight, joint).one_vs_rest()
    sums = sums_about_zero(pairs, joint)
    assert pairs.weight[3, 0] == 0
    for k, side in np.ndindex(3, 2):
        rows = (y != k) if side else (y == k)
        expected = collected(X[rows], np.full(rows.sum(), side), weight[rows], joint)
        assert pairs.weight[k, side] == pytest.approx(weight[rows].sum())
        assert_allclose(
            sums[k, side], sums_about_zero(expected, joint)[side], rtol=1e-9
        )
    assert_allclose(pairs.prior.sum(axis=1), 1)


def test_complement_does_not_cancel():
    # the class of large values would leave its rounding error behind if subtracted
    X = np.r_[np.full(50, 1e8), 1.0 + np.arange(50) % 2][:, None]
    pair = moments.class_moments(X, np.repeat([0, 1], 50), 2, order=2).one_vs_rest()
    assert variance(pair)[0, 1, 0] == pytest.approx(0.25, rel=1e-15)


@pytest.mark.parametrize("joint", [False, True])
def test_an_empty_class_says_what_all_say(joint):
    X, y, weight = sample()
    m = collected(X, y, weight, joint)
    assert m.prior[3] == 0 and not m.sums[3].any()
    everything = collected(X, 0 * y, weight, joint)
    expected = sums_about_zero(everything, joint)[0] / weight.sum()
    found = about_zero(m.mean[3], np.ones(1), m.location[3], joint)
    assert_allclose(found, expected, rtol=1e-10)


def test_moments_of_other_shapes_do_not_add():
    (X, y, _), (Z, z, _) = sample(), sample(d=2)
    with pytest.raises(ValueError, match=r"\(3, 2, 1\) cannot be added .*\(3, 4, 2\)"):
        moments.class_moments(X, y, 3, order=2).merge(
            moments.class_moments(Z, z, 3, order=1)
        )


@pytest.mark.parametrize("prior", [[0.2, 0.5, 0.3, 0.0], [0.7, 0.0, 0.3, 0.0]])
@pytest.mark.parametrize("joint", [False, True])
def test_other_shares_of_the_classes_are_other_weights_of_their_rows(prior, joint):
    X, y, weight = sample()
    m = collected(X, y, weight, joint)
    found = m.reweighted(np.array(prior))
    factor = np.array(prior[:3]) * weight.sum() / np.bincount(y, weight)
    expected = collected(X, y, weight * factor[y], joint)
    assert type(found) is type(m)
    assert_allclose(found.weight, expected.weight, rtol=1e-12)
    assert_allclose(found.sums, expected.sums, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("features", [[2, 0], np.arange(4) % 2 > 0, slice(1, 3)])
def test_some_features(features):
    X, y, weight = sample()
    for joint in (False, True):
        found = collected(X, y, weight, joint).select(features)
        expected = collected(X[:, features], y, weight, joint)
        assert_allclose(found.sums, expected.sums, rtol=0, atol=1e-9)
        assert_array_equal(found.location, expected.location)
    pairs = collected(X, y, weight, False).one_vs_rest().select(features)
    assert pairs.sums.shape[:3] == (4, 2, 2) and pairs.location.shape == (4, 2, 2)


def test_joint_moments_are_sums_of_products():
    X, y, weight = sample()
    m = moments.joint_moments(
        np.float32(X), y.tolist(), 3, sample_weight=weight.tolist()
    )
    assert m.sums.dtype == m.location.dtype == np.float64
    for k in range(3):
        rows = X.astype(np.float32).astype(float)[y == k]
        assert (rows == m.location[k]).all(axis=1).any()
        z, w = rows - m.location[k], weight[y == k]
        assert_allclose(m.sums[k, :, 0], w @ z, rtol=1e-10)
        assert_allclose(m.sums[k, :, 1:], (w * z.T) @ z, rtol=1e-9)


def test_natural_parameters_of_many_columns_move_to_other_points():
    """Also whole numbers, and one location for all; the constant is left out."""
    rng = np.random.default_rng([4, 12])
    lam = rng.integers(1, 4, size=(2, 3, 5)) * rng.choice([-1, 1], size=(2, 3, 5))
    for location in (np.array([1, 0, -2]), rng.normal(size=(2, 3)), 2, 0.0):
        found = moments.translate_natural(lam, location)
        assert found.dtype == np.float64 and found.shape == lam.shape
        at = np.broadcast_to(location, (2, 3))
        for k, s in np.ndindex(2, 3):
            about = np.polynomial.Polynomial([0.0, *lam[k, s]])
            moved = about(np.polynomial.Polynomial([-float(at[k, s]), 1.0])).coef[1:]
            assert_allclose(found[k, s], moved, rtol=1e-12, atol=1e-10)


def test_a_gap_in_the_first_row_of_a_batch_spares_the_classes_without_rows():
    X = np.array([[np.nan, 2.0], [5.0, 3.0], [4.0, 1.0]])
    first = moments.class_moments(X[:2], [0, 0], 2, order=2)
    found = first.merge(moments.class_moments(X[2:], [1], 2, order=2))
    assert (found.location + found.mean[..., 0]).tolist() == [[5.0, 2.5], [4.0, 1.0]]
    assert found.count.tolist() == [[1.0, 2.0], [1.0, 1.0]]


def test_a_far_class_that_begins_in_a_later_batch_keeps_its_digits():
    first = moments.class_moments(np.array([[0.0], [1.0]]), [0, 0], 2, order=2)
    later = moments.class_moments(1e9 + np.array([[0.25], [0.5]]), [1, 1], 2, order=2)
    for found in (first.merge(later), later.merge(first)):
        mean, square = found.mean[1, 0]
        assert square - mean**2 == pytest.approx(1 / 64)
