"""Settings: every way in which we ran a printed column, and where its numbers are.

A setting settles what the source leaves open: how values are prepared, what a method is
fed with, which of its options are used. A *column* of settings is one method of a
table; MeMd has two printed columns, which for two classes are one.
"""

from dataclasses import dataclass
from itertools import product

from compendium.study.preparations import PREPARATIONS

TEXTS = {
    "full": "whole message",
    "full, by occurrences": "whole message, rare words by occurrences",
    "subject": "subject and body",
    "body": "body",
}
FAMILIES = {
    "bernoulli": "Bernoulli, presence",
    "geometric": "geometric, counts",
    "poisson": "Poisson, counts",
    "multinomial": "multinomial, counts",
    "exponential": "exponential, counts",
    "exponential_share": "exponential, share of the message",
}
SHRUNK = {
    "": "",
    "_1": ", shrunk by a tenth",
    "_5": ", shrunk by half",
    "_auto": ", shrunk, estimated",
}


@dataclass(frozen=True)
class Setting:
    """One way to run a method.

    Parameters
    ----------
    label : str
    places : dict
        Printed column to the place of our number in the result of a row.
    plain : bool
        Whether it keeps to what the source describes; only such a setting may stand
        for the column.
    """

    label: str
    places: dict[str, str]
    plain: bool = True


def _table2() -> dict[str, list[Setting]]:
    memd = [
        Setting(
            f"{how} values{words}",
            {"memd_js": f"{how}.memd_js{tail}"}
            | ({} if tail else {"memd_j": f"{how}.memd_j"}),
            plain=not tail,
        )
        for (tail, words), how in product(SHRUNK.items(), PREPARATIONS)
    ]
    svm = [
        Setting(f"{how} values{words}", {"svm_linear": f"{how}.{method}"})
        for method, words in (("svm", ""), ("svm_scaled", ", features scaled"))
        for how in PREPARATIONS
    ]
    return {"memd": memd, "svm": svm}


def _table3() -> dict[str, list[Setting]]:
    memd = [
        Setting(
            f"{words}; {where}",
            {"memd_js": f"paper.{text}.js_{f}"}
            | ({} if f.endswith("share") else {"memd_j": f"paper.{text}.j_{f}"}),
        )
        for (text, where), (f, words) in product(TEXTS.items(), FAMILIES.items())
        if text == "full" or not f.startswith("exponential")
    ]
    words = "truncated exponential, share of the message; whole message"
    memd.append(Setting(words, {"memd_js": "paper.full.js_truncated_share"}))
    memd += [
        Setting(
            f"{words}, smoothing {s}; whole message",
            {"memd_js": f"paper.full.js_{f}_smooth_{s}"},
            plain=False,
        )
        for (f, words), s in product(list(FAMILIES.items())[:5], ("0.1", "0.01"))
    ]

    def fed(column, method, what, texts=TEXTS):
        return [
            Setting(f"{what}; {TEXTS[text]}", {column: f"paper.{text}.{method}"})
            for text in texts
        ]

    svm = fed("svm_linear", "svm", "counts") + fed("svm_linear", "svm_tfidf", "tf-idf")
    for method, what in (
        ("svm_presence", "presence"),
        ("svm_frequencies", "frequencies"),
        ("svm_scaled", "scaled by the largest"),
        ("svm_share", "share of all words"),
    ):
        svm += fed("svm_linear", method, what, ["full"])
    dme = fed("dme", "dme", "frequencies")
    for method, what in (
        ("dme_presence", "presence"),
        ("dme_tfidf", "tf-idf"),
        ("dme_strong", "frequencies, ten times the penalty"),
        *(
            (f"dme_steps_{s}", f"frequencies, stopped at step {s}")
            for s in (1, 3, 10, 30)
        ),
        *(
            (f"dme_scaling_{s}", f"frequencies, no penalty, stopped at scaling {s}")
            for s in (1, 3, 10, 30)
        ),
    ):
        dme += fed("dme", method, what, ["full"])
    return {"memd": memd, "svm": svm, "dme": dme}


# Table to method to its settings, all that were tried.
SETTINGS = {"table2": _table2(), "table3": _table3()}

# Folds of a run of each table's protocol.
FOLDS = {"table2": 10, "table3": 2}
