from nbformat.v4 import new_code_cell, new_output

from compendium.build.folds import CODE, NUMBERS, label_fold
from compendium.build.readable import FIGURE


def checked_output(line, bound="Checked: a, b, error at most 1e-09"):
    return new_output(
        "display_data",
        data={"text/plain": bound},
        metadata={"memdlib_check": {"line": line}},
    )


def test_a_check_is_folded_to_its_own_line():
    line = "Checked: a, b, error 3e-15"
    cell = new_code_cell("checked()", outputs=[checked_output(line)])
    label_fold(cell)
    prompts = {"code_prompt_show": line, "code_prompt_hide": line}
    assert cell.metadata["mystnb"] == prompts


def test_the_code_of_a_figure_is_named_beside_its_caption():
    output = new_output("display_data", data={FIGURE: {"name": "a"}})
    for tags, expected in (["hide-input"], CODE), (["remove-input"], None):
        cell = new_code_cell("show()", outputs=[output])
        cell.metadata = type(cell.metadata)(tags=tags, mystnb={"figure": {"name": "a"}})
        label_fold(cell)
        assert cell.metadata["mystnb"].get("code_prompt_show") == expected
        assert cell.metadata["mystnb"]["figure"] == {"name": "a"}


def test_a_folded_table_is_named_by_the_first_words_of_its_caption():
    about = {"memdlib_table": "sizes"}
    for caption, line in (
        ("Sizes of *all* tasks: printed, ours.", "As a table: Sizes of all tasks"),
        ("A share of 0.5 or more. The rest.", "As a table: A share of 0.5 or more"),
    ):
        text = {"text/markdown": f"{caption}\n\n| a |\n| :--- |\n"}
        output = new_output("display_data", data=text, metadata=about)
        for tags, expected in (["remove-input", "hide-output"], line), (["x"], None):
            cell = new_code_cell("show_table()", outputs=[output])
            cell.metadata["tags"] = tags
            label_fold(cell)
            found = cell.metadata.get("mystnb", {}).get("code_prompt_show")
            assert found == expected


def test_a_folded_table_says_that_it_holds_the_numbers():
    for tags in ["remove-input", "hide-output"], ["hide-output"]:
        cell = new_code_cell("show_table()", metadata={"tags": tags})
        label_fold(cell)
        assert cell.metadata["mystnb"]["code_prompt_show"] == NUMBERS
