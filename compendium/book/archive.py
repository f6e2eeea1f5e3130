"""One archive with the chapters as notebooks, to run outside of a checkout.

Unpacked, one folder holds the notebooks side by side with what they import, the tables
of results that they read, and the wheel of memdlib. Every rendering of the book makes
it.
"""

import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

from compendium.book.pages import last_change

NAME = "memdlib-notebooks.zip"
FOLDER = "memdlib-notebooks"  # the one that it unpacks to
READABLE = 0o644 << 16  # as zip files store the mode of a file
# On the repository itself, and the ledger: they run in a checkout.
LEFT_OUT = {
    "index",
    "install",
    "article",
    "artifact",
    "reproduce",
    "claims",
    "every-setting",
}
READ = ("LICENSE", "LICENSES/*", "data/tables/*.csv")  # beside the notebooks
README = """# Maximum Entropy, Maximum Discrimination: the notebooks

    pip install '{wheel}[notebooks]' jupyterlab jupyterlab-myst
    jupyter lab

Each notebook runs as it is and draws its own figures and tables. `helpers.py` and
`rules.py` are what they share; `data/tables` has the results that they read.
"""


def build(project: Path, folder: Path, *target: str) -> None:
    """Build the packages of a checkout into a folder, all or those of a target."""
    command = [sys.executable, "-m", "hatchling", "build", *target, "-d", str(folder)]
    environment = os.environ | {"SOURCE_DATE_EPOCH": last_change(project)}
    options = {"capture_output": True, "text": True, "env": environment}
    done = subprocess.run(command, cwd=project, **options)
    if done.returncode:
        raise RuntimeError(f"the packages cannot be built: {done.stderr}")


def write_archive(project: Path, folder: Path, notebooks: Mapping[str, str]) -> Path:
    """Write the archive into a folder, beside the wheel that it holds.

    Parameters
    ----------
    project, folder : Path
    notebooks : mapping of str to str
        Texts of the notebooks of the book, by the names of their files.

    Returns
    -------
    Path
        The archive.
    """
    build(project, folder, "-t", "wheel")
    (wheel,) = folder.glob("*.whl")
    contents = {wheel.name: wheel.read_bytes()}
    for module in (project / "book" / "notebooks").glob("*.py"):
        contents[module.name] = module.read_bytes()
    for name, text in notebooks.items():
        if Path(name).stem not in LEFT_OUT:
            contents[name] = text.encode()
    for pattern in READ:
        for path in project.glob(pattern):
            contents[path.relative_to(project).as_posix()] = path.read_bytes()
    contents["README.md"] = README.format(wheel=wheel.name).encode()
    when = time.gmtime(int(last_change(project)))[:6]
    with zipfile.ZipFile(folder / NAME, "w") as archive:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(f"{FOLDER}/{name}", when)
            entry.external_attr = READABLE
            archive.writestr(entry, contents[name], zipfile.ZIP_DEFLATED)
    return folder / NAME
