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
            part = {"accuracy": [70.0, 80.0], "accuracy_error": [0.3, 0.4]}
            other = {"accuracy": [75.0, 78.0], "accuracy_error": [0.4, 0.3]}
            methods = {"plain": part, "svm": other}
            return {"sizes": [10, 20], "draws": 10, "methods": methods}
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
    half = 0.5 * 2.2621571628  # the quantile of a table, nine degrees of freedom
    assert found == pytest.approx({"median": 2.0, "low": 2 - half, "high": 2 + half})
    assert comparison.gap_at(Six(), "few", "plain", "svm", 10)["median"] == -5.0
    monkeypatch.setitem(comparison.GROWING, "two kinds", ("few", "few"))
    for size, share in ((20, 1.0), (10, 0.0)):
        found = comparison.share_above_at(Six(), ["two kinds"], "plain", "svm", size)
        assert set(found.values()) == {share}


def test_every_set_has_a_name_and_stands_once():
    names = list(comparison.scores(Evidence()).index)
    assert set(comparison.NOT_LOOKED_AT) <= set(names)
    assert len({comparison.printed_name(name) for name in names}) == len(names)
    assert len(set(comparison.ALL_RUNS)) == len(comparison.ALL_RUNS)
