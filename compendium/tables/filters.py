"""Filters of genes: accuracy and stability of their choices, and gains over J."""

import pandas as pd

from compendium.ledger.names import NAMES

RUNS = ("filters-*",)
GROUPS = {"filters-two": "two", "filters-many": "several"}


def choices(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each choice of ten or fifty genes by a filter.

    Accuracies of the two classifiers are in per cent, with the standard deviation of
    one draw of the folds.
    """
    lines = []
    for run, classes in GROUPS.items():
        for dataset, by_genes in results[run]["sets"].items():
            for genes, by_filter in by_genes.items():
                if genes == "tested":  # rows of the folds, which stand beside them
                    continue
                for name in results[run]["filters"]:
                    part = by_filter[name]
                    line = {"classes": classes, "dataset": NAMES[dataset]}
                    line |= {"filter": name, "genes": int(genes)}
                    for classifier, accuracy in part["accuracy"].items():
                        column = classifier.replace(" ", "_")
                        line[column] = accuracy["mean"]
                        line[f"{column}_sd"] = accuracy["sd"]
                    lines.append(line | {"stability": part["stability"]})
    return pd.DataFrame(lines)


def gains(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each filter but J: the gain of logistic regression over J's choice.

    In points, means over the data sets, with their interval.
    """
    lines = []
    for run, classes in GROUPS.items():
        for genes, by_filter in results[run]["against_j"].items():
            for name, gap in by_filter.items():
                line = {"classes": classes, "filter": name, "genes": int(genes)}
                line |= {"gain": gap["difference"]}
                lines.append(line | {"low": gap["low"], "high": gap["high"]})
    return pd.DataFrame(lines)


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of the filters."""
    return {
        "filters-choices": choices(results),
        "filters-gains": gains(results),
    }
