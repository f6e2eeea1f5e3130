"""What the notebooks share: figures that describe themselves, numbers, tables."""

import base64
import doctest
import io

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from compendium.book import display
from compendium.execution.notebooks import FIGURE

HELPERS = display._helpers
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


def test_examples():
    assert doctest.testmod(HELPERS).failed == 0
