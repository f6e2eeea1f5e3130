import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from memdlib.families.shrinkage import correlation_intensity
from memdlib.generative.correlated import pooled
from memdlib.generative.pooled import (
    PooledMoments,
    WhitenedMeans,
    beyond_rounding,
    inverse_root,
    standardised_residuals,
)


def sample(seed, n=12, d=7, n_classes=3):
    """Rows of correlated features, each class with a row at least, and weights."""
    rng = np.random.default_rng([41, seed])
    codes = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + codes[:, None]
    return X, codes, rng.integers(1, 4, size=n).astype(float)


def literal(X, codes, weight):
    """Means and within-class covariance, written out row by row."""
    classes = np.unique(codes)
    means = np.array(
        [np.average(X[codes == k], axis=0, weights=weight[codes == k]) for k in classes]
    )
    S = sum(
        w * np.outer(x - means[k], x - means[k])
        for x, k, w in zip(X, codes, weight, strict=True)
    )
    return means, S / weight.sum()


def both_sides(Z, freedom, shrinkage):
    """Inverse roots from the products of rows, and from those of features."""
    varies = Z.any(axis=0)
    return (
        inverse_root(Z @ Z.T, varies, freedom, shrinkage, lambda A, C: A @ Z.T @ C @ Z),
        inverse_root(Z.T @ Z, varies, freedom, shrinkage),
    )


def root_by_hand(S, shrinkage):
    s = np.sqrt(np.diag(S))
    R = (1 - shrinkage) * S / np.outer(s, s) + shrinkage * np.eye(len(S))
    return linalg.inv(linalg.sqrtm(R)).real


