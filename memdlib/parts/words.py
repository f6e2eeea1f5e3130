"""The words of texts in parts: those of each part, joined."""

import json
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from memdlib.generative.recommended.words import WordCounter, holds_texts
from memdlib.parts.work import Parts, Pass, Result, checked_result

# How the words of texts do not depend on how many texts hold them.
_LIMITS = {"min_df": 1, "max_df": 1.0, "max_features": None}


@dataclass(frozen=True)
class Vocabulary(Pass):
    """Words of texts.

    Parameters
    ----------
    vectorizer : CountVectorizer
    """

    vectorizer: CountVectorizer
    name = "words"

    def _of(self, X, y, weight):
        if not holds_texts(X):
            raise ValueError(
                "some parts hold texts and others do not; give texts in all of them"
            )
        words = self.vectorizer.build_analyzer()
        if weight is not None:
            X = [text for text, w in zip(X, weight, strict=True) if w]
        return _packed({word for text in X for word in words(text)})

    def _add(self, a, b):
        return _packed({*words_of(a), *words_of(b)})


def _packed(words: set[str]) -> Result:
    """As bytes: lengths differ, and words may hold what arrays of text drop."""
    return {"words": np.frombuffer(json.dumps(sorted(words)).encode(), dtype=np.uint8)}


def words_of(found: Result) -> list[str]:
    """Words that a result holds, in order.

    Parameters
    ----------
    found : dict of ndarray

    Returns
    -------
    list of str
    """
    return json.loads(found["words"].tobytes())


def fit_words(counter: WordCounter, parts: Parts) -> WordCounter:
    """Learn the words of texts by one pass over them; see :meth:`WordCounter.fit`.

    Parameters
    ----------
    counter : WordCounter
    parts : Parts
        Of texts, or of counts: these are not read.

    Returns
    -------
    WordCounter

    Raises
    ------
    ValueError
        If words depend on how many texts hold them, or no text holds a word.
    """
    template, made = parts.template(), counter.vectorizer
    made = CountVectorizer() if made is None else clone(made)
    limits = {name: getattr(made, name, None) for name in _LIMITS}
    if not holds_texts(template) or getattr(made, "vocabulary", None) is not None:
        return counter.fit(template)
    if type(made) is not CountVectorizer or repr(limits) != repr(_LIMITS):
        raise ValueError(
            f"the words of {made!r} need all texts at once; in parts give a "
            "CountVectorizer without min_df, max_df and max_features, or one with a "
            "vocabulary"
        )
    words = words_of(checked_result(parts, Vocabulary(made)))
    if not words:
        raise ValueError("no text holds a word; see the parameters of the vectorizer")
    counter.vectorizer_ = made.set_params(vocabulary=words).fit(words[:1])
    return counter
