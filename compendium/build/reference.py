"""Pages of reference: one for each section of ``book/api.md``.

It describes the public objects that the tables of the section list.
"""

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


def sections(text: str) -> dict[str, list[str]]:
    """Full names in the tables of each section of a page, by heading."""
    parts = re.split(r"(?m)^## (.+)\n", text)
    found = zip(parts[1::2], map(documented, parts[2::2]), strict=True)
    return {heading: names for heading, names in found if names}


def page(heading: str, names: list[str]) -> str:
    """The page of a section, as reStructuredText."""
    lines = [heading, "=" * len(heading)]
    for name in names:
        thing = find(name)
        if inspect.isclass(thing):
            lines += ["", f".. autoclass:: {name}"]
            listed = ", ".join(dict.fromkeys(members(thing)))
            lines += [f"   :members: {listed}"] * bool(listed)
        else:
            lines += ["", f".. autofunction:: {name}"]
    return "\n".join(lines) + "\n"


def write_pages(project: Path) -> None:
    """Write all pages of reference anew, and remove those of sections that went."""
    folder = project / FOLDER
    found = sections((project / "book" / "api.md").read_text())
    wanted = {
        folder / f"{heading.lower().replace(' ', '-')}.rst": page(heading, names)
        for heading, names in found.items()
    }
    for path in set(folder.glob("*.rst")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        if not path.is_file() or path.read_text() != text:
            write_whole(path, text)
