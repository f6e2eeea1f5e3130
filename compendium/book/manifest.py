"""Sphinx extension: which commit pages were rendered from, and what each file was then.

Pages are stale once something is committed, and anybody can edit them. What is rendered
therefore leaves a manifest among its files, and what is printed leaves one beside it;
a release compares both with what it finds.
"""

import json
from hashlib import sha256
from pathlib import Path

from sphinx.application import Sphinx

from compendium.project import GitError, ask_git, canonical_json, write_whole

MANIFEST = "rendered.json"
REMEDY = "'make release' renders them anew"
_SHOWN = 10  # files that are named of those that have changed


class StateError(ValueError):
    """Files are not known to be those of one commit."""


def clean_commit(project: Path) -> str:
    """Hash of the commit that a checkout is at, if there is no change beside it.

    Raises
    ------
    StateError
        If there are changes, or if git does not answer: unknown is not clean.
    """
    try:
        changes = ask_git(project, "status", "--porcelain", "--untracked-files=all")
        commit = ask_git(project, "rev-parse", "HEAD")
    except GitError as reason:
        raise StateError(f"what is committed is unknown: {reason}") from reason
    if changes:
        raise StateError(f"this is not committed:\n{changes}")
    return commit


def write_manifest(project: Path, html: Path) -> None:
    """Note among rendered pages the commit that they are of, and the sums of all.

    Where there is no such commit, that is noted: such pages are to be looked at.
    """
    try:
        commit = clean_commit(project)
    except StateError:
        commit = None
    noted = {"commit": commit, "files": _sums(html)}
    write_whole(html / MANIFEST, canonical_json(noted))


def check_manifest(html: Path, commit: str) -> None:
    """Refuse pages that were not rendered from a commit, or that have changed since.

    Raises
    ------
    StateError
    """
    path = html / MANIFEST
    if not path.is_file():
        raise StateError(f"the pages have no {MANIFEST}; {REMEDY}")
    noted = json.loads(path.read_text("utf-8"))
    if noted["commit"] is None:
        raise StateError(
            "the pages were rendered with changes that were not committed, or where "
            f"git did not say; commit, and {REMEDY}"
        )
    if noted["commit"] != commit:
        raise StateError(
            f"the pages are those of commit {noted['commit'][:9]}, and this is "
            f"{commit[:9]}; {REMEDY}"
        )
    expected = noted["files"]
    actual = _sums(html)
    changed = [f"{name} is new" for name in actual.keys() - expected.keys()]
    changed += [f"{name} is gone" for name in expected.keys() - actual.keys()]
    common = actual.keys() & expected.keys()
    changed += [f"{n} has changed" for n in common if actual[n] != expected[n]]
    if changed:
        lines = sorted(changed)[:_SHOWN]
        if len(changed) > _SHOWN:
            lines.append(f"and {len(changed) - _SHOWN} more")
        raise StateError(
            f"the pages are not as they were rendered; {REMEDY}:\n" + "\n".join(lines)
        )


def write_print_manifest(pdf: Path, html: Path) -> None:
    """Note beside a printed page which pages it was printed from."""
    noted = {"pdf": _digest(pdf), "pages": _digest(html / MANIFEST)}
    write_whole(_beside(pdf), canonical_json(noted))


def check_print_manifest(pdf: Path, html: Path) -> None:
    """Refuse a printed page that is not of these pages, or has changed since.

    Raises
    ------
    StateError
    """
    path = _beside(pdf)
    noted = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    if noted != {"pdf": _digest(pdf), "pages": _digest(html / MANIFEST)}:
        raise StateError(
            f"{pdf.name} was not printed from these pages; delete it, or print it "
            f"again: make pdf PAGES={pdf.stem}"
        )


def _beside(pdf: Path) -> Path:
    return pdf.with_suffix(".pdf.json")


def _sums(html: Path) -> dict[str, str]:
    """SHA-256 of rendered files but their manifest, by name; no link has one."""
    sums = {}
    for path in html.rglob("*"):
        name = path.relative_to(html).as_posix()
        if path.is_symlink():
            sums[name] = "a link"
        elif path.is_file() and name != MANIFEST:
            sums[name] = _digest(path)
    return sums


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def leave_manifest(app: Sphinx, error: Exception | None) -> None:
    """Write the manifest of pages that have been rendered."""
    if error is None and app.builder.format == "html":
        write_manifest(Path(app.srcdir), Path(app.outdir))


def setup(app: Sphinx) -> dict:
    """Register the extension."""
    # after all others, among them the theme, which have files to add or to drop
    app.connect("build-finished", leave_manifest, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
