import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from sklearn.linear_model import LogisticRegression

from memdlib.generative.multipliers import fit_multipliers
from memdlib.generative.tempered import fit_temperature


def case(seed, n=40, n_classes=3, n_scores=2):
    rng = np.random.default_rng([43, seed])
    codes = rng.integers(n_classes, size=n)
    scores = rng.normal(size=(n_scores, n, n_classes))
    scores[:, np.arange(n), codes] += rng.uniform(-0.5, 2, size=(n_scores, 1))
    return list(scores), codes, rng.integers(1, 4, size=n).astype(float)


def loss_by_hand(scores, codes, weight, beta, smoothing):
    """Log-loss row by row, each row once more with its class unknown."""
    total = 0.0
    share = smoothing / weight.sum()
    for i, (own, w) in enumerate(zip(codes, weight, strict=True)):
        exponents = sum(b * s[i] for b, s in zip(beta, scores, strict=True))
        losses = np.logaddexp.reduce(exponents) - exponents
        total += w * (losses[own] + share * losses.mean()) / (1 + share)
    return total / weight.sum()


@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([0.3, 1.0, 5.0]))
@settings(max_examples=30, deadline=None)
def test_no_other_multipliers_have_less_loss(seed, n_scores, smoothing):
    scores, codes, weight = case(seed, n_scores=n_scores)
    found = fit_multipliers(scores, codes, weight, smoothing=smoothing)

    def loss(beta):
        return loss_by_hand(scores, codes, weight, beta, smoothing)

    bounds = [(0.0, None)] * n_scores
    start = np.ones(n_scores)
    other = optimize.minimize(loss, start, bounds=bounds, method="L-BFGS-B", tol=1e-14)
    assert found.log_loss == pytest.approx(loss(found.values), abs=1e-9)
    assert (found.values >= 0).all()
    assert found.log_loss <= other.fun + 1e-5
    assert other.fun >= found.log_loss - found.gap - 1e-5


@given(st.integers(0, 10**6), st.floats(1e-3, 1e3))
@settings(max_examples=30, deadline=None)
def test_one_score_has_an_inverse_temperature(seed, size):
    (scores,), codes, weight = case(seed, n_scores=1)
    found = fit_multipliers([size * scores], codes, weight)
    other = fit_temperature(size * scores, codes, weight)
    assert found.values[0] * other.temperature == pytest.approx(1.0, abs=1e-4)
    assert found.log_loss == pytest.approx(other.log_loss, abs=1e-6)


def test_two_classes_are_logistic_regression_on_the_differences():
    scores, codes, weight = case(1, n=300, n_classes=2)
    found = fit_multipliers(scores, codes, weight, smoothing=0.0)
    X = np.stack([s[:, 1] - s[:, 0] for s in scores], axis=1)
    theirs = LogisticRegression(
        C=np.inf, fit_intercept=False, tol=1e-10, solver="newton-cholesky"
    ).fit(X, codes, weight)
    np.testing.assert_allclose(found.values, theirs.coef_[0], rtol=1e-6)


def test_the_moment_constraints_hold():
    scores, codes, weight = case(3, n=200)
    found = fit_multipliers(scores, codes, weight, smoothing=0.0)
    assert (found.values > 0).all()
    p = np.exp(sum(b * s for b, s in zip(found.values, scores, strict=True)))
    p /= p.sum(axis=1, keepdims=True)
    for score in scores:
        expected = weight @ (p * score).sum(axis=1)
        observed = weight @ score[np.arange(200), codes]
        assert expected == pytest.approx(observed, rel=1e-6)


def test_a_score_is_not_turned_around():
    (good, bad), codes, weight = case(5, n=300)
    found = fit_multipliers([good, -bad - good], codes, weight)
    alone = fit_multipliers([good], codes, weight)
    assert found.values.tolist() == [alone.values[0], 0.0]
    p = np.exp(found.values[0] * good)
    p /= p.sum(axis=1, keepdims=True)
    at_least = weight @ (p * (-bad - good)).sum(axis=1)
    assert at_least > weight @ (-bad - good)[np.arange(300), codes]


