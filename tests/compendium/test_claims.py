import re

import pytest

from memdlib.compendium.claims import LedgerError, counts, read_claims
from memdlib.compendium.published import printed_figures
from memdlib.compendium.readme import claims_table, finding_text, with_tables

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
    ("error", "verdict"),
    [(0, "reproduced"), (9e-10, "reproduced"), (1.1e-9, "differs"), (-1.0, "differs")],
)
def test_verdict_on_an_identity(project, error, verdict):
    text = IDENTITY.format(id="c", more='reason = "unknown"')
    (claim,) = ledger(project, text, error=error)
    assert claim.verdict == verdict
    assert claim.published is None


def test_the_first_finding_decides_and_the_others_are_shown(project):
    text = VALUE.format(id="c", more="").replace(
        'label = "plain" }', 'label = "plain" }, { run = "run", key = "worse" }'
    )
    text = text.replace("}, {", "},\n{")
    project.write("data/claims.toml", text)
    good, bad = {"mean": 86.0, "sd": 1.0}, {"mean": 70.0, "sd": 2.0}
    project.result("run", {"deep": {"accuracy": good}, "worse": bad})
    (claim,) = read_claims(project.root)
    assert claim.verdict == "reproduced"
    assert [(f.label, f.value, f.spread, f.run, f.agrees) for f in claim.findings] == [
        ("plain", 86.0, 1.0, "run", True),
        ("", 70.0, 2.0, "run", False),
    ]
    assert finding_text(claim, 1) == "70.00 ± 2.00"
    assert claim.tolerance == "within 2 standard deviations of one run: one draw"
    project.result("run", {"deep": {"accuracy": bad}, "worse": good})
    with pytest.raises(LedgerError, match="gives no reason"):
        read_claims(project.root)


def test_beyond_reach_and_the_count(project):
    beyond = VALUE.format(id="far", more='beyond = "the data are lost"').replace(
        'evidence = [{ run = "run", key = "deep.accuracy", label = "plain" }]\n', ""
    )
    claims = ledger(project, VALUE.format(id="near", more="") + beyond)
    assert [c.verdict for c in claims] == ["reproduced", "beyond reach"]
    assert claims[1].reason == "the data are lost"
    assert counts(claims) == {"reproduced": 1, "differs": 0, "beyond reach": 1}
    table = claims_table(claims)
    assert "| 86.40 | 86.00 ± 1.00 | reproduced |" in table
    assert "`make experiments RUNS=run`" in table
    assert "| it is so | 86.40 |  | beyond reach |  |" in table
    assert "2 claims: 1 reproduced, 1 beyond reach." in table


def test_a_difference_keeps_its_reason_and_an_identity_its_error(project):
    text = VALUE.format(id="c", more='reason = "other folds"')
    claims = ledger(project, text + IDENTITY.format(id="i", more=""), mean=70.0)
    assert (claims[0].verdict, claims[0].reason) == ("differs", "other folds")
    assert claims[1].tolerance == "at most 1e-09: exact"
    table = claims_table(claims)
    assert "| it is so | 86.40 | 70.00 ± 1.00 | differs |" in table
    assert (
        r"| left is right |  | error below $1\times 10^{-12}$ | reproduced |" in table
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (VALUE.replace('why = "one draw"', "").format(id="c", more=""), "lacks why"),
        *(
            (
                re.sub(f"(?m)^{field} = .*$", "", VALUE).format(id="c", more=""),
                f"claim 'c': lacks {field}",
            )
            for field in ("source", "locator", "statement", "tolerance", "why")
        ),
        (VALUE.format(id="c", more="verdict = 'good'"), "does not know verdict"),
        (VALUE.format(id="c", more="beyond = 'no'"), "either evidence or 'beyond'"),
        (
            re.sub("(?m)^evidence.*$", "", VALUE).format(id="c", more=""),
            "either evidence or 'beyond'",
        ),
        *(
            (
                VALUE.replace(f'"{word}"', '"lost"', 1).format(id="c", more=""),
                "claim 'c': the printed figure is missing: .*lost",
            )
            for word in ("table", "x", "a")
        ),
        (
            VALUE.replace("deep.accuracy", "error").format(id="c", more=""),
            "claim 'c': evidence is missing",
        ),
        (
            VALUE.replace("deep.accuracy", "deep.accuracy.mean.x").format(
                id="c", more=""
            ),
            "claim 'c': evidence is missing",
        ),
        (
            IDENTITY.replace('"error"', '"deep"').format(id="c", more=""),
            "claim 'c': evidence is missing",
        ),
        (
            VALUE.replace('key = "deep.accuracy", ', "").format(id="c", more=""),
            "evidence is missing: 'key'",
        ),
        (
            VALUE.replace("deep.accuracy", "deep.x").format(id="c", more=""),
            "missing: 'x'",
        ),
        (VALUE.replace('"run"', '"lost"').format(id="c", more=""), "RUNS=lost"),
        (
            VALUE.replace("spreads = 2", "absolute = 2").format(id="c", more=""),
            "needs a",
        ),
        (VALUE.replace("spreads = 2", "near = 2").format(id="c", more=""), "needs a"),
        (
            VALUE.replace("spreads = 2", "spreads = 2, absolute = 2").format(
                id="c", more=""
            ),
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
