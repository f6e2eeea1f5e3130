"""Check the proofs: ``make prove``, or ``python proofs/check.py``.

Every file is compiled by coqc in a temporary folder. No proof may be left open, no
theorem may rest on more than the classical real numbers of the standard library, and
for each theorem one false variant of its statement (variants.toml) has to be refused.
Only the standard library of Python is needed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent

# All that a theorem may rest on: what Coq's library of real numbers assumes itself.
ALLOWED = {
    "ClassicalDedekindReals.sig_forall_dec": "a decidable property holds for all n, "
    "or fails for an n that can be named",
    "ClassicalDedekindReals.sig_not_dec": "for every P, either not P or not not P",
    "FunctionalExtensionality.functional_extensionality_dep": "functions with equal "
    "values are equal",
    "Classical_Prop.classic": "for every P, P or not P",
}

FORBIDDEN = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|bypass_check"
    r"|Unset\s+\w+\s+Checking)\b"
)
COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)
THEOREM = re.compile(
    r"^(?:\(\* book: (?P<label>[\w-]+) \*\)\n)?"
    r"Theorem (?P<name>\w+)(?P<statement>.*?)^Proof\.(?P<proof>.*?)\bQed\.$",
    re.DOTALL | re.MULTILINE,
)
ERROR = re.compile(r"line (\d+), characters [\d-]+:\s+Error")

HOW_TO_GET_COQ = """coqc is not on the path. Any one of these installs it:
  Debian, Ubuntu   apt-get install --no-install-recommends coq
  conda            conda install -c conda-forge coq
  opam             opam install coq"""


@dataclass(frozen=True)
class Theorem:
    """A theorem, the label of the book's statement, and the lines it stands on."""

    label: str
    name: str
    path: Path
    statement: str
    first: int
    proof: int
    last: int


def sources() -> list[Path]:
    """Files in the order in which they build on each other."""
    return [
        HERE / line
        for line in (HERE / "_CoqProject").read_text(encoding="utf-8").split()[3:]
    ]


def theorems() -> list[Theorem]:
    """All theorems, in the order of the files."""
    return [theorem for path in sources() for theorem in _theorems_in(path)]


def _theorems_in(path: Path) -> Iterator[Theorem]:
    text = path.read_text(encoding="utf-8")
    for match in THEOREM.finditer(text):
        at = (match.start("name"), match.start("proof"), match.end())
        lines = (text.count("\n", 0, place) + 1 for place in at)
        yield Theorem(
            match["label"] or "", match["name"], path, match["statement"], *lines
        )


def variants() -> dict[str, dict[str, str]]:
    """One false variant for each theorem, by its name."""
    return tomllib.loads((HERE / "variants.toml").read_text(encoding="utf-8"))


def faults() -> list[str]:
    """What the text alone gives away.

    That are open proofs, axioms, theorems without a label of the book, and files that
    ``_CoqProject`` does not list.
    """
    listed = sources()
    found = [
        f"{path.name}: {word[0]}"
        for path in listed
        for word in FORBIDDEN.finditer(
            COMMENT.sub("", path.read_text(encoding="utf-8"))
        )
    ]
    for theorem in theorems():
        if not theorem.label:
            found.append(f"{theorem.name}: no label of the book")
    for path in sorted(HERE.glob("*.v")):
        if path not in listed:
            found.append(f"{path.name}: not in _CoqProject, so it is not compiled")
    return found


def altered(theorem: Theorem, variant: dict[str, str]) -> str:
    """Return the text of the file with the variant in place of the statement."""
    old, new = variant["old"], variant["new"]
    if theorem.statement.count(old) != 1 or old.count("\n") != new.count("\n"):
        raise ValueError(
            f"variants.toml, {theorem.name}: the old text has to occur once in the "
            f"statement, and the new one has to have as many lines; got {old!r}"
        )
    statement = theorem.statement.replace(old, new)
    return theorem.path.read_text(encoding="utf-8").replace(
        theorem.statement, statement
    )


