"""The comparison of classifiers: correct rows, log-losses, calibration and times."""

from collections.abc import Iterator

import pandas as pd

from compendium.ledger.comparison import NOT_LOOKED_AT, printed_name
from compendium.ledger.comparison import RUNS as RANKED
from compendium.study.contest import LABELS

RUNS = ("comparison-*",)
# Runs by the kind of their data, in the order of the chapter.
KINDS = {
    **RANKED,
    "mixed tables": ("comparison-mixed",),
    "simulations": ("comparison-simulated",),
}
SIMULATIONS = {
    "variances_few": "variances, 20 features",
    "variances_many": "variances, 1,000 features",
    "means_many": "means, 1,000 features",
    "correlated": "correlated, 200 features",
    "words": "words",
}


def data_sets(results: dict[str, dict]) -> Iterator[tuple[dict, str, dict]]:
    """Every data set: the key of its lines, its identifier, and its result."""
    for kind, runs in KINDS.items():
        for run in runs:
            sets = results[run]["sets"]
            names = SIMULATIONS if kind == "simulations" else sets
            for name in names:
                printed = SIMULATIONS.get(name) or printed_name(name)
                yield {"kind": kind, "data set": printed}, name, sets[name]


def methods(results: dict[str, dict]) -> Iterator[tuple[dict, dict, list]]:
    """Every classifier on every data set: key, result, and rows of each test fold."""
    for key, _, part in data_sets(results):
        for method, label in LABELS.items():
            if method in part["methods"]:
                measured = part["methods"][method]
                yield key | {"classifier": label}, measured, part["tested"]


def folds(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each test fold: rows classified correctly, and features looked at."""
    lines = []
    for key, part, tested in methods(results):
        for draw, counts in enumerate(part["correct"]):
            for fold, correct in enumerate(counts):
                line = key | {"draw": draw, "fold": fold, "correct": correct}
                line["tested"] = tested[draw][fold]
                line["features"] = part["features_by_fold"][draw][fold]
                lines.append(line)
    return pd.DataFrame(lines)


def losses(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each draw of the folds: log-loss in nats a row."""
    return pd.DataFrame(
        [
            key | {"draw": draw, "log_loss": loss}
            for key, part, _ in methods(results)
            for draw, loss in enumerate(part["log_loss_by_draw"])
        ]
    )


def times(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each classifier on a data set: time of a fit, and calibration.

    Seconds include everything that is chosen; the expected calibration error is in per
    cent.
    """
    lines = []
    for key, part, _ in methods(results):
        line = key | {"fit_seconds": part["fit"]}
        lines.append(line | {"calibration_error": 100 * part["calibration"]})
    return pd.DataFrame(lines)


def datasets(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each data set: its size, and the Bayes rule where the truth is known.

    ``shaped_defaults`` says whether a default of make_memd was chosen on it.
    """
    lines = []
    for key, name, part in data_sets(results):
        rows, features, classes = part["shape"]
        line = key | {"rows": rows, "features": features, "classes": classes}
        line["shaped_defaults"] = name not in NOT_LOOKED_AT
        best = part.get("bayes", {"accuracy": None, "log_loss": None})
        line["bayes_accuracy"] = best["accuracy"]
        line["bayes_log_loss"] = best["log_loss"]
        lines.append(line)
    return pd.DataFrame(lines)


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of the comparison."""
    return {
        "comparison-folds": folds(results),
        "comparison-losses": losses(results),
        "comparison-times": times(results),
        "comparison-datasets": datasets(results),
    }
