from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document
from sphinx_exercise.nodes import exercise_node
from sphinx_proof.nodes import lemma_node, proof_node

from compendium.build.machine_checked import axioms, read_checked
from compendium.build.proof_marks import ProofsDirective, draw_marks, setup

BUILDER = SimpleNamespace(get_relative_uri=lambda page, to: f"{page} to {to}")
APP = SimpleNamespace(builder=BUILDER)


@pytest.fixture
def document():
    return new_document("x", get_default_settings())


def test_a_mark_stands_under_what_is_checked_and_leads_to_its_theorems(document):
    document += lemma_node("", nodes.section(), label="lem-dv-gibbs")
    document += lemma_node("", nodes.section(), label="lem-other")
    document += proof_node("", nodes.section(), label="lem-dv-gibbs")
    document += exercise_node("", label="ex-dv-reparametrise")
    draw_marks(APP, document, "book/a")
    (mark,) = (
        paragraph
        for paragraph in document.findall(nodes.paragraph)
        if "machine-checked" in paragraph["classes"]
    )
    assert mark.parent is document[0] and mark is document[0][-1]
    checked = read_checked()["lem-dv-gibbs"]
    assert mark.astext() == checked.mark
    (link,) = mark.findall(nodes.reference)
    assert link["refuri"] == "book/a to book/proofs/Gibbs#proof-lem-dv-gibbs"
    assert link["reftitle"]


@pytest.mark.parametrize(("what", "lines"), [("statements", 20), ("axioms", 4)])
def test_the_lists_are_made_from_the_tables(document, what, lines):
    parsed = []
    state = SimpleNamespace(
        nested_parse=lambda text, offset, holder: parsed.extend(text),
        document=document,
    )
    machine = SimpleNamespace(reporter=None)
    ProofsDirective("proofs", [what], {}, [], 1, 0, "", state, machine).run()
    assert len(parsed) == lines
    if what == "axioms":
        assert parsed == axioms()
    else:
        assert parsed[0].startswith(f"{len(read_checked()) - 1} of ")


def test_the_extension_is_registered():
    registered = []
    fake = SimpleNamespace(
        add_directive=lambda name, directive: registered.append(name),
        connect=lambda event, callback: registered.append(event),
    )
    assert setup(fake)["parallel_read_safe"]
    assert registered == ["proofs", "doctree-resolved"]
