"""What the notebooks of this book share: figures, tables, and numbers in sentences.

It needs matplotlib, pandas and IPython, and nothing else of the book: keep it beside a
notebook, and the notebook finds it.
"""

import colorsys
import io
import logging
import os
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cycler import cycler
from IPython.display import Markdown, display
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import (
    Collection,
    LineCollection,
    PathCollection,
    QuadMesh,
)
from matplotlib.colors import to_rgba
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from PIL import Image

# Okabe and Ito's palette without yellow and black; every colour has its own marker and
# dash, so that no line is known by its colour alone.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)), "-", (0, (5, 2)))
GREY = "#767676"
DPI = 160  # of the stored pictures, which are shown at 100
SMALLEST = 9.0  # pixels of the smallest lettering that can be read
GLUED = "application/papermill.record/"  # before the type of what no viewer shows
# What is said of a picture, as data, which nbval compares (it compares no metadata).
# A viewer shows the picture, as it does not know this type; it may know JSON.
FIGURE = "application/vnd.memdlib.figure+json"
# The picture in the colours of the dark pages. Viewers do not know this type, and nbval
# is told to compare it as little as the other picture.
DARK = "application/vnd.memdlib.dark+png"
WHITE_GROUND, DARK_GROUND = "#ffffff", "#15181b"
PALE = 2.0  # contrast with white below which a colour is a tint, not a mark
LEGIBLE = 4.5  # contrast of marks and texts on the dark ground, as WCAG asks of texts
BRIGHTEST = 14.0  # contrast of black lettering there: white would glare

STYLE = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": "#333333",
    "axes.labelsize": 11.5,
    "axes.prop_cycle": cycler(color=PALETTE, marker=MARKERS, linestyle=DASHES),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "figure.constrained_layout.use": True,
    "figure.figsize": (5.8, 3.6),
    "font.size": 11.5,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "mathtext.fontset": "stix",
    "xtick.color": "#555555",
    "ytick.color": "#555555",
}


def find_table(name: str) -> Path:
    """Path of a table of results, for :func:`pandas.read_csv`.

    It is looked for beside this file, in the folder ``data/tables`` of the archive of
    notebooks, and in that of a checkout.

    Raises
    ------
    FileNotFoundError
        If it is in none of them; says where to get it.
    """
    here = Path(__file__).resolve().parent
    for folder in (here, here / "data" / "tables", here.parents[1] / "data" / "tables"):
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(
        f"{name} is missing: download it from the page of this chapter and put it "
        "beside this notebook, or take the archive of all notebooks, which has it"
    )


def use_style() -> None:
    """Set the style of the figures, in the type of the book where that is found."""
    plt.rcParams.update(STYLE)
    if find_spec("font_source_sans_pro"):
        for face in ("Regular", "Semibold", "It"):
            name = f"files/SourceSansPro-{face}.ttf"
            font_manager.fontManager.addfont(str(files("font_source_sans_pro") / name))
        plt.rcParams["font.family"] = "Source Sans Pro"
        # matplotlib has read the fonts; where the system's are ignored it would look
        # for this one among its own only
        os.environ.pop("MPL_IGNORE_SYSTEM_FONTS", None)
    # a font that a machine lacks changes a picture, not what a notebook computes
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)


