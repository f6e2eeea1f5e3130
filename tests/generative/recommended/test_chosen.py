import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from memdlib import JointMaxEntClassifier, MeMdClassifier
from memdlib.estimator import BayesClassifier
from memdlib.generative.recommended.chosen import MODELS, ChosenMeMdClassifier
from memdlib.generative.recommended.samples import normal_scores
from memdlib.holdout import content_positions


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


def test_the_table_of_candidates_is_what_a_loop_finds():
    X, y, _, _ = wine()
    models = ["correlated", "full", ("plain", MODELS["plain"])]
    clf = ChosenMeMdClassifier(models, ["unchanged", "normal_scores"], random_state=4)
    clf.fit(X, y)
    table = clf.cv_results_
    assert table["model"].tolist() == ["correlated", "full", "plain"] * 2
    assert table["preparation"].tolist() == ["unchanged"] * 3 + ["normal_scores"] * 3
    n = len(y)
    at = content_positions(X, y, np.ones(n), np.random.RandomState(4))
    fold = np.floor(at * 5)
    losses = []
    for i, Z in enumerate([X] * 3 + [normal_scores(X)] * 3):
        log_p = np.empty((n, 3))
        for f in range(5):
            model = MODELS[table["model"][i]]
            model = type(model)(**model.get_params()).fit(Z[fold != f], y[fold != f])
            log_p[fold == f] = model.predict_log_proba(Z[fold == f])
        assert table["accuracy"][i] == pytest.approx((log_p.argmax(1) == y).mean())
        calibrated = mixture_by_hand(log_p / table["temperature"][i], 1 / (n + 1))
        losses.append(-np.log(calibrated[np.arange(n), y]))
        assert table["log_loss"][i] == pytest.approx(losses[-1].mean(), rel=1e-9)
        top = np.sort(log_p, axis=1)
        lead = np.median(top[:, -1] - top[:, -2]) / 3

        def objective(temperature, log_p=log_p, lead=lead):
            q = mixture_by_hand(log_p / temperature, 1 / (n + 1))
            price = np.log(lead / temperature) ** 2 / 2
            return price - np.log(q[np.arange(n), y]).sum()

        for factor in (0.7, 1.4):
            T = table["temperature"][i]
            assert objective(factor * T) > objective(T)
        gain = losses[0] - losses[-1]
        assert table["gained"][i] == pytest.approx(gain.mean(), abs=1e-9)
        assert table["error"][i] == pytest.approx(gain.std() / np.sqrt(n), abs=1e-9)
    for margin in (0.0, 0.5, 2.0, 50.0):
        again = ChosenMeMdClassifier(
            models, ["unchanged", "normal_scores"], margin=margin, random_state=4
        ).fit(X, y)
        eligible = np.flatnonzero(table["gained"] > margin * table["error"])
        best = min(eligible, key=lambda i: table["log_loss"][i], default=0)
        assert again.chosen_["model"] == table["model"][best]
        assert again.chosen_["preparation"] == table["preparation"][best]
        assert again.temperature_ == pytest.approx(table["temperature"][best])


def test_the_choice_is_fitted_to_all_rows_and_calibrated():
    X, y, Z, truth = wine()
    clf = ChosenMeMdClassifier(["full"], random_state=0).fit(X, y)
    whole = JointMaxEntClassifier("full").fit(X, y)
    assert clf.uniform_share_ == 1 / (1 + len(y))
    score = whole.predict_log_proba(Z) / clf.temperature_
    p = mixture_by_hand(score, clf.uniform_share_)
    np.testing.assert_allclose(clf.predict_proba(Z), p, rtol=1e-9)
    assert clf.predict(Z).tolist() == whole.predict(Z).tolist()
    assert clf.class_prior_.tolist() == whole.class_prior_.tolist()
    assert clf.best_estimator_.score(Z, truth) == clf.score(Z, truth)


def test_it_takes_what_the_data_ask_for():
    X, y = genes()
    ways = ["unchanged", "standardised", "normal_scores"]
    clf = ChosenMeMdClassifier(["correlated", "shrunken"], ways, random_state=0)
    clf.fit(X, y)
    assert clf.chosen_["preparation"] != "unchanged"
    loss, way = clf.cv_results_["log_loss"], clf.cv_results_["preparation"]
    assert loss[way == "normal_scores"].min() < loss[way == "unchanged"].min()


