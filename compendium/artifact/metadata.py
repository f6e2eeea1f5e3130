"""One source of metadata: ``pyproject.toml``, and ``publication.toml`` for a publisher.

The files that archives and readers of citations look for are all made from these two,
and from the bibliography for the works that are reproduced.
"""

import json
import tomllib
from datetime import date
from pathlib import Path

import yaml
from pybtex.database import Person, parse_file

from compendium.build.pages import bibtex
from compendium.project import root, write_whole

_HEAD = "# Made by `make metadata` from pyproject.toml and publication.toml.\n"


def publication(project: Path) -> dict:
    """What a publisher has filled in.

    Raises
    ------
    ValueError
        If the day of the release is no day.
    """
    given = tomllib.loads((project / "publication.toml").read_text())
    try:
        released = given["released"] and date.fromisoformat(given["released"])
    except ValueError:
        raise ValueError(
            f"publication.toml: released is {given['released']!r}; give a day as "
            "2026-12-31, or leave it empty"
        ) from None
    return given | {"released": released}


def unknown(project: Path) -> list[str]:
    """Fields of ``publication.toml`` that are still empty."""
    return [name for name, value in publication(project).items() if not value]


def metadata_files(project: Path) -> dict[str, str]:
    """Text of each file of metadata, by name."""
    about = _citation(project)
    return {
        "CITATION.cff": _HEAD
        + yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=88),
        "CITATION.bib": bibtex(about) + "\n",
        "codemeta.json": _json(_codemeta(project, about)),
        ".zenodo.json": _json(_zenodo(project, about)),
    }


def _json(value) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _declared(project: Path) -> dict:
    return tomllib.loads((project / "pyproject.toml").read_text())


def _citation(project: Path) -> dict:
    """What CITATION.cff holds, version 1.2.0 of its format."""
    declared, given = _declared(project), publication(project)
    package, book = declared["project"], declared["tool"]["compendium"]
    sources = parse_file(project / "book" / "references.bib").entries
    about = {
        "cff-version": "1.2.0",
        "message": "If you use this compendium or memdlib, please cite it as below, "
        "and its sources.",
        "title": book["title"],
        "type": "software",
        "authors": given["authors"] or package["authors"],
        "version": package["version"],
        "date-released": given["released"],
        "doi": given["doi"],
        "repository-code": given["repository"],
        "license": package["license"],
        "keywords": package["keywords"],
        "references": [_reference(sources[key]) for key in book["reproduces"]],
    }
    return {key: value for key, value in about.items() if value}


def _reference(entry) -> dict:
    """A paper of the bibliography in the format of CITATION.cff."""
    first, last = entry.fields["pages"].split("--")
    return {
        "type": "conference-paper",
        "title": entry.fields["title"],
        "authors": [_person(person) for person in entry.persons["author"]],
        "year": int(entry.fields["year"]),
        "start": first,
        "end": last,
        "conference": {"name": entry.fields["booktitle"]},
    }


def _person(person: Person) -> dict[str, str]:
    return {
        "family-names": " ".join(person.prelast_names + person.last_names),
        "given-names": " ".join(person.first_names + person.middle_names),
    }


def _codemeta(project: Path, about: dict) -> dict:
    """The description in CodeMeta 3.0."""
    package = _declared(project)["project"]
    written = {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": about["title"],
        "description": package["description"],
        "version": about["version"],
        "license": f"https://spdx.org/licenses/{about['license']}",
        "author": [agent(author) for author in about["authors"]],
        "keywords": about["keywords"],
        "programmingLanguage": "Python",
        "runtimePlatform": f"Python {package['requires-python']}",
        "softwareRequirements": package["dependencies"],
        "datePublished": str(about.get("date-released", "")),
        "identifier": about.get("doi"),
        "codeRepository": about.get("repository-code"),
        "referencePublication": [
            {"@type": "ScholarlyArticle", "name": work["title"]}
            for work in about["references"]
        ],
    }
    return {key: value for key, value in written.items() if value}


def agent(author: dict) -> dict[str, str]:
    """An author as CodeMeta and RO-Crate describe one."""
    if "name" in author:
        return {"@type": "Organization", "name": author["name"]}
    found = {
        "@type": "Person",
        "@id": author.get("orcid"),
        "givenName": author["given-names"],
        "familyName": author["family-names"],
    }
    return {key: value for key, value in found.items() if value}


def _zenodo(project: Path, about: dict) -> dict:
    """What Zenodo reads from a repository that it archives."""
    written = {
        "title": about["title"],
        "upload_type": "software",
        "description": _declared(project)["project"]["description"],
        "version": about["version"],
        "creators": [_creator(author) for author in about["authors"]],
        "license": about["license"].lower(),
        "keywords": about["keywords"],
        "publication_date": str(about.get("date-released", "")),
        "doi": about.get("doi"),
    }
    return {key: value for key, value in written.items() if value}


def _creator(author: dict) -> dict[str, str]:
    if "name" in author:
        return {"name": author["name"]}
    name = f"{author['family-names']}, {author['given-names']}"
    orcid = author.get("orcid", "").rpartition("/")[2]
    return {"name": name} | ({"orcid": orcid} if orcid else {})


def main() -> int:
    """Write the files; return an exit status."""
    project = root()
    for name, text in metadata_files(project).items():
        write_whole(project / name, text)
    return 0
