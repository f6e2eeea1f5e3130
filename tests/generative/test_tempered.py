import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from memdlib.generative.tempered import fit_temperature


def loss_by_hand(scores, codes, weight, beta, smoothing):
    """Log-loss row by row, in 40 digits."""
    with mp.workdps(40):
        total = mpf(0)
        n_classes = len(scores[0])
        share = mpf(smoothing) / mpf(float(sum(weight)))
        for row, own, w in zip(scores, codes, weight, strict=True):
            exponents = [mpf(beta) * mpf(float(s)) for s in row]
            top = max(exponents)
            log_sum = top + mp.log(sum(mp.exp(e - top) for e in exponents))
            losses = [log_sum - e for e in exponents]
            total += w * (losses[own] + share * sum(losses) / n_classes) / (1 + share)
        return total / mpf(float(sum(weight)))


def case(seed, n=15, n_classes=3, sure=3.0):
    rng = np.random.default_rng([42, seed])
    codes = rng.integers(n_classes, size=n)
    scores = sure * rng.normal(size=(n, n_classes))
    scores[np.arange(n), codes] += sure * rng.uniform(-0.5, 2)
    return scores, codes, rng.integers(1, 4, size=n).astype(float)


@given(st.integers(0, 10**6), st.floats(0.01, 100), st.sampled_from([0.3, 1.0, 5.0]))
@settings(max_examples=30, deadline=None)
def test_no_other_temperature_has_less_loss(seed, sure, smoothing):
    scores, codes, weight = case(seed, sure=sure)
    found = fit_temperature(scores, codes, weight, smoothing=smoothing)
    beta = 1 / found.temperature
    here = loss_by_hand(scores, codes, weight, beta, smoothing)
    assert found.log_loss == pytest.approx(float(here), rel=1e-12)
    # convex, so that left and right are higher; at the end allowed, right alone
    least = found.temperature > 1e5 * np.ptp(scores, axis=1).max()
    for factor in (1.01, 2.0) if least else (0.5, 0.99, 1.01, 2.0):
        assert loss_by_hand(scores, codes, weight, factor * beta, smoothing) > here


def test_the_moment_constraint_holds():
    scores, codes, weight = case(3, n=200)
    found = fit_temperature(scores, codes, weight, smoothing=0.0)
    p = np.exp(scores / found.temperature)
    p /= p.sum(axis=1, keepdims=True)
    expected = weight @ (p * scores).sum(axis=1)
    observed = weight @ scores[np.arange(200), codes]
    assert expected == pytest.approx(observed, rel=1e-6)


def test_odds_by_hand():
    scores = [[7.0, 0.0], [0.0, 7.0], [7.0, 0.0], [0.0, 7.0], [0.0, 7.0]]
    found = fit_temperature(scores, [0, 1, 0, 0, 1], smoothing=0.0)
    assert found.temperature == pytest.approx(7 / np.log(4), rel=1e-6)
    # right four times in five, and one row of unknown class: 4.5 in 6
    found = fit_temperature(scores, [0, 1, 0, 0, 1])
    assert found.temperature == pytest.approx(7 / np.log(3), rel=1e-6)
    twice = fit_temperature(scores, [0, 1, 0, 0, 1], np.full(5, 2.0), smoothing=2.0)
    assert twice.temperature == pytest.approx(found.temperature)


def test_rows_and_columns_in_any_order_and_shifts_of_rows():
    scores, codes, weight = case(4)
    found = fit_temperature(scores, codes, weight).temperature
    order, names = np.arange(15)[::-1], np.array([2, 0, 1])
    other = fit_temperature(
        (scores + 10 * np.arange(15)[:, None])[order][:, names],
        np.argsort(names)[codes[order]],
        weight[order],
    )
    assert other.temperature == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-290, 1e-5, 1e5, 1e300])
def test_scores_of_any_size(scale):
    scores, codes, weight = case(5)
    found = fit_temperature(scores, codes, weight)
    scaled = fit_temperature(scale * scores, codes, weight)
    assert scaled.temperature / scale == pytest.approx(found.temperature, rel=1e-6)
    assert scaled.log_loss == pytest.approx(found.log_loss, rel=1e-12)


def test_rows_of_very_different_ranges():
    scores, codes, weight = case(6)
    scores[0] *= 1e12
    codes[0] = scores[0].argmax()
    found = fit_temperature(scores, codes, weight)
    assert found.gap <= 1e-12 * max(1.0, found.log_loss)


def test_scores_that_are_right_throughout_are_not_believed_without_end():
    scores = np.eye(3)[np.arange(30) % 3]
    found = fit_temperature(scores, np.arange(30) % 3)
    p = np.exp(1 / found.temperature)
    assert p / (p + 2) == pytest.approx((30 + 1 / 3) / 31, rel=1e-6)
    sure = fit_temperature(scores, np.arange(30) % 3, smoothing=0.0)
    assert sure.temperature < 0.05
    assert 0 <= sure.log_loss < 1e-11


def test_scores_that_are_wrong_throughout_are_levelled():
    scores = np.eye(2)[np.arange(30) % 2]
    found = fit_temperature(scores, 1 - np.arange(30) % 2)
    assert found.temperature == pytest.approx(1e6)
    assert found.log_loss == pytest.approx(np.log(2), rel=1e-6)


def test_equal_scores_and_impossible_classes():
    assert fit_temperature(np.zeros((4, 2)), [0, 1, 1, 0]).temperature == 1.0
    scores, codes, weight = case(7, n_classes=2)
    found = fit_temperature(scores, codes, weight)
    more = np.c_[scores, np.full(15, -np.inf)]
    assert fit_temperature(more, codes, weight).temperature == pytest.approx(
        found.temperature, rel=1e-6
    )


@pytest.mark.parametrize(
    ("scores", "codes", "message"),
    [
        ([[1.0, np.nan]], [0], r"scores\[0, 1\] = nan"),
        ([[1.0, np.inf]], [0], r"scores\[0, 1\] = inf"),
        ([[-np.inf, 0.0]], [0], r"scores\[0, 0\] = -inf"),
        ([[1.0, 0.0]], [2], "codes must be integers from 0 to 1"),
        ([[1.0, 0.0]], [0.5], "codes must be integers from 0 to 1"),
        ([[1.0, 0.0]], [0, 1], "give \\(n, K\\) and \\(n,\\)"),
        (np.zeros((0, 2)), [], "one row at least"),
    ],
)
def test_what_is_no_score_is_refused(scores, codes, message):
    with pytest.raises(ValueError, match=message):
        fit_temperature(scores, codes)


def test_negative_smoothing_is_refused():
    with pytest.raises(ValueError, match="smoothing=-1"):
        fit_temperature([[1.0, 0.0]], [0], smoothing=-1)


def test_classes_that_are_impossible_do_not_count_as_equal():
    scores = np.array([[0.0, -np.inf, 0.0], [0.0, 0.0, -np.inf], [0.0, 0.0, 0.0]])
    found = fit_temperature(scores, [0, 1, 2], [1.0, 2.0, 1.0])
    assert found.log_loss == pytest.approx((3 * np.log(2) + np.log(3)) / 4)
