"""Check single claims: make their runs again, and judge by the new results.

Runs are made in a temporary folder, so that stored results and records stay as they
are. The ledger computes the verdict twice, from the stored results and from the new
ones. If a claim is proved, the tests of its statements run as well. Each claim gets a
certificate in ``_build/certificates``, as JSON and as text.
"""

import datetime
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pooch

from compendium.book.pages import citation, last_commit
from compendium.book.statements import read_statements
from compendium.book.verdicts import tolerance_text
from compendium.data.registry import entries
from compendium.execution.experiments import make_again
from compendium.execution.provenance import machine, packages
from compendium.execution.runs import duration, runs
from compendium.ledger.claims import (
    AGREES,
    Claim,
    LedgerError,
    of_the_sources,
    read_claims,
)
from compendium.ledger.names import NAMES
from compendium.ledger.results import read_result
from compendium.ledger.tables import Evidence
from compendium.project import canonical_json, git, root, write_whole

CERTIFICATES = "_build/certificates"
_SHOWN = 5  # moved values that the text of a certificate lists of a run


def is_at_hand(dataset: str) -> bool:
    """Whether a data set needs no download: its files are in one of the two folders.

    Their hashes are compared when a run reads them.
    """
    if dataset not in entries():
        return True  # it comes with scikit-learn
    cache = os.environ.get("MEMDLIB_CACHE") or pooch.os_cache("memdlib")
    named = [os.environ.get("MEMDLIB_DATA"), cache]
    folders = [Path(folder).expanduser() for folder in named if folder]
    files = entries()[dataset].files
    return all(any((f / file.path).is_file() for f in folders) for file in files)


def data_of(project: Path, claim: Claim) -> list[str]:
    """Names of the data sets that the runs of a claim read, each once."""
    listed = runs(project)
    named = [name for run in claim.records for name in listed[run].sets()]
    return list(dict.fromkeys(named))


def cheapest(project: Path, claims: Sequence[Claim]) -> list[Claim]:
    """Of each source the claim whose runs took least, among those with data at hand."""
    evidence = Evidence(project)
    best, least = {}, {}
    for claim in of_the_sources(claims):
        if not claim.records or not all(map(is_at_hand, data_of(project, claim))):
            continue
        seconds = sum(map(evidence.seconds, claim.records))
        if claim.source not in best or seconds < least[claim.source]:
            best[claim.source] = claim
            least[claim.source] = seconds
    return list(best.values())


def proof_tests(project: Path, claim: Claim) -> list[str]:
    """Tests of the statements that prove or refute a claim, as pytest names them."""
    return [
        f"tests/book/{statement.test_file()}::{test}"
        for statement in read_statements(project)
        if statement.label in claim.statements
        for test in statement.tests()
    ]


def announce(project: Path, claims: Sequence[Claim]) -> None:
    """Say what will be done, how long it took before, and whether its data are here."""
    evidence = Evidence(project)
    for claim in claims:
        print(f"{claim.id}: {claim.statement}")
        for run in claim.records:
            print(f"  run {run}: {duration(evidence.seconds(run))} when it was stored")
        for name in data_of(project, claim):
            here = "here" if is_at_hand(name) else "not here, to be downloaded"
            print(f"  data set {name}: {here}")
        for test in proof_tests(project, claim):
            print(f"  test {test}")
    needed = {run for claim in claims for run in claim.records}
    total = sum(map(evidence.seconds, needed))
    print(f"in all {duration(total)} of processor time when the results were stored\n")


