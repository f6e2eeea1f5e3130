"""The packaged registry is complete, and a file is known by a whole hash."""

import pytest

from memdlib.datasets.embedded import EMBEDDED
from memdlib.datasets.readers import READERS
from memdlib.datasets.registry import DataFile, Entry, entries


def test_every_entry_is_complete():
    registry = entries()
    assert not registry.keys() & EMBEDDED.keys()
    for entry in registry.values():
        for file in entry.files:
            assert not file.url or file.url.startswith("https://")
            given = (file.sha256, file.tree_sha256, file.git_blob_sha1)
            assert sum(map(bool, given)) <= 1
        assert entry.reader in READERS
        if entry.shape is not None:
            assert sum(entry.classes.values()) == entry.shape[0]
            assert set(entry.labels.values()) <= entry.classes.keys()
        assert entry.source and entry.licence and entry.notes


def test_a_description_says_size_and_classes_where_they_are_known():
    registry = entries()
    known, unknown = registry["leukemia"], registry["gcm"]
    assert known.description().startswith(
        "leukemia: 72 samples, 7129 features, 2 classes (ALL 47, AML 25)\n"
    )
    assert unknown.shape is None and unknown.description().startswith("gcm\n")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("sha256", "00aa"),
        ("sha256", "0" * 63),
        ("sha256", "0" * 65),
        ("sha256", "A" * 64),
        ("sha256", "g" * 64),
        ("sha256", "0" * 64 + "\n"),
        ("tree_sha256", "0" * 40),
        ("git_blob_sha1", "00aa"),
        ("git_blob_sha1", "0" * 6),
        ("git_blob_sha1", "0" * 41),
    ],
)
def test_what_is_too_short_to_tell_files_apart_is_no_hash(kind, value):
    with pytest.raises(ValueError, match=f"'a.csv': {kind}="):
        DataFile("a.csv", **{kind: value})


@pytest.mark.parametrize(
    ("kind", "length"),
    [("sha256", 64), ("tree_sha256", 64), ("git_blob_sha1", 7), ("git_blob_sha1", 40)],
)
def test_whole_hashes(kind, length):
    value = ("0a" * 32)[:length]
    assert DataFile("a.csv", **{kind: value}).expected() == (kind, value)


def test_a_description_has_a_line_for_each_fact():
    entry = Entry(
        name="tiny",
        files=(
            DataFile("a.csv", url="https://example.org/a.csv", sha256="0a" * 32),
            DataFile("b.csv"),
        ),
        reader="r_list",
        shape=(7, 3),
        classes={"x": 2, "y": 4, "z": 1},
        source="made for a test",
        licence="none",
        notes=" Two files. \n",
    )
    assert entry.description().split("\n") == [
        "tiny: 7 samples, 3 features, 3 classes (x 2, y 4, z 1)",
        "",
        "Two files.",
        "",
        "Source:  made for a test",
        "Licence: none",
        "File:    a.csv",
        "From:    https://example.org/a.csv",
        f"Hash:    sha256 {'0a' * 32}",
        "File:    b.csv",
        "From:    no address is known",
        "Hash:    any",
    ]


def test_a_part_has_what_it_does_not_state_from_its_whole():
    registry = entries()
    parts = [e for e in registry.values() if e.name.startswith("newsgroups_")]
    assert len(parts) > 1
    for entry in parts:
        for fact in ("files", "reader", "source", "licence"):
            assert getattr(entry, fact) == getattr(parts[0], fact)
    assert len({str(entry.settings) for entry in parts}) == len(parts)
