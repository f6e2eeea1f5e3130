import html
import re
import shutil
import subprocess
from datetime import date
from hashlib import sha1

import pytest
from docutils import nodes
from docutils.utils import new_document
from pybtex.database import parse_string

from compendium.book import pages
from compendium.book.pages import (
    citation_fold,
    last_change,
    last_commit,
    meta_tags,
    neighbours,
    page_bibtex,
    source_identifier,
)
from compendium.project import GitError

ABOUT = {"title": "The book", "authors": [{"name": "A & B"}], "version": "1.2"}
ABOUT["date-released"] = date(2026, 1, 2)


def paragraph(text, *inside):
    return nodes.paragraph("", text, *inside)


def description(*paragraphs, within=nodes.section):
    page = new_document("page")
    page += within("", *paragraphs)
    return pages.description(page)


def test_the_date_is_that_of_the_last_commit(project, monkeypatch):
    with pytest.raises(GitError, match="has no date: git says: fatal: not a git repo"):
        last_change(project.root)
    marks = "commit: $Format:%H$\nseconds: $Format:%ct$\ntree: $Format:%T$\n"
    project.write("compendium/.git_archival.txt", marks)
    project.write("compendium/.gitattributes", ".git_archival.txt export-subst\n")
    project.commit()
    known = last_commit(project.root), last_change(project.root)
    assert len(known[0]) == 40 and known[1] == "1700000000"
    identifier = source_identifier(project.root)
    # an archive without history knows its commit, if git has made it
    packed = project.root.with_suffix(".tar")
    subprocess.run(["git", "archive", "HEAD", "-o", packed], check=True)
    shutil.rmtree(project.root / ".git")
    shutil.unpack_archive(packed, project.root)
    assert (last_commit(project.root), last_change(project.root)) == known
    assert source_identifier(project.root) == identifier
    # and where no git is installed
    monkeypatch.setenv("PATH", str(project.root))
    assert (last_commit(project.root), last_change(project.root)) == known


def test_git_that_refuses_says_what_to_do(project, monkeypatch):
    project.commit()
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # a switch of git itself
    with pytest.raises(GitError, match="git config --global --add safe.directory"):
        last_change(project.root)
    assert last_commit(project.root) == ""


def test_a_description_is_the_first_plain_paragraph():
    needs, formula = paragraph("Needs: all."), nodes.math("", "x^2")
    plain = paragraph("Plain\ntext.")
    assert description(needs, paragraph("About ", formula), plain) == "Plain text."
    assert description(needs) == ""
    assert description(plain, within=nodes.block_quote) == ""


def test_tags_escape_and_leave_out_what_is_empty():
    found = meta_tags(ABOUT, 'A "title"', "", None)
    values = {"title": "A &quot;title&quot;", "author": "A &amp; B"}
    for name, value in {**values, "publication_date": "2026/01/02"}.items():
        assert f'<meta name="citation_{name}" content="{value}"/>' in found
    assert "description" not in found and "og:url" not in found
    found = meta_tags(ABOUT, "T", "What it is.", "https://example.org/t.html")
    assert '<meta property="og:url" content="https://example.org/t.html"/>' in found


def hashed(kind, content):
    return sha1(f"{kind} {len(content)}\0".encode() + content).digest()


def directory_hash(folder):
    """As Software Heritage defines it: of the names and the hashes of what it holds."""
    entries = {}
    for path in folder.iterdir():
        name = path.name.encode()
        if path.is_file():
            held = hashed("blob", path.read_bytes())
            entries[name] = b"100644 " + name + b"\0" + held
        elif path.name != ".git":
            held = directory_hash(path)
            entries[name + b"/"] = b"40000 " + name + b"\0" + held
    return hashed("tree", b"".join(entries[key] for key in sorted(entries)))


def test_the_identifier_of_the_sources_is_that_of_their_content(project):
    assert source_identifier(project.root) == ""
    project.write("a folder/a file", "text")
    project.write("a folder.md", "another")
    project.commit()
    expected = directory_hash(project.root).hex()
    assert source_identifier(project.root) == f"swh:1:dir:{expected}"


@pytest.mark.parametrize("number", ["4", "A", ""])
def test_a_reader_of_bibtex_understands_how_a_page_is_cited(number):
    title = "χ² & J_GM: 100 % of {A}, #1"
    entry = page_bibtex(ABOUT, "book/notebooks/memd", title, number, "swh:1:dir:0")
    fold = citation_fold(entry, "chapter")
    shown = html.unescape(re.search("<pre>(.*)</pre>", fold, re.DOTALL)[1])
    ((key, parsed),) = parse_string(shown, "bibtex").entries.items()
    assert (key, parsed.type) == ("memdlib-memd", "incollection")
    assert parsed.fields["title"] == r"{χ² \& J\_GM: 100 \% of {A}, \#1}"
    assert parsed.fields.get("chapter", "") == number
    assert parsed.fields["booktitle"] == "The book"
    assert (parsed.fields["edition"], parsed.fields["year"]) == ("1.2", "2026")
    assert parsed.fields["swhid"] == "swh:1:dir:0"
    assert [str(person) for person in parsed.persons["author"]] == [r"{A \& B}"]
    assert "url" not in parsed.fields and "note" not in parsed.fields
    record = page_bibtex(ABOUT, "book/records/memd", title, number, "")
    assert [*parse_string(record, "bibtex").entries] == ["memdlib-records-memd"]


RELATIONS = {
    "a": [None, None, "book/api"],
    "book/api": ["index", "a", "book/api/x"],
    "book/api/x": ["book/api", "book/api", "book/api/y"],
    "book/api/y": ["book/api", "book/api/x", "b"],
    "b": ["index", "book/api/y", "book/lab-records/k"],
    "book/lab-records/k": ["book/lab-records", "b", "book/records/r"],
    "book/records/r": ["book/lab-records/k", "book/lab-records/k", None],
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
