import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from memdlib.topics import (
    PLSA,
    GenerativeEmbedding,
    fisher_scores,
    free_energy_terms,
    posterior_divergences,
)
from memdlib.topics.embedding import KINDS
from tests.topics.reference import documents

QUICK = PLSA(2, random_state=0, alpha=0.01)
OF_MODEL = {
    "MT": PLSA.transform,
    "FESS": free_energy_terms,
    "LLR": fisher_scores,
    "FS": fisher_scores,
    "PD": posterior_divergences,
}


def data(kind="MT-2", seed=0):
    """Documents, each of the class of its main topic."""
    X, theta, _ = documents(n=50, seed=seed)
    y = np.array(["a", "b", "c"])[theta.argmax(axis=1)]
    return (X[y != "c"], y[y != "c"]) if kind == "TOP" else (X, y)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"TOP"}))
def test_embeddings_are_made_of_models_fitted_apart(kind):
    """On every other row, for each class if there are classes."""
    X, y = data(kind)
    weight = 1.0 + np.arange(len(X)) // 2 % 2
    X_half, y_half, weight = X[::2], y[::2], weight[::2]
    embedding = GenerativeEmbedding(kind, plsa=QUICK).fit(X_half, y_half, weight)
    rows = [slice(None)]
    if hasattr(embedding, "classes_"):
        assert embedding.classes_.tolist() == np.unique(y_half).tolist()
        rows = [y_half == c for c in np.unique(y_half)]
    models = [clone(QUICK).fit(X_half[r], sample_weight=weight[r]) for r in rows]
    parts = [OF_MODEL[kind.split("-")[0]](model, X) for model in models]
    np.testing.assert_array_equal(embedding.transform(X), np.hstack(parts))


def test_names_of_numbers():
    X, y = data("TOP")
    frame = pd.DataFrame(X, columns=[f"w{i}" for i in range(25)])
    model = GenerativeEmbedding("TOP", plsa=PLSA(1, alpha=0.1, random_state=0))
    names = model.fit(frame, y).get_feature_names_out()
    assert names[:4].tolist() == ["log_odds", "a_prior0", "a_words0_w0", "a_words0_w1"]
    assert names[-1] == "b_words0_w24"
    model = GenerativeEmbedding("PD", plsa=QUICK).set_output(transform="pandas")
    shown = model.fit_transform(frame)
    parts = ("entropy", "prior", "fit", "cost")
    assert list(shown) == [f"{part}{z}" for part in parts for z in (0, 1)]
    model = GenerativeEmbedding("MT-1", plsa=QUICK).fit(X, y)
    expected = ["a_topic0", "a_topic1", "b_topic0", "b_topic1"]
    assert model.get_feature_names_out().tolist() == expected


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_documents(kind):
    X, y = data(kind)
    X[1:] *= np.random.default_rng([92, 30]).random(X[1:].shape) < 0.3
    dense = GenerativeEmbedding(kind, plsa=QUICK).fit(X, y)
    thin = GenerativeEmbedding(kind, plsa=QUICK).fit(sparse.csr_array(X), y)
    found = thin.transform(sparse.csr_array(X))
    assert sparse.issparse(found) == (kind in ("FS", "LLR", "TOP"))
    found = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_allclose(found, dense.transform(X), rtol=1e-9, atol=1e-9)
    assert not sparse.issparse(dense.transform(X))


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("TOP", {}, "kind='TOP' is for two classes, and y holds 3; use kind='LLR'"),
        ("LLR", {"y": None}, r"requires y to be passed, but the target y is None"),
        ("MT-1", {"y": np.zeros(50)}, "y holds only one class"),
        ("TOP", {"y": np.zeros(50)}, "y holds only one class"),
        ("MT-1", {"plsa": PLSA(26)}, "n_components=26 is more than n_samples"),
    ],
)
def test_bad_input_is_named(kind, change, message):
    X, y = data()
    model = GenerativeEmbedding(kind, plsa=change.get("plsa", QUICK))
    with pytest.raises(ValueError, match=message):
        model.fit(X, change.get("y", y))
    for bad in (-X, X * np.nan):
        with pytest.raises(ValueError, match=r"Negative values|contains NaN"):
            GenerativeEmbedding("MT-2", plsa=QUICK).fit(bad)


@pytest.mark.parametrize("kind", ["MT-1", "FESS-1", "LLR", "TOP"])
def test_a_class_of_few_documents_has_as_many_topics(kind):
    X = np.array([[4, 2, 0, 1], [2, 1, 3, 0], [0, 0, 3, 3], [1, 2, 3, 3], [9, 1, 2, 4]])
    y = np.array([0, 0, 0, 1, 1])
    plsa = PLSA(3, random_state=0, alpha=0.1)
    twice = np.r_[np.arange(5), 4, 4]
    for rows, weight in ((twice, None), (np.arange(5), [1, 1, 1, 1, 3])):
        for form in (np.array, sparse.csr_array):
            model = GenerativeEmbedding(kind, plsa=plsa).fit(
                form(X[rows]), y[rows], weight
            )
            assert [len(one.components_) for one in model.models_] == [3, 2]
            names = model.get_feature_names_out()
            assert model.transform(form(X)).shape == (5, len(names))
