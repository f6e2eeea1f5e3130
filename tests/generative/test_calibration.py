import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy.special import softmax
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from memdlib import MeMdClassifier, make_memd
from memdlib.generative import fit_calibration


def case(seed, n=40, n_classes=3, n_scores=2):
    rng = np.random.default_rng([43, seed])
    codes = rng.integers(n_classes, size=n)
    scores = rng.normal(size=(n_scores, n, n_classes)) * rng.uniform(0.3, 30)
    scores[:, np.arange(n), codes] += rng.uniform(-0.5, 3, size=(n_scores, 1))
    return list(scores), codes, rng.integers(1, 4, size=n).astype(float)


def median_by_copies(score, weight):
    """Median of the leads, each row as often as it weighs."""
    top = np.sort(score, axis=1)
    return np.median(np.repeat(top[:, -1] - top[:, -2], weight.astype(int)))


def objective_by_hand(scores, codes, weight, beta, lead):
    """Loss of the mixture row by row, and half the square of log a."""
    share = 0.5 / (1 + weight.sum())
    total = 0.0
    for i, (own, w) in enumerate(zip(codes, weight, strict=True)):
        p = softmax(sum(b * s[i] for b, s in zip(beta, scores, strict=True)))
        total -= w * np.log((1 - share) * p[own] + share / len(p))
    a = sum(beta)
    if lead is not None:
        leads = [median_by_copies(s, weight) for s in scores]
        a = sum(b * t for b, t in zip(beta, leads, strict=True)) / lead
    return total, np.log(a) ** 2 / 2


@given(st.integers(0, 10**6), st.integers(1, 2), st.sampled_from([1.0, 3.0, None]))
@settings(max_examples=25, deadline=None)
def test_no_multipliers_of_a_grid_are_better(seed, n_scores, lead):
    scores, codes, weight = case(seed, n_scores=n_scores)
    found = fit_calibration(scores, codes, weight, lead=lead)

    def value(beta):
        return sum(objective_by_hand(scores, codes, weight, beta, lead))

    loss, _ = objective_by_hand(scores, codes, weight, found.multipliers, lead)
    assert found.log_loss == pytest.approx(loss / weight.sum(), abs=1e-12)
    assert found.gradient < 1e-7
    unit = np.array([(lead or 1.0) / median_by_copies(s, weight) for s in scores])
    grid = np.exp(np.linspace(-7, 5, 61 if n_scores == 1 else 16))
    trials = np.stack(np.meshgrid(*[grid] * n_scores), -1).reshape(-1, n_scores)
    best = min(trials, key=lambda a: value(a * unit))
    polished = optimize.minimize(
        lambda u: value(np.exp(u) * unit),
        np.log(best),
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-12},
    )
    # on the way to a multiplier of zero F falls by no more than the derivative
    assert value(found.multipliers) <= polished.fun + 1e-6 * weight.sum()


@given(st.integers(0, 10**6), st.integers(3, 30), st.integers(2, 20))
@settings(max_examples=40, deadline=None)
def test_what_the_mixture_bounds(seed, n, K):
    (score,), codes, _ = case(seed, n=n, n_classes=K, n_scores=1)
    rng = np.random.default_rng([44, seed])
    score[rng.integers(n)] *= 10.0 ** rng.integers(0, 200)
    found = fit_calibration([score], codes)
    new = rng.normal(size=(50, K)) * 10.0 ** rng.integers(-3, 200)
    log_q = found.log_posterior([new])
    np.testing.assert_allclose(np.exp(log_q).sum(axis=1), 1, rtol=1e-12)
    assert (log_q >= -np.log(2 * K * (n + 1)) - 1e-12).all()
    assert (log_q[np.arange(50), new.argmax(axis=1)] == log_q.max(axis=1)).all()
    expected = 3.0 / median_by_copies(score, np.ones(n))
    p = softmax(expected * (score - score.max(axis=1, keepdims=True)), axis=1)
    with np.errstate(divide="ignore"):
        plain = -np.log(p[np.arange(n), codes]).mean()
    assert found.log_loss <= plain + np.log1p(1 / (2 * n + 1)) + 1e-12
    log_a = np.log(found.multipliers[0] / expected)
    assert abs(log_a) <= np.sqrt(2 * n * np.log(2 * K * (n + 1)))


