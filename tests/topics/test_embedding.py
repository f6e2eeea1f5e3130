import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC

from memdlib.kernels import js_kernel, weighted_jt_kernel
from memdlib.topics import (
    PLSA,
    GenerativeEmbedding,
    fisher_scores,
    free_energy_terms,
    posterior_divergences,
)
from tests.topics.reference import documents

QUICK = PLSA(2, random_state=0, smoothing=0.01)
SIZES = {  # Z = 2, W = 25, K = 3, but K = 2 for TOP
    "MT-1": 3 * 2,
    "MT-2": 2,
    "FESS-1": 3 * 3 * 2,
    "FESS-2": 3 * 2,
    "LLR": 3 * 2 * 26,
    "FS": 2 * 26,
    "TOP": 1 + 2 * 2 * 26,
    "PD": 4 * 2,
}
OF_MODEL = {
    "MT": PLSA.transform,
    "FESS": free_energy_terms,
    "LLR": fisher_scores,
    "FS": fisher_scores,
    "PD": posterior_divergences,
}


def data(kind="MT-2", seed=0):
    """Documents, each of the class of its main topic."""
    X, theta, _ = documents(n=90, seed=seed)
    y = np.array(["a", "b", "c"])[theta.argmax(axis=1)]
    return (X[y != "c"], y[y != "c"]) if kind == "TOP" else (X, y)


def fitted_apart(kind):
    """Fitted on every other row: embedding, X, shares of classes and their models."""
    X, y = data(kind)
    weight = 1.0 + np.arange(len(X)) // 2 % 2
    X_half, y_half, weight = X[::2], y[::2], weight[::2]
    embedding = GenerativeEmbedding(kind, QUICK).fit(X_half, y_half, weight)
    rows = [slice(None)]
    if hasattr(embedding, "classes_"):
        assert embedding.classes_.tolist() == np.unique(y_half).tolist()
        rows = [y_half == c for c in np.unique(y_half)]
    models = [clone(QUICK).fit(X_half[r], sample_weight=weight[r]) for r in rows]
    return embedding, X, [weight[r].sum() for r in rows], models


@pytest.mark.parametrize("kind", SIZES)
def test_an_embedding_has_a_name_for_each_number(kind):
    embedding, X, _, models = fitted_apart(kind)
    assert embedding.transform(X).shape == (len(X), SIZES[kind])
    names = embedding.get_feature_names_out()
    assert len(set(names)) == len(names) == SIZES[kind]
    assert len(models) == {"MT-1": 3, "FESS-1": 3, "LLR": 3, "TOP": 2}.get(kind, 1)


@pytest.mark.parametrize("kind", [kind for kind in SIZES if kind != "TOP"])
def test_embeddings_are_made_of_models_fitted_apart(kind):
    embedding, X, _, models = fitted_apart(kind)
    parts = [OF_MODEL[kind.split("-")[0]](model, X) for model in models]
    np.testing.assert_array_equal(embedding.transform(X), np.hstack(parts))


def test_tangents_of_posterior_log_odds_are_made_of_models_fitted_apart():
    embedding, X, share, models = fitted_apart("TOP")
    found = embedding.transform(X)
    np.testing.assert_allclose(embedding.class_prior_, share / np.sum(share))
    P = [model.transform(X) @ model.components_ for model in models]
    odds = (X * np.log(P[1] / P[0])).sum(axis=1) + np.log(share[1] / share[0])
    np.testing.assert_allclose(found[:, 0], odds, rtol=1e-9, atol=1e-9)
    gradients = [fisher_scores(model, X) for model in models]
    np.testing.assert_array_equal(found[:, 1:53], -gradients[0])
    np.testing.assert_array_equal(found[:, 53:], gradients[1])


