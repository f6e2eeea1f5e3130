import tarfile

import pytest

from compendium.artifact.release import packed
from compendium.artifact.trials.rehearsal import ALONE, called, differing


def test_archives_are_compared_file_by_file(tmp_path):
    first, second = tmp_path / "a.tar.gz", tmp_path / "b.tar.gz"
    first.write_bytes(packed({"same": b"1", "other": b"2", "lost": b"3"}, "r", 0))
    second.write_bytes(packed({"same": b"1", "other": b"4", "new": b"3"}, "r", 0))
    assert differing(first, second) == ["r/lost", "r/new", "r/other"]
    assert differing(first, first) == []
    assert len(tarfile.open(first).getnames()) == 3


def test_a_failure_says_what_was_printed(tmp_path):
    with pytest.raises(RuntimeError, match=r"(?s)sh -c .* failed:\nno good"):
        called(["sh", "-c", "echo no good; exit 3"], tmp_path)
    assert called(["sh", "-c", "echo $TZ"], tmp_path, TZ="X") == "X\n"


def test_alone_there_is_the_loopback_and_nothing_else(tmp_path):
    said = called([*ALONE, "sh", "-c", "cat /proc/net/dev"], tmp_path)
    assert [line.split(":")[0].strip() for line in said.splitlines()[2:]] == ["lo"]
