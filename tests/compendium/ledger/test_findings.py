import numpy as np
import pytest
from scipy import stats

from compendium.ledger import findings
from compendium.ledger.tables import Evidence, printed_wins

# Differences of two methods that vary along one of these have a p-value of our choice;
# along both, they are doubtful.
ALONG = np.array([1.0, -1.0] * 5)
ACROSS = np.array([1, 1, -1, -1, 1, 1, -1, -1, 0, 0])
# Nadeau and Bengio's scale of a difference that varies by one along ALONG
SCALE = np.sqrt((1 / 10 + 1 / 1) * 10 / 9)
SURE, DOUBTFUL = 0.0, 9.0


def varying(difference, p):
    """By how much a difference must vary along ALONG for this p-value."""
    return difference / (SCALE * stats.t.isf(p / 2, 9))


# of each method the mean, the number of features, and how it varies along and across
ROWS = {
    "a": {"js": (90, 20, SURE, 0), "svm": (80, 100, SURE, 0)}
    | {"dme": (85, 100, DOUBTFUL, 0)},
    "b": {"js": (70, 10, SURE, 0), "j": (72, 10, SURE, 0)}
    | {"svm": (75, 100, varying(5, 0.012), 0), "dme": (71, 100, 0, DOUBTFUL)},
    "c": {"js": (60, 50, SURE, 0), "j": (59.5, 40, 3, 0), "svm": (60, 100, SURE, 0)},
}


def method(mean, kept, along, across):
    """A method's part of a result: five repeats of two folds with a hundred rows."""
    correct = (mean + along * ALONG + across * ACROSS).reshape(5, 2)
    part = {"accuracy": {"mean": mean}, "correct": correct.tolist()}
    return part | {"n_features": {"median": kept}}


@pytest.fixture
def evidence(project):
    """Three rows of a table of our own, away from those of the book."""
    lines = "experiment,samples,js,svm\na,40,3,2\nb,50,2,2\nc,60,1,2\n"
    project.write("data/published/table3.csv", lines)
    for row, parts in ROWS.items():
        tested = {"tested": np.full((5, 2), 100).tolist()}
        values = {"x": {name: method(*part) for name, part in parts.items()}}
        # the rows tested stand beside the methods, or further up
        (values if row == "a" else values["x"]).update(tested)
        values["sizes"] = {"words": 200, "rows": 50 if row == "b" else 40}
        project.result(f"table3-{row}", values)
    return Evidence(project.root)


@pytest.mark.parametrize(
    ("one", "others", "median", "low", "high"),
    [
        # p-values 0, .012, 1 of a win, a loss and a tie; by Holm 0, .024, 1
        ("js", ["svm"], 1, 1, 2),
        ("svm", ["js"], 1, 1, 2),
        # above both in "a" with the larger p; below both in "b" with twice the less
        ("js", ["svm", "dme"], 1, 0, 3),
        ("svm", ["dme"], 1, 0, 2),
        ("j", ["js"], 1, 1, 2),
        ("dme", ["lost"], 0, 0, 0),
    ],
)
def test_wins_are_strict_and_range_over_what_is_clear(
    evidence, one, others, median, low, high
):
    places = [f"x.{other}" for other in others]
    for order in (places, places[::-1]):
        found = findings.wins(evidence, "table3", f"x.{one}", order)
        assert found == {"median": median, "low": low, "high": high}


def test_a_difference_needs_the_rows_that_were_tested(evidence):
    del evidence.values("table3-b")["x"]["tested"]
    with pytest.raises(KeyError, match=r"stand in no folder of x\.js"):
        findings.wins(evidence, "table3", "x.js", ["x.svm"])


def test_the_range_of_the_largest_gap_is_over_all_rows(evidence):
    half = stats.t.ppf(0.975, 9) * SCALE
    # the largest is sure to be 2, and another may be larger
    wanted = {"median": 2.0, "low": 2.0, "high": 0.5 + 3 * half}
    for pair in (["x.j", "x.js"], ["x.js", "x.j"]):
        found = findings.largest_gap(evidence, "table3", *pair)
        assert found == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("early", "late", "median", "low", "high"),
    [
        # a tie in "c" goes to the late one
        (["js"], ["svm"], 1, 1, 2),
        (["svm"], ["js"], 1, 1, 2),
        # in "b" the later of two is above both; twice its p-value is no longer clear
        (["js", "early"], ["late", "svm"], 1, 0, 3),
    ],
)
def test_the_best_of_some_against_the_best_of_others(
    evidence, early, late, median, low, high
):
    for row, more in {"a": "dme", "b": "js", "c": "js"}.items():
        part = evidence.values(f"table3-{row}")["x"]
        part["early"] = part["late"] = part[more]
    sides = [[f"x.{name}" for name in side] for side in (early, late)]
    found = findings.best_early(evidence, "table3", *sides)
    assert found == {"median": median, "low": low, "high": high}


def test_the_best_of_more_is_not_compared_with_the_best_of_fewer(evidence):
    with pytest.raises(ValueError, match="2 early places, 1 late ones"):
        findings.best_early(evidence, "table3", ["x.js", "x.svm"], ["x.j"])


def test_the_best_is_sought_where_all_were_run(evidence):
    with pytest.raises(KeyError, match=r"row of table3 lacks one of .*x\.dme"):
        findings.best_early(evidence, "table3", ["x.js"], ["x.dme"])


def test_the_mean_difference_over_runs(evidence):
    runs = ["table3-a", "table3-b"]
    found = findings.mean_gap_over_runs(evidence, runs, "x.js", "x.svm")
    # one has no doubt, so that half the range of the other is left
    half = stats.t.ppf(0.975, 9) * SCALE * varying(5, 0.012) / 2
    wanted = {"median": 2.5, "low": 2.5 - half, "high": 2.5 + half}
    assert found == pytest.approx(wanted)


def test_printed_wins_and_sizes(evidence):
    assert printed_wins(evidence, "table3", "js", ["svm"]) == 1
    assert findings.sizes_met(evidence, "table3", "samples", "sizes.rows") == 2


def test_the_share_kept_is_a_median_over_rows(evidence):
    # 20, 10 and 50 of 200 words: a mean would be 13.3
    kept = findings.median_share_kept(evidence, "table3", "x.js", "sizes.words")
    assert kept == 10.0


def test_slopes_and_levels(evidence, project):
    slope = {"median": 1.0, "low": 0.8, "high": 1.1}
    other = {"median": 0.25, "low": 0.0, "high": 0.5}
    best = {"near": {"codelength": 5, "accuracy": [4, 5]}}
    best["far"] = {"codelength": 7, "accuracy": [4, 5]}
    project.result("r", {"one": slope, "other": other, "best": best})
    found = findings.difference_of_slopes(evidence, "r", "one", "other")
    assert found == pytest.approx({"median": 0.75, "low": 0.3, "high": 1.1})
    assert findings.at_the_shortest(evidence, "r", "best.near") == 1
    assert findings.at_the_shortest(evidence, "r", "best.far") == 0
