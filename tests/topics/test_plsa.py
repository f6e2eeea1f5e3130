import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import MultinomialNB

from memdlib import PLSA
from memdlib.topics import plsa
from memdlib.topics.counts import as_counts
from memdlib.topics.plsa import em, fold_in
from tests.topics.reference import documents, objective, parameters, step

# maximum likelihood
PLAIN = {"random_state": 0, "alpha": 0.0}
QUICK = PLAIN | {"tol": 1e-4}


def joint(X, theta, Q):
    """sum C log P(w, d), with P(d) the share of the counts."""
    length = X.sum(axis=1)
    return objective(X, theta, Q) + length @ np.log(length / X.sum())


def test_the_truth_is_found():
    X, theta, Q = documents(n=300, n_words=40, length=400, seed=1)
    model = PLSA(n_components=3, n_init=3, **PLAIN).fit(X)
    order = abs(model.components_ - Q[:, None]).sum(axis=2).argmin(axis=1)
    assert abs(model.components_[order] - Q).sum(axis=1).max() < 0.1
    assert abs(model.transform(X)[:, order] - theta).mean() < 0.03
    assert model.log_likelihood_ > joint(X, theta, Q)
    share = X.sum(axis=1) @ theta / X.sum()
    np.testing.assert_allclose(model.topic_prior_[order], share, rtol=0, atol=0.02)


def test_what_is_told_of_the_fit():
    X = documents(seed=2)[0]
    model = PLSA(n_components=3, tol=1e-11, max_iter=5000, **PLAIN).fit(X)
    theta, gap = fold_in(X, model.components_, model.topic_prior_)
    assert model.log_likelihood_ == model.history_[-1]
    reached = joint(X, theta, model.components_)
    most = model.duality_gap_[0] * X.sum()
    assert -gap.sum() - 1e-9 <= reached - model.log_likelihood_ <= most + 1e-9
    assert np.diff(model.history_).min() > -1e-9
    assert len(model.history_) == model.n_iter_ + 1
    assert model.duality_gap_.shape == (2,) and model.duality_gap_.max() <= 1e-5
    np.testing.assert_allclose(model.components_.sum(axis=1), 1, rtol=1e-13)
    np.testing.assert_allclose(model.topic_prior_.sum(), 1, rtol=1e-13)
    counts = X.sum() * model.topic_prior_
    np.testing.assert_allclose(model.topic_counts_, counts, rtol=1e-13)


def test_one_topic_is_the_share_of_each_word():
    X = documents(seed=3)[0]
    peer = MultinomialNB(alpha=0.7).fit(X, np.zeros(40))
    smooth = PLSA(n_components=1, alpha=0.7, random_state=0).fit(X)
    np.testing.assert_allclose(smooth.components_, np.exp(peer.feature_log_prob_))
    assert smooth.topic_counts_[0] == pytest.approx(X.sum() + 0.7 * 25)


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_empty_rows_and_columns(smoothing):
    X = documents(seed=10)[0]
    padded = np.zeros((43, 28))
    padded[1:41, 2:27] = X
    options = QUICK | {"n_components": 2, "alpha": smoothing}
    model = PLSA(**options).fit(padded)
    np.testing.assert_array_equal(model.transform(padded[:1]), [model.topic_prior_])
    empty = model.components_[:, [0, 1, 27]]
    assert (empty > 0).all() if smoothing else not empty.any()
    assert model.n_parameters_ == 1 + 2 * (40 + 25 - 2)
    new = padded[5:7] + np.eye(1, 28)
    if smoothing == 0:  # a word that nobody knows says nothing
        known = model.transform(padded[5:7])
        np.testing.assert_array_equal(model.transform(new), known)
        unknown = model.transform(7 * np.eye(1, 28))
        np.testing.assert_array_equal(unknown, [model.topic_prior_])
    else:
        assert abs(model.transform(new) - model.transform(padded[5:7])).max() > 1e-6


def test_a_topic_may_die_out():
    """Two topics explain all; the third keeps the added counts, and explains less."""
    X = np.array([[8, 4, 0, 0], [4, 2, 0, 0], [0, 0, 3, 3], [0, 0, 6, 6]])
    model = PLSA(3, alpha=1.0, tol=1e-14, random_state=0).fit(X)
    (dead,) = np.flatnonzero(model.topic_prior_ == 0)
    assert model.topic_counts_[dead] == 4 * 1.0
    np.testing.assert_allclose(model.components_[dead], 0.25)
    assert not model.transform(X)[:, dead].any()
    assert model.topic_prior_.sum() == pytest.approx(1)


