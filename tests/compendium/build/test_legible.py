import matplotlib.pyplot as plt
import pandas as pd
import pytest

from compendium.build import display
from compendium.build.display import show, show_table, use_style
from compendium.build.legible import least_width, number_tables, with_least_widths

ALT = "A straight line that rises from the lower left to the upper right corner."


def picture(monkeypatch, **options):
    shown = []
    monkeypatch.setattr(display, "display", lambda data, **more: shown.append(data))
    use_style()
    figure, axes = plt.subplots(figsize=(5.0, 3.0))
    axes.plot([0, 1], [0, 1])
    axes.set_title("title", **options)
    axes.set_ylabel("upright")
    show(figure, "f", caption="A line.", alt=ALT, data=pd.DataFrame({"x": [0]}))
    return shown[0]["image/svg+xml"]


@pytest.mark.parametrize(("size", "smallest"), [(7, 7.0), (20, 11.5)])
def test_the_smallest_lettering_sets_the_width(monkeypatch, size, smallest):
    # 5 inches are 360 points; lettering of 9 points is 9 pixels at 360 pixels
    assert least_width(picture(monkeypatch, fontsize=size)) == pytest.approx(
        360 * 9 / smallest, abs=1
    )


def test_a_picture_without_lettering_has_no_least_width():
    assert least_width('<svg viewBox="0 0 10 10"></svg>') == 0


def test_only_figures_of_the_book_get_a_width():
    lettered = (
        '<svg viewBox="0 0 100 50"><g transform="translate(1 2) rotate(-90)'
        ' scale(0.1 -0.1)"></g></svg>'
    )
    body = (
        '<p><img alt="a" class="memdlib-figure" src="i/a.svg" /><img src="b.svg"></p>'
    )
    asked = []
    found = with_least_widths(body, lambda src: asked.append(src) or lettered)
    assert asked == ["i/a.svg"]
    assert found.startswith('<p><span class="scrolls"><img style="--least: 90px" alt=')
    assert found.endswith('src="i/a.svg" /></span><img src="b.svg"></p>')


def test_a_figure_without_svg_has_its_least_width_in_a_class():
    body = '<img alt="a" class="memdlib-figure least-450" src="i/a.png" />'
    found = with_least_widths(body, read=None)
    assert found.startswith('<span class="scrolls"><img style="--least: 450px" alt=')


def test_a_captioned_table_is_plain_where_stored_and_numbered_in_the_book(monkeypatch):
    shown = []
    monkeypatch.setattr(
        display,
        "display",
        lambda data, metadata: shown.append(
            {"data": {"text/markdown": data.data}, "metadata": metadata}
        ),
    )
    show_table(["a"], [["1"]], "r", caption="Some {cite:t}`x`.", name="tab-a")
    assert (
        shown[0]["data"]["text/markdown"]
        == "Some {cite:t}`x`.\n\n| a |\n| ---: |\n| 1 |\n"
    )
    other = {"data": {"text/markdown": "a\n\nb"}}
    notebook = {"cells": [{}, {"outputs": [other, *shown]}]}
    assert number_tables(notebook)
    assert other == {"data": {"text/markdown": "a\n\nb"}}
    text = notebook["cells"][1]["outputs"][1]["data"]["text/markdown"]
    assert text == (
        "```{table} Some {cite:t}`x`.\n:name: tab-a\n\n| a |\n| ---: |\n| 1 |\n```\n"
    )
    assert not number_tables({"cells": [{"outputs": [other]}]})


@pytest.mark.parametrize(
    "given", [{"caption": "A."}, {"name": "a"}, {"caption": "A.\nB.", "name": "a"}]
)
def test_a_caption_needs_a_name_and_one_line(given):
    with pytest.raises(ValueError, match="needs a caption in one line and a name"):
        show_table(["a"], [["1"]], "r", **given)
