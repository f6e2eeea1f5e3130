import json
from pathlib import Path

import matplotlib
import nbformat
import pytest
from matplotlib import font_manager

from compendium.build import notebooks
from compendium.build.notebooks import (
    NotebookError,
    execute,
    figures,
    normalise,
    read_source,
    to_text,
)
from tests.compendium.conftest import cell


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
            about = {"figure": {"name": "f", "alt": "A"}}
            display({"text/plain": "x\\n1\\n"}, metadata=about, raw=True)
            display({"text/markdown": "**Figure.** C."}, raw=True)
            """,
            "hide-input",
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
    assert one.cells[-1].metadata.jupyter == {"source_hidden": True}
    ((about, data, caption),) = figures(one)
    assert (about["name"], data["text/plain"], caption) == ("f", "x\n1\n", "C.")


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


def test_values_stand_where_the_prose_names_them():
    values = {"a": "35", "b": "$x$", "c": "a_*"}
    text = "{glue:text}`a`. of {glue:md}`b`, {glue:text}`c` and {glue:text}`lost`"
    said = "35\\. of $x$, a\\_\\* and {glue:text}`lost`"
    assert notebooks.with_values(text, values) == said
