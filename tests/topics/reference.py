"""pLSA as it is written: responsibilities of every cell and topic, in full."""

import numpy as np


def documents(n=40, n_words=25, n_topics=3, length=60, seed=0):
    """Counts drawn from a model, and its parameters."""
    rng = np.random.default_rng([92, seed])
    Q = rng.dirichlet(np.full(n_words, 0.3), size=n_topics)
    theta = rng.dirichlet(np.full(n_topics, 0.4), size=n)
    X = np.array([rng.multinomial(length, p) for p in theta @ Q], dtype=float)
    X[-1] += 1  # every word is there
    return X, theta, Q


def parameters(n, n_words, n_topics, seed=0):
    """Some theta (n, n_topics) and Q (n_topics, n_words), all positive."""
    rng = np.random.default_rng([93, seed])
    theta = rng.dirichlet(np.ones(n_topics), size=n)
    return theta, rng.dirichlet(np.ones(n_words), size=n_topics)


def objective(X, theta, Q, beta=1.0, alpha=0.0):
    cells = ((theta[:, :, None] * Q[None]) ** beta).sum(axis=1)
    value = sum(X[i] * np.log(cells[i]) for i in zip(*X.nonzero(), strict=True))
    return value / beta + (alpha * np.log(Q).sum() if alpha else 0.0)


def responsibilities(theta, Q, beta=1.0):
    """P(z | d, w), of shape (n, n_topics, n_words)."""
    joint = (theta[:, :, None] * Q[None]) ** beta
    return joint / joint.sum(axis=1, keepdims=True)


def step(X, theta, Q, beta=1.0, alpha=0.0):
    """One step of EM."""
    expected = X[:, None, :] * responsibilities(theta, Q, beta)
    by_word = expected.sum(axis=0) + alpha
    by_document = expected.sum(axis=2)
    return (
        by_document / by_document.sum(axis=1, keepdims=True),
        by_word / by_word.sum(axis=1, keepdims=True),
    )
