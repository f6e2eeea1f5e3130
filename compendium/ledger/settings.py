"""Settings: every way in which we ran a printed column, and where its numbers are.

A setting settles what the source leaves open: how values are prepared, what a method is
fed with, which of its options are used. A *column* of settings is one method of a
table; MeMd has two printed columns, which for two classes are one.
"""

import tomllib
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from compendium.study.preparations import PREPARATIONS

_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
TEXTS = _WORDS["texts"]
FAMILIES = _WORDS["families"]
SHRUNK = _WORDS["shrunk"]
_ON_ALL_TEXTS = ("svm", "svm_tfidf", "dme")


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

    svm, dme = (
        [
            Setting(f"{what}; {TEXTS[text]}", {column: f"paper.{text}.{method}"})
            for method, what in _WORDS[column].items()
            for text in (TEXTS if method in _ON_ALL_TEXTS else ["full"])
        ]
        for column in ("svm_linear", "dme")
    )
    return {"memd": memd, "svm": svm, "dme": dme}


# Table to method to its settings, all that were tried.
SETTINGS = {"table2": _table2(), "table3": _table3()}

# Folds of a run of each table's protocol.
FOLDS = {"table2": 10, "table3": 2}
