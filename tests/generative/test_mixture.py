import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.validation import has_fit_parameter

from memdlib import JointMaxEntClassifier, MeMdClassifier, generative
from memdlib.generative.mixture import MixtureClassifier, mixture_weights
from tests.generative.conftest import wine

CORRELATED = ("correlated", generative.CorrelatedMeMdClassifier())
PLAIN = ("plain", MeMdClassifier(n_features=None))
FULL = ("full", JointMaxEntClassifier("full"))
RIDGE = ("ridge", make_pipeline(StandardScaler(), RidgeClassifier()))
SCORES = FunctionTransformer(generative.normal_scores)


def after(step, *candidates):
    return [(f"{name}, after", make_pipeline(step, one)) for name, one in candidates]


def log_likelihoods(seed, n, J, spread):
    """Of n rows by J models, some far apart."""
    rng = np.random.default_rng([46, seed])
    return -spread * rng.exponential(size=(n, 1)) - spread * rng.random((n, J))


def objective(weights, log_q, counts):
    """F by its definition, nats in all."""
    return counts @ np.log(np.exp(log_q) @ weights) + np.log(weights).mean()


@given(st.integers(0, 1000), st.integers(1, 60), st.integers(1, 6), st.floats(0.01, 20))
def test_no_weights_are_better_by_more_than_the_gap(seed, n, J, spread):
    log_q = log_likelihoods(seed, n, J, spread)
    counts = np.random.default_rng(seed).integers(1, 4, n).astype(float)
    weights, gap = mixture_weights(log_q.T, counts)
    assert 0 <= gap <= 1e-5
    assert weights.sum() == pytest.approx(1)
    assert (weights > 0).all()
    reached = objective(weights, log_q, counts)
    for other in np.random.default_rng([seed, 1]).dirichlet(np.ones(J), 50):
        better = objective(np.maximum(other, 1e-300), log_q, counts) - reached
        assert better <= (counts.sum() + 1) * gap + 1e-9
    rows = log_q.repeat(counts.astype(int), axis=0)
    copies, _ = mixture_weights(rows.T, np.ones(len(rows)))
    assert_allclose(copies, weights, rtol=0, atol=1e-9)


def test_a_model_that_foresees_nothing_keeps_its_share_of_one_row():
    log_q = np.tile([0.0, -800.0], (9, 1))
    assert_allclose(mixture_weights(log_q.T, np.ones(9))[0], [0.95, 0.05], rtol=1e-3)


def test_a_gap_out_of_reach_is_a_warning():
    log_q = log_likelihoods(13, 37, 4, 5.0)
    with pytest.warns(ConvergenceWarning, match="max_iter=2 steps, not within tol"):
        _, gap = mixture_weights(log_q.T, np.ones(37), max_iter=2)
    assert gap > 1e-6


def fit(model, X, y, weight):
    """A copy, each step of a pipeline with weights if it takes them."""
    model = clone(model)
    if not isinstance(model, Pipeline):
        return model.fit(X, y, sample_weight=weight)
    takes = [n for n, step in model.steps if has_fit_parameter(step, "sample_weight")]
    return model.fit(X, y, **{f"{name}__sample_weight": weight for name in takes})


