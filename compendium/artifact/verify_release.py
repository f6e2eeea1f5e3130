"""Check a release of the compendium with Python's standard library alone.

``python3 verify_release.py ARCHIVE`` prints a table of what was checked. It runs
nothing of what is in the archive and writes nothing.
"""

import base64
import csv
import hashlib
import io
import json
import re
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from email.parser import BytesParser
from pathlib import Path, PurePosixPath

SUMS = "SHA256SUMS"
CRATE = "ro-crate-metadata.json"
Files = dict[str, bytes]
# Each check yields, for everything that it looked at, a problem or None.
Looks = Iterator[str | None]


def sha256(data: bytes) -> str:
    """Hash of some bytes, as hex digits."""
    return hashlib.sha256(data).hexdigest()


def read_archive(path: Path) -> tuple[Files, list[str | None]]:
    """Files of an archive by name in its folder, and what its entries look like."""
    files: Files = {}
    looks: list[str | None] = []
    with tarfile.open(path, "r:gz") as archive:
        entries = archive.getmembers()
        names = [entry.name for entry in entries]
        looks.append(None if names == sorted(set(names)) else "names are not sorted")
        times = {entry.mtime for entry in entries}
        looks.append(None if len(times) == 1 else "files have several times")
        folders = {PurePosixPath(name).parts[0] for name in names}
        looks.append(None if len(folders) == 1 else "files in several folders")
        for entry in entries:
            plain = entry.isreg() and not entry.name.startswith("/")
            owned = entry.uid or entry.gid or entry.uname or entry.gname
            if not plain or ".." in PurePosixPath(entry.name).parts:
                looks.append(f"{entry.name}: not a plain file in the folder")
                continue
            looks.append(f"{entry.name}: belongs to somebody" if owned else None)
            inside = str(PurePosixPath(*PurePosixPath(entry.name).parts[1:]))
            files[inside] = archive.extractfile(entry).read()
    return files, looks


def check_sums(files: Files) -> Looks:
    """Every file has the hash that is listed, and every file is listed."""
    lines = files.get(SUMS, b"").decode().splitlines()
    listed = {name: sha for sha, name in (line.split("  ", 1) for line in lines)}
    for name in sorted({*listed, *files} - {SUMS}):
        if name not in files:
            yield f"{name}: listed, but not there"
        elif name not in listed:
            yield f"{name}: not listed"
        else:
            same = sha256(files[name]) == listed[name]
            yield None if same else f"{name}: another hash"


def check_versions(files: Files) -> Looks:
    """All metadata and both distributions have one version."""
    version = tomllib.loads(files["pyproject.toml"].decode())["project"]["version"]
    wheel, source = _distribution(files, ".whl"), _distribution(files, ".tar.gz")
    with zipfile.ZipFile(io.BytesIO(wheel)) as packed:
        (about,) = (n for n in packed.namelist() if n.endswith("/METADATA"))
        in_wheel = packed.read(about)
    with tarfile.open(fileobj=io.BytesIO(source)) as packed:
        (about,) = (
            n for n in packed.getnames() if n.count("/") == 1 and "PKG-INFO" in n
        )
        in_source = packed.extractfile(about).read()
    cited = re.search(r"(?m)^version: '?([^'\n]+)", files["CITATION.cff"].decode())
    changed = re.search(r"(?m)^## (\S+)", files["CHANGELOG.md"].decode())
    found = {
        "CITATION.cff": cited and cited[1],
        "CHANGELOG.md": changed and changed[1],
        "codemeta.json": json.loads(files["codemeta.json"])["version"],
        ".zenodo.json": json.loads(files[".zenodo.json"])["version"],
        "the wheel": BytesParser().parsebytes(in_wheel)["Version"],
        "the source distribution": BytesParser().parsebytes(in_source)["Version"],
    }
    for name, other in found.items():
        yield None if other == version else f"{name}: {other}, not {version}"


def _distribution(files: Files, suffix: str) -> bytes:
    (name,) = (n for n in files if n.startswith("dist/") and n.endswith(suffix))
    return files[name]


def check_wheel(files: Files) -> Looks:
    """Every file of the wheel has the hash that its RECORD states."""
    with zipfile.ZipFile(io.BytesIO(_distribution(files, ".whl"))) as packed:
        (record,) = (n for n in packed.namelist() if n.endswith("/RECORD"))
        listed = {row[0]: row[1] for row in csv.reader(_lines(packed.read(record)))}
        for name in packed.namelist():
            if name != record:
                digest = hashlib.sha256(packed.read(name)).digest()
                said = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
                same = listed.get(name) == f"sha256={said}"
                yield None if same else f"the wheel: {name} has another hash"


def _lines(data: bytes) -> io.StringIO:
    return io.StringIO(data.decode())


def check_locks(files: Files) -> Looks:
    """Every package of a lock is pinned by a hash."""
    for lock in ("requirements.lock", "foreign.lock"):
        for entry in re.findall(r"(?m)^\S.*(?:\n[ \t].*)*", files[lock].decode()):
            pinned = "==" in entry and "--hash=sha256:" in entry
            yield None if pinned else f"{lock}: {entry.split()[0]} without a hash"


