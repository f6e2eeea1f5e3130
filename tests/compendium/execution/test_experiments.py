import json
import os
import signal
import subprocess
import sys
import threading
from datetime import date
from pathlib import Path

import psutil
import pytest

from compendium.__main__ import main
from compendium.data import DatasetError
from compendium.execution import experiments as module
from compendium.execution.runs import problems, runs
from compendium.ledger.results import read_result
from tests.compendium.conftest import HEADER, cell
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
RUNS = """
[first]
title = "The first run"
notebook = "e.md"
data = "iris"
parameters = { size = 2 }

[second]
title = "The second run"
notebook = "e.md"
"""
PLANTED = {"size": 2.6, "seconds": 0}  # not what the first run computes
# the second run waits as long as it is told to
WRITE = """
import json, os, time
from pathlib import Path
if run == "second":
    Path(os.environ.get("MARK", "mark")).touch()
    time.sleep(float(os.environ.get("NAP", 0)))
Path("result.json").write_text(json.dumps({"size": size + 0.5, "seconds": time.time()}))
"""


# in the place of a process with a kernel; the second run lasts as long as its caller
QUICK = """
import json, sys
from pathlib import Path
into, name = sys.argv[1:]
if name == "silent":
    sys.exit(name + ": the notebook never called write_result")
if name == "second" and Path("wait").exists():
    Path("mark").touch()
    sys.exit(sys.stdin.read())
path = Path(into, "data", "results", name + ".json")
path.parent.mkdir(parents=True, exist_ok=True)
values = {"size": 2.5, "seconds": 7}
path.write_text(json.dumps({"values": values, "seconds": 1, "mib": 1}))
"""


@pytest.fixture
def bench(project, signals):
    project.write("book/experiments/runs.toml", RUNS)
    defaults = 'run = ""\ndataset = ""\nsize = 1'
    text = HEADER + "What it does.\n\n" + cell(defaults, "parameters") + cell(WRITE)
    project.write("book/experiments/e.md", text)
    return project


@pytest.fixture
def quick(bench, monkeypatch):
    """Runs without kernels."""
    child = sys.executable, str(bench.write("quick.py", QUICK))
    monkeypatch.setattr(module, "CHILD", child)
    return bench


def experiments(*arguments):
    """Exit status of the command, in this process."""
    return main(["experiments", *arguments])


def test_runs_are_made_with_records(bench, capsys):
    bench.result("first", PLANTED)
    assert experiments("first") == 0
    said = capsys.readouterr().out
    assert "  size: 2.6 -> 2.5" in said and "s for 1 runs" in said
    result = read_result("first", bench.root)
    named = "commit data dirty machine mib packages parameters seconds seed values"
    assert list(result) == named.split()
    assert result["values"]["size"] == 2.5
    assert result["parameters"] == {"size": 2, "run": "first", "dataset": "iris"}
    assert result["commit"] is None and result["dirty"] is None  # there is no history
    assert 10 < result["mib"] < 1000  # a kernel and no data
    assert {"python", "numpy", "memdlib"} <= set(result["packages"])
    assert problems(bench.root, runs(bench.root)["first"]) == []
    record = json.loads((bench.root / "book/records/first.ipynb").read_text())
    assert record["cells"][0]["source"][0] == "# The first run\n"
    assert record["metadata"]["memdlib"] == {"source": "book/experiments/e.md"}


def test_runs_are_compared_and_listed(quick, capsys):
    quick.result("first", PLANTED)
    assert experiments("second") == 0
    assert experiments("--recheck", "first", "second") == 1
    said = capsys.readouterr().out
    assert "size: 2.6 -> 2.5" in said and "1 of 2 runs are not as stored." in said
    assert "seconds" not in said
    assert read_result("first", quick.root)["values"]["size"] == 2.6
    assert experiments("--status") == 0
    _, first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("first") and first.endswith("equal: False")
    assert second.startswith("second") and second.endswith("equal: True")


def test_a_week_sees_every_run_once():
    week = [date(2026, 1, day) for day in range(1, 8)]
    seen = [name for day in week for name in module.of_the_day(ROOT, day)]
    assert sorted(seen) == sorted(runs(ROOT))


def test_what_fails_is_said_and_the_others_are_made(quick, capsys):
    assert experiments("third") == 2
    assert "no run named 'third'" in capsys.readouterr().out
    quick.write("book/experiments/runs.toml", RUNS.replace("second", "silent"))
    assert experiments() == 1
    said = capsys.readouterr().out
    assert "s for 1 runs\n\n== silent\nsilent: the notebook never called" in said


def test_a_lack_of_data_is_told_before_a_kernel_starts(bench, tmp_path, monkeypatch):
    bench.write("book/experiments/runs.toml", RUNS.replace("iris", "colon"))
    monkeypatch.setenv("MEMDLIB_DATA", str(tmp_path / "lost"))
    with pytest.raises(DatasetError, match="MEMDLIB_DATA is "):
        module.compute(bench.root, runs(bench.root)["first"])


def test_interrupted_in_the_middle_the_next_call_goes_on(quick, capsys):
    mark, journals = quick.root / "mark", quick.root / "_build"
    quick.write("wait", "")

    def interrupt():
        wait_until(lambda: mark.exists() and [*journals.glob("*.json")])
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    assert experiments() == 130
    thread.join()
    said = capsys.readouterr().out
    assert said.splitlines()[-1].startswith("interrupted: what was finished")
    before = quick.files()
    assert "data/results/first.json" in before
    (quick.root / "wait").unlink()
    assert experiments() == 0
    assert "Going on: 1 of 2 are made." in capsys.readouterr().out
    files = quick.files()
    assert files["data/results/first.json"] == before["data/results/first.json"]
    assert "data/results/second.json" in files
    assert list(journals.iterdir()) == []


def test_a_run_whose_caller_is_killed_leaves_no_process_and_no_file(bench, tmp_path):
    """What is left of a killed caller is a pipe that ends."""
    scratch, mark = tmp_path / "scratch", tmp_path / "mark"
    scratch.mkdir()
    command = [*module.CHILD, str(bench.root), "second"]
    given = os.environ | {"NAP": "60", "MARK": str(mark), "TMPDIR": str(scratch)}
    with subprocess.Popen(command, env=given, stdin=subprocess.PIPE) as process:
        try:
            wait_until(mark.exists)
            family = psutil.Process(process.pid).children(recursive=True)
            assert any("ipykernel" in " ".join(p.cmdline()) for p in family)
            process.stdin.close()
            assert process.wait(timeout=40) != 0
        finally:
            process.kill()
    wait_until(lambda: not any(map(alive, family)))
    assert list(scratch.iterdir()) == []
    assert not [name for name in bench.files() if "second" in name or ".part" in name]


def alive(process):
    return process.is_running() and process.status() != "zombie"
