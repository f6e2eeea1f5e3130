import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from compendium.ledger.claims import UNMEASURED, LedgerError, counts, judge, read_claims
from compendium.ledger.findings import MEASURES
from compendium.ledger.names import NAMES
from compendium.ledger.tables import Evidence, printed_wins
from compendium.project import root

ENTRY = """
[{id}]
group = "Table 1"
source = "someone2013"
locator = "Table 1"
statement = "it is so"
why = "one draw"
{more}
"""
VALUE = f"""{ENTRY}
published = {{{{ table = "table", row = "x", column = "a" }}}}
unit = "per cent"
evidence = [{{{{ run = "run", key = "deep.accuracy", label = "plain" }}}}]
tolerance = {{{{ absolute = 2 }}}}
"""
IDENTITY = f"""{ENTRY}
evidence = [{{{{ run = "run", key = "error" }}}}]
tolerance = {{{{ absolute = 1e-9 }}}}
"""


def ledger(project, text, value=86.0, error=1e-12):
    project.write("data/claims.toml", text)
    project.result("run", {"deep": {"accuracy": value}, "error": error})
    return read_claims(project.root)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (84.41, "agrees"),
        (84.39, "disagrees"),
        (88.41, "disagrees"),
        ({"median": 86.0, "low": 84.5, "high": 88.0}, "agrees"),
        ({"median": 86.0, "low": 84.0, "high": 88.0}, "inconclusive"),
        ({"median": 90.0, "low": 89.0, "high": 91.0}, "disagrees"),
    ],
)
def test_verdict_on_a_figure(project, value, verdict):
    text = VALUE.format(id="c", more='reason = "unknown"')
    (claim,) = ledger(project, text, value)
    assert (claim.verdict, claim.published) == (verdict, 86.4)
    (finding,) = claim.findings
    ends = value if isinstance(value, dict) else {"median": value}
    wanted = [ends["median"], ends.get("low"), ends.get("high")]
    assert [finding.value, finding.low, finding.high] == wanted


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        (86.0, 86.5, "agrees"),
        (86.0, 70.0, "agrees only under some settings"),
        (70.0, 86.0, "disagrees"),
        (70.0, 71.0, "disagrees"),
        ({"median": 86, "low": 80, "high": 90}, 86.0, "inconclusive"),
        (
            86.0,
            {"median": 86, "low": 80, "high": 90},
            "agrees only under some settings",
        ),
    ],
)
def test_the_first_setting_decides_but_is_not_alone(project, first, second, verdict):
    plain, log = 'label = "plain" }', '{ run = "run", key = "b", label = "log" }'
    text = VALUE.format(id="c", more="").replace(plain, f"{plain}, {log}")
    project.write("data/claims.toml", text)
    project.result("run", {"deep": {"accuracy": first}, "b": second})
    (claim,) = read_claims(project.root)
    assert claim.verdict == verdict
    assert [f.label for f in claim.findings] == ["plain", "log"]
    assert {f.records for f in claim.findings} == {("run",)}
    assert (claim.rule, claim.bound, claim.why) == ("absolute", 2.0, "one draw")
    if verdict == "disagrees":
        wanted = "it depends on the setting; it agrees with log"
        none = "unknown; none of the 2 settings tried agrees"
        assert claim.reason == (wanted if second == 86.0 else none)


@given(
    kind=st.sampled_from(["absolute", "at_least", "at_most"]),
    bound=st.integers(0, 5),
    ends=st.tuples(st.integers(-9, 9), st.integers(-9, 9)).map(sorted),
    printed=st.integers(-3, 3),
)
def test_a_range_agrees_where_all_of_it_does(kind, bound, ends, printed):
    """Point by point, over the whole numbers of the range."""
    agrees = {
        "absolute": lambda x: abs(x - printed) <= bound,
        "at_least": lambda x: x >= bound,
        "at_most": lambda x: x <= bound,
    }[kind]
    points = [agrees(x) for x in range(ends[0], ends[1] + 1)]
    wanted = "agrees" if all(points) else "inconclusive"
    wanted = wanted if any(points) else "disagrees"
    assert judge(kind, bound, *ends, printed) == wanted


