"""The package and the book with other versions: of Python, and of everything else.

With another Python the lock file is installed as it is, by ``make setup`` in a clone.
The canary installs the newest version of all that ``pyproject.toml`` names, whatever
bounds it states there or other packages state, and lists what breaks.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Tests of the package and of the machinery of the book that an hour has time for: with
# other versions, other digits are the likeliest fault.
TESTED = (
    "tests/test_divergences.py",
    "tests/test_validation.py",
    "tests/test_estimator.py",
    "tests/test_kernels.py",
    "tests/test_public_api.py",
    "tests/moments",
    "tests/families",
    "tests/densities",
    "tests/conditional",
    "tests/topics",
    "tests/generative/memd",
    "tests/generative/recommended",
    "tests/nml/codes",
    "tests/datasets",
    "tests/compendium/build",
    "tests/compendium/data",
    "README.md",
)
PYTHONS = ("python3.12", "python3.13")
# Jupyter Book 2 shares the name with 1, and no code.
HELD = {"jupyter-book": "jupyter-book<2"}


def interpreters(names: Iterable[str] = PYTHONS) -> dict[str, str]:
    """Those of the interpreters that are here: version to path."""
    found = {}
    for name in names:
        path = shutil.which(name)
        if path is not None:
            command = [path, "-c", "import platform; print(platform.python_version())"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode == 0:
                found[done.stdout.strip()] = path
    return found


def tested(clone: Path, python: Path) -> dict:
    """Numbers of tests that passed and failed in a clone, and which failed."""
    command = [str(python), "-m", "pytest", "-n", "2", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *TESTED],
        cwd=clone,
        env=os.environ | {"PYTHONPATH": str(clone)},
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines()
    last = lines[-1] if lines else done.stderr[-300:]
    numbers = {kind: int(n) for n, kind in re.findall(r"(\d+) (\w+)", last)}
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return {
        "passed": numbers.get("passed", 0),
        "failed": [line[:200] for line in failed],
        "last": last.strip("= "),
    }


def cloned(project: Path, folder: Path) -> Path:
    """A fresh clone."""
    clone = folder / "clone"
    subprocess.run(["git", "clone", "-q", str(project), str(clone)], check=True)
    return clone


def measure_pythons(project: Path) -> dict:
    """Tests with the lock file under every other Python that is here."""
    found = {}
    for version, path in interpreters().items():
        with tempfile.TemporaryDirectory(prefix="memdlib-") as folder:
            clone = cloned(project, Path(folder))
            done = subprocess.run(
                ["make", "setup", f"PYTHON={path}"],
                cwd=clone,
                capture_output=True,
                text=True,
            )
            if done.returncode:
                said = done.stdout + done.stderr
                found[version] = {"passed": 0, "failed": [], "last": said[-300:]}
            else:
                found[version] = tested(clone, clone / ".venv" / "bin" / "python")
            print(version, found[version]["last"], flush=True)
    return found


def unbounded(project: Path) -> list[str]:
    """All requirements of ``pyproject.toml``, the foreign verifiers apart, by name."""
    declared = tomllib.loads((project / "pyproject.toml").read_text())
    package = declared["project"]
    groups = declared["dependency-groups"]
    listed = list(package["dependencies"])
    for extra in package["optional-dependencies"].values():
        listed += extra
    for name, group in groups.items():
        if name != "foreign":
            listed += [entry for entry in group if isinstance(entry, str)]
    found = set()
    for text in listed:
        one = Requirement(text)
        if canonicalize_name(one.name) != package["name"]:
            extras = f"[{','.join(sorted(one.extras))}]" if one.extras else ""
            name = canonicalize_name(one.name)
            found.add(HELD.get(name, f"{name}{extras}"))
    return sorted(found)


def measure_canary(project: Path) -> dict:
    """What breaks with the newest versions of all packages, in an environment apart."""
    with tempfile.TemporaryDirectory(prefix="memdlib-") as folder:
        clone = cloned(project, Path(folder))
        venv = Path(folder, "venv")
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        names = unbounded(project)
        wanted = Path(folder, "wanted.txt")
        wanted.write_text("\n".join(names) + "\n")
        python = venv / "bin" / "python"
        uv = [sys.executable, "-m", "uv", "pip"]
        # what others state about these packages is overridden, so that all are newest
        install = [*uv, "install", "-q", "--python", str(python), "-r", str(wanted)]
        subprocess.run([*install, "--override", str(wanted)], check=True)
        package = [*uv, "install", "-q", "--python", str(python), "--no-deps"]
        subprocess.run([*package, "--no-build-isolation", "-e", str(clone)], check=True)
        check = [*uv, "check", "--python", str(python)]
        said = subprocess.run(check, capture_output=True, text=True)
        listing = subprocess.run(
            [*uv, "list", "--python", str(python), "--format", "json"],
            check=True,
            capture_output=True,
            text=True,
        )
        versions = {one["name"]: one["version"] for one in json.loads(listing.stdout)}
        conflicts = [
            line.strip()
            for line in (said.stdout + said.stderr).splitlines()
            if line.startswith("The package")
        ]
        tests = tested(clone, python)
        render = subprocess.run(
            [str(python), "-m", "compendium", "render"],
            cwd=clone,
            env=os.environ | {"PYTHONPATH": str(clone)},
            capture_output=True,
            text=True,
        )
    newest = ("numpy", "scipy", "scikit-learn", "pandas", "matplotlib", "sphinx")
    newest += ("myst-nb", "myst-parser", "jupyter-book")
    return {
        "versions": {name: versions[name] for name in newest if name in versions},
        "outside bounds": conflicts,
        "tests": tests,
        "rendered": render.returncode == 0,
        "complaints": [
            line.replace(folder, "")
            for line in (render.stdout + render.stderr).splitlines()[-20:]
        ],
    }
