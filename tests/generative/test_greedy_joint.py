import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

from memdlib import DivergenceRanker
from memdlib.generative import GreedyHeldOutRanker
from memdlib.moments.folds import content_positions
from tests.scikit_learn import run


@parametrize_with_checks(
    [
        GreedyHeldOutRanker(random_state=0),
        GreedyHeldOutRanker(n_features=None, shrinkage="auto", n_folds=3),
        GreedyHeldOutRanker(n_features=1, n_candidates=2, divergence="js_gm"),
        GreedyHeldOutRanker(n_features=0.5, family="bernoulli"),
        GreedyHeldOutRanker(family="poisson", n_candidates=None),
    ]
)
def test_scikit_learn_contract(estimator, check):
    run(check, estimator)


def folds_of(X, y, n_folds, seed):
    codes = np.unique(y, return_inverse=True)[1]
    at = content_positions(X, codes, np.ones(len(y)), check_random_state(seed))
    return (at * n_folds).astype(int)


def held_out_loss(model, X, y, fold, features):
    """Log-loss of scikit-learn's naive Bayes on the rows of each fold, from scratch."""
    found = np.zeros((len(y), len(np.unique(y))))
    for f in np.unique(fold):
        rest, out = np.ix_(fold != f, features), np.ix_(fold == f, features)
        model.fit(X[rest], y[fold != f])
        found[fold == f] = model.predict_proba(X[out])
    return log_loss(y, found)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_each_choice_is_the_best_by_another_naive_bayes(load):
    X, y = load(return_X_y=True)
    ranker = GreedyHeldOutRanker(3, n_candidates=None, n_folds=4, random_state=3)
    ranker.fit(X, y)
    fold, prior = folds_of(X, y, 4, 3), np.bincount(y) / len(y)
    model, chosen = GaussianNB(priors=prior, var_smoothing=0.0), []
    for s, loss in zip(ranker.order_.tolist(), ranker.log_losses_, strict=True):
        losses = {
            t: held_out_loss(model, X, y, fold, [*chosen, t])
            for t in range(X.shape[1])
            if t not in chosen
        }
        assert min(losses, key=losses.get) == s
        assert loss == pytest.approx(losses[s], rel=1e-6)
        chosen.append(s)


def presences(seed, n=400, d=30):
    rng = np.random.default_rng([17, seed])
    y = np.arange(n) % 3
    rates = rng.uniform(0.2, 0.8, (3, d))
    return (rng.random((n, d)) < rates[y]).astype(float), y


def test_words_sparse_or_dense():
    X, y = presences(1)
    options = {"family": "bernoulli", "n_features": 5, "random_state": 1}
    dense, thin = (
        GreedyHeldOutRanker(**options).fit(Z, y) for Z in (X, sparse.csr_array(X))
    )
    assert dense.order_.tolist() == thin.order_.tolist()
    np.testing.assert_allclose(dense.log_losses_, thin.log_losses_, rtol=1e-12)
    nearly = GreedyHeldOutRanker(**options, smoothing=1e-9).fit(X, y)
    prior = np.bincount(y) / len(y)
    model = BernoulliNB(alpha=1e-9, class_prior=prior)
    fold = folds_of(X, y, 5, 1)
    expected = held_out_loss(model, X, y, fold, nearly.order_)
    assert nearly.log_losses_[-1] == pytest.approx(expected, rel=1e-6)


def test_blocks_change_nothing(monkeypatch):
    X, y = presences(2)
    ranker = GreedyHeldOutRanker(8, family="bernoulli", random_state=0).fit(X, y)
    monkeypatch.setattr("memdlib.generative.greedy_joint._BLOCK", 5000)
    again = GreedyHeldOutRanker(8, family="bernoulli", random_state=0).fit(X, y)
    assert again.order_.tolist() == ranker.order_.tolist()
    np.testing.assert_allclose(again.log_losses_, ranker.log_losses_, rtol=1e-12)


def test_a_copy_is_passed_over():
    rng = np.random.default_rng([17, 3])
    y = np.repeat([0, 1], 300)
    signal = rng.standard_normal(600) + 1.5 * y
    copy = signal + 0.05 * rng.standard_normal(600)
    weaker = rng.standard_normal(600) + 1.0 * y
    X = np.column_stack([signal, copy, weaker])
    by_js = DivergenceRanker("js", n_features=2).fit(X, y)
    assert set(by_js.order_[:2]) == {0, 1}
    ranker = GreedyHeldOutRanker(None, random_state=0).fit(X, y)
    assert 2 in ranker.order_[:2]
    assert ranker.log_losses_[2] > ranker.log_losses_[1]


def test_candidates_are_the_most_divergent():
    X, y = load_breast_cancer(return_X_y=True)
    ranker = GreedyHeldOutRanker(20, n_candidates=6, divergence="js_gm", random_state=0)
    ranker.fit(X, y)
    best = DivergenceRanker("js_gm").fit(X, y)
    assert sorted(ranker.order_) == sorted(best.order_[:6])
    assert ranker.n_selected_ == 6 and ranker.transform(X).shape[1] == 6
    np.testing.assert_allclose(
        ranker.feature_divergences_, best.feature_divergences_, rtol=1e-8
    )


def test_values_far_out_and_classes_of_one_row():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.where(np.arange(150) == 7, 1e150, 0.0)])
    ranker = GreedyHeldOutRanker(None, random_state=0).fit(X, y)
    assert np.isfinite(ranker.log_losses_[:4]).all() and ranker.order_[0] < 4
    rows = np.r_[0:20, 60:80, 120]  # the third class has one row
    few = GreedyHeldOutRanker(2, random_state=0).fit(X[rows, :4], y[rows])
    assert np.isfinite(few.log_losses_).all()


@pytest.mark.parametrize(
    "wrong", [{"n_folds": 1}, {"n_candidates": 0}, {"divergence": "chi2"}]
)
def test_parameters_out_of_range(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        GreedyHeldOutRanker(**wrong).fit(*load_iris(return_X_y=True))
