import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from memdlib import PLSA
from memdlib.topics import (
    fisher_scores,
    free_energy_terms,
    log_likelihoods,
    posterior_divergences,
)
from tests.topics.reference import documents, responsibilities

N_TOPICS = 3


def fitted(seed=0, **options):
    X = documents(seed=seed)[0]
    X[0] += 1  # every word is in the training rows
    model = PLSA(N_TOPICS, random_state=0, **({"alpha": 0} | options))
    return model.fit(X[:30]), X[30:]


def test_a_drop_in_an_ocean_keeps_its_digits():
    """The cost is of second order in the share of the document."""
    model, X = fitted(seed=6, alpha=0.1)
    cost = posterior_divergences(model, X)[:, 3 * N_TOPICS :]
    small = posterior_divergences(model, 1e-6 * X)[:, 3 * N_TOPICS :]
    mass, Q = model.topic_counts_[:, None], model.components_
    m = X[:, None, :] * responsibilities(model.transform(X), Q)
    second = 0.5e-12 * (m**2 / Q - m.sum(axis=2, keepdims=True) ** 2 * Q) / mass
    np.testing.assert_allclose(small, second.sum(axis=2), rtol=1e-4)
    assert (cost >= small).all()


def test_a_document_of_no_words():
    model, _ = fitted()
    nothing = np.zeros((1, 25))
    for scores in (fisher_scores, free_energy_terms, posterior_divergences):
        assert not scores(model, nothing).any()
    assert log_likelihoods(model, nothing).tolist() == [0.0]


def test_a_dead_topic_has_no_scores():
    model, X = fitted(seed=7)
    model.topic_prior_[1] = model.topic_counts_[1] = 0
    assert not fisher_scores(model, X)[:, 1].any()
    assert not posterior_divergences(model, X)[:, 1::N_TOPICS].any()


def test_words_without_probability_are_named():
    X = documents()[0]
    X[:, 4] = 0
    model = PLSA(N_TOPICS, alpha=0, random_state=0).fit(X)
    new = X.copy()
    new[7, 4] = 2
    for scores in (fisher_scores, free_energy_terms, posterior_divergences):
        for kind in (np.asarray, sparse.csr_array):
            with pytest.raises(ValueError, match="row 7 holds feature 4, which"):
                scores(model, kind(new))
    smooth = PLSA(N_TOPICS, random_state=0, alpha=0.01).fit(X)
    assert np.isfinite(free_energy_terms(smooth, new)).all()
    with pytest.raises(NotFittedError):
        free_energy_terms(PLSA(), X)
