"""Digests of what a result was computed from, and so whether it is stale.

A notebook depends on its own text, on the modules of ``memdlib`` that it imports
(directly or through others), on the locked packages and on data. The digest of a module
is taken of its syntax tree without docstrings, so that better wording does not send an
hour of experiments back to the start.
"""

import ast
import hashlib
import platform
import re
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

NUMERICAL_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")


def digest(*parts: str | bytes) -> str:
    """SHA-256 over the parts, each preceded by its length, as 16 hex digits."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(f"{len(data)}:".encode() + data)
    return total.hexdigest()[:16]


def imported_modules(code: str) -> set[str]:
    r"""Names of the ``memdlib`` modules that a piece of Python imports.

    Examples
    --------
    >>> sorted(imported_modules("import memdlib.moments.sums\nimport numpy"))
    ['memdlib.moments.sums']
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
        found |= {name for name in names if name.split(".")[0] == "memdlib"}
    return found


def module_file(package: Path, name: str) -> Path | None:
    """File of a module, given the folder of ``memdlib``; None if there is none."""
    place = package.joinpath(*name.split(".")[1:])
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path
    return None


def import_closure(package: Path, code: str) -> list[Path]:
    """Files of all the ``memdlib`` modules that ``code`` needs, sorted.

    The package's own ``__init__`` counts only for code that imports from it, so import
    from the modules (``from memdlib.families import Normal``) where it matters.
    """
    waiting, files = sorted(imported_modules(code)), set()
    while waiting:
        path = module_file(package, waiting.pop())
        if path is None or path in files:
            continue
        files.add(path)
        waiting += sorted(imported_modules(path.read_text()))
        files |= set(path.parent.glob("*.toml"))
    return sorted(files)


def code_digest(package: Path, code: str, without: Iterable[str] = ()) -> str:
    """Digest of every module that ``code`` imports, docstrings and comments aside.

    Modules named in ``without`` are left out.
    """
    parts, left_out = [], {module_file(package, name) for name in without}
    for path in import_closure(package, code):
        if path in left_out:
            continue
        text = path.read_text()
        parts += [str(path.relative_to(package)), _syntax(text, path.suffix)]
    return digest(*parts)


def _syntax(text: str, suffix: str) -> str:
    if suffix != ".py":
        return text
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            node.body = body[1:] or [ast.Pass()]
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def locked_versions(lock: str, names: Iterable[str]) -> dict[str, str]:
    """Versions that a requirements lock pins for some packages."""
    pins = dict(re.findall(r"(?m)^([A-Za-z0-9_.-]+)==([^\s;\\]+)", lock))
    return {name: pins[name] for name in names}


def installed_versions() -> dict[str, str]:
    """Versions of Python and the numerical packages in use now."""
    packages = {name: version(name) for name in NUMERICAL_PACKAGES}
    return {"python": platform.python_version(), "memdlib": version("memdlib")} | (
        packages
    )
