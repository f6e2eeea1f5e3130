import pytest

from compendium.build.symbols import (
    Symbol,
    by_chapter,
    declared,
    lint_symbols,
    written,
)

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
ONE = "(one)=\n# One\n\nLet $n$, $n_a$, $g_1 = a_1 \\, t$ and $\\lambda_0$ be given.\n"
TWO = "(two)=\n# Two\n\n$$\n\\hat g = \\mathcal{C}(n) \\, dt\n$$\n"


def book(project, page=PAGE, one=ONE, two=TWO):
    project.write("book/symbols.md", page)
    project.write("book/theory/one.md", one)
    project.write("book/nml/two.md", two)
    return project.root


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        (r"$x_i + x$", ["x_", "i", "x"]),
        (
            r"$\bar\phi, \hat p_k, \tilde{q}$",
            [r"\bar\phi", r"\hat p", "k", r"\tilde q"],
        ),
        (r"$p^*_k$ and $\theta^{*}$", ["p^*", "k", r"\theta^*"]),
        (
            r"$\mathrm{JS}_\pi, \mathrm{JS}_{GM,s}$",
            [r"\mathrm{JS}_", r"\pi", r"\mathrm{JSGM}", "s"],
        ),
        (r"$\mathrm{JS}_G$", [r"\mathrm{JSG}"]),
        (r"$\int f \, dx + O(d)$", ["f", "x", "O", "d"]),
        (r"$\underbrace{\log \mathcal{C}}_{\text{a word}}$", [r"\mathcal{C}"]),
        (r"$\operatorname{Var} a \ne \mathbb{E}\, a$", ["a", r"\mathbb{E}", "a"]),
        ("```{math}\n:label: eq-a\na = b\n```\n", ["a", "b"]),
        ("$$\na\n$$ and $b$ cost \\$5 or `$c$`", ["a", "b"]),
        ("```{code-cell} ipython3\nprint('$a$')\n```\n", []),
    ],
)
def test_symbols_are_read_from_formulas(formula, found):
    assert [form for form, _ in written(formula)] == found


def test_the_page_is_read(project):
    symbols = declared(book(project))
    assert [s.form for s in symbols] == [
        *("n", "n_", r"\lambda", "g", "g", r"\mathcal{C}", "a", "t")
    ]
    assert symbols[3] == Symbol("g", "score", ("one",), "## In some chapters")


def test_a_book_that_keeps_to_its_page_passes(project):
    assert lint_symbols(book(project)) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"one": ONE + "$h$"}, "book/theory/one.md: h is not on the page of symbols"),
        ({"two": TWO + "$n_k$"}, r"book/nml/two.md: k is not on the page of symbols"),
        ({"one": ONE + r"$\mathcal{C}$"}, r"book/theory/one.md: \mathcal{C} is not on"),
        ({"one": ONE.replace("g_1", "a")}, "symbols.md: g is not used in one"),
        ({"one": ONE.replace(", $n_a$", "")}, "symbols.md: n_ is not used in one"),
        (
            {"page": PAGE.replace("{ref}`two`", "{ref}`one`", 1)},
            "symbols.md: g has two meanings in one",
        ),
        (
            {"two": TWO + r"With few rows the share $\lambda$ is near one."},
            r"book/nml/two.md: \lambda is called share",
        ),
        (
            {"one": ONE + r"Here $\lambda_2$ is the largest eigenvalue."},
            r"book/theory/one.md: \lambda is called eigenvalue",
        ),
        (
            {"two": TWO + r"measures $\lambda_a = t$ and rows $n$"},
            r"book/nml/two.md: \lambda is called measure",
        ),
        (
            {
                "page": PAGE.replace(
                    "| sum | {ref}`two`", "| sum | {ref}`two`, {ref}`three`"
                )
            },
            "symbols.md: no chapter is three",
        ),
    ],
)
def test_each_fault_is_named(project, change, problem):
    found = lint_symbols(book(project, **change))
    assert any(line.startswith(problem) for line in found), found


def test_a_marked_letter_that_is_listed_for_others_is_another_symbol(project):
    page = PAGE.replace(
        "| mean | {ref}`two`", "| mean | {ref}`two` |\n| $g_i$ | margin | {ref}`two`"
    )
    found = lint_symbols(book(project, page=page, two=TWO + "$g_a$"))
    assert "book/theory/one.md: g_ is not on the page of symbols" in found


def test_a_line_that_cannot_be_read_is_named(project):
    with pytest.raises(ValueError, match="a line that cannot be read: .*score"):
        declared(book(project, page=PAGE.replace("score | {ref}`one`", "score | one")))


def test_each_chapter_has_its_own_symbols_folded(project):
    contents = (
        "root: index\nparts:\n  - numbered: true\n    chapters:\n"
        "      - file: book/theory/one\n      - file: book/notebooks/nml/two\n"
        "      - file: book/notebooks/none\n"
    )
    project.write("_toc.yml", contents)
    project.write("book/none.md", "(none)=\n# None\n")
    text = "\n".join(by_chapter(book(project)))
    one, two = text.split(":::{dropdown} ")[1:]
    assert one.startswith("1. One\n") and two.startswith("2. Two\n")
    assert "| $g$ | score |" in one and "| mean |" not in one and "$n$" not in one
    assert "| $g$ | mean |" in two and "| $\\mathcal{C}$ | sum |" in two
