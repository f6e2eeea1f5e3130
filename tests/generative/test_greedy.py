import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.utils import get_tags

from memdlib import (
    DivergenceRanker,
    GreedyGaussianRanker,
    GreedyInformationRanker,
    JointMaxEntClassifier,
)
from memdlib.families import MultivariateNormal
from memdlib.generative.greedy import greedy_gaussian


def joint_divergence(model, features):
    """JS_GM between the joint Gaussians of some features, from scratch."""
    mean = (model.means_ - model.means_[0])[:, features]
    S = model.covariances_[:, features][:, :, features]
    family = MultivariateNormal()
    return float(family.js_gm(family.mean_parameters(mean, S), model.class_prior_))


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, "auto"])
def test_each_choice_is_the_best_of_all_candidates(load, shrinkage):
    X, y = load(return_X_y=True)
    w = np.random.default_rng([22, 1]).integers(1, 4, len(y))
    k = min(6, X.shape[1])
    ranker = GreedyGaussianRanker(k, correlation_shrinkage=shrinkage).fit(X, y, w)
    model = JointMaxEntClassifier("full", correlation_shrinkage=shrinkage).fit(X, y, w)
    assert_allclose(
        ranker.correlation_shrinkage_, model.correlation_shrinkage_, rtol=1e-9
    )
    chosen, reached = [], 0.0
    for s, gain in zip(ranker.order_.tolist(), ranker.gains_, strict=True):
        rest = [t for t in range(X.shape[1]) if t not in chosen]
        value = [joint_divergence(model, [*chosen, t]) for t in rest]
        assert rest[int(np.argmax(value))] == s
        assert max(value) - reached == pytest.approx(gain, rel=1e-7)
        chosen.append(s)
        reached = max(value)
    assert ranker.gains_.sum() == pytest.approx(reached, rel=1e-9)


def test_features_that_depend_on_the_chosen_are_left_out():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, X[:, 2] - 3 * X[:, 3], X[:, 0] + 1, np.full(150, 0.1)])
    ranker = GreedyGaussianRanker(n_features=None, correlation_shrinkage=0.0).fit(X, y)
    chosen = ranker.order_.tolist()
    assert len(chosen) == 5 and 6 in chosen
    assert {0, 5} & set(chosen) == {0}
    assert len({2, 3, 4} & set(chosen)) == 2
    assert ranker.gains_[chosen.index(6)] == pytest.approx(0, abs=1e-12)
    assert ranker.get_support().sum() == 5
    shrunken = GreedyGaussianRanker(n_features=None).fit(X, y)
    assert sorted(shrunken.order_) == list(range(7))
    few = GreedyGaussianRanker(n_features=None, correlation_shrinkage=0.0).fit(
        X[::15], y[::15]
    )
    assert len(few.order_) < 4  # classes of three and four rows


@pytest.mark.parametrize("divergence", ["js_gm", "jeffreys"])
def test_information_by_hand(divergence):
    X, y = load_breast_cancer(return_X_y=True)
    ranker = GreedyInformationRanker(n_features=6, divergence=divergence).fit(X, y)
    relevance = DivergenceRanker(divergence).fit(X, y).scores_
    assert_array_equal(ranker.scores_, relevance)
    r = np.corrcoef(X.T)
    np.fill_diagonal(r, 0)
    information = -0.5 * np.log(1 - r**2)
    chosen = []
    for s, gain in zip(ranker.order_.tolist(), ranker.gains_, strict=True):
        redundancy = information[chosen].mean(axis=0) if chosen else 0.0
        score = relevance - redundancy
        score[chosen] = -np.inf
        assert int(score.argmax()) == s
        assert gain == pytest.approx(score[s], rel=1e-8)
        chosen.append(s)


@pytest.mark.parametrize("divergence", ["js", "js_gm"])
def test_a_copy_is_never_chosen(divergence):
    X, y = load_iris(return_X_y=True)
    best = DivergenceRanker(divergence, n_features=None).fit(X, y).order_[0]
    X = np.column_stack([X, -2 * X + 1])
    ranker = GreedyInformationRanker(n_features=None, divergence=divergence).fit(X, y)
    assert ranker.order_[0] == best
    assert sorted(ranker.order_) == list(range(4))
    assert len(ranker.gains_) == ranker.get_support().sum() == 4
    assert np.isfinite(ranker.gains_).all()


def test_constants_inform_about_nothing():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([np.full(150, 0.1), X])
    ranker = GreedyInformationRanker(n_features=None).fit(X, y)
    alone = GreedyInformationRanker(n_features=None).fit(X[:, 1:], y)
    others = [s - 1 for s in ranker.order_ if s > 0]
    assert_array_equal(others, alone.order_)
    place = ranker.order_.tolist().index(0)
    assert ranker.gains_[place] == pytest.approx(0, abs=1e-15)


def test_a_feature_that_depends_on_others_in_one_class_is_left_out():
    rng = np.random.default_rng([22, 9])
    A = rng.normal(size=(3, 4, 4))
    S = A @ np.swapaxes(A, 1, 2)
    S[1, 3, :3] = S[1, :3, 3] = S[1, 0, :3] - 2 * S[1, 1, :3]
    S[1, 3, 3] = S[1, 3, 0] - 2 * S[1, 3, 1]
    variance, mean = np.diagonal(S, axis1=1, axis2=2), rng.normal(size=(3, 4))
    prior = np.full(3, 1 / 3)
    order, gains = greedy_gaussian(lambda s: S[:, s], variance, mean, prior, 4)
    assert len(order) == len(gains) == 3 and 2 in order
    assert np.isfinite(gains).all() and (gains >= 0).all()


@pytest.mark.parametrize(
    "family", ["auto", "categorical", "nope", ["normal"] * 4, {0: "poisson"}], ids=str
)
def test_families_by_column_are_refused_before_the_fit(family):
    ranker = GreedyInformationRanker(family=family)
    with pytest.raises(ValueError, match=r"'family' parameter .*'normal'.* Got "):
        ranker.fit([["no number"]], None)
    assert vars(ranker).keys() == ranker.get_params().keys()


@pytest.mark.parametrize("family", ["normal", "poisson", "auto", {0: "poisson"}])
def test_tags_say_that_only_numbers_are_taken(family):
    tags = get_tags(GreedyInformationRanker(family=family)).input_tags
    assert not (tags.categorical or tags.string or tags.allow_nan)
    assert tags.sparse
    assert tags.positive_only == (family == "poisson")
