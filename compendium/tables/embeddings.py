"""Generative embeddings and kernels: the folds of every combination."""

import pandas as pd

RUNS = ("embeddings-*",)
DATA_SETS = {
    "embeddings-colon": "colon",
    "embeddings-srbct": "blue cell tumours",
    "embeddings-autos-motorcycles": "cars, motorcycles",
}
KERNELS = {
    "linear": "linear",
    "scaled": "linear, scaled features",
    "l1": "linear, divided",
    "Hellinger": "Hellinger",
    "RBF": "Gaussian, divided",
    "JS": "Jensen-Shannon",
    "JT": "Jensen-Tsallis",
    "A": "version A",
    "B": "version B",
    "exp JS": "exponentiated JS",
}
CLASSIFIERS = {"knn": "nearest neighbours", "svm": "SVM"}
METHODS = {
    "any linear": "hybrid, linear kernel",
    "any normalised": "hybrid, divided",
    "any information": "hybrid, entropy",
    "any": "hybrid, all chosen",
    "data linear": "data, linear kernel",
    "data normalised": "data, divided",
    "data information": "data, entropy",
    "pLSA": "topic models, Bayes",
    "MeMd": "MeMd",
    "MeMd shrunk by half": "MeMd, shrunk by half",
    "SVM": "linear SVM, all features",
}


def lines_of_folds(key: dict, correct: list, tested: list) -> list[dict]:
    """A line for each test fold of each draw."""
    return [
        key | {"draw": draw, "fold": fold, "correct": right, "tested": rows}
        for draw, counts in enumerate(zip(correct, tested, strict=True))
        for fold, (right, rows) in enumerate(zip(*counts, strict=True))
    ]


def combinations(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each fold of each embedding, kernel and classifier.

    Number of topics, order, neighbours and cost are chosen in the training rows. The
    embedding "data" is none: the kernel is that of the rows themselves.
    """
    lines = []
    for run, data_set in DATA_SETS.items():
        tested = results[run]["tested"]
        for embedding, by_kernel in results[run]["cells"].items():
            for kernel, by_classifier in by_kernel.items():
                for classifier, part in by_classifier.items():
                    key = {"data set": data_set, "embedding": embedding}
                    key |= {"kernel": KERNELS[kernel]}
                    key |= {"classifier": CLASSIFIERS[classifier]}
                    lines += lines_of_folds(key, part["correct"], tested)
    return pd.DataFrame(lines)


def methods(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each fold of what chooses embedding, kernel and classifier itself.

    Beside these hybrids are the same kernels on the rows themselves, and models without
    kernels.
    """
    lines = []
    for run, data_set in DATA_SETS.items():
        for method, part in results[run]["others"].items():
            key = {"data set": data_set, "method": METHODS[method]}
            lines += lines_of_folds(key, part["correct"], results[run]["tested"])
    return pd.DataFrame(lines)


def topics(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each unit of the colon data: the number of topics of least BIC."""
    chosen = results["embeddings-colon"]["bic"]
    units = ["as given", "a hundredth", "mean of one"]
    lines = [{"unit": unit, "topics": chosen[unit]} for unit in units]
    return pd.DataFrame(lines)


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of the embeddings."""
    return {
        "embeddings-folds": combinations(results),
        "embeddings-methods": methods(results),
        "embeddings-topics": topics(results),
    }