def test_names_of_numbers():
    X, y = data("TOP")
    frame = pd.DataFrame(X, columns=[f"w{i}" for i in range(25)])
    model = GenerativeEmbedding("TOP", PLSA(1, smoothing=0.1, random_state=0))
    names = model.fit(frame, y).get_feature_names_out()
    assert names[:4].tolist() == ["log_odds", "a_prior0", "a_words0_w0", "a_words0_w1"]
    assert names[-1] == "b_words0_w24"
    model = GenerativeEmbedding("PD", QUICK).set_output(transform="pandas")
    shown = model.fit_transform(frame)
    parts = ("entropy", "prior", "fit", "cost")
    assert list(shown) == [f"{part}{z}" for part in parts for z in (0, 1)]
    model = GenerativeEmbedding("MT-1", QUICK).fit(X, y)
    assert model.get_feature_names_out().tolist() == [
        "a_topic0",
        "a_topic1",
        "b_topic0",
        "b_topic1",
    ]


@pytest.mark.parametrize("kind", SIZES)
def test_sparse_documents(kind):
    X, y = data(kind)
    X[1:] *= np.random.default_rng([92, 30]).random(X[1:].shape) < 0.3
    dense = GenerativeEmbedding(kind, QUICK).fit(X, y)
    thin = GenerativeEmbedding(kind, QUICK).fit(sparse.csr_array(X), y)
    found = thin.transform(sparse.csr_array(X))
    assert sparse.issparse(found) == (kind in ("FS", "LLR", "TOP"))
    found = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_allclose(found, dense.transform(X), rtol=1e-9, atol=1e-9)
    assert not sparse.issparse(dense.transform(X))


def test_top_without_its_first_number_is_llr_to_a_linear_kernel():
    X, y = data("TOP")
    top = GenerativeEmbedding("TOP", QUICK).fit_transform(X, y)
    llr = GenerativeEmbedding("LLR", QUICK).fit_transform(X, y)
    np.testing.assert_array_equal(abs(top[:, 1:]), llr)
    np.testing.assert_allclose(linear_kernel(top[:, 1:]), linear_kernel(llr))


def test_embeddings_serve_kernels_and_classifiers():
    X, y = data(seed=3)
    model = make_pipeline(
        GenerativeEmbedding(plsa=QUICK), Normalizer("l1"), SVC(kernel=js_kernel)
    )
    grid = {
        "generativeembedding__kind": ["MT-1", "FS"],
        "generativeembedding__plsa__n_topics": [1, 3],
    }
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.7
    scores = GenerativeEmbedding("LLR", QUICK).fit_transform(X, y)
    K = weighted_jt_kernel(scores, q=0.8, version="B")
    assert SVC(kernel="precomputed").fit(K, y).score(K, y) > 0.8


def test_the_seed_of_all_models():
    X, y = data()
    plain = PLSA(2, tol=1e-2)
    one = GenerativeEmbedding("MT-1", plain, random_state=5).fit_transform(X, y)
    other = clone(plain).set_params(random_state=5)
    two = GenerativeEmbedding("MT-1", other).fit_transform(X, y)
    np.testing.assert_array_equal(one, two)
    assert plain.random_state is None


def test_a_second_fit_forgets_the_first():
    X, y = data()
    model = GenerativeEmbedding("MT-1", QUICK).fit(X, y)
    model.set_params(kind="MT-2").fit(X)
    assert not hasattr(model, "classes_") and len(model.models_) == 1
    model.set_params(kind="FESS-2")  # of the next fit
    assert model.transform(X).shape == (90, 2)
    before = pickle.dumps(vars(model))
    with pytest.raises(ValueError, match="Negative values"):
        model.fit(-X)
    assert pickle.dumps(vars(model)) == before


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("MT-3", {}, "'kind' .* among {'MT-1', 'MT-2', 'FESS-1', .* Got 'MT-3' inst"),
        ("TOP", {}, "kind='TOP' is for two classes, and y holds 3; use kind='LLR'"),
        ("LLR", {"y": None}, r"requires y to be passed, but the target y is None"),
        ("MT-1", {"y": np.zeros(90)}, "y holds one class only"),
        ("TOP", {"y": np.zeros(90)}, "y holds one class only"),
        ("FS", {"plsa": "plsa"}, "'plsa' .* Got 'plsa' instead"),
        ("MT-1", {"plsa": PLSA(26)}, "n_topics=26 is more than the counts can tell"),
    ],
)
def test_bad_input_is_named(kind, change, message):
    X, y = data()
    model = GenerativeEmbedding(kind, change.get("plsa", QUICK))
    with pytest.raises(ValueError, match=message):
        model.fit(X, change.get("y", y))
    for bad in (-X, X * np.nan):
        with pytest.raises(ValueError, match=r"Negative values|contains NaN"):
            GenerativeEmbedding("MT-2", QUICK).fit(bad)


