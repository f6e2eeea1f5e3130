"""The lab records as an RO-Crate: an action for each run, what it used and made."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from rocrate.model import ContextEntity
from rocrate.rocrate import ROCrate

from compendium.book.pages import citation, last_change, last_commit
from compendium.execution.runs import Run
from compendium.ledger.results import read_result

METADATA = "ro-crate-metadata.json"
_SPDX = "https://spdx.org/licenses/"
_OF_DATA = "CC-BY-4.0"  # of results, tables and text; that of code is in CITATION.cff
_KINDS = {
    "": "text/plain",
    ".csv": "text/csv",
    ".ipynb": "application/x-ipynb+json",
    ".json": "application/json",
    ".md": "text/markdown",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}


def crate_metadata(
    project: Path, runs: Iterable[Run], files: Mapping[str, bytes]
) -> str:
    """The description of an export in RO-Crate 1.3.

    Parameters
    ----------
    project : Path
        Checkout.
    runs : iterable of Run
        Each with its result, lab record and notebook among the files.
    files : mapping of str to bytes
        All files of the export but this one.

    Returns
    -------
    str
        JSON-LD.
    """
    about = citation(project)
    crate = ROCrate(version="1.3")
    root = crate.root_dataset
    root["name"] = about["title"]
    root["description"] = "Lab records, results and claims of the compendium."
    root["version"] = about["version"]
    root["keywords"] = about["keywords"]
    day = datetime.fromtimestamp(int(last_change(project)), UTC).date()
    root["datePublished"] = str(about.get("date-released", day))
    if commit := last_commit(project):
        root["identifier"] = f"urn:git:commit:{commit}"
    root["license"] = [
        _entity(crate, _SPDX + name, **{"@type": "CreativeWork", "name": name})
        for name in (about["license"], _OF_DATA)
    ]
    root["author"] = [
        _entity(crate, author.get("orcid", f"#author-{number}"), **_agent(author))
        for number, author in enumerate(about["authors"])
    ]
    held = {
        name: crate.add_file(dest_path=name, properties=_file(name, content))
        for name, content in files.items()
    }
    root["mentions"] = [_action(crate, project, run, held) for run in runs]
    return json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False) + "\n"


def _agent(author: dict) -> dict[str, str]:
    """An author of CITATION.cff as RO-Crate describes one."""
    if "name" in author:
        return {"@type": "Organization", "name": author["name"]}
    names = {"givenName": author["given-names"], "familyName": author["family-names"]}
    return {"@type": "Person"} | names


def _file(name: str, content: bytes) -> dict[str, str]:
    return {
        "name": Path(name).name,
        "encodingFormat": _KINDS[Path(name).suffix],
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _entity(crate: ROCrate, key: str, **properties) -> ContextEntity:
    return crate.add(ContextEntity(crate, key, properties=properties))


def _action(crate: ROCrate, project: Path, run: Run, held: Mapping) -> ContextEntity:
    """One run: its notebook made its result and its lab record of data and parameters.

    How long and on what it ran stands in words; the commit that it was made with is the
    version of the action, if it is known that there were no changes beside it.
    """
    about = read_result(run.name, project)
    machine = about["machine"]
    # it is None where git did not say
    commit = about["commit"] if about["dirty"] is False else None

    def used(key: str, kind: str, **properties) -> ContextEntity:
        return _entity(crate, f"#{key}", **{"@type": kind}, **properties)

    objects = [
        used(f"data-{name}", "CreativeWork", name=name, sha256=sha)
        for name, sha in about["data"].items()
    ]
    for name, value in sorted(about["parameters"].items()):
        given = {"name": name, "value": json.dumps(value)}
        objects.append(used(f"{run.name}-{name}", "PropertyValue", **given))
    properties = {
        "name": run.title,
        "description": f"make experiments RUNS={run.name}: "
        f"{about['seconds']} seconds on {machine['processor']}, {machine['system']}, "
        f"Python {about['packages']['python']}",
        "actionStatus": "http://schema.org/CompletedActionStatus",
    }
    if commit:
        properties["version"] = f"urn:git:commit:{commit}"
    return crate.add_action(
        held[run.source()],
        identifier=f"#run-{run.name}",
        object=objects,
        result=[held[name] for name in run.made()],
        properties=properties,
    )
