"""State a theorem wrongly, and the check that tries it must notice.

The wrong statements are listed in ``wrong_statements.toml``. A chapter is run once, up
to the last of its checks that are listed; each wrong statement takes the place of the
right one in a copy of the cell, before the cell itself is run.
"""

import re
import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from compendium.build import display
from compendium.build.cells import cells_of
from compendium.build.statements import chapters_with_statements, statements_of
from compendium.project import root

HERE = Path(__file__)
WRONG = tomllib.loads(HERE.with_name("wrong_statements.toml").read_text())
INEQUALITIES = tomllib.loads(HERE.with_name("inequalities.toml").read_text())
BOUNDS = re.compile(
    r"\\[lg]eq?\b|\bat (?:most|least)\b|\bno (?:more|larger|fewer|less)\b"
)
OF = {name: name.split(", ")[0] for name in WRONG}  # the statement that is made wrong
TAGS = {f"{entry['check']}-{OF[name]}": [] for name, entry in WRONG.items()}
for name, entry in WRONG.items():
    TAGS[f"{entry['check']}-{OF[name]}"].append(name)
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
    """Whether the wrong cell fails; the right one draws what it would have drawn."""
    drawing = [v for v in scope.values() if isinstance(v, np.random.Generator)]
    states = [generator.bit_generator.state for generator in drawing]
    try:
        run(code, dict(scope))
    except AssertionError:
        return True
    finally:
        for generator, state in zip(drawing, states, strict=True):
            generator.bit_generator.state = state
    return False


@pytest.mark.parametrize(
    "path",
    [p for p in CHAPTERS if CHAPTERS[p] & set(OF.values())],
    ids=lambda path: path.stem,
)
def test_a_wrong_statement_is_noticed(monkeypatch, capsys, path):
    monkeypatch.setattr(display, "display", lambda *a, **k: None)
    cells = cells_of(path.read_text())
    listed = [[n for tag in cell.tags for n in TAGS.get(tag, [])] for cell in cells]
    assert {name for names in listed for name in names} == {
        name for name in WRONG if OF[name] in CHAPTERS[path]
    }
    last = max(place for place, names in enumerate(listed) if names)
    scope, missed = {"__name__": "chapter"}, []
    for cell, names in zip(cells[: last + 1], listed[: last + 1], strict=True):
        for name in names:
            if not is_noticed(made_wrong(cell.code, WRONG[name]), scope):
                missed.append(f"{name}: {WRONG[name]['wrong']}")
        run(cell.code, scope)
    assert missed == []


def test_every_wrong_statement_is_one_of_the_book():
    assert set(OF.values()) <= set().union(*CHAPTERS.values())


def test_every_statement_on_codes_is_stated_wrongly():
    labels = (CHAPTERS[path] for path in CHAPTERS if path.parent.name == "nml")
    assert set().union(*labels) <= set(OF.values())


def stated(path):
    """Label and text of each statement of a chapter, without its proof."""
    directive = re.compile(
        r"(?ms)^:{3,}\{prf:(?:theorem|proposition|lemma|corollary)\}.*?^:::$"
    )
    for match in directive.finditer(path.read_text()):
        yield re.search(r":label: (\S+)", match[0])[1], match[0]


def test_every_inequality_is_tried_at_nine_tenths_or_called_not_sharp():
    sharp, not_sharp = INEQUALITIES["sharp"], INEQUALITIES["not_sharp"]
    texts = dict(pair for path in CHAPTERS for pair in stated(path))
    bounding = {label for label, text in texts.items() if BOUNDS.search(text)}
    listed = {*sharp, *not_sharp, *INEQUALITIES["no_bound"]}
    assert bounding - listed == set()
    assert listed <= set(texts)
    assert not set(INEQUALITIES["no_bound"]) & {*sharp, *not_sharp}
    for label, words in not_sharp.items():
        assert words in texts[label] and "not sharp" in words, label
    for label, entries in sharp.items():
        assert entries and set(entries) <= set(WRONG), label
