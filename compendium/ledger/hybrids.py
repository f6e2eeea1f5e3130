"""Measures over the runs of embeddings and kernels."""

import numpy as np

from compendium.ledger.rule import with_doubt
from compendium.ledger.tables import Evidence


def share_above(
    evidence: Evidence, run: str, family: str, ending: str = ""
) -> dict[str, float]:
    """Share of the differences of a family that are above zero.

    Parameters
    ----------
    evidence : Evidence
    run : str
    family : {"kernels", "generative", "memd"}
        Of the differences in the result of the run.
    ending : str, default=""
        Only names that end so; those of rows without an embedding never count.

    Returns
    -------
    dict
        :func:`compendium.ledger.rule.with_doubt` over the family.
    """
    gaps = [
        gap
        for name, gap in evidence.values(run)["differences"][family].items()
        if name.endswith(ending) and not name.startswith("data ")
    ]
    above = np.array([gap["difference"] > 0 for gap in gaps])
    return with_doubt(above, [gap["p"] for gap in gaps], np.mean)


def free_difference(
    evidence: Evidence, run: str, one: str, other: str
) -> dict[str, float]:
    """Difference of two classifiers whose every choice is free, with its interval.

    Parameters
    ----------
    evidence : Evidence
    run, one, other : str

    Returns
    -------
    dict
        ``median``, ``low`` and ``high``, in points.
    """
    gap = evidence.values(run)["differences"]["free"][f"{one} - {other}"]
    return {"median": gap["difference"], "low": gap["low"], "high": gap["high"]}


def embeddings_compared(evidence: Evidence, run: str) -> int:
    """Number of embeddings in a run."""
    return len(evidence.values(run)["sizes"]["embedding"])


def times_as_large(evidence: Evidence, run: str, one: str, other: str) -> float:
    """Size of an embedding over that of another and over the number of classes."""
    sizes = evidence.values(run)["sizes"]
    ratio = sizes["embedding"][one] / sizes["embedding"][other]
    return ratio / sizes["classes"]


def topics_by_unit(evidence: Evidence, run: str) -> int:
    """Different numbers of topics that BIC chooses for amounts in different units."""
    return len(set(evidence.values(run)["bic"].values()))
