from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdlib.moments.collect import class_moments
from memdlib.moments.joint import joint_moments
from memdlib.moments.sums import (
    ClassMoments,
    leave_one_out,
    translate,
    translate_natural,
)
from tests.moments.reference import exact_variance, raw, sample, variance


@given(st.lists(st.integers(1, 199), min_size=1, max_size=5, unique=True))
def test_batches_add_up_wherever_they_are_cut(cuts):
    X, y = sample()
    batches = np.split(np.arange(200), sorted(cuts))
    parts = [class_moments(X[b], y[b], 3, order=3) for b in batches]
    merged, whole = reduce(ClassMoments.merge, parts), class_moments(X, y, 3, order=3)
    np.testing.assert_allclose(raw(merged), raw(whole), rtol=1e-12)
    backwards = reduce(ClassMoments.merge, parts[::-1])
    np.testing.assert_allclose(raw(backwards), raw(whole), rtol=1e-12)


@given(st.permutations(range(4)), st.integers(0, 99), st.sampled_from([1e8, 1e12]))
def test_parts_merged_in_any_order_keep_their_digits(order, seed, offset):
    rng = np.random.default_rng([4, 7, seed])
    y = rng.permutation(np.arange(60) % 3)
    X = rng.normal(size=(60, 2)) + np.array([0.0, 4.0, offset])[y, None]
    X[:, 1] *= -1e-3
    weight = rng.uniform(0.5, 2, 60)
    parts = [
        class_moments(X[i::4], y[i::4], 3, order=2, sample_weight=weight[i::4])
        for i in order
    ]
    chain = reduce(ClassMoments.merge, parts)
    tree = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3]))
    rest = leave_one_out(parts)
    for k in range(3):
        for s in range(2):
            mean, exact = exact_variance(X[y == k, s], weight[y == k])
            for m in (chain, tree, rest[1].merge(parts[1])):
                shift = float(mean - Fraction(float(m.location[k, s])))
                assert m.mean[k, s, 0] == pytest.approx(shift, rel=1e-12, abs=1e-13)
                assert variance(m)[k, s] == pytest.approx(float(exact), rel=1e-12)


def test_a_class_that_comes_late_has_its_own_location():
    X, y = sample(60, 2)
    X[y == 2] += 1e12
    late, early = (class_moments(X[r], y[r], 3, order=2) for r in (y == 2, y != 2))
    for m in (early.merge(late), late.merge(early)):
        for k in range(3):
            for s in range(2):
                exact = exact_variance(X[y == k, s])[1]
                assert variance(m)[k, s] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("n_parts", [2, 3, 5])
def test_parts_but_one(n_parts):
    X, y = sample()
    part = np.random.default_rng([4, 9]).integers(n_parts, size=200)
    part[y == 2] = 1  # a class that lies in one part
    parts = class_moments(X, part * 3 + y, n_parts * 3, order=2).split(n_parts)
    for p, m in enumerate(leave_one_out(parts)):
        rows = part != p
        np.testing.assert_array_equal(m.weight, np.bincount(y[rows], minlength=3))
        seen = m.weight > 0
        expected = class_moments(X[rows], y[rows], 3, order=2)
        np.testing.assert_allclose(raw(m)[seen], raw(expected)[seen], rtol=1e-12)
        assert np.isfinite(raw(m)).all()


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_one_vs_rest_is_the_union_of_the_others(n_classes):
    X, y = sample(n_classes=n_classes)
    pair = class_moments(X, y, n_classes, order=2).one_vs_rest()
    assert pair.sums.shape == (n_classes, 2, 7, 2)
    for k in range(n_classes):
        for side, rows in enumerate((y == k, y != k)):
            expected = np.stack([X[rows].mean(0), (X[rows] ** 2).mean(0)], axis=-1)
            found = translate(pair.mean[k, side], np.ones(1), pair.location[k, side])
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            assert pair.weight[k, side] == rows.sum()


