import re

import pytest

from compendium.build.machine_checked import (
    Checked,
    axioms,
    checked_table,
    counted,
    read_checked,
)
from compendium.build.statements import index_table, read_statements
from compendium.project import root
from proofs import check


def text_of(folder):
    return "\n".join(path.read_text() for path in (root() / folder).rglob("*.md"))


@pytest.mark.parametrize(
    ("only_for", "not_checked", "mark", "extent"),
    [
        ("", "", "Machine-checked for finite sample spaces", "yes"),
        (
            "few rows",
            "",
            "Machine-checked for finite sample spaces and few rows",
            "for few rows",
        ),
        (
            "few rows",
            "part 2",
            "Machine-checked in part, for finite sample spaces and few rows",
            "in part",
        ),
    ],
)
def test_the_mark_says_how_far(only_for, not_checked, mark, extent):
    checked = Checked("thm-a", only_for, not_checked, ())
    assert (checked.mark, checked.extent) == (mark, extent)


def test_every_label_is_in_the_book():
    labels = set(re.findall(r"^:label: (\S+)$", text_of("book"), re.MULTILINE))
    assert read_checked().keys() <= labels


def test_every_theorem_is_in_the_sources_and_its_axioms_are_printed():
    sources = {path: path.read_text() for path in check.HERE.glob("*.v")}
    query = check.query()
    named = [f for checked in read_checked().values() for f in checked.theorems]
    assert len(named) == len(check.theorems())
    for theorem in (formal.theorem for formal in named):
        assert (
            f"(* book: {theorem.label} *)\nTheorem {theorem.name}"
            in (sources[theorem.path])
        )
        place = f"Proofs.{theorem.path.stem}.{theorem.name}"
        assert query.count(f"Print Assumptions {place}.\n") == 1


def test_what_says_more_than_its_theorems_is_checked_in_part():
    checked = read_checked()
    assert checked["thm-dv-f"].extent == checked["thm-cr-shtarkov"].extent == "in part"
    assert checked["thm-ad-sum"].extent == "for finite divergences"
    assert checked["thm-margin"].extent == "yes"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("| `thm-mi` | `js_is_information`", "| `thm-mi` | `other`", "last table"),
        ("| `thm-mi` | `js_is_information`", "| `thm-m` | `js_is_information`", "last"),
        ("| `thm-mi` | | |\n", "", "first table"),
    ],
)
def test_tables_of_other_statements_are_refused(tmp_path, old, new, message):
    text = (check.HERE / "README.md").read_text()
    assert text.count(old) == 1
    (tmp_path / "README.md").write_text(text.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read_checked(tmp_path / "README.md")


def test_the_count_is_that_of_the_index():
    checked, statements = read_checked(), read_statements(root())
    sentence, _, _, _, *rows = index_table(statements, checked)
    said = [int(number) for number in re.findall(r"\d+", sentence)]
    column = [row.split(" | ")[2] for row in rows]
    marked = [cell for cell in column if cell.strip()]
    partly = sum("in part" in cell for cell in marked)
    further = sum("`for " in cell for cell in marked)
    assert said == [len(marked), len(rows), partly, further]
    assert 0 < partly + further < len(marked) < len(rows)


def test_the_count_of_few():
    few = [
        Checked("a", "", "", ()),
        Checked("b", "few rows", "", ()),
        Checked("c", "few rows", "part 2", ()),
    ]
    assert counted(7, few).startswith("3 of 7 statements are machine-checked for")
    assert counted(7, few).endswith("1 of them in part and 1 more on a condition.")


def test_the_list_leads_to_statements_exercises_and_theorems():
    checked = read_checked()
    labels = {statement.label for statement in read_statements(root())}
    lines = checked_table(checked.values(), labels)
    assert len(lines) == 2 + len(checked)
    assert sum(line.startswith("| {prf:ref}`") for line in lines) == len(
        labels & checked.keys()
    )
    assert any(line.startswith("| {ref}`ex-") for line in lines)
    names = re.findall(r"\{ref\}`(\w+) <proof-(\w+)>`", "\n".join(lines))
    assert [name for name, _ in names] == [t.name for t in check.theorems()]
    assert all(name == anchor for name, anchor in names)


def test_the_axioms_are_those_allowed():
    assert [line.split("`")[1] for line in axioms()] == list(check.ALLOWED)