@given(st.integers(0, 10**6), st.integers(1, 2), st.floats(-100, 100))
@settings(max_examples=25, deadline=None)
def test_units_constants_order_and_names_do_not_matter(seed, n_scores, log_unit):
    scores, codes, weight = case(seed, n_scores=n_scores)
    found = fit_calibration(scores, codes, weight)
    rng = np.random.default_rng([45, seed])
    order, names = rng.permutation(len(codes)), rng.permutation(3)
    unit = 10.0**log_unit
    moved = [
        unit * (s - s.mean(axis=1, keepdims=True))[order][:, names] for s in scores
    ]
    other = fit_calibration(moved, np.argsort(names)[codes[order]], weight[order])
    np.testing.assert_allclose(other.multipliers * unit, found.multipliers, rtol=1e-4)
    np.testing.assert_allclose(
        other.log_posterior(moved),
        found.log_posterior(scores)[order][:, names],
        rtol=0,
        atol=1e-5,
    )
    times = weight.astype(int)
    copies = fit_calibration([s.repeat(times, 0) for s in scores], codes.repeat(times))
    np.testing.assert_allclose(copies.multipliers, found.multipliers, rtol=1e-4)


def test_the_same_score_twice_is_that_score():
    (score,), codes, weight = case(3, n=200, n_scores=1)
    one = fit_calibration([score], codes, weight)
    two = fit_calibration([score, 5 * score], codes, weight)
    np.testing.assert_allclose(
        two.log_posterior([score, 5 * score]),
        one.log_posterior([score]),
        rtol=0,
        atol=1e-6,
    )


def test_scores_that_tell_nothing():
    flat, codes = np.ones((30, 3)), np.arange(30) % 3
    right = np.eye(3)[codes]
    alone = fit_calibration([flat], codes)
    assert alone.multipliers.tolist() == [1.0]
    assert alone.log_loss == pytest.approx(np.log(3))
    found = fit_calibration([flat, right], codes)
    assert found.multipliers[0] == 0
    only = fit_calibration([right], codes)
    assert found.multipliers[1] == pytest.approx(only.multipliers[0])
    # all right: as sure as thirty rows allow, and no surer
    assert 0 < only.log_loss < 2 * np.log(62 / 61)


def test_impossible_classes_stay_impossible():
    scores = np.array([[0.0, 2.0, -np.inf], [1.0, 0.0, -np.inf], [0.0, 1.0, 3.0]])
    found = fit_calibration([scores], [1, 0, 2])
    q = np.exp(found.log_posterior([scores]))
    assert q[0, 2] == q[1, 2] == 0
    np.testing.assert_allclose(q.sum(axis=1), 1)
    single = np.array([[0.0, -np.inf], [0.0, -np.inf]])
    assert fit_calibration([single], [0, 0]).log_loss == pytest.approx(0, abs=1e-12)


def test_one_row_that_no_model_foresees_does_not_decide():
    rng = np.random.default_rng(8)
    codes = np.arange(200) % 2
    score = np.zeros((200, 2))
    score[:, 1] = 4 * codes - 2 + rng.normal(size=200)
    before = fit_calibration([score], codes)
    for wrong in (1e2, 1e8, 1e300):
        score[0] = [-wrong, 0.0]
        after = fit_calibration([score], codes)
        assert after.multipliers[0] > 0.5 * before.multipliers[0]


def three_normals(far=100.0, n=300):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 1, n) for c in (0, 4, far)])[:, None]
    return X, np.repeat([0, 1, 2], n)


@pytest.mark.parametrize("far", [100.0, 1e8])
def test_a_far_class_does_not_blur_the_others(far):
    X, y = three_normals(far)
    clf = make_memd("table", random_state=0).fit(X, y)
    # log odds of the normal truth: 8 nats between the first two at zero
    assert clf.predict_proba([[0.0]])[0, 0] > 0.99
    # the model that is true needs no correction
    table = clf[-1].cv_results_
    assert table["name"][0] == "correlated"
    assert 0.5 < table["temperature"][0] < 2


def test_iris_is_as_good_as_linear_discriminant_analysis():
    X, y = load_iris(return_X_y=True)
    ours, lda = [], []
    for r in range(4):
        train = np.random.default_rng([46, r]).permutation(150) < 105
        own = np.arange((~train).sum()), y[~train]
        clf = make_memd("table", random_state=0).fit(X[train], y[train])
        ours.append(-clf.predict_log_proba(X[~train])[own].mean())
        theirs = LinearDiscriminantAnalysis().fit(X[train], y[train])
        lda.append(-np.log(theirs.predict_proba(X[~train])[own]).mean())
    assert np.mean(ours) < np.mean(lda) + 0.02


