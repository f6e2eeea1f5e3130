import pytest

from compendium.ledger import findings
from compendium.ledger.tables import Evidence, printed_wins

# mean and number of features of each method; differences and their p-values
ROWS = {
    "a": {"js": (90.0, 20), "svm": (80.0, 100), "dme": (85.0, 100)},
    "b": {"js": (70.0, 10), "j": (72.0, 10), "svm": (75.0, 100), "dme": (71.0, 100)},
    "c": {"js": (60.0, 50), "j": (59.5, 40), "svm": (60.0, 100)},
}
P = {
    "a": {"js_minus_svm": 0.01, "js_minus_dme": 0.2, "svm_minus_dme": 0.03},
    "b": {"js_minus_svm": 0.02, "js_minus_dme": 0.6, "j_minus_js": 0.001}
    | {"svm_minus_dme": 0.001, "j_minus_svm": 0.3},
    "c": {"js_minus_svm": 1.0, "j_minus_js": 0.5, "j_minus_svm": 0.5},
}


@pytest.fixture
def evidence(project):
    """Three rows of a table of our own, away from those of the book."""
    lines = "experiment,samples,js,svm\na,40,3,2\nb,50,2,2\nc,60,1,2\n"
    project.write("data/published/table3.csv", lines)
    for row, parts in ROWS.items():
        values = {
            name: {"accuracy": {"mean": mean}, "n_features": {"median": kept}}
            for name, (mean, kept) in parts.items()
        }
        gaps = {}
        for pair, p in P[row].items():
            one, other = (parts[name][0] for name in pair.split("_minus_"))
            ends = {"low": one - other - 3, "high": one - other + 4}
            gaps[pair] = {"difference": one - other, "p": p} | ends
        values = {"x": values | {"differences": gaps}}
        values["sizes"] = {"words": 200, "rows": 50 if row == "b" else 40}
        project.result(f"table3-{row}", values)
    return Evidence(project.root)


@pytest.mark.parametrize(
    ("one", "others", "median", "low", "high"),
    [
        # p-values .01, .02, 1 of a win, a loss and a tie; by Holm .03, .04, 1
        ("js", ["svm"], 1, 1, 2),
        ("svm", ["js"], 1, 1, 2),
        # above both in "a" with the larger p; below both in "b" with twice the less
        ("js", ["svm", "dme"], 1, 0, 3),
        ("svm", ["dme"], 1, 1, 1),
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


def test_clear_differences_of_a_family(evidence):
    pairs = [("x.js", "x.svm"), ("x.j", "x.js")]
    # .01, .02, 1, .001, .5 of five, by Holm .04, .06, 1, .005, 1
    found = findings.clear_gaps(evidence, "table3", pairs)
    assert found == {"all": 5, "positive": 2, "clear": 2}
    # a difference may stand one folder up
    evidence.values("table3-a")["x"]["full"] = ROWS["a"]
    found = findings.clear_gaps(evidence, "table3", [("x.full.js", "x.full.svm")])
    assert found == {"all": 1, "positive": 1, "clear": 1}


@pytest.mark.parametrize(
    ("one", "other", "median", "low", "high"),
    [("j", "js", 2.0, 0.0, 6.0), ("js", "svm", 10.0, 7.0, 14.0)],
)
def test_a_gap_has_no_sign(evidence, one, other, median, low, high):
    found = {"median": median, "low": low, "high": high}
    assert findings.largest_gap(evidence, "table3", f"x.{one}", f"x.{other}") == found
    assert findings.largest_gap(evidence, "table3", f"x.{other}", f"x.{one}") == found


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
