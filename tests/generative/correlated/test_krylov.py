import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from sklearn.linear_model import Ridge

from memdlib.generative.correlated.krylov import (
    IndicatorRegression,
    krylov_space,
)
from tests.generative.correlated.test_ridge import dense, tall, words


def problem(seed, n=30, rank=30, K=3):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, rank)) * np.logspace(0, -2, rank)
    return A @ A.T, rng.normal(size=(n, K))


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 4))
def test_all_shifts_at_once_against_dense_solves(seed, rank, K):
    G, B = problem(seed, rank=rank, K=K)
    space = krylov_space(lambda U: G @ U, B, shift=1e-2, tol=1e-9, max_iter=60)
    for shift in (1e-2, 0.3, 10.0):
        expected = linalg.solve(G + shift * np.eye(30), B, assume_a="pos")
        found = space.solution(shift)
        error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
        # the least eigenvalue is at least the shift
        assert error <= 1e-8 * (linalg.norm(G, 2) + shift) / shift


@pytest.mark.parametrize("steps", [1, 2, 4, 7])
def test_the_residual_is_the_one_computed_from_scratch(steps):
    G, B = problem(3, n=60, rank=60)
    space = krylov_space(lambda U: G @ U, B, shift=0.01, tol=0.0, max_iter=steps)
    for shift in (0.01, 1.0):
        rest = B - G @ space.solution(shift) - shift * space.solution(shift)
        share = np.linalg.norm(rest) / np.linalg.norm(B)
        assert space.residual(shift) == pytest.approx(share, rel=1e-9)


def test_basis_is_orthonormal_and_the_operator_is_that_of_the_basis():
    G, B = problem(5, n=80, rank=80, K=2)
    space = krylov_space(lambda U: G @ U, B, shift=1e-6, tol=1e-12, max_iter=35)
    U = space.basis
    assert U.shape == (80, 70)
    np.testing.assert_allclose(U.T @ U, np.eye(70), rtol=0, atol=1e-12)
    np.testing.assert_allclose(U.T @ G @ U, space.operator, rtol=0, atol=1e-10)
    np.testing.assert_allclose(U @ space.start, B, rtol=0, atol=1e-12)


def test_larger_shifts_converge_faster():
    G, B = problem(7, n=60, rank=60)
    space = krylov_space(lambda U: G @ U, B, shift=0.1, tol=1e-3, max_iter=60)
    residuals = [space.residual(shift) for shift in (0.1, 0.3, 1.0, 3.0)]
    assert residuals == sorted(residuals, reverse=True)
    assert residuals[0] <= 1e-3


def test_dependent_columns_and_an_operator_of_low_rank_end_early():
    calls = []
    G = np.diag([3.0, 3.0, 2.0, 0.0, 0.0])
    B = np.ones((5, 1)) @ [[1.0, -1.0, 2.0]]

    def product(U):
        calls.append(U.shape[1])
        return G @ U

    space = krylov_space(product, B, shift=0.5, tol=1e-12, max_iter=50)
    assert calls == [1, 1, 1]  # three different eigenvalues
    expected = B / (np.diag(G) + 0.5)[:, None]
    np.testing.assert_allclose(space.solution(0.5), expected, rtol=1e-12)


def test_nothing_to_solve():
    space = krylov_space(lambda U: U, np.zeros((4, 2)), shift=1.0, tol=1e-3, max_iter=5)
    assert space.residual(1.0) == 0.0
    assert not space.solution(1.0).any()


def test_directions_that_are_left_out_count_as_residual():
    G, B = np.diag([1.0, 2.0, 3.0, 1e12]), np.ones((4, 1))
    space = krylov_space(lambda U: G @ U, B, shift=1e-3, tol=1e-12, max_iter=20)
    found = space.solution(1e-3)
    rest = np.linalg.norm(B - G @ found - 1e-3 * found) / np.linalg.norm(B)
    assert rest > 0.1
    assert space.n_iter < 20
    assert space.residual(1e-3) == pytest.approx(rest, rel=1e-3)


PENALTIES = [0.1, 1.0, 30.0]


@pytest.mark.parametrize(("data", "side"), [(words, 120), (tall, 4)])
def test_the_space_is_of_the_shorter_side(data, side):
    X, y = data()
    ridge = IndicatorRegression.of(X, y, np.ones(len(y)), 3)
    assert ridge.space(1.0, tol=1e-3, max_iter=50).basis.shape[0] == side


