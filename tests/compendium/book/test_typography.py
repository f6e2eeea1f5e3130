import pytest
from docutils import nodes

from compendium.book.typography import hold_formulas, hold_units, shorten_code

FORMULA = "$"  # stands for a formula in the pieces of a paragraph


def paragraph(*pieces):
    made = nodes.paragraph()
    for piece in pieces:
        made += nodes.math("", "x") if piece == FORMULA else nodes.Text(piece)
    return made


def shown(made):
    """The text, with what is kept on one line in brackets."""
    parts = [part.astext() for part in made.children]
    held = [isinstance(part, nodes.inline) for part in made.children]
    return "".join(f"[{t}]" if h else t for t, h in zip(parts, held, strict=True))


@pytest.mark.parametrize(
    ("pieces", "page"),
    [
        (["of ", FORMULA, ", and"], "of [x,] and"),
        (["two (", FORMULA, "). Then"], "two [(x).] Then"),
        (["a ", FORMULA, "-th one"], "a [x-th] one"),
        ([FORMULA, ":"], "[x:]"),
        (["from ", FORMULA, "–", FORMULA, ", say"], "from [x–x,] say"),
        (["a ", FORMULA, " alone"], "a x alone"),
        ([FORMULA], "x"),
    ],
)
def test_what_touches_a_formula_stays_with_it(pieces, page):
    made = paragraph(*pieces)
    plain = made.astext()
    hold_formulas(made)
    assert shown(made) == page
    assert made.astext() == plain
    assert len(list(made.findall(nodes.math))) == pieces.count(FORMULA)


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("the 95 % interval", "the 95~% interval"),
        ("took 4.5\ns or 3 nats; 2 MB", "took 4.5~s or 3~nats; 2~MB"),
        ("the 2 sides, 3 hours", "the 2 sides, 3 hours"),
        ("a % of", "a % of"),
    ],
)
def test_a_unit_stays_with_its_number(text, page):
    made = paragraph(text)
    hold_units(made)
    assert made.astext().replace("\N{NO-BREAK SPACE}", "~") == page


def test_a_unit_stays_with_a_number_that_was_computed_and_not_with_code():
    made = nodes.paragraph("", "", nodes.inline("", "95"), nodes.Text(" % of "))
    made += [nodes.literal("", "x = 3 % 2"), nodes.math("", "n"), nodes.Text(" bits")]
    hold_units(made)
    assert made.astext() == "95\N{NO-BREAK SPACE}% of x = 3 % 2n\N{NO-BREAK SPACE}bits"


def in_code(*names):
    line = nodes.paragraph("", "", nodes.emphasis("", "In code:"))
    for name in names:
        line += [nodes.Text(" "), nodes.reference("", "", nodes.literal("", name))]
    return line


def test_the_line_on_code_is_short_where_that_is_clear():
    line = in_code("memdlib.nml.kl()", "memdlib.MeMd.fit()", "a.js()", "b.js()")
    shorten_code(nodes.section("", line, nodes.paragraph()))
    assert line["classes"] == ["in-code"]
    assert line.astext() == "In code: kl() MeMd.fit() a.js() b.js()"


def test_other_lines_keep_their_names():
    line = nodes.paragraph("", "", nodes.literal("", "memdlib.nml.kl()"))
    shorten_code(nodes.section("", line))
    assert line.astext() == "memdlib.nml.kl()" and line["classes"] == []
