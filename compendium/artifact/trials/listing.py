"""Which trials there are, how one is run, and what its last figures say.

``make trial NAME=...`` runs one, and writes its figures to ``data/artifact``, where the
page on the artifact reads them.
"""

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from compendium.artifact.trials import (
    rehearsal,
    versions,
)
from compendium.build.display import number
from compendium.build.pages import last_commit
from compendium.build.runs import machine, packages
from compendium.project import canonical_json, root, write_whole

FIGURES = Path("data", "artifact")


@dataclass(frozen=True)
class Trial:
    """A claim about the artifact, and how it is tried.

    Parameters
    ----------
    shows : str
        What is tried.
    measure : callable
        Project to figures, which JSON can hold.
    said : callable
        Figures to a sentence in Markdown.
    sound : callable
        Figures to whether they are as the book says; else the command fails.
    """

    shows: str
    measure: Callable[[Path], dict]
    said: Callable[[dict], str]
    sound: Callable[[dict], bool]


def _rehearsed(found: dict) -> str:
    steps = found["steps"]
    table = steps["unpack the archive"] + steps["print the verified table"]
    looked = sum(of for of, _ in found["table"].values())
    wrong = sum(wrong for _, wrong in found["table"].values())
    equal = "equal bytes" if found["equal"] else "different bytes"
    minutes = number(sum(steps.values()) / 60, 1)
    return (
        f"two archives with {equal}; {number(table, 1)} s to the table ({looked:,} "
        f"looks, {wrong} problems); {minutes} minutes until every chapter is executed "
        "again, and equals what is stored"
    )


def _under_pythons(found: dict) -> str:
    return "; ".join(
        f"Python {version}: {tests['passed']:,} tests passed, "
        f"{len(tests['failed'])} failed"
        for version, tests in found.items()
    )


def _canary(found: dict) -> str:
    tests, newest = found["tests"], found["versions"]
    book = "renders" if found["rendered"] else "does not render"
    return (
        f"NumPy {newest['numpy']}, scikit-learn {newest['scikit-learn']}, Sphinx "
        f"{newest['sphinx']}, MyST-NB {newest['myst-nb']}: {tests['passed']:,} tests "
        f"passed, {len(tests['failed'])} failed; the book {book}"
    )


def _asked(found: dict) -> str:
    clear = sum(found.get(kind, 0) for kind in ("clear", "NumPy's"))
    bad = ("obscure", "silent", "slow")
    rest = ", ".join(f"{found.get(kind, 0)} {kind}" for kind in bad)
    return (
        f"{sum(found.values()):,} calls: {found['fine']:,} answers that are right, "
        f"{clear:,} clear errors, {rest}"
    )


def judge_hostile(project: Path) -> dict[str, int]:
    """Outcomes of all calls of :mod:`benchmarks.hostile`."""
    from benchmarks import hostile  # which fits a model

    found: Counter[str] = Counter()
    for calls, names in (
        (hostile.of_estimators, hostile.ESTIMATORS),
        (hostile.of_functions, hostile.FUNCTIONS),
    ):
        found.update(outcome.kind for _, outcome in calls(list(names)))
    return dict(found)


TRIALS = {
    "release": Trial(
        "a release made twice, the second time in another folder, time zone and "
        "locale, with other hashes and no network; then the way from the archive to a "
        "verified table and a book that is executed again",
        rehearsal.measure,
        _rehearsed,
        lambda found: (
            found["equal"]
            and not any(wrong for _, wrong in found["table"].values())
            and sum(found["steps"].values()) < 60 * rehearsal.PATIENCE
        ),
    ),
    "hostile": Trial(
        "bad and extreme inputs to every public estimator and function",
        judge_hostile,
        _asked,
        lambda found: not any(found.get(k) for k in ("obscure", "silent", "slow")),
    ),
    "pythons": Trial(
        "tests with the lock file under other versions of Python",
        versions.measure_pythons,
        _under_pythons,
        lambda found: all(
            tests["passed"] and not tests["failed"] for tests in found.values()
        ),
    ),
    "canary": Trial(
        "tests and pages with the newest version of every package, whatever bounds are "
        "stated",
        versions.measure_canary,
        _canary,
        lambda found: (
            found["rendered"]
            and found["tests"]["passed"]
            and not found["tests"]["failed"]
        ),
    ),
}


def rows(project: Path) -> list[list[str]]:
    """Command, what it tries and what its last figures say, of each trial."""
    found = []
    for name, trial in TRIALS.items():
        figures = last(project, name)
        said = "not run yet" if figures is None else trial.said(figures)
        found.append([f"`make trial NAME={name}`", trial.shows, said])
    return found


def last(project: Path, name: str) -> dict | None:
    """Figures of the last run of a trial; None if there has been none."""
    path = project / FIGURES / f"{name}.json"
    return json.loads(path.read_text())["figures"] if path.is_file() else None


def main(name: str) -> int:
    """Run a trial and store its figures; return an exit status."""
    project, start = root(), time.monotonic()
    if name not in TRIALS:
        print(f"no trial named {name!r}; the trials are {', '.join(TRIALS)}")
        return 2
    commit = last_commit(project)  # of what is tried, whatever is committed meanwhile
    figures = TRIALS[name].measure(project)
    provenance = {
        "command": f"make trial NAME={name}",
        "commit": commit,
        "machine": machine() | {"seconds": round(time.monotonic() - start)},
        "packages": packages(),
    }
    whole = {"figures": figures, "provenance": provenance}
    write_whole(project / FIGURES / f"{name}.json", canonical_json(whole))
    print(TRIALS[name].said(figures))
    return 0 if TRIALS[name].sound(figures) else 1
