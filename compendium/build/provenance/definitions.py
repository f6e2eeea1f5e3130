"""Which definitions of the project a piece of code reaches, wherever they stand.

A notebook depends on the functions, classes and assignments that it names, directly or
through others, not on the modules that hold them. Each of them is written down as its
syntax without docstrings, annotations of functions and imports; an imported name is
written as what it stands for: the own name of a definition of the project, or the full
path of a thing outside (``numpy.linalg.solve``). So what is written stays the same if a
definition moves to another module, or is imported in another way.

In doubt more is counted than need be: all of a module that is used as an object, and,
of every module from which something is reached, the statements that are no definitions
(calls, ``try`` blocks). Registries must be plain tables: a definition that only its
decorator makes known is not found. No relative and no star imports, which a gate sees
to.

An entry of a dictionary called ``_REGISTRY`` counts if its key is written somewhere: in
the cells, in their parameters or in what they reach. Notebooks must therefore write the
names that they look up, and not take them from a list of all names.
"""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from compendium.build.provenance.syntax import (
    PACKAGES,
    Module,
    Statement,
    Target,
    bound_by_imports,
    read_module,
    statement_of,
)


@dataclass(frozen=True)
class Reach:
    """What some cells of code are, and what they reach.

    Parameters
    ----------
    cells : tuple of str
        Syntax of each cell.
    definitions : frozenset of str
        Syntax of each definition that they reach.
    files : frozenset of bytes
        Contents of the data files that stand beside a module and that a definition
        reached there names.
    strings : frozenset of str
        All string constants in cells and definitions.
    """

    cells: tuple[str, ...]
    definitions: frozenset[str]
    files: frozenset[bytes]
    strings: frozenset[str]


def reach(
    project: Path,
    cells: Sequence[str],
    without: Iterable[str] = (),
    words: Iterable[str] = (),
) -> Reach:
    r"""Follow every name that some cells of code mention to its definition.

    Parameters
    ----------
    project : Path
        Folder that holds the packages of the project.
    cells : sequence of str
        Python; imports in one hold for all.
    without : iterable of str, default=()
        Modules whose definitions are left out, with what only they reach.
    words : iterable of str, default=()
        Keys of registries that are looked up, besides the strings in the code.

    Returns
    -------
    Reach

    Examples
    --------
    >>> import tempfile
    >>> project = Path(tempfile.mkdtemp())
    >>> (project / "memdlib").mkdir()
    >>> _ = (project / "memdlib" / "a.py").write_text("def f(): return 1\nunused = 2")
    >>> one = reach(project, ["from memdlib.a import f", "f()"])
    >>> other = reach(project, ["import memdlib.a as m", "m.f()"])
    >>> one == other, len(one.definitions)
    (True, 1)
    """
    walk = _Walk(project, frozenset(without), frozenset(words))
    trees = [ast.parse(cell) for cell in cells]
    imports = bound_by_imports(trees)
    notebook = Module(imports, [])
    written = tuple(
        walk.written(notebook, statement_of(tree.body, imports, frozenset(imports)))
        for tree in trees
    )
    walk.finish()
    return Reach(
        written,
        frozenset(walk.definitions),
        frozenset(walk.files),
        frozenset(walk.strings),
    )


class _Walk:
    """Definitions found so far, and those still to be looked into."""

    def __init__(self, project: Path, without: frozenset[str], words: frozenset[str]):
        self.project, self.without, self.words = project, without, words
        self.definitions, self.files, self.strings = set(), set(), set()
        self._modules: dict[str, Module | None] = {}
        self._names: dict[Target, str] = {}
        self._waiting: list[tuple[Module, Statement]] = []
        self._offered: dict[tuple[Path | None, str], tuple[Module, Statement]] = {}
        self._taken: set[tuple[Path | None, int]] = set()

    def finish(self) -> None:
        """Look into definitions until there is none left."""
        while self._waiting:
            self.definitions.add(self.written(*self._waiting.pop()))
            if not self._waiting:
                self._look_up()

    def _look_up(self) -> None:
        """Take up the entries of registries whose keys are written somewhere."""
        known = self.strings | self.words
        for place in [place for place in self._offered if place[1] in known]:
            self._take(*self._offered.pop(place))

    def written(self, module: Module, statement: Statement) -> str:
        """Syntax of a statement; what it mentions is taken up."""
        self.strings |= statement.strings
        for key, entry in statement.entries.items():
            self._offered[module.path, key] = module, entry
        if module.path is not None:
            for name in statement.strings & _data_beside(module.path):
                self.files.add((module.path.parent / name).read_bytes())
        for targets in statement.imports.values():
            for target in targets:
                self._touch(target.module)
                self._touch(".".join((target.module, *target.attributes)))
        return "".join(
            piece if isinstance(piece, str) else self._chain(module, statement, piece)
            for piece in statement.pieces
        )

    def _chain(self, module, statement, chain) -> str:
        name, *rest = chain
        found = [*statement.imports.get(name, []), *module.names.get(name, [])]
        return self._one_of(module, found, name, tuple(rest))

    def _one_of(self, module, found, name, rest) -> str:
        texts = set()
        for thing in found:
            if isinstance(thing, Target):
                texts.add(self._follow(Target(thing.module, thing.attributes + rest)))
            else:
                self._take(module, thing)
                texts.add(".".join((name, *rest)))
        return "|".join(sorted(texts)) or ".".join((name, *rest))

    def _follow(self, target: Target) -> str:
        """Take up what a target stands for; return how it is written."""
        if target not in self._names:
            self._names[target] = "cycle"
            self._names[target] = self._resolved(target)
        return self._names[target]

    def _resolved(self, target: Target) -> str:
        module, plain = self._module(target.module), ".".join(target.attributes)
        if module is None:
            return ".".join((target.module, *target.attributes))
        if target.module in self.without:
            return plain
        self._touch(target.module)
        if target.attributes:
            name, *rest = target.attributes
            if name in module.names:
                return self._one_of(module, module.names[name], name, tuple(rest))
            inner = f"{target.module}.{name}"
            if self._module(inner):
                return self._follow(Target(inner, tuple(rest)))
        for name, found in module.names.items():
            self._one_of(module, found, name, ())
        return f"module {plain}"

    def _touch(self, name: str) -> None:
        """Take up what runs when a module is imported."""
        module = None if name in self.without else self._module(name)
        for statement in module.loose if module else ():
            self._take(module, statement)

    def _take(self, module: Module, statement: Statement) -> None:
        key = (module.path, id(statement))
        if key not in self._taken:
            self._taken.add(key)
            self._waiting.append((module, statement))

    def _module(self, name: str) -> Module | None:
        if name not in self._modules:
            self._modules[name] = self._read(name)
        return self._modules[name]

    def _read(self, name: str) -> Module | None:
        place = self.project.joinpath(*name.split("."))
        if name.split(".")[0] in PACKAGES:
            for path in (place / "__init__.py", place.with_suffix(".py")):
                if path.is_file():
                    read = read_module(path.read_text())
                    return Module(read.names, read.loose, path)
            if place.is_dir():  # a folder without __init__ is a package, too
                return Module({}, [], place / "__init__.py")
        return None


def _data_beside(path: Path) -> set[str]:
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    return {p.name for p in beside if p.is_file() and p.suffix not in (".py", ".pyc")}
