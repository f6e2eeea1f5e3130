"""Samples that grow: every draw of every size."""

import pandas as pd

from compendium.study.contest import LABELS

RUNS = ("small-samples-*",)
DATA_SETS = {
    "small-samples-prostate": "prostate cancer",
    "small-samples-ibm-mac": "ibm.pc against mac",
    "small-samples-breast-cancer": "breast cancer",
    "small-samples-variances": "simulated: variances",
    "small-samples-means": "simulated: means",
    "small-samples-correlated": "simulated: correlated",
}


def draws(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each draw of a training sample: accuracy in per cent, and log-loss."""
    lines = []
    for run, data_set in DATA_SETS.items():
        for method, part in results[run]["methods"].items():
            for index, size in enumerate(results[run]["sizes"]):
                by_draw = zip(
                    part["accuracy_by_draw"][index],
                    part["log_loss_by_draw"][index],
                    strict=True,
                )
                for draw, (accuracy, log_loss) in enumerate(by_draw):
                    line = {"data set": data_set, "classifier": LABELS[method]}
                    line |= {"observations": size, "draw": draw}
                    lines.append(line | {"accuracy": accuracy, "log_loss": log_loss})
    return pd.DataFrame(lines)


def bayes(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each simulation: accuracy and log-loss of the Bayes rule."""
    return pd.DataFrame(
        [
            {"data set": data_set} | results[run]["bayes"]
            for run, data_set in DATA_SETS.items()
            if "bayes" in results[run]
        ]
    )


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of the small samples."""
    return {
        "small-samples-draws": draws(results),
        "small-samples-bayes": bayes(results),
    }
