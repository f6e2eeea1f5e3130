import pickle
import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import brentq, minimize
from sklearn.base import clone
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from memdlib import PLSA
from memdlib.topics import GenerativeEmbedding, plsa
from memdlib.topics.counts import as_counts
from memdlib.topics.plsa import climb, fold_in
from tests.topics.reference import documents, objective, parameters, step

# maximum likelihood
PLAIN = {"random_state": 0, "smoothing": 0.0}
QUICK = PLAIN | {"tol": 1e-4}


def joint(X, theta, Q):
    """sum C log P(w, d), with P(d) the share of the counts."""
    length = X.sum(axis=1)
    return objective(X, theta, Q) + length @ np.log(length / X.sum())


def test_the_truth_is_found():
    X, theta, Q = documents(n=300, n_words=40, length=400, seed=1)
    model = PLSA(n_topics=3, n_init=3, **PLAIN).fit(X)
    order = min(
        permutations(range(3)),
        key=lambda p: abs(model.components_[list(p)] - Q).sum(),
    )
    assert abs(model.components_[list(order)] - Q).sum(axis=1).max() < 0.1
    assert abs(model.transform(X)[:, order] - theta).mean() < 0.03
    assert model.log_likelihood_ > joint(X, theta, Q)
    share = X.sum(axis=1) @ theta / X.sum()
    np.testing.assert_allclose(
        model.topic_prior_[list(order)], share, rtol=1e-7, atol=0.02
    )


def test_what_is_told_of_the_fit():
    X = documents(seed=2)[0]
    model = PLSA(n_topics=3, tol=1e-11, max_iter=5000, **PLAIN).fit(X)
    theta, gap = fold_in(X, model.components_, model.topic_prior_)
    assert model.log_likelihood_ == model.history_[-1]
    reached = joint(X, theta, model.components_)
    most = model.gaps_[0] * X.sum()
    assert -gap.sum() - 1e-9 <= reached - model.log_likelihood_ <= most + 1e-9
    assert np.diff(model.history_).min() > -1e-9
    assert len(model.history_) == model.n_iter_ + 1
    assert model.gaps_.shape == (2,) and model.gaps_.max() <= 1e-5
    np.testing.assert_allclose(model.components_.sum(axis=1), 1, rtol=1e-13)
    np.testing.assert_allclose(model.topic_prior_.sum(), 1, rtol=1e-13)
    np.testing.assert_allclose(
        model.topic_counts_, X.sum() * model.topic_prior_, rtol=1e-13
    )
    assert model.n_parameters_ == 2 + 3 * (40 + 25 - 2)
    assert model.bic_ == pytest.approx(
        -model.log_likelihood_ + model.n_parameters_ * np.log(np.sqrt(X.sum()))
    )
    assert model.get_feature_names_out().tolist() == ["plsa0", "plsa1", "plsa2"]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_one_topic_is_the_share_of_each_word():
    X = documents(seed=3)[0]
    model = PLSA(n_topics=1, **PLAIN).fit(X)
    np.testing.assert_allclose(model.components_[0], X.sum(axis=0) / X.sum())
    np.testing.assert_array_equal(model.transform(X), np.ones((40, 1)))
    peer = MultinomialNB(alpha=0.7).fit(X, np.zeros(40))
    smooth = PLSA(n_topics=1, smoothing=0.7, random_state=0).fit(X)
    np.testing.assert_allclose(smooth.components_, np.exp(peer.feature_log_prob_))
    assert smooth.topic_counts_[0] == pytest.approx(X.sum() + 0.7 * 25)


def test_as_many_topics_as_rows_are_the_rows():
    X = documents(n=4, length=30, seed=4)[0]
    model = PLSA(n_topics=4, tol=1e-9, max_iter=50000, **PLAIN).fit(X)
    share = X / X.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        model.transform(X) @ model.components_, share, rtol=1e-2, atol=1e-3
    )
    saturated = (X[X > 0] * np.log(X[X > 0] / X.sum())).sum()
    assert saturated - 1e-4 * X.sum() <= model.log_likelihood_ <= saturated + 1e-9


