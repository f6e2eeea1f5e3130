import errno
import io
import os

import pytest

from compendium.project import root, write_whole


def test_outside_a_checkout_the_error_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMDLIB_PROJECT", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="MEMDLIB_PROJECT"):
        root()


@pytest.mark.parametrize("content", ["ä\n", "ä\n".encode()])
def test_a_file_is_written_for_all_to_read(tmp_path, content):
    path = tmp_path / "new" / "folder" / "file.txt"
    write_whole(path, content)
    assert path.read_bytes() == "ä\n".encode()
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_full_disk_leaves_the_old_file_alone(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    write_whole(path, "old")

    class Full(io.FileIO):
        def write(self, data):
            super().write(data[:1])
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fdopen", Full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file.txt"]
