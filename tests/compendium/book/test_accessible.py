import pandas as pd
from docutils.core import publish_parts

from compendium.book.accessible import MENDED, mend


def body_of(html):
    context = {"body": html}
    mend(None, "page", "page.html", context, None)
    return context["body"]


def test_a_table_of_pandas_heads_no_column_with_nothing():
    html = pd.DataFrame({"a": [1]}).to_html()
    assert "<th></th>" in html
    mended = body_of(html)
    assert "<th></th>" not in mended and mended.count("<td>") == html.count("<td>") + 1


def test_a_list_of_references_claims_no_roles():
    source = "See [A1]_.\n\n.. [A1] A book.\n"
    options = {"writer_name": "html5", "settings_overrides": {"_disable_config": True}}
    html = publish_parts(source, **options)["html_body"]
    assert 'role="list"' in html and 'role="doc-biblioentry"' in html
    mended = body_of(html)
    assert 'role="list"' not in mended and "doc-biblioentry" not in mended


def test_a_fold_is_announced_by_what_is_seen():
    html = '<summary aria-label="Toggle hidden content"><p>Code</p></summary>'
    assert body_of(html) == "<summary><p>Code</p></summary>"


def test_pages_without_a_body_are_left_alone():
    context = {}
    mend(None, "search", "search.html", context, None)
    assert context == {} and MENDED
