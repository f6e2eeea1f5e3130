from itertools import product

import numpy as np
import pytest
from scipy import sparse, special, stats

from compendium.study import greedy_js
from compendium.study.greedy_js import FittedMarginals, left_doubt
from memdlib import GreedyInformationRanker
from memdlib.datasets import simulate_gaussian_classes


@pytest.fixture(scope="module", params=[2, 3])
def genes(request):
    data = simulate_gaussian_classes(
        90, n_features=12, n_informative=4, n_classes=request.param, random_state=3
    )
    return 5.0 + data.X, data.y


def coins(seed, n_classes=3, n_features=5):
    """Coins that are independent given the class."""
    rng = np.random.default_rng(seed)
    mean = rng.uniform(0.1, 0.9, (n_classes, n_features))
    prior = rng.dirichlet(np.full(n_classes, 4.0))
    return FittedMarginals("bernoulli", prior, mean, mean * (1.0 - mean))


def information(fitted, features):
    """JS of a set of coins, from the table of all their outcomes."""
    cells = np.array(list(product((0, 1), repeat=len(features))))
    mean = fitted.mean[:, None, features]
    table = np.where(cells == 1, mean, 1.0 - mean).prod(axis=2)
    mixed = stats.entropy(fitted.prior @ table)
    return mixed - fitted.prior @ [stats.entropy(row) for row in table]


def test_normal_marginals_are_means_and_variances_of_the_classes(genes):
    X, y = genes
    fitted = FittedMarginals.of(greedy_js.fit_marginals(X, y, "normal"))
    for k, share in enumerate(np.bincount(y) / len(y)):
        assert fitted.prior[k] == pytest.approx(share)
        assert fitted.mean[k] == pytest.approx(X[y == k].mean(axis=0), rel=1e-10)
        assert fitted.variance[k] == pytest.approx(X[y == k].var(axis=0), rel=1e-10)
    shrunken = greedy_js.fit_marginals(X, y, "normal", 1.0)
    shrunken, within = FittedMarginals.of(shrunken), fitted.prior @ fitted.variance
    assert shrunken.variance == pytest.approx(np.tile(within, (len(fitted.prior), 1)))


def test_doubt_is_the_entropy_of_the_posterior_or_minus_its_logarithm():
    rng = np.random.default_rng(2)
    log_joint = rng.normal(scale=4.0, size=(4, 30, 3)) - 900.0
    log_joint[0, 0] = -1e6
    posterior, codes = special.softmax(log_joint, axis=0), rng.integers(1, 4, 30)
    assert left_doubt(log_joint) == pytest.approx(stats.entropy(posterior, axis=0))
    own = posterior[codes, np.arange(30)]
    assert left_doubt(log_joint, codes) == pytest.approx(-np.log(own), abs=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_greedy_choice_over_all_outcomes_is_that_by_joint_js(seed):
    fitted = coins(seed)
    cells = np.array(list(product((0.0, 1.0), repeat=5)))
    log_density = fitted.log_densities(cells)
    weight = fitted.prior @ np.exp(log_density.sum(axis=2))
    order, doubt = greedy_js.greedy_by_doubt(log_density, fitted.prior, weight, 5)
    ceiling = stats.entropy(fitted.prior)
    taken = []
    for feature, left in zip(order, doubt, strict=True):
        open_ = [s for s in range(5) if s not in taken]
        worth = {s: information(fitted, [*taken, s]) for s in open_}
        taken.append(max(worth, key=worth.get))
        assert feature == taken[-1]
        assert ceiling - left == pytest.approx(worth[feature], abs=1e-12)


def test_held_out_rows_are_scored_by_the_other_folds(genes):
    X, y = genes
    fold = np.arange(len(y)) % 3
    order, loss = greedy_js.greedy_by_rows(X, y, fold, "normal", 1)
    expected = np.empty(len(y))
    for f in range(3):
        rest, s = fold != f, order[0]
        parts = [X[rest & (y == k), s] for k in range(y.max() + 1)]
        laws = [stats.norm(part.mean(), part.std()) for part in parts]
        densities = np.array([law.pdf(X[~rest, s]) for law in laws])
        joint = densities * (np.bincount(y) / len(y))[:, None]
        posterior = joint / joint.sum(axis=0)
        expected[~rest] = -np.log(posterior[y[~rest], np.arange((~rest).sum())])
    assert loss[0] == pytest.approx(expected.mean(), rel=1e-10)


def test_choice_by_redundancy_is_that_of_the_ranker(genes):
    X, y = genes
    ranker = GreedyInformationRanker(n_features=6).fit(X, y)
    for form in (X, sparse.csr_array(X)):
        scores = ranker.scores_
        order, gains = greedy_js.greedy_by_redundancy(scores, form, 6)
        assert order.tolist() == ranker.order_.tolist()
        assert gains == pytest.approx(ranker.gains_, abs=1e-9)
