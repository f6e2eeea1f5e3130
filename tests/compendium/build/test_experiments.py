import contextlib
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from distributed import LocalCluster

from compendium.build import experiments
from compendium.ledger.results import read_result
from memdlib.datasets import MissingDataError
from tests.compendium.conftest import HEADER, cell
from tests.waiting import wait_until

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
    """Results and records as text, without the machine and the time they took."""
    found = {}
    for name, data in project.files().items():
        if name.startswith(("data/results", "book/records")):
            found[name] = re.sub(r'"machine": \{.*?\},', "", data.decode(), flags=re.S)
    return found


def test_runs_leave_results_and_records_and_are_made_once(bench, capsys, request):
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
    assert {"processor", "blas", "seconds"} <= set(provenance["machine"])
    assert 10 < provenance["machine"]["mib"] < 1000  # a kernel and no data
    assert {"python", "numpy", "scipy", "joblib"} <= set(provenance["packages"])
    assert provenance["parameters"] == {"size": 2, "run": "first", "dataset": "iris"}
    record = json.loads(first["book/records/first.ipynb"])
    assert record["cells"][0]["source"][0] == "# The first run\n"

    assert experiments.main([]) == 0
    assert "0 runs made, 2 fresh." in capsys.readouterr().out
    assert made(bench) == first

    # a lost record or result is made again, to the same bytes
    request.getfixturevalue("in_process")
    for lost in ("book/records/second.ipynb", "data/results/first.json"):
        (bench.root / lost).unlink()
        assert experiments.main([]) == 0
        assert "1 runs made, 1 fresh." in capsys.readouterr().out
        assert made(bench) == first


def test_workers_of_a_cluster_make_the_same_files(bench, capsys, in_process):
    assert experiments.main(["second"]) == 0
    before = made(bench)
    for name in before:
        (bench.root / name).unlink()
    with LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        memory_limit=None,
    ) as cluster:
        assert experiments.main(["second"], scheduler=cluster.scheduler_address) == 0
        assert "1 runs made, 0 fresh." in capsys.readouterr().out
        assert made(bench) == before
        write_experiment(bench, "print('no result')")
        assert experiments.main(["second"], scheduler=cluster.scheduler_address) == 1
    said = capsys.readouterr().out
    assert "second: the notebook never called write_result" in said


def test_what_makes_a_run_stale(bench):
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
    bench.write("book/experiments/runs.toml", RUNS.replace("The first", "A"))
    source = bench.root / "book/experiments/e.md"
    source.write_text(source.read_text() + "More.")
    assert token() == before
    write_experiment(bench, WRITE.replace("print", "print  ") + "# a comment")
    assert token() == before
    write_experiment(bench, WRITE.rstrip() + ";")
    assert token() != before
    write_experiment(bench, "from memdlib.core import f\nf()" + WRITE)
    bench.write("memdlib/core.py", "def f():\n    return 1\n")
    with_code = token()
    bench.write("memdlib/core.py", "def f():\n    return 2\n")
    assert token() != with_code


def test_a_published_table_that_a_parameter_names_makes_a_run_stale(bench, capsys):
    def tokens():
        return [
            experiments.run_digest(bench.root, run, {})
            for run in experiments.runs(bench.root)
        ]

    named = RUNS.replace("size = 2", 'rows = { from = ["table"] }')
    bench.write("book/experiments/runs.toml", named)
    before = tokens()
    bench.write("data/published/table.csv", "row,a,b\nx,99.40,\n")
    after = tokens()
    assert [old != new for old, new in zip(before, after, strict=True)] == [True, False]


