"""A second computation shares no code with the witness: the gate that sees to it.

What counts as code are functions and classes of memdlib, methods of its families, and
functions that a chapter defines; those that a helper of the chapter or a variable of an
earlier cell brings with it count too. A cell may *compare* its own result with what the
statement names under *In code*, and with results of the witness: calls in an assertion,
calls whose value goes nowhere else, values of a loop over ``results.items()``. All that
is shared beyond this is reported. What is free is listed here, with the reason, and
nowhere else.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from compendium.build.cells import cells_of
from compendium.build.statements import (
    Statement,
    chapters_with_statements,
    statements_of,
)
from memdlib.families import Family

FREE = {
    "memdlib.datasets.": "both computations are about the same data",
    "random_": "draws the cases to be tried; a chapter names such a function so",
}
# A family is a name for moments on a support; what it computes are these.
FAMILY_METHODS = frozenset(
    {"entropy", "jeffreys", "jensen_shannon", "js_gm", "kl"}
    | {"log_density", "log_normaliser", "natural"}
)
_REPORTS = frozenset({"checked", "print", "say", "show", "show_table"})
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SIMPLE = (ast.Assert, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)


@dataclass(frozen=True)
class Use:
    """A function that a cell uses.

    Parameters
    ----------
    name : str
        Full name in memdlib, ``Family.method``, or the bare name of a function of the
        chapter.
    line : int
        Line of the source where the cell, or its helper, mentions it.
    compared : bool
        Whether its value is only compared.
    """

    name: str
    line: int
    compared: bool


def lint_independence(project: Path) -> list[str]:
    """Functions that witness and second computation of a statement share.

    Parameters
    ----------
    project : Path

    Returns
    -------
    list of str
        One line for each, with the place of the second use.
    """
    problems = []
    for path in chapters_with_statements(project):
        place = str(path.relative_to(project))
        problems += shared_code(place, path.read_text(), statements_of(path))
    return problems


def shared_code(place: str, text: str, statements: Iterable[Statement]) -> list[str]:
    """Functions that two cells of one chapter share.

    Parameters
    ----------
    place : str
        How messages name the chapter.
    text : str
        MyST source.
    statements : iterable of Statement
        Those of the chapter.

    Returns
    -------
    list of str
    """
    chapter, problems = _Chapter(text), []
    for statement in statements:
        if None in (statement.witness, statement.second):
            continue  # another gate says so
        named = _named(statement.functions)
        first = {use.name: use for use in chapter.uses(statement.witness)}
        for use in chapter.uses(statement.second):
            free = use.compared and use.name in named
            if use.name in first and not free:
                problems.append(
                    f"{place}:{use.line}: second-{statement.label} uses {use.name}, "
                    f"as the witness does (line {first[use.name].line})"
                )
    return list(dict.fromkeys(problems))


class _Chapter:
    """Cells of a chapter as syntax, and what binds each name of theirs."""

    def __init__(self, text: str):
        self.trees = [cell.tree() for cell in cells_of(text)]
        # name to (cell, syntax that binds it), in the order of the text
        self.bound: dict[str, list[tuple[int, ast.AST]]] = {}
        self.imported: dict[str, list[tuple[str, ...]]] = {}
        for number, tree in enumerate(self.trees):
            for name, chain in _imported(tree):
                self.imported.setdefault(name, []).append(chain)
            for name, node in _bindings(tree):
                self.bound.setdefault(name, []).append((number, node))

    def uses(self, number: int) -> list[Use]:
        """What the cell of this number uses, directly or through the chapter."""
        found: dict[tuple[str, bool], Use] = {}
        for part, compared in _parts(self.trees[number]):
            for name, line in self._names(part, number, compared, set()):
                found.setdefault((name, compared), Use(name, line, compared))
        return list(found.values())

    def _names(self, part, number, result, seen) -> Iterator[tuple[str, int]]:
        for base, rest, line in _chains(part, frozenset()):
            targets = self.imported.get(base, [])
            if targets and "" not in rest:
                names = [_own_name(".".join((*target, *rest))) for target in targets]
            elif not targets or any(target[0] == "memdlib" for target in targets):
                method = rest[-1] if rest else ""
                names = [f"Family.{method}"] if method in FAMILY_METHODS else []
            else:
                names = []  # an object of another package
            for name in names:
                if name.startswith(("memdlib.", "Family.")) and not _free(name):
                    yield name, line
            if not targets and base in self.bound:
                yield from self._bound_name(base, number, line, result, seen)

    def _bound_name(self, base, number, line, result, seen):
        before = [(c, n) for c, n in self.bound[base] if c <= number]
        if not before or _free(base):
            return
        cell = before[-1][0]
        nodes = [node for c, node in before if c == cell]
        if isinstance(nodes[-1], ast.FunctionDef | ast.ClassDef | ast.Lambda):
            yield base, line
        elif cell == number or result:
            return  # its own syntax is looked at, or it is a result to compare with
        for node in nodes:
            if id(node) not in seen:
                seen.add(id(node))
                inner = self._names(node, cell, result, seen)
                yield from ((name, line) for name, _ in inner)


def _imported(tree: ast.AST) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names that imports bind, each with the names that lead to what it stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                chain = (*(node.module or "").split("."), alias.name)
                yield alias.asname or alias.name, chain
        elif isinstance(node, ast.Import):
            for alias in node.names:
                chain = tuple(alias.name.split("."))
                yield alias.asname or chain[0], chain if alias.asname else chain[:1]


def _bindings(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Names that a cell binds, each with what it is bound to."""
    waiting = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
            continue
        value = getattr(node, "iter" if isinstance(node, ast.For) else "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For):
            targets = getattr(node, "targets", None) or [node.target]
            for name in _stored(targets):
                yield name, value
        waiting += reversed([n for n in ast.iter_child_nodes(node) if _is_block(n)])


def _is_block(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt)


def _stored(targets: Iterable[ast.AST]) -> set[str]:
    """Names that get a value, or a part of one: ``b`` in ``b[i] = 1``."""
    found, waiting = set(), list(targets)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
            waiting.append(node.value)
        elif isinstance(node, ast.Tuple | ast.List):
            waiting += node.elts
    return found


def _parts(tree: ast.Module) -> list[tuple[ast.AST, bool]]:
    """Syntax of a cell in pieces, each with whether it only compares or reports."""
    simple, other, loops, waiting = [], [], [], list(tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.For) and _results(node):
            loops.append(node)
            waiting += node.body
        elif isinstance(node, _SIMPLE):
            simple.append(node)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            other.append(node)
        else:
            waiting += [n for n in ast.iter_child_nodes(node) if _is_block(n)]
            other += [n for n in ast.iter_child_nodes(node) if not _is_block(n)]
    compared = {id(n) for n in simple if isinstance(n, ast.Assert) or _reports(n)}
    computing = [n for n in (*simple, *other) if id(n) not in compared]
    # what only grows by itself, as the largest error so far, needs nothing more
    needed = set().union(*(_read(n) - _grown(n) for n in computing))
    # a value that nothing but assertions and reports read is compared, too
    compared |= {id(n) for n in simple if _targets(n) and not _targets(n) & needed}
    headers = [(loop.iter, not _results(loop) & needed) for loop in loops]
    return headers + [(n, id(n) in compared) for n in (*simple, *other)]


def _results(loop: ast.For) -> set[str]:
    """Names of the values in a loop over ``results.items()``, keys aside."""
    called, target = getattr(loop.iter, "func", None), loop.target
    pairs = isinstance(called, ast.Attribute) and called.attr == "items"
    return (
        _stored(target.elts[1:]) if pairs and isinstance(target, ast.Tuple) else set()
    )


def _targets(node: ast.AST) -> set[str]:
    """Names that a simple statement gives a value, or a longer list."""
    if isinstance(node, ast.Assert):
        return set()
    if isinstance(node, ast.Expr):
        return _stored([node.value.func.value]) if _extends(node) else set()
    return _stored(getattr(node, "targets", None) or [node.target])


def _grown(node: ast.AST) -> set[str]:
    """Names to which a simple statement adds: lists, and ``e = max(e, new)``."""
    grows = isinstance(node, ast.Assign | ast.Expr)
    return _targets(node) if grows else set()


def _extends(node: ast.Expr) -> bool:
    called = getattr(node.value, "func", None)
    named = isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name)
    return named and called.attr in ("append", "extend")


