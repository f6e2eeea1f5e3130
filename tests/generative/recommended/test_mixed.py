import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from memdlib import JointMaxEntClassifier, MeMdClassifier
from memdlib.estimator import BayesClassifier
from memdlib.generative import CorrelatedMeMdClassifier
from memdlib.generative.recommended import mixed
from memdlib.generative.recommended.mixed import MixedMeMdClassifier, weigh
from memdlib.generative.recommended.samples import normal_scores
from memdlib.generative.recommended.weights import fit_mixture_weights
from memdlib.holdout import content_positions

CORRELATED = ("correlated", CorrelatedMeMdClassifier())
PLAIN = ("plain", MeMdClassifier(n_features=None))
FULL = ("full", JointMaxEntClassifier("full"))
THREE = [CORRELATED, FULL, PLAIN]


def on_scores(candidate):
    """The same after normal scores of each row."""
    name, model = candidate
    return f"{name}, scores", make_pipeline(FunctionTransformer(normal_scores), model)


def wine():
    X, y = load_wine(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


def genes(seed=0, n=40, d=60):
    """Samples whose chips differ in level and range, and correlated genes."""
    rng = np.random.default_rng([45, seed])
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 3)) @ rng.normal(size=(3, d))
    X[:, :5] += 2 * y[:, None]
    return np.exp(rng.uniform(0.5, 2, size=(n, 1)) * (X + 3)), y


def mixture_by_hand(scores, share):
    """Posteriors softmax(scores), mixed with uniform ones."""
    return (1 - share) * softmax(scores, axis=1) + share / scores.shape[1]


@pytest.mark.parametrize("lead", [None, 2.0])
def test_the_mixture_is_what_a_loop_finds(lead):
    X, y, Z, _ = wine()
    candidates = [*THREE, *map(on_scores, THREE)]
    clf = MixedMeMdClassifier(candidates, random_state=4, lead=lead).fit(X, y)
    table = clf.cv_results_
    assert table["name"].tolist() == [name for name, _ in candidates]
    n = len(y)
    at = content_positions(X, y, np.ones(n), np.random.RandomState(4))
    fold, own = np.floor(at * 5), (np.arange(n), y)
    told, tested = [], []
    for i, (_, model) in enumerate([*THREE, *THREE]):
        A, B = (M if i < 3 else normal_scores(M) for M in (X, Z))
        log_p, T = np.empty((n, 3)), table["temperature"][i]
        for f in range(5):
            part = type(model)(**model.get_params()).fit(A[fold != f], y[fold != f])
            log_p[fold == f] = part.predict_log_proba(A[fold == f])
        assert table["accuracy"][i] == pytest.approx((log_p.argmax(1) == y).mean())
        told.append(np.log(mixture_by_hand(log_p / T, 0.5 / (n + 1))[own]))
        assert table["log_loss"][i] == pytest.approx(-told[-1].mean(), rel=1e-9)

        top = np.sort(log_p, axis=1)
        expected = np.median(top[:, -1] - top[:, -2]) / lead if lead else 1.0

        def objective(temperature, log_p=log_p, expected=expected):
            q = mixture_by_hand(log_p / temperature, 0.5 / (n + 1))
            price = np.log(temperature / expected) ** 2 / 2
            return price - np.log(q[own]).sum()

        for factor in (0.7, 1.4):
            assert objective(factor * T) > objective(T)
        whole = type(model)(**model.get_params()).fit(A, y)
        scores = whole.predict_log_proba(B) / T
        tested.append(mixture_by_hand(scores, 0.5 / (n + 1)))
    weights = fit_mixture_weights(np.transpose(told)).weights
    weights = np.where(weights < 1 / (n + 1), 0, weights)
    weights /= weights.sum()
    np.testing.assert_allclose(table["weight"], weights, rtol=0, atol=1e-6)
    assert clf.names_ == table["name"][weights > 0].tolist()
    np.testing.assert_array_equal(clf.estimator_weights_, table["weight"][weights > 0])
    assert 0 <= clf.duality_gap_ <= 1e-8
    p = np.tensordot(table["weight"], tested, 1)
    np.testing.assert_allclose(clf.predict_proba(Z), p, rtol=1e-8)
    np.testing.assert_allclose(clf.decision_function(Z), np.log(p), rtol=0, atol=1e-8)
    assert clf.predict(Z).tolist() == p.argmax(axis=1).tolist()
    assert clf.predict_proba(Z).min() >= clf.uniform_share_ / 3
    assert clf.class_prior_ == pytest.approx(np.bincount(y) / n)


