"""The experiment on reviews takes a file of the reader's own."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from compendium.execution.experiments import make_runs
from compendium.execution.runs import runs
from compendium.ledger.results import read_result
from compendium.study.reviews import write_reviews

ROOT = Path(__file__).parents[2]


def test_the_path_of_a_file_is_a_parameter(tmp_path):
    path = tmp_path / "Reviews.csv"
    write_reviews(path, 600, n_words=400, seed=4)
    given = {"path": str(path), "column": "Text", "once": True, "measure_memory": False}
    run = replace(runs(ROOT)["lecture-reviews"], parameters=given)
    ((_, error),) = make_runs(ROOT, [run], tmp_path, jobs=1)
    assert not error
    values = read_result(run.name, tmp_path)["values"]
    frame = pd.read_csv(path)
    frame = frame[frame["Score"] != 3]
    assert not values["imitation"]
    assert values["peak_bytes"] is None
    assert values["repeated"] == frame["Text"].duplicated().sum()
    assert values["reviews"] == (~frame["Text"].duplicated()).sum()
    assert values["file_bytes"] == path.stat().st_size
    for part in values["classifiers"].values():
        assert list(part) == ["100", str(values["words"])]
        assert all(entry["auc"] > 0.75 for entry in part.values())
