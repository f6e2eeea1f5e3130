"""One archive with all that a stranger needs, the same bytes whoever makes it.

The sources are those of the last commit (``git archive``); pages, printed pages,
packages and the export stand beside them, with the check sums of all. All times are
that of the commit.
"""

import io
import shutil
import subprocess
import tarfile
import tempfile
from hashlib import sha256
from pathlib import Path

from compendium.artifact.export import export_files, write_folder
from compendium.book.archive import build
from compendium.book.pages import citation, last_change, unknown
from compendium.project import GitError, ask_git, root


class ReleaseError(ValueError):
    """What would be released is not of one state."""


def fill(project: Path, folder: Path) -> None:
    """Put sources, pages, export, packages and their check sums into a new folder.

    Raises
    ------
    ReleaseError
        If the book is not built, or if there are changes that are not committed.
    """
    made = project / "_build"
    if not (made / "html" / "index.html").is_file():
        raise ReleaseError("there is no _build/html/index.html; call 'make book' first")
    try:
        changes = ask_git(project, "status", "--porcelain")
    except GitError as reason:
        raise ReleaseError(f"what is committed is unknown: {reason}") from reason
    if changes:
        raise ReleaseError(f"this is not committed:\n{changes}")
    command = ["git", "-C", str(project), "archive", "HEAD"]
    sources = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(sources)) as archive:
        archive.extractall(folder, filter="data")
    shutil.copytree(made / "html", folder / "html")
    for path in made.glob("*.pdf"):
        shutil.copy(path, folder)
    write_folder(export_files(project), folder / "export")
    build(project, folder / "dist")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = {path.relative_to(folder): sha256(path.read_bytes()) for path in files}
    lines = [f"{value.hexdigest()}  {name}\n" for name, value in sums.items()]
    (folder / "SHA256SUMS").write_text("".join(lines))


def pack(folder: Path, target: Path, seconds: str) -> None:
    """Write a folder as a compressed archive that is the same wherever it is made."""
    how = ["--sort=name", f"--mtime=@{seconds}", "--owner=0", "--group=0"]
    how += ["--numeric-owner", "--mode=u=rwX,go=rX", "--use-compress-program=gzip -n"]
    command = ["tar", "-c", *how, "-f", target, "-C", folder.parent, folder.name]
    subprocess.run(command, check=True)


def main() -> int:
    """Write the release to ``_build``; say what is in it; return an exit status."""
    project = root()
    name = f"memdlib-compendium-{citation(project)['version']}"
    target = project / "_build" / f"{name}.tar.gz"
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        folder, packed = Path(scratch, name), Path(scratch, target.name)
        try:
            fill(project, folder)
        except ReleaseError as error:
            print(f"nothing was released: {error}")
            return 1
        pack(folder, packed, last_change(project))
        shutil.move(packed, target)
    print(f"{target}; check it: make verify-release FILE={target}")
    if empty := unknown(project):
        print(f"CITATION.cff says nothing of: {', '.join(empty)}")
    return 0
