"""Pages of reference: one for each section of ``book/api.md``.

It describes the public objects that the tables of the section list.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from pydoc import locate

from compendium.project import write_whole

FOLDER = "book/api"


def documented(text: str) -> list[str]:
    """Full names in the ``autosummary`` tables of a page, in their order."""
    tables = re.findall(r"(?m)^\.\. autosummary::\n((?:\n|   .*\n)*)", text)
    return [name for table in tables for name in re.findall(r"~(memdlib[\w.]+)", table)]


def members(thing: type) -> Iterator[str]:
    """Public methods and properties of a class that this project wrote."""
    for name in dir(thing):
        value = inspect.getattr_static(thing, name)
        written = getattr(value, "fget", getattr(value, "__func__", value))
        module = str(getattr(inspect.unwrap(written), "__module__", ""))
        described = isinstance(value, property) or getattr(thing, name).__doc__
        ours = callable(written) and module.startswith("memdlib")
        if ours and described and not name.startswith("_"):
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
        thing = locate(name)
        listed = ", ".join(members(thing)) if inspect.isclass(thing) else ""
        kind = "class" if inspect.isclass(thing) else "function"
        lines += ["", f".. auto{kind}:: {name}"]
        lines += [f"   :members: {listed}"] * bool(listed)
    return "\n".join(lines) + "\n"


def write_pages(project: Path) -> None:
    """Write all pages of reference anew, and remove those of sections that went."""
    pages = {}
    for heading, names in sections((project / "book" / "api.md").read_text()).items():
        name = heading.lower().replace(" ", "-")
        pages[project / FOLDER / f"{name}.rst"] = page(heading, names)
    for path in (project / FOLDER).glob("*.rst"):
        if path not in pages:
            path.unlink()
    for path, text in pages.items():
        write_whole(path, text)
