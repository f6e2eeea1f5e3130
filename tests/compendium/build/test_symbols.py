from compendium.build.symbols import by_chapter

PAGE = """
# Symbols

## In all chapters

| symbol | meaning | defined in |
| :--- | :--- | :--- |
| $n$, $n_k$ | number of rows | {ref}`one` |
| $\\lambda$ | natural parameters | {ref}`one` |

## In some chapters

| symbol | meaning | in |
| :--- | :--- | :--- |
| $g$ | score | {ref}`one` |
| $g$ | mean | {ref}`two` |
| $\\mathcal{C}$ | sum | {ref}`two` |

## Free letters

| symbol | meaning | used |
| :--- | :--- | :--- |
| $a$, $t$ | any | wherever they help |
"""


def test_each_chapter_has_its_own_symbols_folded(project):
    contents = (
        "root: index\nparts:\n  - numbered: true\n    chapters:\n"
        "      - file: book/theory/one\n      - file: book/notebooks/nml/two\n"
        "      - file: book/notebooks/none\n"
    )
    project.write("_toc.yml", contents)
    project.write("book/none.md", "(none)=\n# None\n")
    project.write("book/symbols.md", PAGE)
    project.write("book/theory/one.md", "(one)=\n# One\n")
    project.write("book/nml/two.md", "(two)=\n# Two\n")
    text = "\n".join(by_chapter(project.root))
    one, two = text.split(":::{dropdown} ")[1:]
    assert one.startswith("1. One\n") and two.startswith("2. Two\n")
    assert "| $g$ | score |" in one and "| mean |" not in one and "$n$" not in one
    assert "| $g$ | mean |" in two and "| $\\mathcal{C}$ | sum |" in two
