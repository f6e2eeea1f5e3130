import pickle

import numpy as np
import pytest
from scipy import linalg, optimize, sparse, special, stats
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Ridge
from sklearn.preprocessing import Normalizer, StandardScaler

from memdlib.datasets import simulate_text_counts
from memdlib.families import Bernoulli, Normal, get
from memdlib.generative.correlated import ridge as ridge_module
from memdlib.generative.correlated.ridge import (
    RidgeDiscriminantClassifier,
    RidgeModel,
    check_products,
    class_marginals,
    holds_any,
    marginal_scores,
    needed_families,
    penalties_and_powers,
)
from memdlib.generative.marginals import ClassMarginals, family_moments
from memdlib.holdout import content_positions


def words(n_documents=120, n_words=300, n_classes=3, seed=4):
    text = simulate_text_counts(
        n_documents=n_documents, n_words=n_words, n_classes=n_classes, seed=seed
    )
    return sparse.csr_array(Normalizer().fit_transform(text.X)), text.y


def tall():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.mark.parametrize("data", [words, tall])
@pytest.mark.parametrize("penalty", [0.1, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_coefficients_are_those_of_ridge_on_indicators(data, penalty, weighted):
    X, y = data()
    weight = np.random.default_rng(1).uniform(0.5, 3.0, len(y)) if weighted else None
    clf = RidgeDiscriminantClassifier(penalty, tol=1e-10).fit(X, y, weight)
    theirs = Ridge(penalty, solver="cholesky")
    theirs.fit(dense(X), np.eye(3)[y], sample_weight=weight)
    np.testing.assert_allclose(clf.coef_, theirs.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(clf.intercept_, theirs.intercept_, rtol=0, atol=1e-8)
    scores = theirs.predict(dense(X)) / clf.temperature_
    expected = mixture_by_hand(scores, clf.uniform_share_)
    np.testing.assert_allclose(clf.predict_proba(X), expected, rtol=0, atol=1e-6)


def test_two_classes_have_the_direction_of_the_regularised_discriminant():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    clf = RidgeDiscriminantClassifier(5.0, tol=1e-10).fit(X, y)
    means = [X[y == k].mean(axis=0) for k in (0, 1)]
    within = sum((y == k).mean() * np.cov(X[y == k].T, bias=True) for k in (0, 1))
    ridge = within + 5.0 / len(y) * np.eye(X.shape[1])
    direction = linalg.solve(ridge, means[1] - means[0], assume_a="pos")
    ours = clf.coef_[1] - clf.coef_[0]
    cosine = ours @ direction / linalg.norm(ours) / linalg.norm(direction)
    assert cosine == pytest.approx(1.0, abs=1e-12)


def test_choice_and_temperature_against_dense_solves(monkeypatch):
    X, y = words(n_documents=150)
    penalties, powers = (0.1, 1.0, 5.0), (0.0, 0.5)
    monkeypatch.setattr(ridge_module, "FOLD_TOL", 0.0)
    clf = RidgeDiscriminantClassifier(
        penalties, powers, "js_gm", validation=3, tol=1e-12, random_state=7
    ).fit(X, y)
    rng = np.random.RandomState(7)
    fold = (3 * content_positions(X, y, np.ones(len(y)), rng)).astype(int)
    losses = np.empty((2, 3))
    temperatures = np.empty((2, 3))
    for p, power in enumerate(powers):
        for q, penalty in enumerate(penalties):
            scores = np.empty((len(y), 3))
            for f in range(3):
                train, test = fold != f, fold == f
                Z = weighted_by_hand(X[train], y[train], X, power)
                ridge = Ridge(penalty, solver="cholesky")
                ridge.fit(Z[train], np.eye(3)[y[train]])
                scores[test] = ridge.predict(Z[test])
            losses[p, q], temperatures[p, q] = calibrated_loss(scores, y)
    np.testing.assert_allclose(clf.validation_log_loss_, losses, rtol=0, atol=1e-7)
    p, q = np.unravel_index(losses.argmin(), losses.shape)
    assert (clf.power_, clf.penalty_) == (powers[p], penalties[q])
    assert clf.temperature_ == pytest.approx(temperatures[p, q], rel=1e-5)


def test_folds_solved_roughly_choose_alike(monkeypatch):
    X, y = words(n_documents=200)
    rough = RidgeDiscriminantClassifier(powers=(0.0, 0.5), random_state=0).fit(X, y)
    monkeypatch.setattr(ridge_module, "FOLD_TOL", 0.0)
    exact = RidgeDiscriminantClassifier(
        powers=(0.0, 0.5), tol=1e-10, random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(
        rough.validation_log_loss_, exact.validation_log_loss_, rtol=0.05
    )
    assert (rough.power_, rough.penalty_) == (exact.power_, exact.penalty_)


def test_powers_are_tried_until_one_is_no_better():
    X, y = tall()
    X = X - X.min(axis=0)
    clf = RidgeDiscriminantClassifier(powers=(0.0, 0.0, 0.5), random_state=0).fit(X, y)
    assert np.isnan(clf.validation_log_loss_).all(axis=1).tolist() == [0, 0, 1]
    assert clf.power_ == 0.0


def weighted_by_hand(train, y, X, power):
    """Rows of columns times (JS_GM of smoothed Bernoullis over its maximum)^power."""
    seen = train.toarray() > 0
    prior = np.bincount(y) / len(y)
    share = np.array(
        [
            (seen[y == k].sum(axis=0) + seen.mean(axis=0)) / ((y == k).sum() + 1)
            for k in np.unique(y)
        ]
    )
    two = np.clip(np.stack([share, 1 - share]), 1e-300, None)
    mean = np.exp(np.einsum("k,tkj->tj", prior, np.log(two)))
    each = (two * np.log(two / mean[:, None])).sum(axis=0)
    value = prior @ each
    value = np.maximum(value, 0.0)  # rounding
    Z = X.toarray() * (value / value.max()) ** power
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / length * np.linalg.norm(X.toarray(), axis=1, keepdims=True)


def mixture_by_hand(scores, share):
    """Posteriors softmax(scores), mixed with uniform ones."""
    return (1 - share) * special.softmax(scores, axis=1) + share / scores.shape[1]


def calibrated_loss(scores, y):
    """Log-loss where it is least beside the price of a median lead other than 1 nat."""
    n = len(y)
    top = np.sort(scores, axis=1)
    lead = np.median(top[:, -1] - top[:, -2])

    def loss(log_beta):
        q = mixture_by_hand(np.exp(log_beta) * scores, 0.5 / (n + 1))
        return -np.mean(np.log(q[np.arange(n), y]))

    found = optimize.minimize_scalar(
        lambda b: n * loss(b) + (b + np.log(lead)) ** 2 / 2,
        bracket=(0.0, 3.0),
        options={"xtol": 1e-10},
    )
    return loss(found.x), np.exp(-found.x)


@pytest.mark.parametrize("powers", [0.0, 0.25])
def test_weights_mean_copies(powers):
    X, y = words(n_documents=60, n_words=100)
    times = np.random.default_rng(2).integers(0, 4, len(y))
    options = {"powers": powers, "tol": 1e-9, "random_state": 0}
    one = RidgeDiscriminantClassifier(**options).fit(X, y, times)
    rows = np.repeat(np.arange(len(y)), times)
    two = RidgeDiscriminantClassifier(**options).fit(X[rows], y[rows])
    assert one.penalty_ == two.penalty_
    np.testing.assert_allclose(
        one.predict_log_proba(X), two.predict_log_proba(X), rtol=0, atol=1e-6
    )


def test_dense_sparse_and_single_precision_agree():
    X, y = words()
    X = X.astype(np.float32).astype(np.float64)
    options = {"powers": (0.0, 0.5), "tol": 1e-9, "random_state": 0}
    one = RidgeDiscriminantClassifier(**options).fit(X, y)
    two = RidgeDiscriminantClassifier(**options).fit(X.toarray(), y)
    three = RidgeDiscriminantClassifier(**options).fit(X.astype(np.float32), y)
    proba = one.predict_proba(X)
    np.testing.assert_allclose(two.predict_proba(X.toarray()), proba, rtol=0, atol=1e-7)
    np.testing.assert_allclose(three.predict_proba(X), proba, rtol=0, atol=1e-4)


def test_class_weight():
    X, y = tall()
    y = y[:110]
    X = X[:110]
    weight = np.where(y == 2, 5.0, 1.0)
    one = RidgeDiscriminantClassifier(1.0, class_weight={2: 5.0}, random_state=0)
    two = RidgeDiscriminantClassifier(1.0, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(one.fit(X, y).coef_, two.coef_)
    np.testing.assert_allclose(one.class_prior_, two.class_prior_)
    balanced = RidgeDiscriminantClassifier(1.0, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.class_prior_, 1 / 3)


@pytest.mark.parametrize("data", [words, tall])
def test_the_certificate_is_computed_from_the_solution(data):
    X, y = data()
    clf = RidgeDiscriminantClassifier(0.5, tol=1e-3).fit(X, y)
    A = dense(X) - dense(X).mean(axis=0)
    target = np.eye(3)[y] - np.bincount(y) / len(y)
    gradient = A.T @ (target - A @ clf.coef_.T) - 0.5 * clf.coef_.T
    if len(y) > A.shape[1]:
        scale = np.linalg.norm(A.T @ target), 0.5**0.5 * np.linalg.norm(target)
        share = np.linalg.norm(gradient) / min(scale)
        assert clf.residual_ == pytest.approx(share, rel=1e-6, abs=1e-14)
    assert clf.residual_ <= 1e-3
    bound = np.linalg.norm(A, 2) * clf.residual_ * np.linalg.norm(target)
    assert np.linalg.norm(gradient) <= bound * (1 + 1e-9) or len(y) > A.shape[1]


@pytest.mark.parametrize("scale", [1e-6, 1e3, 1e5])
def test_no_column_of_large_values_hides_the_others(scale):
    rng = np.random.default_rng([47, 3])
    y = np.arange(200) % 2
    X = np.c_[scale * rng.normal(size=200), rng.normal(size=200) + 2 * y]
    clf = RidgeDiscriminantClassifier(random_state=0).fit(X, y)
    theirs = Ridge(clf.penalty_, solver="cholesky").fit(X, np.eye(2)[y])
    np.testing.assert_allclose(clf.coef_[:, 1], theirs.coef_[:, 1], rtol=1e-3)
    left = np.square(np.eye(2)[y] - X @ clf.coef_.T - clf.intercept_).sum()
    left += clf.penalty_ * np.square(clf.coef_).sum()
    least = np.square(np.eye(2)[y] - theirs.predict(X)).sum()
    least += clf.penalty_ * np.square(theirs.coef_).sum()
    # the certificate: what is left to gain, as a share of 200 rows of 1/2
    assert left - least <= clf.residual_**2 * 100 + 1e-9


def test_scales_too_far_apart_are_told():
    rng = np.random.default_rng([47, 4])
    y = np.arange(60) % 2
    X = np.c_[1e9 * rng.normal(size=60), rng.normal(size=(60, 3)) + y[:, None]]
    with pytest.warns(ConvergenceWarning, match="bring the features to one scale"):
        RidgeDiscriminantClassifier(random_state=0).fit(X, y)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_values_whose_products_overflow_are_named(kind):
    rng = np.random.default_rng([47, 5])
    y = np.arange(40) % 2
    X = 0.1 * (rng.normal(size=(40, 6)) + 4 * y[:, None])
    X[3, 4] = -1e90
    with pytest.raises(ValueError, match="feature 4 holds 1e.90.*rescale it"):
        RidgeDiscriminantClassifier().fit(kind(X), y)
    X[3, 4] = 0.0
    clf = RidgeDiscriminantClassifier(random_state=0).fit(kind(X), y)
    with pytest.raises(ValueError, match="in size"):
        clf.predict_proba(kind(np.full((1, 6), 1.7e308)))


def test_too_few_products_are_told():
    X, y = words()
    clf = RidgeDiscriminantClassifier(1e-6, max_iter=2, tol=1e-8)
    with pytest.warns(
        ConvergenceWarning, match="2 products.*raise max_iter=2 or tol"
    ) as told:
        clf.fit(X, y)
    assert told[0].filename == __file__  # where the user called it
    assert clf.n_iter_ == 2
    assert clf.residual_ > 1e-8


def test_rows_too_few_to_hold_any_out():
    clf = RidgeDiscriminantClassifier().fit([[0.0, 1.0], [2.0, 0.0]], ["a", "b"])
    assert np.isnan(clf.validation_log_loss_).all()
    assert (clf.penalty_, clf.temperature_) == (10.0, 1.0)
    assert clf.predict([[0.0, 2.0], [3.0, 0.0]]).tolist() == ["a", "b"]


def test_few_documents_make_no_posterior_sure(monkeypatch):
    """Ten documents of classes that hardly differ: the lead expected must be small."""

    def loss(seed):
        text = simulate_text_counts(
            n_documents=210, n_words=500, n_classes=2, lift=1.5, seed=seed
        )
        X, y = sparse.csr_array(Normalizer().fit_transform(text.X)), text.y
        rows = np.concatenate([np.flatnonzero(y == k)[:5] for k in (0, 1)])
        rest = np.setdiff1d(np.arange(len(y)), rows)
        clf = RidgeDiscriminantClassifier(family="multinomial", random_state=0)
        log_p = clf.fit(X[rows], y[rows]).predict_log_proba(X[rest])
        return -log_p[np.arange(len(rest)), y[rest]].mean()

    small = np.array([loss(seed) for seed in range(20)])
    monkeypatch.setattr(ridge_module, "_LEAD", 3.0)
    gain = np.array([loss(seed) for seed in range(20)]) - small
    assert gain.mean() > 2.0 * gain.std(ddof=1) / np.sqrt(len(gain))


def test_documents_without_known_words_get_the_class_shares():
    X, y = words(n_documents=200)
    X, unseen = X.tolil(), np.flatnonzero(X.sum(axis=0) > 0)[:3]
    X[:, unseen] = 0.0
    X = sparse.csr_array(X)
    y = np.where(np.arange(200) < 4, 2, y % 2)
    clf = RidgeDiscriminantClassifier(family="multinomial", random_state=0).fit(X, y)
    new = sparse.lil_array((3, X.shape[1]))
    new[1, unseen] = 5.0
    new[2, np.flatnonzero(X.sum(axis=0) > 0)[0]] = 1.0
    n_held_out = 200 - (X.count_nonzero(axis=1) == 0).sum()
    share = 0.5 / (n_held_out + 1)
    shares = (1 - share) * np.bincount(y) / 200 + share / 3
    for rows in (sparse.csr_array(new), new.toarray()):
        p = clf.predict_proba(rows)
        np.testing.assert_allclose(p[:2], [shares, shares], rtol=1e-12)
        assert np.abs(p[2] - shares).max() > 1e-6
    score = clf.decision_function(sparse.csr_array(new))[0]
    np.testing.assert_allclose(score, np.log(np.bincount(y) / 200), rtol=1e-12)


def test_a_class_that_a_fold_does_not_see():
    X, y = words(n_documents=40)
    y = y.copy()
    y[0] = 7
    clf = RidgeDiscriminantClassifier(powers=(0.0, 0.5), random_state=0).fit(X, y)
    assert np.isfinite(clf.validation_log_loss_).all()
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)


def test_features_that_tell_nothing():
    X = np.ones((20, 3))
    y = np.arange(20) % 2
    clf = RidgeDiscriminantClassifier(powers=(0.0, 0.5)).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X), 0.5)


def test_many_classes_of_dense_rows():
    X, y = load_digits(return_X_y=True)
    X = Normalizer().fit_transform(X)
    clf = RidgeDiscriminantClassifier(random_state=0).fit(X[::2], y[::2])
    assert clf.score(X[1::2], y[1::2]) > 0.92
    proba = clf.predict_proba(X[1::2])
    sure = proba.max(axis=1).mean()
    assert sure == pytest.approx(clf.score(X[1::2], y[1::2]), abs=0.03)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalties": 0.0}, "penalties"),
        ({"penalties": (1.0, -1.0)}, "above zero"),
        ({"penalties": ()}, "one at least"),
        ({"penalties": (1.0, np.nan)}, "finite"),
        ({"powers": (0.5, -0.5)}, "zero or above"),
        ({"divergence": "kl"}, "divergence"),
        ({"validation": 1}, "validation"),
        ({"tol": 0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters(options, message):
    X, y = tall()
    clf = RidgeDiscriminantClassifier(**options)
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_a_failure_leaves_the_model_as_it_was():
    X, y = words()
    clf = RidgeDiscriminantClassifier(powers=0.5, random_state=0).fit(X, y)
    before = clf.predict_proba(X)
    with pytest.raises(ValueError, match="Negative"):
        clf.fit(-X[:, :20], y)
    with pytest.raises(ValueError, match="one class only"):
        clf.fit(X, np.zeros(len(y)))
    clf.set_params(powers=0.0, penalties=9.0)
    np.testing.assert_array_equal(clf.predict_proba(X), before)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(X), before)
    assert clone(clf).penalties == 9.0


def test_a_family_is_a_second_score(monkeypatch):
    X, y = words(n_documents=150)
    monkeypatch.setattr(ridge_module, "FOLD_TOL", 0.0)
    options = {"validation": 3, "tol": 1e-12, "random_state": 7}
    clf = RidgeDiscriminantClassifier(2.0, family="multinomial", **options).fit(X, y)
    rng = np.random.RandomState(7)
    fold = (3 * content_positions(X, y, np.ones(len(y)), rng)).astype(int)
    both = np.empty((2, len(y), 3))
    for f in range(3):
        train, test = fold != f, fold == f
        ridge = Ridge(2.0, solver="cholesky").fit(dense(X[train]), np.eye(3)[y[train]])
        both[0, test] = ridge.predict(dense(X[test]))
        both[1, test] = multinomial_by_hand(X[train], y[train], X[test])
    top = np.sort(both, axis=2)
    leads = np.median(top[..., -1] - top[..., -2], axis=1)

    def loss(beta):
        q = mixture_by_hand(np.tensordot(beta, both, 1), 0.5 / (len(y) + 1))
        return -np.mean(np.log(q[np.arange(len(y)), y]))

    found = optimize.minimize(
        lambda u: len(y) * loss(np.exp(u)) + np.log(np.exp(u) @ leads) ** 2 / 2,
        np.log([5.0, 0.1]),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12},
    )
    np.testing.assert_allclose(clf.multipliers_, np.exp(found.x), rtol=1e-3)
    assert clf.validation_log_loss_[0, 0] == pytest.approx(
        loss(np.exp(found.x)), abs=1e-6
    )
    assert clf.temperature_ == 1 / clf.multipliers_[0]
    scores = clf.multipliers_[0] * (X @ clf.coef_.T + clf.intercept_)
    scores = scores + clf.multipliers_[1] * multinomial_by_hand(X, y, X)
    expected = mixture_by_hand(scores, clf.uniform_share_)
    np.testing.assert_allclose(clf.predict_proba(X), expected, rtol=0, atol=1e-9)


def multinomial_by_hand(X, y, rows):
    """Log posteriors of word probabilities, with one pooled row added to a class."""
    X, n_words = dense(X), X.shape[1]
    theta = np.empty((3, n_words))
    for k in range(3):
        total = X[y == k].sum(axis=0) + X.mean(axis=0)
        uniform = 1 / (len(y) + 1)
        theta[k] = (1 - uniform) * total / total.sum() + uniform / n_words
    return dense(rows) @ np.log(theta).T + np.log(np.bincount(y, minlength=3) + 1 / 3)


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "normal"])
def test_weights_mean_copies_with_a_second_score(family):
    X, y = words(n_documents=60, n_words=100)
    X = (
        X
        if family != "normal"
        else X[:, :5].toarray() + 1e-3 * np.arange(300).reshape(60, 5) % 7
    )
    times = np.random.default_rng(2).integers(0, 4, len(y))
    options = {"family": family, "tol": 1e-9, "random_state": 0}
    one = RidgeDiscriminantClassifier(**options).fit(X, y, times)
    rows = np.repeat(np.arange(len(y)), times)
    two = RidgeDiscriminantClassifier(**options).fit(X[rows], y[rows])
    np.testing.assert_allclose(
        one.predict_log_proba(X), two.predict_log_proba(X), rtol=0, atol=1e-5
    )


