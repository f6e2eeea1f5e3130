import errno
import os
import subprocess
import sys

import pytest

from compendium import __main__ as command
from compendium.artifact import check_claim
from compendium.book import binding, check, live
from compendium.data import DatasetError
from compendium.execution import chapters, experiments
from compendium.project import GitError

pytestmark = pytest.mark.usefixtures("signals")


@pytest.mark.parametrize(
    ("arguments", "module", "name", "expected"),
    [
        ("store", chapters, "main", {"chapters": [], "jobs": None}),
        ("store --jobs 3 a b", chapters, "main", {"chapters": ["a", "b"], "jobs": 3}),
        ("check", check, "main", {}),
        ("check-claim", check_claim, "main", {"claim": None}),
        ("check-claim theorem-1", check_claim, "main", {"claim": "theorem-1"}),
        ("pdf", binding, "main", {"pages": ["article"]}),
        ("live --pyodide a", live, "main", {"pyodide": "a"}),
    ],
)
def test_every_command_does_its_work(monkeypatch, arguments, module, name, expected):
    asked = []

    def work(**given):
        asked.append(given)
        return 7

    monkeypatch.setattr(module, name, work)
    assert command.main(arguments.split()) == 7
    assert asked == [expected]


FULL = OSError(errno.ENOSPC, "No space")
LOCKED = OSError(errno.EROFS, "Read-only file system")


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (DatasetError("no folder"), 1, "error: no folder"),
        (GitError("no date"), 1, "error: no date"),
        (FULL, 1, f"error: {FULL}; what was stored before is kept: make room, and run"),
        (LOCKED, 1, f"error: {LOCKED}; what was stored before is kept: allow writing"),
        (KeyboardInterrupt(), 130, "interrupted: what was finished is kept"),
    ],
)
def test_what_stops_a_command_is_one_line(monkeypatch, capsys, error, status, line):
    def stop(*given, **more):
        raise error

    monkeypatch.setattr(experiments, "main", stop)
    assert command.main(["experiments"]) == status
    (said,) = capsys.readouterr().out.strip().splitlines()
    assert said.startswith(line)


def test_another_error_of_the_system_keeps_its_trace(monkeypatch):
    def stop():
        raise FileNotFoundError(errno.ENOENT, "no such file")

    monkeypatch.setattr(check, "main", stop)
    with pytest.raises(FileNotFoundError):
        command.main(["check"])


def test_a_reader_who_has_seen_enough_ends_the_command_quietly():
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-Pm", "compendium", "experiments", "--status"]
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE)
    assert done.stderr == b""
    assert done.returncode == 1
