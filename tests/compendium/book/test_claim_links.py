import io

import pytest
from sphinx.application import Sphinx

from compendium.book import claim_links
from compendium.book.verdicts import PAGE
from tests.compendium.book.test_verdicts import claim

CLAIM = claim(id="table2-x", verdict="agrees by choice", statement="x is so")


@pytest.fixture(autouse=True)
def ledger(monkeypatch):
    monkeypatch.setattr(claim_links, "_by_id", lambda: {CLAIM.id: CLAIM})


def test_a_page_of_sphinx_leads_to_the_card(tmp_path):
    (tmp_path / "book/notebooks").mkdir(parents=True)
    (tmp_path / f"{PAGE}.md").write_text("# Claims\n")
    text = (
        "# Front\n\nOne {claim}`table2-x`, {claim}`again <table2-x>`.\n{claim}`lost`\n"
    )
    (tmp_path / "index.md").write_text(text)
    folders, complaints = (tmp_path / "html", tmp_path / "trees"), io.StringIO()
    config = {"extensions": ["myst_parser", "compendium.book.claim_links"]}
    streams = {"status": None, "warning": complaints}
    Sphinx(tmp_path, None, *folders, "html", config, **streams).build()
    assert "index.md:3: ERROR: the ledger has no claim 'lost'" in complaints.getvalue()
    page = (tmp_path / "html/index.html").read_text()
    link = f'href="{PAGE}.html#table2-x" title="x is so"><span'
    style = 'class="verdict verdict-agrees-by-choice">agrees by choice<'
    assert f"{link} {style}" in page
    assert f"{link}>again<" in page
    assert "claims.js" not in page
    claims = (tmp_path / f"html/{PAGE}.html").read_text()
    assert "claims.js" in claims and "claims.css" in claims
