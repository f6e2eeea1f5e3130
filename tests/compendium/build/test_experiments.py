import json
import os
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path

import psutil
import pytest

from compendium.__main__ import main
from compendium.build import experiments as module
from compendium.build.runs import problems, runs
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
# the second run waits as long as it is told to
WRITE = """
import json, os, time
from pathlib import Path
if run == "second":
    Path(os.environ.get("MARK", "mark")).touch()
    time.sleep(float(os.environ.get("NAP", 0)))
Path("result.json").write_text(json.dumps({"size": size + 0.5, "seconds": time.time()}))
"""


@pytest.fixture
def bench(project):
    project.write("book/experiments/runs.toml", RUNS)
    write_experiment(project, WRITE)
    return project


def write_experiment(project, code):
    defaults = 'run = ""\ndataset = ""\nsize = 1'
    text = HEADER + "What it does.\n\n" + cell(defaults, "parameters") + cell(code)
    project.write("book/experiments/e.md", text)


def experiments(*arguments):
    """Exit status of the command, in this process."""
    before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        return main(["--jobs=2", "experiments", *arguments])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_runs_are_made_compared_and_listed(bench, capsys):
    assert experiments() == 0
    assert "s for 2 runs" in capsys.readouterr().out
    result = read_result("first", bench.root)
    named = "commit data dirty machine mib packages parameters seconds seed values"
    assert list(result) == named.split()
    assert result["values"]["size"] == 2.5
    assert result["parameters"] == {"size": 2, "run": "first", "dataset": "iris"}
    assert result["commit"] == "" and not result["dirty"]  # there is no history
    assert 10 < result["mib"] < 1000  # a kernel and no data
    assert {"python", "numpy", "memdlib"} <= set(result["packages"])
    assert [problems(bench.root, run) for run in runs(bench.root).values()] == [[], []]
    record = json.loads((bench.root / "book/records/first.ipynb").read_text())
    assert record["cells"][0]["source"][0] == "# The first run\n"
    assert record["metadata"]["memdlib"] == {"source": "book/experiments/e.md"}

    planted = json.dumps(result | {"values": {"size": 2.6, "seconds": 0}})
    bench.write("data/results/first.json", planted)
    assert experiments("--recheck", "first", "second") == 1
    said = capsys.readouterr().out
    assert "size: 2.6 -> 2.5" in said and "1 of 2 runs are not as stored." in said
    assert "seconds" not in said
    assert read_result("first", bench.root)["values"]["size"] == 2.6
    assert experiments("--status") == 0
    _, first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("first") and first.endswith("equal: False")
    assert second.startswith("second") and second.endswith("equal: True")

    assert experiments("first") == 0
    assert "  size: 2.6 -> 2.5" in capsys.readouterr().out


def test_a_week_sees_every_run_once():
    week = [date(2026, 1, day) for day in range(1, 8)]
    seen = [name for day in week for name in module.of_the_day(ROOT, day)]
    assert sorted(seen) == sorted(runs(ROOT))


def test_what_fails_is_said_and_the_others_are_made(bench, capsys):
    assert experiments("third") == 2
    assert "no run named 'third'" in capsys.readouterr().out
    text = WRITE.replace("Path(", "run == 'first' and Path(")
    write_experiment(bench, text)
    assert experiments() == 1
    said = capsys.readouterr().out
    assert "== second\nsecond: the notebook never called write_result" in said
    assert read_result("first", bench.root)
    assert not (bench.root / "data/results/second.json").exists()


def test_a_wrong_data_folder_is_one_clear_line(bench, tmp_path, capsys):
    bench.write("book/experiments/runs.toml", RUNS.replace("iris", "colon"))
    os.environ["MEMDLIB_DATA"] = str(tmp_path / "lost")
    assert experiments("first") == 1
    said = capsys.readouterr().out.split("== first\n")[1]
    assert said.startswith(f"error: MEMDLIB_DATA is '{tmp_path / 'lost'}', which ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("how", ["INT", "KILL"])
def test_stopped_in_the_middle_the_next_call_goes_on(bench, tmp_path, capsys, how):
    scratch, mark = tmp_path / "scratch", tmp_path / "mark"
    scratch.mkdir()
    command = [sys.executable, "-Pm", "compendium", "--jobs=2", "experiments"]
    settings = {"NAP": "60", "MARK": str(mark), "TMPDIR": str(scratch)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    journals = bench.root / "_build"
    with subprocess.Popen(command, env=os.environ | settings, **pipes) as process:
        try:
            wait_until(lambda: mark.exists() and [*journals.glob("*.json")])
            family = psutil.Process(process.pid).children(recursive=True)
            assert any("ipykernel" in " ".join(p.cmdline()) for p in family)
            process.send_signal(signal.Signals[f"SIG{how}"])
            said = process.communicate(timeout=40)[0]
        finally:
            process.kill()
    if how != "KILL":
        assert process.returncode == 130
        assert said.splitlines()[-1].startswith("interrupted: what was finished")
    wait_until(
        lambda: not any(p.is_running() and p.status() != "zombie" for p in family)
    )
    assert list(scratch.iterdir()) == []
    files = bench.files()
    assert "data/results/first.json" in files and "book/records/first.ipynb" in files
    assert not any("second" in name or name.endswith(".part") for name in files)

    assert experiments() == 0
    assert "Going on: 1 of 2 are made." in capsys.readouterr().out
    assert bench.files()["data/results/first.json"] == files["data/results/first.json"]
    assert read_result("second", bench.root)["values"]["size"] == 1.5
    assert list(journals.iterdir()) == []
