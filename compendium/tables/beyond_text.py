"""The recommended classifier for texts and its peers: folds, log-losses and times."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from compendium.ledger.comparison import printed_name

RUNS = ("beyond-text", "beyond-text-official")
KINDS = {
    "beyond-text": "texts, Table III",
    "beyond-text-official": "texts, official halves",
}
METHODS = {
    "text": "make_memd",
    "text_plain": "make_memd, words unweighted",
    "text_alone": "make_memd, no second score",
    "memd": "multinomial MeMd",
    "svm": "linear SVM",
    "svm_loss": "linear SVM, C by log-loss",
    "logistic": "L2 logistic",
    "complement": "ComplementNB",
    "multinomial": "naive Bayes",
}


def methods(results: dict[str, dict]) -> Iterator[tuple[dict, dict, float]]:
    """Every method on every collection: key, result, and seconds of a fit."""
    for run, kind in KINDS.items():
        for name, by_method in results[run]["accuracy"].items():
            seconds = results[run]["cost"][name]["seconds"]
            for method, label in METHODS.items():
                if method in by_method:
                    key = {"kind": kind, "data set": printed_name(name)}
                    key |= {"classifier": label}
                    yield key, by_method[method], seconds[method]


def folds(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each test fold: documents classified correctly."""
    lines = []
    for key, part, _ in methods(results):
        for draw, counts in enumerate(part["correct"]):
            for fold, correct in enumerate(counts):
                line = key | {"draw": draw, "fold": fold, "correct": correct}
                line["tested"] = part["tested"][draw][fold]
                lines.append(line)
    return pd.DataFrame(lines)


def losses(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each draw of the folds: log-loss in nats a document."""
    lines = []
    for key, part, _ in methods(results):
        for draw, by_fold in enumerate(part["log_loss_by_fold"]):
            loss = np.average(by_fold, weights=part["tested"][draw])
            lines.append(key | {"draw": draw, "log_loss": loss})
    return pd.DataFrame(lines)


def times(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each method on a collection: seconds of a fit."""
    return pd.DataFrame(
        [key | {"fit_seconds": seconds} for key, _, seconds in methods(results)]
    )


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of the texts."""
    return {
        "beyond-text-folds": folds(results),
        "beyond-text-losses": losses(results),
        "beyond-text-times": times(results),
    }