def make_and_judge(
    project: Path, claims: Sequence[Claim]
) -> tuple[dict[str, dict], dict[str, Claim]]:
    """Make the runs of claims again and read the ledger with the new results.

    Returns
    -------
    made : dict
        Run to what its certificate says of it.
    judged : dict
        Identifier to claim, from the stored results with the new ones in their place.
    """
    needed = dict.fromkeys(run for claim in claims for run in claim.records)
    chosen = [runs(project)[name] for name in needed]
    made = {}
    with tempfile.TemporaryDirectory(prefix="memdlib-") as folder:
        new, ledger = Path(folder, "new"), Path(folder, "ledger")
        (new / "data").mkdir(parents=True)
        for run, error, places in make_again(project, chosen, new, None):
            about = {"stored_seconds": read_result(run.name, project)["seconds"]}
            if error:
                about |= {"error": error, "moved": []}
            else:
                result = read_result(run.name, new)
                about |= {key: result[key] for key in ("seconds", "data", "code")}
                named = ("place", "stored", "new")
                moved = [dict(zip(named, place, strict=True)) for place in places]
                about |= {"error": "", "moved": moved}
            made[run.name] = about
        shutil.copytree(project / "data", ledger / "data")
        shutil.copytree(new / "data", ledger / "data", dirs_exist_ok=True)
        judged = {one.id: one for one in read_claims(ledger, may_lack_reasons=True)}
    return made, judged


def run_tests(project: Path, tests: Sequence[str]) -> str:
    """Run tests; return what pytest says if one fails, else nothing."""
    if not tests:
        return ""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=project, capture_output=True, encoding="utf-8")
    return done.stdout + done.stderr if done.returncode else ""


def outcome(claim: Claim) -> dict:
    """Verdict and values of a claim."""
    keys = ("label", "value", "spread", "low", "high", "verdict")
    findings = [{key: getattr(f, key) for key in keys} for f in claim.findings]
    return {"verdict": claim.verdict, "findings": findings}