def test_a_second_score_where_a_fold_lacks_a_class_and_without_folds():
    X, y = words(n_documents=40)
    y = y.copy()
    y[0] = 7
    clf = RidgeDiscriminantClassifier(family="multinomial", random_state=0).fit(X, y)
    assert np.isfinite(clf.validation_log_loss_).all()
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)
    few = RidgeDiscriminantClassifier(family="multinomial")
    few.fit([[0.0, 1.0], [2.0, 0.0]], ["a", "b"])
    assert few.multipliers_.tolist() == [1.0, 0.0]
    assert few.uniform_share_ == 0.0
    assert few.predict([[0.0, 2.0], [3.0, 0.0]]).tolist() == ["a", "b"]


def test_a_family_of_counts_takes_no_negative_values():
    X, y = tall()
    clf = RidgeDiscriminantClassifier(family="multinomial")
    with pytest.raises(ValueError, match="Negative values in data"):
        clf.fit(X, y)
    assert clf.__sklearn_tags__().input_tags.positive_only
    with pytest.raises(ValueError, match="family"):
        clf.set_params(family="no such").fit(X, y)


def case(seed=0):
    rng = np.random.default_rng([52, seed])
    codes = np.arange(30) % 3
    return rng.normal(size=(30, 4)) + codes[:, None], codes


