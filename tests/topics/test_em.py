import numpy as np
import pytest
from scipy import sparse

from memdlib.topics import em
from memdlib.topics.em import climb
from tests.topics.reference import documents, objective, parameters, step

OPTIONS = {"beta": 1.0, "smoothing": 0.0, "tol": 1e-12, "max_iter": 8}
CASES = [{}, {"beta": 0.6}, {"smoothing": 0.3}, {"beta": 0.8, "smoothing": 0.1}]


def run(X, theta, Q, **options):
    told = []
    found = climb(
        X,
        theta,
        np.ascontiguousarray(Q.T),
        report=lambda *line: told.append(line),
        **(OPTIONS | options),
    )
    return found, told


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_steps_against_all_responsibilities(case, kind):
    X = documents(length=30)[0]
    theta, Q = parameters(*X.shape, 3)
    found, told = run(kind(X), theta, Q, **case)
    values = [objective(X, theta, Q, **case)]
    for _ in range(8):
        theta, Q = step(X, theta, Q, **case)
        values.append(objective(X, theta, Q, **case))
    np.testing.assert_allclose(found.theta, theta, rtol=1e-10)
    np.testing.assert_allclose(found.words.T, Q, rtol=1e-10)
    np.testing.assert_allclose(found.history, values, rtol=1e-12)
    assert np.diff(found.history).min() > 0
    assert [line[0] for line in told] == list(range(9))
    assert told[-1][1] == found.history[-1]
    np.testing.assert_allclose(np.array(found.gaps) / X.sum(), told[-1][2])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("steps", [1, 5, 40])
def test_no_block_has_more_to_gain_than_certified(case, steps):
    """Either half of a step, taken again and again, climbs to the best of its block."""
    X = documents(length=30, seed=steps)[0]
    found, _ = run(X, *parameters(*X.shape, 3, seed=steps), max_iter=steps, **case)
    theta, Q = found.theta, found.words.T
    for _ in range(1500):
        theta = step(X, theta, found.words.T, **case)[0]
        Q = step(X, found.theta, Q, **case)[1]
    start = objective(X, found.theta, found.words.T, **case)
    gains = (
        objective(X, theta, found.words.T, **case) - start,
        objective(X, found.theta, Q, **case) - start,
    )
    for gain, gap in zip(gains, found.gaps, strict=True):
        assert 0 <= gain <= gap + 1e-8
        # a gap is of first order where a gain is of second
        assert gap < 10 * np.sqrt(X.sum() * gain) + 1e-2


@pytest.mark.parametrize("case", CASES)
def test_it_stops_where_little_is_left(case):
    X = documents()[0]
    for tol in (1e-1, 1e-3):
        found, _ = run(X, *parameters(*X.shape, 3), tol=tol, max_iter=5000, **case)
        assert max(found.gaps) <= tol * X.sum()
        assert len(found.history) < 5000


def test_a_topic_without_words_keeps_them():
    X = documents()[0]
    theta, Q = parameters(*X.shape, 3)
    theta[:, 1] = 0.0
    found, _ = run(X, theta / theta.sum(axis=1, keepdims=True), Q)
    np.testing.assert_array_equal(found.words.T[1], Q[1])
    assert np.isfinite(found.words).all() and not found.theta[:, 1].any()


def test_a_fall_of_the_objective_is_an_error(monkeypatch):
    honest, calls = em.expected_ratios, []

    def falling(counts, theta, words):
        calls.append(1)
        by_document, by_word, value = honest(counts, theta, words)
        return by_document, by_word, value - 1e6 * len(calls)

    monkeypatch.setattr(em, "expected_ratios", falling)
    X = documents()[0]
    with pytest.raises(FloatingPointError, match="step 1 of EM lowered the objective"):
        run(X, *parameters(*X.shape, 3))
