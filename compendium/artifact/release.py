"""One archive with all that a stranger needs, the same bytes whoever makes it.

The sources are those of the last commit (``git archive``); pages, printed pages,
packages and the export stand beside them, with the check sums of all. All times are
that of the commit. The digest of the archive is written beside it: sums inside of an
archive prove nothing against who makes it anew, so that it is published elsewhere.
"""

import io
import shlex
import shutil
import subprocess
import tarfile
import tempfile
from hashlib import sha256
from pathlib import Path

from compendium.artifact.export import export_files, write_folder
from compendium.artifact.verify import SUMS, verify
from compendium.book.archive import build
from compendium.book.manifest import (
    StateError,
    check_manifest,
    check_print_manifest,
    clean_commit,
)
from compendium.book.pages import citation, last_change, unknown
from compendium.project import root, write_whole


def fill(project: Path, folder: Path) -> None:
    """Put sources, pages, export, packages and their check sums into a new folder.

    Raises
    ------
    StateError
        If the book is not built, if there are changes that are not committed, or if
        pages, or printed pages, are not those of the last commit.
    """
    made = project / "_build"
    html = made / "html"
    printed = sorted(made.glob("*.pdf"))
    if not (html / "index.html").is_file():
        raise StateError("there is no _build/html/index.html; call 'make book' first")
    commit = clean_commit(project)
    check_manifest(html, commit)
    for path in printed:
        check_print_manifest(path, html)
    # Whatever the user has set for line ends, these are the bytes of the commit.
    command = ["git", "-C", str(project), "-c", "core.autocrlf=false"]
    command += ["archive", commit]
    sources = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(sources)) as archive:
        archive.extractall(folder, filter="data")
    shutil.copytree(html, folder / "html")
    for path in printed:
        shutil.copy(path, folder)
    write_folder(export_files(project), folder / "export")
    build(project, folder / "dist")
    _drop_empty_folders(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = {path.relative_to(folder): sha256(path.read_bytes()) for path in files}
    lines = [f"{value.hexdigest()}  {name}\n" for name, value in sums.items()]
    (folder / SUMS).write_text("".join(lines), "utf-8")


def _drop_empty_folders(folder: Path) -> None:
    """Remove folders that hold nothing, which no sum can name."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


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
    anchor = target.with_name(f"{target.name}.sha256")
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        folder = Path(scratch, name)
        packed = Path(scratch, target.name)
        try:
            fill(project, folder)
        except StateError as error:
            print(f"nothing was released: {error}")
            return 1
        pack(folder, packed, last_change(project))
        problems, _ = verify(packed, "")
        if problems:
            print("nothing was released:", *problems, sep="\n  ")
            return 1
        anchor.unlink(missing_ok=True)  # that of another archive
        shutil.move(packed, target)
    digest = sha256(target.read_bytes()).hexdigest()
    write_whole(anchor, f"{digest}  {target.name}\n")
    print(f"{target}\n{anchor}: {digest}")
    print(
        "Publish the digest apart from the archive, in the notes of the release and in "
        "the record of its DOI.\n"
        f"Verify both: make verify-release FILE={shlex.quote(str(target))} "
        f"DIGEST={digest}"
    )
    if empty := unknown(project):
        print(f"CITATION.cff says nothing of: {', '.join(empty)}")
    return 0