def class_scores(model, X):
    if hasattr(model, "predict_log_proba"):
        return model.predict_log_proba(X)
    return model.decision_function(X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("lead", [None, 2.0])
def test_the_mixture_is_what_a_loop_finds(lead, weighted):
    X, y, Z, _ = wine()
    names, codes = np.array(["a", "c", "d"]), y
    y, n = names[y], len(y)
    w = np.random.default_rng(1).uniform(0.3, 4, n) if weighted else np.ones(n)
    candidates = [CORRELATED, *after(SCORES, PLAIN, FULL), RIDGE]
    candidates.append(("both", [RIDGE[1], FULL[1]]))
    clf = MixtureClassifier(candidates, random_state=4, expected_log_odds=lead)
    clf.fit(X, y, w if weighted else None)
    table, prior = clf.cv_results_, np.bincount(codes, w) / w.sum()
    rng = np.random.RandomState(4)
    rng.randint(2**31 - 1)  # for what candidates draw
    folds = StratifiedKFold(5, shuffle=True, random_state=rng)
    splits = list(folds.split(X, codes))
    rows = np.concatenate([test for _, test in splits])
    own, share = (np.arange(n), codes[rows]), w[rows]
    log_q, new = [], []

    def held_out(model):
        parts = [class_scores(fit(model, X[a], y[a], w[a]), X[b]) for a, b in splits]
        return np.concatenate(parts)

    for j, (name, models) in enumerate(candidates):
        models = models if isinstance(models, list) else [models]
        scores = list(map(held_out, models))
        found = generative.fit_calibration(
            scores, own[1], share, expected_log_odds=lead
        )
        multipliers = clf.calibrations_[name].multipliers
        assert_allclose(multipliers, found.multipliers, rtol=1e-6)
        log_p = found.log_posterior(scores)
        assert table["log_loss"][j] == pytest.approx(found.log_loss, rel=1e-9)
        right = np.average(log_p.argmax(axis=1) == own[1], weights=share)
        assert table["accuracy"][j] == pytest.approx(right)
        log_q.append(log_p[own])
        whole = [class_scores(fit(model, X, y, w), Z) for model in models]
        new.append(np.exp(found.log_posterior(whole)))
        if name in clf.named_estimators_:
            ours = clf.named_estimators_[name]
            ours = ours if isinstance(ours, list) else [ours]
            ours = [class_scores(model, Z) for model in ours]
            assert_allclose(ours, whole, rtol=0, atol=1e-9)
    weights, _ = mixture_weights(np.array(log_q), share)
    weights = np.where(weights < 1 / (1 + w.sum()), 0, weights)
    weights /= weights.sum()
    assert_allclose(table["weight"], [*weights, 0], rtol=0, atol=1e-5)
    assert table["name"].tolist() == [*dict(candidates), "class shares"]
    assert 0 <= clf.duality_gap_ <= 1e-5
    p = np.tensordot(weights, new, 1)
    assert_allclose(clf.predict_proba(Z), p, rtol=1e-6)
    assert_allclose(clf.decision_function(Z), np.log(p), rtol=0, atol=1e-6)
    assert clf.predict(Z).tolist() == names[p.argmax(axis=1)].tolist()
    assert clf.class_prior_ == pytest.approx(prior)


def test_where_nothing_is_known_half_of_it_is_the_class_shares():
    rng = np.random.default_rng(3)
    y = (np.arange(80) % 8 == 0).astype(int)
    clf = MixtureClassifier([FULL], expected_log_odds=9.0, random_state=0)
    clf.fit(rng.normal(size=(80, 20)), y)
    Z = rng.normal(size=(100, 20))
    candidate = clf.calibrations_["full"].log_posterior(
        [clf.named_estimators_["full"].predict_log_proba(Z)]
    )
    expected = 0.5 * np.exp(candidate) + 0.5 * np.array([0.875, 0.125])
    assert_allclose(clf.predict_proba(Z), expected)
    assert clf.cv_results_["weight"].tolist() == [0.5, 0.5]


def test_class_shares_get_their_odds():
    """Of nats in all, less the margin, on rows that say little."""
    rng = np.random.default_rng(8)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + 0.3 * y[:, None]
    fitted = {
        margin: MixtureClassifier(
            [FULL], expected_log_odds=1.0, baseline_log_odds=margin, random_state=0
        )
        for margin in (-1e4, 0.0, 1.0, 2.5, 1e4)
    }
    p = {margin: clf.fit(X, y).predict_proba(X) for margin, clf in fitted.items()}
    weights = np.array([clf.cv_results_["weight"] for clf in fitted.values()])
    odds = np.log(weights[1:4, 0] / weights[1:4, 1])
    assert_allclose(np.diff(odds), [-1.0, -1.5], rtol=0, atol=1e-9)
    assert weights[[0, -1]].tolist() == [[1, 0], [0.5, 0.5]]
    assert_allclose(p[1.0], weights[2, 0] * p[-1e4] + 0.5 * weights[2, 1], rtol=1e-9)


def test_steps_in_common_are_taken_once():
    X, y, _, _ = wine()
    learnt, taken = [], []

    class Count(StandardScaler):
        def fit(self, X, y=None, sample_weight=None):
            learnt.append(len(X))
            return super().fit(X, y, sample_weight)

    def count(X):
        taken.append(len(X))
        return X

    fixed, first = FunctionTransformer(count), Count()
    candidates = [*after(fixed, CORRELATED, PLAIN), ("far", clone(CORRELATED[1]))]
    candidates += [(f"2 {n}", make_pipeline(first, m)) for n, m in (CORRELATED, PLAIN)]
    clf = MixtureClassifier(candidates, random_state=0).fit(X, y)
    chosen = list(clf.named_estimators_)
    assert len(learnt) == 5 + any(name.startswith("2") for name in chosen)
    assert max(learnt[:5]) < len(X)
    # once for all folds; for the fit to all rows, and for the outcome on them
    assert taken == [len(X)] * (1 + 2 * any(name.endswith("after") for name in chosen))


def test_steps_that_differ_within_a_long_array_are_not_shared():
    """NumPy prints an array of more than a thousand numbers without its middle."""
    rng = np.random.default_rng(2)
    y = np.arange(60) % 2
    X = 0.1 * rng.normal(size=(60, 1500))
    X[:, 700] += y  # the only column in which the classes differ
    factors = np.ones((3, 1500))
    factors[2, 700] = 0.0
    calls = []

    def multiply(X, by):
        calls.append(by[700])
        return X * by

    steps = [FunctionTransformer(multiply, kw_args={"by": row}) for row in factors]
    candidates = [
        ("all", make_pipeline(steps[0], RidgeClassifier(1.0))),
        ("all, less bias", make_pipeline(steps[1], RidgeClassifier(0.1))),
        ("without", make_pipeline(steps[2], RidgeClassifier(1.0))),
    ]
    clf = MixtureClassifier(candidates, random_state=0).fit(X, y)
    table = clf.cv_results_
    log_loss = dict(zip(table["name"], table["log_loss"], strict=True))
    assert log_loss["all"] < 0.3
    assert log_loss["without"] > 0.6
    assert calls[:2] == [1.0, 0.0]  # equal arrays are still shared
    assert calls[2:] == [1.0, 1.0]  # in the fit to all rows, and for its outcome


@pytest.mark.parametrize("sizes", [(1, 1), (1, 1, 1), (2, 1), (6, 1, 2), (9, 3, 1, 1)])
def test_classes_of_few_rows(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = np.random.default_rng(0).normal(size=(len(y), 4)) + 3 * y[:, None]
    clf = MixtureClassifier(random_state=0).fit(X, y)
    assert clf.predict_proba(X).shape == (len(y), len(sizes))
    assert np.isfinite(clf.cv_results_["log_loss"]).all() == (max(sizes) > 1)
    if max(sizes) == 1:  # the first candidate as it is
        assert list(clf.named_estimators_) == ["correlated"]
        assert clf.predict(X).tolist() == y.tolist()


def test_of_many_rows_some_are_held_out(monkeypatch):
    X, y, _, _ = wine()
    shares = []
    for most in (len(y), 50, 10):
        monkeypatch.setattr(generative.mixture, "_MAX_HELD_OUT", most)
        clf = MixtureClassifier([PLAIN], random_state=1).fit(X, y)
        shares.append(clf.calibrations_["plain"].uniform_share)
    held_out = 0.5 / np.array(shares) - 1
    assert_allclose(held_out, [89, 54, 18], atol=2)


def test_jobs_and_lines_change_nothing(capsys):
    X, y, Z, _ = wine()
    one = MixtureClassifier(random_state=2).fit(X, y)
    assert capsys.readouterr().out == ""
    with parallel_config("threading"):
        two = MixtureClassifier(random_state=2, n_jobs=2, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["correlated", "shrunken"]
    assert_array_equal(one.predict_proba(Z), two.predict_proba(Z))


def test_sparse_rows_go_where_all_candidates_take_them():
    X, y, Z, _ = wine()
    with pytest.raises(TypeError, match="toarray"):
        MixtureClassifier().fit(sparse.csr_array(X), y)
    clf = MixtureClassifier([("counts", MultinomialNB())], random_state=0)
    thin = clone(clf).fit(sparse.csr_array(X), y).predict_proba(sparse.csr_array(Z))
    assert_allclose(thin, clf.fit(X, y).predict_proba(Z), rtol=1e-6)


def test_a_lone_value_is_named():
    rng = np.random.default_rng(9)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 4)) + y[:, None]
    X[:, 3] = np.arange(120) == 5  # a mark that one row has is no lone value
    clf = MixtureClassifier([CORRELATED], random_state=0).fit(X, y)
    Z = X.copy()
    Z[7, 2] = -1e3
    with pytest.warns(UserWarning, match=r"row 7 holds -1000 in feature 2") as told:
        clf.fit(Z, y)
    assert told[0].filename == __file__
    frame = pd.DataFrame(Z, columns=["age", "size", "pulse", "mark"])
    with pytest.warns(UserWarning, match="row 7 holds -1000 in feature 'pulse'"):
        clf.fit(frame, y)
    MixtureClassifier(after(SCORES, CORRELATED), random_state=0).fit(Z, y)
    Z[8, 2] = -9e2  # two are no accident
    clf.fit(Z, y)
