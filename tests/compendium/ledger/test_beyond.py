import numpy as np
import pytest
from scipy import stats

from compendium.data import names
from compendium.ledger.beyond import (
    clusters,
    duels,
    least_difference,
    mean_difference,
    share_above_printed,
    share_ahead,
    share_as_fast,
    share_better_informed,
)

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
    one, other = duels(Two(), RUNS)
    assert (one.name, one.accuracy, one.cost) == ("colon", 87.0, 0.5)
    assert one.loss == pytest.approx(-0.1)
    assert (other.name, other.accuracy) == ("newsgroups_rec", 96.0)
    assert (other.difference, other.loss, other.cost) == (-1.0, 0.1, 1.5)


def test_differences_and_their_intervals():
    found = mean_difference(Two(), RUNS)
    # two clusters of one set: the interval of a t test
    wanted = stats.ttest_1samp([3.0, -1.0], 0.0).confidence_interval()
    assert found["median"] == 1.0
    assert [found["low"], found["high"]] == pytest.approx([wanted.low, wanted.high])
    assert np.isinf(mean_difference(Two(), ("genes",))["low"])
    found = least_difference(Two(), RUNS)
    assert found == {"median": -1.0, "low": -4.0, "high": 2.0}


def test_shares():
    assert share_ahead(Two(), RUNS) == {"median": 0.5, "low": 0.0, "high": 1.0}
    assert share_better_informed(Two(), RUNS) == 0.5
    assert share_as_fast(Two(), RUNS) == {"median": 0.5, "low": 0.5, "high": 0.5}
    assert share_above_printed(Two(), RUNS, "some") == 0.5
    assert share_above_printed(Two(), ("genes",), "some") == 1.0


def test_tasks_that_share_messages_are_one_cluster():
    tasks = [name for name in names() if name.startswith("newsgroups_")]
    parts = clusters([*tasks, "colon", "wine"])
    assert sorted(map(len, parts)) == [1, 1, 2, 2, 3, 4]
    at = {name: i for i, part in enumerate(parts) for name in part}
    # by the messages themselves: these two share all of theirs
    one, other = "newsgroups_vehicles_sport", "newsgroups_rec"
    assert at[one] == at[other] != at["newsgroups_sci"]


class Copies:
    """A set of text that is given twice, under two names that share all rows."""

    def values(self, run):
        gaps = {"newsgroups_rec": 2.0, "newsgroups_sci": -1.0, "newsgroups_talk": 0.5}
        if run == "twice":
            gaps |= {"newsgroups_vehicles_sport": 2.0, "newsgroups_sci_pairs": -1.0}
            gaps |= {"newsgroups_religion": 0.5}
        return {
            "differences": {
                name: {"svm": {"difference": gap, "log_loss": 0.0}}
                for name, gap in gaps.items()
            },
            "accuracy": {name: {"text": method(90.0, 0, 0)} for name in gaps},
            "cost": {name: {"ratio": 1.0} for name in gaps},
        }


def test_copies_of_sets_make_no_interval_narrower():
    once, twice = (mean_difference(Copies(), [run]) for run in ("once", "twice"))
    assert twice == pytest.approx(once)
    wanted = stats.ttest_1samp([2.0, -1.0, 0.5], 0.0).confidence_interval()
    assert [once["low"], once["high"]] == pytest.approx([wanted.low, wanted.high])
