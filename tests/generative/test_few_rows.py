"""With few rows make_memd is cautious, but it does not forget what they show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from memdlib import make_memd
from memdlib.datasets import simulate_text_counts
from memdlib.generative.mixture import select_weights

N_TEST = 1000
KINDS = ["expression", "table", "text"]


def noise(kind, n, seed):
    """Rows that say nothing of their two classes, which are of equal size."""
    rng = np.random.default_rng([62, seed])
    y = np.arange(n) % 2
    if kind == "text":
        shares = 1.0 / np.arange(1, 501)
        means = 60.0 * shares / shares.sum()
        return sparse.csr_array(rng.poisson(means, (n, 500)).astype(float)), y
    return rng.normal(size=(n, 10 if kind == "table" else 300)), y


def signal(kind, n, seed):
    """Rows of two classes of equal size, with something to find."""
    rng = np.random.default_rng([26, seed])
    y = np.arange(n) % 2
    if kind == "text":
        texts = simulate_text_counts(
            n, n_words=500, n_classes=2, lift=4.0, random_state=seed
        )
        return texts.X, texts.y
    d, n_informative = (10, 3) if kind == "table" else (300, 20)
    X = rng.normal(size=(n, d))
    X[:, :n_informative] += 0.6 * y[:, None]
    return X, y


def log_loss(posteriors, y):
    return -np.log(posteriors[np.arange(len(y)), y]).mean()


def fit_and_score(data, kind, n, seed):
    """A pipeline fitted to n rows, and its log posteriors of the test rows."""
    X, y = data(kind, n + N_TEST, seed)
    model = make_memd(kind, random_state=0).fit(X[:n], y[:n])
    return model, model.predict_proba(X[n:]), y[n:]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "limit"), [(20, 0.015), (40, 0.01), (80, 0.005)])
def test_noise_costs_little(kind, n, limit):
    """In nats above the class shares; not the mean, as a draw may look like signal."""
    excess = []
    for seed in range(8):
        _, posteriors, y = fit_and_score(noise, kind, n, seed)
        excess.append(log_loss(posteriors, y) - np.log(2.0))
    assert np.median(excess) < limit


@pytest.mark.parametrize("kind", KINDS)
def test_few_rows_do_not_give_constant_posteriors(kind):
    accuracy = []
    for seed in range(5):
        model, posteriors, y = fit_and_score(signal, kind, 24, seed)
        assert np.ptp(posteriors[:, 0]) > 0.01
        assert 0.0 <= model[-1].cv_results_["weight"][-1] <= 0.5
        accuracy.append((posteriors.argmax(axis=1) == y).mean())
        if kind != "text":
            assert model.feature_importances_.max() > 0
    assert np.mean(accuracy) > 0.6


@given(
    evidence=st.floats(-30.0, 30.0),
    n=st.integers(2, 60),
    n_candidates=st.integers(1, 4),
    baseline=st.floats(-20.0, 20.0),
)
def test_class_shares_have_at_most_half(evidence, n, n_candidates, baseline):
    """Whatever the held-out rows say, and never more than Bayes' rule gives them."""
    shares = np.full(n, np.log(0.5))
    log_q = np.vstack(
        [*[np.minimum(shares + evidence / n, -1e-9)] * n_candidates, shares]
    )
    weights, _ = select_weights(log_q, np.ones(n), baseline)
    assert weights.sum() == pytest.approx(1.0)
    odds = np.exp(np.clip((log_q[0] - shares).sum() - baseline, -50.0, 50.0))
    bayes = 1.0 / (1.0 + odds)
    assert weights[-1] == pytest.approx(min(bayes, 0.5)) or (
        weights[-1] == 0.0 and bayes < 1.0 / (1.0 + n)
    )