def kullback_leibler(X, mean):
    """Generalised divergence, which non-negative matrix factorisation minimises."""
    seen = X > 0
    return (X[seen] * np.log(X[seen] / mean[seen])).sum() - X.sum() + mean.sum()


def test_nmf_has_the_same_objective_and_stationary_points():
    X = documents(n=60, seed=5)[0]
    options = {"beta_loss": "kullback-leibler", "solver": "mu", "init": "custom"}
    model = PLSA(n_topics=3, random_state=1, smoothing=0, tol=1e-10, max_iter=5000).fit(
        X
    )
    theta = model.transform(X)
    mean = X.sum(axis=1, keepdims=True) * theta @ model.components_
    constant = (X[X > 0] * np.log(X[X > 0] / X.sum())).sum()
    assert kullback_leibler(X, mean) == pytest.approx(
        constant - model.log_likelihood_, rel=1e-5
    )
    W, H = X.sum(axis=1, keepdims=True) * theta + 1e-12, model.components_ + 1e-12
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer = NMF(3, tol=0, max_iter=50, **options)
        moved = peer.fit_transform(X, W=W.copy(), H=H.copy())
    error = kullback_leibler(X, moved @ peer.components_)
    assert peer.reconstruction_err_**2 / 2 == pytest.approx(error, rel=1e-9)
    assert error == pytest.approx(kullback_leibler(X, mean), rel=1e-4)


def test_bic_finds_the_number_of_topics():
    X = documents(n=150, n_words=30, length=800, seed=6)[0]
    candidates = (1, 2, 3, 4, 6)
    bic = [PLSA(z, n_init=2, **QUICK).fit(X).bic_ for z in candidates]
    assert candidates[int(np.argmin(bic))] == 3