@pytest.mark.parametrize("data", [words, tall])
def test_scores_of_all_penalties_are_those_of_ridge(data):
    X, y = data()
    weight = np.random.default_rng(1).uniform(0.5, 3.0, len(y))
    train, others = slice(None, None, 2), slice(1, None, 2)
    ridge = IndicatorRegression.of(X[train], y[train], weight[train], 3)
    space = ridge.space(min(PENALTIES), tol=1e-10, max_iter=200)
    found = ridge.scores(space, PENALTIES, X[others])
    for scores, penalty in zip(found, PENALTIES, strict=True):
        theirs = Ridge(penalty, solver="cholesky")
        theirs.fit(dense(X[train]), np.eye(3)[y[train]], sample_weight=weight[train])
        expected = theirs.predict(dense(X[others]))
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("data", [words, tall])
@pytest.mark.parametrize("penalty", [1e-4, 2.0, 1e7])
@pytest.mark.parametrize("steps", [1, 2])
def test_what_a_solution_leaves_is_a_share_as_documented(data, penalty, steps):
    X, y = data()
    y = np.where(np.arange(len(y)) % 3 == 0, 0, y)
    weight = np.random.default_rng(5).uniform(0.5, 3.0, len(y))
    ridge = IndicatorRegression.of(X, y, weight, 3)
    space = ridge.space(penalty, tol=1e-15, max_iter=steps)
    coef, intercept = ridge.coefficients(space, penalty)
    share = weight / weight.sum()
    prior = np.bincount(y, share)
    root = np.sqrt(weight)[:, None]
    A = root * (dense(X) - share @ dense(X))
    target = root * (np.eye(3)[y] - prior)
    np.testing.assert_allclose(
        intercept, prior - coef @ (share @ dense(X)), rtol=0, atol=1e-12
    )
    if len(y) <= A.shape[1]:
        # of the system of the rows: the solution is known by its coefficients
        solution = space.solution(penalty)
        np.testing.assert_allclose(A.T @ solution, coef.T, rtol=0, atol=1e-10)
        rest = target - A @ coef.T - penalty * solution
        scale = np.linalg.norm(target)
    else:
        rest = A.T @ (target - A @ coef.T) - penalty * coef.T
        scale = min(
            np.linalg.norm(A.T @ target), np.sqrt(penalty) * np.linalg.norm(target)
        )
    expected = np.linalg.norm(rest) / scale
    assert ridge.residual(space, penalty) == pytest.approx(
        expected, rel=1e-6, abs=1e-12
    )


@pytest.mark.parametrize("data", [words, tall])
@pytest.mark.parametrize("penalty", [0.1, 5.0])
def test_a_space_grows_until_its_residual_is_small_enough_and_no_further(data, penalty):
    X, y = data()
    ridge = IndicatorRegression.of(X, y, np.ones(len(y)), 3)
    long = ridge.space(penalty, tol=1e-9, max_iter=100)
    assert ridge.residual(long, penalty) <= 1e-8
    for steps in {1, long.n_iter // 2, long.n_iter - 1}:
        short = ridge.space(penalty, tol=1e-9, max_iter=steps)
        assert short.n_iter == steps
        left = ridge.residual(short, penalty)
        assert left > 1e-9
        again = ridge.space(penalty, tol=left * (1 + 1e-6), max_iter=100)
        assert again.n_iter <= steps


@pytest.mark.parametrize("shape", [(9, 4), (4, 9)])
def test_rows_that_are_all_alike_have_no_coefficients(shape):
    codes = np.array([0, 1, 1, 1, 0, 1, 2, 1, 1])[: shape[0]]
    weight = 1.0 + np.arange(shape[0]) % 2
    ridge = IndicatorRegression.of(np.full(shape, 2.0), codes, weight, 3)
    space = ridge.space(0.5, tol=1e-6, max_iter=10)
    coef, intercept = ridge.coefficients(space, 0.5)
    np.testing.assert_allclose(coef, np.zeros((3, shape[1])), rtol=0, atol=1e-12)
    shares = np.bincount(codes, weight, minlength=3) / weight.sum()
    np.testing.assert_allclose(intercept, shares, rtol=1e-12)
    scores = ridge.scores(space, [0.5, 2.0], np.ones((5, shape[1])))
    assert scores.shape == (2, 5, 3)
    np.testing.assert_allclose(
        scores, np.broadcast_to(shares, (2, 5, 3)), rtol=0, atol=1e-12
    )


def test_a_single_class_leaves_nothing():
    X = np.random.default_rng(6).normal(size=(8, 3))
    for rows in (X, X.T):
        one = np.zeros(len(rows), dtype=int)
        ridge = IndicatorRegression.of(rows, one, np.ones(len(rows)), 1)
        space = ridge.space(1.0, tol=1e-3, max_iter=4)
        assert ridge.residual(space, 1.0) == 0.0
        assert space.n_iter == 1
        assert ridge.coefficients(space, 1.0)[1].tolist() == [1.0]
