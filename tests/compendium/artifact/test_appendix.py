import json
from pathlib import Path

from compendium.artifact.appendix import badge_rows, cost_rows, costs

ROOT = Path(__file__).parents[3]


def stored(part):
    """What all results record of their machines, read from the files themselves."""
    paths = sorted((ROOT / "data" / "results").glob("*.json"))
    results = [json.loads(path.read_text()) for path in paths]
    return [(result | result["machine"])[part] for result in results]


def test_every_run_is_counted_once():
    frame = costs(ROOT)
    rows = cost_rows(frame)
    assert sum(int(row[1]) for row in rows) == len(stored("seconds"))
    assert frame["seconds"].sum() == sum(stored("seconds"))
    assert sum(int(row[2]) for row in rows) == sum(stored("seconds"))
    assert max(int(row[3]) for row in rows) == max(stored("seconds"))


def test_memory_is_that_of_the_runs_that_record_it(built):
    (path,) = (built.root / "data" / "results").glob("*.json")
    result = json.loads(path.read_text())
    assert result["mib"] is None
    assert cost_rows(costs(built.root))[0][4] == "–"
    path.write_text(json.dumps(result | {"mib": 321}))
    assert cost_rows(costs(built.root))[0][4] == "321"


def test_a_badge_is_available_once_there_is_an_identifier(built):
    def missing():
        return {row[0]: row[3] for row in badge_rows(built.root)}

    assert missing()["Artifacts Available"] == "an archive and a DOI"
    cited = (built.root / "CITATION.cff").read_text()
    built.write("CITATION.cff", cited + "doi: 10.5281/zenodo.1\n")
    assert missing()["Artifacts Available"] == "–"
    assert missing()["Results Reproduced"] != "–"