def test_what_is_mixed_predicts_by_itself():
    X, y = genes()
    X = np.log(X)
    clf = MixedMeMdClassifier([PLAIN, on_scores(CORRELATED)], random_state=0).fit(X, y)
    assert clf.names_ == ["plain", "correlated, scores"]
    whole = CorrelatedMeMdClassifier().fit(normal_scores(X), y)
    ours = clf.estimators_[1].predict_log_proba(X)
    np.testing.assert_allclose(ours, whole.predict_log_proba(normal_scores(X)))


def test_one_candidate_is_calibrated():
    X, y, Z, _ = wine()
    clf = MixedMeMdClassifier([FULL], random_state=0).fit(X, y)
    whole = JointMaxEntClassifier("full").fit(X, y)
    assert clf.uniform_share_ == 0.5 / (1 + len(y))
    score = whole.predict_log_proba(Z) / clf.cv_results_["temperature"]
    p = mixture_by_hand(score, clf.uniform_share_)
    np.testing.assert_allclose(clf.predict_proba(Z), p, rtol=1e-9)
    assert clf.predict(Z).tolist() == whole.predict(Z).tolist()
    assert clf.estimator_weights_.tolist() == [1.0]


def test_it_weights_what_the_data_ask_for():
    X, y = genes()
    clf = MixedMeMdClassifier([CORRELATED, on_scores(CORRELATED)], random_state=0)
    clf.fit(X, y)
    loss, weight = clf.cv_results_["log_loss"], clf.cv_results_["weight"]
    assert loss[1] < loss[0]
    assert weight[1] > 0.8


def test_a_mixture_is_no_worse_than_the_best_on_held_out_rows():
    X, y = load_breast_cancer(return_X_y=True)
    clf = MixedMeMdClassifier(THREE, random_state=0).fit(X[::2], y[::2])
    assert (clf.cv_results_["weight"] > 0).sum() > 1
    alone = MixedMeMdClassifier([PLAIN], random_state=0).fit(X[::2], y[::2])

    def loss(model):
        log_p = model.predict_log_proba(X[1::2])
        return -log_p[np.arange(len(log_p)), y[1::2]].mean()

    assert loss(clf) < loss(alone)
    assert loss(alone) < 0.5 * loss(PLAIN[1].fit(X[::2], y[::2]))


def test_steps_that_learn_nothing_are_taken_once():
    X, y = genes()
    X, seen = np.log(X), []

    def count(Z):
        seen.append(len(Z))
        return normal_scores(Z)

    step = FunctionTransformer(count)
    models = [(name, make_pipeline(step, model)) for name, model in (CORRELATED, PLAIN)]
    clf = MixedMeMdClassifier(models, random_state=0).fit(X, y)
    assert seen == [len(X)]
    clf.predict(X[:7])
    assert seen == [len(X), 7]


def test_steps_that_learn_see_no_row_held_out():
    X, y = genes()
    X = np.log(X)
    at = content_positions(X, y, np.ones(40), np.random.RandomState(2))
    fold = np.floor(5 * at)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    clf = MixedMeMdClassifier([("logistic", model)], random_state=2).fit(X, y)
    right = [
        (model.fit(X[fold != f], y[fold != f]).predict(X[fold == f]) == y[fold == f])
        for f in range(5)
    ]
    assert clf.cv_results_["accuracy"][0] == pytest.approx(np.concatenate(right).mean())


def test_a_share_is_held_out_once():
    X, y, _, _ = wine()
    clf = MixedMeMdClassifier([PLAIN], validation=0.4, random_state=1).fit(X, y)
    at = content_positions(X, y, np.ones(len(y)), np.random.RandomState(1))
    held = at < 0.4
    assert clf.uniform_share_ == 0.5 / (1 + held.sum())
    part = MeMdClassifier(n_features=None).fit(X[~held], y[~held])
    assert clf.cv_results_["accuracy"][0] == pytest.approx(part.score(X[held], y[held]))


