"""A scanner finds two licences, each alone in its file, and what ships has its own."""

import re
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

from tests.wheel import build

ROOT = Path(__file__).parents[3]
CODE = ROOT / "LICENSE"
TEXT = ROOT / "LICENSES" / "CC-BY-4.0.txt"


def words(text):
    """As scanners compare texts: without space, marks and numbers of a list."""
    return re.findall(r"[a-z]{2,}", text.lower())


def test_the_licence_of_the_code_is_that_of_scikit_learn_but_for_the_holder():
    (path,) = (
        file for file in distribution("scikit-learn").files if file.name == "COPYING"
    )
    begin = "Redistribution and use"
    theirs = path.read_text(encoding="utf-8").partition(begin)[2]
    theirs = theirs.partition("----")[0]  # licences of what its wheel holds follow
    title, ours = CODE.read_text(encoding="utf-8").split(begin)
    assert words(ours) == words(theirs)
    holder = "Copyright (c) 2026, the memdlib developers"
    assert title.split("\n") == ["BSD 3-Clause License", "", holder, "", ""]


def test_the_licence_of_the_text_is_whole():
    lines = TEXT.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "Creative Commons Attribution 4.0 International Public License"
    sections = [line for line in lines if line.startswith("Section ")]
    assert [line[:12] for line in sections] == [f"Section {n} --" for n in range(1, 9)]


def test_the_wheel_is_code_and_has_the_licence_of_code(tmp_path):
    with ZipFile(build(tmp_path)) as wheel:
        (name,) = (name for name in wheel.namelist() if "/licenses/" in name)
        assert name.endswith("/licenses/LICENSE")
        assert wheel.read(name) == CODE.read_bytes()
        (about,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        assert b"License-Expression: BSD-3-Clause\n" in wheel.read(about)