def circumstances(project: Path) -> dict:
    """With what, where and when claims are checked."""
    changes = git(project, "status", "--short")
    return {
        "version": citation(project)["version"],
        "commit": last_commit(project),
        "uncommitted_changes": None if changes is None else bool(changes),
        "packages": packages(),
        "machine": machine(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def certificate(
    claim: Claim, judged: Claim, made: dict[str, dict], tests: dict
) -> dict:
    """What was found for one claim, but for the circumstances.

    Parameters
    ----------
    claim, judged : Claim
        By the stored results, and by the new ones.
    made : dict
        Runs of the claim, as :func:`make_and_judge` returns them.
    tests : dict
        ``names`` of the tests, and the ``failure`` that pytest reports.
    """
    failed = any(run["error"] for run in made.values())
    moved = any(run["moved"] for run in made.values())
    same = claim.verdict == judged.verdict
    return {
        "claim": claim.id,
        "statement": claim.statement,
        "source": f"{NAMES[claim.source]}, {claim.locator}",
        "published": claim.published,
        "unit": claim.unit,
        "judged_by": tolerance_text(claim),
        "method": claim.method,
        "proved_by": list(claim.statements),
        "stored": outcome(claim),
        "new": None if failed else outcome(judged),
        "runs": made,
        "seconds": sum(run.get("seconds", 0) for run in made.values()),
        "tests": tests,
        "as_stored": same and not (failed or moved or tests["failure"]),
    }


def value_text(finding: dict, unit: str) -> str:
    """The number of a finding with its spread or range."""
    text = f"{finding['value']:.6g}"
    if finding["spread"] is not None:
        text += f" ± {finding['spread']:.3g}"
    elif finding["low"] is not None:
        text += f" ({finding['low']:.6g} to {finding['high']:.6g})"
    return f"{text} {unit}".strip()


def outcome_lines(name: str, part: dict | None, unit: str) -> list[str]:
    """Lines of a certificate on the stored or the new outcome."""
    if part is None:
        return [f"{name:<10}none, since a run failed"]
    lines = []
    first, *others = part["findings"] or [None]
    if first:
        lines.append(f"{name:<10}{value_text(first, unit)}, {first['label']}")
    if others:
        agree = sum(other["verdict"] == AGREES for other in others)
        lines.append(f"{'':<10}{agree} of {len(others)} other settings agree")
    lines.append(f"{'' if first else name:<10}verdict: {part['verdict']}")
    return lines


def run_lines(name: str, run: dict) -> list[str]:
    """Lines of a certificate on one run."""
    before = f"{'run':<10}{name}: {duration(run['stored_seconds'])} when stored"
    if run["error"]:
        return [f"{before}, failed now", run["error"]]
    count = len(run["moved"])
    lines = [f"{before}, {duration(run['seconds'])} now; values that moved: {count}"]
    for place in run["moved"][:_SHOWN]:
        old, new = str(place["stored"])[:40], str(place["new"])[:40]
        lines.append(f"{'':<10}{place['place']}: {old} -> {new}")
    if count > _SHOWN:
        lines.append(f"{'':<10}and {count - _SHOWN} more, in the JSON file")
    return lines


def certificate_text(about: dict) -> str:
    """A certificate for readers."""
    lines = [f"{'claim':<10}{about['claim']}", f"{'says':<10}{about['statement']}"]
    lines.append(f"{'source':<10}{about['source']}")
    if about["published"] is not None:
        lines.append(f"{'published':<10}{about['published']:g} {about['unit']}")
    lines.append(f"{'judged by':<10}{about['judged_by']}")
    lines += outcome_lines("stored", about["stored"], about["unit"])
    lines += outcome_lines("new", about["new"], about["unit"])
    if about["method"]:
        lines.append(
            f"{'note':<10}the setting was chosen over all rows of the table, of which "
            "the others have stored results"
        )
    for name, run in about["runs"].items():
        lines += run_lines(name, run)
    if about["proved_by"]:
        lines.append(f"{'proof':<10}{', '.join(about['proved_by'])}")
    word = "failed" if about["tests"]["failure"] else "passed"
    lines += [f"{'test':<10}{test}" for test in about["tests"]["names"]]
    lines += [f"{'':<10}{word}"] * bool(about["tests"]["names"])
    versions = [f"{name} {number}" for name, number in about["packages"].items()]
    changed = " with uncommitted changes" if about["uncommitted_changes"] else ""
    place = about["machine"]
    lines.append(f"{'code':<10}commit {about['commit'] or 'unknown'}{changed}")
    lines.append(f"{'with':<10}{', '.join(versions)}")
    lines.append(f"{'on':<10}{place['processor']}, {place['system']}, {about['date']}")
    result = "as stored" if about["as_stored"] else "NOT AS STORED"
    return "\n".join([*lines, f"{'result':<10}{result}"]) + "\n"


def check(project: Path, claims: Sequence[Claim]) -> int:
    """Check claims and write their certificates; return how many are not as stored."""
    shared = circumstances(project)  # before the runs, which take a while
    made, judged = make_and_judge(project, claims)
    wrong = 0
    for claim in claims:
        names = proof_tests(project, claim)
        tests = {"names": names, "failure": run_tests(project, names)}
        parts = {run: made[run] for run in claim.records}
        about = certificate(claim, judged[claim.id], parts, tests) | shared
        path = project / CERTIFICATES / f"{claim.id}.json"
        text = certificate_text(about)
        write_whole(path, canonical_json(about))
        write_whole(path.with_suffix(".txt"), text)
        print(f"{text}{tests['failure']}written to {path} and .txt\n")
        wrong += not about["as_stored"]
    return wrong


def main(claim: str | None) -> int:
    """Check one claim, or the cheapest of each source; return an exit status."""
    project = root()
    try:
        # a stored value may be wrong, and the verdict with it: that is to be found
        listed = read_claims(project, may_lack_reasons=True)
        if claim:
            chosen = [one for one in listed if one.id == claim]
        else:
            chosen = cheapest(project, listed)
            print("The cheapest claim of each source whose data are here:\n")
        if not chosen:
            print(f"no claim {claim!r}; each card of the page of claims names its own")
            return 2
        if not any(one.records or one.statements for one in chosen):
            print(f"{chosen[0].id}: {chosen[0].verdict}; {chosen[0].reason}")
            return 2
        announce(project, chosen)
        wrong = check(project, chosen)
    except LedgerError as error:
        print(f"error: {error}")
        return 1
    print(f"{wrong} of {len(chosen)} claims are not as stored.")
    return 1 if wrong else 0
