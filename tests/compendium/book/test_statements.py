import pytest

from compendium.book.proofs import Checked
from compendium.book.statements import index_table, lint_statements, read_statements
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
"""
TESTS = "def test_thm_a_witness():\n    pass\n\n\ndef test_thm_a_second():\n    pass\n"


@pytest.fixture
def chapter(project):
    pages = "- file: book/notebooks/two\n- file: book/notebooks/o-ne\n"
    project.write("_toc.yml", pages)
    project.write("tests/book/theory/test_o_ne.py", TESTS)
    return project.write("book/chapters/o-ne.md", CHAPTER)


@pytest.mark.usefixtures("chapter")
def test_a_whole_statement_is_read(project):
    (found,) = read_statements(project.root)
    assert (found.label, found.title) == ("thm-a", "A title")
    names = ("memdlib.divergences.kl", "memdlib.families.Normal.jeffreys")
    assert found.proved and found.functions == names
    assert lint_statements(project.root) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (":::{prf:proof}", ":::{prf:remark}", "is not directly followed by its proof"),
        ("*In code:*", "In words:", "has no line '*In code:*' that names functions"),
        ("ces.kl", "ces.lk", "names memdlib.divergences.lk, which cannot be imported"),
        ("thm_a_witness", "other", "has no test test_thm_a_witness in test_o_ne.py"),
        ("thm_a_second", "other", "has no test test_thm_a_second in test_o_ne.py"),
    ],
)
def test_what_is_missing_is_named(project, chapter, old, new, problem):
    chapter.write_text(CHAPTER.replace(old, new))
    project.write("tests/book/theory/test_o_ne.py", TESTS.replace(old, new))
    assert lint_statements(project.root) == [f"o-ne.md: thm-a {problem}"]


def test_labels_are_needed_and_are_given_once(project, chapter):
    project.write("book/chapters/two.md", CHAPTER)
    project.write("tests/book/theory/test_two.py", TESTS)
    assert lint_statements(project.root) == ["the label thm-a is given twice"]
    chapter.write_text(CHAPTER.replace(":label: thm-a\n", ""))
    with pytest.raises(ValueError, match=r"o-ne\.md: a theorem has no label"):
        lint_statements(project.root)


@pytest.mark.usefixtures("chapter")
def test_the_index_follows_the_book_and_links_both_ways(project):
    project.write("book/chapters/two.md", CHAPTER.replace("thm-a", "lem-b"))
    project.write("tests/book/theory/test_two.py", TESTS)
    found = read_statements(project.root)
    assert [s.label for s in found] == ["lem-b", "thm-a"]
    lines = index_table(found, {"thm-a": Checked("thm-a", "", "part 2", ())})
    assert lines[0].startswith("1 of 2 statements are machine-checked")
    first = '| <span id="checks-of-lem-b"></span>{prf:ref}`lem-b` | A title | '
    assert lines[4].startswith(f"{first}`theory/test_two.py` |  | {{py:obj}}`~memdlib.")
    assert "`theory/test_o_ne.py` | {ref}`in part <proof-thm-a>` | {py:ob" in lines[5]


def test_the_book_has_no_statement_without_its_proof_and_tests():
    assert lint_statements(root()) == []
    assert len(read_statements(root())) > 50
