"""The lecture: points in the plane, images, articles of fifty authors, and reviews."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from compendium.ledger.published import by_first_column

RUNS = ("lecture-*",)
POINTS = {
    "gaussian_2d_independent_n40": "independent features",
    "gaussian_2d_dependent_n40": "dependent features",
    "gaussian_2d_3classes": "three classes",
    "ellipse": "ellipse",
}
ORDERS = {
    "dependence_costs": "naive Bayes better on independent features",
    "qda_lda_logistic": "QDA below LDA below logistic",
    "logistic_qda_lda": "LDA at most QDA, at most logistic",
    "curves_above_lines": "ellipse: LDA below both others",
    "bayes_above_qda": "ellipse: QDA below naive Bayes",
}
IMAGES = {"mnist": "handwritten digits", "fashion_mnist": "pieces of clothing"}
CONFIGURATIONS = {
    "variances not floored": "no lower bound",
    "floor chosen on images set aside": "with a lower bound",
}
# in the order in which the source numbers them
CLOTHING = (
    *("T-shirt", "trousers", "pullover", "dress", "coat"),
    *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
)
SIDE = 28  # pixels of a row and of a column of an image
ARTICLES = {"random": "random fifths", "official": "official halves"}
CRITERIA = {
    "chi2": "chi-squared, scikit-learn",
    "pearson": "chi-squared, Pearson",
    "js": "JS",
    "js_gm": "JS_GM",
}
CLASSIFIERS = {
    "nearest_neighbours": "nearest neighbour",
    "bernoulli_nb": "Bernoulli naive Bayes",
    "gaussian_nb": "naive Bayes",
    "naive_bayes": "naive Bayes",
    "lda": "LDA",
    "qda": "QDA",
    "logistic": "logistic regression",
    "memd": "MeMd",
}


def printed(row: str) -> float | None:
    """The accuracy in a row of the published figures; None if there is none."""
    record = by_first_column("lecture").get(row)
    return float(record["accuracy"]) if record else None


def plane(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each classifier of each kind of points, over many samples.

    Between low and high lie 95 of a hundred accuracies on the points shown; "new" is
    the mean accuracy on other points of the same distribution.
    """
    values = results["lecture-plane"]
    lines = []
    for case, points in POINTS.items():
        for method, part in values["cases"][case].items():
            line = {"points": points, "classifier": CLASSIFIERS[method]}
            line["published"] = printed(f"{case}_{method}")
            line |= {key: part["shown"][key] for key in ("low", "median", "high")}
            line |= {"new": part["new"], "samples": values["draws"]}
            lines.append(line)
    return pd.DataFrame(lines)


