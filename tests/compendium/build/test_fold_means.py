"""Counts of folds, means of results and tables of records say the same."""

import json
import shutil

import pandas as pd
import pytest

from compendium.build.experiments import runs
from compendium.build.fold_means import means_of_folds, places_of, wrong_means
from compendium.project import root

RUN = "comparison-colon"
COUNTED = [
    run.name
    for run in runs(root())
    if any(
        "right_0" in file.read_text().partition("\n")[0]
        for file in (root() / "book/records").glob(f"{run.name}-*.csv")
    )
]


@pytest.mark.parametrize("run", COUNTED)
def test_all_means_are_those_of_the_folds_and_are_printed(run):
    assert wrong_means(root(), run) == []


def test_no_kind_of_run_is_left_out():
    kinds = {run.split("-")[0] for run in COUNTED}
    assert {"table2", "table3", "beyond", "comparison", "nml", "choices"} <= kinds


def test_a_mean_over_repeats_of_shares_of_all_rows():
    lines = {"method": ["a", "a"], "repeat": [0, 1], "set": ["x", "x"]}
    lines |= {"right_0": [1, 2], "of_0": [2, 2], "right_1": [3, 3], "of_1": [4, 4]}
    # four and five of six
    found = means_of_folds(pd.DataFrame(lines))
    assert found == {("a", "x"): pytest.approx(75.0)}
    assert means_of_folds(pd.DataFrame({"method": ["a"], "rank": [1]})) == {}


def test_a_label_is_known_by_its_keys_each_or_in_a_list():
    places = [("sets", "x", first, "ten") for first in ("a", "b", "a, b")]
    places.append(("sets", "x", "a", "five"))
    assert places_of(("a, ten", "x"), places) == [places[0]]
    assert places_of(("a, b, ten", "x"), places) == [places[2]]
    assert places_of(("a, b", "x", "ten"), places) == [places[2]]
    assert places_of(("c", "x"), places) == []


@pytest.fixture
def copy(tmp_path):
    """One run of the book, where it can be falsified."""
    for part in (
        f"data/results/{RUN}.json",
        f"book/records/{RUN}.ipynb",
        f"book/records/{RUN}-accuracy.csv",
    ):
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root() / part, tmp_path / part)
    assert wrong_means(tmp_path, RUN) == []
    return tmp_path


def test_a_changed_mean_is_found(copy):
    path = copy / f"data/results/{RUN}.json"
    result = json.loads(path.read_text())
    result["values"]["sets"]["colon"]["methods"]["forest"]["accuracy"]["mean"] -= 6
    path.write_text(json.dumps(result))
    (problem,) = wrong_means(copy, RUN)
    assert "('forest', 'colon')" in problem


def test_a_changed_fold_is_found(copy):
    path = copy / f"book/records/{RUN}-accuracy.csv"
    table = pd.read_csv(path)
    table.loc[table["method"] == "forest", "right_0"] -= 3
    table.to_csv(path, index=False)
    assert "('forest', 'colon')" in wrong_means(copy, RUN)[0]


def test_a_changed_cell_of_a_record_is_found(copy):
    path = copy / f"book/records/{RUN}.ipynb"
    record = json.loads(path.read_text())
    lines = next(
        output["data"]["text/markdown"]
        for cell in record["cells"]
        for output in cell.get("outputs", [])
        if "text/markdown" in output.get("data", {})
    )
    at = next(i for i, line in enumerate(lines) if "random forest" in line)
    value = lines[at].split("|")[2].split(" ± ")[0].strip()
    lines[at] = lines[at].replace(value, "11.1")
    path.write_text(json.dumps(record))
    assert wrong_means(copy, RUN) == [f"{RUN}: no table of its record has {value}"]
