"""Measures over the rows of a table: what a sentence of a source comes to."""

from collections.abc import Callable, Sequence

import numpy as np

from compendium.ledger.tables import Evidence, at


def wins(evidence: Evidence, table: str, one: str, others: Sequence[str]) -> int:
    """Rows in which our number at one place exceeds those at all the others.

    Parameters
    ----------
    evidence : Evidence
    table : {"table2", "table3"}
    one : str
        Place in the results; a row that lacks it does not count.
    others : sequence of str
        Other places; those that a row lacks are passed over.

    Returns
    -------
    int
    """
    means = [
        [_mean(values, place) for place in (one, *others)]
        for values in evidence.values_of_rows(table)
    ]
    return sum(
        row[0] is not None and all(m is None or row[0] > m for m in row[1:])
        for row in means
    )


def largest_gap(evidence: Evidence, table: str, one: str, other: str) -> float:
    """Largest difference between two of our numbers over the rows, in points.

    Parameters
    ----------
    evidence : Evidence
    table : {"table2", "table3"}
    one, other : str
        Places in the results; rows that lack one of them are passed over.

    Returns
    -------
    float
    """
    pairs = [
        [_mean(values, place) for place in (one, other)]
        for values in evidence.values_of_rows(table)
    ]
    return max(abs(a - b) for a, b in pairs if a is not None and b is not None)


def median_share_kept(evidence: Evidence, table: str, place: str, of: str) -> float:
    """Median over the rows of the share of features that are kept, in per cent.

    Parameters
    ----------
    evidence : Evidence
    table : {"table2", "table3"}
    place : str
        Place of the method in the results.
    of : str
        Place of the number of all features.

    Returns
    -------
    float
    """
    return float(
        np.median(
            [
                100.0 * at(values, f"{place}.n_features.median") / at(values, of)
                for values in evidence.values_of_rows(table)
            ]
        )
    )


def gain_over_all(evidence: Evidence, table: str, place: str) -> float:
    """Median over the rows of the best accuracy with few features less that with all.

    Parameters
    ----------
    evidence : Evidence
    table : {"table2", "table3"}
    place : str
        Place of the method in the results, with its curve.

    Returns
    -------
    float
        Points. The best is taken on test rows, so it flatters the few.
    """
    gains = []
    for values in evidence.values_of_rows(table):
        accuracy = at(values, f"{place}.curve.accuracy")
        gains.append(max(accuracy) - accuracy[-1])
    return float(np.median(gains))


def _mean(values: dict, place: str) -> float | None:
    return at(values, f"{place}.accuracy.mean")


MEASURES: dict[str, Callable[..., float]] = {
    measure.__name__: measure
    for measure in (wins, largest_gap, median_share_kept, gain_over_all)
}
