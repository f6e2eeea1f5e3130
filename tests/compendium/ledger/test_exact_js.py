import pytest

from compendium.ledger.exact_js import gains, mean_gain
from compendium.ledger.findings import MEASURES


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


def test_every_set_of_every_run_counts_once():
    found = gains(Three(), RUNS, "JS less JS_GM")
    assert {name: gap["difference"] for name, gap in found.items()} == {
        "colon": 5.0,
        "srbct": -1.0,
        "gcm_1363": 2.0,
    }
    found = gains(Three(), RUNS, "JS less JS_GM", "auto", "loss")
    assert found["srbct"]["difference"] == pytest.approx(-0.2)


def test_mean_and_the_squares_of_half_widths():
    assert MEASURES["mean_gain"] is mean_gain
    assert mean_gain(Three(), RUNS, "JS less JS_GM") == pytest.approx(
        {"median": 2.0, "low": 2.0 - 5.0 / 3, "high": 2.0 + 5.0 / 3}
    )
    shrunken = mean_gain(Three(), RUNS, "JS less JS_GM", "auto")
    assert shrunken == pytest.approx({"median": 1.0, "low": 1.0, "high": 1.0})
