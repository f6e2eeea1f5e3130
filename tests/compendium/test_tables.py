"""The tidy tables are those of the stored results, and say when they are not."""

import shutil

import pandas as pd
import pytest

from compendium.project import root
from compendium.tables import comparison, table2, write


def test_the_stored_tables_are_those_of_the_results():
    assert write.outdated(root()) == []


@pytest.mark.parametrize("family", write.families())
def test_every_family_reads_runs_that_there_are(family):
    module = write.families()[family]
    results = write.read_results(root())
    for pattern in module.RUNS:
        assert any(pd.Series([*results]).str.fullmatch(pattern.replace("*", ".*")))


def test_an_edited_and_a_forgotten_table_are_found(tmp_path, monkeypatch):
    folder = tmp_path / write.FOLDER
    shutil.copytree(root() / write.FOLDER, folder)
    monkeypatch.setattr(write, "derive", lambda project: {"runs.csv": "run\na\n"})
    for path in folder.glob("*.csv"):
        path.unlink()
    (folder / "runs.csv").write_bytes(b"run\nb\n")
    (folder / "old.csv").write_bytes(b"run\n")
    problems = write.outdated(tmp_path)
    assert [problem.split(":")[0] for problem in problems] == [
        "data/tables/old.csv",
        "data/tables/runs.csv",
    ]


def test_counts_of_the_folds_give_the_accuracies_of_the_results():
    results = {
        run: result["values"]
        for run, result in write.read_results(root()).items()
        if run.startswith("table2-")
    }
    folds = pd.read_csv(root() / write.FOLDER / "table2-folds.csv")
    draws = folds.groupby(["dataset", "preparation", "method", "draw"])
    sums = draws[["correct", "tested"]].sum()
    shares = 100 * sums["correct"] / sums["tested"]
    means = shares.groupby(["dataset", "preparation", "method"]).mean()
    for key, part in table2.methods(results):
        assert means.loc[tuple(key.values())] == pytest.approx(part["accuracy"]["mean"])


def test_paired_counts_of_code_lengths_are_the_differences_of_the_correct_ones():
    rules = pd.read_csv(root() / write.FOLDER / "nml-rules.csv")
    ranked = pd.read_csv(root() / write.FOLDER / "nml-ranked.csv")
    by_nml = {
        "rule": rules[rules["rule"] == "m by NML"],
        "ranking": ranked[ranked["ranking"] == "NML"],
    }
    for key, table in (("rule", rules), ("ranking", ranked)):
        same = [column for column in ("genes", "classifier") if column in table]
        nml = by_nml[key][[*same, "correct"]]
        both = table.merge(nml, on=same, suffixes=("", "_nml")).dropna()
        assert len(both) >= 20
        lead = both["nml_only"] - both["this_only"]
        assert (lead == both["correct_nml"] - both["correct"]).all()


def test_counts_and_losses_of_the_comparison_give_the_means_of_the_results():
    results = {
        run: result["values"]
        for run, result in write.read_results(root()).items()
        if run.startswith("comparison-")
    }
    method = ["kind", "data set", "classifier"]
    folds = pd.read_csv(root() / write.FOLDER / "comparison-folds.csv")
    sums = folds.groupby([*method, "draw"])[["correct", "tested"]].sum()
    shares = (100 * sums["correct"] / sums["tested"]).groupby(method).mean()
    losses = pd.read_csv(root() / write.FOLDER / "comparison-losses.csv")
    losses = losses.groupby(method)["log_loss"].mean()
    for key, part, _ in comparison.methods(results):
        name = tuple(key.values())
        assert shares[name] == pytest.approx(part["accuracy"]["mean"])
        assert losses[name] == pytest.approx(part["log_loss"])
