from types import SimpleNamespace

import pytest
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

from compendium.build import claim_links
from compendium.build.claim_links import ClaimRole, add_assets, resolve, setup
from compendium.build.verdicts import PAGE
from tests.compendium.build.test_verdicts import claim

CLAIM = claim(id="table2-x", verdict="agrees by choice", statement="x is so")


@pytest.fixture(autouse=True)
def ledger(monkeypatch):
    monkeypatch.setattr(claim_links, "_by_id", lambda: {CLAIM.id: CLAIM})


def parse(text):
    """What the role makes of a text, and what it complains of."""
    problems = []

    def error(message, line):
        problems.append(message)
        return nodes.system_message(message)

    inliner = SimpleNamespace(
        reporter=SimpleNamespace(error=error),
        problematic=lambda text, raw, message: nodes.problematic(raw, text),
        document=SimpleNamespace(
            settings=SimpleNamespace(env=SimpleNamespace(docname="book/a"))
        ),
    )
    (node,), messages = ClaimRole()("claim", f"{{claim}}`{text}`", text, 7, inliner)
    assert len(messages) == len(problems)
    return node, problems


def test_a_bare_role_shows_the_computed_verdict():
    node, problems = parse("table2-x")
    assert isinstance(node, pending_xref) and problems == []
    assert (node["reftarget"], node["refdoc"]) == ("table2-x", "book/a")
    assert node.astext() == "agrees by choice"
    assert node[0]["classes"] == ["verdict", "verdict-agrees-by-choice"]


def test_a_role_with_a_text_shows_the_text():
    node, _ = parse("the first row <table2-x>")
    assert node["reftarget"] == "table2-x"
    assert (node.astext(), node[0]["classes"]) == ("the first row", [])


def test_an_unknown_claim_is_an_error():
    node, problems = parse("lost")
    assert isinstance(node, nodes.problematic)
    assert problems == ["the ledger has no claim 'lost'"]


def test_the_link_leads_to_the_card():
    builder = SimpleNamespace(get_relative_uri=lambda start, page: f"{start}>{page}")
    node, _ = parse("table2-x")
    link = resolve(SimpleNamespace(builder=builder), None, node, node[0])
    assert link["refuri"] == f"book/a>{PAGE}#table2-x"
    assert (link["reftitle"], link.astext()) == ("x is so", "agrees by choice")
    assert resolve(None, None, pending_xref(reftype="ref"), None) is None


def test_only_the_claims_page_has_script_and_style():
    added = []
    app = SimpleNamespace(
        add_css_file=added.append,
        add_js_file=lambda name, loading_method: added.append(name),
    )
    add_assets(app, "book/notebooks/index", "page.html", {}, None)
    assert added == []
    add_assets(app, PAGE, "page.html", {}, None)
    assert added == ["claims.css", "claims.js"]


def test_the_extension_is_registered():
    registered = []
    fake = SimpleNamespace(
        add_role=lambda name, role: registered.append(name),
        connect=lambda event, callback: registered.append(event),
    )
    assert setup(fake)["parallel_read_safe"]
    assert registered == ["claim", "missing-reference", "html-page-context"]


def test_a_page_of_sphinx_leads_to_the_card(tmp_path):
    (tmp_path / "book/notebooks").mkdir(parents=True)
    (tmp_path / f"{PAGE}.md").write_text("# Claims\n")
    text = "# Front\n\nOne {claim}`table2-x`, {claim}`again <table2-x>`.\n"
    (tmp_path / "index.md").write_text(text)
    app = Sphinx(
        tmp_path,
        None,
        tmp_path / "html",
        tmp_path / "trees",
        "html",
        {
            "extensions": ["myst_parser", "compendium.build.claim_links"],
            "nitpicky": True,
        },
        status=None,
    )
    app.build()
    page = (tmp_path / "html/index.html").read_text()
    link = f'href="{PAGE}.html#table2-x" title="x is so"><span'
    style = 'class="verdict verdict-agrees-by-choice">agrees by choice<'
    assert f"{link} {style}" in page
    assert f"{link}>again<" in page
    assert "claims.js" not in page
    claims = (tmp_path / f"html/{PAGE}.html").read_text()
    assert "claims.js" in claims and "claims.css" in claims
