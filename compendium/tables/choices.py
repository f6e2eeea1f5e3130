"""Rules that choose among the candidates of make_memd, or mix them."""

import pandas as pd

from compendium.ledger.comparison import printed_name

RUNS = ("choices-*",)
KINDS = {"choices-genes": "gene expression", "choices-tables": "tables"}


def folds(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each test fold: rows that a rule classifies correctly."""
    lines = []
    for run, kind in KINDS.items():
        for name, counts in results[run]["counts"].items():
            for rule, correct in counts["correct"].items():
                for draw, by_fold in enumerate(correct):
                    for fold, right in enumerate(by_fold):
                        line = {"kind": kind, "data set": printed_name(name)}
                        line |= {"rule": rule, "draw": draw, "fold": fold}
                        line["correct"] = right
                        line["tested"] = counts["tested"][draw][fold]
                        lines.append(line)
    return pd.DataFrame(lines)


def losses(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each data set and rule: log-loss in nats a row."""
    lines = []
    for run, kind in KINDS.items():
        for rule, part in results[run]["rules"].items():
            for name, values in part["by_set"].items():
                line = {"kind": kind, "data set": printed_name(name), "rule": rule}
                lines.append(line | {"log_loss": values["log_loss"]})
    return pd.DataFrame(lines)


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of the choices."""
    return {"choices-folds": folds(results), "choices-losses": losses(results)}
