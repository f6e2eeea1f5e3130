import json

import pytest

from compendium.ledger.results import read_result, write_result


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
