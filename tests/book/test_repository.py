"""The repository itself: its gates are open, and what it stores is in step."""

import re
from pathlib import Path

import pytest

import memdlib
from compendium.book import readme
from compendium.execution.provenance import problems
from compendium.execution.runs import runs
from compendium.ledger.claims import read_claims
from compendium.ledger.published import printed_rows
from compendium.ledger.results import read_result
from compendium.ledger.tables import FILTERED, run_of
from compendium.study.protocols import repeated_accuracy
from memdlib.generative.memd import MeMdClassifier
from tests.data import load_or_skip

ROOT = Path(__file__).parents[2]
RUNS = runs(ROOT)
LECTURE = ("lecture", "accuracy")  # table and column


def text_of(name):
    return (ROOT / name).read_text()


def test_the_map_names_every_module():
    text = text_of("CONTRIBUTING.md").split("## Where things are")[1].split("\n## ")[0]
    named = set(re.findall(r"`(\w+)/?`", text))
    modules = {path.stem for path in (ROOT / "memdlib").rglob("*.py")} - {"__init__"}
    assert modules <= named


def test_every_claim_has_a_known_source():
    known = re.findall(r"(?m)^@\w+\{(\w+),", text_of("book/references.bib"))
    assert {claim.source for claim in read_claims(ROOT)} <= set(known)


def test_every_figure_of_the_lecture_has_a_verdict_with_a_record():
    claims = {c.id: c for c in read_claims(ROOT)}
    judged = [c for c in claims.values() if (c.table, c.column) == LECTURE]
    rows = {row["row"] for row in printed_rows("lecture") if row["accuracy"]}
    assert {claim.row for claim in judged} >= rows
    # the numbers of parameters are one claim
    for claim in [*judged, claims["lecture-parameters"]]:
        assert claim.findings, claim.id
        for record in {r for f in claim.findings for r in f.records}:
            assert (ROOT / "book/records" / f"{record}.ipynb").is_file()


def test_the_readme_is_in_step():
    assert readme.generated(ROOT) == text_of("README.md")
    assert (ROOT / f"book/{readme.PICTURE}.png").read_bytes() == readme.figure(ROOT)


def test_the_readme_is_short_and_leads_to_what_is_there():
    text = text_of("README.md")
    assert 3000 <= len(text.encode()) <= 4000
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_the_headlines_have_a_success_a_failure_and_an_open_question():
    verdicts = {c.id: c.verdict for c in read_claims(ROOT)}
    found = {verdicts[name] for name in readme.HEADLINES}
    assert found == {"agrees", "disagrees", "inconclusive"}


def test_the_guide_of_the_package_is_on_the_page_of_first_steps():
    lines = memdlib.__doc__.split("=====\n")[2].splitlines()[:-1]
    named = [re.search(r"`+(\S+?\([^`]*\)|[\w.]+)`+", line)[1] for line in lines]
    page = text_of("book/chapters/install.md")
    guide = page.split("## Which to use when")[1].split("\n\n")[2]
    for line, name in zip(guide.splitlines()[2:], named, strict=True):
        assert name in line


def test_results_and_records_are_those_of_the_runs():
    results = {path.stem for path in (ROOT / "data/results").iterdir()}
    records = {path.stem for path in (ROOT / "book/records").glob("*.ipynb")}
    assert results == records == set(RUNS)
    for name in records:
        assert "image/svg+xml" not in text_of(f"book/records/{name}.ipynb")


@pytest.mark.parametrize("name", RUNS)
def test_a_run_has_a_result_and_a_record_of_its_parameters_data_and_code(name):
    assert problems(ROOT, RUNS[name]) == []


METHODS = {
    "memd_js": MeMdClassifier(cv=10),
    "memd_js_5": MeMdClassifier(cv=10, variance_shrinkage=0.5),
}


@pytest.mark.parametrize("name", ["breast-cancer", "colon", "srbct"])
def test_the_first_repeat_comes_out_as_committed(name):
    run = RUNS[f"table2-{name}"]
    values = read_result(run.name, ROOT)["values"]
    bunch = load_or_skip(run.data)
    found = repeated_accuracy(METHODS, bunch.X, bunch.y, n_splits=10, repeats=1)
    for method, part in found.items():
        assert part["correct"][0].tolist() == values["raw"][method]["correct"][0]
        assert part["tested"][0].tolist() == values["tested"][0]


@pytest.mark.parametrize("row", printed_rows("table3"), ids=lambda r: r["experiment"])
def test_sample_sizes_are_those_of_table_3(row):
    values = read_result(run_of("table3", row["experiment"]), ROOT)["values"]
    assert values["sizes"]["paper"]["full"]["documents"] == int(row["samples"])
    assert values["sizes"]["classes"] == int(row["classes_run"])


@pytest.mark.parametrize("row", printed_rows("table2"), ids=lambda r: r["dataset"])
def test_sizes_are_those_of_table_2(row):
    sizes = read_result(run_of("table2", row["dataset"]), ROOT)["values"]["sizes"]
    assert sizes["rows"] == int(row["samples"])
    assert sizes["classes"] == int(row["classes"])
    same = sizes["features"] == int(row["features"])
    assert same == (row["dataset"] not in FILTERED)


def test_every_command_that_is_named_exists():
    targets = set(re.findall(r"(?m)^([a-z][a-z-]*):", text_of("Makefile")))
    named = set()
    for page in ("README.md", "CONTRIBUTING.md", "book/chapters/reproduce.md"):
        code = re.findall(r"(?s)```bash\n.*?```|`make [^`]*`", text_of(page))
        named |= set(re.findall(r"(?m)^`?make ([a-z][a-z-]*)", "\n".join(code)))
    named |= set(re.findall(r"(?m)^make ([a-z][a-z-]*)", text_of(".ci/run")))
    assert {"book", "test", "experiments", "html", "test-browser"} <= named
    assert named <= targets
    assert (ROOT / ".ci/run").stat().st_mode & 0o100


def test_no_published_figure_is_typed_into_a_source():
    tables = text_of("data/published/table2.csv") + text_of("data/published/table3.csv")
    figures = set(re.findall(r"\d+\.\d\d", tables))
    assert figures
    for source in (ROOT / "book").rglob("*.md"):
        text = source.read_text()
        assert [number for number in figures if number in text] == [], source.name


def test_what_is_stored_holds_no_paths_of_a_machine():
    stored = [*(ROOT / "book").rglob("*.ipynb"), *(ROOT / "data").rglob("*.json")]
    for path in stored:
        text = path.read_text()
        assert str(ROOT) not in text
        assert "/tmp/" not in text
