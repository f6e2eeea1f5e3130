import json

from compendium.artifact.appendix import badge_rows, cost_rows, costs
from compendium.project import root


def test_every_run_is_counted_once():
    paths = (root() / "data" / "results").glob("*.json")
    seconds = [json.loads(path.read_text())["seconds"] for path in paths]
    rows = cost_rows(costs(root()))
    assert sum(int(row[1]) for row in rows) == len(seconds)
    assert sum(int(row[2]) for row in rows) == sum(seconds)
    assert max(int(row[3]) for row in rows) == max(seconds)


def test_a_badge_is_available_once_there_is_an_identifier(built):
    def missing():
        return {row[0]: row[3] for row in badge_rows(built.root)}

    assert missing()["Artifacts Available"] == "an archive and a DOI"
    cited = (built.root / "CITATION.cff").read_text()
    built.write("CITATION.cff", cited + "doi: 10.5281/zenodo.1\n")
    assert missing()["Artifacts Available"] == "–"
    assert missing()["Results Reproduced"] != "–"