def test_a_word_that_a_class_never_has():
    X, y = data()
    X[y == "a", 3] = 0
    X[y == "b", 3] = 1
    plain = clone(QUICK).set_params(smoothing=0.0)
    for kind in ("LLR", "FESS-1"):
        with pytest.raises(ValueError, match="holds feature 3, which the model"):
            GenerativeEmbedding(kind, plain).fit(X, y).transform(X)
        assert np.isfinite(GenerativeEmbedding(kind, QUICK).fit_transform(X, y)).all()
    assert np.isfinite(GenerativeEmbedding("MT-1", plain).fit_transform(X, y)).all()


@pytest.mark.parametrize("kind", ["MT-1", "FESS-1", "LLR", "TOP"])
def test_a_class_of_few_documents_has_as_many_topics(kind):
    X = np.array([[4, 2, 0, 1], [2, 1, 3, 0], [0, 0, 3, 3], [1, 2, 3, 3], [9, 1, 2, 4]])
    y = np.array([0, 0, 0, 1, 1])
    plsa = PLSA(3, random_state=0, smoothing=0.1)
    twice = np.r_[np.arange(5), 4, 4]
    for rows, weight in ((twice, None), (np.arange(5), [1, 1, 1, 1, 3])):
        for form in (np.array, sparse.csr_array):
            model = GenerativeEmbedding(kind, plsa).fit(form(X[rows]), y[rows], weight)
            assert [len(one.components_) for one in model.models_] == [3, 2]
            names = model.get_feature_names_out()
            assert model.transform(form(X)).shape == (5, len(names))


def test_a_class_of_one_word_or_of_none_has_one_topic():
    y = np.array([0, 0, 1, 1])
    model = GenerativeEmbedding("MT-1", PLSA(2, random_state=0))
    model.fit(np.array([[1, 0], [2, 0], [1, 2], [3, 4]]), y)
    assert [len(one.components_) for one in model.models_] == [1, 2]
    with pytest.raises(ValueError, match="X holds no counts"):
        model.fit(np.array([[0, 0], [0, 0], [1, 2], [3, 4]]), y)


@pytest.mark.parametrize("kind", SIZES)
def test_tags_say_what_a_kind_asks_for(kind):
    tags = GenerativeEmbedding(kind).__sklearn_tags__()
    assert tags.input_tags.sparse and tags.input_tags.positive_only
    assert tags.target_tags.required == (kind in ("MT-1", "FESS-1", "LLR", "TOP"))
    if kind == "TOP":
        assert not tags.classifier_tags.multi_class
    else:
        assert tags.classifier_tags is None
    assert not GenerativeEmbedding("none").__sklearn_tags__().target_tags.required


def test_negative_counts_are_refused_in_fit_and_transform():
    X, y = data()
    for kind in ("MT-1", "MT-2"):
        model = GenerativeEmbedding(kind, QUICK).fit(X, y)
        with pytest.raises(ValueError, match="Negative values in data passed to PLSA"):
            model.transform(-X)
    with pytest.raises(ValueError, match="Negative values in data passed to PLSA"):
        GenerativeEmbedding("MT-1", QUICK).fit(-X, y)
    with pytest.raises(ValueError, match="X has 24 features, but .* expecting 25"):
        model.transform(X[:, 1:])


def test_by_default_topics_are_those_of_one_default_model():
    X, y = data()
    assert GenerativeEmbedding().get_params() == {
        "kind": "MT-2",
        "plsa": None,
        "random_state": None,
    }
    found = GenerativeEmbedding(random_state=4).fit_transform(X, y)
    np.testing.assert_array_equal(found, PLSA(random_state=4).fit(X).transform(X))
    names = (
        GenerativeEmbedding("FS", QUICK)
        .fit(X)
        .get_feature_names_out([f"v{w}" for w in range(25)])
    )
    assert names[[0, 1, 2, 27, -1]].tolist() == [
        "prior0",
        "prior1",
        "words0_v0",
        "words1_v0",
        "words1_v24",
    ]
