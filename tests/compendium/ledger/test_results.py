import json

import pytest

from compendium.ledger.results import write_result


def test_a_result_is_left_in_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_result({"b": 1, "a": [0.5]})
    before = (tmp_path / "result.json").read_bytes()
    assert json.loads(before) == {"a": [0.5], "b": 1}
    write_result({"a": [0.5], "b": 1})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_result({"a": float("nan")})
    assert (tmp_path / "result.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
