import numpy as np
import pytest
from scipy import stats

from compendium.data import names
from compendium.ledger import beyond

ROWS = {"colon": 86.0, "rec": 97.0}
RUNS = ("genes", "texts")


def method(accuracy, loss, seconds):
    return {"accuracy": {"mean": accuracy}, "log_loss": loss, "fit": seconds}


class Two:
    """Evidence with a run on expression values and a run on texts."""

    def values(self, run):
        if run == "genes":
            machine = method(84.0, 0.4, 2.0)
            gaps = {"svm": {"difference": 3.0, "low": -1.0, "high": 7.0}}
            mine = {"make_memd": method(87.0, 0.3, 1.0), "svm": machine}
            return {"sets": {"colon": {"differences": gaps, "methods": mine}}}
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
    one, other = beyond.duels(Two(), RUNS)
    assert (one.name, one.accuracy, one.cost) == ("colon", 87.0, 0.5)
    assert one.loss == pytest.approx(-0.1)
    assert (other.name, other.accuracy) == ("newsgroups_rec", 96.0)
    assert (other.difference, other.loss, other.cost) == (-1.0, 0.1, 1.5)


def interval(*gaps):
    """A mean with the interval of a t test."""
    ends = stats.ttest_1samp(gaps, 0.0).confidence_interval()
    return {"median": np.mean(gaps), "low": ends.low, "high": ends.high}


def test_differences_and_their_intervals():
    # two clusters of one set
    assert beyond.mean_difference(Two(), RUNS) == pytest.approx(interval(3.0, -1.0))
    assert np.isinf(beyond.mean_difference(Two(), ("genes",))["low"])
    least = {"median": -1.0, "low": -4.0, "high": 2.0}
    assert beyond.least_difference(Two(), RUNS) == least


def test_shares():
    assert beyond.share_ahead(Two(), RUNS) == {"median": 0.5, "low": 0.0, "high": 1.0}
    assert beyond.share_better_informed(Two(), RUNS) == 0.5
    assert beyond.share_as_fast(Two(), RUNS) == {"median": 0.5, "low": 0.5, "high": 0.5}
    assert beyond.share_above_printed(Two(), RUNS, "some") == 0.5
    assert beyond.share_above_printed(Two(), ("genes",), "some") == 1.0


def test_tasks_that_share_messages_are_one_cluster():
    tasks = [name for name in names() if name.startswith("newsgroups_")]
    parts = beyond.clusters([*tasks, "colon", "wine"])
    assert sorted(map(len, parts)) == [1, 1, 2, 2, 3, 4]
    at = {name: i for i, part in enumerate(parts) for name in part}
    # by the messages themselves: these two share all of theirs
    one, other = "newsgroups_vehicles_sport", "newsgroups_rec"
    assert at[one] == at[other] != at["newsgroups_sci"]


class Copies:
    """Sets of text that are given twice, under two names that share all rows."""

    def values(self, run):
        gaps = {"rec": 2.0, "sci": -1.0, "talk": 0.5}
        if run == "twice":
            gaps |= {"vehicles_sport": 2.0, "sci_pairs": -1.0, "religion": 0.5}
        found = {"differences": {}, "accuracy": {}, "cost": {}}
        for name, gap in gaps.items():
            parts = {"svm": {"difference": gap, "log_loss": 0.0}}
            found["differences"][f"newsgroups_{name}"] = parts
            found["accuracy"][f"newsgroups_{name}"] = {"text": method(90.0, 0, 0)}
            found["cost"][f"newsgroups_{name}"] = {"ratio": 1.0}
        return found


def test_copies_of_sets_make_no_interval_narrower():
    once, twice = (beyond.mean_difference(Copies(), [run]) for run in ("once", "twice"))
    assert once == pytest.approx(interval(2.0, -1.0, 0.5))
    assert twice == pytest.approx(once)
