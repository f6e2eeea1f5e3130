from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document
from docutils.writers.html5_polyglot import HTMLTranslator, Writer
from sphinx_exercise.nodes import solution_node
from sphinx_proof.nodes import proof_node

from compendium.book.folds import SUMMARY, begin_proof, end_proof, write_solution

FOLD = f'<details class="folded proof-fold"><summary>{SUMMARY}</summary>\n'


@pytest.mark.parametrize(
    ("classes", "page"),
    [
        (["proof", "proof", "long"], f"{FOLD}text</details>\n"),
        (["proof", "longer"], "text"),
    ],
)
def test_a_long_proof_alone_folds_under_one_line(classes, page):
    translator = SimpleNamespace(body=[])
    proof = proof_node("", nodes.admonition(classes=classes))
    begin_proof(translator, proof)
    translator.body.append("text")
    end_proof(translator, proof)
    assert "".join(translator.body) == page


def test_a_solution_folds_under_the_name_of_its_exercise():
    title = nodes.title("", "Solution to ", nodes.reference("", "Exercise < 2"))
    solution = solution_node("", title, nodes.paragraph("", "Three."), ids=["s"])
    document = new_document("x", get_default_settings(Writer()))
    document += solution
    translator = HTMLTranslator(document)
    with pytest.raises(nodes.SkipNode):
        write_solution(translator, solution)
    page = "".join(translator.body)
    assert page.startswith('<details class="folded" id="s">\n')
    assert "<summary>Solution to Exercise &lt; 2</summary>" in page
    assert page.count("Solution") == 1 and "<p>Three.</p>" in page
    assert page.endswith("</details>\n")