def show(
    figure: Figure,
    name: str,
    *,
    caption: str,
    alt: str,
    data: pd.DataFrame,
    moves: dict | None = None,
) -> None:
    """Show a figure and under it its caption.

    Parameters
    ----------
    figure : Figure
        Closed afterwards.
    name : str
        Label for cross-references; also the name of the CSV file that a page offers.
    caption : str
        Markdown; says what is seen and what follows from it.
    alt : str
        Describes the picture to a reader who cannot see it.
    data : DataFrame
        The plotted values. They are the text of the picture, to six digits, so that
        whoever compares outputs compares them.
    moves : dict, default=None
        State in which the figure opens on a page, where the script
        ``explain/<name>.js`` lets a reader move it. Its numbers are kept to six digits,
        which every processor gives alike.

    Raises
    ------
    ValueError
        If the alternative text says too little, or repeats the caption.
    """
    if len(alt.split()) < 8 or alt.strip() == caption.strip():
        raise ValueError(
            f"figure {name!r}: the alternative text must describe the picture in at "
            f"least eight words, other than the caption; got {alt!r}"
        )
    sizes = [t.get_fontsize() for t in figure.findobj(Text) if t.get_text()]
    least = 72 * figure.get_figwidth() * SMALLEST / min(sizes, default=72)
    about = {"name": name, "alt": alt, "least": round(least)}
    if moves is not None:
        about["moves"] = six_digits(moves)
    if hidden := collisions(figure):
        about["collisions"] = hidden  # a test refuses them; a reader may lack our fonts
    picture, size = png(figure, WHITE_GROUND)
    recolour_for_dark(figure)
    dark, _ = png(figure, DARK_GROUND)
    plt.close(figure)
    display(
        {
            "image/png": picture,
            DARK: dark,
            "text/plain": data.to_csv(index=False, float_format="%.6g"),
            FIGURE: about,
        },
        metadata={"image/png": size},
        raw=True,
    )
    display(Markdown(f"**Figure.** {caption}"))


def six_digits(state):
    """The same state, in lists and dicts, with every float to six digits.

    Examples
    --------
    >>> six_digits({"m": 2, "at": (0.1 + 0.2, 1 / 3)})
    {'m': 2, 'at': [0.3, 0.333333]}
    """
    if isinstance(state, float):
        return float(f"{state:.6g}")
    if isinstance(state, dict):
        return {key: six_digits(value) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return [six_digits(value) for value in state]
    return state


def png(figure: Figure, ground: str) -> tuple[str, dict[str, int]]:
    """A figure as PNG, in few colours and in base64; its size on a page."""
    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, dpi=DPI, facecolor=ground)
    image = Image.open(drawn).convert("RGB")
    colours = 256 if any(map(on_colour_map, figure.findobj(Axes))) else 64
    image.quantize(colours, dither=Image.Dither.NONE).save(small, "png", optimize=True)
    width, height = (round(length * 100 / DPI) for length in image.size)
    return b64encode(small.getvalue()).decode(), {"width": width, "height": height}


def collisions(figure: Figure) -> list[str]:
    """What cannot be read well in a figure, each with its remedy.

    Texts that overlap; labels among the data that cover points, or that a line crosses
    whereas no halo sets them apart.
    """
    figure.draw_without_rendering()  # only now are the positions of texts known
    boxes = [(text, lettering(text)) for text in drawn_texts(figure)]
    complaints = [
        f"{one.get_text()!r} and {other.get_text()!r} overlap: move one of them"
        for (one, first), (other, second) in combinations(boxes, 2)
        if Bbox.intersection(first, second) is not None
    ]
    for axes in figure.findobj(Axes):
        for text, box in boxes:
            if text in axes.texts:
                about = repr(text.get_text())
                near = box.padded(2)  # pixels, about the radius of a point
                if any(near.contains(*point) for point in drawn_points(axes)):
                    complaints.append(f"{about} covers a point: move it away")
                elif not text.get_path_effects() and any(
                    path.intersects_bbox(box, filled=False)
                    for path in drawn_lines(axes)
                ):
                    complaints.append(
                        f"{about} is crossed by a line: move it, or give it a halo, "
                        'path_effects=[withStroke(linewidth=3, foreground="white")]'
                    )
    return complaints


def drawn_texts(figure: Figure) -> Iterator[Text]:
    """Texts that are seen in a figure that has been drawn."""
    texts = [*figure.texts]
    for legend in figure.findobj(Legend):
        texts += legend.get_texts()
    for axes in figure.findobj(Axes):
        if axes.get_visible():
            texts += [child for child in axes.get_children() if isinstance(child, Text)]
            for axis in (axes.xaxis, axes.yaxis):
                if axes.axison and axis.get_visible():
                    texts += [axis.label, axis.get_offset_text()]
                    # the others are made, but not drawn
                    low, high = sorted(axis.get_view_interval())
                    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                        if low <= tick.get_loc() <= high:
                            texts += [tick.label1, tick.label2]
    for text in texts:
        if text.get_visible() and text.get_text().strip():
            yield text