def marginals_of(family, X, codes):
    moments = family_moments(family, family.observe(X), codes, 3, np.ones(len(codes)))
    return ClassMarginals(moments, family)


def relative(scores):
    return scores - special.logsumexp(scores, axis=1, keepdims=True)


def test_normal_scores_by_densities():
    X, codes = case()
    scores = marginal_scores(marginals_of(Normal(), X, codes), X)
    own = [X[codes == k] for k in range(3)]
    expected = np.stack(
        [stats.norm(Z.mean(0), Z.std(0)).logpdf(X).sum(axis=1) for Z in own], axis=1
    )
    np.testing.assert_allclose(relative(scores), relative(expected), rtol=0, atol=1e-9)


def test_a_class_without_rows_has_a_prior():
    X, codes = case()
    X, codes = (X > 0).astype(float), np.where(codes == 1, 0, codes)
    scores = marginal_scores(marginals_of(Bernoulli(), X, codes), X)
    share = np.array([20 + 1 / 3, 1 / 3, 10 + 1 / 3]) / 31
    seen = X > 0
    # the class that nobody belongs to has the pooled shares
    mean = np.stack([seen[codes == 0].mean(0), seen.mean(0), seen[codes == 2].mean(0)])
    n = np.array([[20], [0], [10]])
    mean = (n * mean + seen.mean(0)) / (n + 1)
    log_p = seen @ np.log(mean).T + ~seen @ np.log(1 - mean).T + np.log(share)
    np.testing.assert_allclose(relative(scores), relative(log_p), rtol=0, atol=1e-9)


