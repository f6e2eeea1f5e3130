import json
from copy import deepcopy
from functools import reduce
from operator import getitem

import pytest

from compendium.ledger.results import write_result, wrong_means


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


SOUND = {
    "svm": {"accuracy": {"mean": 97.5}, "correct": [19, 20], "tested": [20, 20]},
    "kernels": {
        "tested": [[3, 2], [3, 2]],
        "knn": {"accuracy": {"mean": 70.0}, "correct": [[3, 0], [2, 2]]},
    },
    "rules": {
        "tested": [10, 8],
        "accuracy": {"3": {"plain": {"mean": 65.0}}},
        "correct": {"3": {"plain": [8, 4]}},
    },
    "boosting": {
        "tested": [[5, 5], [5, 5]],
        "lda": {
            "accuracy": {"mean": 85.0},
            "correct": [[4, 5], [3, 5]],
            "log_loss": 0.25,
            "log_loss_by_draw": [0.25, 0.25],
        },
    },
    "growing": {
        "accuracy": [70.0, 90.0],
        "accuracy_by_draw": [[69.0, 71.0], [90.0, 90.0]],
    },
    "one for all": {
        "accuracy": 75.0,
        "log_loss": 0.25,
        "by_set": {
            "a": {"accuracy": 70.0, "log_loss": 0.5},
            "b": {"accuracy": 80.0, "log_loss": 0.0},
        },
    },
    "curve": {"mean": 1.333333, "correct": [1, 1, 2]},
}
MEANS = [
    ("svm", "accuracy", "mean"),
    ("kernels", "knn", "accuracy", "mean"),
    ("rules", "accuracy", "3", "plain", "mean"),
    ("boosting", "lda", "accuracy", "mean"),
    ("boosting", "lda", "log_loss"),
    ("growing", "accuracy", 1),
    ("one for all", "accuracy"),
    ("one for all", "log_loss"),
    ("curve", "mean"),
]


def test_means_that_follow_from_what_stands_beside_them_are_right():
    assert wrong_means(SOUND) == []


@pytest.mark.parametrize("keys", MEANS, ids=lambda keys: " ".join(map(str, keys)))
def test_a_mean_that_is_not_that_of_its_folds_is_named(keys):
    values = deepcopy(SOUND)
    part = reduce(getitem, keys[:-1], values)
    right = part[keys[-1]]
    part[keys[-1]] = right + 0.01
    (sentence,) = wrong_means(values)
    place = ".".join(map(str, keys))
    assert sentence.startswith(f"{place} is {right + 0.01}, what stands")
    assert float(sentence.split()[-1]) == pytest.approx(right, abs=1e-6)


@pytest.mark.parametrize(
    "part",
    [
        {"accuracy": {"mean": 90.0}, "correct": [9, 9]},
        {"accuracy": {"a": {"mean": 90.0}}, "correct": {"b": [9]}, "tested": [10]},
    ],
)
def test_a_mean_needs_counts_of_its_own_and_the_number_of_rows(part):
    (sentence,) = wrong_means({"svm": part})
    assert sentence.startswith("svm.accuracy.")
    assert "mean cannot be computed from the counts and rows beside" in sentence
