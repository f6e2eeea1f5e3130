"""The certificate of a checked claim: what was stored, and what came out now.

A certificate is a dictionary, which is stored as JSON; its text is for readers.
"""

from collections.abc import Mapping

from compendium.book.verdicts import tolerance_text
from compendium.execution.runs import duration
from compendium.ledger.claims import AGREES, Claim
from compendium.ledger.names import NAMES

_SHOWN = 5  # moved values of a run that the text lists


def outcome(claim: Claim) -> dict:
    """Verdict and values of a claim."""
    keys = ("label", "value", "spread", "low", "high", "verdict")
    findings = [
        {key: getattr(finding, key) for key in keys} for finding in claim.findings
    ]
    return {"verdict": claim.verdict, "findings": findings}


def certificate(
    claim: Claim, judged: Claim, made: Mapping[str, dict], tests: Mapping
) -> dict:
    """What was found for one claim, but for the circumstances.

    Parameters
    ----------
    claim, judged : Claim
        By the stored results, and by the new ones.
    made : mapping
        Run of the claim to its times, its error and the values that moved.
    tests : mapping
        ``names`` of the tests, and the ``failure`` that pytest reports.
    """
    failed = any(run["error"] for run in made.values())
    moved = any(run["moved"] for run in made.values())
    same_verdict = claim.verdict == judged.verdict
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
        "runs": dict(made),
        "seconds": sum(run.get("seconds", 0) for run in made.values()),
        "tests": dict(tests),
        "as_stored": same_verdict and not (failed or moved or tests["failure"]),
    }


def line(label: str, text: str) -> str:
    """One line of a certificate."""
    return f"{label:<10}{text}"


def value_text(finding: Mapping, unit: str) -> str:
    """The number of a finding with its spread or range."""
    text = f"{finding['value']:.6g}"
    if finding["spread"] is not None:
        text += f" ± {finding['spread']:.3g}"
    elif finding["low"] is not None:
        text += f" ({finding['low']:.6g} to {finding['high']:.6g})"
    return f"{text} {unit}".strip()


def outcome_lines(label: str, part: Mapping | None, unit: str) -> list[str]:
    """Lines on the stored or the new outcome."""
    if part is None:
        return [line(label, "none, since a run failed")]
    verdict = f"verdict: {part['verdict']}"
    if not part["findings"]:
        return [line(label, verdict)]
    first, *others = part["findings"]
    lines = [line(label, f"{value_text(first, unit)}, {first['label']}")]
    if others:
        agree = sum(other["verdict"] == AGREES for other in others)
        lines.append(line("", f"{agree} of {len(others)} other settings agree"))
    lines.append(line("", verdict))
    return lines


def run_lines(name: str, run: Mapping) -> list[str]:
    """Lines on one run."""
    before = f"{name}: {duration(run['stored_seconds'])} when stored"
    if run["error"]:
        return [line("run", f"{before}, failed now"), run["error"]]
    now = f"{duration(run['seconds'])} now; values that moved: {len(run['moved'])}"
    lines = [line("run", f"{before}, {now}")]
    for value in run["moved"][:_SHOWN]:
        stored = str(value["stored"])[:40]
        new = str(value["new"])[:40]
        lines.append(line("", f"{value['place']}: {stored} -> {new}"))
    if len(run["moved"]) > _SHOWN:
        lines.append(
            line("", f"and {len(run['moved']) - _SHOWN} more, in the JSON file")
        )
    return lines


def proof_lines(about: Mapping) -> list[str]:
    """Lines on the statements that prove or refute a claim, and on their tests."""
    if not about["proved_by"]:
        return []
    lines = [line("proof", ", ".join(about["proved_by"]))]
    for test in about["tests"]["names"]:
        lines.append(line("test", test))
    lines.append(line("", "failed" if about["tests"]["failure"] else "passed"))
    return lines


def circumstance_lines(about: Mapping) -> list[str]:
    """Lines on the code, the packages and the machine."""
    commit = about["commit"] or "unknown"
    if about["uncommitted_changes"]:
        commit += " with uncommitted changes"
    versions = [f"{name} {version}" for name, version in about["packages"].items()]
    machine = about["machine"]
    return [
        line("code", f"commit {commit}"),
        line("with", ", ".join(versions)),
        line("on", f"{machine['processor']}, {machine['system']}, {about['date']}"),
    ]


def certificate_text(about: Mapping) -> str:
    """A certificate with its circumstances, for readers."""
    lines = [
        line("claim", about["claim"]),
        line("says", about["statement"]),
        line("source", about["source"]),
    ]
    if about["published"] is not None:
        lines.append(line("published", f"{about['published']:g} {about['unit']}"))
    lines.append(line("judged by", about["judged_by"]))
    lines += outcome_lines("stored", about["stored"], about["unit"])
    lines += outcome_lines("new", about["new"], about["unit"])
    if about["method"]:
        chosen = (
            "the setting was chosen over all rows of the table, of which the others "
            "have stored results"
        )
        lines.append(line("note", chosen))
    for name, run in about["runs"].items():
        lines += run_lines(name, run)
    lines += proof_lines(about)
    lines += circumstance_lines(about)
    lines.append(line("result", "as stored" if about["as_stored"] else "NOT AS STORED"))
    return "\n".join(lines) + "\n"