def test_calibrated_posteriors_have_less_log_loss():
    X, y = three_normals(5.0)
    X = np.repeat(X, 10, axis=1)  # the same evidence, counted ten times
    train = np.arange(len(y)) % 2 == 0
    model = MeMdClassifier(n_features=None).fit(X[train], y[train])
    score = model.predict_log_proba(X[~train])
    rows, truth = np.arange((~train).sum()) % 2 == 0, y[~train]
    found = fit_calibration([score[rows]], truth[rows])
    assert 0.05 < found.multipliers[0] < 0.2
    own = np.arange((~rows).sum()), truth[~rows]
    calibrated = found.log_posterior([score[~rows]])[own].mean()
    assert -calibrated < 0.5 * -score[~rows][own].mean()


@pytest.mark.parametrize(
    ("scores", "codes", "message"),
    [
        ([[[0.0, np.nan]]], [0], r"scores\[0\]\[0, 1\] = nan"),
        ([[[0.0, -np.inf]]], [1], r"scores\[0\]\[0, 1\] = -inf"),
        ([[[0.0, np.inf]]], [0], r"scores\[0\]\[0, 1\] = inf"),
        ([[[0.0, 1.0]]], [2], "integers from 0 to 1"),
        ([[[0.0, 1.0]]], [0.5], "integers from 0 to 1"),
        ([[[0.0, 1.0]]], [0, 1], r"shapes \[\(1, 2\)\]"),
        ([[[0.0, 1.0]], [[0.0]]], [0], "all alike"),
        ([], [0], "give one or more"),
        ([np.zeros((0, 2))], [], "one row"),
    ],
)
def test_bad_input(scores, codes, message):
    with pytest.raises(ValueError, match=message):
        fit_calibration(scores, np.array(codes))


def test_a_lead_must_be_above_zero():
    with pytest.raises(ValueError, match="lead"):
        fit_calibration([[[1.0, 0.0]]], [0], lead=0)


