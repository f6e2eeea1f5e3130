"""Everything that a page shows has a printed name."""

import re

import pytest

from compendium.ledger.claims import read_claims
from compendium.ledger.names import (
    COLUMNS,
    DATA_SETS,
    METHODS,
    NAMES,
    ORDERS,
    SOURCES,
    TABLES,
)
from compendium.ledger.published import first_column, printed_rows
from compendium.ledger.settings import SETTINGS
from compendium.project import root

CLAIMS = read_claims(root())


def test_no_two_tables_share_an_identifier_or_disagree():
    parts = (DATA_SETS, METHODS, COLUMNS, ORDERS, TABLES, SOURCES)
    for one in parts:
        for key, name in one.items():
            assert NAMES[key] == name
        assert len(set(one.values())) == len(one)


def test_every_row_and_column_of_the_tables_has_a_name():
    assert first_column(printed_rows("table1")) == list(ORDERS)
    rows = first_column(printed_rows("table2")) + first_column(printed_rows("table3"))
    assert rows == list(DATA_SETS)
    assert set(SETTINGS) <= set(TABLES)
    for methods in SETTINGS.values():
        assert set(methods) <= set(METHODS)
        places = {c for all_ in methods.values() for s in all_ for c in s.places}
        assert places <= set(COLUMNS)


def test_every_source_has_a_name_that_ends_in_its_year():
    assert {claim.source for claim in CLAIMS} == set(SOURCES)
    for key, name in SOURCES.items():
        assert name.endswith(f"({re.sub('[^0-9]', '', key)})")


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_no_claim_shows_an_identifier(claim):
    texts = [claim.statement, claim.locator, claim.why, claim.reason, claim.unit]
    texts += [finding.label for finding in claim.findings]
    for text in texts:
        assert not re.search(r"[a-z0-9]_[a-z0-9]{2}|\breadings?\b", text), text
    if claim.row in DATA_SETS:
        assert DATA_SETS[claim.row] in claim.statement
        assert DATA_SETS[claim.row] in claim.locator
