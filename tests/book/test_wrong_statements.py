"""State a theorem wrongly, and the check that tries it must notice.

The wrong statements are listed in ``wrong_statements.toml``. A chapter is run once, up
to the last of its checks that are listed; each wrong statement takes the place of the
right one in a copy of the cell, before the cell itself is run.
"""

import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from compendium.build import display
from compendium.build.cells import cells_of
from compendium.build.statements import chapters_with_statements, statements_of
from compendium.project import root

WRONG = tomllib.loads(Path(__file__).with_name("wrong_statements.toml").read_text())
TAGS = {f"{entry['check']}-{label}": label for label, entry in WRONG.items()}
CHAPTERS = {
    path: {s.label for s in statements_of(path)}
    for path in chapters_with_statements(root())
}


def made_wrong(code, entry):
    """The cell with the wrong statement in it."""
    assert code.count(entry["old"]) == 1, entry
    return code.replace(entry["old"], entry["new"])


def run(code, scope):
    try:
        with plt.rc_context(), np.errstate(all="ignore"):
            exec(compile(code, "cell", "exec"), scope)
    finally:  # an assertion that fails leaves no figure either
        plt.close("all")


def is_noticed(code, scope):
    try:
        run(code, dict(scope))
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize(
    "path",
    [p for p in CHAPTERS if CHAPTERS[p] & set(WRONG)],
    ids=lambda path: path.stem,
)
def test_a_wrong_statement_is_noticed(monkeypatch, capsys, path):
    monkeypatch.setattr(display, "display", lambda *a, **k: None)
    cells = cells_of(path.read_text())
    listed = [[TAGS[tag] for tag in cell.tags if tag in TAGS] for cell in cells]
    assert {label for labels in listed for label in labels} == CHAPTERS[path] & set(
        WRONG
    )
    last = max(place for place, labels in enumerate(listed) if labels)
    scope, missed = {"__name__": "chapter"}, []
    for cell, labels in zip(cells[: last + 1], listed[: last + 1], strict=True):
        for label in labels:
            if not is_noticed(made_wrong(cell.code, WRONG[label]), scope):
                missed.append(f"{label}: {WRONG[label]['wrong']}")
        run(cell.code, scope)
    assert missed == []


def test_every_wrong_statement_is_one_of_the_book():
    assert set(WRONG) <= set().union(*CHAPTERS.values())


def test_every_statement_on_codes_is_stated_wrongly():
    labels = (CHAPTERS[path] for path in CHAPTERS if path.parent.name == "nml")
    assert set().union(*labels) <= set(WRONG)
