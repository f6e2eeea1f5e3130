"""Table II: gene expression, by preparation of the values and method."""

from collections.abc import Iterator

import pandas as pd

from compendium.ledger.names import FILES, NAMES
from compendium.ledger.published import by_first_column
from compendium.ledger.tables import FILTERED

RUNS = ("table2-*",)
PREPARATIONS = ("raw", "log", "standardised", "log, standardised")


def methods(results: dict[str, dict]) -> Iterator[tuple[dict, dict]]:
    """Every method of every run: the key of its lines, and its result."""
    for run, values in results.items():
        for preparation in PREPARATIONS:
            for method, part in values.get(preparation, {}).items():
                if method == "differences":
                    continue
                yield (
                    {
                        "dataset": dataset_of(run),
                        "preparation": preparation,
                        "method": method,
                    },
                    part,
                )


def dataset_of(run: str) -> str:
    """Name of the data set of a run."""
    return run.removeprefix("table2-").replace("-", "_")


def folds(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each test fold: patients classified correctly, and genes kept."""
    tested = {dataset_of(run): values["tested"] for run, values in results.items()}
    lines = []
    for key, part in methods(results):
        kept = part["n_features"]["by_fold"]
        for draw, counts in enumerate(part["correct"]):
            for fold, correct in enumerate(counts):
                line = key | {"draw": draw, "fold": fold, "correct": correct}
                line["tested"] = tested[key["dataset"]][draw][fold]
                line["genes"] = kept[draw][fold]
                lines.append(line)
    return pd.DataFrame(lines)


def sizes(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each number of genes: accuracy and stability of the first so many."""
    lines = []
    for key, part in methods(results):
        curve = part.get("curve", {"n_features": [], "accuracy": []})
        accuracy = dict(zip(curve["n_features"], curve["accuracy"], strict=True))
        stability = {int(size): s for size, s in part.get("stability", {}).items()}
        for size in sorted({*accuracy, *stability}):
            line = key | {"genes": size, "accuracy": accuracy.get(size)}
            lines.append(line | {"stability": stability.get(size)})
    return pd.DataFrame(lines)


def chosen(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each gene that is often first, with its share of random halves."""
    lines = []
    for key, part in methods(results):
        for position, gene in enumerate(part.get("chosen", []), start=1):
            line = key | {"position": position, "gene": gene["name"]}
            lines.append(line | {"share": gene["share"]})
    return pd.DataFrame(lines)


def joint(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each number of genes: how the joint Gaussian fares on them."""
    lines = []
    for run, values in results.items():
        for preparation, by_genes in values["joint"].items():
            for genes, part in by_genes.items():
                line = {"dataset": dataset_of(run), "preparation": preparation}
                lines.append(line | {"genes": int(genes)} | part)
    return pd.DataFrame(lines)


def datasets(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each data set, in the order of the paper."""
    lines = []
    for row in by_first_column("table2"):
        dataset = FILTERED.get(row, row)
        sizes = results[f"table2-{dataset.replace('_', '-')}"]["sizes"]
        lines.append(
            {
                "dataset": dataset,
                "name": NAMES[dataset],
                "samples": sizes["rows"],
                "genes": sizes["features"],
                "classes": sizes["classes"],
                "as_published": dataset not in FILES,
            }
        )
    return pd.DataFrame(lines)


def published() -> pd.DataFrame:
    """A line for each printed accuracy.

    For two classes MeMd-J and MeMd-JS are one algorithm, whose accuracy is printed
    twice: it has one line.
    """
    columns = {"svm_linear": "svm", "memd_j": "memd_j", "memd_js": "memd_js"}
    lines = []
    for row, record in by_first_column("table2").items():
        for printed_column, column in columns.items():
            if column == "memd_j" and int(record["classes"]) == 2:
                continue
            line = {"dataset": FILTERED.get(row, row), "column": column}
            lines.append(line | {"printed": float(record[printed_column])})
    return pd.DataFrame(lines)


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of Table II."""
    return {
        "table2-folds": folds(results),
        "table2-sizes": sizes(results),
        "table2-chosen": chosen(results),
        "table2-joint": joint(results),
        "table2-datasets": datasets(results),
        "table2-published": published(),
    }
