import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import f_classif
from sklearn.metrics import mutual_info_score

from compendium.study.relevance import RelevantRedundantSelector, level_information


def test_information_of_levels():
    rng = np.random.default_rng(3)
    X = rng.permuted(np.tile(np.arange(60.0), (4, 1)), axis=1).T
    y = rng.integers(0, 3, 60)
    X[:, 0] += 40 * y
    order = X.argsort(axis=0).argsort(axis=0)
    expected = [mutual_info_score(y, column // 12) for column in order.T]
    assert level_information(X, y) == pytest.approx(expected)


def test_information_of_presence():
    rng = np.random.default_rng(4)
    X, y = rng.poisson(0.7, (50, 6)), rng.integers(0, 2, 50)
    expected = [mutual_info_score(y, column > 0) for column in X.T]
    assert level_information(sparse.csr_array(X), y) == pytest.approx(expected)


def greedy(X, y, size):
    """Feature by feature, all correlations anew."""
    F = f_classif(X, y)[0]
    chosen = [int(F.argmax())]
    while len(chosen) < size:
        best = {}
        for j in set(range(X.shape[1])) - set(chosen):
            redundancy = [abs(np.corrcoef(X[:, j], X[:, i])[0, 1]) for i in chosen]
            best[j] = F[j] / np.mean(redundancy)
        chosen.append(max(best, key=best.get))
    return chosen


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_greedy_choice(seed, form):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 40)
    X = rng.standard_normal((40, 12)) + 0.5 * rng.standard_normal((40, 1))
    X[:, :5] += y[:, None]
    found = RelevantRedundantSelector(6).fit(form(X), y)
    assert found.chosen_.tolist() == greedy(X, y, 6)
    assert found.get_support(indices=True).tolist() == sorted(found.chosen_)
