import urllib.request

import pytest

from compendium.build import chromium


def test_the_variable_names_the_program(tmp_path, monkeypatch):
    path = tmp_path / "chrome"
    path.touch()
    monkeypatch.setenv("CHROMIUM", str(path))
    assert chromium.program() == str(path)


def test_a_program_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="none: install it, or set CHROMIUM"):
        chromium.program()


def test_without_the_variable_the_first_that_is_there_is_taken(tmp_path, monkeypatch):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(
        chromium, "PROGRAMS", (str(tmp_path / "a"), str(tmp_path / "b"))
    )
    with pytest.raises(FileNotFoundError, match="/a or .*/b: install it"):
        chromium.program()
    (tmp_path / "b").touch()
    assert chromium.program() == str(tmp_path / "b")
    (tmp_path / "a").touch()
    assert chromium.program() == str(tmp_path / "a")


def test_a_folder_is_served_while_it_is_needed(tmp_path):
    (tmp_path / "page.html").write_text("text")
    with chromium.served(tmp_path) as base:
        with urllib.request.urlopen(f"{base}/page.html", timeout=30) as answer:
            assert answer.read() == b"text"
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"{base}/page.html", timeout=30)
