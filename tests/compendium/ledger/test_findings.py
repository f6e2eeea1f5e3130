import json

import pytest

from compendium.ledger.findings import (
    MEASURES,
    gain_over_all,
    largest_gap,
    median_share_kept,
    wins,
)
from compendium.ledger.tables import Evidence

ROWS = {
    "a": {"js": (90.0, 20), "svm": (80.0, 100), "dme": (85.0, 100)},
    "b": {"js": (70.0, 10), "j": (72.0, 10), "svm": (75.0, 100), "dme": (71.0, 100)},
    "c": {"js": (60.0, 50), "j": (59.5, 40), "svm": (60.0, 100)},
}


@pytest.fixture
def evidence(tmp_path):
    """Three rows of a table of our own, away from those of the book."""
    for folder in ("published", "results"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    rows = "".join(f"{row}\n" for row in ROWS)
    (tmp_path / "data/published/table3.csv").write_text(f"experiment\n{rows}")
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
    return Evidence(tmp_path)


def test_wins_are_strict_and_pass_over_what_is_missing(evidence):
    assert wins(evidence, "table3", "js", ["svm"]) == 1
    assert wins(evidence, "table3", "svm", ["js"]) == 1
    assert wins(evidence, "table3", "js", ["svm", "dme"]) == 1
    assert wins(evidence, "table3", "svm", ["js", "dme"]) == 1
    assert wins(evidence, "table3", "svm", ["dme"]) == 2
    assert wins(evidence, "table3", "j", ["js"]) == 1
    assert wins(evidence, "table3", "dme", ["lost"]) == 2


def test_a_win_is_over_all_the_others_in_whatever_order(evidence):
    for others in (["svm", "dme"], ["dme", "svm"]):
        assert wins(evidence, "table3", "js", others) == 1
        assert wins(evidence, "table3", "j", others) == 0


def test_a_gap_has_no_sign(evidence):
    assert largest_gap(evidence, "table3", "j", "js") == 2.0
    assert largest_gap(evidence, "table3", "js", "j") == 2.0
    assert largest_gap(evidence, "table3", "js", "svm") == 10.0
    assert largest_gap(evidence, "table3", "svm", "js") == 10.0


def test_share_and_gain(evidence):
    assert median_share_kept(evidence, "table3", "js", "sizes.words") == 10.0
    assert gain_over_all(evidence, "table3", "js") == 25.0


def test_measures_go_by_their_names():
    measures = (wins, largest_gap, median_share_kept, gain_over_all)
    assert MEASURES == {measure.__name__: measure for measure in measures}
