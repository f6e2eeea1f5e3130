import io
from html import escape

from sphinx.application import Sphinx

from compendium.book.verdicts import PAGE, slug
from compendium.ledger.claims import read_claims

CLAIM = next(claim for claim in read_claims() if " " in claim.verdict)


def test_a_page_of_sphinx_leads_to_the_card(tmp_path):
    (tmp_path / "book/notebooks").mkdir(parents=True)
    (tmp_path / f"{PAGE}.md").write_text("# Claims\n")
    text = "One {claim}`ID`, {claim}`again <ID>`.\n{claim}`lost`\n"
    text = "# Front\n\n" + text.replace("ID", CLAIM.id)
    (tmp_path / "index.md").write_text(text)
    folders, complaints = (tmp_path / "html", tmp_path / "trees"), io.StringIO()
    config = {"extensions": ["myst_parser", "compendium.book.claim_links"]}
    streams = {"status": None, "warning": complaints}
    Sphinx(tmp_path, None, *folders, "html", config, **streams).build()
    assert "index.md:3: ERROR: the ledger has no claim 'lost'" in complaints.getvalue()
    page = (tmp_path / "html/index.html").read_text()
    link = f'href="{PAGE}.html#{CLAIM.id}" title="{escape(CLAIM.statement)}"><span'
    style = f'class="verdict verdict-{slug(CLAIM.verdict)}">{CLAIM.verdict}<'
    assert f"{link} {style}" in page
    assert f"{link}>again<" in page
    assert "claims.js" not in page
    claims = (tmp_path / f"html/{PAGE}.html").read_text()
    assert "claims.js" in claims and "claims.css" in claims
