"""Results of experiments: one JSON file a run, values beside their provenance."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from compendium.project import canonical_json, root, write_whole

RESULT = "result.json"


def result_path(project: Path, name: str) -> Path:
    """File of a run's result."""
    return project / "data" / "results" / f"{name}.json"


def read_result(name: str, project: Path | None = None) -> dict:
    """Result of a run, with its provenance.

    Raises
    ------
    FileNotFoundError
        If the run has not been made; names the command that makes it.
    """
    path = result_path(project or root(), name)
    if not path.is_file():
        how = f"make it with 'make experiments RUNS={name}'"
        raise FileNotFoundError(f"no result for the run {name!r}; {how}")
    return json.loads(path.read_text(encoding="utf-8"))


def write_result(values: dict) -> None:
    """Leave the result of an experiment where the runner collects it.

    Parameters
    ----------
    values : dict
        Numbers, strings, lists and dicts; no NaN.
    """
    write_whole(Path(RESULT), canonical_json(values))


def fold_counts(parts: dict[str, dict[str, NDArray]]) -> pd.DataFrame:
    """Rows classified rightly in every fold of every repeat.

    Parameters
    ----------
    parts : dict
        Name to counts, as :func:`compendium.study.protocols.repeated_accuracy` returns
        them.

    Returns
    -------
    DataFrame
        A row for each method and repeat, with ``right_f of_f`` for each fold f.
    """
    tables = []
    for method, part in parts.items():
        columns = {"method": method, "repeat": range(len(part["correct"]))}
        folds = zip(part["correct"].T, part["tested"].T, strict=True)
        for f, (right, of) in enumerate(folds):
            columns |= {f"right_{f}": right, f"of_{f}": of}
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def wrong_means(values: dict, tested: list | None = None, at: str = "") -> list[str]:
    """Means that are not those of the counts, draws or sets that stand beside them.

    Parameters
    ----------
    values : dict
        Of a result, or a part of it.
    tested : list, optional
        Rows that were tested in each repeat, or in each of its folds, if the values
        around the part say so.
    at : str
        Place of the part.

    Returns
    -------
    list of str
        A sentence for each, with its place; empty if all are right.

    Examples
    --------
    >>> svm = {"accuracy": {"mean": 95.0}, "correct": [[9, 9]]}
    >>> wrong_means({"svm": svm, "tested": [[10, 10]]})
    ['svm.accuracy.mean is 95.0, what stands beside it says 90.0']
    """
    tested = values.get("tested", tested)
    sentences = []
    for place, stored, recomputed in _recomputed_means(values, tested):
        if recomputed is None:
            problem = "cannot be computed from the counts and rows beside it"
        elif not math.isclose(stored, recomputed, rel_tol=1e-9, abs_tol=1e-6):
            problem = f"is {stored}, what stands beside it says {recomputed}"
        else:
            continue
        sentences.append(f"{at}.{place}".lstrip(".") + f" {problem}")
    for key, part in values.items():
        if isinstance(part, dict):
            sentences += wrong_means(part, tested, f"{at}.{key}".lstrip("."))
    return sentences


def _recomputed_means(
    part: dict, tested: list | None
) -> Iterator[tuple[str, float, float | None]]:
    """Place and value of each mean of a part, and what its neighbours make of it."""
    for key in ("accuracy", "log_loss"):
        if f"{key}_by_draw" in part:
            yield from _recomputed_from_draws(key, part[key], part[f"{key}_by_draw"])
    if "by_set" in part:
        for key in ("accuracy", "log_loss"):
            of_sets = [one[key] for one in part["by_set"].values()]
            yield key, part[key], fmean(of_sets)
    elif "mean" in part and "correct" in part:  # of the counts themselves
        yield "mean", part["mean"], fmean(part["correct"])
    elif "accuracy" in part and "correct" in part:
        yield from _recomputed_accuracies(part["accuracy"], part["correct"], tested)


def _recomputed_from_draws(
    key: str, stored: float | list, draws: list
) -> Iterator[tuple[str, float, float]]:
    """The same of one mean over draws, or of one for each of several sizes."""
    if isinstance(stored, list):
        for i, (mean, of_size) in enumerate(zip(stored, draws, strict=True)):
            yield f"{key}.{i}", mean, fmean(of_size)
    else:
        yield key, stored, fmean(draws)


def _recomputed_accuracies(
    accuracy: dict,
    correct: dict | list | None,
    tested: list | None,
    at: str = "accuracy",
) -> Iterator[tuple[str, float, float | None]]:
    """The same of accuracies in per cent and their counts, which have the same keys."""
    if "mean" not in accuracy:
        for key, part in accuracy.items():
            counts = correct.get(key)
            yield from _recomputed_accuracies(part, counts, tested, f"{at}.{key}")
        return
    if correct is not None and tested is not None:
        right = np.asarray(correct)
        rows = np.asarray(tested)
        if right.ndim == 2:  # repeats and their folds
            right = right.sum(axis=1)
            rows = rows.sum(axis=1)
        recomputed = float(np.mean(100 * right / rows))
    else:
        recomputed = None
    yield f"{at}.mean", accuracy["mean"], recomputed