def test_weights_are_repetitions():
    X = documents(seed=7)[0]
    weight = np.arange(40) % 3
    heavy = PLSA(3, **QUICK).fit(X, sample_weight=weight)
    twice = PLSA(3, **QUICK).fit(X.repeat(weight, axis=0))
    np.testing.assert_allclose(
        heavy.components_, twice.components_, rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(
        heavy.transform(X), twice.transform(X), rtol=1e-7, atol=1e-6
    )
    order = np.random.default_rng([92, 8]).permutation(40)
    mixed = PLSA(3, **QUICK).fit(X[order], sample_weight=weight[order])
    np.testing.assert_allclose(
        mixed.components_, heavy.components_, rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("options", [{}, {"beta": 0.7}, {"smoothing": 0.2}])
@pytest.mark.parametrize("thin", [0.0, 0.9])
def test_the_form_of_the_data_does_not_matter(options, thin):
    X = documents(n=60, seed=9)[0]
    X[:-1] *= np.random.default_rng([92, 1]).random((59, 25)) >= thin
    plain = PLSA(2, **(QUICK | options)).fit(X)
    for kind in (sparse.csr_array, sparse.csc_matrix, pd.DataFrame, np.asfortranarray):
        data = kind(X)
        if kind is pd.DataFrame:
            data.columns = [f"word{w}" for w in range(25)]
        model = PLSA(2, **(QUICK | options)).fit(data)
        np.testing.assert_array_equal(model.components_, plain.components_)
        np.testing.assert_array_equal(model.transform(data), plain.transform(X))
    single = PLSA(2, **(QUICK | options)).fit(X.astype(np.float32))
    np.testing.assert_allclose(single.components_, plain.components_, rtol=1e-6)
    named = plain.set_output(transform="pandas").transform(X)
    assert list(named) == ["plsa0", "plsa1"]


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_empty_rows_and_columns(smoothing):
    X = documents(seed=10)[0]
    padded = np.zeros((43, 28))
    padded[1:41, 2:27] = X
    options = QUICK | {"n_topics": 2, "smoothing": smoothing}
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


def test_amounts_that_are_no_counts():
    rng = np.random.default_rng([92, 11])
    levels = np.exp(rng.normal(size=(30, 2)) @ rng.normal(size=(2, 80)))
    options = QUICK | {"n_topics": 3}
    model = PLSA(**options).fit(levels)
    other = PLSA(**options).fit(1e-6 * levels)
    np.testing.assert_allclose(other.components_, model.components_, rtol=1e-6)
    np.testing.assert_allclose(1e6 * other.topic_counts_, model.topic_counts_)
    np.testing.assert_allclose(other.gaps_, model.gaps_, rtol=1e-6)


def test_a_topic_may_die_out(monkeypatch):
    X = documents(seed=12)[0]
    model = PLSA(3, **QUICK)
    climb = PLSA._climb

    def dying(self, table, columns, rng):
        found = climb(self, table, columns, rng)
        found.theta[:, 1] = 1e-200
        return found

    monkeypatch.setattr(PLSA, "_climb", dying)
    model.fit(X)
    assert model.topic_prior_[1] == model.topic_counts_[1] == 0
    assert not model.transform(X)[:, 1].any()
    assert model.topic_prior_.sum() == pytest.approx(1)


def test_the_best_of_several_starts():
    X = documents(n=60, n_words=30, n_topics=6, seed=13)[0]
    rng = np.random.RandomState(4)
    options = {"n_topics": 6}
    single = [PLSA(**options, random_state=rng).fit(X) for _ in range(3)]
    many = PLSA(**options, random_state=4, n_init=3).fit(X)
    values = [model.log_likelihood_ for model in single]
    assert many.log_likelihood_ in values and max(values) > min(values)
    assert many.history_[-1] == max(model.history_[-1] for model in single)


def test_tempering_spreads_topics_out():
    X = documents(seed=14)[0]

    def entropy(model):
        Q = model.components_
        return -(Q * np.log(np.maximum(Q, 1e-300))).sum()

    plain, tempered = (PLSA(3, beta=b, **QUICK).fit(X) for b in (1.0, 0.6))
    assert entropy(tempered) > entropy(plain)
    assert tempered.log_likelihood_ < plain.log_likelihood_
    assert np.diff(tempered.history_).min() > 0


def test_topics_serve_a_classifier():
    X, theta, _ = documents(n=160, length=80, seed=16)
    y = theta.argmax(axis=1)
    model = make_pipeline(PLSA(random_state=0), MultinomialNB(alpha=0.01))
    grid = GridSearchCV(model, {"plsa__n_topics": [1, 3]}, cv=3).fit(X, y)
    assert grid.best_params_ == {"plsa__n_topics": 3}
    assert grid.best_score_ > 0.8


def test_too_few_steps_are_told():
    X = documents(seed=17)[0]
    with pytest.warns(ConvergenceWarning, match="max_iter=2 steps, of which the last"):
        model = PLSA(3, max_iter=2, random_state=0).fit(X)
    assert model.n_iter_ == 2 and np.diff(model.history_)[-1] > 1e-5 * X.sum()


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[1, 2], [3, -1]], {}, r"Negative values in data passed to PLSA \(input X\)"),
        ([[0, 0], [0, 0]], {}, "X holds no counts: all its numbers are zero"),
        (np.ones((5, 3)), {"n_topics": 4}, "n_topics=4 is more than .* n_features=3 c"),
        ([[1, 2], [0, 0]], {}, "stand in n_samples=1 rows .* use n_topics=1 or less"),
        (np.ones((3, 3)), {"n_topics": 0}, "'n_topics' parameter of PLSA must be an i"),
        (np.ones((3, 3)), {"beta": 1.1}, r"'beta' .* range \(0.0, 1.0\]. Got 1.1"),
        (np.ones((3, 3)), {"beta": 0}, r"'beta' .* range \(0.0, 1.0\]. Got 0 inst"),
        (np.ones((3, 3)), {"smoothing": -1}, r"'smoothing' .* \[0.0, inf\). Got -1"),
        (np.ones((3, 3)), {"tol": 0}, "'tol' .* Got 0 instead"),
        ([[1, np.nan]], {}, "contains NaN"),
        (np.full((3, 3), 1e308), {}, r"feature 0 of X is 1e\+308 in size"),
        (np.full((3, 3), 5e-324), {}, "feature 0 of X is 4.94066e-324 in size"),
        (1e308 * sparse.eye_array(8, format="csr"), {"smoothing": 1}, "in size"),
    ],
)
def test_bad_input_is_named(X, options, message):
    good = documents(seed=18)[0]
    model = PLSA(**QUICK).fit(good)
    before = pickle.dumps(vars(model) | {"_options": None})
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(**options).fit(X)
    with pytest.raises(ValueError, match=message):
        model.set_params(**options).fit(X)
    model.set_params(**{name: PLSA(**QUICK).get_params()[name] for name in options})
    assert pickle.dumps(vars(model) | {"_options": None}) == before


