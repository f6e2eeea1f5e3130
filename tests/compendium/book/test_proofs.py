import re

import pytest

from compendium.book import proofs
from compendium.project import root
from proofs.check import ALLOWED, HERE, sources


def test_the_mark_says_how_far():
    said = {
        ("", ""): ("for finite sample spaces", "yes"),
        ("few rows", ""): ("for finite sample spaces and few rows", "for few rows"),
        ("", "part 2"): ("in part, for finite sample spaces", "in part"),
    }
    for (only_for, not_checked), (mark, extent) in said.items():
        one = proofs.Checked("thm-a", only_for, not_checked, ())
        assert (one.mark, one.extent) == (f"machine-checked {mark}", extent)


def test_every_label_is_in_the_book_and_every_theorem_on_the_page_of_its_source(
    tmp_path,
):
    text = "\n".join(p.read_text() for p in (root() / "book").rglob("*.md"))
    assert proofs.read_checked().keys() <= set(re.findall(r"(?m)^:label: (\S+)$", text))
    checked = proofs.read_checked().values()
    proofs.write_proof_pages(tmp_path)
    for path in sources():
        own = [c for c in checked if c.theorems[0][0].path == path]
        made = (tmp_path / "book/proofs" / f"{path.stem}.rst").read_text()
        assert f".. literalinclude:: ../../proofs/{path.name}" in made
        for one in own:
            assert f".. _proof-{one.label}:" in made
            for theorem, *_ in one.theorems:
                assert f"\n``{theorem.name}``\n   " in made
    table = proofs.checked_table(checked)
    assert len(table) == len(checked) + 2
    assert [line.split("`")[1] for line in proofs.axioms()] == list(ALLOWED)


@pytest.mark.parametrize(
    "change", [("| `gibbs` |", "| `gibs` |"), ("| `thm-mi` | | |\n", "")]
)
def test_tables_that_are_not_those_of_the_sources_are_refused(tmp_path, change):
    text = (HERE / "README.md").read_text()
    assert change[0] in text
    path = tmp_path / "README.md"
    path.write_text(text.replace(*change, 1))
    with pytest.raises(ValueError, match="the last table has to list the theorems"):
        proofs.read_checked(path)
