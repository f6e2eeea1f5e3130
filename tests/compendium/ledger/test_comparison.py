import numpy as np
import pytest
from scipy import stats

from compendium.ledger.comparison import (
    ALL_RUNS,
    COMPARISON,
    GROWING,
    NOT_LOOKED_AT,
    chance,
    chance_further,
    gap_at,
    printed_name,
    rank_lead,
    scores,
    share_above_at,
)
from compendium.ledger.findings import MEASURES
from compendium.ledger.frozen import Frozen
from compendium.ledger.tables import Evidence
from compendium.study.contest import EVERYWHERE
from compendium.study.ranks import bayesian_signed_ranks

RUNS = ("one", "two")
rng = np.random.default_rng(0)
ACCURACY = rng.integers(60, 100, (6, len(EVERYWHERE))).astype(float)
ACCURACY[:, 0] = 99.0 - np.arange(6)  # best but for one set
ACCURACY[5, 1] = 99.0


class Six:
    """Evidence with two runs on three data sets each, and one on few rows."""

    def values(self, run):
        if run == "few":
            part = {"accuracy": [70.0, 80.0], "accuracy_error": [0.3, 0.4]}
            other = {"accuracy": [75.0, 78.0], "accuracy_error": [0.4, 0.3]}
            return {"sizes": [10, 20], "methods": {"plain": part, "svm": other}}
        first = 3 * RUNS.index(run)
        return {
            "sets": {
                f"set{i}": {
                    "methods": {
                        m: {
                            "accuracy": {"mean": ACCURACY[i, j]},
                            "log_loss": 100 - ACCURACY[i, j],
                        }
                        for j, m in enumerate(EVERYWHERE)
                    }
                }
                for i in range(first, first + 3)
            }
        }


def test_scores_of_all_runs():
    table = scores(Six(), "accuracy", RUNS)
    assert (table.to_numpy() == ACCURACY).all()
    assert list(table.index) == [f"set{i}" for i in range(6)]
    losses = scores(Six(), "log_loss", ("two",), ("svm", "plain"))
    assert losses.loc["set4", "plain"] == 100 - ACCURACY[4, 1]


def test_lead_in_ranks():
    ranks = stats.rankdata(-ACCURACY, axis=1).mean(axis=0)
    for what in ("accuracy", "log_loss"):  # the same order
        found = rank_lead(Six(), RUNS, what, "make_memd", "svm")
        j = EVERYWHERE.index("svm")
        assert found["median"] == pytest.approx(ranks[j] - ranks[0])
        far = stats.studentized_range.ppf(0.95, 14, np.inf) * np.sqrt(14 * 15 / 72)
        assert found["high"] - found["low"] == pytest.approx(2 * far)


def test_chances_of_two_methods():
    ones = [
        chance(Six(), RUNS, "make_memd", "svm", outcome)
        for outcome in ("worse", "equal", "better")
    ]
    assert sum(ones) == pytest.approx(1.0)
    assert chance(Six(), RUNS, "make_memd", "svm", "equal", rope=50.0) == 1.0


def test_sets_that_shaped_the_defaults_decide_nothing():
    class Aside(Six):
        def __init__(self, *names):
            self.names = names

        def frozen(self):
            return Frozen(None, dict.fromkeys(self.names, "table"))

    given = RUNS, "make_memd", "svm", "better"
    assert chance_further(Aside("else"), *given) == {
        "median": chance(Six(), *given),
        "low": 0.0,
        "high": 1.0,
    }
    gap = ACCURACY[3:5, 0] - ACCURACY[3:5, EVERYWHERE.index("svm")]
    wanted = bayesian_signed_ranks(gap).better
    found = chance_further(Aside("set3", "set4"), *given)
    assert set(found.values()) == {wanted}


def test_gap_at_a_size():
    found = gap_at(Six(), "few", "plain", "svm", 20)
    assert found == pytest.approx({"median": 2.0, "low": 1.0, "high": 3.0})
    assert gap_at(Six(), "few", "plain", "svm", 10)["median"] == -5.0


def test_share_of_sets_at_a_size(monkeypatch):
    monkeypatch.setitem(GROWING, "two kinds", ("few", "few"))
    found = share_above_at(Six(), ["two kinds"], "plain", "svm", 20)
    assert found == {"median": 1.0, "low": 1.0, "high": 1.0}
    assert share_above_at(Six(), ["two kinds"], "plain", "svm", 10)["high"] == 0.0


def test_sets_without_a_size_do_not_count(monkeypatch):
    class Two(Six):
        def values(self, run):
            if run == "few":
                return super().values(run)
            part = {"accuracy": [70.0], "accuracy_error": [0.1]}
            other = {"accuracy": [10.0], "accuracy_error": [0.1]}
            return {"sizes": [40], "methods": {"plain": part, "svm": other}}

    monkeypatch.setitem(GROWING, "kind", ("few", "many"))
    assert share_above_at(Two(), ["kind"], "plain", "svm", 10)["median"] == 0.0
    assert share_above_at(Two(), ["kind"], "plain", "svm", 40)["median"] == 1.0


def test_every_set_has_a_name_and_stands_once():
    names = list(scores(Evidence()).index)
    assert len(set(names)) == len(names)
    assert set(NOT_LOOKED_AT) <= set(names)
    assert len({printed_name(name) for name in names}) == len(names)
    assert len(set(ALL_RUNS)) == len(ALL_RUNS)


def test_the_samples_that_grow_have_their_sizes():
    for kind in GROWING:
        for run in GROWING[kind]:
            values = Evidence().values(run)
            for m in ("make_memd", "plain", "svm", "forest"):
                assert len(values["methods"][m]["accuracy"]) == len(values["sizes"])


def test_the_ledger_knows_the_measures():
    assert COMPARISON.items() <= MEASURES.items()
