import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics.pairwise import linear_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from compendium.study import embedded
from compendium.study.hybrids import EMBEDDINGS
from memdlib.kernels import js_kernel, weighted_jt_kernel
from memdlib.topics import PLSA, GenerativeEmbedding
from tests.compendium.study.test_hybrids import counts

FORMS = [np.asarray, sparse.csr_array]


@pytest.mark.parametrize("form", FORMS)
def test_the_embeddings_are_those_of_memdlib(form):
    X, y = counts(0)
    X = form(X)
    models = embedded.fitted_models(X, y, 2, 0.1, 5)
    found = embedded.embeddings(models, np.array([0.5, 0.5]), X)
    assert set(found) == set(EMBEDDINGS)
    plsa = PLSA(2, alpha=0.1)
    for kind, values in found.items():
        other = GenerativeEmbedding(kind, plsa=plsa, random_state=5).fit_transform(X, y)
        both = [v.toarray() if sparse.issparse(v) else v for v in (values, other)]
        np.testing.assert_allclose(*both, rtol=1e-12, err_msg=kind)


@pytest.mark.parametrize("form", FORMS)
def test_measures_keep_signs_apart(form):
    found = embedded.measures(form(np.array([[1.0, -2.0, 0.0], [3.0, 4.0, 0.0]])))
    assert sparse.csr_array(found).toarray().tolist() == [[1, 0, 2], [3, 4, 0]]


@pytest.mark.parametrize("form", FORMS)
def test_kernel_matrices_are_those_of_memdlib_but_for_their_unit(form):
    X = counts(3)[0][:10] + 0.5
    wanted = [(k, q) for k in ("JT", "A", "B") for q in (1.0, 1.5)]
    plain = ("linear", "scaled", "Hellinger", "RBF", "exp JS")
    found = dict(embedded.grams([*((k, 0.0) for k in plain), *wanted], form(X), 6))
    shares, JS = X / X.sum(axis=1, keepdims=True), "jensenshannon"
    away, js = cdist(shares, shares), cdist(shares, shares, JS)
    expected = {
        ("linear", 0.0): X @ X.T,
        ("scaled", 0.0): linear_kernel(X / X[:6].std(axis=0)),
        ("JT", 1.0): js_kernel(X / X.sum(axis=1, keepdims=True)),
        ("A", 1.5): weighted_jt_kernel(X, q=1.5, version="A"),
        ("B", 1.5): weighted_jt_kernel(X, q=1.5, version="B"),
        ("Hellinger", 0.0): np.sqrt(shares) @ np.sqrt(shares).T,
        ("RBF", 0.0): np.exp(-(away**2) / np.mean(pdist(shares[:6]) ** 2)),
        ("exp JS", 0.0): np.exp(-(js**2) / np.mean(pdist(shares[:6], JS) ** 2)),
    }
    H = np.eye(10) - np.repeat([[1 / 6] * 6 + [0.0] * 4], 10, axis=0)
    for kernel, K in expected.items():
        centred = H @ K @ H.T
        unit = np.trace(centred[:6, :6]) / 6
        np.testing.assert_allclose(found[kernel], centred / unit, rtol=0, atol=1e-9)


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
        found = embedded.predictions(K, y, classifier, setting)
        assert found.tolist() == peer.fit(X[:30], y).predict(X[30:]).tolist()


def test_rows_as_far_as_the_last_neighbour_vote_whatever_their_rounding():
    x = np.array([1.0, 2.0, 1.0, 1.0, 3.0, 1.0]) + 1e-9 * np.array([2, 0, 1, 0, 0, 1])
    assert embedded.predictions(np.outer(x, x), np.arange(5) > 1, "knn", 1).all()