def test_new_documents_are_checked():
    model = PLSA(**QUICK)
    with pytest.raises(NotFittedError):
        model.transform([[1.0]])
    model.fit(documents(seed=19)[0])
    with pytest.raises(ValueError, match="X has 3 features, but PLSA is expecting 25"):
        model.transform(np.ones((2, 3)))
    with pytest.raises(ValueError, match="Negative values in data"):
        model.transform(-np.ones((2, 25)))
    with pytest.raises(ValueError, match=r"sample_weight\[0\] = -1.0"):
        model.fit(documents()[0], sample_weight=-np.ones(40))


OPTIONS = {"beta": 1.0, "smoothing": 0.0, "tol": 1e-12, "max_iter": 8}
CASES = [{}, {"beta": 0.6}, {"smoothing": 0.3}, {"beta": 0.8, "smoothing": 0.1}]


def climbed(X, theta, Q, **options):
    words = np.ascontiguousarray(Q.T)
    return climb(as_counts(X), theta, words, **(OPTIONS | options))


@pytest.mark.parametrize("case", CASES)
def test_steps_against_all_responsibilities(case):
    X = documents(length=30)[0]
    theta, Q = parameters(*X.shape, 3)
    found = climbed(X, theta, Q, **case)
    values = [objective(X, theta, Q, **case)]
    for _ in range(8):
        theta, Q = step(X, theta, Q, **case)
        values.append(objective(X, theta, Q, **case))
    np.testing.assert_allclose(found.theta, theta, rtol=1e-10)
    np.testing.assert_allclose(found.words.T, Q, rtol=1e-10)
    np.testing.assert_allclose(found.history, values, rtol=1e-12)
    assert np.diff(found.history).min() > 0


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("steps", [1, 5, 40])
def test_no_block_has_more_to_gain_than_certified(case, steps):
    """Either half of a step, taken again and again, climbs to the best of its block."""
    X = documents(length=30, seed=steps)[0]
    found = climbed(X, *parameters(*X.shape, 3, seed=steps), max_iter=steps, **case)
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


@pytest.mark.parametrize("case", CASES)
def test_it_stops_where_little_is_left(case):
    X = documents()[0]
    for tol in (1e-3, 1e-5):
        found = climbed(X, *parameters(*X.shape, 3), tol=tol, max_iter=5000, **case)
        gains = np.diff(found.history) / X.sum()
        assert gains[-1] <= tol < gains[:-1].min()


def test_the_default_ends_on_small_texts_and_scores_all_words():
    X, theta, _ = documents(n=120, n_words=200, length=30, seed=21)
    y = theta.argmax(axis=1)
    for kind in ("FESS-1", "LLR", "FS", "PD"):  # a warning would be an error
        found = GenerativeEmbedding(kind, random_state=0).fit_transform(X, y)
        assert np.isfinite(found).all()


def test_a_topic_without_words_keeps_them():
    X = documents()[0]
    theta, Q = parameters(*X.shape, 3)
    theta[:, 1] = 0.0
    found = climbed(X, theta / theta.sum(axis=1, keepdims=True), Q)
    np.testing.assert_array_equal(found.words.T[1], Q[1])
    assert np.isfinite(found.words).all() and not found.theta[:, 1].any()


