import numpy as np
import pytest
from sklearn.linear_model import Ridge

from memdlib.generative.indicators import IndicatorRegression
from tests.generative.test_ridge import dense, tall, words

PENALTIES = [0.1, 1.0, 30.0]


@pytest.mark.parametrize(("data", "side"), [(words, 120), (tall, 4)])
def test_the_space_is_of_the_shorter_side(data, side):
    X, y = data()
    ridge = IndicatorRegression(X, y, np.ones(len(y)), 3)
    assert ridge.space(1.0, tol=1e-3, max_iter=50).basis.shape[0] == side


@pytest.mark.parametrize("data", [words, tall])
def test_scores_of_all_penalties_are_those_of_ridge(data):
    X, y = data()
    weight = np.random.default_rng(1).uniform(0.5, 3.0, len(y))
    train, others = slice(None, None, 2), slice(1, None, 2)
    ridge = IndicatorRegression(X[train], y[train], weight[train], 3)
    space = ridge.space(min(PENALTIES), tol=1e-10, max_iter=200)
    found = ridge.scores(space, PENALTIES, X[others])
    for scores, penalty in zip(found, PENALTIES, strict=True):
        theirs = Ridge(penalty, solver="cholesky")
        theirs.fit(dense(X[train]), np.eye(3)[y[train]], sample_weight=weight[train])
        expected = theirs.predict(dense(X[others]))
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-8)
