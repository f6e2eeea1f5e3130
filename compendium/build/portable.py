"""Which code of a chapter runs where only public packages are installed.

A chapter also calls the book's own package: to show figures and tables, to make numbers
known to the prose, and to read results. A plain notebook goes without these calls, and
without the cells that need more of that package than such a call.
"""

import ast
import symtable
import sys
from collections.abc import Collection, Sequence
from functools import cache

PUBLIC = {"memdlib", "numpy", "scipy", "sklearn", "pandas", "matplotlib"}
PUBLIC |= {"mpmath", "sympy", "IPython", *sys.stdlib_module_names}


def portable_code(
    sources: Sequence[str], given: Collection[str] = ()
) -> list[str | None]:
    r"""Code of each cell as far as it needs public packages only.

    Parameters
    ----------
    sources : sequence of str
        Code cells of a notebook, in their order.
    given : collection of str, default=()
        Private functions that the reader is given, by name.

    Returns
    -------
    list of str or None
        Code without imports from private packages and without statements that only
        call what comes from there; a check keeps its bound as an assertion. None for a
        cell that needs more of them, or a name that such a cell defines.

    Examples
    --------
    >>> cells = ["from compendium import show\nx = 1", "show(x)\nprint(x)", "y = show"]
    >>> portable_code(cells)
    ['x = 1', 'print(x)', None]
    """
    private: set[str] = set()  # names bound to what only the book's package gives
    modules: set[str] = set()  # changing these is not seen as changing a value
    found = []
    for source in sources:
        code = _pruned(source, private, modules, set(given))
        found.append(code)
        tree = ast.parse(source)
        if code is None:
            private |= _bound(tree) | (_changed(tree) - modules)
        else:
            private -= _bound(ast.parse(code))
    return found


def needed_cells(codes: Sequence[str | None], wanted: Sequence[bool]) -> list[bool]:
    """Which cells have to stay so that the wanted ones run.

    Parameters
    ----------
    codes : sequence of str or None
        As :func:`portable_code` returns them.
    wanted : sequence of bool
        Whether a cell is to be there.

    Returns
    -------
    list of bool

    Examples
    --------
    >>> needed_cells(["x = 1", "z = 2", "print(x)"], [False, False, True])
    [True, False, True]
    """
    needed: set[str] = set()
    kept = []
    for code, shown in reversed(list(zip(codes, wanted, strict=True))):
        tree = ast.parse(code or "")
        keep = bool(code) and (shown or bool((_bound(tree) | _changed(tree)) & needed))
        if keep:
            needed |= _loaded(tree)
        kept.append(keep)
    return kept[::-1]


def imported(tree: ast.AST) -> list[str]:
    r"""Modules that some code imports.

    Examples
    --------
    >>> imported(ast.parse("import a.b, c\nfrom d import e"))
    ['a.b', 'c', 'd']
    """
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
    return found


def _pruned(
    source: str, private: set[str], modules: set[str], given: set[str]
) -> str | None:
    """Code without what only presents; None if more of it is private."""
    lines = source.splitlines()
    for node in ast.parse(source).body:
        bound = _bound(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules |= bound
            if all(module.split(".")[0] in PUBLIC for module in imported(node)):
                private -= bound
                continue
            private |= bound - given
            replacement = ""
        elif not _loaded(node) & private:
            private -= bound
            continue
        elif _presents(node, private):
            replacement = _assertion(node.value)
        else:
            return None
        first, last = node.lineno - 1, node.end_lineno
        lines[first:last] = [replacement] + [""] * (last - first - 1)
    return source if lines == source.splitlines() else _tidy(lines, source)


def _tidy(lines: list[str], source: str) -> str:
    """Code without the gaps that dropped statements left; comments on them go too."""
    before, kept = source.splitlines(), []
    for number, line in enumerate(lines):
        gap = not line.strip()
        if gap and before[number].strip():
            while kept and kept[-1].lstrip().startswith("#"):
                kept.pop()
        elif not gap or (kept and kept[-1].strip()):
            kept.append(line)
    return "\n".join(kept).strip("\n")


def _presents(node: ast.stmt, private: set[str]) -> bool:
    """Whether a statement does nothing but call a private function."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id in private
    )


def _assertion(call: ast.Call) -> str:
    """What a check asserts: that its error is at most the bound that it gives."""
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    if {"error", "within"} <= set(given):
        return f"assert 0 <= {given['error']} <= {given['within']}"
    return ""


def _loaded(tree: ast.AST) -> set[str]:
    """Names that are read from outside the functions that read them."""
    return {
        symbol.get_name()
        for table, depth in _scopes(tree)
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (depth == 0 or symbol.is_global())
    }


def _bound(tree: ast.AST) -> set[str]:
    """Names that statements bind, but for those inside functions."""
    (table, _), *_ = _scopes(tree)
    return {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_assigned() or symbol.is_imported()
    }


def _scopes(tree: ast.AST) -> list[tuple[symtable.SymbolTable, int]]:
    """The scope of some statements and those inside it, with their depths."""
    return _scopes_of(ast.unparse(tree))


@cache
def _scopes_of(code: str) -> list[tuple[symtable.SymbolTable, int]]:
    code = ast.unparse(_Lazily().visit(ast.parse(code)))
    found = [(symtable.symtable(code, "cell", "exec"), 0)]
    for table, depth in found:
        found += [(inner, depth + 1) for inner in table.get_children()]
    return found


def _changed(tree: ast.AST) -> set[str]:
    """Names whose values may change: by a method, or by setting a part of them."""
    found = set()
    for node in ast.walk(tree):
        part = node.value.func if _is_call(node) else node
        stored = isinstance(getattr(part, "ctx", None), ast.Store)
        if isinstance(part, ast.Attribute | ast.Subscript) and (
            stored or _is_call(node)
        ):
            while isinstance(part, ast.Attribute | ast.Subscript):
                part = part.value
            if isinstance(part, ast.Name):
                found.add(part.id)
    return found


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


class _Lazily(ast.NodeTransformer):
    """Makes generators of comprehensions: from 3.12 on only these have a scope."""

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(node.elt, node.generators))

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        pair = ast.Tuple([node.key, node.value], ast.Load())
        return self.generic_visit(ast.GeneratorExp(pair, node.generators))
