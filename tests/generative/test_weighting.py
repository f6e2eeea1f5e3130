import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils import get_tags

from memdlib import DivergenceRanker
from memdlib.generative import DivergenceWeighter
from tests.generative.conftest import word_counts


def text(n_classes=2):
    return word_counts(80, 120, 2, n_classes=n_classes)


def test_without_divergence_it_is_tf_idf():
    X, _ = text()
    ours = DivergenceWeighter(0).fit_transform(X)
    theirs = TfidfTransformer(sublinear_tf=True).fit_transform(X)
    assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-12)


@pytest.mark.parametrize("smoothing", [0.1, 1.0])
@pytest.mark.parametrize("divergence", ["js_gm", "jeffreys"])
def test_weights_are_powers_of_the_ranker_s_divergences(divergence, smoothing):
    X, y = text(3)
    how = {"divergence": divergence, "alpha": smoothing}
    ours = DivergenceWeighter(0.25, **how).fit(X, y)
    ranker = DivergenceRanker(family="bernoulli", **how).fit(X, y)
    value = ranker.scores_
    idf = DivergenceWeighter(0).fit(X).weights_
    assert_allclose(ours.weights_, idf * (value / value.max()) ** 0.25)


def test_an_attachment_counts_as_one_document():
    X, y = text()
    junk = sparse.csr_array(np.full((1, 3000), 40.0))
    wide = sparse.csr_array(sparse.block_diag([X, junk]))
    labels = np.append(y, 0)
    model = DivergenceWeighter(0.5).fit(wide, labels)
    Z = model.transform(wide)
    assert np.linalg.norm(Z[[len(y)]].toarray()) == pytest.approx(1.0)
    # as the rarest words its tokens weigh most, but for what they tell of the classes
    plain = DivergenceWeighter(0).fit(wide)

    def ratio(model):
        return model.weights_[120:].max() / model.weights_[:120].max()

    assert ratio(model) < 0.7 < ratio(plain)


def test_words_that_no_training_document_holds_weigh_nothing():
    X = np.array([[1.0, 2.0, 0.0], [3.0, 0.0, 0.0]])
    weighter = DivergenceWeighter(0).fit(X)
    assert weighter.weights_[2] == 0.0
    other = X + np.array([0.0, 0.0, 9.0])
    assert_allclose(weighter.transform(other), weighter.transform(X))


def test_shares_of_counts_keep_their_order_and_sign():
    counts = np.array([[1e-90, 0.3, 0.999999, 1.0, 1.000001, 2.0]])
    weighter = DivergenceWeighter(0).fit(counts)
    found = weighter.transform(counts)[0]
    expected = [1e-90, 0.3, 0.999999, 1.0, 1.000001, 1.0 + np.log(2.0)]
    assert_allclose(found / found[3], expected, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e99])
def test_rows_of_any_size_come_to_length_one(scale):
    counts = np.array([[3.0, 4.0], [0.0, 0.0]]) * scale
    weighter = DivergenceWeighter(0).fit(counts)
    for X in (counts, sparse.csr_array(counts)):
        found = np.linalg.norm(dense(weighter.transform(X)), axis=1)
        assert_allclose(found, [1.0, 0.0], rtol=1e-12)


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_counts_stay_as_they_are_and_keep_their_precision(kind, dtype):
    X, y = text(3)
    X = X.toarray().astype(dtype)
    given = kind(X)
    model = DivergenceWeighter().fit(given, y)
    found = model.transform(given)
    assert_array_equal(dense(given), X)
    assert found.dtype == dtype and model.weights_.dtype == np.float64
    own = np.where(X > 0, 1 + np.log(np.maximum(X, 1)), 0)
    own = own * model.weights_
    own = own / np.linalg.norm(own, axis=1, keepdims=True)
    rtol = 1e-12 if dtype == np.float64 else 1e-6
    assert_allclose(dense(found), own, rtol=rtol)


def test_without_classes_and_without_words():
    X, _ = text()
    with pytest.raises(ValueError, match="power=0"):
        DivergenceWeighter().fit(X)
    nothing = DivergenceWeighter(0).fit(X).transform(sparse.csr_array(X.shape))
    assert nothing.shape == X.shape and nothing.nnz == 0


def test_words_that_tell_nothing_of_the_classes_weigh_alike():
    X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 3.0]] * 2)
    y = np.array([0, 0, 1, 1])
    for options in ({}, {"divergence": "js_gm", "power": 2.0}):
        model = DivergenceWeighter(**options).fit(X, y)
        assert_allclose(model.weights_, [*[1 + np.log(5 / 3)] * 2, 1.0])


def test_labels_are_not_looked_at_without_divergence():
    X = [[1.0, 0.0, 2.0], [0.0, 1.0, 3.0]]
    alone = DivergenceWeighter(0).fit(X).weights_
    for y in ([4, 4], ["a", "b"]):
        assert_array_equal(DivergenceWeighter(0).fit(X, y).weights_, alone)
    for power in (0.0, 0.5):
        tags = get_tags(DivergenceWeighter(power))
        assert tags.target_tags.required is (power > 0)
        assert tags.input_tags.sparse and tags.input_tags.positive_only
        assert tags.transformer_tags.preserves_dtype == ["float64", "float32"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_output_is_an_array_where_frames_are_asked_for(library):
    X, y = text()
    plain = DivergenceWeighter().fit_transform(X, y)
    with sklearn.config_context(transform_output=library):
        weighter = DivergenceWeighter()
        found = weighter.fit_transform(X, y)
        assert isinstance(weighter.transform(X.toarray()), np.ndarray)
    assert isinstance(found, sparse.csr_array)
    assert_array_equal(found.toarray(), plain.toarray())
