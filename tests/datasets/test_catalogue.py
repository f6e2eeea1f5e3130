"""Names, the embedded sets, the packaged registry, and the colon data if at hand."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from memdlib.datasets import DatasetError, catalogue, load, names
from memdlib.datasets.embedded import EMBEDDED
from memdlib.datasets.provenance import content_sha256
from memdlib.datasets.readers import READERS
from memdlib.datasets.registry import entries


def test_names_are_sorted_and_unique():
    assert names() == sorted(set(names()))
    assert {"breast_cancer", "colon", "digits", "iris", "wine"} <= set(names())


@pytest.mark.parametrize("name", sorted(EMBEDDED))
def test_embedded_sets_are_those_of_scikit_learn(name):
    data, raw = load(name), getattr(sklearn.datasets, f"load_{name}")()
    np.testing.assert_array_equal(data.X, raw.data)
    np.testing.assert_array_equal(data.y, raw.target)
    assert (data.X.dtype, data.y.dtype) == (np.float64, np.int64)
    assert data.feature_names.tolist() == list(raw.feature_names)
    assert data.target_names.tolist() == [str(label) for label in raw.target_names]
    assert data.feature_names.dtype.kind == data.target_names.dtype.kind == "U"
    assert data.sample_names is None
    assert data.name == name and data.source and data.licence and data.DESCR
    bytes_of_both = data.X.astype("<f8").tobytes() + data.y.astype("<i8").tobytes()
    assert data.sha256 == hashlib.sha256(bytes_of_both).hexdigest()
    assert load(name).sha256 == data.sha256


def test_hash_of_iris_is_that_of_the_published_numbers():
    assert load("iris").sha256 == (
        "aa06b8008ceba42efc654be0f83fdafc786239c9e8f13146044d078f5aab8f23"
    )


@given(hnp.arrays(np.float64, (3, 4), elements=st.floats(-1e6, 1e6)))
def test_hash_depends_on_values_alone(X):
    expected = content_sha256(X)
    assert content_sha256(np.asfortranarray(X)) == expected
    assert content_sha256(X.astype(">f8")) == expected
    assert content_sha256(np.repeat(X, 2, axis=1)[:, ::2]) == expected
    assert content_sha256(X + 1e7) != expected


def test_hash_of_integers_is_free_of_their_width():
    y = np.array([0, 1, 2])
    assert content_sha256(y.astype(np.int8)) == content_sha256(y)
    assert content_sha256(y.astype(float)) != content_sha256(y)


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
    with pytest.raises(ValueError, match="There are: breast_cancer") as caught:
        load(name)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize("name", ["iris", "colon"])
def test_unknown_option_is_named(name):
    with pytest.raises(TypeError, match=f"subset for .*'{name}'.*no options"):
        load(name, subset="train")


def test_every_entry_of_the_registry_is_complete():
    registry = entries()
    assert not registry.keys() & EMBEDDED.keys()
    for entry in registry.values():
        assert entry.url.startswith("https://")
        assert len(bytes.fromhex(entry.sha256)) == 32
        assert entry.sha256 == entry.sha256.lower()
        assert entry.reader in READERS
        assert sum(entry.classes.values()) == entry.shape[0]
        assert set(entry.labels.values()) <= entry.classes.keys()
        assert entry.source and entry.licence and entry.notes


def test_colon_or_how_to_get_it(tmp_path, monkeypatch, dead_url):
    """With the file, its content; without it and without a network, the way to it."""
    entry = replace(entries()["colon"], url=dead_url)
    monkeypatch.setattr(catalogue, "entries", lambda: {"colon": entry})
    monkeypatch.setenv("MEMDLIB_CACHE", str(tmp_path))
    if Path(os.environ.get("MEMDLIB_DATA", tmp_path), entry.file).is_file():
        assert_is_colon(load("colon"))
    else:
        with pytest.raises(DatasetError) as caught:
            load("colon")
        folder = tmp_path / "gene"
        for fact in ("'colon'", "alon.RData", dead_url, entry.sha256, str(folder)):
            assert fact in str(caught.value)


def assert_is_colon(data):
    assert data.X.shape == (62, 2000) and data.X.dtype == np.float64
    assert data.target_names.tolist() == ["normal", "tumour"]
    assert np.bincount(data.y).tolist() == [22, 40]
    assert data.y[:4].tolist() == [1, 0, 1, 0]
    assert data.X[0, :3].tolist() == [8589.42, 5468.24, 4263.41]
    assert (data.X.min(), data.X.max()) == (5.82, 20903.18)
    assert np.unique(data.X, axis=1).shape[1] == 1991
    assert data.feature_names[[0, -1]].tolist() == ["X1", "X2000"]
    assert data.sample_names is None
    assert data.sha256 == entries()["colon"].sha256
