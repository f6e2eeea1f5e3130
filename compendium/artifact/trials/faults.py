"""The runner of experiments when it is killed, has no room, or is not alone.

A tiny project with one cheap run stands in for the book: it has the same runner, the
same kernel and the same two files, a result and a lab record. Whatever happens, each of
the two must be a whole file, the old one or the new one, and a next call must make the
run. The disks are small or read-only file systems of a name space of their own
(``unshare``), so that nothing outside sees them.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from compendium.build import experiments

SEED, KILLS, ROUNDS = 20131207, 100, 10
_HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

What it does.

"""
_CELLS = """```{code-cell} ipython3
:tags: [parameters]
run = ""
size = 1
```

```{code-cell} ipython3
import json
from pathlib import Path
print(size)
Path("result.json").write_text(json.dumps({"size": size, "filler": [size] * 4000}))
```
"""
_LOCK = "numpy==1.0\npandas==1.0\nscikit-learn==1.0\nscipy==1.0\n"


class Damage(AssertionError):
    """A file that is neither old nor new, or a run that stays unmade."""


class Bench:
    """The tiny project.

    Parameters
    ----------
    folder : Path
        Made here.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        for name, text in {
            "_toc.yml": "format: jb-book\nroot: book/notebooks/index\n",
            "requirements.lock": _LOCK,
            "memdlib/__init__.py": "",
            "book/experiments/e.md": _HEADER + _CELLS,
        }.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.result = folder / "data" / "results" / "r.json"
        self.record = folder / "book" / "records" / "r.ipynb"
        self.scratch = folder / "tmp"
        for place in (self.result.parent, self.record.parent, self.scratch):
            place.mkdir(parents=True)
        self.ask(1)

    def ask(self, size: int) -> None:
        """Change the run, so that what is stored becomes stale."""
        text = f'[r]\ntitle = "R"\nnotebook = "e.md"\nparameters.size = {size}\n'
        (self.folder / "book/experiments/runs.toml").write_text(text)

    def start(self, *before: str) -> subprocess.Popen:
        """Start the runner, as ``make experiments`` does, behind another command."""
        return subprocess.Popen(
            [*before, sys.executable, "-m", "compendium", "experiments"],
            env=os.environ
            | {"MEMDLIB_PROJECT": str(self.folder), "TMPDIR": str(self.scratch)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def forked(self) -> int:
        """Start the runner in a copy of this process, which saves its imports.

        Returns
        -------
        int
            Process, the first of a group and session of its own.
        """
        child = os.fork()
        if child:
            return child
        os.setsid()
        os.environ |= {"MEMDLIB_PROJECT": str(self.folder), "TMPDIR": str(self.scratch)}
        tempfile.tempdir = None
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        try:
            status = experiments.main([])
        except BaseException:
            status = 1
        os._exit(status)

    def finish(self, *before: str) -> tuple[int, str]:
        """Run to the end; exit status and what was said."""
        process = self.start(*before)
        said, _ = process.communicate(timeout=900)
        return process.returncode, said

    def sizes(self) -> tuple[int | None, int | None]:
        """Parameter that the stored result and the stored record have; None without.

        Raises
        ------
        Damage
            If a file is there that is not whole.
        """
        found = []
        for path in (self.result, self.record):
            if not path.exists():
                found.append(None)
                continue
            try:
                stored = json.loads(path.read_text())
                if path == self.result:
                    size = stored["values"]["size"]
                    whole = stored["values"]["filler"] == [size] * 4000
                    whole &= stored["provenance"]["parameters"]["size"] == size
                else:
                    outputs = stored["cells"][-1]["outputs"]
                    (words,) = (o["text"] for o in outputs if "text" in o)
                    size = int("".join(words))
                    whole = bool(stored["metadata"]["memdlib"]["digest"])
            except (ValueError, KeyError, TypeError) as error:
                raise Damage(f"{path} is not whole: {error!r}") from error
            if not whole:
                raise Damage(f"{path} mixes two runs")
            found.append(size)
        return found[0], found[1]

    def complete(self, size: int) -> None:
        """Make the run; raise :class:`Damage` if that does not succeed."""
        self.ask(size)
        status, said = self.finish()
        if status or self.sizes() != (size, size):
            raise Damage(f"the next run did not complete: {said[-2000:]}")

    def strays(self) -> list[Path]:
        """Files that nobody asked for: parts of what was being written."""
        places = (self.result.parent, self.record.parent)
        return [path for place in places for path in place.glob(".*")]

    def processes(self) -> list[int]:
        """Processes that work for this project."""
        mark = f"MEMDLIB_PROJECT={self.folder}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
            except OSError:
                continue  # it has ended meanwhile, or is not ours
        return found


def killed(bench: Bench, seed: int, kills: int, rounds: int) -> dict[str, int | float]:
    """Kill the runner at random moments; complete the run every so many kills.

    Returns
    -------
    dict
        What was found: ``kills``, ``before`` (nothing new stored), ``between`` (only
        the record is new), ``after`` (both are), ``completed``, ``left`` (parts of
        files that a killed process left), ``orphans`` (processes that outlive it).
    """
    rng = random.Random(seed)
    bench.complete(1)
    bench.ask(0)
    start = time.monotonic()
    os.waitpid(bench.forked(), 0)
    usual = time.monotonic() - start
    if bench.sizes() != (0, 0):
        raise Damage(f"the runner left {bench.sizes()} when nothing disturbed it")
    found = dict.fromkeys(("before", "between", "after", "completed", "orphans"), 0)
    for turn in range(2, kills + 2):
        bench.ask(turn)
        old = bench.sizes()
        process = bench.forked()
        time.sleep(rng.uniform(0.0, 1.05 * usual))
        if rng.random() < 0.5:
            os.kill(process, signal.SIGKILL)  # its workers have to notice
        else:
            os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
        found["orphans"] += not _alone(bench)
        result, record = bench.sizes()
        if result == record == turn:
            found["after"] += 1
        elif record == turn:
            found["between"] += 1
        elif (result, record) == old:
            found["before"] += 1
        else:
            raise Damage(f"kill {turn}: {old} became {(result, record)}")
        if (turn - 1) % (kills // rounds) == 0:
            bench.complete(turn)
            found["completed"] += 1
    left = len(bench.strays())
    return {"kills": kills, **found, "left": left, "usual seconds": round(usual, 1)}


def _alone(bench: Bench, patience: float = 60.0) -> bool:
    """Whether all processes of the project end by themselves."""
    end = time.monotonic() + patience
    while bench.processes():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def together(bench: Bench, rounds: int) -> dict[str, int]:
    """Start two runners at once, several times."""
    for turn in range(1001, 1001 + rounds):
        bench.ask(turn)
        pair = [bench.start(), bench.start()]
        ends = [process.communicate(timeout=900)[0] for process in pair]
        if any(process.returncode for process in pair):
            raise Damage(f"two at once: {ends}")
        if bench.sizes() != (turn, turn):
            raise Damage(f"two at once left {bench.sizes()}")
    return {"rounds": rounds}


# Shell commands that make $0, a folder with files in it, a file system that takes
# nothing more. What is in it at the end is copied for inspection.
MOUNTS = {
    "full": 'cp -a "$0" "$0.before"; mount -t tmpfs -o size=4m tmpfs "$0"; '
    'cp -a "$0.before/." "$0"; cat /dev/zero > "$0/filler" 2>/dev/null || true',
    "read-only": 'mount --bind "$0" "$0"; mount -o remount,ro,bind "$0"',
}


def refused(bench: Bench, kind: str, folder: Path, size: int) -> str:
    """Run where a folder takes nothing more, then where it does.

    Parameters
    ----------
    bench : Bench
    kind : {"full", "read-only"}
        A key of :data:`MOUNTS`.
    folder : Path
        Of the results or of the records.
    size : int
        Parameter of the run, another one than the stored.

    Returns
    -------
    str
        The last line that the runner printed, with places relative to the bench.
    """
    bench.ask(size)
    before = {path.name: path.read_bytes() for path in folder.glob("*.*")}
    script = (
        f'set -e; {MOUNTS[kind]}; set +e; "$@"; ended=$?; rm -f "$0/filler"; '
        'cp -a "$0" "$0.after"; exit $ended'
    )
    space = ("unshare", "--map-root-user", "--mount")
    status, said = bench.finish(*space, "sh", "-c", script, str(folder))
    after = folder.with_name(f"{folder.name}.after")
    found = {path.name: path.read_bytes() for path in after.iterdir() if path.is_file()}
    for copy in (after, folder.with_name(f"{folder.name}.before")):
        shutil.rmtree(copy, ignore_errors=True)
    if status == 0:
        raise Damage(f"{folder} is {kind}, and yet the run was said to be made: {said}")
    if found != before:
        raise Damage(f"{folder} is {kind}, and holds {sorted(found)}: {said}")
    bench.complete(size)
    return said.strip().splitlines()[-1].replace(f"{bench.folder}/", "")


def measure(kills: int = KILLS, rounds: int = ROUNDS) -> dict:
    """Figures of all faults.

    Raises
    ------
    Damage
        At the first file that is not whole, or run that stays unmade.
    """
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        bench = Bench(Path(scratch, "bench"))
        found = {"killed": killed(bench, SEED, kills, rounds)}
        found["together"] = together(bench, rounds)
        folders = (bench.result.parent, bench.record.parent)
        cases = [(kind, folder) for kind in MOUNTS for folder in folders]
        found["refused"] = {
            f"{folder.name}, {kind}": refused(bench, kind, folder, 2001 + place)
            for place, (kind, folder) in enumerate(cases)
        }
    return found
