"""One problem of each kind of those that are tried every night."""

import numpy as np
import pytest

from tests.generative.random_problems import (
    KINDS,
    N_TEST,
    RULES,
    log_loss,
    losses,
    problems,
)


@pytest.fixture(scope="module")
def few():
    return {kind: next(problems(kind, 1)) for kind in KINDS}


def test_each_problem_holds_every_class_and_comes_again(few):
    for kind, one in few.items():
        again = next(problems(kind, 1))
        assert one.name == again.name
        np.testing.assert_array_equal(one.y_test, again.y_test)
        assert set(one.y_test) <= set(one.y_train)
        assert one.X_train.shape == (len(one.y_train), one.X_test.shape[1])
        assert one.X_test.shape[0] == len(one.y_test)
        assert len(one.y_test) == N_TEST or one.kind == "real halves"


def test_no_posterior_is_clipped():
    log_p = np.array([[-1e4, 0.0], [0.0, -np.inf]])
    assert log_loss(log_p, np.array([3, 7]), np.array([3, 3])) == 5e3
    assert log_loss(log_p, np.array([3, 7]), np.array([7, 7])) == np.inf


@pytest.mark.parametrize("kind", ["equal covariances", "texts"])
def test_every_rule_is_judged_by_the_same_rows(few, kind):
    problem = few[kind]
    found = losses(problem)
    assert list(found) == list(RULES)
    missing = {"LDA", "QDA"} if kind == "texts" else set()
    assert {rule for rule in RULES if np.isnan(found[rule])} == missing
    share = np.bincount(problem.y_train) / len(problem.y_train)
    by_hand = -np.log(share)[problem.y_test].mean()
    assert found["shares"] == pytest.approx(by_hand, rel=1e-12)
    assert found["memd"] < found["shares"] + 0.15  # of 20 rows, and of 52 documents
