"""What the notebooks share: figures that describe themselves, numbers, tables."""

import base64
import colorsys
import doctest
import io

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.patheffects import withStroke
from PIL import Image

from compendium.book import display
from compendium.execution.notebooks import DARK, FIGURE, figures
from compendium.project import root

HELPERS = display._helpers
NOTEBOOKS = sorted((root() / "book" / "notebooks").glob("*.ipynb"))
ALT = "A straight line that rises from the lower left to the upper right."


@pytest.fixture
def shown(monkeypatch):
    made = []
    monkeypatch.setattr(HELPERS, "display", lambda *a, **more: made.append((*a, more)))
    return made


def draw():
    figure, axes = plt.subplots(figsize=(5, 3))
    axes.plot([0, 1], [0, 1])
    axes.set_xlabel("x", fontsize=8)
    return figure


@plt.rc_context()
def test_figures_are_in_the_type_of_the_book(monkeypatch):
    monkeypatch.setenv("MPL_IGNORE_SYSTEM_FONTS", "1")
    HELPERS.use_style()
    assert "SourceSansPro" in HELPERS.font_manager.findfont("Source Sans Pro")


def test_a_figure_has_picture_data_caption_and_least_width(shown):
    frame = pd.DataFrame({"x": [0.123456789]})
    state = {"m": 2, "at": (np.float64(0.3) + 1e-16,)}
    HELPERS.show(draw(), "line", caption="Rises.", alt=ALT, data=frame, moves=state)
    (data, given), (caption, _) = shown
    assert data["text/plain"] == "x\n0.123457\n"
    # 5 inches are 360 points, and 8 of them are to be 9 pixels
    about = {"name": "line", "alt": ALT, "least": 405, "moves": {"m": 2, "at": [0.3]}}
    assert data[FIGURE] == about
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert image.size == (800, 480) and given["metadata"]["image/png"]["width"] == 500
    assert caption.data == "**Figure.** Rises." and plt.get_fignums() == []
    dark = Image.open(io.BytesIO(base64.b64decode(data[DARK]))).convert("RGB")
    assert dark.size == image.size
    assert dark.getpixel((0, 0)) == (0x15, 0x18, 0x1B)  # --pst-color-background


def collisions(plot):
    """What is said of a figure that a function draws on axes from 0 to 1."""
    figure, axes = plt.subplots(figsize=(5, 3))
    axes.set(xlim=(0, 1), ylim=(0, 1))
    plot(axes)
    complaints = HELPERS.collisions(figure)
    plt.close(figure)
    return complaints


def two_labels(axes):
    axes.text(0.5, 0.5, "one")
    axes.text(0.52, 0.52, "two")


def crowded_ticks(axes):
    axes.set_xticks([0.5, 0.52, 2.0, 2.0], ["one", "two", "beyond", "the axis"])
    axes.set_xlim(0, 1)


def a_label_on_a_legend(axes):
    axes.plot([], [], "o", label="one")
    axes.legend(loc="center")
    axes.text(0.5, 0.48, "two")


@pytest.mark.parametrize("plot", [two_labels, crowded_ticks, a_label_on_a_legend])
def test_texts_that_overlap_are_told(plot):
    complaints = collisions(plot)
    assert len(complaints) == 1 and "overlap" in complaints[0]
    assert "'one'" in complaints[0] and "'two'" in complaints[0]


def marked(axes):
    axes.plot([0.53], [0.52], "o")


def scattered(axes):
    axes.scatter([0.1, 0.53], [0.1, 0.52])


@pytest.mark.parametrize("plot", [marked, scattered])
def test_a_label_on_a_point_is_told(plot):
    def labelled(axes):
        plot(axes)
        axes.text(0.5, 0.5, "label", path_effects=[withStroke(linewidth=3)])
        axes.text(0.7, 0.7, "free")

    assert collisions(labelled) == ["'label' covers a point: move it away"]


@pytest.mark.parametrize(
    "plot",
    [
        lambda axes: axes.plot([0, 1], [0.02, 1.02]),
        lambda axes: axes.axhline(0.52),
        lambda axes: axes.vlines(0.53, 0, 1),
        lambda axes: axes.errorbar([0.2], [0.52], xerr=0.5, fmt="o"),
        lambda axes: axes.step([0, 0.53, 1], [0.1, 0.1, 0.9], where="pre"),
    ],
)
def test_a_label_that_a_line_crosses_needs_a_halo(plot):
    def labelled(axes, effects=None):
        plot(axes)
        axes.text(0.5, 0.5, "label", path_effects=effects)
        axes.text(0.6, 0.2, "free")

    (complaint,) = collisions(labelled)
    assert complaint.startswith("'label' is crossed by a line: ")
    halo = [withStroke(linewidth=3, foreground="white")]
    assert collisions(lambda axes: labelled(axes, halo)) == []


