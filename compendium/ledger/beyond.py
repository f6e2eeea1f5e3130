"""Measures over the runs that compare the recommended classifier with its peers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from compendium.data.registry import entries
from compendium.ledger.comparison import RUNS, scores
from compendium.ledger.tables import Evidence

# Runs that compare the recommended classifier with its peers, by kind of data.
DUELS = {
    "gene expression": RUNS["gene expression"],
    "texts, Table III": ("beyond-text",),
    "texts, official halves": ("beyond-text-official",),
    "tables": RUNS["tables"],
}


@dataclass(frozen=True)
class Duel:
    """The recommended classifier and a linear support vector machine on one data set.

    Parameters
    ----------
    name : str
    difference, low, high : float
        Of their accuracies in points, with the interval of the difference; without
        repeats the interval is that number.
    accuracy : float
        Of the recommended classifier, in per cent.
    loss : float
        Its log-loss less that of the support vector machine, in nats.
    cost : float
        Its time to fit over that of the other, choices of both included.
    """

    name: str
    difference: float
    low: float
    high: float
    accuracy: float
    loss: float
    cost: float


def duels(evidence: Evidence, runs: Sequence[str]) -> Iterator[Duel]:
    """All data sets of some runs, with what they say of the two classifiers.

    Parameters
    ----------
    evidence : Evidence
    runs : sequence of str
        On expression values or tables (``comparison-colon``), or on texts
        (``beyond-text``).
    """
    for run in runs:
        values = evidence.values(run)
        for name, part in values.get("sets", {}).items():
            ours, machine = (part["methods"][m] for m in ("make_memd", "svm"))
            yield Duel(
                name,
                *_ends(part["differences"]["svm"]),
                accuracy=ours["accuracy"]["mean"],
                loss=ours["log_loss"] - machine["log_loss"],
                cost=ours["fit"] / machine["fit"],
            )
        for name, against in values.get("differences", {}).items():
            yield Duel(
                name,
                *_ends(against["svm"]),
                accuracy=values["accuracy"][name]["text"]["accuracy"]["mean"],
                loss=against["svm"]["log_loss"],
                cost=values["cost"][name]["ratio"],
            )


def _ends(gap: dict) -> tuple[float, float, float]:
    """A difference and its interval, which without repeats is that number."""
    point = gap["difference"]
    return point, gap.get("low", point), gap.get("high", point)


def clusters(names: Sequence[str]) -> list[list[str]]:
    """Data sets that share rows, directly or by way of others.

    Tasks from the 20 Newsgroups share messages if they share a group.

    Parameters
    ----------
    names : sequence of str
        Of data sets.

    Returns
    -------
    list of list of str
        Each name in one of them.

    Examples
    --------
    >>> clusters(["colon", "newsgroups_rec", "newsgroups_vehicles_sport"])
    [['colon'], ['newsgroups_rec', 'newsgroups_vehicles_sport']]
    """
    known = entries()
    components: list[tuple[set, list[str]]] = []
    for name in names:
        groups = known[name].settings.get("groups", {}) if name in known else {}
        rows = set().union(*groups.values()) or {name}
        joined = [one for one in components if one[0] & rows]
        components = [one for one in components if not one[0] & rows]
        rows = rows.union(*(part for part, _ in joined))
        members = [member for _, part in joined for member in part]
        components.append((rows, [*members, name]))
    return [members for _, members in components]


def mean_difference(evidence: Evidence, runs: Sequence[str]) -> dict[str, float]:
    """Mean difference over data sets, in points, with its interval of 95 per cent.

    Sets that share rows count as one cluster. The interval is Student's, from the
    spread between clusters: it speaks of the mean over clusters of sets of which these
    would be a random sample, and which they are not.

    Returns
    -------
    dict
        ``median``, that mean; ``low`` and ``high``, infinite with one cluster.

    References
    ----------
    .. [1] Liang and Zeger, Longitudinal data analysis using generalized linear models,
       Biometrika 73 (1986): the variance from sums of residuals by cluster.
    """
    return _over_clusters({d.name: d.difference for d in duels(evidence, runs)})


def mean_gap(
    evidence: Evidence, runs: Sequence[str], one: str, other: str
) -> dict[str, float]:
    """Mean difference of two methods on expression values or tables, in points.

    With the interval of :func:`mean_difference`.
    """
    table = scores(evidence, "accuracy", runs, (one, other))
    return _over_clusters(dict(table[one] - table[other]))


def _over_clusters(gaps: dict[str, float]) -> dict[str, float]:
    middle = float(np.mean(list(gaps.values())))
    sums = [sum(gaps[name] - middle for name in part) for part in clusters(list(gaps))]
    n = len(sums)
    half = np.inf
    if n > 1:
        error = np.sqrt(n / (n - 1)) * np.linalg.norm(sums) / len(gaps)
        half = float(stats.t.ppf(0.975, n - 1) * error)
    return {"median": middle, "low": middle - half, "high": middle + half}


def duel_rows(evidence: Evidence) -> list[list[str]]:
    """What the duels say, a row for each kind of data in ``DUELS``.

    Returns
    -------
    list of list of str
        Kind; number of sets; mean difference of the accuracies with its interval, if it
        has one, and least difference, in points; sets with the lower log-loss; range of
        the ratios of times.
    """
    rows = []
    for kind, runs in DUELS.items():
        duels_of_kind = list(duels(evidence, runs))
        mean = mean_difference(evidence, runs)
        points = f"{mean['median']:+.1f}"
        if np.isfinite(mean["low"]):
            points += f" ({mean['low']:.1f} to {mean['high']:.1f})"
        costs = [duel.cost for duel in duels_of_kind]
        least = min(duel.difference for duel in duels_of_kind)
        better = str(sum(duel.loss < 0 for duel in duels_of_kind))
        row = [kind, str(len(duels_of_kind)), points, f"{least:+.1f}", better]
        rows.append([*row, f"{min(costs):.2f} to {max(costs):.2f}"])
    return rows


def least_difference(evidence: Evidence, runs: Sequence[str]) -> dict[str, float]:
    """Difference on the data set where it is least, and the least of both bounds."""
    return _of_differences(evidence, runs, np.min)


def share_ahead(evidence: Evidence, runs: Sequence[str]) -> dict[str, float]:
    """Share of data sets with a difference above zero.

    The bounds count those whose whole interval is, and those of which any part is.
    """
    return _of_differences(evidence, runs, lambda points: np.mean(points > 0))


def _of_differences(evidence, runs, how: Callable) -> dict[str, float]:
    table = np.array([(d.difference, d.low, d.high) for d in duels(evidence, runs)])
    middle, low, high = (float(how(points)) for points in table.T)
    return {"median": middle, "low": low, "high": high}


def share_better_informed(evidence: Evidence, runs: Sequence[str]) -> float:
    """Share of data sets on which the log-loss is the lower one."""
    return float(np.mean([d.loss < 0 for d in duels(evidence, runs)]))


def share_as_fast(evidence: Evidence, runs: Sequence[str]) -> dict[str, float]:
    """Share of data sets on which the fit takes at most as long.

    Ratios of times were seen to move by a tenth with what else the computer did: the
    bounds count the ratios that are a tenth below one, and up to a tenth above.
    """
    costs = np.array([d.cost for d in duels(evidence, runs)])
    limits = {"median": 1.0, "low": 0.9, "high": 1.1}
    return {name: float(np.mean(costs <= most)) for name, most in limits.items()}


def share_above_printed(evidence: Evidence, runs: Sequence[str], table: str) -> float:
    """Share of the rows of a published table whose MeMd-JS is below ours.

    Data sets that the table does not print do not count.
    """
    ours = {d.name.removeprefix("newsgroups_"): d for d in duels(evidence, runs)}
    printed = {row: evidence.printed(table, row) for row in evidence.rows(table)}
    shared = printed.keys() & ours
    return float(np.mean([ours[r].accuracy > printed[r]["memd_js"] for r in shared]))
