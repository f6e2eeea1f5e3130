import io
import re
from collections import Counter
from pathlib import Path

import pytest

from compendium.ledger.claims import LedgerError, counts, read_claims
from compendium.ledger.findings import MEASURES
from compendium.project import root

VALUE = """
[{id}]
group = "Table 1"
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
group = "Table 1"
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
        'label = "plain" }',
        'label = "plain" }, { run = "run", key = "worse", label = "log" }',
    )
    text = text.replace("}, {", "},\n{")
    project.write("data/claims.toml", text)
    good, bad = {"mean": 86.0, "sd": 1.0}, {"mean": 70.0, "sd": 2.0}
    project.result("run", {"deep": {"accuracy": good}, "worse": bad})
    (claim,) = read_claims(project.root)
    assert claim.verdict == "reproduced"
    assert [(f.label, f.value, f.spread, f.run, f.agrees) for f in claim.findings] == [
        ("plain", 86.0, 1.0, "run", True),
        ("log", 70.0, 2.0, "run", False),
    ]
    assert (claim.kind, claim.bound, claim.why) == ("spreads", 2.0, "one draw")
    project.result("run", {"deep": {"accuracy": bad}, "worse": good})
    (claim,) = read_claims(project.root)
    assert (claim.verdict, claim.reason) == (
        "differs",
        "it depends on the reading; it is reproduced with log",
    )
    project.result("run", {"deep": {"accuracy": bad}, "worse": bad})
    (claim,) = read_claims(project.root)
    assert claim.reason == "unknown; none of the 2 readings tried agrees"
    text = VALUE.format(id="c", more="")
    project.write("data/claims.toml", text)
    with pytest.raises(LedgerError, match="gives no reason"):
        read_claims(project.root)


def test_one_instance_is_always_within_the_tolerance(project):
    project.write("data/claims.toml", VALUE.format(id="c", more='reason = "none"'))
    for mean, one, verdict in ((85.0, 1.5, "reproduced"), (85.0, 1.3, "differs")):
        accuracy = {"mean": mean, "sd": 0.0, "row": one}
        project.result("run", {"deep": {"accuracy": accuracy}})
        assert read_claims(project.root)[0].verdict == verdict


STATEMENT = """
[{id}]
group = "Text"
source = "someone2013"
locator = "section 1"
statement = "most are better"
unit = "of 7"
evidence = [{{ run = "run", key = "count", label = "plain" }}]
tolerance = {{ {kind} = 4 }}
why = "most means more than half"
{more}
"""


@pytest.mark.parametrize(
    ("kind", "count", "verdict"),
    [
        ("at_least", 4, "reproduced"),
        ("at_least", 3, "differs"),
        ("at_most", 4, "reproduced"),
        ("at_most", 4.5, "differs"),
        ("absolute", -4, "reproduced"),
        ("absolute", -5, "differs"),
    ],
)
def test_verdict_on_a_statement(project, kind, count, verdict):
    more = 'reason = "unknown"'
    project.write("data/claims.toml", STATEMENT.format(id="s", kind=kind, more=more))
    project.result("run", {"count": count})
    (claim,) = read_claims(project.root)
    assert (claim.verdict, claim.kind, claim.bound) == (verdict, kind, 4.0)
    assert claim.group == "Text" and claim.row == claim.column == ""


def test_a_measure_over_many_runs(project, monkeypatch):
    def double(evidence, of):
        return 2 * evidence.values(of)["count"]

    monkeypatch.setitem(MEASURES, "double", double)
    text = STATEMENT.format(id="s", kind="at_least", more="")
    text = text.replace('run = "run", key = "count"', 'measure = "double", of = "run"')
    project.write("data/claims.toml", text)
    project.result("run", {"count": 3})
    (claim,) = read_claims(project.root)
    assert (claim.findings[0].value, claim.findings[0].run) == (6.0, "")
    project.write("data/claims.toml", text.replace("double", "triple"))
    with pytest.raises(LedgerError, match="evidence is missing: 'triple'"):
        read_claims(project.root)


ROWS = """
[cells]
group = "Table 3"
rows = ["x", "y_z"]
source = "someone2013"
locator = "Table 3, {row}"
statement = "{row} has its accuracy"
published = { table = "table3", column = "a" }
evidence = [{ run = "{run}", key = "full.accuracy", label = "plain" }]
tolerance = { spreads = 2 }
why = "one draw"
reason = "unknown"
"""


def test_one_entry_for_many_rows(project):
    project.write("data/published/table3.csv", "row,a\nx,50\ny_z,60\n")
    project.write("data/claims.toml", ROWS)
    for run, mean in (("table3-x", 50.5), ("table3-y-z", 70.0)):
        project.result(run, {"full": {"accuracy": {"mean": mean, "sd": 1.0}}})
    claims = read_claims(project.root)
    assert [(c.id, c.row, c.column, c.published, c.verdict) for c in claims] == [
        ("cells-x", "x", "a", 50.0, "reproduced"),
        ("cells-y-z", "y_z", "a", 60.0, "differs"),
    ]
    assert claims[1].statement == "y_z has its accuracy"
    assert claims[1].locator == "Table 3, y_z"
    assert claims[1].findings[0].run == "table3-y-z"
    lost = ROWS.replace('table = "table3", ', "")
    project.write("data/claims.toml", lost)
    with pytest.raises(LedgerError, match="rows but no published table"):
        read_claims(project.root)


def test_beyond_reach_and_the_count(project):
    beyond = VALUE.format(id="far", more='beyond = "the data are lost"').replace(
        'evidence = [{ run = "run", key = "deep.accuracy", label = "plain" }]\n', ""
    )
    claims = ledger(project, VALUE.format(id="near", more="") + beyond)
    assert [c.verdict for c in claims] == ["reproduced", "beyond reach"]
    assert claims[1].reason == "the data are lost"
    assert counts(claims) == {"reproduced": 1, "differs": 0, "beyond reach": 1}


def test_a_difference_keeps_its_reason(project):
    text = VALUE.format(id="c", more='reason = "other folds"')
    claims = ledger(project, text + IDENTITY.format(id="i", more=""), mean=70.0)
    assert (claims[0].verdict, claims[0].reason) == ("differs", "other folds")
    assert (claims[1].kind, claims[1].bound, claims[1].why) == (
        "absolute",
        1e-9,
        "exact",
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
            for field in ("group", "source", "locator", "statement", "tolerance", "why")
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
                "claim 'c': the printed number is missing: .*lost",
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
            "missing: 'run has no deep.x'",
        ),
        (VALUE.replace('"run"', '"lost"').format(id="c", more=""), "RUNS=lost"),
        (
            VALUE.replace("spreads = 2", "at_least = 2").format(id="c", more=""),
            "must be one of spreads, absolute, got at_least",
        ),
        (
            VALUE.replace("spreads = 2", "near = 2").format(id="c", more=""),
            "must be one of",
        ),
        (
            VALUE.replace("spreads = 2", "spreads = 2, absolute = 2").format(
                id="c", more=""
            ),
            "must be one of",
        ),
        (
            IDENTITY.replace("absolute", "spreads").format(id="c", more=""),
            "must be one of absolute, at_least, at_most",
        ),
        (IDENTITY.replace("1e-9", "1e-15").format(id="c", more=""), "gives no reason"),
    ],
)
def test_an_incomplete_claim_is_an_error(project, text, message):
    with pytest.raises(LedgerError, match=message):
        ledger(project, text)


def test_every_file_is_read_once(monkeypatch):
    """The whole ledger of the book, whose claims rest on the same results."""
    opened, open_file = Counter(), io.open

    def counting(path, *given, **more):
        opened[Path(path).name] += 1
        return open_file(path, *given, **more)

    with monkeypatch.context() as patched:
        patched.setattr(io, "open", counting)
        claims = read_claims(root())
    assert len(claims) > 90
    assert len(opened) > 20 and {"claims.toml", "table2.csv"} <= set(opened)
    assert set(opened.values()) == {1}


def test_what_has_been_read_is_forgotten_by_the_next_call(project):
    for error, verdict in ((0.0, "reproduced"), (1.0, "differs")):
        text = IDENTITY.format(id="c", more='reason = "unknown"')
        (claim,) = ledger(project, text, error=error)
        assert claim.verdict == verdict
