import tracemalloc

import pandas as pd
import pytest

from compendium.data.readers import count_words
from compendium.study.reviews import read_reviews, write_reviews


@pytest.fixture(scope="module")
def reviews_csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("reviews") / "Reviews.csv"
    write_reviews(path, 12_000, seed=3)  # more than one piece
    return path


def test_what_is_read_in_pieces_is_what_is_read_at_once(reviews_csv):
    found, frame = read_reviews(reviews_csv, "Text"), pd.read_csv(reviews_csv)
    frame = frame[frame["Score"] != 3]
    counts, words = count_words(frame["Text"], min_documents=3)
    assert found.words == words
    assert found.X.has_sorted_indices
    assert ((counts > 0) != (found.X > 0)).nnz == 0
    assert set(found.X.data) == {1.0}
    assert found.y.tolist() == (frame["Score"] > 3).astype(int).tolist()
    assert found.repeated == 0


def test_a_text_that_came_before_can_be_left_out(reviews_csv):
    frame = pd.read_csv(reviews_csv)
    frame = frame[frame["Score"] != 3]
    found = read_reviews(reviews_csv, once=True)
    assert found.repeated == frame["Text"].duplicated().sum() > 0
    assert len(found.y) == len(frame) - found.repeated
    first = frame[~frame["Text"].duplicated()]
    assert found.y.tolist() == (first["Score"] > 3).astype(int).tolist()


def test_memory_is_that_of_the_result_and_of_one_piece(tmp_path, monkeypatch):
    """Four times as many reviews need no more, once the words have all occurred."""
    monkeypatch.setattr("compendium.study.reviews._ROWS", 500)
    beyond = []
    for n_reviews in (2000, 8000):
        path = tmp_path / f"{n_reviews}.csv"
        write_reviews(path, n_reviews, n_words=500, seed=1)
        tracemalloc.start()
        found = read_reviews(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        parts = found.X.data, found.X.indices, found.X.indptr, found.y
        beyond.append(peak - sum(part.nbytes for part in parts))
    assert beyond[1] < 1.1 * beyond[0]
    assert beyond[1] < 2**20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Score,Text,Summary\n5,a,b\n6,a,b\n", "a score is '6', not from 1 to 5"),
        ("Score,Text,Summary\n5,cars,cars\n", "1 reviews .* of which 1 have more"),
        ("Score,Text,Summary\n", "0 reviews"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path, text, message):
    path = tmp_path / "Reviews.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_reviews(path, min_documents=1)
