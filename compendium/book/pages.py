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


def source_identifier(project: Path) -> str:
    """Software Heritage identifier of the sources at the last commit; empty without it.

    It is the hash that git has for the folder, so that it needs no archive: whoever has
    the files can compute it, and an archive that has them finds them by it.
    """
    tree = git(project, "rev-parse", "HEAD^{tree}") or _mark(project, "tree")
    return f"swh:1:dir:{tree}" if tree else ""


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
    match = re.search(rf"(?m)^{name}: (\w+)$", text)
    return match[1] if match else ""


def description(doctree) -> str:
    """The first paragraph of a page that is plain text, cut after a whole word."""
    # readers of the notebooks, which ask for the citation alone, need no docutils
    from docutils import nodes

    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        in_section = isinstance(paragraph.parent, nodes.section)
        has_math = any(paragraph.findall(nodes.math))
        if in_section and not has_math and text[:6] != "Needs:":
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
    book = about["title"]
    released = about.get("date-released")
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
    fields = {
        "author": _authors(about),
        "title": about["title"],
        "version": about["version"],
        **_publication(about),
    }
    return _entry("software", "memdlib", fields)


def page_bibtex(
    about: dict, page: str, title: str, number: str, identifier: str
) -> str:
    r"""The entry for a bibliography of one page of the book.

    Parameters
    ----------
    about : dict
        As :func:`citation` gives.
    page : str
        As ``_toc.yml`` names it.
    title : str
    number : str
        Of the chapter; empty for a page that has none.
    identifier : str
        Of the sources, as :func:`source_identifier` gives.

    Examples
    --------
    >>> about = {"title": "T", "authors": [{"name": "the developers"}], "version": "1"}
    >>> print(page_bibtex(about, "book/one", "A & B", "A", "swh:1:dir:0"))
    @incollection{memdlib-one,
      author    = {{the developers}},
      title     = {{A \& B}},
      chapter   = {A},
      booktitle = {T},
      edition   = {1},
      note      = {unreleased},
      swhid     = {swh:1:dir:0}
    }
    """
    fields = {
        "author": _authors(about),
        # styles of bibliographies leave capitals in braces as they are
        "title": f"{{{_without_commands(title)}}}",
        "chapter": number,
        "booktitle": about["title"],
        "edition": about["version"],
        **_publication(about),
        "swhid": identifier,
    }
    # a chapter and a lab record may have files of one name, in other folders
    name = page.removeprefix("book/").removeprefix("notebooks/").replace("/", "-")
    return _entry("incollection", f"memdlib-{name}", fields)


def _authors(about: dict) -> str:
    """Authors as BibTeX joins them; the name of a group is in braces, as one word."""
    return " and ".join(
        f"{{{_without_commands(author['name'])}}}"
        if "name" in author
        else full_name(author)
        for author in about["authors"]
    )


def _publication(about: dict) -> dict:
    """When and where the work was published, as far as CITATION.cff says it."""
    released = about.get("date-released")
    return {
        "year": released and released.year,
        "note": None if released else "unreleased",
        "doi": about.get("doi"),
        "url": about.get("repository-code"),
    }


def _without_commands(text: str) -> str:
    """Text in which LaTeX reads every character as itself."""
    return re.sub(r"([&%$#_])", r"\\\1", text)


def _entry(kind: str, key: str, fields: dict) -> str:
    """An entry of BibTeX; fields without a value are left out."""
    given = {name: value for name, value in fields.items() if value}
    width = max(map(len, given))
    lines = [f"  {name:{width}} = {{{value}}}" for name, value in given.items()]
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}"


def citation_fold(entry: str, what: str) -> str:
    """The entry of a page, folded to one line, for its end."""
    return (
        f'\n<details class="folded citing"><summary>Cite this {what}</summary>'
        f'<div class="highlight"><pre>{html.escape(entry)}</pre></div></details>'
    )


def edition_line(about: dict, identifier: str) -> str:
    """What the first page says of the edition as a whole, below how to cite it."""
    return (
        f'\n<p class="edition">Edition {about["version"]}. Its sources have the '
        f"Software Heritage identifier <code>{identifier}</code>, which ends with what "
        "<code>git rev-parse HEAD^{tree}</code> prints.</p>"
    )


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
        neighbour = relations[page][which]
        while neighbour and looked_up(neighbour):
            neighbour = relations[neighbour][which]
        return neighbour

    if page not in relations or looked_up(page):
        return None, None
    return walk(1), walk(2)