def test_of_many_rows_some_are_held_out(monkeypatch):
    X, y, Z, _ = wine()
    whole = MixedMeMdClassifier([PLAIN], random_state=1).fit(X, y)
    for most, n_folds in ((len(y), 5), (50, 3), (10, 1)):
        monkeypatch.setattr(mixed, "MOST_HELD_OUT", most)
        clf = MixedMeMdClassifier([PLAIN], random_state=1).fit(X, y)
        at = content_positions(X, y, np.ones(len(y)), np.random.RandomState(1))
        share = n_folds / 5 if n_folds > 1 else most / len(y)
        assert clf.uniform_share_ == pytest.approx(0.5 / (1 + (at < share).sum()))
        # the model is one of all rows
        best = clf.predict(Z)
        np.testing.assert_array_equal(best, whole.predict(Z))


def test_jobs_and_words_change_nothing(capfd):
    X, y, Z, _ = wine()
    one = MixedMeMdClassifier(random_state=2).fit(X, y)
    assert capfd.readouterr().err == ""
    two = MixedMeMdClassifier(random_state=2, n_jobs=2, verbose=1).fit(X, y)
    assert "out of   5" in capfd.readouterr().err
    np.testing.assert_array_equal(one.predict_proba(Z), two.predict_proba(Z))


def test_hardly_any_rows():
    X = np.array([[0.0, 1.0], [3.0, 2.0]])
    clf = MixedMeMdClassifier().fit(X, ["a", "b"])
    assert clf.uniform_share_ == 0.0
    assert clf.names_ == ["correlated"]
    assert clf.predict(X).tolist() == ["a", "b"]
    # a class of one row is in no training part when it is held out
    X = np.random.default_rng(0).normal(size=(13, 4))
    y = np.array([0] * 6 + [1] * 6 + [2])
    clf = MixedMeMdClassifier(random_state=0).fit(X, y)
    assert np.isfinite(clf.cv_results_["log_loss"]).all()
    assert clf.predict_proba(X).shape == (13, 3)
    assert clf.estimator_weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimators": ["naive"]}, "estimators holds 'naive'; give pairs"),
        ({"estimators": [("a", KNeighborsClassifier())]}, "fit takes sample_weight"),
        ({"estimators": [("a", StandardScaler())]}, "predict_log_proba"),
        ({"estimators": []}, "one candidate at least"),
        ({"validation": 1}, "'validation' parameter"),
        ({"validation": 1.5}, "'validation' parameter"),
        ({"lead": 0.0}, "'lead' parameter"),
    ],
)
def test_what_cannot_be_used_is_named(options, message):
    X, y, _, _ = wine()
    clf = MixedMeMdClassifier(**options)
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_sparse_data_are_refused():
    X, y, _, _ = wine()
    with pytest.raises(TypeError, match="toarray"):
        MixedMeMdClassifier().fit(sparse.csr_array(X), y)


def test_a_lone_value_is_named():
    rng = np.random.default_rng(9)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 4)) + y[:, None]
    X[:, 3] = np.arange(120) == 5  # a mark that one row has is no lone value
    clf = MixedMeMdClassifier([CORRELATED], random_state=0).fit(X, y)
    for value in (1e3, -1e90):
        Z = X.copy()
        Z[7, 2] = value
        with pytest.warns(UserWarning, match=r"row 7 holds .* in feature 2"):
            clf.fit(Z, y)
    frame = pd.DataFrame(Z, columns=["age", "size", "pulse", "mark"])
    with pytest.warns(UserWarning, match=r"row 7 holds .* in feature 'pulse'"):
        clf.fit(frame, y)
    Z[8, 2] = -9e89  # two are no accident
    clf.fit(Z, y)
    ranks = MixedMeMdClassifier([on_scores(CORRELATED)], random_state=0)
    Z[8, 2] = 0.0
    ranks.fit(Z, y)


