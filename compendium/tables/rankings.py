"""How far criteria agree on the best features, and each with itself on other data."""

from collections.abc import Iterator

import pandas as pd

RUNS = ("rankings",)


def by_kind(sets: dict[str, dict]) -> Iterator[tuple[dict, dict]]:
    """Every data set, kinds together: the key of its lines, and its result."""
    for kind in ("words", "authors", "pixels", "genes"):
        for dataset, part in sets.items():
            if part["kind"] == kind:
                yield {"kind": kind, "dataset": dataset}, part


def datasets(sets: dict[str, dict]) -> pd.DataFrame:
    """A line for each data set."""
    lines = []
    for key, part in by_kind(sets):
        observations, features = part["shape"]
        line = key | {"observations": observations, "features": features}
        lines.append(line | {"classes": part["classes"]})
    return pd.DataFrame(lines)


def agreement(sets: dict[str, dict]) -> pd.DataFrame:
    """A line for each pair of criteria, in both orders, on the same observations.

    ``spearman`` is the rank correlation over all features, and ``common`` the number of
    features that are among the best hundred by both: means over random halves of the
    observations, each with its standard deviation.
    """
    lines = []
    for key, part in by_kind(sets):
        for i, criterion in enumerate(part["criteria"]):
            for j, other in enumerate(part["criteria"]):
                line = key | {"criterion": criterion, "other": other}
                line["spearman"] = part["same"]["spearman"][i][j]
                line["spearman_sd"] = part["sd"]["spearman"][i][j]
                line["common"] = features_of(part["same"]["100"][i][j])
                line["common_sd"] = features_of(part["sd"]["100"][i][j])
                lines.append(line)
    return pd.DataFrame(lines)


def again(sets: dict[str, dict]) -> pd.DataFrame:
    """A line for each criterion: how it agrees with itself on the other half."""
    lines = []
    for key, part in by_kind(sets):
        for i, criterion in enumerate(part["criteria"]):
            line = key | {"criterion": criterion}
            line["spearman"] = part["other"]["spearman"][i][i]
            line["common"] = features_of(part["other"]["100"][i][i])
            lines.append(line)
    return pd.DataFrame(lines)


def features_of(share: float) -> float:
    """How many of a hundred features a share of them is."""
    return round(100 * share, 2)  # the shares are stored with four digits


def strength(groups: dict[str, dict]) -> pd.DataFrame:
    """A line for each twelfth of the features of a kind, the weakest first.

    ``chi_squared`` is the median of Pearson's chi-squared divided by the number of
    observations. The ratios of 2 JS and of JS_GM to it are given by their median and
    by their quantiles of 5 and 95 per cent, ``low`` and ``high``.
    """
    lines = []
    for kind, part in groups.items():
        for i, chi_squared in enumerate(part["chi"]):
            line = {"kind": kind, "group": i + 1, "chi_squared": chi_squared}
            line["features"] = part["features"][i]
            for divergence in ("js", "js_gm"):
                line[f"{divergence}_low"] = part[f"{divergence}_low"][i]
                line[f"{divergence}_median"] = part[f"{divergence}_middle"][i]
                line[f"{divergence}_high"] = part[f"{divergence}_high"][i]
            lines.append(line)
    return pd.DataFrame(lines)


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of the agreement of criteria."""
    values = results["rankings"]
    return {
        "rankings-datasets": datasets(values["sets"]),
        "rankings-agreement": agreement(values["sets"]),
        "rankings-again": again(values["sets"]),
        "rankings-strength": strength(values["strength"]),
    }
