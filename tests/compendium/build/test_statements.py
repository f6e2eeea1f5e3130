import re

import pytest

from compendium.build.machine_checked import Checked
from compendium.build.statements import (
    index_table,
    lint_statements,
    read_statements,
    statements_by_function,
    statements_of,
)
from compendium.project import root

CHAPTER = """
:::{prf:definition} Two
:label: def-two
:::

:::{prf:theorem} A title
:label: thm-a
Says.
:::

:::{prf:proof}
Because.
:::

*In code:* {py:func}`memdlib.divergences.kl`,
{py:meth}`memdlib.families.Normal.jeffreys`.

```{code-cell} ipython3
:tags: [witness-thm-a, remove-input]
assert True
```

```{code-cell} ipython3
:tags: [second-thm-a]
assert True
```
"""


def chapter(tmp_path, text, name="one"):
    (tmp_path / "book" / "theory").mkdir(parents=True, exist_ok=True)
    toc = "- file: book/notebooks/theory/two\n- file: book/notebooks/theory/one\n"
    (tmp_path / "_toc.yml").write_text(toc)
    path = tmp_path / "book" / "theory" / f"{name}.md"
    path.write_text(text)
    return path


def test_a_whole_statement_is_read(tmp_path):
    (found,) = statements_of(chapter(tmp_path, CHAPTER))
    assert (found.label, found.kind, found.title) == ("thm-a", "theorem", "A title")
    assert found.proved
    assert (found.witness, found.second) == (0, 1)
    assert found.functions == (
        "memdlib.divergences.kl",
        "memdlib.families.Normal.jeffreys",
    )
    assert lint_statements(tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (":::{prf:proof}", ":::{prf:remark}", "not directly followed by its proof"),
        ("witness-thm-a", "witness-thm-b", "no cell with the tag witness-thm-a"),
        ("second-thm-a", "other", "no cell with the tag second-thm-a"),
        ("[witness-thm-a", "[witness-thm-a, second-thm-a", "second computation in one"),
        ("*In code:*", "In words:", r"no line '\*In code:\*'"),
        ("divergences.kl", "divergences.lk", "memdlib.divergences.lk, which cannot be"),
        ("memdlib.divergences.kl", "momdlib.kl", "momdlib.kl, which cannot be import"),
    ],
)
def test_what_is_missing_is_named(tmp_path, old, new, problem):
    assert old in CHAPTER
    chapter(tmp_path, CHAPTER.replace(old, new))
    problems = lint_statements(tmp_path)
    assert len(problems) >= 1
    assert re.search(problem, problems[0])
    assert problems[0].startswith("one.md: thm-a ")


def test_a_cell_may_have_several_tags(tmp_path):
    chapter(tmp_path, CHAPTER.replace("second-thm-a", "second-thm-a, witness-thm-a"))
    assert lint_statements(tmp_path) == []


def test_labels_are_needed_and_are_given_once(tmp_path):
    path = chapter(tmp_path, CHAPTER)
    chapter(tmp_path, CHAPTER, "two")
    assert lint_statements(tmp_path) == ["the label thm-a is given twice"]
    path.write_text(CHAPTER.replace(":label: thm-a\n", ""))
    with pytest.raises(ValueError, match=r"one\.md: a theorem has no label"):
        lint_statements(tmp_path)


def test_the_index_follows_the_book_and_links_both_ways(tmp_path):
    chapter(tmp_path, CHAPTER)
    chapter(tmp_path, CHAPTER.replace("thm-a", "lem-b"), "two")
    found = read_statements(tmp_path)
    assert [s.label for s in found] == ["lem-b", "thm-a"]
    lines = index_table(found, {"thm-a": Checked("thm-a", "", "part 2", ())})
    assert lines[0].startswith("1 of 2 statements are machine-checked")
    assert lines[4].startswith(
        "| {prf:ref}`lem-b` | A title |  | {py:obj}`~memdlib.div"
    )
    assert "| A title | {ref}`in part <proof-thm-a>` | {py:obj}" in lines[5]
    assert len(lines) == 6
    links = statements_by_function(found)
    assert links["memdlib.divergences.kl"] == ["lem-b", "thm-a"]


def test_the_book_has_no_statement_without_its_checks():
    assert lint_statements(root()) == []
    assert len(read_statements(root())) >= 2
