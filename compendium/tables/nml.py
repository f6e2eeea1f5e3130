"""Code lengths of the labels of leukemia, by gene, moments, levels and setting."""

import pandas as pd

from compendium.ledger.published import printed_rows

RUNS = ("nml-leukemia", "nml-conventions", "nml-claims")
CUTS = {
    "width": "equal width",
    "frequency": "equal frequency",
    "kmeans": "k-means",
}
LOGITS = {"none": "no constant", "constant": "constant"}
RANKINGS = {
    "nml": "NML",
    "error": "minimax entropy",
    "j": "J",
    "js_gm": "JS_GM",
    "js": "JS",
}
MOST_MOMENTS = 7
MOMENTS_OF_MANY_LEVELS = 2


def published() -> pd.DataFrame:
    """A line for each number that the paper prints."""
    lines = [
        {"quantity": row["id"], "printed": row["value"], "unit": row["unit"]}
        for row in printed_rows("nml")
    ]
    return pd.DataFrame(lines)


def settings(conventions: dict) -> pd.DataFrame:
    """A line for each setting: the shortest code over its genes and moments.

    Beside it, the draws of shuffled labels that have a code as short.
    """
    lines = []
    draws = conventions["helps"]["draws"]
    for i, preparation in enumerate(conventions["preparations"]):
        for j, cut in enumerate(conventions["cuts"]):
            for k, levels in enumerate(conventions["codings"]):
                line = preparation | cut | {"levels": levels}
                line["nats"] = conventions["minima"][i][j][k]
                line["draws_as_short"] = conventions["as_short"][i][j][k]
                lines.append(line | {"draws": draws})
    keys = ["floor", "scale", "genes", "arrays", "cut", "thresholds", "levels"]
    return pd.DataFrame(lines)[[*keys, "kept", "nats", "draws_as_short", "draws"]]


def genes(leukemia: dict) -> pd.DataFrame:
    """A line for each of the best genes and number of moments: length and error."""
    lines = []
    for logit, part in leukemia["moments"].items():
        for position, gene in enumerate(part["top"], start=1):
            key = {"logit": LOGITS[logit], "position": position, "gene": gene["gene"]}
            pairs = zip(gene["codelengths"], gene["errors"], strict=True)
            for moments, (nats, error) in enumerate(pairs, start=1):
                line = {"moments": moments, "nats": nats, "error": error}
                lines.append(key | line)
    return pd.DataFrame(lines)


def moments(leukemia: dict) -> pd.DataFrame:
    """A line for each number of moments: the code lengths of all genes."""
    lines = []
    for logit, part in leukemia["moments"].items():
        columns = part["median"], part["best_at"], part["uncertainty"]
        for number, values in enumerate(zip(*columns, strict=True), start=1):
            median, shortest, uncertainty = values
            line = {"logit": LOGITS[logit], "moments": number, "median": median}
            line |= {"genes_shortest_here": shortest, "uncertainty": uncertainty}
            lines.append(line)
    return pd.DataFrame(lines)


def drops(leukemia: dict) -> pd.DataFrame:
    """A line for each number of best genes: what a second moment saves them."""
    lines = []
    for logit, part in leukemia["moments"].items():
        for best in sorted(part["drop"], key=int):
            drop = part["drop"][best]
            line = {"logit": LOGITS[logit], "genes": int(best)}
            line |= {"share_shorter": drop["share"], "median_saved": drop["median"]}
            lines.append(line)
    return pd.DataFrame(lines)


def shuffles(leukemia: dict) -> pd.DataFrame:
    """A line for each statistic of the true labels and of shuffled ones."""
    shuffled = leukemia["shuffled"]
    many = leukemia["moments"]["none"]["shorter_than_no_gene"]
    lines = [
        {
            "statistic": "genes that shorten the code",
            "true_labels": many,
            "shuffled_labels": shuffled["shorter"],
            "shuffled_is": "mean",
            "draws": shuffled["counted"],
            "draws_as_good": shuffled["as_many"],
        },
        {
            "statistic": "shortest code, nats",
            "true_labels": leukemia["best_gene"]["width"],
            "shuffled_labels": shuffled["median_least"],
            "shuffled_is": "median",
            "draws": shuffled["draws"],
            "draws_as_good": shuffled["as_short"],
        },
    ]
    return pd.DataFrame(lines)


