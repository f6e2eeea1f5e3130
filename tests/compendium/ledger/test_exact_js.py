import numpy as np
import pandas as pd
import pytest

from compendium.ledger.exact_js import mean_gain
from compendium.ledger.tables import Evidence
from compendium.project import root


class Three:
    """Evidence with two runs, of two sets and of one."""

    def values(self, run):
        def part(difference, half):
            ends = {"low": difference - half, "high": difference + half}
            gap = {"difference": difference} | ends
            losses = {k: v / -10.0 for k, v in gap.items()}
            return {"differences": {"JS less JS_GM": {"correct": gap, "loss": losses}}}

        if run == "genes":
            return {
                "sets": {
                    "colon": {"0.0": part(5.0, 3.0), "auto": part(1.0, 0.0)},
                    "srbct": {"0.0": part(-1.0, 4.0), "auto": part(2.0, 0.0)},
                }
            }
        return {"sets": {"gcm_1363": {"0.0": part(2.0, 0.0), "auto": part(0.0, 0.0)}}}


RUNS = ("genes", "more")


def test_mean_and_the_squares_of_half_widths():
    assert mean_gain(Three(), RUNS, "JS less JS_GM") == pytest.approx(
        {"median": 2.0, "low": 2.0 - 5.0 / 3, "high": 2.0 + 5.0 / 3}
    )
    shrunken = mean_gain(Three(), RUNS, "JS less JS_GM", "auto")
    assert shrunken == pytest.approx({"median": 1.0, "low": 1.0, "high": 1.0})


@pytest.mark.parametrize(
    ("query", "orders", "shrinkage"),
    [
        (
            "variances == 'plain' and order == 'JS' and reference == 'JS_GM'",
            "JS less JS_GM",
            "0.0",
        ),
        (
            "variances == 'shrunken' and order == 'held-out' and reference == 'JS'",
            "rows less JS",
            "auto",
        ),
    ],
)
def test_the_table_of_gains_gives_what_the_verdicts_use(query, orders, shrinkage):
    gains = pd.read_csv(root() / "data" / "tables" / "exact-js-gains.csv")
    part = gains.query(f"group == 'genes' and {query}")
    half = np.sqrt(((part["high"] - part["low"]) ** 2).sum()) / 2 / len(part)
    runs = ("exact-js-genes", "exact-js-gcm-1363")
    used = mean_gain(Evidence(), runs, orders, shrinkage)
    assert used["median"] == pytest.approx(part["gain"].mean())
    assert used["high"] - used["median"] == pytest.approx(half)
