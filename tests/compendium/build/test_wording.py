"""Words that state results are found, others are left alone."""

import textwrap

import pytest

from compendium.build.gates import lint_source


def words(text):
    """What the gate complains of in a source."""
    return [p for p in lint_source("x.md", text) if "result in words" in p]


@pytest.mark.parametrize(
    "sentence",
    [
        "A few messages make up nearly half of all words\nof the group.",
        "The accuracy falls by a third.",
        "About two in seven patients are AML.",
        "It wins on 8 of 11 tasks.",
        "It wins on eight out of eleven tasks.",
        "Four of them\nagree.",
        "The first ten genes share none.",
        "The two rankings have nothing in common.",
        "More than two-thirds are right.",
        "Half of the genes are constant.",
        "None of these reproduces the figure.",
    ],
)
def test_a_result_in_words_is_found(sentence):
    assert words(f"# Title\n\n{sentence}\n")


def test_line_and_words_are_named():
    (found,) = words("# Title\n\nSome text.\nThe accuracy falls by a third.\n")
    assert found.startswith("x.md:4: 'by a third' is a result in words")


@pytest.mark.parametrize(
    "sentence",
    [
        "One of them is a bound.",
        "Half of the messages train, the other half test.",
        "The last fifth of the rows is set aside.",
        "Variances are shrunk by half.",
        "The first moment, the second and a third are given.",
        "It adds $\\frac13$ of $x$, {glue:text}`share` of the genes.",
        "The code of `half of the` genes.",
        ":::{prf:proof}\nAt least half of the terms are positive.\n:::",
    ],
)
def test_what_was_not_measured_passes(sentence):
    assert words(f"# Title\n\n{sentence}\n") == []


def test_a_remark_and_a_caption_are_read_and_other_strings_are_not():
    assert words(":::{prf:remark}\nNearly half of all words are noise.\n:::\n")
    cell = """
        ```{code-cell} ipython3
        show(figure, caption="Two lines. " f"{a} and nearly half of all genes.",
             alt="Four lines; three of them rise.", data="half of the")
        print("three of them")
        ```
    """
    found = words(textwrap.dedent(cell))
    assert [problem.split(" is ")[0] for problem in found] == [
        "x.md:3: 'nearly half'",
        "x.md:4: 'three of them'",
    ]
