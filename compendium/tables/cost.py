"""Cost: slopes of times, ratios of times, and fits to data read in parts."""

import pandas as pd

from compendium.ledger.names import NAMES
from compendium.ledger.published import by_first_column

RUNS = ("cost", "scale")
# A part of Table I that the runs time under another name.
TIMED_AS = {"ranking_js_d": "ranking_pairs_d", "ranking_js_k": "ranking_pairs_k"}
RATIOS = {
    "estimation_j_over_js": "estimation, one pass",
    "fit_j_over_js": "whole fit, one pass",
    "iterated_j_over_js": "estimation, iterated",
    "iterated_fit_j_over_js": "whole fit, iterated",
}
PASSES = {
    "dense_over_floor": "dense matrix, passes over its bytes",
    "sparse_over_floor": "sparse word counts, passes over their bytes",
    "sparse_ns_per_entry": "sparse word counts, nanoseconds for each entry",
}


def ranged(part: dict) -> dict[str, float]:
    """The median over repeats, and the range."""
    return {"median": part["median"], "low": part["low"], "high": part["high"]}


def slopes(cost: dict) -> pd.DataFrame:
    """A line for each order of Table I: the restored one, and our slope of log time."""
    lines = []
    for part, record in by_first_column("table1").items():
        if part == "estimation_j_over_js":  # a ratio, not an order
            continue
        name = NAMES[part].removeprefix("order of ").replace("the number of ", "")
        line = {"part": name, "order": float(record["order"])}
        lines.append(line | ranged(cost[TIMED_AS.get(part, part)]))
    return pd.DataFrame(lines)


def ratios(cost: dict) -> pd.DataFrame:
    """A line for each ratio of the time of MeMd-J to that of MeMd-JS."""
    return pd.DataFrame(
        [{"time of": name} | ranged(cost[key]) for key, name in RATIOS.items()]
    )


def growth(scale: dict) -> pd.DataFrame:
    """A line for each size of data that are drawn in parts: time and memory of a fit.

    Times are multiples of that of the smallest size.
    """
    lines = []
    for size, rows in enumerate(scale["rows"]):
        line = {"rows": rows, "data_mib": scale["data_mib"][size]}
        line["allocated_mib"] = scale["allocated_mib"][size]
        lines.append(line | ranged(scale["seconds_over_least"][size]))
    return pd.DataFrame(lines)


def passes(scale: dict) -> pd.DataFrame:
    """A line for each kind of data: a fit, in passes over the bytes or in time."""
    return pd.DataFrame(
        [{"fit to": name} | ranged(scale[key]) for key, name in PASSES.items()]
    )


def cluster(scale: dict) -> pd.DataFrame:
    """What a block of documents sends to the others, beside the block itself."""
    return pd.DataFrame([{key: scale[key] for key in ("sent_mib", "block_mib")}])


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of cost and scale."""
    return {
        "cost-slopes": slopes(results["cost"]),
        "cost-ratios": ratios(results["cost"]),
        "cost-growth": growth(results["scale"]),
        "cost-passes": passes(results["scale"]),
        "cost-cluster": cluster(results["scale"]),
    }
