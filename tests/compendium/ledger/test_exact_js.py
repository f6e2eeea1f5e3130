import pytest

from compendium.ledger.exact_js import mean_gain


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
