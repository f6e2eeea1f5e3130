"""Sizes typed into chapters against those of the files that were run."""

import re
from itertools import product

from compendium.ledger.results import read_result
from compendium.project import root


def numbers_of(chapter, pattern):
    """Every match of a pattern in a chapter, digits as numbers."""
    text = (root() / "book" / "evidence" / f"{chapter}.md").read_text()
    return [
        [int(part) if part.isdigit() else part for part in match]
        for match in re.findall(pattern, text)
    ]


def test_each_published_size_fits_one_choice_of_halves():
    found = read_result("found")["values"]
    typed = numbers_of("found-in-the-data", r'"(rec\.[a-z.]+)": \((\d+), (\d+)\)')
    halves = {group: (train, test) for group, train, test in typed}
    bikes = found["damaged"]["rec.motorcycles"]
    assert halves["rec.motorcycles"] == (bikes["train"], bikes["test"])
    for group, sizes in halves.items():
        assert sum(sizes) == found["attachments"][group]["messages"]
    for row, groups in (
        ("autos_motorcycles", ("rec.autos", "rec.motorcycles")),
        ("rec", halves),
    ):
        choices = [(sum(halves[group]), *halves[group]) for group in groups]
        totals = [sum(choice) for choice in product(*choices)]
        assert totals.count(found["sizes"][row]["printed"]) == 1


def test_exercise_on_guessing_has_the_sizes_of_both_editions():
    [[cars, paper, whole]] = numbers_of(
        "newsgroups",
        r"has (\d+) messages on cars and\s+(\d+) on motorcycles, "
        r"but the complete edition \1 and (\d+)",
    )
    bikes = read_result("found")["values"]["damaged"]["rec.motorcycles"]
    assert (paper, whole) == (bikes["train"], bikes["train"] + bikes["test"])
    sizes = read_result("table3-autos-motorcycles")["values"]["sizes"]
    assert cars + paper == sizes["paper"]["full"]["documents"]
    assert cars + whole == sizes["complete"]["full"]["documents"]
