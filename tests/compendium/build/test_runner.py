import os
import signal
import time
from functools import partial

import psutil
import pytest

from compendium.build.notebooks import NotebookError
from compendium.build.runner import run_all


def work(folder, name):
    """What a worker does in these tests; the first letter says how it ends."""
    (folder / f"{name}.{os.getpid()}").touch()
    match name[0]:
        case "w":
            raise NotebookError(f"{name}: went wrong")
        case "k":
            os.kill(os.getpid(), signal.SIGKILL)
        case "t":
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
        case "b":
            raise LookupError(f"{name}: a bug")
        case "l":
            time.sleep(3)  # longer than the parent takes to stop
    return name.upper()


def test_nothing_to_do_starts_no_process():
    assert run_all(None, [], title="x") == ({}, {})


def test_one_that_is_killed_does_not_take_the_others_along(tmp_path, capfd):
    names = ["first", "wrong", "killed", "terminated", "after"]
    done, failed = run_all(partial(work, tmp_path), names, title="x", jobs=1)
    assert done == {"first": "FIRST", "after": "AFTER"}
    assert failed == {
        "wrong": "wrong: went wrong",
        "killed": "killed: its process was killed; run it again",
        "terminated": "terminated: its process was killed; run it again",
    }
    assert "Traceback" not in capfd.readouterr().err
    # whoever finished before, finished once
    assert len(list(tmp_path.glob("first.*"))) == 1


def test_a_bug_is_raised_and_stops_the_rest(tmp_path):
    names = ["bug", *(f"later{n}" for n in range(4))]
    with pytest.raises(LookupError, match="bug: a bug"):
        run_all(partial(work, tmp_path), names, title="x", jobs=1)
    started = {path.name.split(".")[0] for path in tmp_path.iterdir()}
    assert "bug" in started
    assert "later3" not in started
    workers = [int(path.name.split(".")[1]) for path in tmp_path.iterdir()]
    assert not any(psutil.pid_exists(pid) for pid in workers)