def test_new_words_do_not_make_a_run_again(bench, capsys, in_process):
    # never called: kernels know the package itself, not that of the tiny project
    code = "def f():\n    from memdlib.pair import pair\n    pair()\n" + WRITE
    code += "size, size"
    bench.write("memdlib/pair.py", "def pair(x):\n    return x, x\n")
    write_experiment(bench, code)
    assert experiments.main([]) == 0
    before = made(bench)
    bench.write("memdlib/other/__init__.py", "")
    (bench.root / "memdlib/pair.py").rename(bench.root / "memdlib/other/two.py")
    write_experiment(bench, code.replace("memdlib.pair", "memdlib.other.two"))
    source = bench.root / "book/experiments/e.md"
    text = source.read_text().replace("What it does.", "Better words.\n\n+++\n\nMore.")
    (bench.root / "book/experiments/new.md").write_text(text + "\nThe end.\n")
    source.unlink()
    runs = RUNS.replace("e.md", "new.md").replace("The first", "Our first")
    bench.write("book/experiments/runs.toml", runs)
    capsys.readouterr()
    assert experiments.main([]) == 0
    said = "0 runs made, 2 fresh, 2 reworded without a new run."
    assert said in capsys.readouterr().out
    reworded = made(bench)
    record = reworded["book/records/first.ipynb"]
    for words in ("# Our first run", "Better words.", "More.", "memdlib.other.two"):
        assert words in record
    assert "injected-parameters" in record and "(2, 2)" in record
    assert read_result("first")["provenance"]["notebook"] == "book/experiments/new.md"
    assert experiments.main([]) == 0
    assert "0 runs made, 2 fresh." in capsys.readouterr().out

    # as if they had been made so
    for name in before:
        (bench.root / name).unlink()
    assert experiments.main([]) == 0
    assert made(bench) == reworded


def test_a_notebook_that_is_edited_while_it_runs_is_stale(bench, capsys, in_process):
    source = bench.root / "book/experiments/e.md"
    edit = f"path = Path({str(source)!r})\npath.write_text(path.read_text() + 'More.')"
    write_experiment(bench, WRITE + edit)
    assert experiments.main(["second"]) == 0
    (run,) = (run for run in experiments.runs(bench.root) if run.name == "second")
    record, result = experiments.stored_digests(bench.root, run)
    assert record == result != experiments.run_digest(bench.root, run, None)


def test_missing_data_keep_the_committed_result(bench, monkeypatch, capsys, in_process):
    def absent(name):
        raise MissingDataError("no file here; get it from there")

    monkeypatch.setattr(experiments, "fingerprint", absent)
    assert experiments.main(["first"]) == 1
    assert "it has no result yet" in capsys.readouterr().out
    monkeypatch.setattr(experiments, "fingerprint", lambda name: "h")
    assert experiments.main(["first"]) == 0
    kept = made(bench)
    monkeypatch.setattr(experiments, "fingerprint", absent)
    assert experiments.main(["first"]) == 0
    said = capsys.readouterr().out
    assert "its committed result is kept" in said
    assert "get it from there" in said
    assert made(bench) == kept


def test_an_unknown_run_and_notebooks_that_fail(bench, capsys, in_process):
    assert experiments.main(["third"]) == 2
    assert "no run named 'third'; the runs are first, second" in capsys.readouterr().out
    write_experiment(bench, "print('no result')")
    assert experiments.main(["second"]) == 1
    assert "second: the notebook never called write_result" in capsys.readouterr().out
    write_experiment(bench, "%matplotlib inline")
    assert experiments.main([]) == 1
    said = capsys.readouterr().out
    assert "0 runs made, 0 fresh." in said
    assert "second: not Python" in said
    assert made(bench) == {}
    with pytest.raises(FileNotFoundError, match="make experiments RUNS=second"):
        read_result("second")


SLOW = """
import os, time
from pathlib import Path
Path(os.environ["MARKS"], run).touch()
time.sleep(float(os.environ["NAP"]))
"""


COMMAND = ("experiments", "second", "first")


def start(folder):
    """Start the command as a shell starts one in the background: deaf to Ctrl-C."""
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "compendium", "--jobs=1", *COMMAND],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, heard)


def alive(processes):
    return [p for p in processes if p.is_running() and p.status() != "zombie"]