def lettering(text: Text) -> Bbox:
    """Box of the letters of a text, in pixels, without the room above and below."""
    box = text.get_window_extent()
    room = text.get_fontsize() * text.figure.dpi / 72 / 5
    return box.padded(-room, 0) if text.get_rotation() == 90 else box.padded(0, -room)


def drawn_points(axes: Axes) -> np.ndarray:
    """Where the markers of lines and the points of scatter plots are, in pixels."""
    points = [np.empty((0, 2))]
    for line in axes.lines:
        if line.get_marker() not in (None, "None", "none", "", " "):
            points.append(line.get_transform().transform(line.get_xydata()))
    for layer in axes.collections:
        if isinstance(layer, PathCollection):
            points.append(layer.get_offset_transform().transform(layer.get_offsets()))
    return np.vstack(points)


def drawn_lines(axes: Axes) -> list:
    """Lines of axes in pixels: curves, error bars, lines at zero."""
    lines = [
        line.get_transform().transform_path(line.get_path())
        for line in axes.lines
        if line.get_linestyle() not in ("None", "none", "", " ")
    ]
    for layer in axes.collections:
        if isinstance(layer, LineCollection):
            lines += map(layer.get_transform().transform_path, layer.get_paths())
    return lines


def recolour_for_dark(figure: Figure) -> None:
    """Give a figure the colours of the dark pages, with the hues it has on white.

    Colour maps keep their colours, and so does what is drawn or written on them.
    """
    figure.draw_without_rendering()  # only now are the positions of texts known
    kept = {part for axes in figure.findobj(Axes) for part in on_colour_map(axes)}
    for artist in figure.findobj():
        if artist not in kept:
            recolour(artist)


def on_colour_map(axes: Axes) -> list[Artist]:
    """The colour map that covers the axes, if one does, and all that lies on it."""
    covers = [
        isinstance(layer, AxesImage | QuadMesh)
        or (isinstance(layer, ContourSet) and layer.filled and layer.colors is None)
        for layer in axes.get_children()
    ]
    if not any(covers):
        return []
    kept = [axes.patch, *axes.images, *axes.collections, *axes.lines, *axes.patches]
    for lettering in (*axes.texts, axes.get_legend()):
        if lettering is not None:
            box = lettering.get_window_extent()
            middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
            if axes.bbox.contains(*middle):
                kept.append(lettering)
    return [part for artist in kept for part in artist.findobj()]


def recolour(artist: Artist) -> None:
    """Give one artist its colours on the dark ground, without those it contains."""
    for effect in artist.get_path_effects() or ():
        stroke = getattr(effect, "_gc", {})  # has no public name; a halo is one
        if "foreground" in stroke:
            stroke["foreground"] = on_dark(to_rgba(stroke["foreground"]))
    if isinstance(artist, Text):
        artist.set_color(on_dark(to_rgba(artist.get_color())))
        # what a text brings along is none of the artists that a figure finds
        for patch in (artist.get_bbox_patch(), getattr(artist, "arrow_patch", None)):
            if patch is not None:
                recolour(patch)
    elif isinstance(artist, Line2D):
        face, edge = artist.get_markerfacecolor(), artist.get_markeredgecolor()
        artist.set_color(on_dark(to_rgba(artist.get_color())))
        artist.set_markerfacecolor(on_dark(to_rgba(face)))
        artist.set_markeredgecolor(on_dark(to_rgba(edge)))
    elif isinstance(artist, Patch):
        face, edge = artist.get_facecolor(), artist.get_edgecolor()
        artist.set_facecolor(on_dark(face))
        artist.set_edgecolor(on_dark(edge))
    elif isinstance(artist, Collection):
        if isinstance(artist, ContourSet) and artist.colors is not None:
            artist.set_array(None)  # its colours are given, not those of a map
        if artist.get_array() is None:
            faces, edges = artist.get_facecolor(), artist.get_edgecolor()
            artist.set_facecolor([on_dark(tuple(face)) for face in faces])
            artist.set_edgecolor([on_dark(tuple(edge)) for edge in edges])