def test_complement_does_not_cancel():
    # the class of large values would leave its rounding error behind if subtracted
    X = np.r_[np.full(50, 1e8), 1.0 + np.arange(50) % 2][:, None]
    y = np.repeat([0, 1], 50)
    pair = class_moments(X, y, 2, order=2).one_vs_rest()
    assert variance(pair)[0, 1, 0] == pytest.approx(0.25, rel=1e-15)


def test_an_empty_class_says_what_all_say():
    X, y = sample(n_classes=2)
    for m in (
        class_moments(X, y, 3, order=2),
        class_moments(X[y == 0], y[y == 0], 3, order=2).merge(
            class_moments(X[y == 1], y[y == 1], 3, order=2)
        ),
    ):
        assert m.prior[2] == 0
        np.testing.assert_allclose(raw(m)[2, :, 0], X.mean(axis=0))
        np.testing.assert_allclose(raw(m)[2, :, 1], (X**2).mean(axis=0))
        np.testing.assert_array_equal(m.sums[2], 0)
        rest = m.one_vs_rest()
        np.testing.assert_array_equal(rest.weight[:, 1], [*m.weight[1::-1], 200])
        found = translate(rest.mean[2, 0], np.ones(1), rest.location[2, 0])
        np.testing.assert_allclose(found[:, 0], X.mean(axis=0))


def test_translate_expands_the_binomial():
    x = np.array([[0.5], [2.0], [4.0]])
    powers = [np.mean((x - 1) ** j) for j in (1, 2, 3, 4)]
    moved = translate(np.array([powers]), np.ones(1), np.array([1 - 3.0]))
    expected = [np.mean((x - 3) ** j) for j in (1, 2, 3, 4)]
    np.testing.assert_allclose(moved[0], expected, rtol=1e-13)


def test_moments_of_other_shapes_do_not_add():
    with pytest.raises(ValueError, match=r"\(3, 2, 1\) cannot be added .*\(3, 7, 2\)"):
        class_moments(*sample(), 3, order=2).merge(
            class_moments(*sample(d=2), 3, order=1)
        )


def test_translate_natural_expands_any_power():
    lam = np.array([[0.5, -2.0, 3.0]])
    raw = translate_natural(lam, np.array([1.5]))[0]
    x = np.linspace(-2, 2, 5)
    about = sum(lam[0, j] * ((x - 1.5) ** (j + 1)) for j in range(3))
    ours = sum(raw[j] * x ** (j + 1) for j in range(3))
    np.testing.assert_allclose(ours - ours[2], about - about[2], rtol=0, atol=1e-12)


def test_the_prior_is_the_share_of_the_weight():
    X, y = sample()
    weight = np.random.default_rng([8, 9]).uniform(0.5, 3.0, size=len(y))
    found = class_moments(X, y, 3, order=1, sample_weight=weight).prior
    np.testing.assert_allclose(found, np.bincount(y, weight) / weight.sum())


def parts_of_unequal_weight():
    """Data of three classes, one of them in few rows, and their weights."""
    rng = np.random.default_rng([4, 10])
    y = rng.choice(3, size=90, p=[0.6, 0.3, 0.1])
    X = rng.normal(size=(90, 4)) * [1.0, 3.0, 0.2, 5.0] + np.outer(y, [1, 2, -1, 0])
    return X, y, rng.uniform(0.2, 3.0, 90)


