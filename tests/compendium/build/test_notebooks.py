import pytest

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

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


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
    assert [c.id for c in one.cells] == [f"cell-{i:03d}" for i in range(5)]
    assert sorted(one.metadata) == ["kernelspec", "language_info", "memdlib"]
    assert "version" not in one.metadata.language_info
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
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", {}, "Kernel died"),
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
    given = dict.fromkeys(THREADS, "4") | {
        "IPYTHONDIR": str(tmp_path / "home"),
        "MPLBACKEND": "svg",
        "PYTHONHASHSEED": "7",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    expected = dict.fromkeys(THREADS, "1") | {
        "MPLBACKEND": "agg",
        "PYTHONHASHSEED": "0",
        "MEMDLIB_PROJECT": str(project.root),
    }
    code = f"import os\nfor name in {[*expected]}: print(os.environ[name])"
    (output,) = run(project, cell(code)).cells[-1].outputs
    assert output.text.split() == list(expected.values())


def test_matplotlib_has_no_fonts_but_its_own(project):
    code = """
    from matplotlib import font_manager, get_data_path
    fonts = font_manager.fontManager.ttflist
    print({font.fname.startswith(get_data_path()) for font in fonts})
    """
    (output,) = run(project, cell(code)).cells[-1].outputs
    assert output.text == "{True}\n"


def test_a_cell_that_takes_too_long_is_stopped(project, monkeypatch):
    monkeypatch.setattr(notebooks, "CELL_TIMEOUT", 1)
    with pytest.raises(NotebookError, match="book/x.md: A cell timed out") as caught:
        run(project, cell("import time\ntime.sleep(60)"))
    assert "\n" not in str(caught.value)


def test_values_stand_where_the_prose_names_them():
    values = {"a": "35", "b": "$x$", "c": "a_*"}
    text = "{glue:text}`a`. of {glue:md}`b`, {glue:text}`c` and {glue:text}`lost`"
    said = "35\\. of $x$, a\\_\\* and {glue:text}`lost`"
    assert notebooks.with_values(text, values) == said
