"""How sure a column's setting is: what other choices, and other methods, come to.

A setting that is chosen by its fit agrees with what it was fitted to, so that its
agreement says little. Three things are put beside it: how many settings there were to
choose from; how often figures agree that had no part in the choice; and how often the
figures of *another* method, which have nothing to do with ours, agree as well.
"""

import pandas as pd

from compendium.ledger import tables
from compendium.ledger.rule import ASSUMED
from compendium.ledger.settings import SETTINGS
from compendium.ledger.tables import Evidence, agreement, by_setting, chosen

# The printed column that stands for a method as a whole.
COLUMN = {"memd": "memd_js", "svm": "svm_linear", "dme": "dme"}


def as_described(frame: pd.DataFrame) -> pd.DataFrame:
    """MeMd on text as the paper describes it: one moment of counts or shares.

    Parameters
    ----------
    frame : DataFrame
        As :func:`agreement` gives it for ``memd`` on ``table3``.

    Returns
    -------
    DataFrame
        Those lines of :func:`by_setting` whose densities are exponential.
    """
    order = by_setting(frame)
    exponential = order.index.str.startswith(("exponential", "truncated"))
    return order[order["plain"] & exponential]


def leave_one_out(frame: pd.DataFrame, *, plain: bool = True) -> pd.DataFrame:
    """Each data set judged under the setting that the others choose.

    Parameters
    ----------
    frame : DataFrame
        As :func:`agreement` gives it.
    plain : bool, default=True
        Whether the choice is among the plain settings only.

    Returns
    -------
    DataFrame
        The lines of ``frame`` for these settings.
    """
    held = [frame["row"] == row for row in frame["row"].unique()]
    settings = [chosen(frame[~rows], plain=plain) for rows in held]
    return pd.concat(
        frame[rows & (frame["setting"] == setting)]
        for rows, setting in zip(held, settings, strict=True)
    )


def placebo(evidence: Evidence, table: str, method: str, column: str) -> pd.DataFrame:
    """Our figures of one method judged by what the source prints for another one.

    Parameters
    ----------
    evidence : Evidence
    table : {"table2", "table3"}
    method : str
        Whose figures of ours, under its :func:`chosen` setting.
    column : str
        Whose printed figures.

    Returns
    -------
    DataFrame
        As :func:`judged` gives it.
    """
    frame = agreement(evidence, table, method)
    mine = (frame["setting"] == chosen(frame)) & (frame["column"] == COLUMN[method])
    lines = [
        tables.cell(evidence, table, row, column, place)
        for row, place in frame.loc[mine, ["row", "place"]].itertuples(index=False)
    ]
    return tables.judged(pd.DataFrame(lines))


def summary(evidence: Evidence) -> pd.DataFrame:
    """Each method of each table under its setting, and what stands beside it.

    Returns
    -------
    DataFrame
        Indexed by ``table`` and ``method``, which are columns as well; ``tried``,
        number of settings; ``setting``, the chosen one, its ``rms`` in points;
        ``agree`` of ``figures`` by the rule, and ``agree5``, ``agree10`` if they were
        means over so many runs;
        ``left_out``, figures that agree under the setting that the other data sets
        choose among the plain ones, ``left_out_all`` of ``left_out_all_of`` among all;
        and for each method of the table ``by_...``, how many of the printed figures
        agree with our results of *that* method, a text "k of n".
    """
    lines = []
    for table, methods in SETTINGS.items():
        for method in methods:
            frame = agreement(evidence, table, method)
            order = by_setting(frame)
            setting = chosen(frame)
            best = order.loc[setting]
            line = {"table": table, "method": method, "tried": len(order)}
            line |= {"setting": setting, "rms": best["rms"]}
            line |= {name: int(best[name]) for name in ("agree", "figures")}
            for name, plain in (("left_out", True), ("left_out_all", False)):
                agrees = leave_one_out(frame, plain=plain)["agrees"]
                line |= {name: int(agrees.sum()), f"{name}_of": len(agrees)}
            line |= {f"agree{runs}": int(best[f"agree{runs}"]) for runs in ASSUMED}
            for other in methods:
                agrees = placebo(evidence, table, other, COLUMN[method])["agrees"]
                line[f"by_{other}"] = f"{agrees.sum()} of {len(agrees)}"
            lines.append(line)
    return pd.DataFrame(lines).set_index(["table", "method"], drop=False)
