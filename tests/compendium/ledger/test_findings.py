import json

import pytest

from compendium.ledger import findings
from compendium.ledger.findings import (
    FIGURES,
    gain_over_all,
    largest_gap,
    median_share_kept,
    wins,
)

ROWS = {
    "a": {"js": (90.0, 20), "svm": (80.0, 100), "dme": (85.0, 100)},
    "b": {"js": (70.0, 10), "j": (72.0, 10), "svm": (75.0, 100), "dme": (71.0, 100)},
    "c": {"js": (60.0, 50), "j": (59.5, 40), "svm": (60.0, 100)},
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "data/results").mkdir(parents=True)
    for row, parts in ROWS.items():
        values = {
            name: {
                "accuracy": {"mean": mean},
                "n_features": {"median": kept},
                "curve": {"accuracy": [50.0, mean + 5, mean - kept]},
            }
            for name, (mean, kept) in parts.items()
        }
        path = tmp_path / f"data/results/table3-{row}.json"
        path.write_text(json.dumps({"values": values | {"sizes": {"words": 200}}}))
    monkeypatch.setattr(findings, "rows_of", lambda table: list(ROWS))
    return tmp_path


def test_wins_are_strict_and_pass_over_what_is_missing(project):
    assert wins(project, "table3", "js", ["svm"]) == 1
    assert wins(project, "table3", "svm", ["js"]) == 1
    assert wins(project, "table3", "js", ["svm", "dme"]) == 1
    assert wins(project, "table3", "svm", ["dme"]) == 2
    assert wins(project, "table3", "j", ["js"]) == 1


def test_gap_share_and_gain(project):
    assert largest_gap(project, "table3", "j", "js") == 2.0
    assert median_share_kept(project, "table3", "js", "sizes.words") == 10.0
    assert gain_over_all(project, "table3", "js") == 25.0
    assert set(FIGURES) == {
        "wins",
        "largest_gap",
        "median_share_kept",
        "gain_over_all",
    }
