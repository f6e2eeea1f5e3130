"""A gate from the outcomes of folds to the means of a result and its record's tables.

A run leaves the counts of every fold in a CSV beside its record, means in its result,
and tables in its record. Here the means are computed again from the counts.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from compendium.build.chapters import read_notebook
from compendium.build.display import number
from compendium.ledger.results import read_result

_FOLD = re.compile(r"(right|of)_\d+")
_NO_LABEL = ("repeat", "accuracy")  # columns beside the folds that name nothing
_CLOSE = 1e-6  # per cent; some results are rounded to as much
_NUMBER = re.compile(r"(?<![\d.,])[−-]?\d[\d,]*(?:\.\d+)?")


def means_of_folds(table: pd.DataFrame) -> dict[tuple[str, ...], float]:
    """Accuracy of each method of a table of counts, mean over its repeats.

    Parameters
    ----------
    table : DataFrame
        As :func:`compendium.ledger.results.fold_counts` makes it, with further columns
        that say of what the counts are.

    Returns
    -------
    dict
        The labels of a method to per cent; empty for a table that counts no folds.
    """
    folds = [name for name in table if _FOLD.fullmatch(name)]
    if not folds:
        return {}
    by = [name for name in table if name not in (*folds, *_NO_LABEL)]
    found = {}
    for labels, part in table.astype(dict.fromkeys(by, str)).groupby(by, sort=False):
        right, of = (part.filter(regex=f"^{w}_").sum(axis=1) for w in ("right", "of"))
        named = tuple(label for label in labels if label != "nan")
        found[named] = float((100.0 * right / of).mean())
    return found


def stored_means(values: Mapping, path=()) -> Iterator[tuple[tuple[str, ...], float]]:
    """Places in a result with a mean accuracy, and these means."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            if "mean" in value and key != "log_loss":
                yield (*path, key), value["mean"]
            elif isinstance(value.get("accuracy"), float):
                yield (*path, key), value["accuracy"]
            yield from stored_means(value, (*path, key))


def places_of(labels: tuple[str, ...], places) -> list[tuple[str, ...]]:
    """Places whose keys say all that the labels say, each or several in a list."""
    wanted = _parts(*labels)
    return [
        place
        for place in places
        if wanted == _parts(*(key for key in place if _parts(key) <= wanted))
    ]


def _parts(*labels: str) -> set[str]:
    return {part for label in labels for part in label.split(", ")}


def wrong_means(project: Path, run: str) -> list[str]:
    """Means of a run that are not those of its folds, or not in its record.

    Parameters
    ----------
    project : Path
        Checkout.
    run : str
        With a result and a record.

    Returns
    -------
    list of str
        A line for each problem. A run whose CSV files count no folds has none.
    """
    values = read_result(run, project)["values"]
    said = values.get("labels", {})  # what records call the keys
    stored = {
        tuple(said.get(key, key) for key in place): mean
        for place, mean in stored_means(values)
    }
    problems, means = [], []
    for file in sorted((project / "book/records").glob(f"{run}-*.csv")):
        if file.stem.removesuffix("-accuracy").removesuffix("-table") != run:
            continue
        for labels, mean in means_of_folds(pd.read_csv(file)).items():
            places = places_of(labels, stored)
            if len(places) != 1:
                problems.append(f"{run}: {labels} stands for {len(places)} means")
            elif abs(stored[places[0]] - mean) > _CLOSE:
                problems.append(
                    f"{run}: the mean of {labels} is {stored[places[0]]:.4f}, that of "
                    f"its folds {mean:.4f}"
                )
            means.append(mean)
    if not means:
        return problems
    # a record prints all its accuracies with as many digits
    missing = min(
        (_not_printed(means, digits, project, run) for digits in (1, 2)), key=len
    )
    return problems + [f"{run}: no table of its record has {text}" for text in missing]


def _not_printed(means: list[float], digits: int, project: Path, run: str) -> list[str]:
    due = Counter(number(mean, digits) for mean in means)
    return sorted((due - printed_numbers(project, run)).elements())


def printed_numbers(project: Path, run: str) -> Counter:
    """Numbers in the tables of a run's record, as they are printed."""
    record = read_notebook(project / "book/records" / f"{run}.ipynb")
    texts = [
        output["data"]["text/markdown"]
        for cell in record.cells
        for output in cell.get("outputs", [])
        if "text/markdown" in output.get("data", {})
    ]
    return Counter(found[0] for text in texts for found in _NUMBER.finditer(text))
