import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

from memdlib.generative.recommended.words import WordCounter

TEXTS = ["the cat", "the dog, the cow"]


def test_texts_are_counted_and_all_else_goes_on():
    found = WordCounter().fit_transform(TEXTS)
    assert found.toarray().tolist() == [[1, 0, 0, 1], [0, 1, 1, 2]]
    series = pd.Series(TEXTS, index=[5, 9])
    assert (WordCounter().fit_transform(series) != found).nnz == 0
    for rows in (sparse.csr_array(np.eye(3)), np.eye(3), np.eye(3).tolist(), [1, 2]):
        counter = WordCounter()
        assert counter.fit(rows).transform(rows) is rows
        assert counter.vectorizer_ is None


def test_the_vectorizer_can_be_another():
    pairs = CountVectorizer(ngram_range=(2, 2))
    counter = WordCounter(make_pipeline(pairs, TfidfTransformer())).fit(TEXTS)
    names = ["dog the", "the cat", "the cow", "the dog"]
    assert counter.get_feature_names_out().tolist() == names
    assert not hasattr(pairs, "vocabulary_")
    assert clone(counter).vectorizer is not counter.vectorizer


def test_names_of_counts():
    rows = sparse.csr_array(np.eye(3))
    assert WordCounter().fit(rows).get_feature_names_out().tolist() == [
        "x0",
        "x1",
        "x2",
    ]
    frame = pd.DataFrame(np.eye(2), columns=["cat", "dog"])
    assert WordCounter().fit(frame).get_feature_names_out().tolist() == ["cat", "dog"]


@pytest.mark.parametrize("value", [None, np.nan, 3, b"cat"])
def test_what_is_no_text_is_named(value):
    with pytest.raises(ValueError, match=r"X\[1\] = .* is no text, as X\[0\] is"):
        WordCounter().fit(["the cat", value])
    with pytest.raises(ValueError, match=r"X\[1\] = .* is no text"):
        WordCounter().fit(TEXTS).transform(["the cat", value])


def test_texts_after_counts_and_parameters():
    with pytest.raises(ValueError, match="counts were given to fit"):
        WordCounter().fit(np.eye(2)).transform(TEXTS)
    with pytest.raises(ValueError, match="'vectorizer' parameter"):
        WordCounter("words").fit(TEXTS)
    with pytest.raises(ValueError, match="empty vocabulary"):
        WordCounter().fit(["", "a"])
