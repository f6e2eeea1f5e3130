import numpy as np
import pytest
from scipy import stats

from compendium.ledger import comparison
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
            part = {"accuracy_by_draw": [[70.0, 72.0, 68.0], [80.0, 82.0, 78.0]]}
            other = {"accuracy_by_draw": [[75.0, 78.0, 72.0], [78.0, 79.0, 77.0]]}
            return {"sizes": [10, 20], "methods": {"plain": part, "svm": other}}
        sets = {}
        for i in np.arange(3) + 3 * RUNS.index(run):
            parts = [
                {"accuracy": {"mean": x}, "log_loss": 100 - x} for x in ACCURACY[i]
            ]
            sets[f"set{i}"] = {"methods": dict(zip(EVERYWHERE, parts, strict=True))}
        return {"sets": sets}


def test_lead_in_ranks():
    ranks = stats.rankdata(-ACCURACY, axis=1).mean(axis=0)
    for what in ("accuracy", "log_loss"):  # the same order
        found = comparison.rank_lead(Six(), RUNS, what, "make_memd", "svm")
        j = EVERYWHERE.index("svm")
        assert found["median"] == pytest.approx(ranks[j] - ranks[0])
        far = stats.studentized_range.ppf(0.95, 14, np.inf) * np.sqrt(14 * 15 / 72)
        assert found["high"] - found["low"] == pytest.approx(2 * far)


def test_sets_that_shaped_the_defaults_decide_nothing():
    def chance(*aside):
        evidence = Six()
        evidence.frozen = lambda: Frozen(None, dict.fromkeys(aside, "table"))
        return comparison.chance_further(evidence, RUNS, "make_memd", "svm", "better")

    gap = ACCURACY[:, 0] - ACCURACY[:, EVERYWHERE.index("svm")]
    median = bayesian_signed_ranks(gap).better
    assert chance("else") == {"median": median, "low": 0.0, "high": 1.0}
    wanted = bayesian_signed_ranks(gap[3:5]).better
    assert set(chance("set3", "set4").values()) == {wanted}


def test_gap_and_share_of_sets_at_a_size(monkeypatch):
    found = comparison.gap_at(Six(), "few", "plain", "svm", 20)
    low, high = stats.ttest_rel([80, 82, 78], [78, 79, 77]).confidence_interval()
    assert found == pytest.approx({"median": 2.0, "low": low, "high": high})
    assert comparison.gap_at(Six(), "few", "plain", "svm", 10)["median"] == -5.0
    monkeypatch.setitem(comparison.GROWING, "two kinds", ("few", "few"))
    share = comparison.share_above_at(Six(), ["two kinds"], "plain", "svm", 20)
    assert low < 0 and share == {"median": 1.0, "low": 0.0, "high": 1.0}
    share = comparison.share_above_at(Six(), ["two kinds"], "plain", "svm", 10)
    assert set(share.values()) == {0.0}


def test_every_set_has_a_name_and_stands_once():
    names = list(comparison.scores(Evidence()).index)
    assert set(comparison.NOT_LOOKED_AT) <= set(names)
    assert len({comparison.printed_name(name) for name in names}) == len(names)
    assert len(set(comparison.ALL_RUNS)) == len(comparison.ALL_RUNS)