def test_rows_and_columns_in_any_order_shifts_and_scales():
    scores, codes, weight = case(4)
    found = fit_multipliers(scores, codes, weight)
    order, names = np.arange(40)[::-1], np.array([2, 0, 1])
    moved = [
        (size * (s + 10 * np.arange(40)[:, None]))[order][:, names]
        for size, s in zip((1e-200, 1e200), scores, strict=True)
    ]
    other = fit_multipliers(moved, np.argsort(names)[codes[order]], weight[order])
    rescaled = other.values * [1e-200, 1e200]
    np.testing.assert_allclose(rescaled, found.values, rtol=1e-6)
    twice = fit_multipliers(scores, codes, 2 * weight, smoothing=2.0)
    np.testing.assert_allclose(twice.values, found.values, rtol=1e-9)


def test_equal_scores_share():
    (score,), codes, weight = case(6, n_scores=1)
    one = fit_multipliers([score], codes, weight)
    three = fit_multipliers([score, score, 5 * score], codes, weight)
    np.testing.assert_allclose(three.values @ [1, 1, 5], one.values[0], rtol=1e-6)
    assert three.log_loss == pytest.approx(one.log_loss, abs=1e-9)


def test_scores_that_say_nothing():
    codes = np.arange(30) % 3
    right, flat = np.eye(3)[codes], np.ones((30, 3))
    found = fit_multipliers([flat, right], codes)
    assert found.values[0] == 0.0
    p = np.exp(found.values[1])
    assert p / (p + 2) == pytest.approx((30 + 1 / 3) / 31, rel=1e-6)
    assert fit_multipliers([flat, flat], codes).values.tolist() == [1.0, 0.0]
    wrong = fit_multipliers([flat, -3 * right, -right], codes)
    np.testing.assert_allclose(wrong.values, [0.0, 1e-6 / 3, 0.0])
    assert wrong.log_loss == pytest.approx(np.log(3), rel=1e-6)


def test_scores_that_are_right_throughout():
    right = np.eye(3)[np.arange(30) % 3]
    found = fit_multipliers([right, 2 * right], np.arange(30) % 3)
    assert found.gap <= 1e-10
    sure = fit_multipliers([right], np.arange(30) % 3, smoothing=0.0)
    assert sure.log_loss < 1e-6


@pytest.mark.parametrize(
    ("scores", "codes", "message"),
    [
        ([], [0], "give one or more"),
        ([[[1.0, 0.0]], [[1.0, 0.0, 0.0]]], [0], "give one or more"),
        ([[[1.0, -np.inf]]], [0], r"scores\[0\]\[0, 1\] = -inf"),
        ([[[1.0, 0.0]], [[1.0, np.nan]]], [0], r"scores\[0, 1\] = nan"),
        ([[[1.0, 0.0]]], [2], "codes must be integers from 0 to 1"),
    ],
)
def test_what_is_no_score_is_refused(scores, codes, message):
    with pytest.raises(ValueError, match=message):
        fit_multipliers(scores, codes)


def test_negative_smoothing_is_refused():
    with pytest.raises(ValueError, match="smoothing=-1"):
        fit_multipliers([[[1.0, 0.0]]], [0], smoothing=-1)


def test_one_row_far_wider_than_the_others():
    """Then the relaxation is felt: the loss is still that of the posteriors."""
    scores = np.array([[1e6, 0.0], [1, 0], [1, 0], [1, 0], [1, 0]])
    codes = np.array([0, 0, 0, 0, 1])
    found = fit_multipliers([scores], codes, smoothing=0.0)
    for times in (0.0, 0.3, 0.9, 1.0):
        beta = times * found.values
        here = loss_by_hand([scores], codes, np.ones(5), beta, 0.0)
        assert found.log_loss <= here + found.gap + 1e-12
    assert found.log_loss == pytest.approx(here, rel=1e-12)
    # longer ones gain, by what the documentation adds to the gap at most
    best = 1.0 / fit_temperature(scores, codes, smoothing=0.0).temperature
    gain = found.log_loss - loss_by_hand([scores], codes, np.ones(5), [best], 0.0)
    length = found.values[0] * 1e6
    times = best / found.values[0]
    assert 1e-3 < gain <= found.gap + 5e-14 * times**2 * length**2
