"""What notebooks show: figures, tables, and numbers for the prose."""

import io
import logging
from base64 import b64encode
from importlib.resources import files

import matplotlib.pyplot as plt
import pandas as pd
from cycler import cycler
from IPython.display import Markdown, display
from matplotlib import font_manager
from matplotlib.figure import Figure
from myst_nb import glue
from PIL import Image

from compendium.build.readable import FIGURE, markdown_table

# Okabe and Ito's palette without yellow and black, in an order that keeps contrast on
# both grounds; every colour comes with a marker and a dash of its own.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
_MARKERS = ("o", "s", "^", "D", "v", "P")
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)), "-", (0, (5, 2)))
_GREY = "#767676"

PNG_DPI = 144

_STYLE = {
    "axes.edgecolor": _GREY,
    "axes.grid": False,
    "axes.labelcolor": "#333333",
    "axes.labelsize": 11.5,
    "axes.prop_cycle": cycler(color=PALETTE)
    + cycler(marker=_MARKERS)
    + cycler(linestyle=_DASHES),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "figure.constrained_layout.use": True,
    "figure.figsize": (5.8, 3.6),
    "font.family": "Source Sans Pro",
    "font.size": 11.5,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "mathtext.fontset": "stix",
    "savefig.transparent": True,
    "svg.hashsalt": "memdlib",
    "xtick.color": "#555555",
    "ytick.color": "#555555",
}


def use_style() -> None:
    """Set the one figure style of the book."""
    for face in ("Regular", "Semibold", "It"):
        path = files("font_source_sans_pro") / "files" / f"SourceSansPro-{face}.ttf"
        font_manager.fontManager.addfont(str(path))
    plt.rcParams.update(_STYLE)
    # a font that a machine lacks changes a picture and is no output of a chapter
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
    """Show a figure with its caption, its alternative text and its data.

    Parameters
    ----------
    figure : Figure
        Closed afterwards.
    name : str
        Label for cross-references; also the name of the CSV file.
    caption : str
        MyST; says what is seen and what follows from it.
    alt : str
        Says what is seen to one who cannot see it.
    data : DataFrame
        The plotted values, to six significant digits: offered beside the figure, and
        its text, so that whoever compares outputs compares them.
    moves : dict, default=None
        State in which the figure opens on a page, where the script
        ``explain/<name>.js`` lets a reader move it; the figure shows the same state.
        Values that JSON knows, rounded alike on every processor.

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
    picture = io.StringIO()
    figure.savefig(picture, format="svg", metadata={"Date": None})
    pixels, size = _pixels(figure)
    plt.close(figure)
    about = {"name": name, "caption": caption, "alt": alt}
    if moves is not None:
        about["moves"] = moves
    display(
        {
            "image/svg+xml": picture.getvalue(),
            "image/png": pixels,
            "text/plain": data.to_csv(index=False, float_format="%.6g"),
            FIGURE: about,
        },
        metadata={"image/png": size},
        raw=True,
    )


def _pixels(figure: Figure) -> tuple[str, dict[str, int]]:
    """A figure as PNG on white in base64, and the size to show it at.

    For viewers that show no SVG of a notebook they do not trust. Few colours are enough
    for drawings, and make it a quarter as large.
    """
    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, dpi=PNG_DPI, transparent=False, facecolor="white")
    image = Image.open(drawn).convert("RGB")
    image.quantize(64, dither=Image.Dither.NONE).save(small, "png", optimize=True)
    shown = 100 / PNG_DPI  # sharp where a screen has more than one dot a pixel
    width, height = (round(shown * length) for length in image.size)
    return b64encode(small.getvalue()).decode(), {"width": width, "height": height}


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
    digit, power = _rounded_up(value)
    return f"${digit}\\times 10^{{{power}}}$"


def _rounded_up(value: float) -> tuple[int, int]:
    """One digit and the power of ten of a positive number."""
    mantissa, exponent = f"{value:e}".split("e")
    digit, power = -int(-float(mantissa) // 1), int(exponent)
    return (1, power + 1) if digit == 10 else (digit, power)


def checked(
    what: str, how: str, *, error: float | None = None, within: float | None = None
) -> None:
    """Say what a cell has checked, in the one line that the page folds it to.

    Parameters
    ----------
    what : str
        What is true, in plain words.
    how : str
        What it was compared with, and on how many cases.
    error : float, default=None
        The largest error found. None for what is exactly so, which other assertions
        of the cell show.
    within : float, default=None
        What the error may be at most; given if the error is.

    Raises
    ------
    AssertionError
        If the error is larger, or not a number.
    ValueError
        If only one of the two is given.
    """
    if (error is None) != (within is None):
        raise ValueError(
            f"checked({what!r}): an error and what it may be at most are given "
            f"together; got error={error!r}, within={within!r}"
        )
    line = bound = f"Checked: {what}, {how}"
    if error is not None:
        assert 0.0 <= error <= within, f"{line}: error {error:g}, at most {within:g}"
        line, bound = (
            f"{line}, error {_short(error)}",
            f"{line}, error at most {within:g}",
        )
    display({"text/plain": bound}, metadata={"memdlib_check": {"line": line}}, raw=True)


def _short(error: float) -> str:
    """An error rounded up to one digit, for a line of text."""
    if error == 0.0:
        return "0"
    digit, power = _rounded_up(error)
    return f"{float(f'{digit}e{power}'):g}".replace("e-0", "e-")


def say(name: str, text: str) -> None:
    """Make a computed text available to the prose as ``{glue:text}`` or ``{glue:md}``.

    Parameters
    ----------
    name : str
    text : str
        Already formatted; MyST is allowed with ``{glue:md}``.
    """
    glue(name, Markdown(text) if "$" in text else text, display=False)


def show_table(
    headings: list[str],
    rows: list[list[str]],
    alignment: str,
    *,
    caption: str = "",
    name: str = "",
) -> None:
    """Show a table of texts as Markdown.

    Parameters
    ----------
    headings : list of str
    rows : list of list of str
    alignment : str
        One letter a column: "l" or "r".
    caption : str, optional
        MyST in one line; says what the table shows. In the book it is numbered.
    name : str
        Label for cross-references; needed with a caption.

    Raises
    ------
    ValueError
        If only one of ``caption`` and ``name`` is given, or the caption has two lines.
    """
    if bool(caption) != bool(name) or "\n" in caption:
        raise ValueError(
            "a numbered table needs a caption in one line and a name; got "
            f"caption={caption!r}, name={name!r}"
        )
    text = markdown_table(headings, rows, alignment) + "\n"
    if caption:
        display(Markdown(f"{caption}\n\n{text}"), metadata={"memdlib_table": name})
    else:
        display(Markdown(text))
