"""Measures over the runs that compare fourteen classifiers on the same rows."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from compendium.ledger.names import NAMES
from compendium.ledger.tables import Evidence
from compendium.study.contest import EVERYWHERE
from compendium.study.ranks import bayesian_signed_ranks, critical_difference, friedman

_GENES = "colon leukemia-5147 cns dlbcl prostate srbct gcm-1363 lung-1543"
# Runs by the kind of their data; no two of these sets share a row.
RUNS = {
    "gene expression": tuple(f"comparison-{name}" for name in _GENES.split()),
    "texts": ("comparison-text", "comparison-text-sci", "comparison-c50"),
    "tables": ("comparison-tables",),
    "images": ("comparison-images",),
}
ALL_RUNS = tuple(run for runs in RUNS.values() for run in runs)
# Runs in which the samples grow, by the kind of their data.
GROWING = {
    "gene expression": ("small-samples-prostate",),
    "texts": ("small-samples-ibm-mac",),
    "tables": ("small-samples-breast-cancer",),
    "simulations": tuple(
        f"small-samples-{name}" for name in ("variances", "means", "correlated")
    ),
}
# On this one no default of make_memd was picked, as far as the records say.
NOT_LOOKED_AT = ("lung_1543",)
_HIGHER_IS_BETTER = {"accuracy": 1.0, "log_loss": -1.0, "calibration": -1.0}


def printed_name(data: str) -> str:
    """What the book calls a data set of the comparison.

    Examples
    --------
    >>> printed_name("newsgroups_rec"), printed_name("wine")
    ('rec groups', 'wine')
    """
    return NAMES[data.removeprefix("newsgroups_")]


def parts_of(evidence: Evidence, runs: Sequence[str]) -> Iterator[tuple[str, dict]]:
    """Names of the data sets of some runs, with what was found on each."""
    for run in runs:
        yield from evidence.values(run)["sets"].items()


def scores(
    evidence: Evidence,
    what: str = "accuracy",
    runs: Sequence[str] = ALL_RUNS,
    methods: Sequence[str] = EVERYWHERE,
) -> pd.DataFrame:
    """One number of each method on each data set, a mean over the draws.

    Parameters
    ----------
    evidence : Evidence
    what : {"accuracy", "log_loss", "calibration", "features", "fit", "predict"}
    runs : sequence of str
    methods : sequence of str

    Returns
    -------
    DataFrame
        A row for each data set, a column for each method.
    """
    rows = {
        name: [part["methods"][m][what] for m in methods]
        for name, part in parts_of(evidence, runs)
    }
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(methods))
    return table.map(lambda value: value["mean"] if isinstance(value, dict) else value)


def rank_lead(
    evidence: Evidence, runs: Sequence[str], what: str, one: str, other: str
) -> dict[str, float]:
    """By how many average ranks one method is before another.

    The bounds are the critical difference of Nemenyi's test away: the whole range is
    above zero only if the two are told apart.
    """
    table = _HIGHER_IS_BETTER[what] * scores(evidence, what, runs)
    ranks = dict(zip(table, friedman(table).ranks, strict=True))
    lead = float(ranks[other] - ranks[one])
    far = critical_difference(table.shape[1], len(table))
    return {"median": lead, "low": lead - far, "high": lead + far}


def chance_further(
    evidence: Evidence, runs: Sequence[str], one: str, other: str, outcome: str
) -> dict[str, float]:
    """Bayesian signed-rank probability of an outcome on a set that no default has seen.

    Parameters
    ----------
    evidence : Evidence
    runs : sequence of str
    one, other : str
    outcome : {"worse", "equal", "better"}
        Of the first in accuracy, by more than a point, or within it.

    Returns
    -------
    dict
        ``median``: over the frozen sets among these, or over all if there is none.
        ``low`` and ``high``: the same, but 0 and 1 with none. Sets that the defaults
        were picked on say nothing about further ones.
    """
    table = scores(evidence, "accuracy", runs, (one, other))
    new = table.loc[table.index.isin(evidence.frozen().kinds)]
    chosen = table if new.empty else new
    probabilities = bayesian_signed_ranks(chosen[one] - chosen[other])
    middle = getattr(probabilities, outcome)
    low, high = (0.0, 1.0) if new.empty else (middle, middle)
    return {"median": middle, "low": low, "high": high}


def gap_at(
    evidence: Evidence, run: str, one: str, other: str, rows: int
) -> dict[str, float]:
    """Difference of two accuracies at one size of the sample, with its interval.

    The interval of 95 per cent is Student's, from the differences in each draw, in
    which both methods have the same rows.
    """
    values = evidence.values(run)
    at = values["sizes"].index(rows)
    draws = (values["methods"][m]["accuracy_by_draw"][at] for m in (one, other))
    gaps = np.subtract(*draws)
    middle = float(gaps.mean())
    half = float(stats.t.ppf(0.975, gaps.size - 1) * stats.sem(gaps))
    return {"median": middle, "low": middle - half, "high": middle + half}


def share_above_at(
    evidence: Evidence, kinds: Sequence[str], one: str, other: str, rows: int
) -> dict[str, float]:
    """Share of data sets on which one method is more accurate at a size of the sample.

    Parameters
    ----------
    evidence : Evidence
    kinds : sequence of str
        Keys of :data:`GROWING`; of their runs those that have this size.
    one, other : str
    rows : int

    Returns
    -------
    dict
        The bounds count those on which the whole interval of :func:`gap_at` is above
        zero, and those on which any part of it is.
    """
    runs = [run for kind in kinds for run in GROWING[kind]]
    runs = [run for run in runs if rows in evidence.values(run)["sizes"]]
    gaps = pd.DataFrame([gap_at(evidence, run, one, other, rows) for run in runs])
    return {key: float((gaps[key] > 0).mean()) for key in gaps}
