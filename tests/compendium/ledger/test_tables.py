import numpy as np
import pytest
from scipy import stats

from compendium.ledger import columns, tables
from compendium.ledger.columns import leave_one_out, placebo, summary
from compendium.ledger.settings import FOLDS, SETTINGS, Setting
from compendium.ledger.tables import (
    Evidence,
    accuracies,
    agreement,
    by_setting,
    chosen,
    judged,
)

MEMD = [
    Setting("near", {"memd_js": "a.js", "memd_j": "a.j"}),
    Setting("far", {"memd_js": "a.far"}),
    Setting("tuned", {"memd_js": "a.tuned"}, plain=False),
    Setting("never run", {"memd_js": "a.lost"}),
]
SVM = [Setting("counts", {"svm_linear": "a.svm"})]


@pytest.fixture
def evidence(project, monkeypatch):
    """Two rows of a table, one of two classes and one of four, and their results."""
    head = "experiment,classes,samples,svm_linear,memd_j,memd_js,groups\n"
    rows = "two,2,100,90,80,80,a / b\nfour,4,100,70,60,50,c\n"
    project.write("data/published/table3.csv", head + rows)

    def part(mean):
        return {"accuracy": {"mean": mean, "sd": 1.0}, "correct": [0] * 10}

    for row, means in (
        ("two", {"svm": 91.0, "js": 80.5, "far": 85.0, "tuned": 80.0, "j": 80.5}),
        ("four", {"svm": 80.0, "js": 52.0, "far": 45.0, "tuned": 50.0, "j": 59.5}),
    ):
        parts = {name: part(mean) for name, mean in means.items()}
        project.result(f"table3-{row}", {"a": parts})
    monkeypatch.setattr(tables, "SETTINGS", {"table3": {"memd": MEMD, "svm": SVM}})
    monkeypatch.setattr(columns, "SETTINGS", tables.SETTINGS)
    return Evidence(project.root)


def test_figures_of_two_classes_have_no_j(evidence):
    frame = agreement(evidence, "table3", "memd")
    found = frame[["setting", "row", "column", "printed", "ours"]].to_numpy().tolist()
    assert found == [
        ["near", "two", "memd_js", 80.0, 80.5],
        ["near", "four", "memd_js", 50.0, 52.0],
        ["near", "four", "memd_j", 60.0, 59.5],
        ["far", "two", "memd_js", 80.0, 85.0],
        ["far", "four", "memd_js", 50.0, 45.0],
        ["tuned", "two", "memd_js", 80.0, 80.0],
        ["tuned", "four", "memd_js", 50.0, 50.0],
    ]
    assert (frame["repeats"] == 10).all()
    gap = np.array([0.5, 2, 0.5, 5, 5, 0, 0])
    quantile = stats.t.ppf(0.975, 9)
    half = quantile * np.sqrt(1 + 1 / 10) + 0.005
    np.testing.assert_allclose(frame["high"] - frame["ours"], half)
    np.testing.assert_allclose(frame["ours"] - frame["low"], half)
    assert frame["agrees"].tolist() == (gap <= half).tolist()
    half = quantile * np.sqrt(1 / 5 + 1 / 10) + 0.005
    assert frame["agrees5"].tolist() == (gap <= half).tolist()


def test_accuracies_of_a_method_by_row(evidence):
    found = accuracies(evidence, "table3", "a.svm")
    assert found.to_dict() == {"two": 91.0, "four": 80.0}
    assert accuracies(evidence, "table3", "a.lost").isna().tolist() == [True, True]


def test_settings_by_their_fit(evidence):
    frame = agreement(evidence, "table3", "memd")
    order = by_setting(frame)
    assert order.index.tolist() == ["tuned", "near", "far"]
    assert order["figures"].tolist() == [2, 3, 2]
    assert order["agree"].tolist() == [2, 3, 0]
    assert order["agree5"].tolist() == [2, 2, 0]
    assert order.loc["near", "rms"] == pytest.approx(np.sqrt((0.25 + 4 + 0.25) / 3))
    assert order.loc["near", "mean"] == pytest.approx(2 / 3)
    assert chosen(frame) == "near"
    assert chosen(frame, plain=False) == "tuned"
    # one that lacks a data set is in no choice
    less = frame[(frame["setting"] != "near") | (frame["row"] == "four")]
    assert chosen(less) == "far"


def test_the_data_set_left_out_has_no_part_in_the_choice(evidence):
    frame = agreement(evidence, "table3", "memd").copy()
    # "far" comes nearer on "two", "near" on "four"
    frame.loc[(frame["setting"] == "far") & (frame["row"] == "two"), "ours"] = 80.1
    frame = judged(frame)
    found = leave_one_out(frame)[["row", "setting"]].drop_duplicates()
    assert found.to_numpy().tolist() == [["two", "near"], ["four", "far"]]
    assert set(leave_one_out(frame, plain=False)["setting"]) == {"tuned"}


def test_a_placebo_is_another_method_judged_by_the_same_figures(evidence):
    found = placebo(evidence, "table3", "svm", "memd_js")
    beside = found[["row", "printed", "ours"]].to_numpy().tolist()
    assert beside == [["two", 80.0, 91.0], ["four", 50.0, 80.0]]
    assert not found["agrees"].any()
    other = placebo(evidence, "table3", "svm", "memd_j")
    assert other["printed"].tolist() == [80.0, 60.0]


def test_the_summary_has_a_line_for_each_method(evidence):
    lines = dict(summary(evidence).iterrows())
    memd, svm = lines["table3", "memd"], lines["table3", "svm"]
    found = [memd[key] for key in ("tried", "setting", "agree", "figures")]
    assert found == [3, "near", 3, 3]
    assert (memd["by_svm"], svm["by_memd"]) == ("0 of 2", "0 of 2")
    assert (memd["by_memd"], svm["by_svm"]) == ("2 of 2", "1 of 2")
    assert (svm["left_out"], svm["left_out_of"], svm["agree10"]) == (1, 2, 1)


@pytest.mark.parametrize("table", SETTINGS)
def test_every_setting_of_the_book_was_run_on_every_data_set(table):
    evidence = Evidence()
    rows = evidence.rows(table)
    for method, listed in SETTINGS[table].items():
        assert len({setting.label for setting in listed}) == len(listed)
        frame = agreement(evidence, table, method)
        for setting in listed:
            mine = frame[frame["setting"] == setting.label]
            for column in setting.places:
                least = 2 if column == "memd_j" else 1
                classes = {r: evidence.printed(table, r)["classes"] for r in rows}
                wanted = {row for row in rows if classes[row] > least}
                assert set(mine.loc[mine["column"] == column, "row"]) == wanted
        repeats = frame.groupby("row")["repeats"]
        assert (repeats.nunique() == 1).all() and (repeats.min() >= 5).all()
    assert table in FOLDS