def _reports(node: ast.stmt) -> bool:
    called = getattr(getattr(node, "value", None), "func", None)
    named = isinstance(node, ast.Expr) and isinstance(called, ast.Name)
    return named and called.id in _REPORTS


def _read(node: ast.AST) -> set[str]:
    """Names that a piece of syntax reads."""
    found = {
        n.id
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }
    return found | (_targets(node) if isinstance(node, ast.AugAssign) else set())


def _chains(node, hidden: frozenset[str]) -> Iterator[tuple[str, list[str], int]]:
    """First name, the attributes read from it (empty for a call between), and line."""
    if isinstance(node, ast.Attribute | ast.Name):
        names, base = [], node
        while isinstance(base, ast.Attribute | ast.Call | ast.Subscript):
            attribute = isinstance(base, ast.Attribute)
            names.insert(0, base.attr if attribute else "")
            base = base.func if isinstance(base, ast.Call) else base.value
        first = base.id if isinstance(base, ast.Name) else ""
        if isinstance(node.ctx, ast.Load):
            yield "" if first in hidden else first, names, node.lineno
        if isinstance(node, ast.Attribute) and not _is_chain(node):
            yield from _chains(node.value, hidden)
        return
    if isinstance(node, _FUNCTIONS):
        given = node.args
        own = {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
        own |= {a.arg for a in (given.vararg, given.kwarg) if a}
        if isinstance(node, ast.FunctionDef):
            own |= {name for name, _ in _bindings(ast.Module(node.body, []))}
        hidden = hidden | own
    elif isinstance(node, _COMPREHENSIONS):
        hidden = hidden | _stored(part.target for part in node.generators)
    for child in ast.iter_child_nodes(node):
        yield from _chains(child, hidden)


def _is_chain(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _own_name(name: str) -> str:
    """How a thing is called where it is defined; methods by their class."""
    parts = name.split(".")
    if parts[0] != "memdlib":
        return name
    thing: object = import_module("memdlib")
    for place, part in enumerate(parts[1:], start=1):
        if isinstance(thing, type):
            family = issubclass(thing, Family) and part in FAMILY_METHODS
            return f"Family.{part}" if family else _full(thing)
        try:
            if isinstance(thing, ModuleType) and not hasattr(thing, part):
                import_module(".".join(parts[: place + 1]))
            thing = getattr(thing, part)
        except (ImportError, AttributeError):
            return name  # the chapter will fail when it is run
    return _full(thing)


def _full(thing: object) -> str:
    """Where a function or a class is defined; a family is a mere name."""
    if isinstance(thing, type) and issubclass(thing, Family):
        return "Family"
    return f"{thing.__module__}.{thing.__qualname__}" if callable(thing) else ""


def _named(functions: Iterable[str]) -> set[str]:
    """What a statement names; a family stands for all that it computes."""
    found = {_own_name(name) for name in functions}
    methods = {f"Family.{method}" for method in FAMILY_METHODS}
    return found | methods if "Family" in found else found


def _free(name: str) -> bool:
    return name.startswith(tuple(FREE))
