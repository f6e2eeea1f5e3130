"""Presets of movable figures: those that a chapter names are on its page."""

import re

from compendium.project import root

CHOICE = re.compile(r"\bchoose \*([^*]+)\*")
MOVABLE = re.compile(r'show\(\s+figure,\s+"([\w-]+)",(?:(?!show\().)*?\smoves=', re.S)


def presets_of(figure):
    """Labels of the buttons of a figure."""
    script = (root() / f"book/_static/explain/{figure}.js").read_text()
    listed = re.search(r"(?s)presets: \{(.*?)\n\s*\},", script)[1]
    return set(re.findall(r'(?m)^\s*"([^"]+)":', listed))


def test_a_chapter_names_only_presets_that_its_page_has():
    named = {}
    for chapter in (root() / "book/chapters").glob("*.md"):
        text = chapter.read_text()
        choices = set(CHOICE.findall(text))
        if choices:
            offered = set().union(*map(presets_of, MOVABLE.findall(text)))
            assert choices <= offered, chapter.name
            named[chapter.stem] = choices
    assert "Far apart" in named["divergences"]