@cache
def on_dark(colour):
    """The colour on the dark ground for one on white: of the same hue and opacity.

    Greys and tints keep their contrast, so that what recedes on white recedes here;
    other colours are made lighter where they would be too dark.

    Examples
    --------
    >>> from matplotlib.colors import to_hex
    >>> [to_hex(on_dark(colour)) for colour in ("white", "black", "#0072B2")]
    ['#15181b', '#e4e4e4', '#0086d2']
    """
    *rgb, opacity = to_rgba(colour)
    if opacity == 0.0:
        return "none"  # a colour would come to light with the opacity of its artist
    ground = luminance(to_rgba(DARK_GROUND)[:3])
    contrast = 1.05 / (luminance(rgb) + 0.05)
    if contrast == 1.0:
        return to_rgba(DARK_GROUND, opacity)
    hue, lightness, saturation = colorsys.rgb_to_hls(*rgb)
    chroma = max(rgb) - min(rgb)
    if contrast < PALE or chroma < 0.15:
        contrast, lightness = min(contrast, BRIGHTEST), 0.0
        saturation = min(saturation, 3 * chroma)  # that of light colours is high
    else:
        contrast = LEGIBLE
    while True:
        lighter = colorsys.hls_to_rgb(hue, lightness, saturation)
        if luminance(lighter) + 0.05 >= contrast * (ground + 0.05):
            return (*lighter, opacity)
        lightness += 1 / 255


def luminance(rgb) -> float:
    """Relative luminance of a colour in sRGB as WCAG defines it: black 0, white 1."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in rgb
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def number(value: float, digits: int) -> str:
    """A number with so many digits after the point, a true minus, no negative zero.

    Examples
    --------
    >>> number(-0.0001, 2), number(-12.34, 1)
    ('0.00', '−12.3')
    """
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0.0 else text.replace("-", "−")


def scientific(value: float) -> str:
    r"""A small number as a power of ten, rounded up to one digit, for the prose.

    Examples
    --------
    >>> scientific(3.2e-15), scientific(0.0)
    ('$4\\times 10^{-15}$', '0')
    """
    if value == 0.0:
        return "0"
    mantissa, power = f"{value:e}".split("e")
    digit, power = -int(-float(mantissa) // 1), int(power)
    digit, power = (1, power + 1) if digit == 10 else (digit, power)
    return f"${digit}\\times 10^{{{power}}}$"


def say(name: str, text: str) -> None:
    """Make a computed text available to the prose, which has it where it names it.

    Parameters
    ----------
    name : str
        As in ``{glue:text}`name```, or ``{glue:md}`name``` if the text is Markdown.
    text : str
    """
    # no line ends before the sign
    text = text.replace(" %", "\N{NO-BREAK SPACE}%")
    display(
        {f"{GLUED}text/plain": repr(text), f"{GLUED}text/markdown": text},
        metadata={"scrapbook": {"name": name, "mime_prefix": GLUED}},
        raw=True,
    )


def markdown_table(headings, rows, alignment: str) -> str:
    """A table in Markdown; one letter a column, "l" or "r", says how it is aligned.

    Examples
    --------
    >>> print(markdown_table(["run", "time"], [["digits", "42 s"]], "lr"))
    | run | time |
    | :--- | ---: |
    | digits | 42 s |
    """
    marks = {"l": ":---", "r": "---:"}
    lines = [headings, [marks[letter] for letter in alignment], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def show_table(
    headings: list[str],
    rows: list[list[str]],
    alignment: str,
    *,
    caption: str = "",
    name: str = "",
) -> None:
    """Show a table of texts.

    Parameters
    ----------
    headings : list of str
    rows : list of list of str
    alignment : str
        One letter a column: "l" or "r".
    caption : str, optional
        In one line; says what the table shows. In the book it is numbered.
    name : str
        Label for cross-references; needed with a caption.
    """
    if bool(caption) != bool(name) or "\n" in caption:
        raise ValueError(
            f"a caption in one line needs a name; got {caption!r}, {name!r}"
        )
    head = [caption, ""] * bool(caption)
    text = "\n".join([*head, markdown_table(headings, rows, alignment), ""])
    display(Markdown(text), metadata={"table": name} if name else {})
