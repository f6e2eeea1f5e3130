"""Notebooks on the workers of a cluster of this computer."""

import os
import signal
import time
from functools import partial

import dask
import psutil
import pytest
from distributed import LocalCluster

from compendium.build import cluster
from compendium.build.cluster import run_on_cluster
from compendium.build.notebooks import NotebookError
from compendium.project import root
from tests.waiting import wait_until

PROJECT = root()


@pytest.fixture(scope="module")
def address():
    """A scheduler with two workers of one thread, which come back when they die."""
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        memory_limit=None,
    ) as found:
        yield found.scheduler_address


def work(folder, name):
    """What a worker does in these tests; the first letter says how it ends."""
    (folder / f"{name}.{os.getpid()}").touch()
    match name[0]:
        case "w":
            raise NotebookError(f"{name}: went wrong")
        case "k":
            os.kill(os.getpid(), signal.SIGKILL)
        case "b":
            raise LookupError(f"{name}: a bug")
        case "s":
            time.sleep(60)
        case "d" if len(list(folder.iterdir())) == 1:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)
    return name.upper()


def run(folder, names, address, project=PROJECT):
    return run_on_cluster(
        partial(work, folder), names, title="x", scheduler=address, project=project
    )


def processes(folder):
    return [int(path.name.split(".")[1]) for path in folder.iterdir()]


def test_nothing_to_do_asks_nobody():
    assert run(None, [], "tcp://nowhere:1") == ({}, {})


def test_one_failure_does_not_stop_the_others(tmp_path, address, capfd):
    names = ["first", "wrong", "killed", "after"]
    done, failed = run(tmp_path, names, address)
    assert done == {"first": "FIRST", "after": "AFTER"}
    assert failed == {
        "wrong": "wrong: went wrong",
        "killed": "killed: its process was killed; run it again",
    }
    assert "Traceback" not in capfd.readouterr().err
    assert len(set(processes(tmp_path))) == 4


def test_a_bug_is_raised_and_stops_the_rest(tmp_path, address):
    with pytest.raises(LookupError, match="bug: a bug"):
        run(tmp_path, ["slow", "bug"], address)
    wait_until(lambda: not any(map(psutil.pid_exists, processes(tmp_path))))


def test_stopped_it_stops_the_processes_of_the_workers(tmp_path, address, monkeypatch):
    def interrupted(pending):
        wait_until(lambda: list(tmp_path.iterdir()), 120)
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(cluster, "as_completed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, ["slow"], address)
    assert processes(tmp_path)
    wait_until(lambda: not any(map(psutil.pid_exists, processes(tmp_path))))


def test_a_worker_that_dies_takes_its_process_along(tmp_path, address):
    done, failed = run(tmp_path, ["deadly"], address)
    assert (done, failed) == ({"deadly": "DEADLY"}, {})
    assert len(processes(tmp_path)) == 2  # begun again by another worker
    wait_until(lambda: not any(map(psutil.pid_exists, processes(tmp_path))))


def test_workers_without_the_checkout(tmp_path, address):
    with pytest.raises(FileNotFoundError, match=r"has no folder .*lost; workers must"):
        run(tmp_path, ["first"], address, tmp_path / "lost")


def test_nobody_answers(tmp_path):
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(ConnectionError, match="no scheduler answers at tcp://127.0.0.1"),
    ):
        run(tmp_path, ["first"], "tcp://127.0.0.1:9")