def levels(leukemia: dict) -> pd.DataFrame:
    """A line for each number of levels: mean code of the best genes, and accuracy.

    The last line of each series also counts the test patients that only five levels,
    and those that only this number of levels, classify correctly.
    """
    series = []
    for cut, by_genes in leukemia["levels"].items():
        for best in sorted(by_genes, key=int):
            test = leukemia["fall"][cut][best]
            series.append((cut, int(best), MOST_MOMENTS, by_genes[best], test))
    for cut, part in leukemia["many_levels"].items():
        test = part["test"]
        series.append((cut, 25, MOMENTS_OF_MANY_LEVELS, part["rows"], test))
    lines = []
    for cut, best, most_moments, rows, test in series:
        key = {"cut": CUTS[cut], "genes": best, "most_moments": most_moments}
        for row in rows:
            line = key | {"levels": row["levels"], "nats": row["codelength"]}
            line["correct"] = row["correct"]
            if row is rows[-1]:
                line |= {"five_only": test["first"], "these_only": test["second"]}
            lines.append(line)
    return whole(lines, ["five_only", "these_only"])


def rules(leukemia: dict) -> pd.DataFrame:
    """A line for each rule and number of genes: test patients classified correctly.

    Where a paired test was made, also those that only the rule "m by NML", and those
    that only this rule, classifies correctly.
    """
    lines = []
    for rule, part in leukemia["classifier"].items():
        tests = leukemia["classifier_tests"].get(rule, {})
        for number, correct in enumerate(part["correct"], start=1):
            line = {"rule": rule, "genes": number, "correct": correct}
            line["tested"] = leukemia["test_samples"]
            if str(number) in tests:
                test = tests[str(number)]
                line |= {"nml_only": test["first"], "this_only": test["second"]}
            lines.append(line)
    return whole(lines, ["nml_only", "this_only"])


def rankings(leukemia: dict) -> pd.DataFrame:
    """A line for each ranking and number of genes: what its first genes are like."""
    lines = []
    for ranking, shared in leukemia["overlap"].items():
        for number in sorted(shared, key=int):
            line = {"scale": "logarithms", "floor": "at 100"}
            line |= {"ranking": RANKINGS[ranking], "genes": int(number)}
            line |= {"shared_with_nml": shared[number]}
            line["share_at_floor"] = leukemia["at_floor"][ranking][number]
            lines.append(line)
    for floor, by_ranking in leukemia["floor"].items():
        for ranking, by_genes in by_ranking.items():
            for number in sorted(by_genes, key=int):
                line = {"scale": "inverse hyperbolic sine", "floor": floor}
                line |= {"ranking": RANKINGS[ranking], "genes": int(number)}
                line |= {"shared_with_nml": by_genes[number]["shared"]}
                line["variance_ratio"] = by_genes[number]["ratio"]
                lines.append(line)
    return pd.DataFrame(lines)


def ranked(leukemia: dict) -> pd.DataFrame:
    """A line for each ranking and classifier: test patients classified correctly."""
    lines = []
    for ranking, by_classifier in leukemia["held_out"].items():
        for classifier, by_genes in by_classifier.items():
            for number in sorted(by_genes, key=int):
                line = {"ranking": RANKINGS[ranking], "classifier": classifier}
                line |= {"genes": int(number), "correct": by_genes[number]}
                if ranking in leukemia["ranking_tests"]:
                    tests = leukemia["ranking_tests"][ranking][classifier]
                    line["nml_only"] = tests[number]["first"]
                    line["this_only"] = tests[number]["second"]
                lines.append(line)
    return whole(lines, ["nml_only", "this_only"])


def overfitting(claims: dict) -> pd.DataFrame:
    """A line for each number of moments: how much more values over-fit than levels."""
    lines = []
    for number, ends in claims["overfitting"].items():
        lines.append({"moments": int(number), "values_minus_levels": ends["median"]})
        lines[-1] |= {"low": ends["low"], "high": ends["high"]}
    return pd.DataFrame(lines)


def unquantised(claims: dict) -> pd.DataFrame:
    """A line for each way to the complexities of all genes with two moments."""
    part = claims["without_levels"]
    lines = []
    for way, years in part["years"].items():
        lines.append({"way": way, "fits": part["fits"].get(way), "years": years})
    return pd.DataFrame(lines)


def whole(lines: list[dict], counts: list[str]) -> pd.DataFrame:
    """A table whose counts stay whole numbers, though some lines have none."""
    return pd.DataFrame(lines).astype(dict.fromkeys(counts, "Int64"))


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of the code lengths."""
    leukemia = results["nml-leukemia"]
    return {
        "nml-published": published(),
        "nml-settings": settings(results["nml-conventions"]),
        "nml-genes": genes(leukemia),
        "nml-moments": moments(leukemia),
        "nml-drops": drops(leukemia),
        "nml-shuffles": shuffles(leukemia),
        "nml-levels": levels(leukemia),
        "nml-rules": rules(leukemia),
        "nml-rankings": rankings(leukemia),
        "nml-ranked": ranked(leukemia),
        "nml-overfitting": overfitting(results["nml-claims"]),
        "nml-unquantised": unquantised(results["nml-claims"]),
    }