@pytest.mark.parametrize("multipliers", [[0.5], [0.5, 0.0], [0.5, 2.0], [0.0, 2.0]])
def test_scores_times_their_multipliers_are_added(multipliers):
    X, codes = case()
    marginals = marginals_of(Normal(), X, codes)
    rng = np.random.default_rng(1)
    coef, intercept, weights = rng.normal(size=(3, 4)), rng.normal(size=3), np.ones(4)
    weights[2] = 0.0
    model = RidgeModel(
        classes=np.arange(3),
        class_prior=np.full(3, 1 / 3),
        feature_weights=weights,
        coef=coef,
        intercept=intercept,
        marginals=marginals if len(multipliers) > 1 else None,
        known=None,
        multipliers=np.array(multipliers),
        uniform_share=0.0,
        penalty=1.0,
        power=0.5,
        residual=0.0,
        n_iter=1,
        validation_log_loss=np.zeros((1, 1)),
    )
    rows = X * weights
    rows *= (np.linalg.norm(X, axis=1) / np.linalg.norm(rows, axis=1))[:, None]
    expected = multipliers[0] * (rows @ coef.T + intercept)
    if len(multipliers) > 1:
        expected = expected + multipliers[1] * marginal_scores(marginals, X)
    np.testing.assert_allclose(model.joint_log_density(X), expected, rtol=0, atol=1e-10)
    assert model.temperature == (1 / multipliers[0] if multipliers[0] else np.inf)


