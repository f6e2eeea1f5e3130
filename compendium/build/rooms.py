"""The rooms of the project in their order, and the gate that keeps imports to it.

The order is that of the chain from data to classes, stated here and nowhere else: a
room imports only rooms that stand above it, and the modules of a room never import each
other in a circle.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path


@dataclass(frozen=True)
class Room:
    """A module or a package that holds one idea.

    Parameters
    ----------
    name : str
    holds : str
        What stands in it, for the map.
    inside : tuple of str, default=()
        Rooms within, in their order.
    beside : bool, default=False
        Whether the map has it on the line of the room before it.
    """

    name: str
    holds: str
    inside: tuple[str, ...] = ()
    beside: bool = False


ROOMS = (
    Room("memdlib.validation", "every check of what a user passes"),
    Room(
        "memdlib.estimator",
        "Bayes' rule, and fits that are all or nothing",
        beside=True,
    ),
    Room("memdlib.divergences", "divergences between discrete distributions"),
    Room("memdlib.kernels", "kernels from them, between measures", beside=True),
    Room("memdlib.moments", "one pass over the data: sums that add up"),
    Room("memdlib.holdout", "which rows are held out", beside=True),
    Room("memdlib.densities", "from moments to the density of maximum entropy"),
    Room("memdlib.families", "mean to natural parameters, and divergences from them"),
    Room(
        "memdlib.generative",
        "ranked features, and classifiers by Bayes' rule",
        (
            "marginals",
            "ranking",
            "scores",
            "calibration",
            "weighting",
            "displays",
            "memd",
            "correlated",
            "greedy",
            "recommended",
        ),
    ),
    Room("memdlib.parts", "the same fits from data in parts, out of core", beside=True),
    Room("memdlib.conditional", "the discriminative classifier and its dual"),
    Room("memdlib.nml", "code lengths", ("_engine", "codes", "estimators")),
    Room("memdlib.topics", "pLSA and generative embeddings", beside=True),
    Room("memdlib.datasets", "data sets and simulators; their files are read here"),
    Room("memdlib", "the public names", beside=True),
    Room("benchmarks", "speed and memory against named peers"),
    Room("compendium", "the book's", ("project", "study", "ledger", "build"), True),
)

# What memdlib and the study need of others; memdlib's extras are imported on use.
_NEEDED = {"numpy", "scipy", "sklearn", *sys.stdlib_module_names}
_STUDY = {"pandas"}  # outcomes are tables
_ALLOWED = {"memdlib.parts": {"io", "pathlib"}}
_FILES = {"csv", "io", "pathlib", "pickle", "shutil", "tarfile", "tempfile", "tomllib"}


def room_map() -> list[str]:
    """The map of the rooms as a list in Markdown, in ten lines.

    Returns
    -------
    list of str
    """
    lines = []
    for room in ROOMS:
        rooms = ", ".join(f"`{name}`" for name in room.inside)
        text = f"`{room.name}`: {room.holds}{f' ({rooms})' if rooms else ''}"
        if room.beside:
            lines[-1] += f"; {text}"
        else:
            lines.append(f"- {text}")
    return lines


def lint_imports(project: Path) -> list[str]:
    """Imports that run back up, in a circle, out of bounds, or that hide a name.

    Parameters
    ----------
    project : Path

    Returns
    -------
    list of str
        One line for each import that is not allowed.
    """
    files = dict(_modules(project))
    problems, graph = [], {}
    for module, path in files.items():
        place, room = path.relative_to(project), _room_of(module)
        if room is None:
            problems.append(f"{place} stands in no room of compendium/build/rooms.py")
            continue
        above = _ORDER[: _ORDER.index(room) + 1]
        graph[module] = []
        for line, name, fault in _imports(path.read_text(), files):
            if name.split(".")[0] not in _OURS:
                fault = fault or _out_of_bounds(room, name)
            elif _room_of(name) in above:
                graph[module].append(name)
            else:
                fault = f"imports {name}, which is not above {room}"
            if fault:
                problems.append(f"{place}:{line}: {fault}")
    return problems + _circles(graph)


_ORDER = [
    name
    for room in ROOMS
    for name in (*(f"{room.name}.{inner}" for inner in room.inside), room.name)
]
_OURS = {name.split(".")[0] for name in _ORDER}


def _modules(project: Path) -> Iterator[tuple[str, Path]]:
    """Name and file of every module of the three packages."""
    for package in sorted(_OURS):
        for path in sorted((project / package).rglob("*.py")):
            parts = path.relative_to(project).with_suffix("").parts
            yield ".".join(p for p in parts if p != "__init__"), path


def _room_of(module: str) -> str | None:
    """The innermost room that holds a module; a package of rooms holds no other."""
    for name in sorted(_ORDER, key=len, reverse=True):
        if module in (name, f"{name}.__main__"):
            return name
        if name not in ("memdlib", "compendium") and module.startswith(f"{name}."):
            return name
    return None


def _imports(code: str, files: dict[str, Path]) -> Iterator[tuple[int, str, str]]:
    """Line, module and fault of every import; of one on use only if it is ours."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        names, fault = [], ""
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            star = node.names[0].name == "*"
            fault = "relative import" if node.level else "star import" if star else ""
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in files else node.module or "" for name in inner]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open":
            names = ["io"]
        for name in dict.fromkeys(names):
            if node in tree.body or name.split(".")[0] in _OURS | _FILES:
                yield node.lineno, name, fault


def _out_of_bounds(room: str, name: str) -> str:
    """What is wrong with a package of others; empty if nothing is."""
    top, core = name.split(".")[0], room.startswith("memdlib.")
    if room == "memdlib.datasets" or top in _ALLOWED.get(room, ()):
        return ""
    if core and top in _FILES:
        return f"uses files ({top}), which {room} may not"
    needed = _NEEDED | _STUDY if room == "compendium.study" else _NEEDED
    if (core or room == "compendium.study") and top not in needed:
        return f"imports {top}, which {room} must do without"
    return ""


def _circles(graph: dict[str, list[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # the sorter names the modules from the imported to the importing
        circle = " -> ".join(reversed(error.args[1]))
        return [f"imports run in a circle: {circle}"]
    return []
