"""The wheel in the book, its link, and the cell that installs it."""

import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import memdlib
from compendium.build import wheel
from compendium.build.wheel import build_wheel, install_missing, wheel_name

NAME = "memdlib-1.2.3-py3-none-any.whl"


@pytest.fixture
def calls(monkeypatch):
    """Commands that would have been run."""
    made = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: made.append(command))
    return made


def test_nothing_is_installed_where_all_is_there(calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    install_missing(["numpy", "memdlib"], NAME)
    assert calls == []


@pytest.mark.parametrize("inside", ["", "book/notebooks/theory"])
def test_a_missing_module_installs_the_wheel_that_is_near(
    calls, tmp_path, monkeypatch, inside
):
    folder = tmp_path / inside
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)
    (tmp_path / NAME).touch()
    install_missing(["numpy", "no_such_module"], NAME)
    wanted = f"{Path.cwd() / NAME if not inside else tmp_path / NAME}[notebooks]"
    assert calls == [[sys.executable, "-m", "pip", "install", wanted]]


def test_a_wheel_that_is_not_there_is_asked_for(calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="get it from the page 'Install and"):
        install_missing(["no_such_module"], NAME)
    assert calls == []


def test_an_address_is_left_to_pip(calls):
    source = "memdlib[notebooks] @ git+https://example.org/a"
    install_missing(["no_such_module"], source)
    assert calls == [[sys.executable, "-m", "pip", "install", source]]


def test_the_book_holds_the_wheel_and_the_same_twice(tmp_path):
    read = []
    for name in ("first", "second"):
        app = SimpleNamespace(
            builder=SimpleNamespace(name="html"), outdir=tmp_path / name
        )
        build_wheel(app, None)
        (path,) = app.outdir.iterdir()
        assert path.name == wheel_name(memdlib.__version__)
        read.append(path.read_bytes())
    assert read[0] == read[1]
    with zipfile.ZipFile(path) as archive:
        assert "memdlib/__init__.py" in archive.namelist()


def test_no_wheel_is_built_after_an_error_or_for_another_builder(tmp_path):
    for kind, error in (("html", ValueError()), ("dummy", None)):
        app = SimpleNamespace(builder=SimpleNamespace(name=kind), outdir=tmp_path)
        build_wheel(app, error)
    assert list(tmp_path.iterdir()) == []


def test_a_wheel_that_cannot_be_built_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr(wheel, "root", lambda: tmp_path)
    app = SimpleNamespace(builder=SimpleNamespace(name="html"), outdir=tmp_path / "out")
    with pytest.raises(RuntimeError, match=r"(?s)cannot be built: .*project. metadata"):
        build_wheel(app, None)
