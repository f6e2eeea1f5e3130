"""A page of reference for each public object that ``book/api.md`` lists in a table."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from compendium.project import write_whole

FOLDER = "book/api"


def documented(text: str) -> list[str]:
    """Full names in the ``autosummary`` tables of a page, in their order."""
    tables = re.findall(r"(?m)^\.\. autosummary::\n((?:\n|   .*\n)*)", text)
    return [name for table in tables for name in re.findall(r"~(memdlib[\w.]+)", table)]


def find(name: str) -> object:
    """The object of a full name.

    Raises
    ------
    AttributeError
        If its module has no such object.
    """
    module, _, own = name.rpartition(".")
    return getattr(import_module(module), own)


def members(thing: type) -> Iterator[str]:
    """Public methods and properties of a class that this project wrote."""
    for base in thing.__mro__:
        if base.__module__.startswith("memdlib"):
            for name, value in vars(base).items():
                written = inspect.unwrap(value) if callable(value) else value
                source = getattr(written, "__module__", base.__module__)
                method = callable(value) or isinstance(
                    value, property | classmethod | staticmethod
                )
                described = getattr(thing, name).__doc__ or isinstance(value, property)
                if not name.startswith("_") and method and described:
                    if source.startswith("memdlib"):
                        yield name


def page(name: str) -> str:
    """The page of an object, as reStructuredText."""
    thing, own = find(name), name.rpartition(".")[2]
    lines = [own, "=" * len(own), ""]
    if inspect.isclass(thing):
        lines += [f".. autoclass:: {name}"]
        listed = ", ".join(dict.fromkeys(members(thing)))
        lines += [f"   :members: {listed}"] * bool(listed)
    else:
        lines += [f".. autofunction:: {name}"]
    return "\n".join(lines) + "\n"


def write_pages(project: Path) -> None:
    """Write all pages of reference anew, and remove those of objects that went."""
    folder = project / FOLDER
    names = documented((project / "book" / "api.md").read_text())
    wanted = {folder / f"{name}.rst": page(name) for name in names}
    for path in set(folder.glob("*.rst")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        if not path.is_file() or path.read_text() != text:
            write_whole(path, text)
