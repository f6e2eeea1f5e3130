"""Where things are in a checkout, what git says, and files that are written whole."""

import json
import os
import subprocess
import tempfile
from pathlib import Path


def root() -> Path:
    """Folder of the checkout: the nearest one upwards that holds the ``_toc.yml``.

    The search starts at ``MEMDLIB_PROJECT`` if that is set (the experiments run in
    scratch folders), else at the working folder.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    start = Path(os.environ.get("MEMDLIB_PROJECT", ".")).resolve()
    for folder in (start, *start.parents):
        if (folder / "_toc.yml").is_file():
            return folder
    raise FileNotFoundError(
        f"no _toc.yml in {start} or above it: run this inside a checkout of the "
        "compendium, or set MEMDLIB_PROJECT to one"
    )


def git(project: Path, *arguments: str) -> str:
    """What git says of a checkout; empty without a history, or if it does not know."""
    command = ["git", "-C", str(project), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file under a temporary name and rename it, so that none is ever half.

    A file that has this content stays as it is, with the time of its last change.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def canonical_json(value) -> str:
    """JSON text that is the same for equal values: sorted keys, no NaN."""
    return json.dumps(value, sort_keys=True, indent=1, allow_nan=False) + "\n"
