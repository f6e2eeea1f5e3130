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
from compendium.execution import experiments as module
from compendium.execution.provenance import is_current, problems
from compendium.execution.runs import runs
from compendium.ledger.results import read_result
from compendium.project import git
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


@pytest.fixture
def bench(project, signals):
    project.write("book/experiments/runs.toml", RUNS)
    defaults = 'run = ""\ndataset = ""\nsize = 1\nseed = 7'
    text = HEADER + "What it does.\n\n" + cell(defaults, "parameters") + cell(WRITE)
    project.write("book/experiments/e.md", text)
    return project


def experiments(*arguments):
    """Exit status of the command, in this process."""
    return main(["experiments", *arguments])


def test_runs_are_made_with_records(bench, capsys):
    bench.result("first", PLANTED)
    assert experiments("first") == 0
    said = capsys.readouterr().out
    assert "  size: 2.6 -> 2.5" in said and "s for 1 runs" in said
    result = read_result("first", bench.root)
    named = "code commit data dirty machine mib packages parameters seconds values"
    assert list(result) == named.split()
    assert result["values"]["size"] == 2.5
    given = {"size": 2, "run": "first", "dataset": "iris"}
    assert result["parameters"] == given | {"seed": 7}
    assert result["commit"] is None and result["dirty"] is None  # there is no history
    assert 10 < result["mib"] < 1000  # a kernel and no data
    assert {"python", "numpy", "memdlib"} <= set(result["packages"])
    assert problems(bench.root, runs(bench.root)["first"]) == []
    text = (bench.root / "book/records/first.ipynb").read_text("utf-8")
    record = json.loads(text)
    assert record["cells"][0]["source"][0] == "# The first run\n"
    assert record["metadata"]["memdlib"] == {"source": "book/experiments/e.md"}
    assert "papermill" not in text and "start_time" not in text and "iopub" not in text
    # nothing has changed, so nothing is made again
    before = bench.files()
    assert experiments("first") == 0
    assert capsys.readouterr().out.startswith("1 of 1 runs have results of this code")
    assert bench.files() == before
    # other code is seen
    bench.write("memdlib/new.py", "")
    assert not is_current(bench.root, runs(bench.root)["first"])


def test_runs_are_made_again_and_compared(bench, capsys):
    bench.result("first", PLANTED)
    bench.result("second", {"size": 1.5, "seconds": 0})
    before = bench.files()
    assert experiments("--recheck", "first", "second") == 1
    said = capsys.readouterr().out
    assert "size: 2.6 -> 2.5" in said and "1 of 2 runs are not as stored." in said
    assert "seconds" not in said
    assert bench.files() == before


def test_where_results_are_from_is_listed(bench, capsys):
    bench.result("first", {})
    bench.commit()
    commit = git(bench.root, "rev-parse", "HEAD")
    about = {"values": {}, "commit": commit, "dirty": True}
    bench.write("data/results/first.json", json.dumps(about))
    bench.write("compendium/data/readers.py", "# others")
    bench.commit()
    assert experiments("--status") == 0
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.split() == ["run", "commit", "commits", "since"]
    assert first.split() == ["first", f"{commit[:9]}+", "1"]
    assert second.split() == ["second", "?", "?"]


def test_a_week_sees_every_run_once():
    week = [date(2026, 1, day) for day in range(1, 8)]
    seen = [run.name for day in week for run in module.of_the_day(ROOT, day)]
    assert sorted(seen) == sorted(runs(ROOT))


FAULTS = [
    ("1 / 0", "ZeroDivisionError: division by zero"),
    ("import warnings; warnings.warn('odd')", "wrote to stderr (warnings count as"),
    ("import os; os._exit(1)", "Kernel died"),
    ("", "the notebook never called write_result"),
]


def test_what_fails_is_said_and_the_others_are_made(bench, capsys):
    assert experiments("third") == 2
    assert "no run named 'third'" in capsys.readouterr().out
    listed = RUNS
    for number, (code, _) in enumerate(FAULTS):
        text = HEADER + "Faulty.\n\n" + cell('run = ""', "parameters") + cell(code)
        bench.write(f"book/experiments/f{number}.md", text)
        listed += f'\n[f{number}]\ntitle = "F"\nnotebook = "f{number}.md"\n'
    bench.write("book/experiments/runs.toml", listed)
    assert experiments("first", *(f"f{number}" for number in range(4))) == 1
    said = capsys.readouterr().out
    assert "s for 1 runs\n\n== " in said
    messages = {part.split("\n")[0]: part for part in said.split("\n== ")[1:]}
    for number, (_, message) in enumerate(FAULTS):
        assert message in messages[f"f{number}"]
    made = {name for name in bench.files() if name.startswith(("data/r", "book/r"))}
    assert made == {"data/results/first.json", "book/records/first.ipynb"}


def test_a_lack_of_data_is_told_before_a_kernel_starts(bench, tmp_path, monkeypatch):
    bench.write("book/experiments/runs.toml", RUNS.replace("iris", "colon"))
    monkeypatch.setenv("MEMDLIB_DATA", str(tmp_path / "lost"))
    run = runs(bench.root)["first"]
    assert "MEMDLIB_DATA is " in module.make_run(bench.root, run, bench.root)


def started(bench, tmp_path, *names):
    """The command in a process of its own, whose second run does not end."""
    given = os.environ | {
        "NAP": "60",
        "MARK": str(tmp_path / "mark"),
        "TMPDIR": str(tmp_path / "scratch"),
    }
    (tmp_path / "scratch").mkdir()
    command = [sys.executable, "-Pm", "compendium", "experiments", *names]
    process = subprocess.Popen(
        command, env=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return process


def family(process):
    """Its processes, those of kernels too."""
    children = psutil.Process(process.pid).children(recursive=True)
    assert any("ipykernel" in " ".join(child.cmdline()) for child in children)
    return children


def alive(process):
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def test_interrupted_in_the_middle_the_next_call_goes_on(
    bench, tmp_path, capsys, monkeypatch
):
    first = bench.root / "data/results/first.json"
    mark = tmp_path / "mark"
    with started(bench, tmp_path) as process:
        try:
            wait_until(lambda: first.is_file() and mark.exists(), seconds=200)
            children = family(process)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=40)[0]
        finally:
            process.kill()
    assert process.returncode == 130
    assert said.splitlines()[-1].startswith("interrupted: what was finished")
    assert "Traceback" not in said
    wait_until(lambda: not any(map(alive, children)))
    assert list((tmp_path / "scratch").iterdir()) == []
    before = bench.files()
    assert not [name for name in before if "second" in name or ".part" in name]
    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    assert experiments() == 0
    assert capsys.readouterr().out.startswith("1 of 2 runs have results")
    files = bench.files()
    assert files["data/results/first.json"] == before["data/results/first.json"]
    assert {"data/results/second.json", "book/records/second.ipynb"} <= set(files)


def test_a_command_that_is_killed_leaves_no_process_and_no_file(bench, tmp_path):
    with started(bench, tmp_path, "second") as process:
        try:
            wait_until((tmp_path / "mark").exists, seconds=200)
            children = family(process)
        finally:
            process.kill()
    wait_until(lambda: not any(map(alive, children)))
    assert list((tmp_path / "scratch").iterdir()) == []
    assert not [name for name in bench.files() if "second" in name or ".part" in name]
