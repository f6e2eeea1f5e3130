"""Each kind of file, written here and read again; and what `load` makes of it."""

import gzip
import hashlib
from collections import Counter
from itertools import chain, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendium.data import DatasetError, catalogue, load, readers
from compendium.data.readers import c50, count_words, newsgroups
from tests.compendium.data.conftest import tar_of


@pytest.fixture
def make_set(folders, monkeypatch, make_entry):
    """Put a file into the mirror and an entry for it into the registry."""

    def make(**changes):
        path = folders[0] / "tiny.csv"
        path.write_text("g1,g2,class\n1.5,2,t\n3,4,n\n5,-6,t\n")
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        facts = {"reader": "csv_class_last", "settings": {}} | changes
        entry = make_entry(path="tiny.csv", hashes={"sha256": sha256}, **facts)
        monkeypatch.setattr(catalogue, "entries", lambda: {"tiny": entry})
        return entry

    return make


def test_load_normalises_a_registered_set(make_set):
    entry = make_set()
    data = load("tiny")
    assert data.X.dtype == np.float64 and data.X.flags.c_contiguous
    assert data.X.tolist() == [[1.5, 2.0], [3.0, 4.0], [5.0, -6.0]]
    assert data.y.dtype == np.int64 and data.y.tolist() == [1, 0, 1]
    assert data.target_names.tolist() == ["normal", "tumour"]
    assert data.feature_names.tolist() == ["g1", "g2"]
    assert data.sample_names is data.split is None
    assert (data.name, data.sha256) == ("tiny", entry.files[0].sha256)
    assert (data.source, data.licence) == ("made for a test", "none")
    assert data.DESCR == "A set of three."


@pytest.mark.parametrize(
    "changes",
    [{"shape": (2, 3)}, {"classes": {"normal": 2, "tumour": 1}}, {"labels": {}}],
)
def test_registry_that_states_other_facts_is_an_error(make_set, changes):
    make_set(**changes)
    with pytest.raises(DatasetError, match="'tiny'.*csv_class_last.*registry states"):
        load("tiny")


MIXED = """@relation r
@attribute a real
@attribute b {x,y}
@attribute c {n,p}
@data
1.5,?,p
?,y,n
"""
ORANGE = """gene\tg1\tg1\r
discrete\tcontinuous\tcontinuous\r
class\t\t\r
ALL\t1\t-2\r
AML\t3\t4.5\r
\t\t\r
"""


def test_text_files(tmp_path):
    def read(reader, *texts, **settings):
        paths = [tmp_path / str(i) for i in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, newline="")
        table = getattr(readers, reader)(*paths, **settings)
        X = np.asarray(table.X, object).tolist()
        X = [[None if pd.isna(x) else x for x in row] for row in X]
        return X, *table[1:3], table.split

    classes, names, split = ["ALL", "AML"], ["g1", "g2"], ["train", "test"]
    found = read("orange_tab", ORANGE, n_train=1)
    assert found == ([[1, -2], [3, 4.5]], classes, ["g1", "g1"], split)
    found = read("csv_class_last", "g1,g2,CLASS\n8,66,0\n-3,1.5,1\n")
    assert found == ([[8, 66], [-3, 1.5]], ["0", "1"], names, None)
    found = read("tsv_genes_by_samples", "GENES\tAD\tNL\ng1\t1\t2\ng2\t4\t6.5\n")
    assert found == ([[1, 4], [2, 6.5]], ["AD", "NL"], names, None)
    found = read("arff_mixed", MIXED)
    assert found == ([[1.5, None], [None, "y"]], ["p", "n"], ["a", "b"], None)
    found = read("census", "39, ?, <=50K\n", "25, clerk, >50K.\n")
    names = ["column 1", "column 2"]
    assert found == ([[39, None], [25, "clerk"]], ["<=50K", ">50K"], names, split)


def idx(values, kind=8):
    array = np.array(values, ">u1")
    head = bytes([0, 0, kind, array.ndim]) + np.array(array.shape, ">i4").tobytes()
    return gzip.compress(head + array.tobytes())


