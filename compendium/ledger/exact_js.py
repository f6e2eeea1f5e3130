"""Measures over the runs that compare the bound with exact and greedy divergences."""

from collections.abc import Sequence

import numpy as np

from compendium.ledger.tables import Evidence


def mean_gain(
    evidence: Evidence,
    runs: Sequence[str],
    orders: str,
    shrinkage: str = "0.0",
    what: str = "correct",
) -> dict[str, float]:
    """Mean difference of two orders over the sets of some runs.

    Parameters
    ----------
    evidence : Evidence
    runs : sequence of str
        Such as ``exact-js-genes``.
    orders : str
        Which two, such as "JS less JS_GM".
    shrinkage : {"0.0", "auto"}, default="0.0"
    what : {"correct", "loss"}, default="correct"
        Accuracy in points or log-loss in nats, averaged over the numbers of features.

    Returns
    -------
    dict
        :func:`mean_of_independent` differences.
    """
    gaps = [
        part[shrinkage]["differences"][orders][what]
        for run in runs
        for part in evidence.values(run)["sets"].values()
    ]
    return mean_of_independent(gaps)


def mean_of_independent(gaps: Sequence[dict]) -> dict[str, float]:
    """Mean of differences that are independent, so that their variances add up.

    Parameters
    ----------
    gaps : sequence of dict
        Each with ``difference``, ``low`` and ``high``.

    Returns
    -------
    dict
        ``median``, the mean; ``low`` and ``high``, its interval.
    """
    middle = float(np.mean([gap["difference"] for gap in gaps]))
    widths = [gap["high"] - gap["low"] for gap in gaps]
    half = float(np.linalg.norm(widths) / 2 / len(gaps))
    return {"median": middle, "low": middle - half, "high": middle + half}
