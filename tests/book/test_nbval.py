"""Negative controls of ``make notebooks``: a planted fault turns its notebook red."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from compendium.execution import chapters
from tests.compendium.conftest import HEADER, Project, cell

ROOT = Path(__file__).parents[2]
CHAPTER = (
    cell(
        """
        import matplotlib.pyplot as plt
        import pandas as pd
        from helpers import find_table, say, show, show_table
        """,
        "remove-cell",
    )
    + cell("show_table(['a', 'b'], [['x', '0.125']], 'lr')")
    + cell("say('share', '0.375')")
    + "Its share is {glue:text}`share`.\n\n"
    + cell(
        """
        def line(end=1.0, width=1.0, state=1.0):
            figure, axes = plt.subplots()
            axes.plot([0, 1], [0, 1])
            alt = f"From the lower left to the upper right rises a line {width} wide."
            data = pd.DataFrame({"x": [0, end]})
            moves = {"m": state}
            caption = "A line to 0.875."
            show(figure, "line", caption=caption, alt=alt, data=data, moves=moves)
        """
    )
    + cell("line(end=0.625)")
    + cell("line(width=2.25)")
    + cell("line(state=3.75)")
    + cell("print(6 * 7)")
    + cell(
        """
        folds = pd.read_csv(find_table("a-folds.csv"))
        assert folds["share"].max() == 0.4375  # what the page says of it
        folds
        """
    )
)
# in each notebook: what stands there in the place of the stored text, cell by cell
FAULTS = {
    "drawn": {'"image/png": "i': '"image/png": "j', 'dark+png": "i': 'dark+png": "j'},
    "caption": {"** A line to 0.875": "** A line to 0.876"},
    "conclusion": {"== 0.4375": "== 0.4376"},
    "all": {
        "0.125": "0.126",
        "'0.375": "'0.376",
        "0.625": "0.626",
        "2.25": "2.26",
        "3.75": "3.76",
        "42\\n": "43\\n",
        "<td>0.4375": "<td>0.4376",
    },
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A tiny book with one stored chapter and the settings of ours for nbval."""
    with pytest.MonkeyPatch.context() as patch:
        made = Project(tmp_path_factory.mktemp("nbval") / "book")
        patch.setenv("MEMDLIB_PROJECT", str(made.root))
        for name in ("conftest.py", "notebooks/helpers.py"):
            made.write(f"book/{name}", (ROOT / "book" / name).read_text())
        made.write("data/tables/a-folds.csv", "share\n0.25\n0.4375\n")
        source = made.write("book/chapters/c.md", HEADER + "# C\n\n" + CHAPTER)
        chapters.execute(made.root, source)
    return made


def compared(book):
    """How many cells of each stored notebook come out otherwise, and what is said."""
    folder = book.root / "book/notebooks"
    call = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rf", "-q"]
    call += ["--nbval", "--nbval-current-env", "--rootdir", book.root, folder]
    said = subprocess.run(
        call, cwd=book.root, env=os.environ, capture_output=True, text=True
    ).stdout
    return Counter(re.findall(r"(?m)^FAILED \S*?(\w+)\.ipynb::", said)), said


def test_a_changed_digit_turns_the_comparison_red(book):
    folder, stored = book.root / "book/notebooks", book.root / "book/notebooks/c.ipynb"
    for name, faults in FAULTS.items():
        text = stored.read_text()
        for old, new in faults.items():
            assert old in text
            text = text.replace(old, new, 1)
        (folder / f"{name}.ipynb").write_text(text)
    red, said = compared(book)
    assert red == {"caption": 1, "conclusion": 1, "all": 7}, said
    for name in FAULTS:
        (folder / f"{name}.ipynb").unlink()
    book.write("data/tables/a-folds.csv", "share\n0.25\n0.4376\n")
    red, said = compared(book)
    assert red == {"c": 1}, said
