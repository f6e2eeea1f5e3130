"""Everything that a page shows has a printed name."""

import re

from compendium.ledger.claims import read_claims
from compendium.ledger.names import COLUMNS, DATA_SETS, METHODS, NAMES
from compendium.ledger.published import by_first_column
from compendium.ledger.settings import SETTINGS
from compendium.project import root


def test_every_row_and_column_of_the_tables_has_a_name():
    rows = [[*by_first_column(f"table{number}")] for number in (1, 2, 3)]
    assert rows[1] + rows[2] == list(DATA_SETS)
    for part in rows:
        assert len({NAMES[row] for row in part}) == len(part)
    for methods in SETTINGS.values():
        assert set(methods) <= set(METHODS)
        places = {c for all_ in methods.values() for s in all_ for c in s.places}
        assert places <= set(COLUMNS)


def test_no_claim_shows_an_identifier():
    for claim in read_claims(root()):
        assert NAMES[claim.source].endswith(f"({re.sub('[^0-9]', '', claim.source)})")
        texts = [claim.statement, claim.locator, claim.why, claim.reason, claim.unit]
        texts += [finding.label for finding in claim.findings]
        for text in texts:
            assert not re.search(r"[a-z0-9]_[a-z0-9]{2}|\breadings?\b", text), claim.id
        if claim.row in DATA_SETS:
            assert DATA_SETS[claim.row] in claim.statement
            assert DATA_SETS[claim.row] in claim.locator
