"""The map of the book: which chapters are linked, and where among them one stands.

Two chapters are linked if one cites a statement of the other (the role ``prf:ref``) or
names it among what it needs. The map is an arc diagram in the order of the chapters. It
needs no script: its rows are links, and a style rule lifts the arcs of the row under
the pointer or the focus.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from html import escape
from itertools import groupby
from pathlib import Path

from compendium.build.contents import Chapter, chapters

Links = Mapping[tuple[int, int], int]

_CITED = re.compile(r"\{prf:ref\}`(?:[^`<]*<)?([\w-]+)>?`")
_DEFINED = re.compile(r"(?m)^:label: (\S+)$")
_NEEDS = re.compile(r"(?ms)^\*Needs:.*?\*$")
_NAMED = re.compile(r"\{ref\}`(?:[^`<]*<)?([\w-]+)>?`")

_WIDTH, _ROW, _HEADING, _SPINE = 410, 23, 29, 86  # units of the drawing
_GAP = 9  # between dots of the strip


def links(found: list[Chapter]) -> Links:
    """How often each pair of chapters is linked: {(earlier, later): times}.

    Parameters
    ----------
    found : list of Chapter
    """
    of_label = {chapter.label: chapter.number for chapter in found}
    for chapter in found:
        of_label |= dict.fromkeys(_DEFINED.findall(chapter.text), chapter.number)
    counted: Counter = Counter()
    for chapter in found:
        needs = _NEEDS.search(chapter.text)
        named = _CITED.findall(chapter.text)
        named += _NAMED.findall(needs[0]) if needs else []
        for label in named:
            other = of_label.get(label, chapter.number)
            if other != chapter.number:
                counted[min(other, chapter.number), max(other, chapter.number)] += 1
    return dict(sorted(counted.items()))


def around(number: int, linked: Links) -> tuple[list[int], list[int]]:
    """Chapters that a chapter builds on, and those that build on it."""
    return (
        [a for a, b in linked if b == number],
        [b for a, b in linked if a == number],
    )


def drawn(project: Path, address: Callable[[str], str]) -> str:
    """The map as SVG whose rows lead to the chapters.

    Parameters
    ----------
    project : Path
    address : callable
        From the name of a page to what a link to it says.
    """
    found = chapters(project)
    linked = links(found)
    places, headings, y = {}, [], 0
    for part, those in groupby(found, key=lambda chapter: chapter.part):
        headings.append(f'<text x="{_SPINE - 5}" y="{y + 20}">{part}</text>')
        y += _HEADING
        for chapter in those:
            places[chapter.number] = y + _ROW / 2
            y += _ROW
    arcs = [
        _arc((a, b), places[a], places[b], y, times) for (a, b), times in linked.items()
    ]
    rows = [_row(chapter, places[chapter.number], linked, address) for chapter in found]
    lifted = [
        f".concept-map:has(.row{n}:is(:hover,:focus)) .of{n}" for n in sorted(places)
    ]
    return (
        f'<svg class="concept-map" viewBox="0 0 {_WIDTH} {y}" width="{_WIDTH}" '
        f'height="{y}" aria-labelledby="map-title map-about">'
        '<title id="map-title">Map of the book</title>'
        f'<desc id="map-about">The {len(found)} chapters in their order, from top to '
        f"bottom, and {len(linked)} arcs between those that are linked.</desc>"
        f"<style>{','.join(lifted)}{{opacity:1;stroke:var(--memd-bad)}}</style>"
        f"<g class='parts'>{''.join(headings)}</g>"
        f"<g class='arcs'>{''.join(arcs)}</g>{''.join(rows)}</svg>"
    )


def _arc(pair: tuple[int, int], top: float, low: float, y: float, times: int) -> str:
    """Half an ellipse to the left of the chapters."""
    reach = round(5 + (_SPINE - 7) * ((low - top) / y) ** 0.7, 1)
    return (
        f'<path class="of{pair[0]} of{pair[1]}" d="M{_SPINE} {top:g}A{reach:g} '
        f'{(low - top) / 2:g} 0 0 0 {_SPINE} {low:g}" '
        f'stroke-width="{min(1 + 0.35 * (times - 1), 2.8):g}"/>'
    )


def _row(
    chapter: Chapter, y: float, linked: Links, address: Callable[[str], str]
) -> str:
    name = f"{chapter.number}. {chapter.title}"
    before, after = around(chapter.number, linked)
    said = [f"builds on {_and(before)}"] if before else []
    said += [f"used in {_and(after)}"] if after else []
    left = _SPINE - 8
    return (
        f'<a class="row{chapter.number}" href="{escape(address(chapter.page))}" '
        f'aria-label="{escape(": ".join([name, "; ".join(said)]) if said else name)}">'
        f'<rect x="{left}" y="{y - _ROW / 2:g}" width="{_WIDTH - left}" '
        f'height="{_ROW}" rx="3"/><circle cx="{_SPINE}" cy="{y:g}" r="3.5"/>'
        f'<text class="number" x="{left + 35}" y="{y + 4.5:g}">{chapter.number}</text>'
        f'<text x="{left + 42}" y="{y + 4.5:g}">{escape(chapter.title)}</text></a>'
    )


def _and(numbers: list[int]) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}" if first else last


def place(project: Path, page: str, address: Callable[[str], str], front: str) -> str:
    """Where a chapter stands, for the head of its page; empty for other pages.

    Parameters
    ----------
    project : Path
    page : str
        Name of the page.
    address : callable
        From the name of a page to what a link to it says.
    front : str
        Page with the map.
    """
    found = chapters(project)
    here = next((chapter for chapter in found if chapter.page == page), None)
    if here is None:
        return ""
    before, after = around(here.number, links(found))
    by_number = {chapter.number: chapter for chapter in found}

    def named(numbers: list[int]) -> str:
        return " ".join(
            f'<a href="{escape(address(by_number[n].page))}" '
            f'title="{escape(by_number[n].title)}">{n}</a>'
            for n in numbers
        )

    said = [escape(here.part)]
    said += [f"builds on {named(before)}"] if before else []
    said += [f"used in {named(after)}"] if after else []
    said.append(f'<a href="{escape(address(front))}#map">map</a>')
    strip = _strip(found, here.number, before, after)
    return (
        '<nav class="place" aria-label="Where this chapter stands">'
        f"{strip}<span>{' · '.join(said)}</span></nav>"
    )


def _strip(found: list[Chapter], here: int, before: list[int], after: list[int]) -> str:
    """One dot a chapter, in order; a gap between parts."""
    dots, x = [], 0
    for _, those in groupby(found, key=lambda chapter: chapter.part):
        for chapter in those:
            x += _GAP
            kind, radius = "", 2.2
            if chapter.number == here:
                kind, radius = "here", 4.2
            elif chapter.number in before:
                kind, radius = "before", 3
            elif chapter.number in after:
                kind, radius = "after", 3
            dots.append(f'<circle class="{kind}" cx="{x}" cy="6" r="{radius}"/>')
        x += _GAP
    return (
        f'<svg viewBox="0 0 {x} 12" width="{x}" height="12" aria-hidden="true">'
        f"{''.join(dots)}</svg>"
    )
