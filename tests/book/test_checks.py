"""State a theorem wrongly, or break its formula, and the check that tries it notices.

The wrong statements are listed in ``wrong_statements.toml``, the broken formulas of
memdlib in ``mutants.py``, both with the check that must notice. A chapter is run once,
up to the last of these checks. Before such a cell is run itself, it is run in a copy of
what there is so far with each wrong statement in the place of the right one, and as it
is while each formula is broken. It must fail an assertion.
"""

import re
import tomllib
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import matplotlib.pyplot as plt
import numpy as np
import pytest

from compendium.build import display
from compendium.build.cells import cells_of
from compendium.build.statements import chapters_with_statements, statements_of
from compendium.project import root
from tests.book.mutants import MUTANTS

HERE = Path(__file__)
WRONG = tomllib.loads(HERE.with_name("wrong_statements.toml").read_text())
INEQUALITIES = tomllib.loads(HERE.with_name("inequalities.toml").read_text())
BOUNDS = re.compile(
    r"\\[lg]eq?\b|\bat (?:most|least)\b|\bno (?:more|larger|fewer|less)\b"
)
OF = {name: name.split(", ")[0] for name in WRONG}  # the statement that is made wrong
TAGS = defaultdict(list)  # what a check must notice
for name, entry in WRONG.items():
    TAGS[f"{entry['check']}-{OF[name]}"].append(name)
for name, (*_, tag) in MUTANTS.items():
    TAGS[tag].append(name)
CHAPTERS = {
    path: {s.label for s in statements_of(path)}
    for path in chapters_with_statements(root())
}
TRIED = {tag.split("-", 1)[1] for tag in TAGS}  # statements


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


@contextmanager
def broken(scope, holder, attribute, breaking):
    """A formula in its broken form, also where the chapter has imported it by name."""
    right = getattr(holder, attribute)
    wrong = breaking(right)
    imported = {name: wrong for name, value in scope.items() if value is right}
    with mock.patch.object(holder, attribute, wrong), mock.patch.dict(scope, imported):
        yield


@pytest.mark.parametrize(
    "path", [p for p in CHAPTERS if CHAPTERS[p] & TRIED], ids=lambda path: path.stem
)
def test_what_is_wrong_is_noticed(monkeypatch, capsys, path):
    monkeypatch.setattr(display, "display", lambda *a, **k: None)
    cells = cells_of(path.read_text())
    last = max(i for i, cell in enumerate(cells) if TAGS.keys() & {*cell.tags})
    scope, missed = {"__name__": "chapter"}, []
    for cell in cells[: last + 1]:
        for name in [name for tag in cell.tags for name in TAGS.get(tag, ())]:
            if name in MUTANTS:
                with broken(scope, *MUTANTS[name][:3]):
                    noticed = is_noticed(cell.code, scope)
            else:
                noticed = is_noticed(made_wrong(cell.code, WRONG[name]), scope)
            if not noticed:
                missed.append(name)
        run(cell.code, scope)
    assert missed == []


def test_all_that_is_wrong_is_tried_by_a_check_of_the_book():
    tags = [t for path in CHAPTERS for c in cells_of(path.read_text()) for t in c.tags]
    assert [tag for tag in TAGS if tags.count(tag) != 1] == []


def test_every_chapter_that_states_has_a_broken_formula():
    chapters = {path.stem for path, labels in CHAPTERS.items() if labels}
    broken = {tag.split("-", 1)[1] for *_, tag in MUTANTS.values()}
    # no free lunch holds for every rule, and AUC is a fact on any scores
    free = {"lecture"}
    assert {p.stem for p in CHAPTERS if CHAPTERS[p] & broken} == chapters - free


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
