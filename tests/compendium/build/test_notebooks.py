import json
import os
from pathlib import Path

import matplotlib
import nbformat
import pytest
from matplotlib import font_manager

from compendium.build import notebooks
from compendium.build.notebooks import (
    NotebookError,
    execute,
    figure_tables,
    is_notebook,
    normalise,
    read_source,
    store,
    to_text,
)
from compendium.build.readable import FIGURE
from tests.compendium.conftest import HEADER, cell


def run(project, *cells, parameters=None):
    path = project.chapter("x", *cells)
    return execute(read_source(path), "book/x.md", project.root, parameters or {})


def test_two_runs_give_the_same_bytes(project):
    cells = (
        cell("size = 1", "parameters"),
        cell("print(size)"),
        cell(
            """
            from IPython.display import display
            from compendium.build.readable import FIGURE
            about = {"name": "f", "caption": "C.", "alt": "A"}
            display({"text/plain": "x\\n1\\n", FIGURE: about}, raw=True)
            """
        ),
    )
    about = {"source": "book/x.md"}
    one, two = (
        normalise(run(project, *cells, parameters={"size": 7}), about) for _ in range(2)
    )
    assert to_text(one) == to_text(two)
    assert "7\n" in to_text(one).replace("\\n", "\n")
    for word in ("papermill", "start_time", "duration", str(project.root)):
        assert word not in to_text(one)
    assert one.metadata.memdlib == about
    last = one.cells[-1]
    assert last.metadata.mystnb.image.alt == "A"
    assert last.metadata.mystnb.figure.caption == "C. {download}`data (CSV) <f.csv>`"
    assert figure_tables(one) == {"f.csv": "x\n1\n"}


@pytest.mark.parametrize(
    ("code", "parameters", "message"),
    [
        (
            "a = 1\nraise ValueError('too bad')",
            {},
            "code cell 1 failed with ValueError: too",
        ),
        (
            "import warnings; warnings.warn('careful')",
            {},
            "(?s)wrote to stderr.*careful",
        ),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            {},
            "the kernel died",
        ),
        ("print(1)", {"lost": 1}, "no parameter named 'lost'"),
    ],
)
def test_what_goes_wrong_is_told_in_one_message(project, code, parameters, message):
    with pytest.raises(NotebookError, match=message) as caught:
        run(project, cell(code), parameters=parameters)
    assert str(caught.value).startswith("book/x.md: ")


def test_kernels_see_one_environment_whatever_that_of_the_user(
    project, tmp_path, monkeypatch
):
    """One thread, no profile, a fixed hash seed, no window; and the checkout."""
    startup = tmp_path / "home" / "profile_default" / "startup" / "own.py"
    startup.parent.mkdir(parents=True)
    startup.write_text("print('the profile of the user')\n")
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    others = {
        "IPYTHONDIR": str(tmp_path / "home"),
        "JUPYTER_PREFER_ENV_PATH": "0",
        "MPLBACKEND": "svg",
        "PYTHONHASHSEED": "7",
    }
    for name, value in (dict.fromkeys(threads, "4") | others).items():
        monkeypatch.setenv(name, value)
    expected = dict.fromkeys(threads, "1") | {
        "JUPYTER_PREFER_ENV_PATH": "1",
        "MPLBACKEND": "agg",
        "PYTHONHASHSEED": "0",
        "MEMDLIB_PROJECT": str(project.root),
    }
    ask = f"print(json.dumps([os.environ.get(name) for name in {list(expected)}]))"
    code = f"import json, os\n{ask}"
    made = run(project, cell(code), cell("print(get_ipython().ipython_dir)"))
    seen, home = (c.outputs[0].text for c in made.cells if c.cell_type == "code")
    assert dict(zip(expected, json.loads(seen), strict=True)) == expected
    assert home.strip() != str(tmp_path / "home")
    folder = tmp_path / "profile"
    given = notebooks.kernel_environment(folder)
    assert given == expected | dict.fromkeys(
        ("IPYTHONDIR", "MPLCONFIGDIR"), str(folder)
    )
    (fonts,) = folder.glob("fontlist-*.json")
    names = {font.name for font in font_manager.json_load(fonts).ttflist}
    assert {"STIXGeneral", "STIXNonUnicode"} < names
    files = {Path(font.fname).parent for font in font_manager.json_load(fonts).ttflist}
    assert files == {Path(matplotlib.get_data_path(), "fonts", "ttf")}
    settings = (folder / "profile_default" / "ipython_kernel_config.py").read_text()
    assert settings == "c.Application.log_level = 40\n"


def test_a_cell_that_takes_too_long_is_stopped(project, monkeypatch):
    monkeypatch.setattr(notebooks, "CELL_TIMEOUT", 1)
    with pytest.raises(NotebookError, match="book/x.md: A cell timed out") as caught:
        run(project, cell("import time\ntime.sleep(60)"))
    assert "\n" not in str(caught.value)


def test_cells_are_numbered_and_what_depends_on_the_time_goes():
    code = nbformat.v4.new_code_cell("1", id="random", execution_count=1)
    code.metadata = {
        "tags": ["margin"],
        "papermill": {"duration": 1.5},
        "execution": {"iopub.status.busy": "2026-01-01"},
    }
    given = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("a", id="other"), code],
        metadata={
            "papermill": {"version": "2"},
            "language_info": {"name": "python", "version": "3.1"},
        },
    )
    made = normalise(given, {"source": "s"})
    assert [c.id for c in made.cells] == ["cell-000", "cell-001"]
    assert made.cells[1].metadata == {"tags": ["margin"]}
    assert sorted(made.metadata) == ["kernelspec", "language_info", "memdlib"]
    assert "version" not in made.metadata.language_info


def test_the_plotted_data_are_stored_beside_the_notebook(tmp_path):
    data = {"text/plain": "x\n1\n", FIGURE: {"name": "f"}}
    figure = nbformat.v4.new_output("display_data", data)
    code = nbformat.v4.new_code_cell("1", outputs=[figure], id="cell-000")
    store(nbformat.v4.new_notebook(cells=[code]), tmp_path / "new" / "n.ipynb")
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["f.csv", "n.ipynb"]
    assert (tmp_path / "new" / "f.csv").read_text() == "x\n1\n"


def test_plain_pages_are_told_from_notebooks(project):
    assert is_notebook(project.chapter("a"))
    assert not is_notebook(project.write("book/b.md", "# Plain\n\nkernelspec: no\n"))
    assert HEADER.startswith("---\n")


def test_what_is_printed_in_a_row_is_one_output():
    stream = nbformat.v4.new_output
    outputs = [
        stream("stream", name="stdout", text="a\n"),
        stream("stream", name="stdout", text="b\n"),
        stream("display_data", data={"text/plain": "x"}),
        stream("stream", name="stdout", text="c\n"),
    ]
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell("print()", outputs=outputs)]
    (cell,) = normalise(notebook, {}).cells
    assert [o.get("text") for o in cell.outputs] == ["a\nb\n", None, "c\n"]


def test_variables_of_a_kernel_are_not_left_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.delenv("IPYTHONDIR", raising=False)
    source = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("import os; os.environ['IPYTHONDIR']")],
        metadata={"kernelspec": notebooks.KERNEL},
    )
    executed = notebooks.execute(source, "it", tmp_path, {})
    assert "ipython" in executed.cells[0].outputs[0]["data"]["text/plain"]
    assert os.environ["PYTHONHASHSEED"] == "7"
    assert "IPYTHONDIR" not in os.environ
