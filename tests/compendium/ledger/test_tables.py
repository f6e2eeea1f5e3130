import json

import numpy as np
import pytest

from compendium.ledger.tables import (
    Cell,
    Evidence,
    at,
    cells,
    deviation,
    rows_of,
    run_of,
    share_of_firsts,
)


@pytest.fixture
def project(tmp_path):
    """Two rows of a table, one of two classes and one of four, and their results."""
    published, results = tmp_path / "data/published", tmp_path / "data/results"
    published.mkdir(parents=True)
    results.mkdir()
    published.joinpath("table3.csv").write_text(
        "experiment,classes,svm_linear,memd_j,memd_js,groups\n"
        "two,2,90,80,80,a / b\nfour,4,70,60,50,c\n"
    )

    def part(mean):
        return {"accuracy": {"mean": mean, "sd": 1.0, "row": 0.5}}

    for row, shift in (("two", 0.0), ("four", 1.0)):
        values = {"a": {"svm": part(91.0), "js": part(78.5 - 20 * shift)}}
        if row == "four":
            values["a"]["j"] = part(59.5)
        path = results / f"table3-{row}.json"
        path.write_text(json.dumps({"values": values}))
    return tmp_path


READING = {"svm_linear": "a.svm", "memd_j": "a.j", "memd_js": "a.js", "dme": "a.dme"}


def test_cells_of_two_classes_have_no_j(project):
    reading = {k: v for k, v in READING.items() if k != "dme"}
    found = cells("table3", reading, ["two", "four"], project)
    assert [(c.row, c.column, c.printed, c.ours) for c in found] == [
        ("two", "svm_linear", 90.0, 91.0),
        ("two", "memd_js", 80.0, 78.5),
        ("four", "svm_linear", 70.0, 91.0),
        ("four", "memd_j", 60.0, 59.5),
        ("four", "memd_js", 50.0, 58.5),
    ]
    assert [c.agrees() for c in found] == [True, True, False, True, False]
    assert deviation(found[:2]) == pytest.approx(np.sqrt((1 + 1.5**2) / 2))
    assert [
        c.column for c in cells("table3", {"memd_j": "b.j"}, ["four"], project)
    ] == []


def test_rows_and_results_are_those_of_the_project(project):
    evidence = Evidence(project)
    assert evidence.rows("table3") == ["two", "four"]
    (two, four) = evidence.values_of_rows("table3")
    assert four == evidence.values("table3-four") != two
    assert evidence.printed("table3", "four")["memd_j"] == 60.0
    found = cells("table3", {"svm_linear": "a.svm"}, project=project)
    assert [c.row for c in found] == ["two", "four"]


def test_evidence_keeps_what_it_has_read_and_another_reads_anew(project):
    evidence = Evidence(project)
    before = evidence.values("table3-two"), evidence.printed("table3", "two")
    (project / "data/results/table3-two.json").write_text('{"values": {"a": 1}}')
    (project / "data/published/table3.csv").write_text("experiment,classes\ntwo,3\n")
    assert (evidence.values("table3-two"), evidence.printed("table3", "two")) == before
    assert Evidence(project).values("table3-two") == {"a": 1}
    assert Evidence(project).printed("table3", "two") == {"classes": 3.0}


def test_one_instance_is_always_allowed():
    assert Cell("r", "c", 98.75, 100.0, 0.0, 1.25).agrees()
    assert not Cell("r", "c", 98.7, 100.0, 0.0, 1.2).agrees()


def test_names_of_runs_and_rows():
    assert run_of("table3", "ibm_mac") == "table3-ibm-mac"
    assert run_of("table2", "lung") == "table2-lung-1543"
    assert "lung" not in rows_of("table2") and "colon" in rows_of("table2")
    assert len(rows_of("table3")) == 11
    assert at({"a": {"b": 3}}, "a.b") == 3 and at({"a": 1}, "a.b") is None
    assert at({"a.b": {"c": 3}, "a": {}}, "a.b.c") == 3
    assert at({"a": {"b.c": 4}}, "a.b.c") == 4 and at({"a": 1}, "b") is None


def test_share_of_firsts():
    def reading(*differences):
        return [Cell(f"r{i}", "c", 0.0, d, 1.0, 1.0) for i, d in enumerate(differences)]

    near, far = reading(0.1, 0.1, 0.1), reading(2.0, 2.0, 2.0)
    assert share_of_firsts([far, near]) == [0.0, 1.0]
    # the second is nearer unless the last row is drawn at least once
    mixed = share_of_firsts([reading(1, 1, 1), reading(0, 0, 9)], draws=20000)
    assert mixed[1] == pytest.approx((2 / 3) ** 3, abs=0.02)
