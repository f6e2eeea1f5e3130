import errno
import io
import os
import subprocess

import pytest

from compendium.project import GitError, ask_git, git, root, write_whole


def test_outside_a_checkout_the_error_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMDLIB_PROJECT", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="MEMDLIB_PROJECT"):
        root()


@pytest.fixture
def history(tmp_path):
    """A checkout with one empty commit of a known time."""
    who = ["-c", "user.name=a", "-c", "user.email=b"]
    then = os.environ | {"GIT_COMMITTER_DATE": "1700000000 +0000"}
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", *who, *command], cwd=tmp_path, env=then, check=True)
    return tmp_path


def test_an_empty_answer_of_git_is_an_answer(history):
    assert git(history, "status", "--porcelain") == ""
    assert git(history, "log", "--format=%ct") == "1700000000"


def test_git_that_refuses_gives_no_answer_and_says_why(history, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # a switch of git itself
    assert git(history, "status", "--porcelain") is None
    with pytest.raises(GitError, match=r"dubious ownership(.|\n)*safe\.directory"):
        ask_git(history, "status", "--porcelain")


def test_a_history_above_a_checkout_is_none_of_it(history):
    unpacked = history / "unpacked"
    unpacked.mkdir()
    with pytest.raises(GitError, match="git says: fatal: not a git repository"):
        ask_git(unpacked, "rev-parse", "HEAD")


def test_without_git_there_is_no_answer(history, monkeypatch):
    monkeypatch.setenv("PATH", str(history))
    assert git(history, "rev-parse", "HEAD") is None
    with pytest.raises(GitError, match="git cannot be called .*No such file"):
        ask_git(history, "rev-parse", "HEAD")


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