def compiled(library: Path, path: Path) -> subprocess.CompletedProcess:
    """Compile one file against the files that are compiled in the library."""
    command = ["coqc", "-q", "-Q", str(library), "Proofs", str(path)]
    return subprocess.run(command, capture_output=True, encoding="utf-8")


def query() -> str:
    """Return the file that makes Coq print what each theorem rests on."""
    lines = ["Require " + " ".join(f"Proofs.{path.stem}" for path in sources()) + "."]
    for theorem in theorems():
        lines.append(f'Goal True. idtac "== {theorem.name}". Abort.')
        lines.append(f"Print Assumptions Proofs.{theorem.path.stem}.{theorem.name}.")
    return "\n".join(lines) + "\n"


def assumptions(library: Path) -> dict[str, list[str]]:
    """What each theorem rests on, as Coq prints it."""
    path = library / "assumptions.v"
    path.write_text(query(), encoding="utf-8")
    done = compiled(library, path)
    if done.returncode:
        raise RuntimeError(f"Print Assumptions failed:\n{done.stderr}")
    parts = re.split(r"^== (\w+)$", done.stdout, flags=re.MULTILINE)[1:]
    return {
        name: re.findall(r"^(?!Axioms)([\w.]+)\s*:", printed, re.MULTILINE)
        for name, printed in zip(parts[::2], parts[1::2], strict=True)
    }


def complaint(library: Path, theorem: Theorem, variant: dict[str, str]) -> str:
    """Return how the variant escapes; nothing if its proof is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / theorem.path.name
        path.write_text(altered(theorem, variant), encoding="utf-8")
        done = compiled(library, path)
    if not done.returncode:
        return "accepted, although false"
    error = ERROR.search(done.stderr)
    if error and theorem.proof <= int(error[1]) <= theorem.last:
        return ""
    return f"not refused in its proof:\n{done.stderr}"


def table(rests_on: dict[str, list[str]]) -> Iterator[str]:
    """Lines of the table of theorems."""
    number = {name: str(i) for i, name in enumerate(ALLOWED, 1)}
    for t in theorems():
        used = " ".join(sorted(number.get(name, name) for name in rests_on[t.name]))
        where = f"{t.path.name}:{t.first}-{t.last}"
        yield f"{t.label:20} {t.name:40} {where:28} {used}"


def check(library: Path) -> list[str]:
    """All complaints; the table of theorems is printed on the way."""
    for path in sources():
        shutil.copy(path, library)
        done = compiled(library, library / path.name)
        if done.returncode:
            return [f"{path.name} does not compile:\n{done.stderr}"]
    rests_on = assumptions(library)
    print(f"{'statement':20} {'theorem':40} {'file and lines':28} rests on")
    print("\n".join(table(rests_on)))
    for number, (name, meaning) in enumerate(ALLOWED.items(), 1):
        print(f"{number}  {name}: {meaning}")
    found = [
        f"{name} rests on {axiom}"
        for name, axioms in rests_on.items()
        for axiom in axioms
        if axiom not in ALLOWED
    ]
    false = variants()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        escapes = pool.map(lambda t: complaint(library, t, false[t.name]), theorems())
        found += [
            f"variant of {t.name}: {escape}"
            for t, escape in zip(theorems(), escapes, strict=True)
            if escape
        ]
    return found


def main() -> int:
    """Check everything; return the exit status."""
    if shutil.which("coqc") is None:
        print(HOW_TO_GET_COQ, file=sys.stderr)
        return 1
    found = faults()
    if not found:
        with tempfile.TemporaryDirectory() as folder:
            found = check(Path(folder))
    if found:
        print("\n".join(found), file=sys.stderr)
        return 1
    n = len(theorems())
    print(f"{n} theorems proved, {n} variants break their script")
    return 0


if __name__ == "__main__":
    sys.exit(main())