@pytest.mark.parametrize("how", ["INT", "TERM"])
def test_stopped_in_the_middle_it_ends_with_the_same_bytes(
    bench, tmp_path, monkeypatch, in_process, how
):
    write_experiment(bench, SLOW + WRITE)
    before = bench.files()
    marks, scratch = tmp_path / "marks", tmp_path / "scratch"
    for folder in (marks, scratch):
        folder.mkdir()
    monkeypatch.setenv("MARKS", str(marks))
    monkeypatch.setenv("NAP", "60")
    with monkeypatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setenv("TMPDIR", str(scratch))
        process = stack.enter_context(start(tmp_path))
        stack.callback(process.kill)
        wait_until((marks / "second").exists)
        family = psutil.Process(process.pid).children(recursive=True)
        assert any("ipykernel" in " ".join(p.cmdline()) for p in family)
        if how == "INT":  # Ctrl-C reaches everybody in the terminal
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.Signals[f"SIG{how}"])
        said = process.communicate(timeout=40)[0]
    assert process.returncode == 130
    assert said.startswith("\ninterrupted: what was finished is kept")
    assert said.count("\n") == 2, said
    assert list(scratch.iterdir()) == []
    wait_until(lambda: not alive(family))
    assert [path.name for path in marks.iterdir()] == ["second"]
    assert bench.files() == before

    monkeypatch.setenv("NAP", "0")
    assert experiments.main([]) == 0
    after = made(bench)
    assert len(after) == 4
    for name in after:
        (bench.root / name).unlink()
    assert experiments.main([]) == 0
    assert made(bench) == after


@pytest.mark.parametrize("folder", ["lost", "mark"])
def test_a_wrong_data_folder_is_one_clear_line(bench, tmp_path, folder):
    (tmp_path / "mark").touch()
    bench.write("book/experiments/runs.toml", RUNS.replace("iris", "colon"))
    bench.result("first", {})
    done = subprocess.run(
        [sys.executable, "-m", "compendium", "experiments"],
        env=os.environ | {"MEMDLIB_DATA": str(tmp_path / folder)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    (line,) = (done.stdout + done.stderr).splitlines()
    assert line.startswith(f"error: MEMDLIB_DATA is '{tmp_path / folder}', which ")


def test_killed_at_random_moments_files_are_whole_and_the_next_call_completes(
    bench, tmp_path, in_process
):
    write_experiment(bench, WRITE)
    begun = time.monotonic()
    with start(tmp_path) as process:
        process.communicate(timeout=90)
    took, expected = time.monotonic() - begun, made(bench)
    assert process.returncode == 0 and len(expected) == 4
    for share in np.random.default_rng(35).uniform(size=2):
        for name in made(bench):
            (bench.root / name).unlink()
        with start(tmp_path) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(share * took)
            family = []
            with contextlib.suppress(psutil.NoSuchProcess):
                family += psutil.Process(process.pid).children(recursive=True)
            process.kill()
            process.communicate()
        wait_until(lambda family=family: not alive(family))
        left = made(bench)
        assert left == {name: expected[name] for name in left}
        assert experiments.main([]) == 0
        assert made(bench) == expected


def test_two_calls_at_once_leave_what_one_leaves(bench, tmp_path, in_process):
    write_experiment(bench, WRITE)
    with start(tmp_path) as one, start(tmp_path) as two:
        for process in (one, two):
            process.communicate(timeout=90)
            assert process.returncode == 0
    both = made(bench)
    for name in both:
        (bench.root / name).unlink()
    assert experiments.main([]) == 0
    assert made(bench) == both


def test_where_nothing_can_be_written_the_run_fails_and_nothing_is_left(
    bench, monkeypatch, in_process
):
    write_experiment(bench, WRITE)
    before = bench.files()

    def refused(*given, **more):
        raise PermissionError(errno.EACCES, "Permission denied")

    # not by the mode of a folder, which does not bind whoever is root
    monkeypatch.setattr(experiments, "store", refused)
    with pytest.raises(PermissionError, match="Permission denied"):
        experiments.main(["second"])
    assert bench.files() == before