def test_calibrated_posteriors_have_less_log_loss():
    X, y = load_breast_cancer(return_X_y=True)
    train = np.arange(len(y)) % 2 == 0
    clf = ChosenMeMdClassifier(["plain"], random_state=0).fit(X[train], y[train])
    plain = MeMdClassifier(n_features=None).fit(X[train], y[train])

    def loss(model):
        log_p = model.predict_log_proba(X[~train])
        return -log_p[np.arange(len(log_p)), y[~train]].mean()

    assert clf.temperature_ > 2
    assert loss(clf) < 0.5 * loss(plain)


def test_code_length_is_that_of_the_folds_in_turn():
    X, y, _, _ = wine()
    models = ["correlated", "plain"]
    clf = ChosenMeMdClassifier(
        models, criterion="code_length", n_folds=4, random_state=3
    ).fit(X, y)
    at = content_positions(X, y, np.ones(len(y)), np.random.RandomState(3))
    fold = np.floor(4 * at)
    for i, name in enumerate(models):
        model, scores, codes = MODELS[name], [], []
        for f in (1, 2, 3):
            past, now = fold < f, fold == f
            part = type(model)(**model.get_params()).fit(X[past], y[past])
            scores.append(part.predict_log_proba(X[now]))
            codes.append(y[now])
        scores, codes = np.concatenate(scores), np.concatenate(codes)
        scores = scores / clf.cv_results_["temperature"][i]
        q = mixture_by_hand(scores, 1 / (1 + len(codes)))
        found = -np.log(q[np.arange(len(codes)), codes]).mean()
        assert clf.cv_results_["log_loss"][i] == pytest.approx(found, rel=1e-9)
        right = (scores.argmax(axis=1) == codes).mean()
        assert clf.cv_results_["accuracy"][i] == pytest.approx(right)
    # the folds after a row teach nothing about it
    everything = ChosenMeMdClassifier(models, n_folds=4, random_state=3).fit(X, y)
    assert clf.cv_results_["log_loss"][0] > everything.cv_results_["log_loss"][0]


def test_errors_as_criterion():
    X, y = genes(2)
    clf = ChosenMeMdClassifier(
        ["plain", "correlated"],
        ["unchanged", "normal_scores"],
        "accuracy",
        margin=0,
        random_state=0,
    ).fit(X, y)
    table = clf.cv_results_
    best = table["accuracy"].argmax()
    np.testing.assert_allclose(
        table["gained"], table["accuracy"] - table["accuracy"][0], rtol=0, atol=1e-12
    )
    assert clf.chosen_ == {
        "model": table["model"][best],
        "preparation": table["preparation"][best],
    }


def test_weights_are_copies():
    X, y, Z, _ = wine()
    weight = 1 + np.arange(len(y)) % 2
    models = ["correlated", "shrunken"]
    one = ChosenMeMdClassifier(models, random_state=2).fit(X, y, weight)
    two = ChosenMeMdClassifier(models, random_state=2)
    two.fit(X.repeat(weight, axis=0), y.repeat(weight))
    for name in ("log_loss", "accuracy", "gained", "error"):
        np.testing.assert_allclose(
            one.cv_results_[name], two.cv_results_[name], rtol=1e-6, atol=1e-12
        )
    np.testing.assert_allclose(
        one.predict_proba(Z), two.predict_proba(Z), rtol=0, atol=1e-7
    )