def test_too_few_steps_are_told():
    X = documents(seed=17)[0]
    with pytest.warns(ConvergenceWarning, match="max_iter=2 steps; the last gained"):
        model = PLSA(3, max_iter=2, random_state=0).fit(X)
    assert model.n_iter_ == 2 and np.diff(model.history_)[-1] > 1e-5 * X.sum()


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[1, 2], [3, -1]], {}, r"Negative values in data passed to PLSA \(input X\)"),
        ([[0, 0], [0, 0]], {}, "X holds no counts: all its numbers are zero"),
        (
            np.ones((5, 3)),
            {"n_components": 4},
            "n_components=4 is more than .* n_features=3 c",
        ),
        ([[1, 2], [0, 0]], {}, "n_components=2 is more than n_samples=1 rows"),
        ([[1, np.nan]], {}, "contains NaN"),
        (np.full((3, 3), 1e308), {}, r"feature 0 of X is 1e\+308"),
        (np.full((3, 3), 5e-324), {}, "feature 0 of X is 4.94066e-324"),
        (1e308 * sparse.eye_array(8, format="csr"), {"alpha": 1}, "absolute value"),
    ],
)
def test_bad_input_is_named(X, options, message):
    good = documents(seed=18)[0]
    model = PLSA(**QUICK).fit(good)
    before = pickle.dumps(vars(model))
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(**options).fit(X)
    with pytest.raises(ValueError, match=message):
        model.set_params(**options).fit(X)
    model.set_params(**{name: PLSA(**QUICK).get_params()[name] for name in options})
    assert pickle.dumps(vars(model)) == before


OPTIONS = {"beta": 1.0, "alpha": 0.0, "tol": 1e-12, "max_iter": 8}
CASES = [{}, {"beta": 0.6}, {"alpha": 0.3}, {"beta": 0.8, "alpha": 0.1}]


def run_em(X, theta, Q, **options):
    words = np.ascontiguousarray(Q.T)
    return em(as_counts(X), theta, words, **(OPTIONS | options))


@pytest.mark.parametrize("case", CASES)
def test_steps_against_all_responsibilities(case):
    X = documents(length=30)[0]
    theta, Q = parameters(*X.shape, 3)
    found = run_em(X, theta, Q, **case)
    values = [objective(X, theta, Q, **case)]
    for _ in range(8):
        theta, Q = step(X, theta, Q, **case)
        values.append(objective(X, theta, Q, **case))
    np.testing.assert_allclose(found.theta, theta, rtol=1e-10)
    np.testing.assert_allclose(found.words.T, Q, rtol=1e-10)
    np.testing.assert_allclose(found.history, values, rtol=1e-12)
    assert np.diff(found.history).min() > 0


@pytest.mark.parametrize("case", CASES)
def test_no_block_has_more_to_gain_than_certified(case):
    """Either half of a step, taken again and again, climbs to the best of its block."""
    X = documents(length=30, seed=5)[0]
    found = run_em(X, *parameters(*X.shape, 3, seed=5), max_iter=5, **case)
    theta, Q = found.theta, found.words.T
    for _ in range(1500):
        theta = step(X, theta, found.words.T, **case)[0]
        Q = step(X, found.theta, Q, **case)[1]
    start = objective(X, found.theta, found.words.T, **case)
    gains = (
        objective(X, theta, found.words.T, **case) - start,
        objective(X, found.theta, Q, **case) - start,
    )
    for gain, gap in zip(gains, found.gaps, strict=True):
        assert 0 <= gain <= gap + 1e-8
        # a gap is of first order where a gain is of second
        assert gap < 10 * np.sqrt(X.sum() * gain) + 1e-2


def test_a_fall_of_the_objective_is_an_error(monkeypatch):
    honest, calls = plsa.log_terms, []

    def falling(counts, probability):
        calls.append(1)
        return honest(counts, probability) - 1e6 * len(calls)

    monkeypatch.setattr(plsa, "log_terms", falling)
    X = documents()[0]
    with pytest.raises(ValueError, match="EM lowered the objective"):
        run_em(X, *parameters(*X.shape, 3))


def even(Q):
    return np.full(len(Q), 1 / len(Q))


def test_what_tells_nothing_is_passed_over():
    Q = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 1.0, 0.0]])
    prior = np.array([0.7, 0.3, 0.0])
    X = np.array([[0, 0, 0, 0], [0, 0, 0, 9], [3, 4, 1, 0], [3, 4, 1, 50.0]])
    theta, gap = fold_in(X, Q, prior)
    np.testing.assert_array_equal(theta[:2], [prior, prior])
    np.testing.assert_allclose(theta[2], [0.75, 0.25, 0], rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(theta[2], theta[3])
    assert gap[0] == gap[1] == 0 and not theta[2:, 2].any()


def test_extreme_members():
    rng = np.random.default_rng([92, 9])
    Q = 10.0 ** rng.uniform(-250, 0, size=(4, 30))
    Q /= Q.sum(axis=1, keepdims=True)
    X = 10.0 ** rng.uniform(-12, 6, size=(20, 30))
    theta, gap = fold_in(X, Q, even(Q))
    assert (gap <= 1e-9 * X.sum(axis=1)).all() and np.isfinite(theta).all()


def test_a_solver_that_is_stopped_says_so(monkeypatch):
    monkeypatch.setattr(plsa, "_MAX_STEPS", 3)
    X, _, Q = documents(n=4)
    with pytest.warns(ConvergenceWarning, match="certified to .* nats per count only"):
        theta, gap = fold_in(X, Q, even(Q))
    monkeypatch.undo()
    best, _ = fold_in(X, Q, even(Q))
    for x, t, b, g in zip(X, theta, best, gap, strict=True):
        assert objective(x[None], b[None], Q) <= objective(x[None], t[None], Q) + g