def check_records(files: Files) -> Looks:
    """Every result has the lab record of its run."""
    for name in sorted(n for n in files if n.startswith("export/data/results/")):
        run = PurePosixPath(name).stem
        record = json.loads(files.get(f"export/book/records/{run}.ipynb", b"{}"))
        code = "".join(
            line for cell in record.get("cells", ()) for line in cell["source"]
        )
        yield None if f'run = "{run}"' in code else f"{name}: no lab record of its run"


def check_means(files: Files) -> Looks:
    """Every mean accuracy is that of the counts in its lab record's folds.

    Looked at are the parts of results whose list ``correct`` is in the folds.
    """
    for name in sorted(n for n in files if n.startswith("export/data/results/")):
        run = PurePosixPath(name).stem
        folds = files.get(f"export/book/records/{run}-accuracy.csv", b"")
        tested = _tested(csv.DictReader(_lines(folds)))
        for place, part in _scored(json.loads(files[name])["values"], ""):
            correct = part["correct"]
            n = tested.get(json.dumps(correct))
            if n is not None:
                mean = 100 * sum(correct) / len(correct) / n
                same = abs(mean - part["accuracy"]["mean"]) < 1e-9
                yield None if same else f"{name}{place}: not the mean of its folds"


def _tested(rows: Iterable[dict[str, str]]) -> dict[str, int]:
    """Tested rows by the counts of correct ones in all repeats, as JSON."""
    correct: dict[tuple[str, ...], list[int]] = {}
    tested: dict[tuple[str, ...], int] = {}
    for row in rows:
        counts = {
            part: sum(int(v) for k, v in row.items() if k.startswith(part) and v)
            for part in ("right_", "of_")
        }
        method = tuple(
            v for k, v in row.items() if not k.startswith(("repeat", *counts))
        )
        correct.setdefault(method, []).append(counts["right_"])
        tested[method] = counts["of_"]
    return {json.dumps(found): tested[method] for method, found in correct.items()}


def _scored(value: object, place: str) -> Iterator[tuple[str, dict]]:
    """Parts of a result with a mean accuracy and the counts behind it."""
    if isinstance(value, dict):
        if "correct" in value and "mean" in value.get("accuracy", {}):
            yield place, value
        for key, part in value.items():
            yield from _scored(part, f"{place}/{key}")


def check_facts(files: Files) -> Looks:
    """Every number of the ledger is in its file, under its key."""
    for row in csv.DictReader(_lines(files["export/facts.csv"])):
        place = f"{row['file']}{row['key']}"
        data = files.get(f"export/{row['file']}", b"")
        if sha256(data) != row["sha256"]:
            yield f"{place}: the file has another hash"
            continue
        value = json.loads(data)
        for key in row["key"].split("/")[1:]:
            value = value.get(key.replace("~1", "/").replace("~0", "~"), {})
        same = value == json.loads(row["value"])
        yield None if same else f"{place}: {value}, not {row['value']}"


def check_verdicts(files: Files) -> Looks:
    """Every claim has facts or a verdict that needs none, and never both."""
    facts = {row["claim"] for row in csv.DictReader(_lines(files["export/facts.csv"]))}
    for row in csv.DictReader(_lines(files["export/verdicts.csv"])):
        without = row["verdict"] in ("refuted", "not run", "beyond reach")
        wrong = without == (row["claim"] in facts)
        yield f"{row['claim']}: {row['verdict']}" if wrong else None


def check_crate(files: Files) -> Looks:
    """The crate describes the files as they are, and every run has what it made."""
    entities = json.loads(files[f"export/{CRATE}"])["@graph"]
    known = {entity["@id"] for entity in entities}
    for entity in entities:
        name = entity["@id"]
        if entity["@type"] == "File":
            same = sha256(files.get(f"export/{name}", b"")) == entity["sha256"]
            yield None if same else f"{name}: not the file that the crate describes"
        elif entity["@type"] == "CreateAction":
            whole = known >= {part["@id"] for part in entity["result"]}
            yield None if whole else f"{name}: a result is missing"


CHECKS = {
    "check sums": check_sums,
    "one version": check_versions,
    "wheel": check_wheel,
    "locks": check_locks,
    "lab records": check_records,
    "means": check_means,
    "numbers": check_facts,
    "verdicts": check_verdicts,
    "crate": check_crate,
}


def verify(path: Path) -> dict[str, list[str | None]]:
    """Outcomes of every check: for each thing looked at a problem, or None."""
    files, looks = read_archive(path)
    outcomes = {"archive": looks}
    for name, check in CHECKS.items():
        found: list[str | None] = []
        try:
            found.extend(check(files))
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            found.append(f"cannot be read: {type(error).__name__}: {error}")
        outcomes[name] = found or ["nothing to check"]
    return outcomes


def main(arguments: list[str]) -> int:
    """Print the table; return 0 if nothing is wrong, 1 if something is, 2 if unread."""
    if len(arguments) != 1:
        print("give one archive: python3 verify_release.py ARCHIVE")
        return 2
    try:
        outcomes = verify(Path(arguments[0]))
    except (OSError, tarfile.TarError, EOFError) as error:
        print(f"{arguments[0]}: no archive that can be read: {error}")
        return 2
    print(f"{'check':14}{'looked at':>10}{'problems':>10}")
    problems = []
    for name, looks in outcomes.items():
        wrong = [look for look in looks if look is not None]
        print(f"{name:14}{len(looks):10}{len(wrong):10}")
        problems += [f"{name}: {look}" for look in wrong]
    print("\n".join(problems) or "Nothing is wrong.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
