import json
from dataclasses import replace

import nbformat
import pytest

from compendium.data import fingerprint
from compendium.execution.notebooks import read_source
from compendium.execution.provenance import (
    RunError,
    code_hash,
    moved,
    parameters_of,
    problems,
    provenance,
)
from compendium.execution.runs import runs
from tests.compendium.conftest import HEADER, cell

RUN = '[r]\ntitle = "R"\nnotebook = "e.md"\ndata = "colon"\nparameters = { size = 2 }\n'
CODE = ['run = ""\ndataset = ""\nsize = 1\nseed = 7', "print(size)"]
GIVEN = '# Parameters\nsize = 2\nrun = "r"\ndataset = "colon"\n'


@pytest.fixture
def stored(project):
    """A run with a sound result and record."""
    project.write("book/experiments/runs.toml", RUN)
    source = HEADER + "Text.\n\n" + cell(CODE[0], "parameters") + cell(CODE[1])
    project.write("book/experiments/e.md", source)
    about = {"parameters": {"run": "r", "dataset": "colon", "size": 2, "seed": 7}}
    about["data"] = {"colon": fingerprint("colon")}
    part = {"accuracy": {"mean": 90.0}, "correct": [9]}
    about["values"] = {"m": part, "tested": [10]}
    project.write("data/results/r.json", json.dumps(about))
    record = nbformat.v4.new_notebook()
    record.cells = [nbformat.v4.new_markdown_cell("Other text.")]
    record.cells += map(nbformat.v4.new_code_cell, (CODE[0], GIVEN, CODE[1]))
    project.write("book/records/r.ipynb", nbformat.writes(record))
    return project


def found(project):
    return problems(project.root, runs(project.root)["r"])


def test_a_result_with_a_record_has_no_problem(stored):
    assert found(stored) == []
    # neither words nor what lies under the notebook make it wrong
    stored.write("memdlib/__init__.py", "raise ValueError('in other words')")
    path = stored.root / "book/experiments/e.md"
    path.write_text(path.read_text().replace("Text.", "New text."))
    assert found(stored) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("book/experiments/runs.toml", "2 }", "3 }", "parameters.size was 2, is 3"),
        ("book/experiments/runs.toml", "2 }", "2, more = 1 }", "named 'more' in the"),
        ("book/experiments/runs.toml", '"colon"', '["colon"]', "was 'colon', is ''"),
        ("data/results/r.json", "76ea2f", "76ea2e", "data.colon was '76ea2e"),
        ("book/records/r.ipynb", "print(size)", "print(3)", "other code than book/exp"),
        ("book/records/r.ipynb", "size = 2", "size = 3", "other code than book/exp"),
        ("book/experiments/e.md", "size = 1", "size = 0", "other code than book/exp"),
        ("book/experiments/e.md", "seed = 7", "seed = 8", "seed was 7, is 8"),
        ("book/experiments/e.md", "seed = 7", "seed = f()", "'f()'; write a literal"),
        ("data/results/r.json", "90.0", "100.83", "m.accuracy.mean is 100.83, what"),
    ],
)
def test_what_makes_a_result_or_a_record_wrong(stored, file, old, new, said):
    path = stored.root / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert said in found(stored)[0]


@pytest.mark.parametrize("file", ["data/results/r.json", "book/records/r.ipynb"])
def test_what_is_lost_is_named(stored, file):
    (stored.root / file).unlink()
    assert found(stored) == [f"r: no {file}"]


def test_a_parameter_that_the_notebook_has_not_is_refused(stored):
    run = runs(stored.root)["r"]
    notebook = read_source(stored.root / run.source())
    given = {"run": "r", "dataset": "colon", "size": 2}
    assert parameters_of(run, notebook) == given | {"seed": 7}
    with pytest.raises(RunError, match="r: no parameter named 'more' in the cell") as e:
        parameters_of(replace(run, parameters={"more": 1}), notebook)
    assert "it has ['dataset', 'run', 'seed', 'size']" in str(e.value)


def test_a_result_says_its_commit_and_whether_code_was_changed(stored):
    def about():
        found = provenance(stored.root, runs(stored.root)["r"])
        return found["commit"], found["dirty"]

    assert about() == (None, None)
    stored.commit()
    commit, dirty = about()
    assert len(commit) == 40 and dirty is False
    stored.write("data/results/s.json", "{}")
    assert about() == (commit, False)
    for file in ("memdlib/new.py", "compendium/data/new.py", "compendium/study/new.py"):
        path = stored.write(file, "")
        assert about() == (commit, True)
        path.unlink()
        assert about() == (commit, False)


@pytest.mark.parametrize(
    "file",
    ["memdlib/new.py", "compendium/data/registry.toml", "book/experiments/e.md"],
)
def test_the_code_of_a_result_is_told_from_other_code(stored, file):
    run = runs(stored.root)["r"]
    before = code_hash(stored.root, run)
    stored.write("book/experiments/other.md", "Another notebook.")
    assert code_hash(stored.root, run) == before
    path = stored.root / file
    text = path.read_text("utf-8") if path.is_file() else ""
    stored.write(file, text + "\n# more\n")
    assert code_hash(stored.root, run) != before


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        ({"a": [1.0, 2]}, {"a": [1.0 + 1e-9, 3]}, []),
        ({"a": [1.0, 2]}, {"a": [1.0 + 1e-5, 4]}, ["a.0", "a.1"]),
        ({"a": [1.0, 2.0]}, {"a": [1.0]}, ["a"]),
        ({"a": 1e-12}, {"a": 3e-13}, []),
        ({"a": 2}, {"a": 2.0000001}, []),
        ({"fit": {"mean": 3.0}, "b_ns": 1}, {"seconds": 2.0, "b_ns": 9}, []),
        ({"a": 1}, {"b": 1}, ["a", "b"]),
        ({"accuracy": 90.0}, {"accuracy": 89.0}, ["accuracy"]),
        ({"correct": [9], "accuracy": 90.0}, {"correct": [8], "accuracy": 80.0}, []),
        ({"correct": [9], "accuracy": 90.0}, {"correct": [7]}, ["correct.0"]),
        ({"a_minus_b": {"p": 0.1}, "c": 1.0}, {"a_minus_b": {"p": 0.2}, "c": 1.0}, []),
        ({"a": "x", "b": True, "c": None}, {"a": "y", "b": False, "c": 0.0}, [*"abc"]),
    ],
)
def test_what_counts_as_moved(old, new, places):
    found = moved(old, new, rel=1e-6, counts=1, times=["*_ns"])
    assert [place for place, *_ in found] == places


def test_what_follows_from_counts_moves_where_counts_must_be_equal():
    old, new = ({"correct": [c], "accuracy": c / 10} for c in (9, 8))
    found = moved(old, new, rel=1e-6)
    assert [place for place, *_ in found] == ["accuracy", "correct.0"]
