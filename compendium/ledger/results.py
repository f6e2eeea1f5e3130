"""Results of experiments: one JSON file a run, values beside their provenance."""

import json
from pathlib import Path

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
    return json.loads(path.read_text())


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
