import pytest

from compendium.execution import notebooks
from compendium.execution.notebooks import NotebookError, execute, figures
from tests.compendium.conftest import cell

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run(project, *cells):
    source = notebooks.read_source(project.chapter("x", *cells))
    notebook, _ = execute(source, "book/x.md", project.root)
    return notebook


FIGURE = """
from IPython.display import display
about = {"name": "f", "alt": "A"}
data = {"text/plain": "x\\n1\\n", "application/vnd.memdlib.figure+json": about}
display(data, raw=True)
display({"text/markdown": "**Figure.** C."}, raw=True)
"""


def test_two_runs_give_the_same_bytes(project):
    cells = (cell("size = 7"), cell("print(size)"), cell(FIGURE, "hide-input"))
    made = [run(project, *cells) for _ in range(2)]
    one, two = (notebooks.normalise(notebook, "book/x.md") for notebook in made)
    assert one == two
    assert one.cells[2].outputs[0].text == "7\n"
    assert str(project.root) not in str(one)
    assert one.metadata.memdlib == {"source": "book/x.md"}
    assert [c.id for c in one.cells] == [f"cell-{i:03d}" for i in range(4)]
    assert sorted(one.metadata) == ["kernelspec", "language_info", "memdlib"]
    assert "version" not in one.metadata.language_info
    assert one.cells[-1].metadata.jupyter == {"source_hidden": True}
    ((about, data, caption),) = figures(one)
    assert (about["name"], data["text/plain"], caption) == ("f", "x\n1\n", "C.")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("a = 1\nraise ValueError('bad')", "code cell 1 failed with ValueError: bad"),
        ("import warnings; warnings.warn('careful')", "(?s)wrote to stderr.*careful"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "Kernel died"),
    ],
)
def test_what_goes_wrong_is_told_in_one_message(project, code, message):
    with pytest.raises(NotebookError, match=message) as caught:
        run(project, cell(code))
    assert str(caught.value).startswith("book/x.md: ")


def test_kernels_see_one_environment_whatever_that_of_the_user(
    project, tmp_path, monkeypatch
):
    """One thread, no profile, a fixed hash seed, no window; and the checkout."""
    startup = tmp_path / "home" / "profile_default" / "startup" / "own.py"
    startup.parent.mkdir(parents=True)
    startup.write_text("print('the profile of the user')\n")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "home"))
    expected = dict.fromkeys(THREADS, "1") | {
        "MPLBACKEND": "agg",
        "PYTHONHASHSEED": "0",
    }
    for name in expected:
        monkeypatch.setenv(name, "svg" if name == "MPLBACKEND" else "4")
    expected["MEMDLIB_PROJECT"] = str(project.root)
    code = f"""
    import os
    from matplotlib import font_manager, get_data_path
    for name in {[*expected]}:
        print(os.environ[name])
    fonts = font_manager.fontManager.ttflist
    print({{font.fname.startswith(get_data_path()) for font in fonts}})
    """
    (output,) = run(project, cell(code)).cells[-1].outputs
    assert output.text.split() == [*expected.values(), "{True}"]
