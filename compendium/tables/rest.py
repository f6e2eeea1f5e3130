"""The rest of the document: what it adds to the plain sum over selected words."""

import pandas as pd

RUNS = ("rest",)
TASKS = {
    "autos_motorcycles": "autos and motorcycles",
    "comp": "all five of comp",
    "ibm_mac": "IBM and Mac hardware",
    "mswindows_windowsx": "MS-Windows and X",
    "rec": "all four of rec",
    "religion": "two on religion",
    "sci": "all four of sci",
    "sci_pairs": "two pairs of sci",
    "talk": "all four of talk",
    "vehicles_sport": "vehicles and sport",
    "windows_sys": "windows and hardware",
}
SIZES = {"30": "thirty", "300": "three hundred", "chosen": "chosen"}
RULES = {
    "plain": "plain sum",
    "among": "renormalised",
    "rest": "with the rest",
    "poisson": "Poisson counts",
}


def gains(tasks: dict) -> pd.DataFrame:
    """A line for each task and number of words: what the rest adds, in points.

    Intervals and p-values are those of the corrected resampled t test, over two folds.
    """
    lines = []
    for task, name in TASKS.items():
        for size, words in SIZES.items():
            gap = tasks[task]["difference"][size]
            line = {"task": name, "words": words}
            line |= {key: gap[key] for key in ("difference", "low", "high", "p")}
            lines.append(line)
    return pd.DataFrame(lines)


def accuracies(tasks: dict) -> pd.DataFrame:
    """A line for each task: accuracies with thirty words, and what the task is like.

    ``in_few_documents`` is the percentage of the occurrences of the thirty words in a
    class that stands in one document of a hundred, for the class where that is most;
    ``shared_words``, how many of the first hundred words two rankings share at least.
    """
    lines = []
    for task, name in TASKS.items():
        line = {"task": name}
        for rule, words in RULES.items():
            line[words] = tasks[task]["accuracy"]["30"][rule]["mean"]
        line["in_few_documents"] = tasks[task]["few"]
        line["shared_words"] = tasks[task]["shared"]["low"]
        lines.append(line)
    return pd.DataFrame(lines)


def tables(results: dict[str, dict]) -> dict[str, pd.DataFrame]:
    """The tables of the rest."""
    tasks = results["rest"]["tasks"]
    return {"rest-gains": gains(tasks), "rest-tasks": accuracies(tasks)}
