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


class GitError(RuntimeError):
    """Git gives no answer; the message is what it said instead."""


def ask_git(project: Path, *arguments: str) -> str:
    """Output of a git command on the history of a checkout, without space at its ends.

    A history of a folder above the checkout is none of the checkout.

    Raises
    ------
    GitError
        If there is no git, no history, or if git refuses, as it does in a checkout of
        another user.
    """
    command = ["git", "-C", str(project), *arguments]
    environment = os.environ | {
        "GIT_CEILING_DIRECTORIES": str(project.resolve().parent)
    }
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="backslashreplace",
            env=environment,
        )
    except OSError as error:
        raise GitError(f"git cannot be called ({error})") from error
    if done.returncode:
        raise GitError(f"git says: {done.stderr.strip()}")
    return done.stdout.strip()


def git(project: Path, *arguments: str) -> str | None:
    """As :func:`ask_git`; no answer is None, which is not an empty answer."""
    try:
        return ask_git(project, *arguments)
    except GitError:
        return None


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
