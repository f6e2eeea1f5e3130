import dataclasses
import json

import pandas as pd
import pytest

from compendium.build import readme
from compendium.ledger.claims import Claim, Finding

MARKS = "<!-- {0}: begin -->\n{1}<!-- {0}: end -->\n"
LEDGER = """
[i]
group = "Identities"
source = "someone2013"
locator = "eq. 1"
statement = "left is right"
evidence = [{ run = "run", key = "error" }]
tolerance = { absolute = 1e-9 }
why = "exact"
"""
TIMES = {
    "machine": {"cores": 2, "python": "3.11.7", "system": "Linux"},
    "with data": {"setup": 52, "book": 20, "test": 134},
}
METHODS = {
    "make_memd": {"accuracy": {"mean": 90.0}, "log_loss": 0.2, "seconds": 1.0},
    "svm": {"accuracy": {"mean": 88.5}, "log_loss": 0.3, "seconds": 2.0},
}
GAP = {"difference": 1.5, "low": 0.5, "high": 2.5}


def claim(**given):
    """A claim with what is given, and nothing else."""
    empty = {field.name: "" for field in dataclasses.fields(Claim)}
    return Claim(**(empty | {"bound": 0.0, "ours": False} | given))


def test_the_readme_is_generated_and_stays_as_it_is(project, capsys, monkeypatch):
    monkeypatch.setattr(readme, "summary", lambda evidence: pd.DataFrame())
    project.write("data/claims.toml", LEDGER)
    project.result("run", {"error": 1e-12})
    project.write("benchmarks/fresh_clone.json", json.dumps(TIMES))
    monkeypatch.setattr(readme, "DUELS", {"genes": ("genes",)})
    genes = {"a": {"methods": METHODS, "difference": GAP}}
    project.result("genes", {"sets": genes | {"b": genes["a"]}})
    names = ("times", "headlines", "claims", "abilities", "duels")
    empty = [MARKS.format(name, "") for name in names]
    path = project.write("README.md", f"# Title\n\n{'between'.join(empty)}\nEnd.\n")
    assert readme.main() == 0
    assert "written" in capsys.readouterr().out
    first = path.read_text()
    assert "| left is right |" in first
    assert "| `make book`, after set-up | 20 s |" in first
    assert "on 2 cores, Python 3.11.7, Linux;" in first
    assert "| `MeMdClassifier()` | yes | yes | yes | yes | yes |" in first
    assert "| `GreedyGaussianRanker()` | – | yes | – | yes | yes |" in first
    assert "| genes | 2 | +1.5 (0.8 to 2.2) | +1.5 | 2 | 0.50 to 0.50 |" in first
    assert first.startswith("# Title\n") and first.endswith("\nEnd.\n")
    assert readme.generated(project.root) == first
    project.result("run", {"error": 2e-12})
    assert readme.generated(project.root) != first


def test_headlines_lead_to_single_claims(monkeypatch):
    monkeypatch.setattr(readme, "HEADLINES", ("b", "lost", "a"))
    finding = Finding("", 2.0, "run", "differs")
    given = {"findings": (finding,), "verdict": "differs", "statement": "left is right"}
    stated = claim(id="a", published=None, kind="at_least", unit="sets", **given)
    printed = claim(id="b", published=1.5, kind="absolute", unit="", **given)
    page = readme.CLAIMS_PAGE
    assert readme.headlines([stated, printed]).splitlines() == [
        f"- [left is right]({page}#b): *differs*, published 1.50, we find 2.00",
        f"- [left is right]({page}#a): *differs*, we find 2 sets",
    ]


@pytest.mark.parametrize("text", ["", MARKS.format("t", "") * 2, "<!-- t: begin -->"])
def test_marks_that_are_not_there_once_are_named(text):
    with pytest.raises(ValueError, match="README.md needs the marks <!-- t: begin -->"):
        readme.with_tables(text, {"t": "new"})


def test_tables_go_between_their_marks():
    text = "a\n<!-- t: begin -->\nold\n<!-- t: end -->\nb\n"
    expected = "a\n<!-- t: begin -->\nnew\n<!-- t: end -->\nb\n"
    assert readme.with_tables(text, {"t": "new"}) == expected
    assert readme.with_tables(expected, {"t": "new"}) == expected