def orders(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each order of classifiers: per cent of the samples that have it."""
    shares = results["lecture-plane"]["orders"]
    lines = [
        {"order": name, "points shown": shares["shown"][key], "new": shares["new"][key]}
        for key, name in ORDERS.items()
    ]
    return pd.DataFrame(lines)


def of_images(results: dict[str, dict]) -> Iterator[tuple[str, str, dict]]:
    """Both sets of images: the identifier and the name of each, and its result."""
    for dataset, name in IMAGES.items():
        yield dataset, name, results[f"lecture-{dataset.replace('_', '-')}"]


def images(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each configuration of each classifier of images.

    A range from low to high is that over several orders of the pixels.
    """
    lines = []
    for dataset, name, values in of_images(results):
        for method, by_configuration in values["accuracy"].items():
            for configuration, accuracy in by_configuration.items():
                line = {"images": name, "classifier": CLASSIFIERS[method]}
                line["configuration"] = CONFIGURATIONS.get(configuration, configuration)
                line["parameters"] = values["parameters"].get(method)
                line["published"] = printed(f"{dataset}_{method}")
                if isinstance(accuracy, dict):
                    line["accuracy"] = accuracy["median"]
                    line |= {"low": accuracy["low"], "high": accuracy["high"]}
                else:
                    line["accuracy"] = accuracy
                lines.append(line)
    return pd.DataFrame(lines).astype({"parameters": "Int64"})


def bounds(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each lower bound on the variances of QDA: its accuracies.

    The bound that is best on the training images set aside is the one chosen.
    """
    tables = []
    for _, name, values in of_images(results):
        part = values["qda_floor"]
        table = pd.DataFrame({"images": name, "bound": part["floor"]})
        table["accuracy"] = part["test"]
        table["set aside"] = part["set_aside"]
        table["chosen"] = np.isclose(table["bound"], part["chosen"])
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def pixels(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each number of pixels that MeMd uses; one number is its own choice."""
    lines = []
    for _, name, values in of_images(results):
        part = values["memd"]
        for number, accuracy in zip(part["n_features"], part["accuracy"], strict=True):
            line = {"images": name, "pixels": number, "accuracy": accuracy}
            lines.append(line | {"chosen": False})
        line = {"images": name, "pixels": part["chosen"]["n_features"]}
        lines.append(line | {"accuracy": part["chosen"]["accuracy"], "chosen": True})
    return pd.DataFrame(lines)


def ranks(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each pixel, row by row: its rank by divergence, the best being 1."""
    table = {}
    for _, name, values in of_images(results):
        table[name] = np.argsort(values["memd"]["order"]) + 1
    return pd.DataFrame(table)


def loadings(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each pixel, row by row: its weight for each digit."""
    weights = np.array(results["lecture-mnist"]["loadings"])
    return pd.DataFrame(weights.T, columns=[f"digit {k}" for k in range(len(weights))])


def clothing(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each image of clothing: its class, and its pixels, row by row."""
    lines = []
    columns = [f"r{row}c{column}" for row in range(SIDE) for column in range(SIDE)]
    by_class = results["lecture-fashion-mnist"]["examples"]
    for name, examples in zip(CLOTHING, by_class, strict=True):
        for digits in examples:
            grey = list(bytes.fromhex(digits))
            lines.append({"class": name} | dict(zip(columns, grey, strict=True)))
    return pd.DataFrame(lines)


def authors(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each number of words of each classifier and criterion.

    Accuracies are means over the divisions of the articles; "sd" is their standard
    deviation, of which a single division has none.
    """
    lines = []
    for articles, division in ARTICLES.items():
        for method, by_criterion in results["lecture-c50"][articles].items():
            # the lecture ranks words by chi-squared
            published = printed(f"c50_{method}") or printed(f"c50_{method}_chi2")
            for criterion, part in by_criterion.items():
                for words, accuracy in part["curve"].items():
                    line = {"articles": division, "classifier": CLASSIFIERS[method]}
                    line |= {"criterion": CRITERIA[criterion], "words": int(words)}
                    line |= {"accuracy": accuracy["test"], "sd": accuracy["sd"]}
                    line["on training articles"] = accuracy["train"]
                    line["published"] = published if criterion == "chi2" else None
                    lines.append(line)
    return pd.DataFrame(lines).sort_values("words", kind="stable")


def criteria(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each criterion: training articles with one of its first 100 words."""
    median = results["lecture-c50"]["median_articles_100"]
    lines = [
        {"criterion": name, "median articles": median[key]}
        for key, name in CRITERIA.items()
    ]
    return pd.DataFrame(lines)


def lda(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each division: LDA less naive Bayes in points, with as many words."""
    gaps = results["lecture-c50"]["lda_less_naive_bayes"]
    lines = []
    for articles, division in ARTICLES.items():
        line = {"articles": division}
        line |= {key: gaps[articles][key] for key in ("low", "median", "high")}
        lines.append(line)
    return pd.DataFrame(lines)


def reviews(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each number of words of each classifier of imitated reviews."""
    lines = []
    for method, by_size in results["lecture-reviews"]["classifiers"].items():
        for words, part in by_size.items():
            line = {"classifier": CLASSIFIERS[method], "words": int(words)}
            line |= {"AUC": part["auc"], "sd": part["sd"]["auc"]}
            lines.append(line | {"AUC on training reviews": part["train_auc"]})
    return pd.DataFrame(lines).sort_values("words", kind="stable")


def counts(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each size of the articles and of the imitated reviews."""
    articles = results["lecture-c50"]
    imitation = results["lecture-reviews"]
    sizes = {
        "articles, training half": articles["documents"][0],
        "articles, other half": articles["documents"][1],
        "words, training half": articles["words_of_first"],
        "words in three articles or more": articles["shape"][1],
        "reviews": imitation["reviews"],
        "reviews that praise": round(imitation["positive"] * imitation["reviews"]),
        "file of reviews, MiB": round(imitation["file_bytes"] / 2**20),
        "memory to read reviews, MiB": round(imitation["peak_bytes"] / 2**20),
    }
    lines = [{"what": what, "number": number} for what, number in sizes.items()]
    return pd.DataFrame(lines)


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of the lecture."""
    return {
        "lecture-plane": plane(results),
        "lecture-orders": orders(results),
        "lecture-images": images(results),
        "lecture-bounds": bounds(results),
        "lecture-pixels": pixels(results),
        "lecture-ranks": ranks(results),
        "lecture-loadings": loadings(results),
        "lecture-clothing": clothing(results),
        "lecture-authors": authors(results),
        "lecture-criteria": criteria(results),
        "lecture-lda": lda(results),
        "lecture-reviews": reviews(results),
        "lecture-counts": counts(results),
    }
