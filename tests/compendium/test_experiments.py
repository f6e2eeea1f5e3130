import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from memdlib.compendium import experiments
from memdlib.compendium.results import read_result
from memdlib.datasets import MissingDataError

from .conftest import HEADER, cell

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
WRITE = """
import json
from pathlib import Path
print(run, size, dataset)
Path("result.json").write_text(json.dumps({"size": size}))
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


def made(project):
    return {
        name: data
        for name, data in project.files().items()
        if name.startswith(("data/results", "book/records"))
    }


def test_runs_leave_results_and_records_and_are_made_once(bench, capsys):
    assert experiments.main([], jobs=2) == 0
    assert "2 runs made, 0 fresh." in capsys.readouterr().out
    first = made(bench)
    assert sorted(first) == [
        "book/records/first.ipynb",
        "book/records/second.ipynb",
        "data/results/first.json",
        "data/results/second.json",
    ]
    result = read_result("first")
    assert result["values"] == {"size": 2}
    provenance = result["provenance"]
    assert list(provenance["data"]) == ["iris"]
    assert provenance["command"] == "make experiments RUNS=first"
    assert provenance["parameters"] == {"size": 2, "run": "first", "dataset": "iris"}
    record = json.loads(first["book/records/first.ipynb"])
    assert record["cells"][0]["source"][0] == "# The first run\n"

    assert experiments.main([]) == 0
    assert "0 runs made, 2 fresh." in capsys.readouterr().out
    assert made(bench) == first

    # a lost record is made again, to the same bytes
    (bench.root / "book/records/second.ipynb").unlink()
    assert experiments.main(["second"]) == 0
    assert "1 runs made, 0 fresh." in capsys.readouterr().out
    assert made(bench) == first


def test_what_makes_a_run_stale(bench):
    run = experiments.runs(bench.root)[0]

    def token(data_hash="h"):
        return experiments.run_digest(
            bench.root, experiments.runs(bench.root)[0], data_hash
        )

    before = token()
    assert token("other") != before
    bench.write("book/experiments/runs.toml", RUNS.replace("size = 2", "size = 3"))
    assert token() != before
    bench.write("book/experiments/runs.toml", RUNS)
    write_experiment(bench, WRITE + "\n1 + 1")
    assert token() != before
    write_experiment(bench, WRITE)
    bench.write(
        "requirements.lock", "numpy==2.0\npandas==1.0\nscikit-learn==1.0\nscipy==1.0\n"
    )
    assert token() != before
    bench.write(
        "requirements.lock",
        "numpy==1.0\npandas==1.0\nscikit-learn==1.0\nscipy==1.0\nsphinx==9.0\n",
    )
    assert token() == before
    assert run.name == "first"


def test_missing_data_keep_the_committed_result(bench, monkeypatch, capsys):
    def absent(name):
        raise MissingDataError("no file here; get it from there")

    monkeypatch.setattr(experiments, "load", absent)
    assert experiments.main(["first"]) == 1
    assert "it has no result yet" in capsys.readouterr().out
    monkeypatch.setattr(experiments, "load", lambda name: SimpleNamespace(sha256="h"))
    assert experiments.main(["first"]) == 0
    kept = made(bench)
    monkeypatch.setattr(experiments, "load", absent)
    assert experiments.main(["first"]) == 0
    said = capsys.readouterr().out
    assert "its committed result is kept" in said
    assert "get it from there" in said
    assert made(bench) == kept


def test_an_unknown_run_and_a_silent_notebook(bench, capsys):
    assert experiments.main(["third"]) == 2
    assert "no run named 'third'; the runs are first, second" in capsys.readouterr().out
    write_experiment(bench, "print('no result')")
    assert experiments.main(["second"]) == 1
    assert "second: the notebook never called write_result" in capsys.readouterr().out
    with pytest.raises(FileNotFoundError, match="make experiments RUNS=second"):
        read_result("second")


SLOW = """
import os, time
from pathlib import Path
Path(os.environ["MARK"]).touch()
time.sleep(float(os.environ["NAP"]))
"""


def start(project, tmp_path, nap):
    environment = os.environ | {
        "MARK": str(tmp_path / "mark"),
        "NAP": str(nap),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "memdlib.compendium", "experiments", "second"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(project, tmp_path):
    with start(project, tmp_path, nap=0) as process:
        said = process.communicate(timeout=60)[0]
    assert process.returncode == 0, said


def kernels(tmp_path):
    """Kernels that were started by this test, by their connection files."""
    wanted = str(tmp_path / "runtime").encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def wait_until(condition, seconds=40):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    assert condition()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopped_in_the_middle_it_ends_with_the_same_bytes(bench, tmp_path, how):
    write_experiment(bench, SLOW + WRITE)
    before = bench.files()
    process = start(bench, tmp_path, nap=60)
    wait_until((tmp_path / "mark").exists)
    process.send_signal(how)
    said = process.communicate(timeout=40)[0]
    if how is not signal.SIGKILL:
        assert process.returncode == 130
        assert (
            said.strip().splitlines()[-1].startswith("interrupted: what was finished")
        )
        assert "Traceback" not in said
    wait_until(lambda: not kernels(tmp_path))
    assert bench.files() == before
    finish(bench, tmp_path)
    interrupted = made(bench)
    for name in list(interrupted):
        (bench.root / name).unlink()
    finish(bench, tmp_path)
    assert made(bench) == interrupted


@pytest.mark.parametrize("folder", ["lost", "mark"])
def test_a_wrong_data_folder_is_one_clear_line(bench, tmp_path, folder):
    (tmp_path / "mark").touch()
    bench.write("book/experiments/runs.toml", RUNS.replace("iris", "colon"))
    bench.result("first", {})
    done = subprocess.run(
        [sys.executable, "-m", "memdlib.compendium", "experiments"],
        env=os.environ | {"MEMDLIB_DATA": str(tmp_path / folder)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    (line,) = (done.stdout + done.stderr).splitlines()
    assert line.startswith(f"error: MEMDLIB_DATA is '{tmp_path / folder}', which ")