def test_idx(tmp_path):
    contents = [[[[1, 2], [3, 255]]], [7], [[[0, 0], [0, 9]]], [1]]
    paths = [tmp_path / f"{i}.gz" for i in range(4)]
    for path, values in zip(paths, contents, strict=True):
        path.write_bytes(idx(values))
    table = readers.idx_images(*paths)
    assert table.X.tolist() == [[1, 2, 3, 255], [0, 0, 0, 9]]
    assert (table.labels, table.split) == (["7", "1"], ["train", "test"])
    assert table.feature_names[2] == "pixel 1,0"
    paths[1].write_bytes(idx([7], kind=13))
    with pytest.raises(ValueError, match="1.gz holds values of kind 13"):
        readers.idx_images(*paths)


MESSAGES = {
    "20news-bydate-test/rec.autos/10": b"From: x\nSubject: Car\n\ncar caf\xe9 seat\n",
    "20news-bydate-train/rec.autos/9": b"Subject: Re: Seat\n\nThe seat, 2nd seat\n",
    "20news-bydate-train/rec.motorcycles/4": b"From: bike\n\nbike bike\n",
    "20news-bydate-test/rec.motorcycles/5": b"Subject: b\n\nbike seat\n",
    "20news-bydate-test/sci.med/5": b"Subject: b\n\nbike seat\n",
}
HALVES, TASK_GROUPS = ("train", "test"), ("rec.autos", "rec.motorcycles")
TASK = {
    "groups": {"cars": ["rec.autos"], "bikes": ["rec.motorcycles"]},
    "damaged": ["rec.motorcycles"],
}


def test_newsgroups(tmp_path):
    path = tar_of(tmp_path / "news.tar.gz", MESSAGES)
    table = newsgroups(path, **TASK, text="body", min_documents=2)
    assert table.feature_names == ["bike", "seat"]
    assert table.X.toarray().tolist() == [[0, 2], [2, 0], [0, 1], [1, 1]]
    assert table.labels == ["cars", "bikes", "cars", "bikes"]
    assert table.split == ["train", "train", "test", "test"]
    assert table.sample_names[0] == "rec.autos/9"
    damaged = newsgroups(path, **TASK, edition="paper", min_documents=1)
    assert damaged.sample_names == ["rec.autos/9", "rec.motorcycles/4", "rec.autos/10"]
    words = newsgroups(path, **TASK, text="subject", min_documents=1).feature_names
    assert words == ["bike", "caf", "car", "nd", "seat"]  # "re" is a stop word
    words = newsgroups(path, **TASK, text="full", min_documents=1).feature_names
    assert "subject" in words


def test_texts_come_in_one_order_however_they_are_packed(tmp_path):
    """By half, group and number (9 before 10), or by half, author and name."""
    messages = {
        f"20news-bydate-{half}/{group}/{number}": f"{half} {group[4:]} {number}x"
        for half, group, number in product(HALVES, TASK_GROUPS, (9, 10, 100))
    }
    articles = {
        f"data/ReutersC50/C50{half}/{author}/{number}newsML.txt": f"{half} {author} w"
        for half, author, number in product(HALVES, ("Al", "Bo"), (1, 2))
    }
    tables = []
    for turned in (False, True):
        news, reuters = (
            {name: files[name].encode() for name in sorted(files, reverse=turned)}
            for files in (messages, articles)
        )
        first = newsgroups(tar_of(tmp_path / "news.tar", news), **TASK)
        tables.append((first, c50(tar_of(tmp_path / "c50.tar", reuters))))
    (first, authors), _ = tables
    numbers = [f"{g}/{n}" for g in TASK_GROUPS for n in (9, 10, 100)]
    assert first.sample_names == numbers * 2
    assert first.split == ["train"] * 6 + ["test"] * 6
    assert authors.sample_names == ["1", "2"] * 4
    assert authors.labels == ["Al", "Al", "Bo", "Bo"] * 2
    for one, other in zip(*tables, strict=True):
        assert one[1:] == other[1:]
        assert (one.X != other.X).nnz == 0


@given(st.lists(st.text("ab ", max_size=20)), st.integers(1, 4), st.integers(1, 3))
def test_rare_words_are_left_out(documents, least, spread):
    documents = [*documents, *["bike bike"] * 3]  # a word that stays
    counts, words = count_words(documents, min_count=least, min_documents=spread)
    texts = [text.split() for text in documents]
    total = Counter(chain(*texts))
    within = Counter(chain(*map(set, texts)))
    often = [w for w in total if total[w] >= least and within[w] >= spread]
    assert words == sorted(w for w in often if len(w) > 1)
    for row, text in zip(counts.toarray(), texts, strict=True):
        assert row.tolist() == [text.count(word) for word in words]
