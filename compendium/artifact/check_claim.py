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

from compendium.artifact.certificate import certificate, certificate_text
from compendium.book.pages import citation, last_commit
from compendium.book.statements import read_statements
from compendium.data.registry import entries
from compendium.execution.experiments import make_again
from compendium.execution.provenance import machine, packages
from compendium.execution.runs import duration, runs
from compendium.ledger.claims import Claim, LedgerError, of_the_sources, read_claims
from compendium.ledger.results import read_result
from compendium.ledger.tables import Evidence
from compendium.project import canonical_json, git, root, write_whole

CERTIFICATES = "_build/certificates"


def is_at_hand(dataset: str) -> bool:
    """Whether a data set needs no download: its files are in one of the two folders.

    Their hashes are compared when a run reads them.
    """
    if dataset not in entries():
        return True  # it comes with scikit-learn
    folders = [Path(os.environ.get("MEMDLIB_CACHE") or pooch.os_cache("memdlib"))]
    if "MEMDLIB_DATA" in os.environ:
        folders.append(Path(os.environ["MEMDLIB_DATA"]))
    for file in entries()[dataset].files:
        copies = [folder.expanduser() / file.path for folder in folders]
        if not any(copy.is_file() for copy in copies):
            return False
    return True


def data_of(project: Path, claim: Claim) -> list[str]:
    """Names of the data sets that the runs of a claim read, each once."""
    listed = runs(project)
    named = [name for run in claim.records for name in listed[run].sets()]
    return list(dict.fromkeys(named))


def cheapest(project: Path, claims: Sequence[Claim]) -> list[Claim]:
    """Of each source the claim whose runs took least, among those with data at hand."""
    evidence = Evidence(project)
    best = {}
    least = {}  # seconds of the best one
    for claim in of_the_sources(claims):
        data_are_here = all(is_at_hand(name) for name in data_of(project, claim))
        if not claim.records or not data_are_here:
            continue
        seconds = sum(evidence.seconds(run) for run in claim.records)
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
    total = sum(evidence.seconds(run) for run in needed)
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
        new = Path(folder, "new")
        ledger = Path(folder, "ledger")
        (new / "data").mkdir(parents=True)
        for run, error, differences in make_again(project, chosen, new, None):
            about = {
                "stored_seconds": read_result(run.name, project)["seconds"],
                "error": error,
                "moved": [],
            }
            if not error:
                result = read_result(run.name, new)
                for key in ("seconds", "data", "code"):
                    about[key] = result[key]
                for place, stored, new_value in differences:
                    about["moved"].append(
                        {"place": place, "stored": stored, "new": new_value}
                    )
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