def test_a_fall_of_the_objective_is_an_error(monkeypatch):
    honest, calls = plsa.log_terms, []

    def falling(counts, probability):
        calls.append(1)
        return honest(counts, probability) - 1e6 * len(calls)

    monkeypatch.setattr(plsa, "log_terms", falling)
    X = documents()[0]
    with pytest.raises(ValueError, match="step 1 of EM lowered the objective"):
        climbed(X, *parameters(*X.shape, 3))


def even(Q):
    return np.full(len(Q), 1 / len(Q))


@pytest.mark.parametrize("n_topics", [2, 3, 8])
def test_against_a_general_solver(n_topics):
    X, _, Q = documents(n=12, n_topics=n_topics, seed=n_topics)
    theta, gap = fold_in(X, Q, even(Q))
    assert gap.max() < 1e-8 * X.sum(axis=1).max()
    np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-14)
    assert theta.min() >= 0
    for counts, found, certified in zip(X, theta, gap, strict=True):
        seen = counts > 0

        def loss(t, counts=counts, seen=seen):
            return -counts[seen] @ np.log(t @ Q[:, seen])

        peer = minimize(
            loss,
            even(Q),
            method="SLSQP",
            bounds=[(0, 1)] * n_topics,
            constraints={"type": "eq", "fun": lambda t: t.sum() - 1},
            options={"ftol": 1e-12, "maxiter": 500},
        ).x
        peer = np.maximum(peer, 0) / np.maximum(peer, 0).sum()
        assert loss(found) <= loss(peer) + certified + 1e-9
        np.testing.assert_allclose(found, peer, rtol=1e-7, atol=2e-3)


def test_two_topics_by_the_root_of_the_derivative():
    Q = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    counts = np.array([5.0, 3.0, 4.0])

    def slope(t):
        return counts @ ((Q[0] - Q[1]) / (t * Q[0] + (1 - t) * Q[1]))

    t = brentq(slope, 0, 1, xtol=1e-14)
    for kind in (np.asarray, sparse.csr_array):
        theta, _ = fold_in(kind(counts[None]), Q, even(Q))
        np.testing.assert_allclose(theta, [[t, 1 - t]], rtol=1e-7, atol=1e-6)
    theta, _ = fold_in(np.array([[0.0, 0.0, 2.0]]), Q, even(Q))
    np.testing.assert_allclose(theta, [[0, 1]], rtol=1e-7, atol=1e-9)


def test_em_never_gets_beyond_the_certificate():
    X, _, _ = documents(n=30, seed=5)
    Q = parameters(30, 25, 6)[1]
    theta, gap = fold_in(X, Q, even(Q))
    other = np.full(theta.shape, 1 / 6)
    for _ in range(3000):
        other = step(X, other, Q)[0]
    gain = objective(X, other, Q) - objective(X, theta, Q)
    assert gain <= gap.sum()


