"""The formal proofs and the book name the same statements. Needs no Coq."""

import re
from pathlib import Path

import pytest

from proofs import check

BOOK = Path(check.__file__).parents[1] / "book"


def test_every_label_is_one_of_the_book():
    text = "\n".join(path.read_text() for path in BOOK.rglob("*.md"))
    labels = set(re.findall(r"^:label: (\S+)$", text, re.MULTILINE))
    assert {t.label for t in check.theorems()} <= labels


def test_no_theorem_escapes_the_parser():
    text = "\n".join(path.read_text() for path in check.sources())
    assert text.count("Theorem ") == len(check.theorems()) == text.count("(* book: ")


def test_nothing_is_left_open_or_assumed():
    assert check.faults() == []


def test_every_theorem_has_a_variant_that_changes_its_statement():
    variants = check.variants()
    assert list(variants) == [t.name for t in check.theorems()]
    for theorem in check.theorems():
        changed = check.altered(theorem, variants[theorem.name])
        assert changed != theorem.path.read_text()
        assert variants[theorem.name]["why"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Lemma a : 1 = 2. Admitted.", "Open.v: Admitted"),
        ("Lemma a : 1 = 2. admit. Qed.", "Open.v: admit"),
        ("Axiom a : 1 = 2.", "Open.v: Axiom"),
        ("Parameters a b : 1 = 2.", "Open.v: Parameters"),
        ("Unset Guard Checking.", "Open.v: Unset Guard Checking"),
        ("Theorem a : 1 = 1.\nProof. easy. Qed.", "a: no label of the book"),
    ],
)
def test_what_is_open_or_without_label_is_found(monkeypatch, tmp_path, text, fault):
    (tmp_path / "_CoqProject").write_text("-Q . Proofs\nOpen.v\n")
    (tmp_path / "Open.v").write_text(f"(* Axiom *)\n{text}\n")
    monkeypatch.setattr(check, "HERE", tmp_path)
    assert check.faults() == [fault]


def test_a_file_that_would_not_be_compiled_is_found(monkeypatch, tmp_path):
    (tmp_path / "_CoqProject").write_text("-Q . Proofs\nListed.v\n")
    for name in ("Listed", "Forgotten"):
        (tmp_path / f"{name}.v").write_text("Lemma a : 1 = 1. easy. Qed.\n")
    monkeypatch.setattr(check, "HERE", tmp_path)
    assert check.faults() == ["Forgotten.v: not in _CoqProject, so it is not compiled"]


def test_a_variant_that_fits_nowhere_is_an_error():
    theorem = check.theorems()[0]
    with pytest.raises(ValueError, match="occur once"):
        check.altered(theorem, {"old": "no such text", "new": ""})


def test_without_coq_it_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert check.main() == 1
    told = capsys.readouterr().err
    assert "apt-get" in told and "conda" in told and "opam" in told
