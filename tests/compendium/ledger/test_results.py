import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from compendium.ledger.results import fold_counts, read_result, write_result
from compendium.study.protocols import accuracy_by_repeat, repeated_accuracy


def test_a_result_is_left_in_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_result({"b": 1, "a": [0.5]})
    assert json.loads((tmp_path / "result.json").read_text()) == {"a": [0.5], "b": 1}
    before = (tmp_path / "result.json").read_bytes()
    with pytest.raises(ValueError, match="JSON compliant"):
        write_result({"a": float("nan")})
    assert (tmp_path / "result.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_a_result_is_read_by_the_name_of_its_run(project, tmp_path):
    project.result("r", {"x": 1})
    for result in (read_result("r"), read_result("r", project.root)):
        assert result == {"values": {"x": 1}, "parameters": {"run": "r"}}
    with pytest.raises(FileNotFoundError, match="make experiments RUNS=s"):
        read_result("s")
    with pytest.raises(FileNotFoundError, match="make experiments RUNS=r"):
        read_result("r", tmp_path)


def test_counts_of_folds_add_up_to_the_accuracy():
    X, y = load_iris(return_X_y=True)
    found = repeated_accuracy({"nb": GaussianNB()}, X, y, n_splits=4, repeats=3)
    table = fold_counts(found)
    assert list(table.columns[:4]) == ["method", "repeat", "right_0", "of_0"]
    assert table["repeat"].tolist() == [0, 1, 2]
    right = table.filter(like="right_").sum(axis=1)
    assert (table.filter(like="of_").sum(axis=1) == 150).all()
    np.testing.assert_allclose(100 * right / 150, accuracy_by_repeat(found["nb"]))