def test_leads_of_zero_have_their_weighted_mean_for_a_unit():
    """More than half the rows tie: the median is zero, and the mean is not."""
    score = np.array([[0.0, 0.0]] * 4 + [[5.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    codes, weight = np.array([0, 1, 0, 1, 0, 1, 0]), np.array([3, 1, 2, 1, 1, 2, 1])
    found = fit_calibration([score], codes, weight.astype(float))
    copies = np.repeat(np.arange(7), weight)
    alone = fit_calibration([score[copies]], codes[copies])
    np.testing.assert_allclose(found.multipliers, alone.multipliers, rtol=1e-7)
    assert found.log_loss == pytest.approx(alone.log_loss, rel=1e-9)
    lead = (5 + 2 * 1 + 2) / 11
    same = fit_calibration([score * 3 / lead], codes, weight.astype(float), lead=None)
    np.testing.assert_allclose(
        found.multipliers, same.multipliers * 3 / lead, rtol=1e-6
    )


def test_a_class_that_one_score_holds_impossible_is_impossible():
    """The uniform share goes to the other classes of its row alone."""
    scores, codes, weight = case(5)
    others = (codes[:10] + 1) % 3
    scores[1][np.arange(10), others] = -np.inf
    found = fit_calibration(scores, codes, weight, lead=None)
    share, total = 0.5 / (1 + weight.sum()), 0.0
    for i, (own, w) in enumerate(zip(codes, weight, strict=True)):
        left = np.array([k for k in range(3) if i >= 10 or k != others[i]])
        p = softmax(
            sum(b * s[i][left] for b, s in zip(found.multipliers, scores, strict=True))
        )
        mixed = (1 - share) * p[left == own].item() + share / len(left)
        total -= w * np.log(mixed)
    assert found.log_loss == pytest.approx(total / weight.sum(), abs=1e-12)


def test_scores_of_any_precision_are_added_and_none_may_be_missing():
    scores, codes, weight = case(11)
    found = fit_calibration(scores, codes, weight)
    by_hand = sum(b * s for b, s in zip(found.multipliers, scores, strict=True))
    np.testing.assert_allclose(found.joint(scores), by_hand, rtol=1e-14)
    single = [s.astype(np.float32) for s in scores]
    joint = found.joint(single)
    assert joint.dtype == np.float64
    exact = found.joint([s.astype(np.float64) for s in single])
    np.testing.assert_array_equal(joint, exact)
    np.testing.assert_array_equal(found.joint([s.tolist() for s in single]), joint)
    for wrong in (scores[:1], [*scores, scores[0]]):
        with pytest.raises(ValueError, match="zip"):
            found.joint(wrong)


@pytest.mark.parametrize("kind", [np.uint8, np.int32])
def test_scores_that_tell_nothing_share_what_is_possible(kind):
    score = np.full((4, 3), 7.0)
    score[0, 2] = score[1, 0] = -np.inf
    codes, weight = np.array([0, 2, 1, 2], dtype=kind), np.array([1.0, 2.0, 3.0, 0.5])
    found = fit_calibration([score], codes, weight)
    loss = (3 * np.log(2) + 3.5 * np.log(3)) / 6.5
    assert found.log_loss == pytest.approx(loss, rel=1e-12)
    assert found.uniform_share == pytest.approx(0.5 / 7.5)
    assert (found.multipliers.tolist(), found.gradient, found.n_iter) == ([1], 0, 0)
    other = np.full((4, 3), -1.0)
    both = fit_calibration([other, score], codes, weight)
    assert both.log_loss == pytest.approx(loss, rel=1e-12)
    alone = fit_calibration([[[3.0], [1.0]]], np.zeros(2, dtype=kind))
    assert alone.multipliers.tolist() == [1.0] and alone.log_loss == 0


def test_rows_with_one_possible_class_have_no_lead():
    score = np.full((7, 3), -np.inf)
    score[:3] = [[4.0, 0.0, 1.0], [0.0, 1.0, -1.0], [3.0, 1.0, -np.inf]]
    score[3:, 2] = 5.0
    codes = np.array([0, 0, 0, 2, 2, 2, 2])
    found = fit_calibration([score], codes)  # leads 3, 1 and 2
    same = fit_calibration([score * 3.0 / 2.0], codes, lead=None)
    expected = same.multipliers * 3.0 / 2.0
    np.testing.assert_allclose(found.multipliers, expected, rtol=1e-6)


def test_the_median_lead_lies_between_rows_of_equal_weight():
    score = np.array([[1.0, 0.0], [0.0, 2.0], [5.0, 0.0]])
    codes, weight = np.array([0, 0, 0]), np.array([0.1, 0.2, 0.3])  # 0.1 + 0.2 > 0.3
    found = fit_calibration([score], codes, weight)
    same = fit_calibration([score * 3.0 / 3.5], codes, weight, lead=None)
    np.testing.assert_allclose(found.multipliers, same.multipliers * 3.0 / 3.5)


@pytest.mark.parametrize("n_far", [1, 9])
def test_scores_whose_differences_are_no_number(n_far):
    """One row of them, and most rows."""
    score, codes = np.tile([[1.0, 0.0], [0.0, 1.0]], (6, 1)), np.tile([0, 1], 6)
    score[:n_far] = np.where(score[:n_far] > 0, 1.7e308, -1.7e308)
    score[:3] = score[:3, ::-1]
    found = fit_calibration([score], codes)
    log_q = found.log_posterior([score / 2])
    assert np.isfinite(found.multipliers).all() and np.isfinite(log_q).all()
    assert found.gradient < 1e-7 and 0 < found.log_loss <= np.log(2 * 2 * 13)


def test_rows_that_weigh_less_than_one_in_all():
    (score,), codes, weight = case(12, n_scores=1)
    weight = weight * 1e-3 / weight.sum()
    found = fit_calibration([score], codes, weight)
    unit = 3.0 / median_by_copies(score, weight * 1e3 * 83 / (weight * 1e3).sum())

    def value(v):
        beta = [np.exp(v) * unit]
        return sum(objective_by_hand([score], codes, weight, beta, None)[:1]) + v**2 / 2

    v, h = np.log(found.multipliers[0] / unit), 1e-4
    assert found.gradient < 1e-7
    assert abs(value(v + h) - value(v - h)) / (2 * h) < 1e-6
    assert isinstance(found.n_iter, int) and found.n_iter >= 0


@pytest.mark.parametrize(
    ("scores", "codes", "message"),
    [
        ([[[0.0, 1.0]]], [-1], "integers from 0 to 1"),
        ([np.zeros((3, 2))], [1, -1, 0], "integers from 0 to 1"),
        ([np.zeros((3, 2))], [1, 2, 0], "integers from 0 to 1"),
        ([[[0.0, 1.0]]], [True], "integers from 0 to 1"),
        ([[0.0, 1.0]], [0, 1], r"scores of shapes \[\(2,\)\]"),
        ([[[[0.0, 1.0]]]], [0], r"scores of shapes \[\(1, 1, 2\)\]"),
        ([[[0.0, 1.0]]], [[0]], r"codes of shape \(1, 1\)"),
    ],
)
def test_classes_that_are_none_and_shapes_that_do_not_agree(scores, codes, message):
    with pytest.raises(ValueError, match=message):
        fit_calibration(scores, np.array(codes))
