import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import softmax

from memdlib.generative import fit_calibration


def case(seed, n=40, n_classes=3, n_scores=1):
    rng = np.random.default_rng([43, seed])
    codes = rng.integers(n_classes, size=n)
    scores = rng.normal(size=(n_scores, n, n_classes)) * rng.uniform(0.3, 30)
    scores[:, np.arange(n), codes] += rng.uniform(-0.5, 3, size=(n_scores, 1))
    return scores, codes, rng.integers(1, 4, size=n).astype(float)


def median_lead(score, weight):
    """Of the rows, each as often as it weighs."""
    top = np.sort(score, axis=1)
    return np.median(np.repeat(top[:, -1] - top[:, -2], weight.astype(int)))


def loss_by_hand(scores, codes, weight, beta):
    share = 0.5 / (1 + weight.sum())
    p = softmax(np.tensordot(beta, scores, 1), axis=1)[np.arange(len(codes)), codes]
    return -weight @ np.log((1 - share) * p + share / scores.shape[2])


@given(st.integers(0, 10**6), st.integers(1, 2), st.sampled_from([1.0, 3.0, None]))
@settings(max_examples=25, deadline=None)
def test_no_multipliers_of_a_grid_are_better(seed, n_scores, lead):
    scores, codes, weight = case(seed, n_scores=n_scores)
    found = fit_calibration(scores, codes, weight, expected_log_odds=lead)
    unit = [lead / median_lead(s, weight) if lead else 1.0 for s in scores]

    def objective(beta):
        log_a = np.log(np.sum(beta / unit))
        return loss_by_hand(scores, codes, weight, beta) + log_a**2 / 2

    loss = loss_by_hand(scores, codes, weight, found.multipliers)
    assert found.log_loss == pytest.approx(loss / weight.sum(), abs=1e-12)
    assert found.uniform_share == pytest.approx(0.5 / (1 + weight.sum()))
    grid = np.exp(np.linspace(-7, 5, 121 if n_scores == 1 else 16))
    trials = np.stack(np.meshgrid(*[grid] * n_scores), -1).reshape(-1, n_scores)
    reached = objective(found.multipliers)
    assert reached <= min(objective(a * unit) for a in trials) + 1e-6 * weight.sum()
    for change in (np.exp(1e-4), np.exp(-1e-4)):
        assert objective(found.multipliers * change) >= reached - 1e-9 * weight.sum()


@given(st.integers(0, 10**6), st.integers(1, 2), st.floats(-50, 50))
@settings(max_examples=25, deadline=None)
def test_units_constants_order_names_and_copies_do_not_matter(seed, n_scores, log_unit):
    scores, codes, weight = case(seed, n_scores=n_scores)
    found = fit_calibration(scores, codes, weight)
    rng = np.random.default_rng([45, seed])
    order, names, unit = rng.permutation(40), rng.permutation(3), 10.0**log_unit
    moved = unit * (scores - scores.mean(axis=2, keepdims=True))[:, order][..., names]
    other = fit_calibration(moved, np.argsort(names)[codes[order]], weight[order])
    times = weight.astype(int)
    copies = fit_calibration(scores.repeat(times, 1), codes.repeat(times))
    expected, again = found.log_posterior(scores), other.log_posterior(moved)
    assert_allclose(again, expected[order][:, names], rtol=0, atol=1e-4)
    assert_allclose(copies.log_posterior(scores), expected, atol=1e-4)


def test_the_same_score_twice_is_that_score():
    (score,), codes, weight = case(3, n=200)
    one = fit_calibration([score], codes, weight)
    two = fit_calibration([score, 5 * score], codes, weight)
    found, expected = two.log_posterior([score, 5 * score]), one.log_posterior([score])
    assert_allclose(found, expected, atol=1e-4)


def test_scores_that_tell_nothing_and_all():
    codes = np.arange(30) % 3
    flat = fit_calibration([np.ones((30, 3))], codes)
    assert flat.multipliers[0] == pytest.approx(1.0)
    assert flat.log_loss == pytest.approx(np.log(3))
    # all right: as sure as thirty rows allow, and no surer
    assert 0 < fit_calibration([np.eye(3)[codes]], codes).log_loss < 2 * np.log(62 / 61)


def test_an_impossible_class_has_its_share_of_the_uniform_posteriors():
    scores = np.array([[0.0, 2.0, -np.inf], [1.0, 0.0, -np.inf], [0.0, 1.0, 3.0]])
    found = fit_calibration([scores], [1, 0, 2])
    q = np.exp(found.log_posterior([scores]))
    assert_allclose(q[:2, 2], found.uniform_share / 3)
    # of a true class, too
    wrong = fit_calibration([scores], [2, 0, 2])
    assert found.log_loss < wrong.log_loss < np.log(2 * 3 * 4)


def test_one_row_that_no_model_foresees_does_not_decide():
    rng = np.random.default_rng(8)
    codes = np.arange(200) % 2
    score = np.zeros((200, 2))
    score[:, 1] = 4 * codes - 2 + rng.normal(size=200)
    before = fit_calibration([score], codes)
    for wrong in (1e2, 1e8, 1e90):
        score[0] = [-wrong, 0.0]
        assert fit_calibration([score], codes).multipliers > 0.5 * before.multipliers


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 1.0, 1.0, 3.0]])
def test_the_expected_lead_is_that_of_the_median_row(weight):
    """Of rows that have one; the mean where the median is zero."""
    score = np.array([[1.0, 0.0], [0.0, 2.0], [5.0, 0.0], [0.0, -np.inf], [2.0, 0.0]])
    found = fit_calibration([score], [0, 1, 0, 0, 1], weight)
    same = fit_calibration(
        [score * 1.5], [0, 1, 0, 0, 1], weight, expected_log_odds=None
    )
    assert_allclose(found.multipliers, same.multipliers * 1.5, rtol=1e-5)
    score[:3] = 0.0
    found = fit_calibration([score], [0, 1, 0, 0, 1], weight)
    lead = 2.0 * (1 if weight is None else 3) / (4 if weight is None else 7)
    same = fit_calibration(
        [score * 3 / lead], [0, 1, 0, 0, 1], weight, expected_log_odds=None
    )
    assert_allclose(found.multipliers, same.multipliers * 3 / lead, rtol=1e-5)


@pytest.mark.parametrize(
    ("scores", "codes", "message"),
    [
        ([[[0.0, np.nan]]], [0], r"scores\[0\]\[0, 1\] = nan"),
        ([[[0.0, np.inf]]], [0], r"scores\[0\]\[0, 1\] = inf"),
        ([[[-np.inf, -np.inf]]], [0], r"scores\[0\]\[0, 0\] = -inf"),
        ([[[0.0, 1.0]]], [2], "integers from 0 to 1"),
        ([[[0.0, 1.0]]], [0.5], "integers from 0 to 1"),
        ([[[0.0, 1.0]]], [0, 1], r"scores of shapes \[\(1, 2\)\]"),
        ([[0.0, 1.0]], [0, 1], r"scores of shapes \[\(2,\)\]"),
        ([[[0.0, 1.0]], [[0.0]]], [0], "all alike"),
        ([[[0.0]]], [0], "at least one row and two classes"),
        ([], [0], "give one or more"),
        ([np.zeros((0, 2))], [], "one row"),
    ],
)
def test_bad_input(scores, codes, message):
    with pytest.raises(ValueError, match=message):
        fit_calibration(scores, np.array(codes))
    with pytest.raises(ValueError, match="expected_log_odds"):
        fit_calibration([[[1.0, 0.0]]], [0], expected_log_odds=0)