class Sure(BayesClassifier):
    """Knows the classes of negative and other values, and is wrong in one row."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def _joint_log_density(self, X):
        return np.where((X[:, :1] < 0) == [[True, False]], 0.0, -np.inf)


def test_a_candidate_that_held_out_rows_rule_out_is_left_out():
    rng = np.random.default_rng([45, 10])
    y = np.arange(60) % 2
    X = np.where(y, 1.0, -1.0)[:, None] + 0.1 * rng.normal(size=(60, 2))
    X[0, 0] = 1.0
    clf = MixedMeMdClassifier([("sure", Sure()), PLAIN], random_state=0).fit(X, y)
    assert np.isinf(clf.cv_results_["log_loss"]).tolist() == [True, False]
    assert clf.names_ == ["plain"]
    only = MixedMeMdClassifier([("sure", Sure())], random_state=0).fit(X, y)
    assert only.names_ == ["sure"]


def test_members_of_unequal_classes_and_weights():
    rng = np.random.default_rng([45, 20])
    names = np.array(["large", "middle", "small"])
    codes = rng.permutation(np.repeat([0, 1, 2], [60, 25, 15]))
    X = rng.normal(size=(100, 5)) * [1.0, 20.0, 0.1, 3.0, 1.0]
    X = X @ rng.normal(size=(5, 5)) + 2 * np.eye(3, 5)[codes]
    weight = rng.uniform(0.3, 4.0, 100)
    candidates = [CORRELATED, on_scores(PLAIN), FULL, PLAIN]
    clf = MixedMeMdClassifier(candidates, validation=3, random_state=6)
    clf.fit(X, names[codes], sample_weight=weight)
    share = np.bincount(codes, weight) / weight.sum()
    np.testing.assert_allclose(clf.class_prior_, share)
    assert clf.classes_.tolist() == names.tolist()
    assert clf.uniform_share_ == pytest.approx(0.5 / (1 + weight.sum()))
    at = content_positions(X, codes, weight, np.random.RandomState(6))
    fold, table, p = np.floor(at * 3), clf.cv_results_, 0.0
    members = dict(zip(clf.names_, clf.estimators_, strict=True))
    for i, (name, model) in enumerate(candidates):
        log_p, T = np.empty((100, 3)), table["temperature"][i]
        base = model[-1] if name.endswith("scores") else model
        rows = normal_scores(X) if name.endswith("scores") else X
        for f in range(3):
            train = fold != f
            part = clone(base).fit(rows[train], codes[train], weight[train])
            log_p[~train] = part.predict_log_proba(rows[~train])
        right = np.average(log_p.argmax(axis=1) == codes, weights=weight)
        assert table["accuracy"][i] == pytest.approx(right)
        q = mixture_by_hand(log_p / T, clf.uniform_share_)[np.arange(100), codes]
        loss = -np.average(np.log(q), weights=weight)
        assert table["log_loss"][i] == pytest.approx(loss, rel=1e-8)
        if name in members:
            whole = clone(base).fit(rows, names[codes], weight)
            theirs = whole.predict_log_proba(rows)
            ours = members[name].predict_log_proba(X)
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
            assert members[name].classes_.tolist() == names.tolist()
            p = p + table["weight"][i] * mixture_by_hand(theirs / T, clf.uniform_share_)
    np.testing.assert_allclose(clf.predict_proba(X), p, rtol=1e-7)
    assert clf.predict(X).tolist() == names[p.argmax(axis=1)].tolist()


def told(seed, n=40, J=3):
    """Log posteriors of rows held out by models that know more or less."""
    rng = np.random.default_rng([45, 30, seed])
    codes = rng.permutation(np.arange(n) % 5 // 2)
    lead = (
        rng.normal(size=(J, n, 3))
        + np.arange(1, J + 1)[:, None, None] * np.eye(3)[codes]
    )
    return [log_softmax(2 * scores, axis=1) for scores in lead], codes


@pytest.mark.parametrize("lead", [None, 3.0])
def test_weights_of_held_out_rows_are_copies(lead):
    scores, codes = told(1)
    counts = 1 + np.arange(40) % 3
    one = weigh(scores, codes, counts.astype(float), lead)
    many = [score.repeat(counts, axis=0) for score in scores]
    two = weigh(many, codes.repeat(counts), np.ones(counts.sum()), lead)
    for name in ("weights", "temperatures", "log_losses", "accuracies"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(two, name), rtol=0, atol=1e-5
        )
    assert one.uniform_share == two.uniform_share == 0.5 / (1 + counts.sum())
    assert 0.0 <= one.gap <= 1e-8
    assert one.weights.sum() == pytest.approx(1.0)


def test_candidates_that_hold_less_than_a_row_are_left_out():
    scores, codes = told(2, 60)
    wrong = log_softmax(-4.0 * np.eye(3)[codes], axis=1)
    found = weigh([wrong, *scores, wrong], codes, np.ones(60), 3.0)
    assert found.weights[[0, 4]].tolist() == [0.0, 0.0]
    kept = np.flatnonzero(found.weights)
    assert (found.weights[kept] >= 1 / 61).all()
    assert found.weights.sum() == pytest.approx(1.0)
    # those that are left out have been measured all the same
    assert found.accuracies[0] == 0.0
    assert np.isfinite(found.log_losses).all()
    # and none is left out where all hold less
    alike = weigh([scores[2][:4]] * 6, codes[:4], np.full(4, 0.25), 3.0)
    np.testing.assert_allclose(alike.weights, 1 / 6)


def test_without_rows_held_out_the_first_is_taken_as_it_is():
    found = weigh([np.empty((0, 2))] * 3, np.empty(0, dtype=int), np.empty(0), 3.0)
    assert found.weights.tolist() == [1.0, 0.0, 0.0]
    assert found.temperatures.tolist() == [1.0] * 3
    assert np.isinf(found.log_losses).all()
    assert np.isnan(found.accuracies).all()
    assert (found.uniform_share, found.gap) == (0.0, 0.0)


def test_an_impossible_class_leaves_a_candidate_out_wherever_it_stands():
    scores, codes = told(3)
    never = scores[1].copy()
    never[7, codes[7]] = -np.inf
    for place in range(3):
        given = [scores[0], scores[2]]
        given.insert(place, never)
        found = weigh(given, codes, np.ones(40), None)
        rest = weigh([scores[0], scores[2]], codes, np.ones(40), None)
        others = np.arange(3) != place
        np.testing.assert_allclose(found.weights[others], rest.weights)
        np.testing.assert_allclose(found.log_losses[others], rest.log_losses)
        assert (found.weights[place], found.temperatures[place]) == (0.0, 1.0)
        assert found.log_losses[place] == np.inf
        assert found.accuracies[place] == (never.argmax(axis=1) == codes).mean()
        assert found.gap == rest.gap
    # any other class may be impossible
    maybe = scores[2].copy()
    maybe[7, codes[7] - 1] = -np.inf
    assert np.isfinite(weigh([maybe], codes, np.ones(40), None).log_losses).all()


def symmetric(lone):
    """A feature of median zero whose values are two at most, but for one."""
    X = np.column_stack([np.linspace(-2, 2, 41), np.cos(np.arange(41))])
    X[0, 0] = -lone
    return X, np.arange(41) % 2


def test_a_value_is_lone_from_thirty_times_the_next_on():
    clf = MixedMeMdClassifier([PLAIN], random_state=0)
    clf.fit(*symmetric(59.0))
    message = (
        r"^row 0 holds -61 in feature 0, more than 30 times as far from its median as "
        r"any other row: correct the value or leave the row out if it is an error, or "
        r"put a transformer that bounds it in front, such as "
        r"sklearn\.preprocessing\.QuantileTransformer$"
    )
    with pytest.warns(UserWarning, match=message) as told:
        clf.fit(*symmetric(61.0))
    assert told[0].filename == __file__  # where the user called it
    X, y = symmetric(1e3)
    X[17, 1] = 1e5  # of two features the one that is further away
    with pytest.warns(UserWarning, match="row 17 holds 100000 in feature 1"):
        clf.fit(X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("validation", 0.0),
        ("validation", 1.0),
        ("lead", -1.0),
        ("verbose", -1),
        ("n_jobs", 1.5),
        ("estimators", "all"),
    ],
)
def test_what_is_out_of_range_is_named(name, value):
    X, y, _, _ = wine()
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        MixedMeMdClassifier(**{name: value}).fit(X, y)


def test_the_candidates_by_default_are_two():
    X, y, _, _ = wine()
    one = MixedMeMdClassifier(random_state=0).fit(X, y)
    pair = [CORRELATED, ("shrunken", MeMdClassifier(shrinkage="auto"))]
    two = MixedMeMdClassifier(pair, random_state=0).fit(X, y)
    assert one.cv_results_["name"].tolist() == ["correlated", "shrunken"]
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("kind", [np.float32, np.int16])
def test_other_types_are_taken_as_doubles(kind):
    X, y, _, _ = wine()
    X = (10 * X[:, :6]).astype(kind)
    before = X.copy()
    models = [
        MixedMeMdClassifier([CORRELATED, on_scores(PLAIN)], random_state=0).fit(M, y)
        for M in (X, X.astype(float))
    ]
    one, two = (model.predict_proba(X) for model in models)
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-9)
    assert one.dtype == np.float64
    np.testing.assert_array_equal(X, before)
