"""Sizes typed into chapters against those of the files that were run."""

import re
from itertools import product

import pytest

from compendium.ledger.published import printed_numbers
from compendium.ledger.results import read_result
from compendium.project import root


def text_of(chapter):
    return (root() / "book" / "chapters" / f"{chapter}.md").read_text()


def test_each_published_size_fits_one_choice_of_halves():
    found = read_result("found")["values"]
    pattern = r'"(rec\.[a-z.]+)": \((\d+), (\d+)\)'
    typed = re.findall(pattern, text_of("found-in-the-data"))
    halves = {group: (int(train), int(test)) for group, train, test in typed}
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
    pattern = (
        r"has (\d+) messages on cars and\s+(\d+) on motorcycles, "
        r"but the complete edition \1 and (\d+)"
    )
    cars, paper, whole = map(int, re.search(pattern, text_of("newsgroups")).groups())
    bikes = read_result("found")["values"]["damaged"]["rec.motorcycles"]
    assert (paper, whole) == (bikes["train"], bikes["train"] + bikes["test"])
    sizes = read_result("table3-autos-motorcycles")["values"]["sizes"]
    assert cars + paper == sizes["paper"]["full"]["documents"]
    assert cars + whole == sizes["complete"]["full"]["documents"]


def test_exercise_on_one_patient_has_the_numbers_of_table_two():
    [[patients, gap]] = re.findall(
        r"one = 100 / (\d+)\ndifference = ([\d.]+)", text_of("genes")
    )
    rows = read_result("table2-colon")["values"]["sizes"]["rows"]
    published = printed_numbers("table2", "colon")
    assert int(patients) == rows
    gap_there = published["memd_js"] - published["svm_linear"]
    assert float(gap) == pytest.approx(gap_there, rel=1e-9)
