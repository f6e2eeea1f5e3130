import os

import pytest

from memdlib.compendium.project import root, write_whole


def test_the_root_is_found_from_below(project, monkeypatch):
    monkeypatch.setenv("MEMDLIB_PROJECT", str(project.root / "book" / "experiments"))
    assert root() == project.root


def test_outside_a_checkout_the_error_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMDLIB_PROJECT", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="MEMDLIB_PROJECT"):
        root()


@pytest.mark.parametrize("failing", ["replace", "chmod"])
def test_an_interrupted_write_leaves_the_old_file_alone(tmp_path, monkeypatch, failing):
    path = tmp_path / "folder" / "file.txt"
    write_whole(path, "old")

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, failing, interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in path.parent.iterdir()] == ["file.txt"]
