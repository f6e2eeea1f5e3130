import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

from memdlib.generative.recommended.words import WordCounter, holds_texts

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


@pytest.mark.parametrize(
    "X",
    [
        ["the cat"],
        ("the cat", ""),
        [""],
        np.array(["the cat", "dog"]),
        np.array(["the cat", "dog"], dtype=object),
        pd.Series(["the cat"], index=[3]),
        [np.str_("cat")],
    ],
)
def test_what_are_texts(X):
    assert holds_texts(X) is True


@pytest.mark.parametrize(
    "X",
    [
        "the cat",
        3,
        None,
        [],
        (),
        [b"the cat"],
        [["the cat"]],
        [1, "cat"],
        np.array([]),
        np.array("the cat"),
        np.array([["the cat"]]),
        np.eye(2),
        pd.Series([1, 2]),
        pd.DataFrame({"cat": ["the cat"]}),
        sparse.csr_array(np.eye(2)),
    ],
)
def test_what_are_no_texts(X):
    assert holds_texts(X) is False


def test_the_first_element_that_is_no_text_is_named():
    message = r"^X\[2\] = 7 is no text, as X\[0\] is; give strings alone, an empty one"
    with pytest.raises(ValueError, match=message):
        holds_texts(["the cat", "dog", 7, None])


def test_counts_of_the_same_words_will_do_after_texts():
    counter = WordCounter().fit(TEXTS)
    counts = np.ones((3, 4))
    assert counter.transform(counts) is counts
    assert not hasattr(counter, "n_features_in_")
    new = counter.transform(["a cow and the horse", ""])
    assert new.toarray().tolist() == [[0, 1, 0, 1], [0, 0, 0, 0]]


def test_names_of_columns_without_names_may_be_given():
    counter = WordCounter().fit(np.eye(2))
    assert counter.n_features_in_ == 2
    names = counter.get_feature_names_out(["cat", "dog"])
    assert names.tolist() == ["cat", "dog"]
    with pytest.raises(ValueError, match="input_features should have length"):
        counter.get_feature_names_out(["cat"])


def test_before_a_fit_and_after_one_that_fails():
    for name, arguments in (("transform", (TEXTS,)), ("get_feature_names_out", ())):
        with pytest.raises(NotFittedError):
            getattr(WordCounter(), name)(*arguments)
    counter = WordCounter().fit(TEXTS)
    with pytest.raises(ValueError, match="empty vocabulary"):
        counter.fit(["", "a"])
    assert counter.get_feature_names_out().tolist() == ["cat", "cow", "dog", "the"]


def test_what_scikit_learn_is_told():
    tags = WordCounter().__sklearn_tags__()
    assert tags.input_tags.sparse
    assert tags.input_tags.string
    assert tags.input_tags.positive_only
