"""Every claim of the ledger can be written down, everywhere that claims are shown."""

import re

import pytest

from compendium.book import verdicts
from compendium.book.verdicts import counts_text, finding_text
from compendium.ledger.claims import Claim, Finding, read_claims
from compendium.project import root

CLAIMS = read_claims(root())


def found(value, **more):
    return (Finding("plain", value, ("run",), "agrees", **more),)


def claim(**changes):
    given = dict.fromkeys(("table", "row", "column", "method", "reason"), "")
    given |= {"id": "c", "group": "Table 1", "source": "someone2013", "why": "one draw"}
    given |= {"locator": "Table 1", "statement": "it is so", "unit": "per cent"}
    given |= {"published": 86.4, "table_says": (), "rule": "prediction", "bound": 95.0}
    given |= {"findings": found(86.0, spread=1.0), "verdict": "agrees"}
    return Claim(**(given | changes))


RANGED = found(0.974, low=0.9, high=1.2)


@pytest.mark.parametrize("one", CLAIMS, ids=lambda one: one.id)
def test_every_claim_of_the_ledger_can_be_said(one):
    findings = [finding_text(one, index) for index in range(len(one.findings))]
    published = verdicts.published_text(one)
    text = " ".join([verdicts.claim_badge(one), published, *findings])
    assert all(findings)
    assert bool(published) == (one.published is not None)
    assert not re.search(r"\b(?:None|nan)\b", text)


BARE, COUNT = {"published": None}, {"rule": "at_least", "unit": "of 11"}


@pytest.mark.parametrize(
    ("changes", "value", "published", "finding"),
    [
        ({}, found(86.0, spread=1.0), "86.40", "86.00 ± 1.00"),
        ({"rule": "absolute"}, found(86.0), "86.40", "86.00"),
        ({"rule": "absolute", "published": 2.0}, found(1.96), "2", "2.0"),
        ({}, (), "86.40", ""),
        (BARE | {"rule": "absolute"}, found(9.1e-15), "", "error below 1 × 10⁻¹⁴"),
        (BARE | COUNT, found(4), "", "4 of 11"),
        (BARE | {"rule": "at_most"}, found(0.94), "", "0.9 per cent"),
        (BARE | {"rule": "at_most"}, found(-0.0012), "", "−0.001 per cent"),
        ({"rule": "absolute", "published": 1.0}, RANGED, "1", "0.97 (0.90 to 1.20)"),
        (BARE | {"rule": "absolute"}, RANGED, "", "0.97 (0.90 to 1.20) per cent"),
        (BARE | COUNT, found(7, low=2, high=11), "", "7 (2 to 11) of 11"),
    ],
)
def test_numbers_have_the_digits_that_they_are_good_for(
    changes, value, published, finding
):
    one = claim(findings=value, **changes)
    assert (verdicts.published_text(one), finding_text(one)) == (published, finding)


def test_a_small_bound_is_a_power_of_ten():
    said = verdicts.tolerance_text(claim(rule="absolute", bound=1e-9))
    assert said == "at most 10⁻⁹ away: one draw"
    assert verdicts.bound(claim(rule="at_most", bound=3e-9)) == "3 × 10⁻⁹"
    assert verdicts.bound(claim(rule="at_most", bound=0.0)) == "0"


def test_what_a_table_says_has_the_unit_of_the_claim():
    says = claim(table_says=(("ahead of a", 10), ("of both", 4)), unit="of 11 tasks")
    said = "ahead of a on 10 and of both on 4 of 11 tasks"
    assert verdicts.table_text(says) == said


def test_the_sentence_that_counts():
    claims = [
        claim(),
        claim(verdict="disagrees"),
        claim(verdict="agrees only under some settings"),
    ]
    claims.append(claim(kind="proved", verdict="disagrees"))
    assert counts_text(claims) == (
        "3 are decided by runs (agrees 1, agrees only under some settings 1, "
        "disagrees 1) and 1 by a proof or a count (disagrees 1)"
    )
    numbers = re.findall(r"\d+", counts_text(CLAIMS))
    assert sum(map(int, numbers)) == 2 * len(CLAIMS)
