"""Names, the embedded sets, the packaged registry, and the colon data if at hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from compendium.ledger.published import printed_rows
from memdlib.datasets import MissingDataError, catalogue, fingerprint, load, names
from memdlib.datasets.embedded import EMBEDDED
from memdlib.datasets.fetch import locate, read_archive
from memdlib.datasets.registry import entries
from tests.data import at_hand, load_or_skip


def test_names_are_sorted_and_unique():
    assert names() == sorted(set(names()))
    assert {"breast_cancer", "colon", "digits", "iris", "wine"} <= set(names())


@pytest.mark.parametrize("name", sorted(EMBEDDED))
def test_pairs_and_frames_are_those_of_scikit_learn(name):
    loader = getattr(sklearn.datasets, f"load_{name}")
    X, y = load(name, return_X_y=True)
    np.testing.assert_array_equal(X, loader().data)
    np.testing.assert_array_equal(y, loader().target)
    expected, data = loader(as_frame=True), load(name, as_frame=True)
    pd.testing.assert_frame_equal(data.X, expected.data)
    pd.testing.assert_series_equal(data.y, expected.target, check_dtype=False)
    pd.testing.assert_frame_equal(data.frame, expected.frame, check_dtype=False)
    assert load(name).frame is None
    X, y = load(name, return_X_y=True, as_frame=True)
    pd.testing.assert_frame_equal(X, data.X)
    pd.testing.assert_series_equal(y, data.y)


def test_counts_of_words_become_sparse_columns():
    data = load_or_skip("newsgroups_religion", min_documents=20)
    framed = load("newsgroups_religion", min_documents=20, as_frame=True)
    assert framed.X.columns.tolist() == data.feature_names.tolist()
    assert framed.frame.index.tolist() == data.sample_names.tolist()
    assert framed.frame.columns[-1] == framed.y.name == "target"
    assert framed.frame["target"].tolist() == data.y.tolist()
    assert all(isinstance(kind, pd.SparseDtype) for kind in framed.X.dtypes)
    assert (framed.X.sparse.to_coo() != data.X).nnz == 0


@pytest.mark.parametrize(
    ("name", "guess"),
    [("colom", "colon"), ("Iris", "iris"), ("breast-cancer", "breast_cancer")],
)
def test_unknown_name_is_answered_with_the_nearest(name, guess):
    with pytest.raises(ValueError, match=f"'{name}'; did you mean '{guess}'") as caught:
        load(name)
    assert all(known in str(caught.value) for known in names())


@pytest.mark.parametrize("name", ["", "zzzz", 3, None])
def test_unknown_name_with_nothing_near(name):
    with pytest.raises(
        ValueError, match="There are: amazon_fine_food, breast_cancer"
    ) as caught:
        load(name)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize("name", ["iris", "colon", "dlbcl"])
def test_unknown_option_is_named(name):
    with pytest.raises(TypeError, match=f"subset for .*'{name}'.*no options"):
        load(name, subset="train")


def without_network(entry, dead_url):
    files = [replace(f, url=dead_url if f.url else "") for f in entry.files]
    return replace(entry, files=tuple(files))


@pytest.mark.parametrize("name", sorted(entries()))
def test_registered_set_or_how_to_get_it(tmp_path, monkeypatch, dead_url, name):
    """With the files, their content; without them and a network, the way to them."""
    entry = without_network(entries()[name], dead_url)
    monkeypatch.setattr(catalogue, "entries", lambda: {name: entry})
    monkeypatch.setenv("MEMDLIB_CACHE", str(tmp_path))
    if at_hand(name):
        data = load(name)  # checks the shape and the classes that the registry states
        n, d = data.X.shape
        assert (n, d) == entry.shape and data.X.dtype == np.float64
        assert len(data.y) == n and len(data.feature_names) == d
        for names_of_rows in (data.sample_names, data.split):
            assert names_of_rows is None or len(names_of_rows) == n
        assert fingerprint(name) == data.sha256
        values = data.X.data if sparse.issparse(data.X) else data.X
        assert np.isfinite(values).all()
    else:
        with pytest.raises(MissingDataError) as caught:
            load(name)
        message, file = str(caught.value), entry.files[0]
        path = Path(tmp_path, file.path)
        for fact in (repr(name), path.name, file.expected()[1], str(path.parent)):
            assert fact in message
        with pytest.raises(MissingDataError):
            fingerprint(name)


@pytest.mark.parametrize("row", printed_rows("table3"), ids=lambda r: r["experiment"])
def test_sample_sizes_of_table_3(row):
    """With the two damaged groups, exactly the paper's; without them, the complete."""
    data = load_or_skip(f"newsgroups_{row['experiment']}", edition="paper")
    assert len(data.y) == int(row["samples"])
    assert len(data.target_names) == int(row["classes_run"])
    lost = set(data.sample_names[data.split == "test"])
    assert not any(name.startswith("rec.motorcycles/") for name in lost)


@pytest.mark.parametrize("row", printed_rows("table2"), ids=lambda r: r["dataset"])
def test_sizes_of_table_2(row):
    data = load_or_skip(row["dataset"])
    assert data.X.shape == (int(row["samples"]), int(row["features"]))
    assert len(data.target_names) == int(row["classes"])


def test_files_of_leukemia_agree():
    whole, part = load_or_skip("leukemia"), load_or_skip("leukemia_5147")
    place = {name: j for j, name in enumerate(whole.feature_names)}
    columns = [place[name] for name in part.feature_names]
    np.testing.assert_array_equal(whole.X[:, columns], part.X)
    np.testing.assert_array_equal(whole.y, part.y)
    assert whole.split.tolist() == part.split.tolist()
    assert np.bincount(whole.y[whole.split == "train"]).tolist() == [27, 11]


def test_newsgroups_agree_with_another_count():
    """Scikit-learn's vectoriser, told the same rules, counts the same words."""
    data = load_or_skip("newsgroups_religion", text="full", min_documents=1)
    (path,) = locate(entries()["newsgroups_religion"])
    content = read_archive(path, "data/20ng")
    halves = [f"20news-bydate-{split}" for split in data.split]
    texts = [
        content[f"{half}/{name}"].decode("latin-1")
        for half, name in zip(halves, data.sample_names, strict=True)
    ]
    pattern, stop = "[a-z]{2,}", list(ENGLISH_STOP_WORDS)
    counter = CountVectorizer(token_pattern=pattern, stop_words=stop)
    counts = counter.fit_transform(texts)
    assert counter.get_feature_names_out().tolist() == data.feature_names.tolist()
    assert abs(counts - data.X).max() == 0


def test_colon():
    data = load_or_skip("colon")
    assert data.X.shape == (62, 2000) and data.X.dtype == np.float64
    assert data.target_names.tolist() == ["normal", "tumour"]
    assert np.bincount(data.y).tolist() == [22, 40]
    assert data.y[:4].tolist() == [1, 0, 1, 0]
    assert data.X[0, :3].tolist() == [8589.42, 5468.24, 4263.41]
    assert (data.X.min(), data.X.max()) == (5.82, 20903.18)
    assert np.unique(data.X, axis=1).shape[1] == 1991
    assert data.feature_names[[0, -1]].tolist() == ["X1", "X2000"]
    assert data.sample_names is None
    assert data.sha256 == entries()["colon"].files[0].sha256
