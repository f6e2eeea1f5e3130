from types import SimpleNamespace

import pytest
from docutils import nodes
from sphinx_proof.nodes import proof_node

from compendium.build.long_proofs import SUMMARY, begin, end, setup


def written(classes):
    translator = SimpleNamespace(body=[])
    proof = proof_node("", nodes.admonition(classes=classes))
    begin(translator, proof)
    translator.body.append("text")
    end(translator, proof)
    return "".join(translator.body)


def test_a_long_proof_folds_under_one_line():
    page = written(["proof", "proof", "long"])
    assert page.startswith('<details class="folded') and page.endswith("</details>\n")
    assert page.index(f"<summary>{SUMMARY}</summary>") < page.index("text")


@pytest.mark.parametrize("classes", [["proof"], ["proof", "longer"]])
def test_another_proof_stays_open(classes):
    assert written(classes) == "text"


def test_the_extension_takes_the_place_of_the_visitors():
    given = {}
    fake = SimpleNamespace(
        add_node=lambda node, override, html: given.update(node=node, html=html)
    )
    assert setup(fake)["parallel_write_safe"]
    assert given == {"node": proof_node, "html": (begin, end)}