@pytest.mark.parametrize(("data", "power"), [(words, 0.5), (tall, 0.0)])
def test_the_last_fit_has_the_power_that_was_chosen(data, power):
    X, y = data()
    X = X if sparse.issparse(X) else X - X.min(axis=0)
    clf = RidgeDiscriminantClassifier(powers=(0.0, 0.5), random_state=0).fit(X, y)
    assert clf.power_ == power
    single = RidgeDiscriminantClassifier(clf.penalty_, powers=power).fit(X, y)
    np.testing.assert_array_equal(clf.coef_, single.coef_)
    assert (clf.feature_weights_ is None) == (power == 0)


def test_weights_whose_products_overflow_are_named():
    X, y = 1e70 * np.array([[1.0, 2.0], [3.0, 1.0]] * 5), [0, 1] * 5
    RidgeDiscriminantClassifier(1e140).fit(X, y)
    with pytest.raises(ValueError, match=r"weights are 1e\+14 or less: products"):
        RidgeDiscriminantClassifier(1e140).fit(X, y, np.full(10, 1e14))


def test_of_many_rows_some_are_held_out(monkeypatch):
    X, y = words(n_documents=300)
    options = {"family": "multinomial", "random_state": 3}
    for most, n_folds in ((150, 3), (40, 1)):
        monkeypatch.setattr(ridge_module, "MOST_HELD_OUT", most)
        clf = RidgeDiscriminantClassifier(2.0, **options).fit(X, y)
        at = content_positions(X, y, np.ones(300), np.random.RandomState(3))
        share = n_folds / 5 if n_folds > 1 else most / 300
        assert clf.uniform_share_ == pytest.approx(0.5 / (1 + (at < share).sum()))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_products_overflow_from_a_size_on(kind, sign):
    X = np.array([[4.0, 1.0, 0.0], [-3.0, 2.0, 0.5]])
    X[0, 2] = sign * 1e76
    X = kind(X)
    # the square of the size times entries times weight: below 1.34e154
    for size, most in ((1, 1.0), (100, 1.0), (1, 100.0), (10, 10.0), (13, 10.0)):
        assert check_products(X, size, most) is None
    for size, most in ((1000, 1.0), (1, 1000.0), (14, 10.0)):
        message = (
            rf"^feature 2 holds 1e\+76, and weights are {most:.6g} or less: products "
            r"of rows overflow; rescale it \(for example with MaxAbsScaler\)$"
        )
        with pytest.raises(ValueError, match=message):
            check_products(X, size, most)
    assert check_products(kind(np.zeros((2, 3))), 6, 1e308) is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (2, [2.0]),
        (0.25, [0.25]),
        ((3.0, 1), [3.0, 1.0]),
        (np.array([5, 2]), [5.0, 2.0]),
        ([1e-300], [1e-300]),
    ],
)
def test_one_number_or_several(given, expected):
    clf = RidgeDiscriminantClassifier(given, given)
    for found in penalties_and_powers(clf):
        assert found == expected
        assert all(type(value) is float for value in found)
    zero = RidgeDiscriminantClassifier(1.0, (0.0, *expected))
    assert penalties_and_powers(zero)[1] == [0.0, *expected]


