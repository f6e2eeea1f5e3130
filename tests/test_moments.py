from functools import reduce

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from memdlib import moments
from memdlib.moments import ClassMoments, class_moments, translate


def sample(n=200, d=7, n_classes=3, seed=0):
    rng = np.random.default_rng([4, seed])
    return rng.normal(3, 2, size=(n, d)), rng.integers(n_classes, size=n)


def direct(X, y, weight, n_classes, order):
    """Raw power means, class by class."""
    return np.array(
        [
            np.stack(
                [
                    np.average(X[y == k] ** j, axis=0, weights=weight[y == k])
                    for j in range(1, order + 1)
                ],
                axis=-1,
            )
            for k in range(n_classes)
        ]
    )


def raw(m: ClassMoments):
    return translate(m.mean, np.ones(1), m.location)


@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, np.float32])
def test_variance_against_fifty_digits(ratio, kind):
    mp.mp.dps = 50
    rng = np.random.default_rng([4, 1])
    X = ratio + rng.standard_normal((400, 2))
    X = X.astype(np.float32) if kind is np.float32 else X
    y = np.arange(400) % 2
    data = X if kind is np.float32 else kind(X)
    m = class_moments(data, y, 2, order=2).mean
    for k in range(2):
        for s in range(2):
            x = [mp.mpf(float(v)) for v in X[y == k, s]]
            centre = mp.fsum(x) / len(x)
            exact = mp.fsum((v - centre) ** 2 for v in x) / len(x)
            found = m[k, s, 1] - m[k, s, 0] ** 2
            assert found == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        np.asfortranarray,
        sparse.csr_array,
        sparse.csc_array,
        sparse.csr_matrix,
        sparse.csc_matrix,
    ],
)
def test_every_container_gives_the_class_means(make, order):
    X, y = sample()
    X[X < 2] = 0
    weight = np.random.default_rng([4, 2]).uniform(0.5, 2, len(y))
    m = class_moments(make(X), y, 3, order=order, sample_weight=weight)
    np.testing.assert_allclose(raw(m), direct(X, y, weight, 3, order), rtol=1e-10)
    np.testing.assert_allclose(m.prior, np.bincount(y, weight) / weight.sum())


def test_memory_map_and_blocks(tmp_path, monkeypatch):
    X, y = sample()
    whole = class_moments(X, y, 3, order=2)
    path = tmp_path / "X.npy"
    np.save(path, X)
    monkeypatch.setattr(moments, "_BLOCK", 50)
    mapped = class_moments(np.load(path, mmap_mode="r"), y, 3, order=2)
    np.testing.assert_allclose(raw(mapped), raw(whole), rtol=1e-12)


def test_weight_two_is_the_row_twice():
    X, y = sample(60)
    twice = np.arange(60) % 4 == 0
    a = class_moments(X, y, 3, order=2, sample_weight=1.0 + twice, location=X[0])
    b = class_moments(
        np.vstack([X, X[twice]]), np.r_[y, y[twice]], 3, order=2, location=X[0]
    )
    np.testing.assert_allclose(a.sums, b.sums, rtol=1e-12)
    np.testing.assert_array_equal(a.weight, b.weight)


@given(st.lists(st.integers(1, 199), min_size=1, max_size=5, unique=True))
def test_batches_add_up_wherever_they_are_cut(cuts):
    X, y = sample()
    batches = np.split(np.arange(200), sorted(cuts))
    parts = [class_moments(X[b], y[b], 3, order=3) for b in batches]
    merged, whole = reduce(ClassMoments.merge, parts), class_moments(X, y, 3, order=3)
    np.testing.assert_allclose(raw(merged), raw(whole), rtol=1e-12)
    backwards = reduce(ClassMoments.merge, parts[::-1])
    np.testing.assert_allclose(raw(backwards), raw(whole), rtol=1e-12)


def test_one_vs_rest_is_the_union_of_the_others():
    X, y = sample()
    pair = class_moments(X, y, 3, order=2).one_vs_rest()
    assert pair.sums.shape == (3, 2, 7, 2)
    for k in range(3):
        for side, rows in enumerate((y == k, y != k)):
            expected = np.stack([X[rows].mean(0), (X[rows] ** 2).mean(0)], axis=-1)
            found = translate(pair.mean[k, side], np.ones(1), pair.location)
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            assert pair.weight[k, side] == rows.sum()


def test_complement_does_not_cancel():
    # the class of large values would leave its rounding error behind if subtracted
    X = np.r_[np.full(50, 1e8), 1.0 + np.arange(50) % 2][:, None]
    y = np.repeat([0, 1], 50)
    pair = class_moments(X, y, 2, order=2, location=[1.5]).one_vs_rest()
    rest = pair.mean[0, 1, 0]
    assert rest[1] - rest[0] ** 2 == pytest.approx(0.25, rel=1e-15)


def test_an_empty_class_says_what_all_say():
    X, y = sample(n_classes=2)
    m = class_moments(X, y, 3, order=2)
    assert m.prior[2] == 0
    np.testing.assert_allclose(raw(m)[2, :, 0], X.mean(axis=0))


def test_translate_expands_the_binomial():
    x = np.array([[0.5], [2.0], [4.0]])
    powers = [np.mean((x - 1) ** j) for j in (1, 2, 3, 4)]
    moved = translate(np.array([powers]), np.ones(1), np.array([1 - 3.0]))
    expected = [np.mean((x - 3) ** j) for j in (1, 2, 3, 4)]
    np.testing.assert_allclose(moved[0], expected, rtol=1e-13)


def test_errors_name_the_place():
    X, y = sample(10)
    X[3, 5] = 1e200
    with pytest.raises(ValueError, match=r"feature 5 overflow; rescale"):
        class_moments(X, y, 3, order=2)
    with pytest.raises(ValueError, match=r"\(3, 2, 1\) cannot be added .*\(3, 7, 2\)"):
        class_moments(*sample(), 3, order=2).merge(
            class_moments(*sample(d=2), 3, order=1)
        )
