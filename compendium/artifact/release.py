"""One archive with all that a stranger needs, the same bytes whoever makes it.

Files are sorted and belong to nobody, and all times are that of the last commit. The
archive carries the check sums of its files (``sha256sum --check SHA256SUMS``).
"""

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from compendium.artifact.export import export_files
from compendium.build.pages import citation, last_change, unknown
from compendium.project import root, write_whole

SUMS = "SHA256SUMS"
PRINTED = {"article.pdf": "make pdf"}
TOP = (
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "pyproject.toml",
    "requirements.lock",
    "requirements.txt",
    "foreign.lock",
    "environment.yml",
)


class ReleaseError(ValueError):
    """What would be released is not of one state."""


def build_distributions(project: Path, folder: Path) -> None:
    """Build the wheel and the source distribution of the package into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    environment = os.environ | {"SOURCE_DATE_EPOCH": last_change(project)}
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise ReleaseError(f"the package cannot be built: {done.stderr}")


def release_files(project: Path) -> dict[str, bytes]:
    """All files of the release by name, check sums included.

    Raises
    ------
    ReleaseError
        If the book is not built, or not from this state.
    """
    html = project / "_build" / "html"
    index = html / "index.html"
    if not index.is_file():
        raise ReleaseError(f"there is no {index}; call 'make book' first")
    found = _under(html, "html") | _under(project / "book" / "notebooks", "notebooks")
    for name in PRINTED:
        pdf = project / "_build" / name
        if pdf.is_file() and pdf.stat().st_mtime_ns >= index.stat().st_mtime_ns:
            found[name] = pdf.read_bytes()
    found |= {f"export/{name}": data for name, data in export_files(project).items()}
    for name in TOP:
        found[name] = (project / name).read_bytes()
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        build_distributions(project, Path(scratch))
        built = _under(Path(scratch), "dist")
    for name, data in built.items():
        shipped = name.replace("dist/", "html/")
        if name.endswith(".whl") and found.get(shipped) != data:
            raise ReleaseError(
                f"_build/{shipped} is of another state; call 'make html'"
            )
    found |= built
    lines = [f"{hashlib.sha256(found[n]).hexdigest()}  {n}\n" for n in sorted(found)]
    return found | {SUMS: "".join(lines).encode()}


def _under(folder: Path, name: str) -> dict[str, bytes]:
    return {
        f"{name}/{path.relative_to(folder)}": path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def packed(files: dict[str, bytes], folder: str, seconds: int) -> bytes:
    """The files as a compressed archive with one folder.

    Parameters
    ----------
    files : dict of str to bytes
        By name inside the folder.
    folder : str
    seconds : int
        Time of every file, since 1970.

    Returns
    -------
    bytes
        The same for equal arguments with one version of zlib.
    """
    stream = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", fileobj=stream, mtime=seconds) as thin,
        tarfile.open(fileobj=thin, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(files):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(files[name]), seconds, 0o644
            archive.addfile(entry, io.BytesIO(files[name]))
    return stream.getvalue()


def archive_path(project: Path) -> Path:
    """Where the release of a checkout is written."""
    name = f"memdlib-compendium-{citation(project)['version']}"
    return project / "_build" / f"{name}.tar.gz"


def main() -> int:
    """Write the release to ``_build``; say what is in it; return an exit status."""
    project = root()
    try:
        files = release_files(project)
    except ReleaseError as error:
        print(f"nothing was released: {error}")
        return 1
    target = archive_path(project)
    name = target.name.removesuffix(".tar.gz")
    write_whole(target, packed(files, name, int(last_change(project))))
    print(f"{len(files)} files in {target}")
    for printed, target in PRINTED.items():
        if printed not in files:
            print(f"without {printed}: '{target}' after 'make book' makes it")
    if empty := unknown(project):
        print(f"CITATION.cff says nothing of: {', '.join(empty)}")
    print(f"check it: make verify-release FILE={target}")
    return 0