def contrast(one, other):
    """By the definition of WCAG 2.2; grey #767676 on white has 4.54."""
    rgb = np.array([to_rgb(one), to_rgb(other)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    darker, lighter = sorted(linear @ [0.2126, 0.7152, 0.0722])
    return (lighter + 0.05) / (darker + 0.05)


def hue(colour):
    return 360 * colorsys.rgb_to_hsv(*to_rgb(colour))[0]


@pytest.mark.parametrize("colour", HELPERS.PALETTE)
def test_colours_keep_their_hue_on_a_dark_page_and_can_be_read(colour):
    dark = HELPERS.on_dark(colour)
    assert contrast(dark, HELPERS.DARK_GROUND) >= 4.5
    assert abs(hue(dark) - hue(colour)) <= 15


@pytest.mark.parametrize("grey", [HELPERS.GREY, "#333333", "#555555", "#bbbbbb"])
def test_greys_and_tints_keep_their_contrast(grey):
    assert contrast("#767676", "white") == pytest.approx(4.54, abs=0.005)
    expected = min(contrast(grey, "white"), 14)
    dark = HELPERS.on_dark(grey)
    assert contrast(dark, HELPERS.DARK_GROUND) == pytest.approx(expected, rel=0.04)


def rendered(figure):
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)


def test_no_artist_keeps_the_colours_of_a_white_page():
    figure, axes = plt.subplots(layout="constrained", facecolor="white")
    axes.plot([0, 1], [0, 1], "k-o", mfc="none", alpha=0.5, label="line")
    axes.plot([0, 1], [1, 0.9], color=np.zeros(3))
    axes.scatter([0.2], [0.6], c="white", edgecolor="black")
    axes.bar([0.5], [0.3], 0.1, color="black", edgecolor="white", hatch="//")
    axes.fill_between([0, 1], [0.9, 0.9], [1, 1], color="#ffeeee")
    axes.contourf([0.6, 0.8], [0.1, 0.3], [[0, 1], [1, 2]], colors=["k", "w"])
    halo = [withStroke(linewidth=3, foreground="white")]
    axes.text(0.7, 0.7, "label", color="black", path_effects=halo)
    arrow = {"arrowstyle": "->", "color": "black"}
    boxed = {"facecolor": "white", "edgecolor": "black"}
    axes.annotate("note", (0.4, 0.4), (0.1, 0.8), arrowprops=arrow, bbox=boxed)
    axes.legend(frameon=True)
    figure.suptitle("title")
    HELPERS.recolour_for_dark(figure)
    figure.set_facecolor(HELPERS.DARK_GROUND)
    pixels = rendered(figure)
    plt.close(figure)
    assert pixels.min() >= 0x0F and pixels.max() <= 0xE6


def test_a_colour_map_and_what_lies_on_it_keep_their_colours():
    figure, (axes, plain) = plt.subplots(1, 2)
    mesh = axes.pcolormesh(np.arange(12.0).reshape(3, 4), cmap="viridis")
    axes.plot([1, 3], [1, 2], color="black")
    axes.text(2, 1.5, "ten", color="white")
    title = axes.set_title("title", color="black")
    (line,) = plain.plot([0, 1], [0, 1], color="black", alpha=0.5)
    figure.colorbar(mesh, ax=plain)
    before = rendered(figure)
    HELPERS.recolour_for_dark(figure)
    after = rendered(figure)
    inside = axes.get_window_extent()
    across = slice(round(inside.x0) + 2, round(inside.x1) - 2)
    height = len(before)
    up = slice(height - round(inside.y1) + 2, height - round(inside.y0) - 2)
    plt.close(figure)
    np.testing.assert_array_equal(after[up, across], before[up, across])
    assert title.get_color() == to_rgba(line.get_color())
    assert to_hex(title.get_color()) == "#e4e4e4" and line.get_alpha() == 0.5


def test_collisions_are_kept_with_the_figure(shown):
    figure, axes = plt.subplots()
    two_labels(axes)
    data = pd.DataFrame({"x": [0.5, 0.52]})
    HELPERS.show(figure, "labels", caption="Two labels.", alt=ALT, data=data)
    told = shown[0][0][FIGURE]["collisions"]
    assert told == ["'one' and 'two' overlap: move one of them"]


@pytest.mark.parametrize("alt", ["too short", ALT])
def test_an_alternative_text_must_say_what_is_seen(shown, alt):
    with pytest.raises(ValueError, match="the alternative text must describe"):
        HELPERS.show(draw(), "line", caption=ALT, alt=alt, data=pd.DataFrame())
    plt.close("all")
    assert shown == []


def test_a_table_with_a_caption_needs_a_name(shown):
    HELPERS.show_table(["a"], [["1"]], "r", caption="Sizes.", name="tab-a")
    ((table, given),) = shown
    assert table.data == "Sizes.\n\n| a |\n| ---: |\n| 1 |\n"
    assert given["metadata"] == {"table": "tab-a"}
    with pytest.raises(ValueError, match="needs a name"):
        HELPERS.show_table(["a"], [["1"]], "r", caption="Sizes.")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_figures_can_be_read(path):
    """Their texts do not overlap and cover no points, and no line crosses labels."""
    told = {
        about["name"]: about["collisions"]
        for about, _, _ in figures(nbformat.read(path, as_version=4))
        if "collisions" in about
    }
    assert told == {}


def test_examples():
    assert doctest.testmod(HELPERS).failed == 0
