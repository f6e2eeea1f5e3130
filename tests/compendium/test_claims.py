import pytest

from memdlib.compendium.claims import LedgerError, counts, read_claims
from memdlib.compendium.published import printed_figures
from memdlib.compendium.readme import claims_table, with_tables

VALUE = """
[{id}]
source = "someone2013"
locator = "Table 1"
statement = "it is so"
published = {{ table = "table", row = "x", column = "a" }}
unit = "per cent"
evidence = [{{ run = "run", key = "deep.accuracy", label = "plain" }}]
tolerance = {{ spreads = 2 }}
why = "one draw"
{more}
"""
IDENTITY = """
[{id}]
source = "someone2013"
locator = "eq. 1"
statement = "left is right"
evidence = [{{ run = "run", key = "error" }}]
tolerance = {{ absolute = 1e-9 }}
why = "exact"
{more}
"""


def ledger(project, text, mean=86.0, sd=1.0, error=1e-12):
    project.write("data/claims.toml", text)
    project.result(
        "run", {"deep": {"accuracy": {"mean": mean, "sd": sd}}, "error": error}
    )
    return read_claims(project.root)


@pytest.mark.parametrize(
    ("mean", "sd", "verdict"),
    [
        (86.4, 0.0, "reproduced"),
        (84.41, 1.0, "reproduced"),
        (84.39, 1.0, "differs"),
        (88.39, 1.0, "reproduced"),
        (88.41, 1.0, "differs"),
    ],
)
def test_verdict_on_a_figure(project, mean, sd, verdict):
    text = VALUE.format(id="c", more='reason = "unknown"')
    (claim,) = ledger(project, text, mean, sd)
    assert claim.verdict == verdict
    assert claim.published == 86.4
    assert claim.findings[0].spread == sd


@pytest.mark.parametrize(
    ("error", "verdict"), [(9e-10, "reproduced"), (1.1e-9, "differs")]
)
def test_verdict_on_an_identity(project, error, verdict):
    text = IDENTITY.format(id="c", more='reason = "unknown"')
    (claim,) = ledger(project, text, error=error)
    assert claim.verdict == verdict
    assert claim.published is None


def test_beyond_reach_and_the_count(project):
    beyond = VALUE.format(id="far", more='beyond = "the data are lost"').replace(
        'evidence = [{ run = "run", key = "deep.accuracy", label = "plain" }]\n', ""
    )
    claims = ledger(project, VALUE.format(id="near", more="") + beyond)
    assert [c.verdict for c in claims] == ["reproduced", "beyond reach"]
    assert counts(claims) == {"reproduced": 1, "differs": 0, "beyond reach": 1}
    table = claims_table(claims)
    assert "| 86.40 | 86.00 ± 1.00 | reproduced |" in table
    assert "2 claims: 1 reproduced, 1 beyond reach." in table


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (VALUE.replace('why = "one draw"', "").format(id="c", more=""), "lacks why"),
        (VALUE.format(id="c", more="verdict = 'good'"), "does not know verdict"),
        (VALUE.format(id="c", more="beyond = 'no'"), "either evidence or 'beyond'"),
        (
            VALUE.replace("deep.accuracy", "deep.x").format(id="c", more=""),
            "missing: 'x'",
        ),
        (VALUE.replace('"run"', '"lost"').format(id="c", more=""), "RUNS=lost"),
        (
            VALUE.replace("spreads = 2", "absolute = 2").format(id="c", more=""),
            "needs a",
        ),
        (
            IDENTITY.replace("absolute", "spreads").format(id="c", more=""),
            "needs a tol",
        ),
        (IDENTITY.replace("1e-9", "1e-15").format(id="c", more=""), "gives no reason"),
    ],
)
def test_an_incomplete_claim_is_an_error(project, text, message):
    with pytest.raises(LedgerError, match=message):
        ledger(project, text)


def test_printed_figures(project):
    assert printed_figures("table", "x", project.root) == {"a": 86.4}
    with pytest.raises(ValueError, match=r"no row 'y'; it has \['x'\]"):
        printed_figures("table", "y", project.root)


def test_tables_go_between_their_marks():
    text = "a\n<!-- t: begin -->\nold\n<!-- t: end -->\nb\n"
    expected = "a\n<!-- t: begin -->\nnew\n<!-- t: end -->\nb\n"
    assert with_tables(text, {"t": "new"}) == expected
    assert with_tables(expected, {"t": "new"}) == expected
