import pytest

from compendium.ledger import beyond
from compendium.ledger.beyond import (
    BEYOND,
    duel_rows,
    duels,
    least_difference,
    mean_difference,
    share_above_printed,
    share_ahead,
    share_as_fast,
    share_better_informed,
)
from compendium.ledger.findings import MEASURES

ROWS = {"colon": 86.0, "rec": 97.0}
RUNS = ("genes", "texts")


def method(accuracy, loss, seconds):
    return {"accuracy": {"mean": accuracy}, "log_loss": loss, "seconds": seconds}


class Two:
    """Evidence with a run on expression values and a run on texts."""

    def values(self, run):
        if run == "genes":
            machine = method(84.0, 0.4, 2.0)
            gap = {"difference": 3.0, "low": -1.0, "high": 7.0}
            mine = {"make_memd": method(87.0, 0.3, 1.0), "svm": machine}
            return {"sets": {"colon": {"difference": gap, "methods": mine}}}
        gap = {"difference": -1.0, "low": -4.0, "high": 2.0, "log_loss": 0.1}
        return {
            "differences": {"newsgroups_rec": {"svm": gap}},
            "accuracy": {"newsgroups_rec": {"text": method(96.0, 0.0, 0.0)}},
            "cost": {"newsgroups_rec": {"ratio": 1.5}},
        }

    def rows(self, table):
        assert table == "some"
        return list(ROWS)

    def printed(self, table, row):
        return {"memd_js": ROWS[row]}


def test_both_kinds_of_runs_are_read():
    one, other = duels(Two(), RUNS)
    assert (one.name, one.accuracy, one.cost) == ("colon", 87.0, 0.5)
    assert one.loss == pytest.approx(-0.1)
    assert (other.name, other.accuracy) == ("newsgroups_rec", 96.0)
    assert (other.difference, other.loss, other.cost) == (-1.0, 0.1, 1.5)


def test_differences_and_their_intervals():
    assert mean_difference(Two(), RUNS) == {
        "median": 1.0,
        "low": 1.0 - 5.0 / 2,  # half-widths 4 and 3
        "high": 1.0 + 5.0 / 2,
    }
    found = least_difference(Two(), RUNS)
    assert found == {"median": -1.0, "low": -4.0, "high": 2.0}


def test_shares():
    assert share_ahead(Two(), RUNS) == {"median": 0.5, "low": 0.0, "high": 1.0}
    assert share_better_informed(Two(), RUNS) == 0.5
    assert share_as_fast(Two(), RUNS) == {"median": 0.5, "low": 0.5, "high": 0.5}
    assert share_above_printed(Two(), RUNS, "some") == 0.5
    assert share_above_printed(Two(), ("genes",), "some") == 1.0


def test_the_ledger_knows_the_measures():
    assert BEYOND.items() <= MEASURES.items()


def test_duels_in_rows(monkeypatch):
    monkeypatch.setattr(beyond, "DUELS", {"genes": ("genes",), "both": RUNS})
    assert duel_rows(Two()) == [
        ["genes", "1", "+3.0 (-1.0 to 7.0)", "+3.0", "1", "0.50 to 0.50"],
        ["both", "2", "+1.0 (-1.5 to 3.5)", "-1.0", "1", "0.50 to 1.50"],
    ]