def test_hardly_any_rows():
    X = np.array([[0.0, 1.0], [3.0, 2.0]])
    clf = ChosenMeMdClassifier().fit(X, ["a", "b"])
    assert (clf.temperature_, clf.uniform_share_) == (1.0, 0.0)
    assert clf.chosen_["model"] == "correlated"
    assert clf.predict(X).tolist() == ["a", "b"]
    # a class of one row is in no training part when it is held out
    X = np.random.default_rng(0).normal(size=(13, 4))
    y = np.array([0] * 6 + [1] * 6 + [2])
    clf = ChosenMeMdClassifier(random_state=0).fit(X, y)
    assert np.isfinite(clf.cv_results_["log_loss"]).all()
    assert clf.predict_proba(X).shape == (13, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["naive"]}, r"models='naive' must be one of \['plain'"),
        ({"models": [("a", LogisticRegression())]}, "a name and a classifier of memd"),
        ({"models": []}, "one candidate at least"),
        ({"preparations": []}, "one candidate at least"),
        ({"preparations": ["log"]}, "preparations='log' must be one of"),
        ({"criterion": "loss"}, "'criterion' parameter"),
        ({"margin": -1}, "'margin' parameter"),
        ({"n_folds": 1}, "'n_folds' parameter"),
    ],
)
def test_what_cannot_be_used_is_named(options, message):
    X, y, _, _ = wine()
    clf = ChosenMeMdClassifier(**options)
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_sparse_data_are_refused():
    X, y, _, _ = wine()
    with pytest.raises(TypeError, match="toarray"):
        ChosenMeMdClassifier().fit(sparse.csr_array(X), y)


def test_a_margin_of_zero_where_no_row_could_be_held_out():
    X, y = np.random.default_rng([45, 9]).random((2, 2)), [0, 1]
    for margin in (0.0, np.float64(0)):
        model = ChosenMeMdClassifier(["plain", "correlated"], margin=margin, n_folds=2)
        assert model.fit(X, y).chosen_["model"] == "plain"


def test_a_lone_value_is_named():
    rng = np.random.default_rng(9)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 4)) + y[:, None]
    X[:, 3] = np.arange(120) == 5  # a mark that one row has is no lone value
    clf = ChosenMeMdClassifier(["correlated"], random_state=0).fit(X, y)
    for value in (1e3, -1e300):
        Z = X.copy()
        Z[7, 2] = value
        with pytest.warns(UserWarning, match=r"row 7 holds .* in feature 2"):
            clf.fit(Z, y)
    Z[8, 2] = -9e299  # two are no accident
    clf.fit(Z, y)
    ranks = ChosenMeMdClassifier(["correlated"], ["normal_scores"], random_state=0)
    Z[8, 2] = 0.0
    ranks.fit(Z, y)


def test_the_margin_decides_between_the_first_candidate_and_a_better_one():
    X, y = load_breast_cancer(return_X_y=True)

    def chosen(margin):
        models = ["plain", "correlated"]
        return ChosenMeMdClassifier(models, margin=margin, random_state=0).fit(X, y)

    table = chosen(0.0).cv_results_
    reached = table["gained"][1] / table["error"][1]
    assert reached > 0
    for share, best in ((0.99, "correlated"), (1.01, "plain")):
        assert chosen(share * reached).chosen_["model"] == best


def test_what_is_fitted_is_the_model_that_is_named():
    X, y = genes()
    ways = ["unchanged", "normal_scores"]
    for models in (["correlated", "plain"], ["plain", "correlated"]):
        clf = ChosenMeMdClassifier(models, ways, margin=0.0, random_state=0).fit(X, y)
        assert clf.chosen_ == {"model": "correlated", "preparation": "normal_scores"}
        assert type(clf.best_estimator_) is type(MODELS["correlated"])


class Sure(BayesClassifier):
    """Knows the classes of negative and other values, and is wrong in one row."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def _joint_log_density(self, X):
        return np.where((X[:, :1] < 0) == [[True, False]], 0.0, -np.inf)


def test_a_first_candidate_of_infinite_loss_is_beaten():
    rng = np.random.default_rng([45, 10])
    y = np.arange(60) % 2
    X = np.where(y, 1.0, -1.0)[:, None] + 0.1 * rng.normal(size=(60, 2))
    X[0, 0] = 1.0
    clf = ChosenMeMdClassifier([("sure", Sure()), "plain"], random_state=0).fit(X, y)
    assert np.isinf(clf.cv_results_["log_loss"]).tolist() == [True, False]
    assert clf.cv_results_["gained"].tolist() == [0.0, np.inf]
    assert clf.cv_results_["error"].tolist() == [np.inf, 0.0]
    assert clf.chosen_["model"] == "plain"
