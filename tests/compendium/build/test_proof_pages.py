import re

import pytest

from compendium.build.machine_checked import Checked, Formal, read_checked
from compendium.build.proof_pages import page, pieces, write_proof_pages
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
    theorem = check.Theorem(label, name, None, "", 1, 1, 1)
    formal = Formal(theorem, f"words of {name}", "a* = a_1", "the `c`")
    return Checked(label, only_for, not_checked, (formal,))


@pytest.fixture
def shown():
    two = [checked("thm-a", "first", "few rows", "part 2"), checked("ex-b", "last")]
    return page(SOURCE, two, {"thm-a": "Title of a"})


def test_a_source_is_cut_where_its_kinds_change():
    kinds = [(piece.kind, piece.names) for piece in pieces(SOURCE)]
    assert kinds == [
        ("", ()),
        ("Lemma", ("small", "large")),
        ("Theorem", ("first",)),
        ("End", ("Two",)),
        ("", ()),
        ("Theorem", ("last",)),
    ]


@pytest.mark.parametrize("path", check.sources(), ids=lambda path: path.stem)
def test_nothing_is_lost_and_no_proof_is_cut(path):
    source = path.read_text()
    cut = pieces(source)
    assert "\n\n".join(piece.text for piece in cut) == source.strip()
    for piece in cut:
        inside = [len(re.findall(rf"^{w} ", piece.text, re.M)) for w in ("Lemma",)]
        assert piece.text.count("Qed.") == len(piece.names) * (piece.kind != "End")
        assert inside == [len(piece.names) * (piece.kind == "Lemma")]


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
    code = [line.strip() for line in SOURCE.splitlines()[2:] if line.strip()]
    assert [line for line in code if line not in map(str.strip, lines)] == []


def test_statements_and_theorems_have_anchors_and_titles(shown):
    heads = re.findall(r"\.\. _(.*):\n\n(.*)\n([-~])", shown)
    assert heads == [
        ("proof-thm-a", "Title of a", "-"),
        ("proof-first", "Words of first", "~"),
        ("proof-ex-b", "Words of last", "-"),
        ("proof-last", "Words of last", "~"),
    ]


def test_lemmas_and_proofs_fold_and_the_end_belongs_to_what_it_ends(shown):
    folds = re.findall(r"<summary>(.*)</summary>", shown)
    assert folds == [
        "Lemmas <code>small</code>, <code>large</code>",
        "Proof of <code>first</code>",
        "Proof of <code>last</code>",
    ]
    assert shown.count("</details>") == len(folds)
    assert shown.index("End Two.") < shown.index("_proof-ex-b") < shown.index("b := 1")


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
