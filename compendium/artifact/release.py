"""One archive with all that a stranger needs, the same bytes whoever makes it.

The sources are those of the last commit (``git archive``); pages, printed pages,
packages and the export stand beside them, with the check sums of all. All times are
that of the commit.
"""

import gzip
import hashlib
import io
import subprocess
import tarfile
import tempfile
from pathlib import Path

from compendium.artifact.export import export_files
from compendium.build.archive import build
from compendium.build.pages import citation, last_change, unknown
from compendium.project import git, root, write_whole


class ReleaseError(ValueError):
    """What would be released is not of one state."""


def made_files(project: Path) -> dict[str, bytes]:
    """All files of the release that git does not know, by name.

    Raises
    ------
    ReleaseError
        If the book is not built, or if there are changes that are not committed.
    """
    made = project / "_build"
    if not (made / "html" / "index.html").is_file():
        raise ReleaseError("there is no _build/html/index.html; call 'make book' first")
    if changes := git(project, "status", "--porcelain"):
        raise ReleaseError(f"this is not committed:\n{changes}")
    found = _under(made / "html", "html")
    found |= {path.name: path.read_bytes() for path in made.glob("*.pdf")}
    found |= {f"export/{name}": data for name, data in export_files(project).items()}
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        build(project, Path(scratch))
        return found | _under(Path(scratch), "dist")


def _under(folder: Path, name: str) -> dict[str, bytes]:
    return {
        f"{name}/{path.relative_to(folder)}": path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def packed(project: Path, files: dict[str, bytes], folder: str) -> bytes:
    """The sources and the files as a compressed archive with one folder."""
    command = ["git", "-C", str(project), "archive", f"--prefix={folder}/", "HEAD"]
    sources = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(sources)) as archive:
        known = {
            member.name.removeprefix(f"{folder}/"): archive.extractfile(member).read()
            for member in archive
            if member.isfile()
        }
    files = known | files
    sums = [f"{hashlib.sha256(files[n]).hexdigest()}  {n}\n" for n in sorted(files)]
    files["SHA256SUMS"] = "".join(sums).encode()
    stream, seconds = io.BytesIO(), int(last_change(project))
    with (
        gzip.GzipFile("", "wb", fileobj=stream, mtime=seconds) as thin,
        tarfile.open(fileobj=thin, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(files):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(files[name]), seconds, 0o644
            archive.addfile(entry, io.BytesIO(files[name]))
    return stream.getvalue()


def main() -> int:
    """Write the release to ``_build``; say what is in it; return an exit status."""
    project = root()
    name = f"memdlib-compendium-{citation(project)['version']}"
    target = project / "_build" / f"{name}.tar.gz"
    try:
        files = made_files(project)
    except ReleaseError as error:
        print(f"nothing was released: {error}")
        return 1
    write_whole(target, packed(project, files, name))
    print(f"{target}; check it: make verify-release FILE={target}")
    if empty := unknown(project):
        print(f"CITATION.cff says nothing of: {', '.join(empty)}")
    return 0
