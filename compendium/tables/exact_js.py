"""The bound JS_GM against exact JS, and greedy searches against both."""

from collections.abc import Iterator

import pandas as pd

from compendium.ledger.names import NAMES

RUNS = ("exact-js-*",)
GROUPS = {
    "exact-js-genes": "genes",
    "exact-js-gcm-1363": "genes",
    "exact-js-words": "words",
    "exact-js-simulated": "simulated",
}
VARIANCES = {"0.0": "plain", "auto": "shrunken"}
ORDERS = {
    "J": "J",
    "JS_GM": "JS_GM",
    "JS": "JS",
    "redundancy": "JS less redundancy",
    "model": "joint JS",
    "rows": "held-out",
}


def studies(results: dict[str, dict]) -> Iterator[tuple[dict, dict]]:
    """Every data set and kind of variances: the key of its lines, and its result."""
    for run, group in GROUPS.items():
        for dataset, part in results[run]["sets"].items():
            name = dataset.removeprefix("newsgroups_")
            for shrinkage, result in part.items():
                yield (
                    {
                        "group": group,
                        "dataset": NAMES.get(name, name),
                        "variances": VARIANCES[shrinkage],
                    },
                    result,
                )


def datasets(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each data set and kind of variances.

    ``entropy`` is that of the classes, in nats. ``width_correlation`` is the rank
    correlation, over all features, of the ratio of JS_GM to JS with the ratio of the
    largest class deviation to the smallest.
    """
    lines = []
    for key, result in studies(results):
        observations, features = result["shape"]
        line = key | {"observations": observations, "features": features}
        line |= {"classes": result["classes"], "entropy": result["bound"]["ceiling"]}
        lines.append(line | {"width_correlation": result["bound"]["width"]})
    return pd.DataFrame(lines)


def ratios(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each range of JS: the ratio of JS_GM to JS of the features in it.

    The range is in shares of the entropy of the classes, above ``above`` and up to
    ``up_to``; ``low`` and ``high`` are the quantiles of 5 and 95 per cent.
    """
    lines = []
    for key, result in studies(results):
        for interval, (low, median, high) in result["bound"]["ratio"].items():
            above, up_to = interval.strip("(]").split(", ")
            line = key | {"above": float(above), "up_to": float(up_to)}
            lines.append(line | {"low": low, "median": median, "high": high})
    return pd.DataFrame(lines)


def points(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each gene shown: the hundred best by either divergence, and others.

    With plain variances. ``width`` is the ratio of the largest class deviation to the
    smallest.
    """
    frames = []
    for key, result in studies(results):
        if "points" in result:
            frame = pd.DataFrame(result["points"])
            frame.insert(0, "dataset", key["dataset"])
            frames.append(frame)
    return pd.concat(frames)


def singly(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each side: features that are among the best fifty by one order only.

    ``accuracy`` and ``log_loss`` are means over these features, each used by itself on
    the held-out observations; ``width`` is the median ratio of class deviations.
    """
    lines = []
    for key, result in studies(results):
        if result["only"] is None:
            continue
        for side, values in zip(("JS_GM", "JS"), result["only"], strict=True):
            accuracy, log_loss, width = values
            line = key | {"only_by": side, "accuracy": round(100 * accuracy, 2)}
            lines.append(line | {"log_loss": log_loss, "width": width})
    return pd.DataFrame(lines)


def accuracy(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each number of features that an order puts first."""
    sizes = results["exact-js-genes"]["sizes"]
    lines = []
    for key, result in studies(results):
        for order, name in ORDERS.items():
            shares = result["accuracy"][order]
            losses = result["log_loss"][order]
            for size, share, loss in zip(sizes, shares, losses, strict=True):
                if share == 0.0:
                    continue  # the greedy searches choose fewer features
                line = key | {"order": name, "features": size}
                lines.append(line | {"accuracy": share, "log_loss": loss})
    return pd.DataFrame(lines)


def gains(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each pair of orders: the gain in accuracy, averaged over 1 to 50.

    In points, with the corrected interval and p-value over the folds.
    """
    lines = []
    for key, result in studies(results):
        for pair, gap in result["differences"].items():
            order, reference = pair.split(" less ")
            line = key | {"order": ORDERS[order], "reference": ORDERS[reference]}
            line |= {"gain": gap["correct"]["difference"]}
            lines.append(line | {k: gap["correct"][k] for k in ("low", "high", "p")})
    return pd.DataFrame(lines)


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of the bound and of the greedy searches."""
    return {
        "exact-js-datasets": datasets(results),
        "exact-js-ratios": ratios(results),
        "exact-js-points": points(results),
        "exact-js-singly": singly(results),
        "exact-js-accuracy": accuracy(results),
        "exact-js-gains": gains(results),
    }