def stated(project, measure, more=""):
    """The claim of a statement that a measure decides."""
    text = ENTRY.format(id="s", more=more) + "tolerance = { at_least = 4 }\n"
    text += f'evidence = [{{ measure = "{measure}" }}]\n'
    project.write("data/claims.toml", text)
    (claim,) = read_claims(project.root)
    return claim


def test_a_measure_over_many_runs(project, monkeypatch):
    def double(evidence, of):
        return evidence.values(of)["count"] + evidence.values("other")["count"]

    monkeypatch.setitem(MEASURES, "double", double)
    project.result("run", {"count": 4})
    project.result("other", {"count": 2})
    (finding,) = stated(project, 'double", of = "run').findings
    assert (finding.value, finding.records) == (6.0, ("run", "other"))
    with pytest.raises(LedgerError, match="evidence is missing: 'triple'"):
        stated(project, "triple")


SAYS = """
table_says = [{ label = "a ahead", table = "printed", one = "a", others = ["b"] }]
"""


@pytest.fixture
def printed(project, monkeypatch):
    """A table in which a is ahead of b in two rows, and measures that may read it."""
    project.write("data/published/printed.csv", "row,a,b\nx,3,1\ny,3,2\nz,3,4\n")
    project.result("run", {"count": 5})
    measures = {
        "of_the_table": lambda evidence: printed_wins(evidence, "printed", "a", ["b"]),
        "of_nothing": lambda evidence: 5,
        "of_both": lambda evidence: (
            evidence.values("run")["count"] + len(evidence.rows("printed"))
        ),
    }
    for name, measure in measures.items():
        monkeypatch.setitem(MEASURES, name, measure)
    return project


@pytest.mark.parametrize("measure", ["of_the_table", "of_nothing"])
def test_our_number_must_come_from_a_run_of_ours(printed, measure):
    with pytest.raises(LedgerError, match="'s': evidence is missing: 'no run is read"):
        stated(printed, measure)


def test_what_the_printed_table_says_is_not_our_number(printed):
    claim = stated(printed, "of_both", SAYS)
    assert claim.table_says == (("a ahead", 2),)
    assert [(f.value, f.records) for f in claim.findings] == [(8.0, ("run",))]
    assert claim.published is None and claim.verdict == "agrees"


# They count the numbers of a table that ours meet or exceed.
MEETING = {"sizes_met", "numbers_met", "share_above_printed"}


def test_no_number_of_the_ledger_is_read_in_a_printed_table(monkeypatch):
    """With tables that tell the names of their rows alone, measures still go."""

    def shut(*_):
        raise RuntimeError("a printed number")

    evidence = Evidence(root())
    entries = tomllib.loads((root() / "data" / "claims.toml").read_text()).values()
    monkeypatch.setattr(Evidence, "printed", shut)
    monkeypatch.setattr(Evidence, "records", shut)
    reading = set()
    items = [item for entry in entries for item in entry.get("evidence", ())]
    for item in filter(lambda item: "measure" in item, items):
        measure = item.pop("measure")
        item.pop("label", None)
        try:
            MEASURES[measure](evidence, **item)
        except RuntimeError:
            reading.add(measure)
    assert reading == MEETING
    with pytest.raises(RuntimeError, match="a printed number"):
        printed_wins(evidence, "table3", "memd_js", ["dme"])


ROWS = """
[cells]
group = "Table III"
rows = ["x", "y_z"]
source = "someone2013"
locator = "Table III, {row}"
statement = "{row} has its accuracy"
published = { table = "table3", column = "svm_linear" }
method = "svm"
why = "the rule"
reason = "unknown"
"""


def part(mean, sd=1.0):
    return {"accuracy": {"mean": mean, "sd": sd}, "correct": [1] * 10}


@pytest.fixture
def table(project, monkeypatch):
    """Two rows of a table and what two settings of a method come to."""
    monkeypatch.setitem(NAMES, "y_z", "ys against zs")
    lines = "row,classes,samples,svm_linear\nx,2,100,50.00\ny_z,2,100,60.00\n"
    project.write("data/published/table3.csv", lines)
    project.write("data/claims.toml", ROWS)
    for run, counts_, tfidf in (("x", 50.5, 50.1), ("y-z", 60.0, 70.0)):
        full = {"svm": part(counts_), "svm_tfidf": part(tfidf)}
        project.result(f"table3-{run}", {"paper": {"full": full}})
    return project


