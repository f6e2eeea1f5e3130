"""Fitted steps before a classifier: passes transform the rows of parts first.

The words of texts are learnt by a pass of their own: those of each part, joined.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from memdlib.generative.recommended.words import WordCounter, holds_texts
from memdlib.parts.work import Parts, Pass, Plan, Result, check_rows, checked_result

# How the words of texts do not depend on how many texts hold them.
_LIMITS = {"min_df": 1, "max_df": 1.0, "max_features": None}


@dataclass(frozen=True)
class Through(Pass):
    """A pass that shows another one other rows.

    Parameters
    ----------
    work : Pass
    """

    work: Pass

    @property
    def name(self) -> str:
        return self.work.name

    def _add(self, a, b):
        return self.work.add(a, b)


@dataclass(frozen=True)
class After(Through):
    """A pass over rows that a step has transformed.

    Parameters
    ----------
    work : Pass
    step : transformer
        Fitted.
    """

    step: object

    @property
    def needs_X(self) -> bool:
        return self.work.needs_X

    def _of(self, X, y, weight):
        return self.work.of(None if X is None else self.step.transform(X), y, weight)


def after(step: Any, plan: Plan) -> Plan:
    """Show all passes of a plan what a step makes of the rows.

    Parameters
    ----------
    step : transformer
        Fitted.
    plan : generator
        As :func:`memdlib.parts.work.carried_out` takes it.

    Yields
    ------
    After
    """
    result = None
    while True:
        try:
            work = plan.send(result)
        except StopIteration as end:
            return end.value
        result = yield After(work, step)


@dataclass(frozen=True)
class StripsAfter(After):
    """A pass over strips of columns that are cut from transformed rows."""

    def cut(self, columns: slice) -> Pass:
        """Pass over one strip, which is transformed already."""
        return self.work.cut(columns)

    def strip(self, X: Any, y: ArrayLike, columns: slice) -> NDArray[np.float64]:
        """Some columns of a block of rows, after the step."""
        check_rows(X, y)
        if not X.shape[0]:
            return np.empty((0, columns.stop - columns.start))
        return self.work.strip(self.step.transform(X), y, columns)


class Prepared(Parts):
    """What a step makes of parts.

    Parameters
    ----------
    parts : Parts
    step : transformer
        Fitted; it travels with each pass.
    """

    parts: Parts
    step: Any

    def __init__(self, parts: Parts, step: Any) -> None:
        self.parts, self.step = parts, step

    def template(self) -> Any:
        return self.step.transform(self.parts.template())

    def reduce(self, work: Pass) -> Result | None:
        return self.parts.reduce(After(work, self.step))

    def reduce_strips(self, work: Pass, shape: tuple[int, int]) -> Result | None:
        return self.parts.reduce_strips(StripsAfter(work, self.step), shape)


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
