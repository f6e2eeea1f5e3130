from base64 import b64decode

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from compendium.build import display
from compendium.build.display import (
    checked,
    number,
    scientific,
    show,
    show_table,
    use_style,
)
from compendium.build.readable import FIGURE

ALT = "A straight line that rises from the lower left to the upper right corner."


@pytest.fixture
def displayed(monkeypatch):
    """What the pages hand to IPython's display, one tuple a call."""
    calls = []
    monkeypatch.setattr(
        display, "display", lambda shown, **more: calls.append((shown, more))
    )
    return calls


def draw(**changes):
    figure, axes = plt.subplots()
    axes.plot([0, 1], [0, 1 / 3])
    given = {"caption": "A line.", "alt": ALT, "data": pd.DataFrame({"x": [0, 1 / 3]})}
    show(figure, "line", **(given | changes))


def test_a_figure_comes_with_text_and_data(displayed):
    use_style()
    draw()
    draw()
    (data, more), (again, _) = displayed
    assert data["text/plain"] == "x\n0\n0.333333\n"
    assert data[FIGURE] == {"name": "line", "caption": "A line.", "alt": ALT}
    assert "<dc:date>" not in data["image/svg+xml"]
    assert data == again
    assert b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert more["metadata"]["image/png"]["width"] < 600
    assert plt.get_fignums() == []


@pytest.mark.parametrize("alt", ["", "A line.", "too few words to see it"])
def test_a_figure_without_alternative_text_is_refused(alt):
    with pytest.raises(ValueError, match="'line': the alternative text must describe"):
        draw(alt=alt)
    plt.close("all")


def test_a_figure_that_moves_says_in_which_state_it_opens(displayed):
    draw()
    draw(moves={"mean": 0.5})
    still, moving = (data[FIGURE] for data, _ in displayed)
    assert "moves" not in still and moving["moves"] == {"mean": 0.5}


@pytest.mark.parametrize(
    ("value", "text"),
    [(9.1e-15, r"$1\times 10^{-14}$"), (1e-3, r"$1\times 10^{-3}$"), (0.0, "0")],
)
def test_small_numbers_are_rounded_up(value, text):
    assert scientific(value) == text


def test_numbers_and_tables(displayed):
    assert number(-1.005, 1) == "−1.0"
    show_table(["a", "b"], [["x", "1"]], "lr")
    assert displayed[0][0].data == "| a | b |\n| :--- | ---: |\n| x | 1 |\n"


@pytest.mark.parametrize(
    ("error", "end"),
    [(2.1e-15, ", error 3e-15"), (0, ", error 0"), (0.011, ", error 0.02")],
)
def test_a_check_says_its_error_and_keeps_its_bound(displayed, error, end):
    checked("sums agree", "two ways", error=error, within=0.1)
    ((data, more),) = displayed
    assert data == {"text/plain": "Checked: sums agree, two ways, error at most 0.1"}
    line = more["metadata"]["memdlib_check"]["line"]
    assert line == f"Checked: sums agree, two ways{end}"


def test_an_exact_check_has_no_error(displayed):
    checked("sets agree", "all 63")
    ((data, more),) = displayed
    assert data["text/plain"] == "Checked: sets agree, all 63"
    assert more["metadata"]["memdlib_check"]["line"] == data["text/plain"]


@pytest.mark.parametrize("error", [0.2, float("nan"), -0.01])
def test_an_error_above_its_bound_fails(displayed, error):
    with pytest.raises(AssertionError, match="sums agree, two ways: error"):
        checked("sums agree", "two ways", error=error, within=0.1)
    assert displayed == []


@pytest.mark.parametrize("given", [{"error": 0.1}, {"within": 0.1}])
def test_an_error_comes_with_its_bound(given):
    with pytest.raises(ValueError, match="are given together"):
        checked("sums agree", "two ways", **given)
