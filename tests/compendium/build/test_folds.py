from nbformat.v4 import new_code_cell, new_output

from compendium.build.folds import FIGURE, NUMBERS, label_fold, without_errors


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
    about = {"memdlib_figure": {"name": "a"}}
    output = new_output("display_data", data={}, metadata=about)
    for tags, expected in (["hide-input"], FIGURE), (["remove-input"], None):
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


def test_rounding_errors_are_no_difference_but_bounds_are():
    one, other = checked_output("error 3e-15"), checked_output("error 4e-15")
    assert without_errors([one]) == without_errors([other])
    assert one.metadata["memdlib_check"]["line"] == "error 3e-15"
    wider = checked_output("error 3e-15", bound="error at most 1e-06")
    assert without_errors([one]) != without_errors([wider])
    assert without_errors(None) is None
