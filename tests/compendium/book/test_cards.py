"""The claims page in pieces: every card is whole, every count and link is right."""

import json
import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from compendium.book.cards import Cards, counts_matrix
from compendium.book.verdicts import slug, table_text, tolerance_text
from compendium.ledger.claims import VERDICTS, Finding, of_the_sources, read_claims
from compendium.ledger.settings import SETTINGS
from compendium.ledger.tables import Evidence
from compendium.project import root
from tests.compendium.book.test_verdicts import claim

CLAIMS = read_claims(root())
CARDS = Cards(CLAIMS, Evidence())


class Tree(HTMLParser):
    """Text, links, identifiers and terms of a piece; tags must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.ids, self.text = [], [], [], ""
        self.tags, self.terms = Counter(), {}
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags[tag] += 1
        self.links += [given["href"]] if "href" in given else []
        self.ids += [given["id"]] if "id" in given else []
        if tag != "input":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if "dt" in self.open:
            self.last = data
            self.terms[data] = ""
        elif "dd" in self.open:
            self.terms[self.last] += data


def test_a_card_tells_all_of_its_claim():
    for one in CLAIMS:
        tree = Tree(CARDS.card(one))
        terms = tree.terms
        assert tree.ids == [one.id] and f"#{one.id}" in tree.links
        assert tree.tags["details"] == tree.tags["summary"] == 1
        assert one.statement in tree.text and one.verdict in tree.text
        assert one.locator in terms["Source"]
        assert tolerance_text(one) in terms["Judged by"]
        assert ("Printed" in terms) == (one.published is not None)
        assert ("Our result" in terms) == bool(one.findings)
        assert terms.get("The printed table says", "") == table_text(one).strip()
        assert terms.get("Reason", "") == one.reason
        assert ("Settings" in terms) == (len(one.findings) > 1)
        for finding in one.findings[: 1 if one.method else None]:
            assert finding.label in tree.text
        for run in {run for finding in one.findings for run in finding.records}:
            assert f"../records/{run}.html" in tree.links
            assert re.search(rf"make experiments RUNS=.*\b{run}\b", terms["Records"])
        checkable = bool(one.records or one.statements)
        assert ("Check" in terms) == checkable
        if checkable:
            assert terms["Check"].startswith(f"make check CLAIM={one.id}: ")
        assert ("Placebo" in terms) == bool(one.method)
        if one.method:
            assert f"every-setting.html#{one.table}-{one.method}" in tree.links
            others = len(SETTINGS[one.table]) - 1
            assert terms["Placebo"].count("agree") == others
        assert not re.search(r"nan|None|\$", tree.text)


def test_a_card_tells_what_a_check_takes():
    said = {one.id: Tree(CARDS.card(one)).terms.get("Check") for one in CLAIMS}
    seconds = json.loads((root() / "data/results/identities.json").read_text())
    command = "make check CLAIM="
    assert said["margin-equals-j"] == (
        f"{command}margin-equals-j: {seconds['seconds']} s of processor time when "
        "stored; no data sets to download; with the tests of its proof"
    )
    assert said["text-redundant"] == (
        f"{command}text-redundant: with the tests of its proof"
    )
    assert "; 1 data set to download" in said["table2-svm-colon"]
    assert "; 11 data sets to download" in said["text-memd-beats-svm"]
    assert said["table1-svm-training"] is None


def test_every_claim_is_in_a_group_of_the_page():
    page = (root() / "book/chapters/claims.md").read_text()
    named = re.findall(r'cards\.show\("(.*)"\)', page)
    assert sorted(named) == sorted({one.group for one in CLAIMS})
    with pytest.raises(ValueError, match="no group of claims named 'Table IX'"):
        CARDS.group("Table IX")


def test_words_of_a_claim_are_escaped():
    finding = Finding("a < b", 86.0, (), "agrees", spread=1.0)
    words = {"statement": "x < y", "locator": "p & q", "why": "1 < 2", "reason": "<b>"}
    one = claim(source="pandey2013", rule="absolute", findings=(finding,) * 2, **words)
    tree = Tree(CARDS.card(one))
    assert all(text in tree.text for text in (*words.values(), "a < b"))


def test_counts_lead_to_what_they_count():
    of_sources = of_the_sources(CLAIMS)
    text = counts_matrix(of_sources)
    found = re.findall(r'<a href="\?([^"#]*)#claim-filters">(\d+)</a>', text)
    facts = [
        {f"table={slug(one.group)}", f"verdict={slug(one.verdict)}"}
        for one in of_sources
    ]
    for query, number in found:
        wanted = {part for part in query.split("&amp;") if part}
        assert sum(wanted <= one for one in facts) == int(number) > 0
    cells = (len({one.group for one in of_sources}) + 1) * (len(VERDICTS) + 1)
    assert Tree(text).tags["td"] == cells == len(found) + text.count("<td>0</td>")