def test_one_entry_for_many_rows_and_all_settings(table):
    first, second = read_claims(table.root)
    assert (first.id, first.row, first.published) == ("cells-x", "x", 50.0)
    assert (second.id, second.row, second.published) == ("cells-y-z", "y_z", 60.0)
    assert (first.verdict, second.verdict) == (
        "agrees",
        "agrees only under some settings",
    )
    assert second.statement == "ys against zs has its accuracy"
    assert second.locator == "Table III, ys against zs"
    assert (second.rule, second.bound, second.method) == ("prediction", 95.0, "svm")
    chosen, other = second.findings
    assert (chosen.label, chosen.value) == ("counts; whole message", 60.0)
    assert chosen.spread == 1.0
    half = stats.t.ppf(0.975, 9) * (1 + 1 / 10) ** 0.5 + 0.005
    assert (chosen.low, chosen.high) == pytest.approx((60.0 - half, 60.0 + half))
    assert other.label == "tf-idf; whole message"
    assert other.low == pytest.approx(70.0 - half)
    assert {f.records for f in second.findings} == {("table3-y-z",)}


def test_claims_without_a_number_of_ours_and_the_count(project):
    bare = re.sub("(?m)^evidence.*$", "", VALUE)
    texts = [
        bare.format(id=field.replace("_", "-"), more=f'{field} = "since {field}"')
        for field in UNMEASURED
    ]
    claims = ledger(project, VALUE.format(id="near", more="") + "".join(texts))
    assert [c.verdict for c in claims] == ["agrees", *UNMEASURED.values()]
    assert [c.reason for c in claims[1:]] == [f"since {field}" for field in UNMEASURED]
    assert all(c.findings == () for c in claims[1:])
    found = {verdict: n for verdict, n in counts(claims).items() if n}
    assert found == dict.fromkeys(["agrees", *UNMEASURED.values()], 1)


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (VALUE, "{id}", "C", "a name: needs words of small letters"),
        (VALUE, 'why = "one draw"', "", "c: 'why' is a required property"),
        (VALUE, "{more}", "verdict = 'good'", "'verdict' was unexpected"),
        (VALUE, "{more}", "kind = 'odd'", r"c\.kind: 'odd' is not one"),
        (VALUE, "{more}", "beyond = 'no'", "c: needs just one of"),
        (VALUE, '"a"', '"lost"', "claim 'c': the printed number is missing: .*lost"),
        (VALUE, '"x"', '"lost"', "claim 'c': the printed number is missing: .*lost"),
        (VALUE, "deep.accuracy", "deep.x", "missing: 'run has no deep.x'"),
        (VALUE, 'run = "run"', 'run = "lost"', "RUNS=lost"),
        (IDENTITY, 'run = "run"', 'measure = "lost"', "evidence is missing: 'lost'"),
        (IDENTITY, '"error"', '"deep"', "claim 'c': evidence is missing"),
        (VALUE, "absolute", "at_least", "needs absolute, since a printed number"),
        (IDENTITY, "absolute", "near", "needs one of absolute, at_least and at_most"),
        (VALUE, "{more}", 'rows = ["x"]', "needs no row of its own beside rows"),
        (IDENTITY, "1e-9", "1e-15", "gives no reason"),
    ],
)
def test_an_incomplete_claim_is_an_error(project, text, old, new, message):
    assert text.count(old) >= 1
    text = text.replace(old, new, 1).replace("{id}", "c").replace("{more}", "")
    with pytest.raises(LedgerError, match=message):
        ledger(project, text.replace("{{", "{").replace("}}", "}"))


def test_a_claim_may_lack_its_reason_where_results_are_new(project):
    ledger(project, IDENTITY.format(id="c", more="reason = 'odd'"), error=1e-6)
    text = IDENTITY.format(id="c", more='statements = ["thm-a"]')
    project.write("data/claims.toml", text)
    (claim,) = read_claims(project.root, may_lack_reasons=True)
    assert (claim.verdict, claim.reason) == ("disagrees", "")
    assert (claim.statements, claim.records) == (("thm-a",), ("run",))
    with pytest.raises(LedgerError, match="claim 'c' disagrees and gives no reason"):
        read_claims(project.root)
