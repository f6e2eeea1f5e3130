"""What the appendix of the artifact says of hardware, time and badges."""

import tomllib
from pathlib import Path

import pandas as pd

from compendium.book.pages import citation
from compendium.execution.runs import runs
from compendium.ledger.results import read_result

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
    lines = {}
    for name, run in runs(project).items():
        result = read_result(name, project)
        size = (project / run.made()[0]).stat().st_size
        line = {"notebook": run.notebook, "seconds": result["seconds"]}
        line |= {"mib": result["mib"] or float("nan"), "kib": size / 1024}
        lines[name] = line | result["machine"]
    return pd.DataFrame.from_dict(lines, orient="index")


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
    table["mib"] = table["mib"].map("{:.0f}".format).replace("nan", "–")
    table["kib"] = table["kib"].map("{:.0f}".format)
    table.index = "`" + table.index + "`"
    return table.reset_index().astype(str).to_numpy().tolist()


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
