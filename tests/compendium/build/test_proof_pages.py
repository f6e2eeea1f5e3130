import re

import pytest

from compendium.build.machine_checked import Checked, Formal, read_checked
from compendium.build.proof_pages import page, write_proof_pages
from compendium.project import root
from proofs import check

SOURCE = """(** A theme (book/theory/one.md): of [two] things. And more. *)

Require Import Reals.

Section Two.
Variable a : R.

(** of a *)
Lemma small : a = a.
Proof. easy. Qed.

Lemma large : a = a.
Proof.
  easy.
Qed.

(* book: thm-a *)
Theorem first : a = a.
Proof. easy. Qed.

End Two.

Definition b := 1.

(* book: ex-b *)
Theorem last : b = b.
Proof. easy. Qed.
"""


def checked(label, name, only_for="", not_checked=""):
    said = " : a = a.\n"
    theorem = check.Theorem(label, name, None, said, 1, 1, 1)
    formal = Formal(theorem, f"words of {name}", "a* = a_1", "the `c`")
    return Checked(label, only_for, not_checked, (formal,))


@pytest.fixture
def shown(tmp_path):
    path = tmp_path / "One.v"
    path.write_text(SOURCE)
    two = [checked("thm-a", "first", "few rows", "part 2"), checked("ex-b", "last")]
    return page(path, two, {"thm-a": "Title of a"})


def test_a_page_says_what_is_checked_and_shows_all(shown):
    lines = shown.splitlines()
    assert lines[:2] == ["A theme (Coq)", "============="]
    assert lines[3] == "of ``two`` things. And more."
    assert (
        ":prf:ref:`thm-a`: machine-checked in part, for finite sample spaces and "
        "few rows. Not checked: part 2." in lines
    )
    assert ":ref:`ex-b`: machine-checked for finite sample spaces." in lines
    assert "In one line: a\\* = a_1. Differs from the book: the \\`c\\`." in lines
    assert "   Theorem first : a = a." in lines
    assert ".. literalinclude:: ../../proofs/One.v" in lines


def test_statements_and_theorems_have_anchors_and_titles(shown):
    heads = re.findall(r"\.\. _(.*):\n\n(.*)\n([-~])", shown)
    assert heads == [
        ("proof-thm-a", "Title of a", "-"),
        ("proof-first", "Words of first", "~"),
        ("proof-ex-b", "Words of last", "-"),
        ("proof-last", "Words of last", "~"),
    ]


def test_every_mark_leads_to_an_anchor_that_exists(tmp_path, monkeypatch):
    left = tmp_path / "book" / "proofs" / "Gone.rst"
    left.parent.mkdir(parents=True)
    left.write_text("")
    titles = "compendium.build.proof_pages.read_statements"
    monkeypatch.setattr(titles, lambda _: [])
    write_proof_pages(tmp_path)
    assert not left.exists()
    pages = {path.stem for path in left.parent.iterdir()}
    assert pages == {path.stem for path in check.sources()}
    for statement in read_checked().values():
        text = (tmp_path / f"{statement.page}.rst").read_text()
        anchors = [
            statement.anchor,
            *(f"proof-{f.theorem.name}" for f in statement.theorems),
        ]
        assert [text.count(f".. _{anchor}:\n") for anchor in anchors] == [1] * len(
            anchors
        )


def test_the_pages_are_listed_and_not_committed():
    assert "- glob: book/proofs/*\n" in (root() / "_toc.yml").read_text()
    assert "/book/proofs/\n" in (root() / ".gitignore").read_text()
    page = (root() / "book" / "proofs.md").read_text()
    assert re.findall(r"<proofs/(\w+)>", page) == [p.stem for p in check.sources()]
