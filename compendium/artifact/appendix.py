"""What the appendix of the artifact says of hardware, time and badges."""

import tomllib
from math import isnan
from pathlib import Path

import pandas as pd

from compendium.build.pages import citation
from compendium.build.runs import runs
from compendium.ledger.results import read_result, result_path

_BADGES = Path(__file__).with_name("badges.toml")


def costs(project: Path) -> pd.DataFrame:
    """What each run took, as far as its result records it.

    Returns
    -------
    DataFrame
        Indexed by run: ``notebook``, ``seconds``, ``mib`` (of memory; not a number
        for results older than its record), ``kib`` (of the result), ``processor``,
        ``cores``, ``system``. No result records disk while it runs.
    """
    frame = pd.DataFrame(
        {"notebook": run.notebook}
        | {"seconds": result["seconds"], "mib": result["mib"] or float("nan")}
        | {"kib": result_path(project, run.name).stat().st_size / 1024}
        | {part: result["machine"][part] for part in ("processor", "cores", "system")}
        for run in runs(project).values()
        for result in [read_result(run.name, project)]
    )
    return frame.set_axis([*runs(project)])


def cost_rows(frame: pd.DataFrame) -> list[list[str]]:
    """Costs of each notebook: runs, seconds of all and of the longest, MiB, KiB.

    Memory is that of the run that took most, where any records it.
    """
    table = frame.groupby("notebook", sort=False).agg(
        runs=("seconds", "size"),
        total=("seconds", "sum"),
        longest=("seconds", "max"),
        mib=("mib", "max"),
        kib=("kib", "sum"),
    )
    return [
        [
            f"`{row.Index}`",
            str(row.runs),
            str(row.total),
            str(row.longest),
            "–" if isnan(row.mib) else f"{row.mib:.0f}",
            f"{row.kib:.0f}",
        ]
        for row in table.itertuples()
    ]


def machines(frame: pd.DataFrame) -> list[list[str]]:
    """Kinds of machine with the number of runs that they made, the most frequent first.

    Returns
    -------
    list of list of str
        Processor, cores, system, runs.
    """
    kinds = frame[["processor", "cores", "system"]].value_counts()
    return [[*map(str, kind), str(n)] for kind, n in kinds.items()]


def badge_rows(project: Path) -> list[list[str]]:
    """Badges with what they ask, what stands for it, and what is missing.

    Returns
    -------
    list of list of str
    """
    badges = tomllib.loads(_BADGES.read_text("utf-8"))
    if "doi" in citation(project):
        del badges["Artifacts Available"]["missing"]
    return [
        [badge, part["asks"], part["here"], part.get("missing", "–")]
        for badge, part in badges.items()
    ]
