"""The simulators keep to the truth that they state."""

import inspect
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from memdlib.datasets import simulate_gaussian_classes, simulate_text_counts

SIMULATORS = [simulate_gaussian_classes, simulate_text_counts]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_jeffreys_is_the_integral_of_its_definition(n_classes):
    data = simulate_gaussian_classes(n_features=4, n_informative=3, n_classes=n_classes)
    for a, b in [(0, 1), (1, n_classes - 1)]:
        for j in range(4):
            p = stats.norm(data.means[a, j], np.sqrt(data.variances[a, j]))
            q = stats.norm(data.means[b, j], np.sqrt(data.variances[b, j]))

            def integrand(x, p=p, q=q):
                return (p.pdf(x) - q.pdf(x)) * (p.logpdf(x) - q.logpdf(x))

            expected, _ = integrate.quad(integrand, -20, 20, points=[-3, 0, 3])
            assert data.jeffreys[a, b, j] == pytest.approx(expected, abs=1e-7)
            assert data.jeffreys[b, a, j] == data.jeffreys[a, b, j]


@settings(deadline=None, max_examples=50)
@given(
    st.integers(2, 5),
    st.integers(1, 30),
    st.floats(0, 1),
    st.floats(0, 10),
    st.integers(0, 2**70),
)
def test_gaussian_truth_is_confined_to_the_informative(
    n_classes, n_features, share, separation, seed
):
    n_informative = round(share * n_features)
    data = simulate_gaussian_classes(
        n_samples=40,
        n_features=n_features,
        n_informative=n_informative,
        n_classes=n_classes,
        separation=separation,
        seed=seed,
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


def test_separation_scales_the_means_alone():
    one, three, zero = (
        simulate_gaussian_classes(separation=separation) for separation in (1, 3, 0)
    )
    np.testing.assert_allclose(three.means, 3 * one.means, rtol=1e-12)
    np.testing.assert_array_equal(three.variances, one.variances)
    assert (zero.means == 0).all()
    gaps = abs(one.means[0] - one.means[1])[one.informative]
    assert ((gaps >= 0.5) & (gaps <= 1.5)).all()
    ratios = one.variances.max(axis=0) / one.variances.min(axis=0)
    np.testing.assert_allclose(ratios[one.informative], 4.0)


def test_by_default_means_are_one_separation_apart():
    default, one = simulate_gaussian_classes(), simulate_gaussian_classes(separation=1)
    np.testing.assert_array_equal(default.X, one.X)


def test_sizes_are_rounded_by_the_largest_remainders():
    data = simulate_gaussian_classes(
        n_samples=10, n_classes=3, weights=(0.44, 0.3, 0.26)
    )
    assert np.bincount(data.y).tolist() == [4, 3, 3]


@settings(deadline=None, max_examples=50)
@given(
    st.integers(2, 5),
    st.integers(0, 40),
    st.integers(0, 40),
    st.floats(1.1, 1e6),
    st.integers(0, 2**70),
)
def test_text_truth_is_confined_to_the_informative(n_classes, more, rest, lift, seed):
    n_informative = n_classes + more
    data = simulate_text_counts(
        n_documents=20,
        n_words=n_informative + rest,
        n_informative=n_informative,
        n_classes=n_classes,
        document_length=3.0,
        lift=lift,
        seed=seed,
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
        n_documents=3_000, n_words=60, n_informative=12, n_classes=3, seed=1
    )
    lengths = data.X.sum(axis=1)
    assert abs(lengths.mean() - 100) < 5 * np.sqrt(99 / 3_000)
    for k in range(3):
        counts = data.X[data.y == k].sum(axis=0)
        expected = data.word_probabilities[k] * counts.sum()
        assert stats.chisquare(counts, expected).pvalue > 1e-4
    background = data.word_probabilities[0][~data.informative]
    assert (np.diff(background) < 0).all()


def test_shortest_documents_have_one_word():
    assert (simulate_text_counts(document_length=1).X.sum(axis=1) == 1).all()


def values(data):
    """All numbers of a bundle, X as a dense array."""
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    arrays = {key: a for key, a in data.items() if isinstance(a, np.ndarray)}
    return {**arrays, "X": X}


@pytest.mark.parametrize("simulate", SIMULATORS)
def test_same_seed_same_bytes(simulate):
    one, two, other = simulate(seed=7), simulate(seed=np.int64(7)), simulate(seed=8)
    for key, array in values(one).items():
        assert array.tobytes() == values(two)[key].tobytes(), key
    assert values(one)["X"].tobytes() != values(other)["X"].tobytes()


@pytest.mark.parametrize(
    ("simulate", "size", "truth"),
    [
        (simulate_gaussian_classes, "n_samples", "means"),
        (simulate_text_counts, "n_documents", "word_probabilities"),
    ],
)
def test_truth_does_not_depend_on_the_number_of_samples(simulate, size, truth):
    few, many = simulate(**{size: 10}), simulate(**{size: 50})
    np.testing.assert_array_equal(few[truth], many[truth])
    np.testing.assert_array_equal(few.informative, many.informative)


@pytest.mark.parametrize("simulate", SIMULATORS)
def test_features_and_classes_have_names(simulate):
    data = simulate()
    n, d = data.X.shape
    assert data.y.shape == (n,) and data.feature_names.shape == (d,)
    assert data.target_names.tolist() == [f"class{k}" for k in range(data.y.max() + 1)]


@pytest.mark.parametrize(
    ("simulate", "arguments", "name", "hint"),
    [
        (simulate_gaussian_classes, {"n_samples": 1}, "n_samples", "2 or more"),
        (simulate_gaussian_classes, {"n_samples": 20.0}, "n_samples", "integer"),
        (simulate_gaussian_classes, {"n_features": 0}, "n_features", "1 or more"),
        (simulate_gaussian_classes, {"n_informative": 21}, "n_informative", "at most"),
        (simulate_gaussian_classes, {"n_informative": -1}, "n_informative", "0 or mo"),
        (simulate_gaussian_classes, {"n_classes": True}, "n_classes", "integer"),
        (simulate_gaussian_classes, {"weights": [1, 2, 3]}, "weights", "2 positive"),
        (simulate_gaussian_classes, {"weights": [1, 0]}, "weights", "positive"),
        (simulate_gaussian_classes, {"weights": [1, np.nan]}, "weights", "positive"),
        (simulate_gaussian_classes, {"weights": "equal"}, "weights", "positive"),
        (simulate_gaussian_classes, {"weights": [1, 999]}, "n_samples", "raise"),
        (simulate_gaussian_classes, {"separation": -1}, "separation", "zero or above"),
        (simulate_gaussian_classes, {"separation": np.inf}, "separation", "finite"),
        (simulate_gaussian_classes, {"separation": "1"}, "separation", "number"),
        (simulate_gaussian_classes, {"seed": -1}, "seed", "0 or more"),
        (simulate_gaussian_classes, {"seed": None}, "seed", "integer"),
        (simulate_text_counts, {"n_classes": 1}, "n_classes", "2 or more"),
        (simulate_text_counts, {"n_words": 3}, "n_words", "4 or more"),
        (simulate_text_counts, {"n_informative": 3}, "n_informative", "4 or mo"),
        (simulate_text_counts, {"n_informative": 1001}, "n_informative", "n_words=1"),
        (simulate_text_counts, {"n_documents": 3}, "n_documents", "4 or more"),
        (simulate_text_counts, {"document_length": 0.5}, "document_length", "1 or mo"),
        (simulate_text_counts, {"document_length": np.nan}, "document_length", "nan"),
        (simulate_text_counts, {"lift": 1}, "lift", "above 1"),
        (simulate_text_counts, {"seed": 0.5}, "seed", "integer"),
    ],
)
def test_bad_argument_is_named_with_its_remedy(simulate, arguments, name, hint):
    with pytest.raises(ValueError, match=f"^{name}.*{hint}"):
        simulate(**arguments)


@pytest.mark.parametrize("simulate", SIMULATORS)
def test_defaults_and_names_are_the_documented_ones(simulate):
    stated = re.findall(r"^    (\w+) : .*default=(\S+)$", simulate.__doc__, re.M)
    parameters = inspect.signature(simulate).parameters
    assert {name: repr(p.default) for name, p in parameters.items()} == dict(stated)
    data = simulate()
    word = "word" if simulate is simulate_text_counts else "feature"
    assert data.feature_names[[0, 11]].tolist() == [f"{word}0000", f"{word}0011"]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_means_and_log_variances_lie_at_equal_distances_in_orders_of_their_own(
    n_classes,
):
    data = simulate_gaussian_classes(
        n_features=60, n_informative=50, n_classes=n_classes, separation=3.0
    )
    means = data.means[:, data.informative]
    logs = np.log(data.variances[:, data.informative])
    gaps = np.diff(np.sort(means, axis=0), axis=0)
    np.testing.assert_allclose(gaps, np.broadcast_to(gaps[0], gaps.shape), rtol=1e-12)
    assert 0.5 <= gaps.min() / 3 < 0.6 and 1.4 < gaps.max() / 3 <= 1.5
    steps = np.diff(np.sort(logs, axis=0), axis=0)
    np.testing.assert_allclose(steps, np.log(4) / (n_classes - 1), rtol=1e-12)
    for levels in (means, logs):
        orders = np.unique(levels.argsort(axis=0), axis=1)
        assert orders.shape[1] > 1
    assert (means.argsort(axis=0) != logs.argsort(axis=0)).any()


@pytest.mark.parametrize(("n_classes", "lift"), [(2, 1.5), (3, 7.0), (4, 20.0)])
def test_words_have_the_documented_law(n_classes, lift):
    data = simulate_text_counts(
        n_documents=10,
        n_words=50,
        n_informative=n_classes * 3 + 1,
        n_classes=n_classes,
        lift=lift,
        seed=3,
    )
    law, informative = data.word_probabilities, data.informative
    zipf = 1.0 / (np.arange(1, 51) + 2.7)
    factor = law / zipf
    rest = factor[:, ~informative]
    np.testing.assert_allclose(rest, np.full(rest.shape, rest[0, 0]), rtol=1e-12)
    factor = factor[:, informative] / rest[0, 0]
    owner = factor.argmax(axis=0)
    own = owner == np.arange(n_classes)[:, None]
    np.testing.assert_allclose(factor[own], lift, rtol=1e-12)
    mass = [zipf[informative][owner == k].sum() for k in range(n_classes)]
    for k in range(n_classes):
        foreign = factor[k, ~own[k]]
        np.testing.assert_allclose(foreign, foreign[0], rtol=1e-12)
        assert 1 - 1e-12 <= foreign[0] < lift
    assert factor[np.argmax(mass)].min() == pytest.approx(1.0, rel=1e-12)
    shared = law[:, informative].sum(axis=1)
    np.testing.assert_allclose(shared, shared[0], rtol=1e-12)


def test_the_ends_of_what_arguments_may_be_are_inside():
    data = simulate_gaussian_classes(
        n_samples=3, n_features=4, n_informative=4, n_classes=3
    )
    assert data.informative.all() and sorted(data.y) == [0, 1, 2]
    assert not simulate_gaussian_classes(n_informative=0).informative.any()
    assert simulate_gaussian_classes(n_features=1, n_informative=1).X.shape == (200, 1)
    data = simulate_text_counts(
        n_documents=2, n_words=2, n_informative=2, n_classes=2, lift=np.nextafter(1, 2)
    )
    assert data.informative.all() and sorted(data.y) == [0, 1]
