"""The simulators keep to the truth that they state."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from memdlib.datasets import simulate_gaussian_classes, simulate_text_counts

SIMULATORS = [simulate_gaussian_classes, simulate_text_counts]
more, seeds = st.integers(0, 40), st.integers(0, 2**70)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_jeffreys_is_the_integral_of_its_definition(n_classes):
    data = simulate_gaussian_classes(n_features=4, n_informative=3, n_classes=n_classes)
    x = np.linspace(-20, 20, 4001)
    log_p = stats.norm.logpdf(x[:, None, None], data.means, np.sqrt(data.variances))
    for a, b in np.ndindex(n_classes, n_classes):
        p, q = log_p[:, a], log_p[:, b]
        expected = np.trapezoid((np.exp(p) - np.exp(q)) * (p - q), x, axis=0)
        np.testing.assert_allclose(data.jeffreys[a, b], expected, rtol=0, atol=1e-7)


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 5), st.integers(0, 30), more, st.floats(0, 10), seeds)
def test_gaussian_truth_is_confined_to_the_informative(
    n_classes, n_informative, rest, separation, seed
):
    n_features = max(1, n_informative + rest)
    data = simulate_gaussian_classes(
        40,
        n_features=n_features,
        n_informative=n_informative,
        n_classes=n_classes,
        separation=separation,
        random_state=seed,
    )
    assert data.X.shape == (40, n_features) and data.X.dtype == np.float64
    assert data.y.dtype == np.int64
    assert np.ptp(np.bincount(data.y, minlength=n_classes)) <= 1
    assert data.informative.sum() == n_informative
    assert (data.means[:, ~data.informative] == 0).all()
    assert (data.variances[:, ~data.informative] == 1).all()
    differing = ~np.eye(n_classes, dtype=bool)
    assert (data.jeffreys[differing][:, data.informative] > 0).all()
    assert (data.jeffreys[..., ~data.informative] == 0).all()
    assert (data.jeffreys[~differing] == 0).all()


def test_gaussian_samples_follow_the_truth():
    data = simulate_gaussian_classes(
        n_samples=30_000, n_features=8, n_classes=3, weights=[1, 2, 3], separation=2.0
    )
    np.testing.assert_allclose(data.class_prior, [1 / 6, 1 / 3, 1 / 2])
    assert np.bincount(data.y).tolist() == [5_000, 10_000, 15_000]
    for k in range(3):
        X, mean, variance = data.X[data.y == k], data.means[k], data.variances[k]
        error = np.sqrt(variance / len(X))
        assert (abs(X.mean(axis=0) - mean) < 5 * error).all()
        assert (abs(X.var(axis=0) / variance - 1) < 5 * np.sqrt(2 / len(X))).all()
        correlations = np.corrcoef(X.T)[np.triu_indices(8, 1)]
        assert (abs(correlations) < 5 / np.sqrt(len(X))).all()


def test_sizes_are_rounded_by_the_largest_remainders():
    data = simulate_gaussian_classes(
        n_samples=10, n_classes=3, weights=(0.44, 0.3, 0.26)
    )
    assert np.bincount(data.y).tolist() == [4, 3, 3]


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 5), more, more, st.floats(1.1, 1e6), seeds)
def test_text_truth_is_confined_to_the_informative(n_classes, extra, rest, lift, seed):
    n_informative = n_classes + extra
    data = simulate_text_counts(
        20,
        n_words=n_informative + rest,
        n_informative=n_informative,
        n_classes=n_classes,
        document_length=3.0,
        lift=lift,
        random_state=seed,
    )
    law = data.word_probabilities
    assert law.shape == (n_classes, n_informative + rest) and (law > 0).all()
    np.testing.assert_allclose(law.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert data.informative.sum() == n_informative
    assert (law[:, ~data.informative] == law[0, ~data.informative]).all()
    highest, second = np.sort(law[:, data.informative], axis=0)[[-1, -2]]
    assert (highest > second).all()
    owners = np.bincount(law[:, data.informative].argmax(axis=0), minlength=n_classes)
    assert owners.min() >= 1 and np.ptp(owners) <= 1

    assert data.X.format == "csr" and data.X.dtype == np.int64
    assert data.X.has_canonical_format and (data.X.data > 0).all()
    assert (data.X.sum(axis=1) >= 1).all()
    assert np.ptp(np.bincount(data.y, minlength=n_classes)) <= 1


def test_text_counts_follow_the_truth():
    data = simulate_text_counts(
        n_documents=3_000, n_words=60, n_informative=12, n_classes=3, random_state=1
    )
    lengths = data.X.sum(axis=1)
    assert abs(lengths.mean() - 100) < 5 * np.sqrt(99 / 3_000)
    for k in range(3):
        counts = data.X[data.y == k].sum(axis=0)
        expected = data.word_probabilities[k] * counts.sum()
        assert stats.chisquare(counts, expected).pvalue > 1e-4
    background = data.word_probabilities[0][~data.informative]
    assert (np.diff(background) < 0).all()


def values(data):
    """All numbers of a bundle, X as a dense array."""
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    arrays = {key: a for key, a in data.items() if isinstance(a, np.ndarray)}
    return {**arrays, "X": X}


@pytest.mark.parametrize("simulate", SIMULATORS)
def test_same_seed_same_bytes(simulate):
    one = simulate(random_state=7)
    two = simulate(random_state=np.int64(7))
    other = simulate(random_state=8)
    for key, array in values(one).items():
        assert array.tobytes() == values(two)[key].tobytes(), key
    assert values(one)["X"].tobytes() != values(other)["X"].tobytes()


@pytest.mark.parametrize("simulate", SIMULATORS)
def test_random_states_and_none_draw_afresh(simulate):
    def drawn(random_state):
        return values(simulate(random_state=random_state))["X"].tobytes()

    state = np.random.RandomState(3)
    first, second = drawn(state), drawn(state)
    assert first != second
    assert first == drawn(np.random.RandomState(3))
    assert drawn(None) != drawn(None)


@pytest.mark.parametrize("simulate", SIMULATORS)
def test_truth_does_not_depend_on_the_number_of_samples(simulate):
    few, many = values(simulate(10)), values(simulate(50))
    for key in few.keys() - {"X", "y"}:
        np.testing.assert_array_equal(few[key], many[key])


@pytest.mark.parametrize(
    ("simulate", "arguments", "name", "hint"),
    [
        (simulate_gaussian_classes, {"n_samples": 1}, "n_samples", "raise n_samples"),
        (simulate_gaussian_classes, {"n_features": 0}, "n_features", r"\[1, inf\)"),
        (simulate_gaussian_classes, {"n_informative": 21}, "n_informative", "at most"),
        (simulate_gaussian_classes, {"weights": [1, 0]}, "weights", "positive"),
        (simulate_gaussian_classes, {"weights": [1, 999]}, "n_samples", "raise"),
        (simulate_gaussian_classes, {"separation": -1}, "separation", r"\[0.0, i"),
        (simulate_gaussian_classes, {"random_state": -1}, "random_state", r"\[0, i"),
        (simulate_text_counts, {"n_informative": 1001}, "n_informative", "n_words=1"),
        (simulate_text_counts, {"document_length": 0.5}, "document_length", r"\[1"),
        (simulate_text_counts, {"lift": 1}, "lift", r"\(1.0, inf\)"),
        (simulate_text_counts, {"n_documents": 3}, "n_classes", "n_documents=3"),
        (simulate_text_counts, {"n_informative": 3}, "n_classes", "n_informative=3"),
    ],
)
def test_bad_argument_is_named_with_its_remedy(simulate, arguments, name, hint):
    with pytest.raises(ValueError, match=rf"^(The '|){name}\b.*{hint}"):
        simulate(**arguments)
