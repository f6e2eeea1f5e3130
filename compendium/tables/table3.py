"""Table III: groups of the 20 Newsgroups, by part of the text and method."""

from collections.abc import Iterator

import pandas as pd

from compendium.ledger.names import NAMES
from compendium.ledger.published import by_first_column
from compendium.ledger.settings import SETTINGS, TEXTS
from compendium.ledger.tables import run_of

RUNS = ("table3-*",)
EDITIONS = ("paper", "complete")
COLUMNS = {
    "svm_linear": "svm",
    "dme": "dme",
    "memd_j": "memd_j",
    "memd_js": "memd_js",
}


def values_of(results: dict[str, dict]) -> Iterator[tuple[str, dict]]:
    """Every task, in the order of the paper, and the values of its run."""
    for task in by_first_column("table3"):
        yield task, results[run_of("table3", task)]


def methods(values: dict, edition: str) -> Iterator[tuple[dict, dict]]:
    """Every method of one edition of a task: the key of its lines, and its result."""
    for text, words in TEXTS.items():
        for method, part in values[edition].get(text, {}).items():
            yield {"edition": edition, "text": words, "method": method}, part


def folds(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each test fold: messages classified correctly, and words kept."""
    lines = []
    for task, values in values_of(results):
        for edition in EDITIONS:
            if edition not in values:
                continue
            tested = values[edition]["tested"]
            for key, part in methods(values, edition):
                kept = part["n_features"]["by_fold"]
                for draw, counts in enumerate(part["correct"]):
                    for fold, correct in enumerate(counts):
                        line = {"task": task} | key | {"draw": draw, "fold": fold}
                        line["correct"] = correct
                        line["tested"] = tested[draw][fold]
                        line["words"] = kept[draw][fold]
                        lines.append(line)
    return pd.DataFrame(lines)


def sizes(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each number of words: accuracy and stability of the first so many.

    They are of whole messages in the edition of the paper.
    """
    lines = []
    for task, values in values_of(results):
        for method, part in values["paper"]["full"].items():
            curve = part.get("curve", {"n_features": [], "accuracy": []})
            accuracy = dict(zip(curve["n_features"], curve["accuracy"], strict=True))
            stability = {int(size): s for size, s in part.get("stability", {}).items()}
            for size in sorted({*accuracy, *stability}):
                line = {"task": task, "method": method, "words": size}
                line["accuracy"] = accuracy.get(size)
                line["stability"] = stability.get(size)
                lines.append(line)
    return pd.DataFrame(lines)


def chosen(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each word that is often first, with its share of random halves."""
    lines = []
    for task, values in values_of(results):
        for method, part in values["paper"]["full"].items():
            for position, word in enumerate(part.get("chosen", []), start=1):
                line = {"task": task, "method": method, "position": position}
                lines.append(line | {"word": word["name"], "share": word["share"]})
    return pd.DataFrame(lines)


def settings() -> pd.DataFrame:
    """A line for each setting of a printed column: which folds it is computed from.

    ``as_described`` is whether the setting keeps to what the paper describes. All
    settings are of the edition of the paper.
    """
    lines = []
    for group, options in SETTINGS["table3"].items():
        for option in options:
            for column, place in option.places.items():
                _, text, method = place.split(".", 2)
                line = {"group": NAMES[group], "setting": option.label}
                line |= {"column": COLUMNS[column], "text": TEXTS[text]}
                line |= {"method": method, "as_described": option.plain}
                lines.append(line)
    return pd.DataFrame(lines)


def tasks(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each task, in the order of the paper: its sizes, ours and printed."""
    lines = []
    printed = by_first_column("table3")
    for task, values in values_of(results):
        size = values["sizes"]["paper"]["full"]
        lines.append(
            {
                "task": task,
                "name": NAMES[task],
                "classes": values["sizes"]["classes"],
                "classes_published": int(printed[task]["classes"]),
                "messages": size["documents"],
                "messages_published": int(printed[task]["samples"]),
                "words": size["words"],
                "words_published": int(printed[task]["features"]),
            }
        )
    return pd.DataFrame(lines)


def published() -> pd.DataFrame:
    """A line for each printed accuracy.

    For two classes MeMd-J and MeMd-JS are one algorithm, whose accuracy is printed
    twice: it has one line.
    """
    lines = []
    for task, record in by_first_column("table3").items():
        for printed_column, column in COLUMNS.items():
            if column == "memd_j" and int(record["classes"]) == 2:
                continue
            line = {"task": task, "column": column}
            lines.append(line | {"printed": float(record[printed_column])})
    return pd.DataFrame(lines)


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of Table III."""
    return {
        "table3-folds": folds(results),
        "table3-sizes": sizes(results),
        "table3-chosen": chosen(results),
        "table3-settings": settings(),
        "table3-tasks": tasks(results),
        "table3-published": published(),
    }
