import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from compendium.study import hybrids
from compendium.study.hybrids import (
    DATA,
    EMBEDDINGS,
    GENERATIVE,
    KERNELS,
    Choice,
    Task,
    candidates,
    embeddings,
    fitted_models,
    grams,
    groups,
    measures,
    nested,
    outcomes,
    posterior_logs,
    predictions,
)
from memdlib.kernels import js_kernel, weighted_jt_kernel
from memdlib.topics import PLSA, GenerativeEmbedding, log_likelihoods

FORMS = [np.asarray, sparse.csr_array]
SMALL = {"smoothing": 0.1, "n_features": 8}


def counts(seed, n=24, n_classes=2):
    rng = np.random.default_rng([31, seed])
    words = rng.dirichlet(np.full(8, 0.5), size=n_classes)
    y = np.arange(n) % n_classes
    return np.array([rng.multinomial(40, words[k]) for k in y], float), y


@pytest.mark.parametrize("form", FORMS)
def test_the_embeddings_are_those_of_memdlib(form):
    X, y = counts(0)
    X = form(X)
    models = fitted_models(X, y, 2, 0.1, 5)
    found = embeddings(models, np.array([0.5, 0.5]), X)
    assert set(found) == set(EMBEDDINGS)
    plsa = PLSA(2, tol=1e-3, max_iter=200, smoothing=0.1)
    for kind, values in found.items():
        other = GenerativeEmbedding(kind, plsa, random_state=5).fit_transform(X, y)
        both = [v.toarray() if sparse.issparse(v) else v for v in (values, other)]
        np.testing.assert_allclose(*both, rtol=1e-12, err_msg=kind)


def test_documents_are_folded_in_once(monkeypatch):
    X, y = counts(1)
    calls = []
    whole = PLSA.transform
    monkeypatch.setattr(
        PLSA, "transform", lambda self, X: calls.append(1) or whole(self, X)
    )
    Task(X, y[:16], 0.1, 0, 8).embedded(2)
    assert len(calls) == 3


def test_the_generative_rule_is_bayes_rule():
    X, y = counts(2)
    models = fitted_models(X, y, 2, 0.1, 0)
    prior = np.array([0.9, 0.1])
    logs = posterior_logs(models, prior, X)
    for k in (0, 1):
        expected = log_likelihoods(models[1 + k], X) + np.log(prior[k])
        np.testing.assert_allclose(logs[:, k], expected, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_measures_keep_signs_apart(form):
    found = measures(form(np.array([[1.0, -2.0, 0.0], [3.0, 4.0, 0.0]])))
    found = found.toarray() if sparse.issparse(found) else found
    assert found.tolist() == [[1.0, 0.0, 2.0], [3.0, 4.0, 0.0]]


@pytest.mark.parametrize("form", FORMS)
def test_kernel_matrices_are_those_of_memdlib_but_for_their_unit(form):
    X = counts(3)[0][:10] + 0.5
    wanted = [(k, q) for k in ("JT", "A", "B") for q in (1.0, 1.5)]
    found = dict(grams([("linear", 0.0), ("scaled", 0.0), *wanted], form(X), 6))
    expected = {
        ("linear", 0.0): X @ X.T,
        ("scaled", 0.0): linear_kernel(X / X[:6].std(axis=0)),
        ("JT", 1.0): js_kernel(X / X.sum(axis=1, keepdims=True)),
        ("A", 1.5): weighted_jt_kernel(X, q=1.5, version="A"),
        ("B", 1.5): weighted_jt_kernel(X, q=1.5, version="B"),
    }
    for kernel, K in expected.items():
        unit = found[kernel][0, 0] / K[0, 0]
        np.testing.assert_allclose(found[kernel], unit * K, rtol=1e-9)
    for K in found.values():
        centred = K[:6, :6] - K[:6, :6].mean(axis=0)
        assert np.isclose(np.trace(centred - centred.mean(axis=1)[:, None]) / 6, 1.0)


def test_classifiers_are_those_of_scikit_learn():
    rng = np.random.default_rng([31, 4])
    X, y = rng.normal(size=(40, 3)), np.arange(30) % 3
    K = X @ X.T
    peers = {
        ("knn", 1): KNeighborsClassifier(1),
        ("knn", 5): KNeighborsClassifier(5),
        ("svm", 10.0): SVC(kernel="linear", C=10.0),
    }
    for (classifier, setting), peer in peers.items():
        found = predictions(K, y, classifier, setting)
        assert found.tolist() == peer.fit(X[:30], y).predict(X[30:]).tolist()


def test_columns_are_kept_by_the_variance_of_training_rows():
    X = np.array([[0.0, 1.0, 5.0], [0.0, 2.0, 9.0], [1e6, 1.0, 1.0]])
    task = Task(X, np.array([0, 1]), 0.1, 0, 2)
    assert task.kept().tolist() == X[:, 1:].tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_group_has_candidates(n_classes):
    X, y = counts(5, n_classes=n_classes)
    tried = [choice for choice, _ in outcomes(Task(X, y[:18], 0.1, 0, 8), (1, 2))]
    assert len(set(tried)) == len(tried)
    found = {name: group(tried) for name, group in groups(n_classes).items()}
    assert all(found.values())
    assert ("TOP JS svm" in found) == (n_classes == 2)
    free = set(found["any linear"]) | set(found["any information"])
    assert free == set(found["any"])
    assert free == {c for c in tried if c.embedding not in (DATA, GENERATIVE)}
    assert {c.topics for c in found["data linear"]} == {0}
    chosen = candidates(tried, ["FS"], KERNELS["JT"], ["knn"])
    assert {(c.embedding, c.kernel, c.classifier) for c in chosen} == {
        ("FS", "JT", "knn")
    }


def test_nested_counts_are_of_the_rows_put_aside(monkeypatch):
    X, y = counts(6)
    found = nested(
        X, y, groups(2), topics=(2,), n_splits=2, inner=2, repeats=2, **SMALL
    )
    for part in found.values():
        assert part["tested"].sum(axis=1).tolist() == [24, 24]
        assert len(part["chosen"]) == 4
        assert (part["correct"] <= part["tested"]).all()
    cell = found["MT-2 JS knn"]["chosen"][0]
    assert (cell.kernel, cell.order) == ("JT", 1.0)

    # a classifier that is right once labels are seen gains nothing from those put aside
    def oracle(task, topics):
        for setting in (0.0, 1.0):
            guess = np.full(len(task.X) - len(task.y), setting, int)
            yield Choice(DATA, "linear", "knn", 0.0, 0, setting), guess

    monkeypatch.setattr(hybrids, "outcomes", oracle)
    monkeypatch.setattr(
        hybrids, "_tested", lambda task, choices, truth: dict.fromkeys(choices, 7)
    )
    ones = np.ones(24, int)
    ones[:2] = 0
    picked = nested(
        X,
        ones,
        {"best": list},
        topics=(1,),
        n_splits=2,
        inner=2,
        repeats=1,
        **SMALL,
    )["best"]
    assert {choice.setting for choice in picked["chosen"]} == {1.0}
    assert picked["correct"].tolist() == [[7, 7]]