def test_more_topics_than_words_have_a_middle():
    Q = parameters(1, 6, 9, seed=3)[1]
    theta, gap = fold_in(np.array([[3.0, 2, 0, 0, 0, 0]]), Q, even(Q))
    assert gap[0] < 5e-9
    twice = np.vstack([Q, Q])
    double, _ = fold_in(np.array([[3.0, 2, 0, 0, 0, 0]]), twice, even(twice))
    np.testing.assert_allclose(double[0, :9], double[0, 9:], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(
        double[0, :9] + double[0, 9:], theta[0], rtol=1e-7, atol=1e-3
    )


def test_what_tells_nothing_is_passed_over():
    Q = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 1.0, 0.0]])
    prior = np.array([0.7, 0.3, 0.0])
    X = np.array([[0, 0, 0, 0], [0, 0, 0, 9], [3, 4, 1, 0], [3, 4, 1, 50.0]])
    theta, gap = fold_in(X, Q, prior)
    np.testing.assert_array_equal(theta[:2], [prior, prior])
    np.testing.assert_allclose(theta[2], [0.75, 0.25, 0], rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(theta[2], theta[3])
    assert gap[0] == gap[1] == 0 and not theta[2:, 2].any()


@pytest.mark.parametrize("scale", [1e-90, 1e-3, 1e90])
def test_only_shares_of_counts_matter(scale):
    X, _, Q = documents(n=6)
    theta, _ = fold_in(X, Q, even(Q))
    np.testing.assert_allclose(
        fold_in(scale * X, Q, even(Q))[0], theta, rtol=1e-7, atol=1e-7
    )


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
    with pytest.warns(ConvergenceWarning, match="certified to .* nats a count only; c"):
        theta, gap = fold_in(X, Q, even(Q))
    monkeypatch.undo()
    best, _ = fold_in(X, Q, even(Q))
    for x, t, b, g in zip(X, theta, best, gap, strict=True):
        assert objective(x[None], b[None], Q) <= objective(x[None], t[None], Q) + g


def test_a_word_that_is_rare_under_all_topics_counts_like_any_other():
    Q = np.array([[0.5, 0.1, 0.4], [0.1, 0.7, 0.2]])
    X = np.array([[5.0, 3.0, 4.0], [0.0, 1.0, 6.0]])
    rare = Q * np.array([1.0, 1.0, 2.0**-1028])  # 1 over it is no number
    expected = fold_in(X, Q, even(Q))[0]
    found, gap = fold_in(X, rare, even(Q))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    assert (gap <= 1e-9 * X.sum(axis=1)).all()


@pytest.mark.parametrize("beta", [0.5, 0.8, 1.0])
def test_a_topic_that_no_document_has_changes_nothing(beta):
    X = documents(n=12)[0]
    theta, Q = parameters(*X.shape, 3, seed=4)
    theta[:, 2] = 0.0
    theta /= theta.sum(axis=1, keepdims=True)
    options = {
        "beta": beta,
        "smoothing": 0.0,
        "tol": 1e-300,
        "max_iter": 3,
    }
    found = climb(as_counts(X), theta, Q.T.copy(), **options)
    apart = climb(as_counts(X), theta[:, :2].copy(), Q[:2].T.copy(), **options)
    np.testing.assert_allclose(found.theta[:, :2], apart.theta, rtol=1e-12)
    np.testing.assert_allclose(found.words[:, :2], apart.words, rtol=1e-12)
    np.testing.assert_allclose(found.history, apart.history, rtol=1e-13)
    assert not found.theta[:, 2].any()
    np.testing.assert_array_equal(found.words[:, 2], Q[2])
    if beta < 1:
        np.testing.assert_allclose(found.gaps, apart.gaps, rtol=1e-9)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_what_is_told_of_a_fit_by_its_definitions(smoothing, kind):
    X = documents(n=14, n_words=9, seed=6)[0] * np.arange(1, 15)[:, None]
    X[:, 3] = 0
    X[4] = 0
    weight = np.r_[2.0, np.ones(10), 0.5, 0.0, 3.0]
    model = PLSA(3, smoothing=smoothing, tol=1e-7, random_state=0)
    model.fit(kind(X), sample_weight=weight)
    used = (X * weight[:, None])[np.r_[0:4, 5:12, 13]]
    length, total = used.sum(axis=1), used.sum()
    theta = fold_in(used, model.components_, model.topic_prior_)[0]
    share = length @ theta / total
    np.testing.assert_allclose(model.topic_prior_, share, rtol=0, atol=0.01)
    words = 9 if smoothing else 8
    np.testing.assert_allclose(
        model.topic_counts_, total * model.topic_prior_ + smoothing * words, rtol=1e-12
    )
    reached = joint(used, theta, model.components_)
    assert model.log_likelihood_ == pytest.approx(reached, rel=1e-4)
    added = smoothing * np.log(model.components_).sum() if smoothing else 0.0
    assert model.history_[-1] == pytest.approx(model.log_likelihood_ + added, rel=1e-12)
    assert model.n_parameters_ == 2 + 3 * (12 + 8 - 2)
    bic = model.n_parameters_ * np.log(total) / 2 - model.log_likelihood_
    assert model.bic_ == pytest.approx(bic, rel=1e-13)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0, rtol=1e-12)
    assert (model.components_[:, 3] > 0).all() == (smoothing > 0)
    gained = reached - model.log_likelihood_
    assert -1e-4 <= gained <= model.gaps_[0] * total + 1e-4
