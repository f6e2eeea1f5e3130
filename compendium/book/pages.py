"""What a page says of itself to machines, and which pages stand next to it."""

import html
import re
import textwrap
from pathlib import Path

import yaml

from compendium.project import GitError, ask_git, git

# Pages below these are looked up, not read one after the other.
_LOOKED_UP = ("book/lab-records", "book/api", "book/proofs")

_LONGEST = 300  # characters of a description


def citation(project: Path) -> dict:
    """What CITATION.cff says of the work."""
    return yaml.safe_load((project / "CITATION.cff").read_text("utf-8"))


def unknown(project: Path) -> list[str]:
    """Fields of CITATION.cff that a publisher knows and that are not there yet."""
    fields = ("date-released", "doi", "repository-code")
    return [name for name in fields if name not in citation(project)]


def last_commit(project: Path) -> str:
    """Hash of the last commit, or empty if there is neither history nor a mark."""
    return git(project, "rev-parse", "HEAD") or _mark(project, "commit")


def last_change(project: Path) -> str:
    """Seconds since 1970 of the last commit.

    Pages carry this date: it is true, and two builds of one state are equal. All files
    of a source distribution have it.

    Raises
    ------
    GitError
        If git gives no answer, and there is no mark of ``git archive`` and no file of a
        source distribution.
    """
    packed = project / "PKG-INFO"
    if packed.is_file():
        return str(int(packed.stat().st_mtime))
    try:
        return ask_git(project, "log", "-1", "--format=%ct")
    except GitError as reason:
        if seconds := _mark(project, "seconds"):
            return seconds
        raise GitError(
            f"{project} has no date: {reason}\nDo what git asks for, take a clone, or "
            "an archive that 'git archive' made"
        ) from reason


def _mark(project: Path, name: str) -> str:
    """What ``git archive`` has written into its file of marks; empty without it."""
    path = project / "compendium" / ".git_archival.txt"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = re.search(rf"(?m)^{name}: (\w+)$", text)
    return found[1] if found else ""


def description(doctree) -> str:
    """The first paragraph of a page that is plain text, cut after a whole word."""
    # readers of the notebooks, which ask for the citation alone, need no docutils
    from docutils import nodes

    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        own = isinstance(paragraph.parent, nodes.section)
        if own and not any(paragraph.findall(nodes.math)) and text[:6] != "Needs:":
            return textwrap.shorten(text, _LONGEST, placeholder=" …")
    return ""


def meta_tags(about: dict, title: str, summary: str, address: str | None) -> str:
    """Description, Open Graph and citation of a page, as tags of its head.

    Parameters
    ----------
    about : dict
        As :func:`citation` gives.
    title, summary : str
        Of the page.
    address : str or None
        Where the page is published; None if that is nowhere yet.
    """
    book, released = about["title"], about.get("date-released")
    tags = [
        ("description", summary),
        ("citation_title", title),
        ("citation_inbook_title", book),
        ("citation_publication_date", released and released.strftime("%Y/%m/%d")),
        *(("citation_author", full_name(who)) for who in about["authors"]),
        ("og:type", "article"),
        ("og:site_name", book),
        ("og:title", title),
        ("og:description", summary),
        ("og:url", address),
    ]
    return "".join(
        f'\n<meta {"property" if key.startswith("og:") else "name"}="{key}" '
        f'content="{html.escape(value)}"/>'
        for key, value in tags
        if value
    )


def full_name(author: dict) -> str:
    """Name of an author of CITATION.cff, a person or a group."""
    return author.get("name") or f"{author['given-names']} {author['family-names']}"


def bibtex(about: dict) -> str:
    """The entry for a bibliography, without a year before the release.

    Parameters
    ----------
    about : dict
        As :func:`citation` gives.

    Examples
    --------
    >>> from datetime import date
    >>> who = {"name": "the developers"}
    >>> print(bibtex({"title": "T", "authors": [who], "version": "1",
    ...               "date-released": date(2026, 1, 2)}))
    @software{memdlib,
      author  = {{the developers}},
      title   = {T},
      version = {1},
      year    = {2026}
    }
    """
    released = about.get("date-released")
    fields = {
        "author": " and ".join(
            f"{{{who['name']}}}" if "name" in who else full_name(who)
            for who in about["authors"]
        ),
        "title": about["title"],
        "version": about["version"],
        "year": released and released.year,
        "note": None if released else "unreleased",
        "doi": about.get("doi"),
        "url": about.get("repository-code"),
    }
    lines = [f"  {key:7} = {{{value}}}" for key, value in fields.items() if value]
    return "@software{memdlib,\n" + ",\n".join(lines) + "\n}"


def neighbours(relations: dict[str, list], page: str) -> tuple[str | None, str | None]:
    """Pages to read before and after a page.

    Parameters
    ----------
    relations : dict
        Parent, previous and next page of each page, as Sphinx collects them.
    page : str

    Returns
    -------
    previous, next : str or None
        None at the ends, and for pages that are looked up: they stand in a table.
    """

    def looked_up(one: str) -> bool:
        return (relations[one][0] or "").startswith(_LOOKED_UP)

    def walk(which: int) -> str | None:
        found = relations[page][which]
        while found and looked_up(found):
            found = relations[found][which]
        return found

    if page not in relations or looked_up(page):
        return None, None
    return walk(1), walk(2)
