"""What was found in the data: sizes, vocabularies, encoded files, copies, probes."""

import pandas as pd

from compendium.ledger.names import NAMES

RUNS = ("found",)
TEXTS = {"full": "whole message", "subject": "subject and body", "body": "body"}


def messages(values: dict) -> pd.DataFrame:
    """A line for each task of Table III: its messages, printed and in two copies."""
    lines = []
    for task, size in values["sizes"].items():
        line = {"task": NAMES[task], "printed": size["printed"]}
        line |= {"damaged": size["paper"], "complete": size["complete"]}
        lines.append(line)
    return pd.DataFrame(lines)


def damaged(values: dict) -> pd.DataFrame:
    """A line for each group of which half is missing."""
    return pd.DataFrame(
        [{"group": group} | sizes for group, sizes in sorted(values["damaged"].items())]
    )


def vocabulary(values: dict) -> pd.DataFrame:
    """A line for each rule of what a word is: words divided by the printed number.

    ``low`` and ``high`` are the range over the eleven tasks.
    """
    lines = []
    for rule in values["vocabulary"]:
        line = {"text": TEXTS[rule["text"]], "letters": rule["letters"]}
        line |= {key: rule[key] for key in ("rule", "low", "high")}
        lines.append(line)
    return pd.DataFrame(lines)


def attachments(values: dict) -> pd.DataFrame:
    """A line for each newsgroup: messages with encoded files, and their words."""
    return pd.DataFrame(
        [{"group": group} | counts for group, counts in values["attachments"].items()]
    )


def genes(values: dict) -> pd.DataFrame:
    """A line for each file of gene expression: signs of copying and of clipping."""
    lines = []
    for dataset, part in values["genes"].items():
        line = {"dataset": NAMES.get(dataset, dataset), "samples": part["rows"]}
        line |= {"genes": part["features"], "copies": part["copies"]}
        line |= {"at_floor": part["at_floor"], "negative": part["negative"]}
        lines.append(line | {"constant_in_a_class": part["flat_in_a_class"]})
    return pd.DataFrame(lines)


def probes(values: dict) -> pd.DataFrame:
    """A line for each kind of probe of the leukemia data: how many the copy kept."""
    leukemia = values["leukemia"]
    kinds = [
        {"probes": "all", "kept": leukemia["kept"], "of": leukemia["of"]},
        {
            "probes": "controls",
            "kept": leukemia["control_kept"],
            "of": leukemia["control"],
        },
    ]
    return pd.DataFrame(kinds)


def thresholds(values: dict) -> pd.DataFrame:
    """A line for each statistic: per cent of probes that its best threshold meets."""
    leukemia = values["leukemia"]
    correct = {"none: all are kept": leukemia["all_kept"]} | leukemia["thresholds"]
    return pd.DataFrame(correct.items(), columns=["statistic", "correct"])


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of what was found."""
    values = results["found"]
    return {
        "found-messages": messages(values),
        "found-damaged": damaged(values),
        "found-vocabulary": vocabulary(values),
        "found-attachments": attachments(values),
        "found-genes": genes(values),
        "found-probes": probes(values),
        "found-thresholds": thresholds(values),
    }
