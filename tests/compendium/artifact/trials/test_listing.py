"""What the last figures of every trial say."""

import json
from pathlib import Path

import pytest

from compendium.artifact.trials import listing
from compendium.artifact.trials.listing import FIGURES, TRIALS, rows

ROOT = Path(__file__).parents[4]


def test_every_trial_says_its_last_figures():
    stored = {path.stem: path for path in (ROOT / FIGURES).glob("*.json")}
    assert stored.keys() <= TRIALS.keys()
    for name, (command, shows, said) in zip(TRIALS, rows(ROOT), strict=True):
        assert command == f"`make trial NAME={name}`"
        assert len(shows.split()) > 5
        if name in stored:
            assert any(letter.isdigit() for letter in said)
            whole = json.loads(stored[name].read_text())
            assert whole["provenance"]["command"] == command.strip("`")
        else:
            assert said == "not run yet"


def test_the_table_of_a_release_is_added_up():
    found = {
        "bytes": 1,
        "equal": True,
        "differing": [],
        "steps": {
            "unpack the archive": 1.0,
            "print the verified table": 2.5,
            "x": 56.5,
        },
        "table": {"a": [1000, 0], "b": [500, 0]},
    }
    said = TRIALS["release"].said(found)
    assert "3.5 s to the table (1,500 looks, 0 problems); 1.0 minutes" in said
    assert TRIALS["release"].sound(found)
    assert not TRIALS["release"].sound(found | {"table": {"a": [1000, 1]}})
    assert not TRIALS["release"].sound(found | {"steps": {"x": 3601.0}})


@pytest.mark.parametrize("sound", [True, False])
def test_a_trial_stores_its_figures_and_fails_if_they_are_bad(
    project, capsys, monkeypatch, sound
):
    commits = ["c"]

    def measure(_):
        commits.append("made meanwhile")
        return {"n": 1}

    trial = listing.Trial("s", measure, lambda f: f"n {f['n']}", lambda _: sound)
    monkeypatch.setitem(TRIALS, "some", trial)
    monkeypatch.setattr(listing, "last_commit", lambda _: commits[-1])
    assert listing.main("some") == (0 if sound else 1)
    assert capsys.readouterr().out == "n 1\n"
    stored = json.loads((project.root / FIGURES / "some.json").read_text())
    assert stored["figures"] == {"n": 1}
    assert stored["provenance"]["commit"] == "c"


def test_an_unknown_trial_is_named(project, capsys):
    assert listing.main("none") == 2
    assert "no trial named 'none'; the trials are release," in capsys.readouterr().out
