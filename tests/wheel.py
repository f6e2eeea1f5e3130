"""The wheel, built here and now, and environments that hold it and little else."""

import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

import memdlib

PROJECT = Path(memdlib.__file__).parents[1]


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder):
    """The wheel, built without a network."""
    command = (sys.executable, "-m", "hatchling", "build", "-t", "wheel")
    run(*command, "-d", str(folder), cwd=PROJECT)
    (path,) = folder.glob("*.whl")
    return path


def declared():
    return tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]


def in_extra(name):
    """What an extra asks for, with that of the extras which it takes in."""
    found = []
    for item in declared()["optional-dependencies"][name]:
        requirement = Requirement(item)
        if requirement.name == declared()["name"]:
            found += [one for extra in requirement.extras for one in in_extra(extra)]
        else:
            found.append(item)
    return found


def asked_here(items):
    """What requirements ask for on this machine, each once, without its marker."""
    found = []
    for requirement in map(Requirement, sorted({*items})):
        if requirement.marker is None or requirement.marker.evaluate():
            requirement.marker = None
            found.append(requirement)
    return found


def ranges():
    """What the package and its extras ask for on this machine, each once."""
    items = [*declared()["dependencies"]]
    for extra in declared()["optional-dependencies"]:
        items += in_extra(extra)
    return asked_here(items)


def needed(names):
    """Distributions that these packages need, without extras, themselves included."""
    found, waiting = {}, list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = distribution(name)
            for item in map(Requirement, found[name].requires or []):
                if item.marker is None or item.marker.evaluate({"extra": ""}):
                    waiting.append(item.name)
    return found.values()


def environment(folder, wheel, extras=(), also=()):
    """Python of an environment of its own: the wheel and what it declares to need."""
    run(sys.executable, "-m", "venv", "--without-pip", str(folder / "env"))
    (site,) = folder.glob("env/lib/python*/site-packages")
    project = declared()
    wanted = [*project["dependencies"]]
    wanted += [*also, *(item for name in extras for item in in_extra(name))]
    tops = {
        package.locate_file(top)
        for package in needed(Requirement(item).name for item in wanted)
        for top in {file.parts[0] for file in package.files} - {"..", "__pycache__"}
    }
    for path in tops:  # several packages may share a folder
        site.joinpath(path.name).symlink_to(path)
    install = (sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--no-index")
    run(*install, "--disable-pip-version-check", "--target", str(site), str(wheel))
    return str(folder / "env" / "bin" / "python")