@given(st.integers(0, 10**6), st.integers(4, 20), st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_moments_are_those_of_a_loop(seed, n, d):
    X, codes, weight = sample(seed, n, d)
    moments = PooledMoments.of(X, codes, 3, weight)
    means, S = literal(X, codes, weight)
    np.testing.assert_allclose(moments.means, means, rtol=0, atol=1e-12)
    np.testing.assert_allclose(moments.variance, np.diag(S), rtol=1e-10)
    R = S / np.sqrt(np.outer(np.diag(S), np.diag(S)))
    Z = standardised_residuals(X, codes, 3, weight)[1]
    np.testing.assert_allclose(Z.T @ Z, R, rtol=0, atol=1e-10)
    A, C = np.ones((2, d)), np.diag(np.arange(n))
    if n < d:
        np.testing.assert_allclose(moments.gram, Z @ Z.T, rtol=0, atol=1e-10)
        found = moments.apply(A, C)
        np.testing.assert_allclose(found, A @ Z.T @ C @ Z, rtol=0, atol=1e-9)
    else:
        np.testing.assert_allclose(moments.gram, R, rtol=0, atol=1e-10)
        assert moments.apply is None
    assert moments.degrees_of_freedom == weight.sum() - 3


@pytest.mark.parametrize("shrinkage", ["auto", 0.001, 0.3, 1.0])
@pytest.mark.parametrize(("n", "d"), [(6, 30), (30, 6), (9, 9), (40, 39), (4, 1)])
def test_both_sides_are_the_inverse_square_root(n, d, shrinkage):
    for seed in range(5):
        X, codes, weight = sample(seed, n, d)
        Z = standardised_residuals(X, codes, 3, weight)[1]
        rows, features = both_sides(Z, weight.sum() - 3, shrinkage)
        R = Z.T @ Z
        if shrinkage == "auto":
            squares = sum(R[s, t] ** 2 for s in range(d) for t in range(d) if s != t)
            expected = correlation_intensity(squares, d, weight.sum() - 3)
            assert rows.shrinkage == pytest.approx(expected, rel=1e-10)
        assert rows.shrinkage == pytest.approx(features.shrinkage, rel=1e-12)
        expected = root_by_hand(literal(X, codes, weight)[1], rows.shrinkage)
        np.testing.assert_allclose(rows(np.eye(d)), expected, rtol=0, atol=1e-10)
        np.testing.assert_allclose(features(np.eye(d)), expected, rtol=0, atol=1e-10)


def test_a_feature_without_variance_keeps_to_itself():
    X, codes, weight = sample(1, 9, 12)
    X[:, 4] = codes
    X[:, 7] = 3.0
    moments = PooledMoments.of(X, codes, 3, weight)
    assert moments.variance[[4, 7]].tolist() == [0, 0]
    assert moments.between[4] > 0 == moments.between[7]
    for root in both_sides(standardised_residuals(X, codes, 3, weight)[1], 5.0, 0.4):
        W = root(np.eye(12))
        np.testing.assert_allclose(W[[4, 7]], np.eye(12)[[4, 7]], rtol=0, atol=1e-13)
        np.testing.assert_allclose(
            W[:, [4, 7]], np.eye(12)[:, [4, 7]], rtol=0, atol=1e-13
        )
    deviations, _ = moments.standard_deviations(0.5)
    assert deviations[7] == 1.0
    assert deviations[4] == np.sqrt(moments.between[4])


def test_correlations_that_are_singular_are_an_error():
    X, codes, weight = sample(2, 20, 5)
    X[:, 3] = X[:, 1] - X[:, 2]
    Z = standardised_residuals(X, codes, 3, weight)[1]
    varies = np.ones(5, dtype=bool)
    message = 'smallest eigenvalue of the correlations is .*; use shrinkage > 0 or "au'
    with pytest.raises(ValueError, match=message):
        inverse_root(Z.T @ Z, varies, 17.0, 0.0)
    with pytest.raises(ValueError, match=message):
        inverse_root(Z @ Z.T, varies, 17.0, 0.0, lambda A, core: A @ Z.T @ core @ Z)
    both_sides(Z, 17.0, 1e-3)


@pytest.mark.parametrize("power", [-300, -40, 40, 300])
def test_units_change_nothing_but_units(power):
    X, codes, weight = sample(3)
    scale = np.ldexp(1.0, [power, 0, 0, 2, -power, 0, 0])
    plain = PooledMoments.of(X, codes, 3, weight)
    scaled = PooledMoments.of(X * scale, codes, 3, weight)
    np.testing.assert_array_equal(scaled.gram, plain.gram)
    np.testing.assert_array_equal(scaled.means, plain.means * scale)
    for shrinkage in (0.0, 0.5, "auto"):
        deviations, used = scaled.standard_deviations(shrinkage)
        assert 0 <= used <= 1
        assert not np.isnan(deviations).any()
        assert (deviations > 0).all()


def test_the_largest_and_smallest_numbers():
    top, tiny = 1e100, 1e-100
    X = np.array([[top, tiny], [-top, 0], [top / 2, 0], [0, tiny]])
    moments = PooledMoments.of(X, np.array([0, 0, 1, 1]), 2, np.ones(4))
    assert np.isfinite(moments.means).all()
    assert np.isfinite(moments.gram).all()
    assert (moments.variance > 0).all()


def test_variances_move_towards_their_median():
    X, codes, weight = sample(4, 30, 9)
    v = np.diag(literal(X, codes, weight)[1])
    moments = PooledMoments.of(X, codes, 3, weight)
    for asked in (0.25, 1.0, "auto"):
        deviations, used = moments.standard_deviations(asked)
        if asked == "auto":
            noise = sum(2 * x * x / (weight.sum() - 3 + 2) for x in v)
            asked = min(1, noise / sum((x - np.median(v)) ** 2 for x in v))
        assert used == pytest.approx(asked)
        expected = (1 - asked) * v + asked * np.median(v)
        np.testing.assert_allclose(deviations**2, expected)
    assert moments.standard_deviations(0.0)[1] == 0.0


def test_constant_features_have_no_part_in_the_median():
    X, codes, weight = sample(4, 30, 9)
    constant = np.column_stack([X, np.ones((30, 12))])
    one, two = (PooledMoments.of(v, codes, 3, weight) for v in (X, constant))
    for asked in (0.25, "auto"):
        (deviations, used), (others, same) = (
            moments.standard_deviations(asked) for moments in (one, two)
        )
        assert used == pytest.approx(same, rel=1e-12)
        np.testing.assert_allclose(others[:9], deviations, rtol=1e-12)


@pytest.mark.parametrize("offset", [1e6, 1.7e9, 1e12])
def test_far_from_zero_a_feature_keeps_what_its_digits_hold(offset):
    X, codes, weight = sample(2, n=60, d=3)
    far = X + offset
    near = PooledMoments.of(far - offset, codes, 3, weight)
    moments = PooledMoments.of(far, codes, 3, weight)
    # the means of the classes are known to an ulp of the offset
    ulp = np.spacing(offset)
    for name in ("variance", "between"):
        expected = getattr(near, name)
        found = getattr(moments, name)
        slack = 8 * ulp * np.sqrt(expected) + 16 * ulp**2
        assert (np.abs(found - expected) <= slack + 1e-12 * expected).all()
    Z = standardised_residuals(far, codes, 3, weight)[1]
    near_zero = standardised_residuals(far - offset, codes, 3, weight)[1]
    np.testing.assert_allclose(Z, near_zero, rtol=0, atol=8 * ulp)


@pytest.mark.parametrize("value", [0.3, -1e9, 1e-90, 2e90])
def test_a_constant_that_rounding_has_touched_has_no_variance(value):
    steps = np.array([0, 1, -1, 2, 0, -2, 1, 0])
    X = (value + steps * np.spacing(value))[:, None]
    moments = PooledMoments.of(X, np.arange(8) % 2, 2, np.ones(8))
    assert moments.variance == 0 and moments.between == 0
    assert not moments.gram.any()


def test_what_rounding_may_explain():
    share, means = np.array([0.25, 0.75]), np.array([[1.0, 1.0], [1.0, 1.0 + 1e-15]])
    centres = np.array([[0.0, 1e3], [0.0, 1e3]])
    within, between = beyond_rounding(share, means, centres, np.array([1e-20, 1e-8]))
    # sums about a point a thousand away lose six digits of a variance
    assert within.tolist() == [1e-20, 0.0]
    assert between.tolist() == [0.0, 0.0]


def case(n=90, d=4, seed=0):
    rng = np.random.default_rng([51, seed])
    codes = np.arange(n) % 3
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2 * codes[:, None]
    return X, codes, rng.integers(1, 4, size=n).astype(float)


def found(X, codes, weight, **options):
    return WhitenedMeans.of(PooledMoments.of(X, codes, 3, weight), **options)


def test_coordinates_are_uncorrelated_within_the_classes():
    X, codes, weight = case()
    means = found(X, codes, weight, shrinkage=0.0)
    z = means.whiten(X - means.centre)
    residuals = z - means.means[codes]
    covariance = (residuals * weight[:, None]).T @ residuals / weight.sum()
    np.testing.assert_allclose(covariance, np.eye(4), rtol=0, atol=1e-10)
    np.testing.assert_allclose(means.prior @ means.means, 0.0, rtol=0, atol=1e-10)


def test_divergences_add_up_to_those_of_pairs_of_normal_classes():
    X, codes, weight = case(seed=1)
    means = found(X, codes, weight, shrinkage=0.0)
    prior = np.bincount(codes, weight) / weight.sum()
    centre = np.stack(
        [np.average(X[codes == k], 0, weight[codes == k]) for k in range(3)]
    )
    residuals = X - centre[codes]
    within = (residuals * weight[:, None]).T @ residuals / weight.sum()
    precision = linalg.inv(within)
    pairs = [(k, j) for k in range(3) for j in range(k)]
    total = sum(
        prior[k]
        * prior[j]
        * (centre[k] - centre[j])
        @ precision
        @ (centre[k] - centre[j])
        for k, j in pairs
    )
    assert means.divergences.sum() == pytest.approx(total, rel=1e-9)


def test_scores_are_those_of_the_normal_densities():
    X, codes, weight = case(seed=2)
    means = found(X, codes, weight, shrinkage=0.3)
    order, grid = np.array([2, 0, 3, 1]), np.array([1, 4])
    scores = means.scores(X[:5], order, grid)
    z = means.whiten(X[:5] - means.centre)
    for g, size in enumerate(grid):
        used = order[:size]
        gap = z[:, None, used] - means.means[:, used]
        log_density = np.log(means.prior) - 0.5 * (gap**2).sum(axis=2)
        shift = scores[g] - log_density
        np.testing.assert_allclose(shift - shift[:, :1], 0.0, rtol=0, atol=1e-10)


def test_shrunken_correlations_by_a_matrix_root():
    X, codes, weight = case(seed=3)
    means = found(X, codes, weight, shrinkage=0.4)
    plain = found(X, codes, weight, shrinkage=0.0)
    residuals = (X - plain.centre) / plain.deviations
    residuals = (
        residuals
        - np.stack(
            [np.average(residuals[codes == k], 0, weight[codes == k]) for k in range(3)]
        )[codes]
    )
    R = (residuals * weight[:, None]).T @ residuals / weight.sum()
    half = linalg.inv(linalg.sqrtm(0.4 * np.eye(4) + 0.6 * R).real)
    rows = (X - plain.centre) / plain.deviations
    np.testing.assert_allclose(
        means.whiten(X - means.centre), rows @ half, rtol=0, atol=1e-9
    )


def test_a_class_without_rows_has_the_average_mean():
    X, codes, weight = case(seed=4)
    here = codes != 1
    means = found(X[here], codes[here], weight[here])
    np.testing.assert_array_equal(means.means[1], 0.0)
    np.testing.assert_array_equal(means.root(np.zeros((1, 4))), 0.0)


def test_the_best_coordinates_are_right_about_as_much_weight_as_a_loop_says(
    monkeypatch,
):
    monkeypatch.setattr(pooled, "_SCORES", 40)  # a few rows at a time
    X, codes, weight = case(seed=5)
    means, grid = found(X, codes, weight), np.array([1, 3])
    order = np.argsort(-means.divergences)
    expected = [
        sum(
            w
            for x, k, w in zip(X, codes, weight, strict=True)
            if means.scores(x[None], order[:size], np.array([size])).argmax() == k
        )
        for size in grid
    ]
    correct = means.correct_weight(X, codes, weight, grid)
    np.testing.assert_allclose(correct, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_moments_of_other_types_are_those_of_doubles(kind):
    X, codes, weight = sample(6, 20, 5)
    X = (1000 * X).astype(kind)
    one = PooledMoments.of(X, codes, 3, weight)
    two = PooledMoments.of(X.astype(float), codes, 3, weight)
    for name in ("means", "variance", "between", "gram"):
        assert getattr(one, name).dtype == np.float64
        np.testing.assert_allclose(
            getattr(one, name), getattr(two, name), rtol=1e-12, atol=1e-12
        )


@pytest.mark.parametrize(("n", "d"), [(25, 4), (9, 14), (6, 1)])
def test_the_class_means_vary_as_by_definition(n, d):
    X, codes, weight = sample(7, n, d)
    weight[codes == 1] *= 9.0
    X[codes == 2] += 5.0
    moments = PooledMoments.of(X, codes, 3, weight)
    means, _ = literal(X, codes, weight)
    expected = np.cov(means.T, aweights=np.bincount(codes, weight), ddof=0)
    np.testing.assert_allclose(
        moments.between, np.diag(np.atleast_2d(expected)), rtol=1e-10
    )
    np.testing.assert_allclose(moments.weight, np.bincount(codes, weight))


@pytest.mark.parametrize("factor", [2.0**-60, 0.01, 2.0**40])
@pytest.mark.parametrize(("n", "d"), [(20, 5), (8, 11)])
def test_a_factor_of_all_weights_changes_nothing_but_the_freedom(factor, n, d):
    X, codes, weight = sample(8, n, d)
    one, two = (PooledMoments.of(X, codes, 3, c * weight) for c in (1.0, factor))
    np.testing.assert_allclose(two.weight, factor * one.weight)
    for name in ("means", "variance", "between", "gram"):
        np.testing.assert_allclose(
            getattr(two, name), getattr(one, name), rtol=1e-9, atol=1e-12
        )
    options = {"shrinkage": 0.3, "variance_shrinkage": 0.2}
    first, second = (WhitenedMeans.of(moments, **options) for moments in (one, two))
    np.testing.assert_allclose(second.means, first.means, rtol=0, atol=1e-9)
    np.testing.assert_allclose(second.prior, first.prior)
    freedom = factor * weight.sum() - 3
    assert two.degrees_of_freedom == pytest.approx(freedom, rel=1e-12)


def test_classes_without_rows_take_no_freedom():
    X, codes, weight = sample(9, 14, 3)
    moments = PooledMoments.of(X, 2 * codes, 6, weight)
    assert moments.degrees_of_freedom == weight.sum() - 3
    assert moments.weight[[1, 3, 5]].tolist() == [0, 0, 0]
    assert not moments.means[[1, 3, 5]].any()
    plain = PooledMoments.of(X, codes, 3, weight)
    for name in ("variance", "between", "gram"):
        np.testing.assert_allclose(
            getattr(moments, name), getattr(plain, name), rtol=1e-12, atol=1e-14
        )
    prior = np.array([0.5, 0.0, 0.2, 0.1, 0.2, 0.0])
    white = WhitenedMeans.of(moments, prior, 0.2)
    own = (moments.means - prior @ moments.means) / white.deviations
    np.testing.assert_allclose(
        white.means[::2], white.root(own[::2]), rtol=0, atol=1e-12
    )
    assert not white.means[1::2].any()


@pytest.mark.parametrize(("n", "d"), [(30, 4), (12, 4), (9, 14)])
def test_roots_of_the_classes_are_those_of_their_residuals(n, d):
    X, codes, weight = sample(10, n, d)
    codes[:3] = 0, 1, 2
    moments = PooledMoments.of(X, codes, 4, weight)
    Z = standardised_residuals(X, codes, 4, weight)[1]
    grams = [Z[codes == k].T @ Z[codes == k] for k in range(4)]
    assert len(moments.class_roots) == 4
    for root, gram in zip(moments.class_roots, grams, strict=True):
        assert len(root) <= d
        np.testing.assert_allclose(root.T @ root, gram, rtol=0, atol=1e-12)


@pytest.mark.parametrize("asked", [0.25, 1.0, "auto"])
def test_variances_in_unlike_units_move_towards_their_median(asked):
    X, codes, weight = sample(11, 40, 6)
    X *= [1.0, -30.0, 2e-2, 5.0, 1e3, 0.3]
    X = np.column_stack([np.full(40, 1e9), X])
    v = np.diag(literal(X[:, 1:], codes, weight)[1])
    moments = PooledMoments.of(X, codes, 3, weight)
    deviations, used = moments.standard_deviations(asked)
    share = asked
    if asked == "auto":
        noise = sum(2 * x * x / (weight.sum() - 3 + 2) for x in v)
        share = min(1, noise / sum((x - np.median(v)) ** 2 for x in v))
    assert used == pytest.approx(share)
    expected = (1 - share) * v + share * np.median(v)
    np.testing.assert_allclose(deviations[1:] ** 2, expected)


@pytest.mark.parametrize("asked", [0.0, 0.4, 1.0, "auto"])
def test_where_nothing_varies_no_variance_moves(asked):
    codes = np.arange(12) % 3
    X = np.array([[0.0, 5.0], [3.0, 5.0], [8.0, 5.0]])[codes]
    moments = PooledMoments.of(X, codes, 3, np.ones(12))
    deviations, used = moments.standard_deviations(asked)
    assert (used, deviations[1]) == (0.0, 1.0)
    assert deviations[0] == pytest.approx(np.std([0, 3, 8]))


@pytest.mark.parametrize("n", [40, 5])
def test_constants_have_no_part_in_the_shrinkage_of_correlations(n):
    X, codes, weight = sample(12, n, 6)
    wide = np.column_stack([np.ones((n, 9)), X, codes])
    one, two = (PooledMoments.of(v, codes, 3, weight) for v in (X, wide))
    roots = [WhitenedMeans.of(moments).root for moments in (one, two)]
    assert roots[1].shrinkage == pytest.approx(roots[0].shrinkage, rel=1e-10)
    assert 0 < roots[0].shrinkage <= 1
    np.testing.assert_allclose(
        roots[1](np.eye(16))[9:15, 9:15], roots[0](np.eye(6)), rtol=0, atol=1e-10
    )


def test_correlations_that_are_rounding_are_none():
    X = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * 0.1
    X, codes = np.concatenate([X, X + 0.3]), np.repeat([0, 1], 4)
    for kind in (X, X + 1.0):
        moments = PooledMoments.of(kind, codes, 2, np.ones(8))
        root = WhitenedMeans.of(moments).root
        assert root.shrinkage == correlation_intensity(0.0, 3, 6.0)


@pytest.mark.parametrize("prior", [None, [0.7, 0.2, 0.1], [0.4, 0.0, 0.6]])
@pytest.mark.parametrize("variance_shrinkage", [0.0, 0.3, "auto"])
@pytest.mark.parametrize(("n", "d"), [(90, 4), (8, 12)])
def test_scores_by_the_covariance_written_down(prior, variance_shrinkage, n, d):
    X, codes, weight = case(n, d, seed=6)
    weight[codes == 0] *= 5.0
    means, S = literal(X, codes, weight)
    given = None if prior is None else np.array(prior)
    white = found(
        X,
        codes,
        weight,
        prior=given,
        shrinkage=0.3,
        variance_shrinkage=variance_shrinkage,
    )
    share = np.bincount(codes, weight) / weight.sum() if prior is None else given
    np.testing.assert_allclose(white.prior, share)
    v, moved = np.diag(S), white.variance_shrinkage
    R = 0.3 * np.eye(d) + 0.7 * S / np.sqrt(np.outer(v, v))
    v = (1 - moved) * v + moved * np.median(v)
    precision = linalg.inv(R * np.sqrt(np.outer(v, v)))
    gaps = means - share @ means
    expected = share @ np.einsum("ks,st,kt->k", gaps, precision, gaps)
    assert white.divergences.sum() == pytest.approx(expected, rel=1e-8)
    np.testing.assert_allclose(share @ white.means, 0.0, rtol=0, atol=1e-9)
    new = X[:6] + 0.3
    (scores,) = white.scores(new, np.arange(d), np.array([d]))
    for k in np.flatnonzero(share):
        square = np.einsum("is,st,it->i", new - means[k], precision, new - means[k])
        scores[:, k] -= np.log(share[k]) - 0.5 * square
    if prior is not None and not prior[1]:
        assert (scores[:, 1] == -np.inf).all()
        scores = scores[:, [0, 2]]
    np.testing.assert_allclose(scores - scores[:, :1], 0.0, rtol=0, atol=1e-7)
