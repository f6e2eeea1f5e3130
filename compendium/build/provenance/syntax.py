"""Modules and notebook cells as statements, and the names that each of them mentions.

A statement is written down as its syntax without docstrings, imports, and annotations
of functions and of the attributes of plain classes. The names in it that the module
imports or defines are left open, as chains such as ``np.linalg.solve``, for
:mod:`compendium.build.provenance.definitions` to follow. Each entry of a dictionary
called ``_REGISTRY`` is a statement by itself.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

PACKAGES = ("memdlib", "compendium")

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)
_IMPORTS = (ast.Import, ast.ImportFrom)
_OF_FIELDS = ("NamedTuple", "TypedDict")  # classes whose annotations do something
_REGISTRY = "_REGISTRY"


def imported_modules(code: str) -> set[str]:
    r"""Names of the project's modules that a piece of Python imports.

    Examples
    --------
    >>> sorted(imported_modules("import memdlib.moments\nimport numpy"))
    ['memdlib.moments']
    """
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {name for name in names if name.split(".")[0] in PACKAGES}
    return found


@dataclass(frozen=True)
class Target:
    """What an import binds a name to: a module, or an attribute in one."""

    module: str
    attributes: tuple[str, ...] = ()


@dataclass(eq=False)
class Statement:
    """Syntax in pieces: text, and chains of names that are still to be followed."""

    pieces: list[str | tuple[str, ...]] = field(default_factory=list)
    strings: set[str] = field(default_factory=set)
    imports: dict[str, list[Target]] = field(default_factory=dict)
    entries: dict[str, "Statement"] = field(default_factory=dict)


@dataclass(eq=False)
class Module:
    """What each name in a module may stand for, and what runs on import."""

    names: dict[str, list[Target | Statement]]
    loose: list[Statement]
    path: Path | None = None


@cache
def read_module(text: str) -> Module:
    """Names and statements of a module, given its text."""
    body = [
        inner
        for node in ast.parse(text).body
        if not _is_constant(node)
        for inner in (node.body if _is_for_type_checkers(node) else [node])
    ]
    imports = bound_by_imports(node for node in body if isinstance(node, _IMPORTS))
    others = [node for node in body if not isinstance(node, _IMPORTS)]
    names: dict[str, list[Target | Statement]] = {
        name: list(targets) for name, targets in imports.items()
    }
    bound, inner = [], [bound_by_imports([node]) for node in others]
    for node, local in zip(others, inner, strict=True):
        bound.append(_bound([node]))
        if not isinstance(node, _DEFINITIONS):  # in a try block, say
            for name, targets in local.items():
                names.setdefault(name, []).extend(targets)
    known, loose = frozenset(names).union(*bound), []
    for node, own, local in zip(others, bound, inner, strict=True):
        names_here = known | set(local)
        entries = _entries(node) if own == {_REGISTRY} else {}
        if entries:
            statement = Statement([_REGISTRY], imports=local)
            for key, value in entries.items():
                statement.entries[key] = statement_of([value], {}, names_here)
        else:
            statement = statement_of([node], local, names_here)
        for name in own:
            names.setdefault(name, []).append(statement)
        if not own or not isinstance(node, _DEFINITIONS + _ASSIGNMENTS):
            loose.append(statement)
    names.pop("__all__", None)
    return Module(names, loose)


def _entries(node: ast.stmt) -> dict[str, ast.expr]:
    """Entries of a dictionary display whose keys are strings, if a node assigns one."""
    value = node.value if isinstance(node, _ASSIGNMENTS) else None
    if not isinstance(value, ast.Dict):
        return {}
    keys = [getattr(key, "value", None) for key in value.keys]
    if not all(isinstance(key, str) for key in keys):
        return {}
    return dict(zip(keys, value.values, strict=True))


def bound_by_imports(nodes: Iterable[ast.AST]) -> dict[str, list[Target]]:
    """Name to targets, for all imports anywhere in some nodes."""
    found: dict[str, list[Target]] = {}
    for top in nodes:
        for node in ast.walk(top):
            for alias in node.names if isinstance(node, _IMPORTS) else ():
                if isinstance(node, ast.ImportFrom):
                    target = Target(node.module or "", (alias.name,))
                    name = alias.asname or alias.name
                elif alias.asname:
                    name, target = alias.asname, Target(alias.name)
                else:
                    name = alias.name.split(".")[0]
                    target = Target(name)
                    # no name in code, but it says that the module is run
                    found.setdefault(alias.name, []).append(Target(alias.name))
                found.setdefault(name, []).append(target)
    return found


def _bound(body: Iterable[ast.AST]) -> set[str]:
    """Names that some statements bind in their own scope, imports aside."""
    found, elsewhere, waiting = set(), set(), list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, _DEFINITIONS):
            found.add(node.name)
        elif isinstance(node, ast.Global):
            elsewhere |= set(node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)
    return found - elsewhere


def _local(function: ast.AST) -> set[str]:
    """Names that belong to a function, so that they hide those of its module."""
    given = function.args
    found = {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    found |= {a.arg for a in (given.vararg, given.kwarg) if a}
    if not isinstance(function, ast.Lambda):
        found |= _bound(function.body)
    return found - set(bound_by_imports([function]))


def statement_of(
    nodes: list[ast.stmt], imports: dict[str, list[Target]], known: frozenset[str]
) -> Statement:
    """Some nodes as one statement.

    Parameters
    ----------
    nodes : list of stmt
    imports : dict
        What the imports in them bind.
    known : frozenset of str
        Names that stand for an import or a definition, unless a function hides them.

    Returns
    -------
    Statement
    """
    statement = Statement(imports=imports)
    for piece in _pieces(nodes, known):
        if isinstance(piece, ast.Constant):
            if isinstance(piece.value, str):
                statement.strings.add(piece.value)
            piece = repr(piece.value)
        statement.pieces.append(piece)
    return statement


def _pieces(node, known: frozenset[str]) -> Iterator[str | tuple | ast.Constant]:
    """Syntax of a node, the same in every version of Python: empty fields left out."""
    if isinstance(node, list):
        yield "["
        for item in node:
            if not isinstance(item, _IMPORTS):
                yield from _pieces(item, known)
                yield ","
        yield "]"
    elif not isinstance(node, ast.AST):
        yield repr(node)
    elif isinstance(node, ast.Constant):
        yield node
    elif (chain := _chain(node)) and chain[0] in known:
        yield chain
    else:
        yield f"{type(node).__name__}("
        inner = known - _local(node) if isinstance(node, _FUNCTIONS) else known
        for name, value in ast.iter_fields(node):
            if name in ("ctx", "returns", "type_comment"):
                continue
            if name == "annotation" and isinstance(node, ast.arg):
                continue
            if name == "body" and isinstance(node, _DEFINITIONS):
                value = [item for item in value if not _is_constant(item)]
                value = _without_types(value) if _is_plain_class(node) else value
            if value is not None and value != []:
                yield f"{name}="
                yield from _pieces(value, inner if name == "body" else known)
                yield ";"
        yield ")"


def _chain(node: ast.AST) -> tuple[str, ...]:
    """Names in ``a.b.c``; empty for anything else."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if isinstance(node, ast.Name) else ()


def _is_plain_class(node: ast.AST) -> bool:
    """Whether nothing makes fields of what the class annotates, as dataclasses do."""
    if not isinstance(node, ast.ClassDef) or node.decorator_list or node.keywords:
        return False
    return not any("".join(_chain(base)[-1:]) in _OF_FIELDS for base in node.bases)


def _without_types(body: list[ast.stmt]) -> list[ast.stmt]:
    """Body of a plain class where attributes are assigned, and none only declared.

    ``x: int`` goes and ``x: int = 3`` is ``x = 3``; what says ``ClassVar`` stays.
    """
    found = []
    for item in body:
        typed = isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        if not typed or "ClassVar" in ast.unparse(item.annotation):
            found.append(item)
        elif item.value:
            found.append(ast.Assign([item.target], item.value))
    return found


def _is_for_type_checkers(node: ast.AST) -> bool:
    """Whether it holds the imports of names that are made on first use."""
    test = getattr(node, "test", None)
    return isinstance(node, ast.If) and getattr(test, "id", "") == "TYPE_CHECKING"


def _is_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