@pytest.mark.parametrize(
    "bad", [[[1.0, 2.0]], [[1.0]], [], np.inf, (1.0, np.nan), -1e-300]
)
@pytest.mark.parametrize("name", ["penalties", "powers"])
def test_what_are_no_penalties_or_powers(name, bad):
    end = "above zero" if name == "penalties" else "zero or above"
    message = rf"^{name}=.* must be finite numbers, one at least, {end}$"
    with pytest.raises(ValueError, match=message):
        penalties_and_powers(RidgeDiscriminantClassifier(**{name: bad}))


@pytest.mark.parametrize(
    ("family", "powers", "documents", "poor"),
    [
        (None, 0.0, False, False),
        (None, 0.5, True, True),
        (None, (0.0, 0.5), True, False),
        (None, (0.25, 0.5), True, True),
        ("normal", 0.0, False, False),
        ("normal", 0.5, True, True),
        ("multinomial", 0.0, True, False),
        ("multinomial", (0.0, 0.25), True, False),
    ],
)
def test_what_scikit_learn_is_told(family, powers, documents, poor):
    clf = RidgeDiscriminantClassifier(powers=powers, family=family)
    tags = clf.__sklearn_tags__()
    assert tags.input_tags.sparse is True
    assert tags.input_tags.positive_only is documents
    assert tags.classifier_tags.poor_score is poor
    presence, second = needed_families(clf)
    assert (presence is None) == (not np.any(powers))
    assert presence is None or isinstance(presence, Bernoulli)
    assert second is None if family is None else second is get(family)