@pytest.mark.parametrize("prior", [[0.2, 0.5, 0.3, 0.0], [0.7, 0.0, 0.3, 0.0]])
@pytest.mark.parametrize("collect", [joint_moments, class_moments])
def test_other_shares_of_the_classes_are_other_weights_of_their_rows(prior, collect):
    X, y, weight = parts_of_unequal_weight()
    order = {"order": 3} if collect is class_moments else {}
    m = collect(X, y, 4, sample_weight=weight, **order)
    found = m.reweighted(np.array(prior))
    factor = np.array(prior[:3]) * weight.sum() / np.bincount(y, weight)
    expected = collect(X, y, 4, sample_weight=weight * factor[y], **order)
    assert type(found) is type(m)
    np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-12)
    assert found.weight.sum() == pytest.approx(m.weight.sum())
    np.testing.assert_allclose(found.sums, expected.sums, rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(found.location, m.location)


@pytest.mark.parametrize("features", [[2, 0], [False, True, False, True], slice(1, 3)])
def test_moments_of_some_features_are_those_of_their_columns(features):
    X, y, weight = parts_of_unequal_weight()
    m = class_moments(X, y, 3, order=2, sample_weight=weight)
    expected = class_moments(X[:, features], y, 3, order=2, sample_weight=weight)
    for whole, some in ((m, expected), (m.one_vs_rest(), expected.one_vs_rest())):
        found = whole.select(features)
        np.testing.assert_allclose(found.sums, some.sums, rtol=0, atol=1e-11)
        np.testing.assert_array_equal(found.location, some.location)
        np.testing.assert_array_equal(found.weight, some.weight)


@pytest.mark.parametrize("n_parts", [1, 2, 3, 6])
def test_parts_are_views_of_successive_classes(n_parts):
    X, y = sample(n_classes=6)
    m = class_moments(X, y, 6, order=2)
    parts, size = m.split(n_parts), 6 // n_parts
    assert len(parts) == n_parts
    for p, part in enumerate(parts):
        for name in ("weight", "sums", "location"):
            found, whole = getattr(part, name), getattr(m, name)
            np.testing.assert_array_equal(found, whole[p * size : (p + 1) * size])
            assert np.shares_memory(found, whole)


def test_a_sum_lies_about_the_locations_of_the_first_where_it_has_rows():
    X, y, _ = parts_of_unequal_weight()
    for collect in (joint_moments, lambda *a: class_moments(*a, order=2)):
        first, second = collect(X[y < 2], y[y < 2], 3), collect(X[::-1], y[::-1], 3)
        found = first.merge(second)
        assert type(found) is type(first)
        np.testing.assert_array_equal(found.location[:2], first.location[:2])
        np.testing.assert_array_equal(found.location[2], second.location[2])
        np.testing.assert_array_equal(found.weight, first.weight + second.weight)


def test_shares_of_pairs_add_up_pair_by_pair():
    X, y, weight = parts_of_unequal_weight()
    found = class_moments(X, y, 3, order=1, sample_weight=weight).one_vs_rest().prior
    own = np.bincount(y, weight) / weight.sum()
    np.testing.assert_allclose(found, np.column_stack([own, 1 - own]), rtol=1e-12)


def test_powers_of_many_columns_move_to_other_points():
    """Columns with a shift and without, of several weights, up to the sixth power."""
    rng = np.random.default_rng([4, 11])
    x, w = rng.uniform(-2, 2, (2, 9, 3)), rng.uniform(0.5, 3, (2, 9))
    to = np.array([[0.5, 0.0, -1.5], [2.0, 0.25, 0.0]])

    def sums(about):
        centred = (x - about[:, None])[..., None] ** np.arange(1, 7)
        return np.einsum("ki,kisj->ksj", w, centred)

    old = sums(np.zeros((2, 3)))
    before = old.copy()
    found = translate(old, w.sum(axis=1)[:, None], -to)
    np.testing.assert_allclose(found, sums(to), rtol=0, atol=1e-10)
    back = translate(found, w.sum(axis=1)[:, None], to)
    np.testing.assert_allclose(back, before, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(old, before)


def test_natural_parameters_of_many_columns_move_to_other_points():
    """Also whole numbers, and one location for all; the constant is left out."""
    rng = np.random.default_rng([4, 12])
    lam = rng.integers(1, 4, size=(2, 3, 5)) * rng.choice([-1, 1], size=(2, 3, 5))
    for location in (np.array([1, 0, -2]), rng.normal(size=(2, 3)), 2, 0.0):
        found = translate_natural(lam, location)
        assert found.dtype == np.float64
        assert found.shape == lam.shape
        at = np.broadcast_to(location, (2, 3))
        for k in range(2):
            for s in range(3):
                about = np.polynomial.Polynomial([0.0, *lam[k, s]])
                moved = about(np.polynomial.Polynomial([-float(at[k, s]), 1.0]))
                np.testing.assert_allclose(
                    found[k, s], moved.coef[1:], rtol=1e-12, atol=1e-10
                )
