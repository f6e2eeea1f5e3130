"""Words, their counts, and the parts of a message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdlib.datasets.texts import count_words, message_part

MESSAGE = "From: a@b\nSUBJECT: Two words\n\nOne body.\n\nStill the body\n"


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("full", MESSAGE),
        ("body", "One body.\n\nStill the body\n"),
        ("subject", " Two words\nOne body.\n\nStill the body\n"),
    ],
)
def test_parts_of_a_message(part, text):
    assert message_part(MESSAGE, part) == text


def test_message_without_subject_or_body():
    assert message_part("From: a\n\nbody", "subject") == "body"
    assert message_part("From: a", "body") == ""


def test_words_are_lower_case_letters_without_stop_words():
    counts, words = count_words(["The CAR-park's 4x4, e-mail", "the"])
    assert words == ["car", "mail", "park"]
    assert counts.toarray().tolist() == [[1, 1, 1], [0, 0, 0]]


def test_no_words_at_all():
    counts, words = count_words(["", "..."])
    assert counts.shape == (2, 0) and words == []


@given(
    st.lists(st.text("ab ", max_size=20), min_size=1),
    st.integers(1, 4),
    st.integers(1, 3),
)
def test_rare_words_are_left_out(documents, least, spread):
    counts, words = count_words(documents, min_count=least, min_documents=spread)
    everything = " ".join(documents).split()
    often = {
        w
        for w in everything
        if len(w) > 1
        and everything.count(w) >= least
        and sum(w in text.split() for text in documents) >= spread
    }
    assert words == sorted(often)
    for row, text in zip(counts.toarray(), documents, strict=True):
        assert row.tolist() == [text.split().count(word) for word in words]
