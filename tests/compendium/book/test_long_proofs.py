from types import SimpleNamespace

import pytest
from docutils import nodes
from sphinx_proof.nodes import proof_node

from compendium.book.long_proofs import SUMMARY, begin, end

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
    begin(translator, proof)
    translator.body.append("text")
    end(translator, proof)
    assert "".join(translator.body) == page