@pytest.mark.parametrize("family", [None, "normal"])
def test_rows_of_zeros_that_are_no_documents_have_scores(family):
    X, y = tall()
    y = np.where(np.arange(150) % 3 == 0, 0, y)
    clf = RidgeDiscriminantClassifier(1.0, family=family, random_state=0).fit(X, y)
    zero = np.zeros((1, 4))
    scores = clf.multipliers_[0] * clf.intercept_[None]
    if family is not None:
        scores = scores + clf.multipliers_[1] * marginal_scores(
            marginals_of(Normal(), X, y), zero
        )
    expected = mixture_by_hand(scores, clf.uniform_share_)
    np.testing.assert_allclose(clf.predict_proba(zero), expected, rtol=1e-9)
    assert np.abs(expected - clf.class_prior_).max() > 1e-3


def test_documents_hold_known_words_or_none():
    X = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 5.0], [0.1, 0.1, 0.1]])
    for known in ([True, False, True], [False] * 3, [True] * 3):
        expected = [any(x and k for x, k in zip(row, known, strict=True)) for row in X]
        for rows in (X, sparse.csr_array(X)):
            assert holds_any(rows, np.array(known)).tolist() == expected


@pytest.mark.parametrize("kind", [np.float32, np.int64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("family", [None, "multinomial"])
def test_other_types_are_taken_as_doubles(kind, form, family):
    rng = np.random.default_rng([47, 20])
    y = np.arange(80) % 4 // 2 + (np.arange(80) % 8 == 0)
    X = form(rng.poisson(0.5 + 2 * np.eye(3)[:, [0, 1, 2, 0, 1]][y]).astype(kind))
    before = X.copy()
    one, two = (
        RidgeDiscriminantClassifier(1.0, family=family, random_state=0).fit(rows, y)
        for rows in (X, X.astype(float))
    )
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9)
    assert one.coef_.dtype == one.predict_proba(X).dtype == np.float64
    np.testing.assert_array_equal(dense(X), dense(before))
    assert X.dtype == kind


def test_without_rows_held_out_the_largest_penalty_and_the_first_power_are_used():
    options = {"penalties": (1.0, 7.0, 3.0), "powers": (0.25, 0.0)}
    clf = RidgeDiscriminantClassifier(**options).fit([[0.0, 1.0], [2.0, 0.0]], [3, 5])
    assert (clf.penalty_, clf.power_) == (7.0, 0.25)
    assert clf.validation_log_loss_.shape == (2, 3)
    assert np.isnan(clf.validation_log_loss_).all()
    assert (clf.uniform_share_, clf.temperature_) == (0.0, 1.0)
    assert clf.feature_weights_.shape == (2,)
    single = RidgeDiscriminantClassifier(7.0, 0.25).fit(
        [[0.0, 1.0], [2.0, 0.0]], [3, 5]
    )
    np.testing.assert_array_equal(clf.coef_, single.coef_)


def test_class_marginals_are_of_all_rows_and_those_outside_each_fold():
    X, codes = case(3)
    family, fold = Normal(), np.arange(30) % 7 % 3

    def moments(kept):
        seen = family.observe(X[kept])
        return family_moments(family, seen, codes[kept], 3, np.ones(kept.sum()))

    total, parts = moments(fold >= 0), [moments(fold != f) for f in range(3)]
    found = class_marginals(family, total, parts, [0, 2])
    assert list(found) == [None, 0, 2]
    assert found[None].moments is total
    assert found[2].moments is parts[2]
    for key, rows in ((None, fold >= 0), (0, fold != 0), (2, fold != 2)):
        expected = marginal_scores(marginals_of(family, X[rows], codes[rows]), X)
        np.testing.assert_allclose(marginal_scores(found[key], X), expected)
