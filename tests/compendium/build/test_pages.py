import shutil
import subprocess
from datetime import date

import pytest
from docutils import nodes
from docutils.utils import new_document

from compendium.build.pages import (
    description,
    last_change,
    last_commit,
    meta_tags,
    neighbours,
)

ABOUT = {
    "title": "The book",
    "authors": [{"name": "A & B"}],
    "date-released": date(2026, 1, 2),
}


def document(*paragraphs):
    page = new_document("page")
    section = nodes.section("", *paragraphs)
    page += section
    return page


def paragraph(text, *inside):
    return nodes.paragraph("", text, *inside)


def test_the_date_is_that_of_the_last_commit(project):
    with pytest.raises(ValueError, match="has no date: take a clone"):
        last_change(project.root)
    git = ["git", "-C", str(project.root), "-c", "user.name=a", "-c", "user.email=b"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run(
        [*git, "commit", "-q", "--allow-empty", "-m", "first"],
        check=True,
        env={"GIT_COMMITTER_DATE": "1700000000 +0000", "PATH": "/usr/bin:/bin"},
    )
    assert last_change(project.root) == "1700000000"
    # an archive without history knows its commit, if git has made it
    project.write("compendium/.gitattributes", ".git_archival.txt export-subst\n")
    project.write(
        "compendium/.git_archival.txt", "commit: $Format:%H$\nseconds: $Format:%ct$\n"
    )
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "second"], check=True)
    packed = subprocess.run([*git, "archive", "HEAD"], check=True, capture_output=True)
    known = last_commit(project.root), last_change(project.root)
    shutil.rmtree(project.root / ".git")
    subprocess.run(["tar", "-x", "-C", project.root], input=packed.stdout, check=True)
    assert (last_commit(project.root), last_change(project.root)) == known


def test_a_description_is_the_first_plain_paragraph():
    formula = nodes.math("", "x^2")
    page = document(
        paragraph("Needs: nothing."),
        paragraph("About ", formula),
        paragraph("Plain\ntext."),
    )
    assert description(page) == "Plain text."
    assert description(document(paragraph("Needs: all."))) == ""
    quoted = new_document("page")
    quoted += nodes.block_quote("", paragraph("Not of the page itself."))
    assert description(quoted) == ""


def test_tags_escape_and_leave_out_what_is_empty():
    found = meta_tags(ABOUT, 'A "title"', "", None)
    for name, value in (
        ("title", "A &quot;title&quot;"),
        ("author", "A &amp; B"),
        ("publication_date", "2026/01/02"),
    ):
        assert f'<meta name="citation_{name}" content="{value}"/>' in found
    assert "description" not in found and "og:url" not in found
    found = meta_tags(ABOUT, "T", "What it is.", "https://example.org/t.html")
    assert '<meta property="og:url" content="https://example.org/t.html"/>' in found


RELATIONS = {
    "a": [None, None, "book/api"],
    "book/api": ["index", "a", "book/api/x"],
    "book/api/x": ["book/api", "book/api", "book/api/y"],
    "book/api/y": ["book/api", "book/api/x", "b"],
    "b": ["index", "book/api/y", "book/kinds/k"],
    "book/kinds/k": ["book/lab-records", "b", "book/records/r"],
    "book/records/r": ["book/kinds/k", "book/kinds/k", None],
}


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("a", (None, "book/api")),
        ("book/api", ("a", "b")),
        ("book/api/x", (None, None)),
        ("b", ("book/api", None)),
        ("book/records/r", (None, None)),
        ("search", (None, None)),
    ],
)
def test_pages_that_are_looked_up_stand_outside_the_chain(page, expected):
    assert neighbours(RELATIONS, page) == expected
