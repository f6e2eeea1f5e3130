"""Mutants of the public package: whether tests notice a changed line.

Every mutant is one small change of one module: another operator, a constant plus one,
a condition turned round, an argument or a statement left out. Random samples of all of
them are tried, each mutant in a process of its own against the test file that mirrors
the module and, if that notices nothing, against the examples of the module, the other
test files of the room and the contract of scikit-learn. What survives is read by a
person, who writes into ``data/artifact/survivors.toml`` why it computes the same; the
others are missed.

Tests were written for what survived of one sample, whose share is therefore no estimate
for all mutants; that of the other is, which nobody looked at before these were there.
"""

import ast
import hashlib
import json
import multiprocessing
import os
import re
import resource
import signal
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from typing import NamedTuple

# Seed of each sample: the last one that tests were written for, and a later one; those
# of samples that tests were written for before.
SEEDS, SAMPLE = {"read": 20261125, "fresh": 20261126}, 100
EARLIER = (20130712, 20261124)
SURVIVORS = "data/artifact/survivors.toml"
# Share of the mutants that compute something else which tests are to notice.
ASKED = 0.95
# Processor seconds after which a mutant that does not come to an end counts as found:
# so many times what its tests take, and some more.
TIMES, MORE = 4, 20
# Modules that a test file of another name mirrors.
MIRRORS = {
    "memdlib/conditional/dual.py": "tests/conditional/test_classifier.py",
    "memdlib/families/interval.py": "tests/families/test_families.py",
    "memdlib/families/normal.py": "tests/families/test_families.py",
    "memdlib/families/polynomial.py": "tests/families/test_families.py",
    "memdlib/generative/correlated/classifier.py": (
        "tests/generative/correlated/test_whitened.py"
    ),
    "memdlib/parts/discriminant.py": "tests/parts/test_texts.py",
    "memdlib/parts/tall.py": "tests/parts/test_fit.py",
    "memdlib/parts/wide.py": "tests/parts/test_fit.py",
}
# What is asked of all modules at once: before the room of a module, and after it.
WHOLE, LAST = ("tests/test_public_api.py",), ("tests/test_contract.py",)
# What pytest says if all tests pass, and if there are none (a module without examples).
_SILENT = (0, 5)
_BINARY = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "*",
    ast.Pow: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
}
_COMPARED = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
_CALLED = {
    "all": "any",
    "any": "all",
    "argmax": "argmin",
    "argmin": "argmax",
    "ceil": "floor",
    "floor": "ceil",
    "max": "min",
    "maximum": "minimum",
    "min": "max",
    "minimum": "maximum",
    "ones": "zeros",
    "zeros": "ones",
}


class Mutant(NamedTuple):
    """One change of one file.

    Parameters
    ----------
    file : str
        Relative to the checkout.
    line : int
        Where the change begins, counted from one.
    start, end : int
        Bytes of the file that are replaced.
    old, new : str
    """

    file: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def applied(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.start] + self.new.encode() + source[self.end :]


class Name(NamedTuple):
    """What a mutant changes, wherever that stands in its file.

    Parameters
    ----------
    file : str
    line : str
        Text of the line where the change begins.
    old, new : str
    number : int
        Among changes that are equal in all this, counted from one.
    """

    file: str
    line: str
    old: str
    new: str
    number: int = 1


@dataclass(frozen=True)
class _File:
    """A file, with the places of its lines."""

    name: str
    source: bytes

    def place(self, line: int, column: int) -> int:
        lines = self.source.split(b"\n")
        return sum(len(one) + 1 for one in lines[: line - 1]) + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        return (
            self.place(node.lineno, node.col_offset),
            self.place(node.end_lineno, node.end_col_offset),
        )

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.source[start:end].decode()

    def mutant(self, node: ast.AST, new: str) -> Mutant:
        start, end = self.span(node)
        return Mutant(self.name, node.lineno, start, end, self.text(node), new)


def modules(project: Path) -> list[Path]:
    """Files of the public package: nothing private, and no lists of names."""
    return [
        path
        for path in sorted((project / "memdlib").rglob("*.py"))
        if not any(part.startswith("_") for part in path.relative_to(project).parts)
    ]


def mirror(file: str) -> str:
    """The test file of a module."""
    if file in MIRRORS:
        return MIRRORS[file]
    path = Path(file)
    return str(Path("tests", *path.parts[1:-1], f"test_{path.name}"))


def others(project: Path, file: str) -> list[str]:
    """What else may notice a mutant: its own examples, and tests of the same room.

    Before and after these comes what is asked of all modules at once. The room of a
    module at the top of the package are the tests that import it, those of the book and
    of the compendium apart.
    """
    own, folder = mirror(file), project / Path(mirror(file)).parent
    found = sorted(folder.glob("test_*.py"))
    if folder == project / "tests":
        rooms = [p.name for p in (project / "memdlib").iterdir() if p.is_dir()]
        found += [p for room in rooms for p in folder.glob(f"{room}/**/test_*.py")]
        name = rf"memdlib(\.| import .*\b){Path(file).stem}\b"
        found = sorted(path for path in found if re.search(name, path.read_text()))
    room = [str(path.relative_to(project)) for path in found]
    room = [name for name in room if name not in (own, *WHOLE, *LAST)]
    return [file, *WHOLE, *room, *LAST]


def mutants(project: Path, path: Path) -> list[Mutant]:
    """All mutants of one file, in the order of its text.

    Left alone are the words of messages and documents, and annotations.
    """
    file = _File(str(path.relative_to(project)), path.read_bytes())
    return sorted(set(_changed(file, ast.parse(file.source))), key=lambda m: m[2:])


def _changed(file: _File, node: ast.AST) -> Iterator[Mutant]:
    yield from _changes(file, node)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        if isinstance(node, ast.Raise | ast.ImportFrom | ast.Import):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield from _changed(file, part)


def _changes(file: _File, node: ast.AST) -> Iterator[Mutant]:
    """Changes of one node, none of its parts."""
    match node:
        case ast.BinOp(left, op, right) if type(op) in _BINARY:
            words = any(
                isinstance(p, ast.JoinedStr)
                or (isinstance(p, ast.Constant) and isinstance(p.value, str))
                for p in (left, right)
            )
            if not words:
                operator = _BINARY[type(op)]
                new = f"(({file.text(left)}) {operator} ({file.text(right)}))"
                yield file.mutant(node, new)
        case ast.Compare(left, [op], [right]):
            for operator in _COMPARED[type(op)]:
                new = f"(({file.text(left)}) {operator} ({file.text(right)}))"
                yield file.mutant(node, new)
        case ast.BoolOp(op, values):
            operator = " or " if isinstance(op, ast.And) else " and "
            new = operator.join(f"({file.text(value)})" for value in values)
            yield file.mutant(node, f"({new})")
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield file.mutant(node, f"({file.text(operand)})")
        case ast.Constant(bool() as value):
            yield file.mutant(node, str(not value))
        case ast.Constant(int() | float() as value):
            yield file.mutant(node, f"({file.text(node)} + 1)")
        case ast.If(test) | ast.While(test) | ast.IfExp(test):
            yield file.mutant(test, f"(not ({file.text(test)}))")
        case ast.Raise() | ast.Expr(ast.Call()):
            yield file.mutant(node, "pass")
        case ast.AugAssign(target, op, value) if type(op) in _BINARY:
            yield file.mutant(node, "pass")
            operator = _BINARY[type(op)]
            new = f"{file.text(target)} {operator}= ({file.text(value)})"
            yield file.mutant(node, new)
        case ast.Break():
            yield file.mutant(node, "continue")
        case ast.Continue():
            yield file.mutant(node, "break")
        case ast.Call(function, keywords=keywords):
            name = getattr(function, "attr", getattr(function, "id", None))
            if name in _CALLED:
                start, end = file.span(function)
                text = file.text(function).removesuffix(name) + _CALLED[name]
                old = file.text(function)
                yield Mutant(file.name, function.lineno, start, end, old, text)
            for keyword in keywords:
                if keyword.arg is not None:
                    start, end = file.span(keyword)
                    rest = file.source[end:]
                    blank = len(rest) - len(rest.lstrip())
                    comma = rest.lstrip().startswith(b",")
                    end += blank + 1 if comma else 0
                    old = file.source[start:end].decode()
                    yield Mutant(file.name, keyword.lineno, start, end, old, "")


class _Finder(MetaPathFinder):
    """Imports one module from other text than its file has."""

    def __init__(self, module: str, code: bytes):
        self.module, self.code = module, code

    def find_spec(self, fullname, path=None, target=None):
        spec = PathFinder.find_spec(fullname, path)
        if fullname == self.module and spec is not None:
            spec.loader = _Loader(fullname, spec.origin, self.code)
        return spec if fullname == self.module else None


class _Loader(SourceFileLoader):
    def __init__(self, fullname, path, code):
        super().__init__(fullname, path)
        self.code = code

    def get_code(self, fullname):
        return compile(self.code, self.path, "exec")


def outcome(
    project: Path, mutant: Mutant | None, test: str, limit: float | None
) -> tuple[str, float]:
    """Run a test file in a copy of this process, with one module changed.

    Parameters
    ----------
    project : Path
    mutant : Mutant or None
        None changes nothing.
    test : str
        File, relative to the project: tests, or a module with examples.
    limit : float or None
        Processor seconds after which it is stopped.

    Returns
    -------
    outcome : {"survived", "killed", "stopped"}
    seconds : float
        Processor time.
    """
    child = os.fork()
    if child == 0:
        os._exit(_tested(project, mutant, test, limit))
    _, status, used = os.wait4(child, 0)
    took = used.ru_utime + used.ru_stime
    if os.WIFSIGNALED(status):
        return "stopped", took
    return "survived" if os.WEXITSTATUS(status) in _SILENT else "killed", took


def _tested(project, mutant, test, limit) -> int:
    """What pytest says of a test file; run in a process that ends after it."""
    import pytest

    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
        signal.alarm(60 * int(limit))  # one that waits for ever
    os.chdir(project)
    sys.dont_write_bytecode = True
    if mutant is not None:
        module = mutant.file.removesuffix(".py").replace("/", ".")
        package = module.partition(".")[0]
        # what this process has imported of the package would be tested as it is
        for name in [name for name in sys.modules if name.split(".")[0] == package]:
            del sys.modules[name]
        code = mutant.applied((project / mutant.file).read_bytes())
        sys.meta_path.insert(0, _Finder(module, code))
    options = ["-x", "-q", "--doctest-modules", "-p", "no:cacheprovider"]
    # where pytest rewrites assertions, it reads the module itself for its examples
    options += ["--assert=plain", "-p", "no:xdist"]
    return int(pytest.main([*options, test]))


def _prepared() -> None:
    """Import what the tests need except the package, once for all copies."""
    os.environ["SCIPY_ARRAY_API"] = "1"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    for name in (
        "dask.array",
        "dask.dataframe",
        "hypothesis.extra.numpy",
        "matplotlib.pyplot",
        "mpmath",
        "pandas",
        "polars",
        "pytest",
        "scipy.integrate",
        "scipy.optimize",
        "scipy.stats",
        "sklearn.datasets",
        "sklearn.ensemble",
        "sklearn.linear_model",
        "sklearn.model_selection",
        "sklearn.pipeline",
        "sklearn.svm",
        "sklearn.utils.estimator_checks",
    ):
        __import__(name)


def named(project: Path) -> dict[Name, Mutant]:
    """All mutants of the package."""
    found = {}
    for path in modules(project):
        lines, equal = path.read_text().split("\n"), Counter()
        for one in mutants(project, path):
            name = Name(one.file, lines[one.line - 1].strip(), one.old, one.new)
            equal[name] += 1
            found[name._replace(number=equal[name])] = one
    return found


def sampled(names: Iterable[Name], size: int, seed: int) -> list[Name]:
    """A random sample: those whose digests with the seed are least, by file.

    What changes elsewhere in the package, even above in the same file, leaves it as it
    is, except for mutants that are gone and those that take their places.
    """
    return sorted(sorted(names, key=lambda n: _digest(seed, *n))[:size])


def _digest(*parts: bytes | str | int) -> str:
    """Hash of the parts, each preceded by its length."""
    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        total.update(b"%d:" % len(data) + data)
    return total.hexdigest()[:16]


def drawn(names: Iterable[Name]) -> dict[str, list[Name]]:
    """The samples by their names; what an earlier one has is in none of them."""
    left, samples = set(names), {}
    for seed in EARLIER:
        left -= set(sampled(left, SAMPLE, seed))
    for part, seed in SEEDS.items():
        samples[part] = sampled(left, SAMPLE, seed)
        left -= set(samples[part])
    return samples


def interval(found: int, tried: int) -> tuple[float, float]:
    """Wilson's interval of 95 per cent for a share.

    Examples
    --------
    >>> [round(end, 3) for end in interval(95, 100)]
    [0.888, 0.978]
    """
    z = 1.959963984540054
    share, extra = found / tried, z * z / tried
    middle = (share + extra / 2) / (1 + extra)
    half = z / (1 + extra) * (share * (1 - share) / tried + extra / (4 * tried)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)


def read(project: Path) -> dict[Name, str]:
    """Survivors that a person has read, with why they compute the same."""
    listed = tomllib.loads((project / SURVIVORS).read_text())["equivalent"]
    found = {}
    for entry in listed:
        why = entry.pop("why")
        found[Name(**entry)] = why
    return found


@dataclass(frozen=True)
class _Tries:
    """Outcomes of tries, of which a file has a line each; copies of this process add.

    A try is known by its change and by the texts of its module and of its test file.
    """

    project: Path
    path: Path
    known: dict[tuple, str | float]

    @classmethod
    def kept(cls, project: Path) -> "_Tries":
        path = project / "_build" / "mutation.jsonl"
        path.parent.mkdir(exist_ok=True)
        lines = path.read_text().splitlines() if path.exists() else []
        return cls(
            project, path, {tuple(key): found for key, found in map(json.loads, lines)}
        )

    def _add(self, key: tuple, found: str | float) -> None:
        self.known[key] = found
        with self.path.open("a") as stream:
            stream.write(json.dumps([key, found]) + "\n")

    def _key(self, mutant: Mutant, test: str) -> tuple:
        files = [(self.project / name).read_bytes() for name in (mutant.file, test)]
        return (*mutant, test, _digest(*files))

    def ended(self, mutant: Mutant, tests: list[str]) -> str | None:
        """Outcome in the first of the test files that notices; None if not known."""
        found = "survived"
        for test in tests:
            if found == "survived":
                found = self.known.get(self._key(mutant, test))
        return found

    def usual(self, test: str) -> float:
        """Processor seconds of a test file without a mutant.

        Raises
        ------
        RuntimeError
            If it fails.
        """
        package = sorted((self.project / "memdlib").rglob("*.py"))
        files = [path.read_bytes() for path in (*package, self.project / test)]
        key = (test, _digest(*files))
        if key not in self.known:
            found, took = outcome(self.project, None, test, None)
            if found != "survived":
                raise RuntimeError(f"{test} fails without a mutant")
            self._add(key, took)
        return self.known[key]

    def go(self, mutant: Mutant, tests: dict[str, float]) -> None:
        """Try a mutant against test files, up to the first that notices it.

        Parameters
        ----------
        mutant : Mutant
        tests : dict
            Usual seconds of each.
        """
        for test, usual in tests.items():
            key = self._key(mutant, test)
            if key not in self.known:
                limit = TIMES * usual + MORE
                self._add(key, outcome(self.project, mutant, test, limit)[0])
            if self.known[key] != "survived":
                break


def tried(project: Path, sample: list[Mutant]) -> list[str]:
    """Outcomes of mutants: in the test files of their modules, then in all others.

    As many are tried at a time as there are processors. Outcomes are kept in
    ``_build/mutation.jsonl``: a try whose module and test file have not changed since
    is taken from there, so that a run that was stopped goes on, and new tests cost no
    more than the mutants that they concern.

    Raises
    ------
    RuntimeError
        If a test file fails without any change.
    """
    _prepared()
    own = {mutant: [mirror(mutant.file)] for mutant in sample}
    room = {mutant: own[mutant] + others(project, mutant.file) for mutant in sample}
    for asked in own, room:
        _try(_Tries.kept(project), asked)
    found = _Tries.kept(project)
    return [found.ended(mutant, room[mutant]) for mutant in sample]


def _try(tries: _Tries, asked: dict[Mutant, list[str]]) -> None:
    """Try what is not known, in copies of this process."""
    left = {
        mutant: [test for test in tests if tries.ended(mutant, [test]) is None]
        for mutant, tests in asked.items()
        if tries.ended(mutant, tests) is None
    }
    needed = sorted({test for tests in left.values() for test in tests})
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=fork) as pool:
        usual = dict(zip(needed, pool.map(tries.usual, needed), strict=True))
        limits = [{test: usual[test] for test in tests} for tests in left.values()]
        for _ in pool.map(tries.go, left, limits):
            pass


def measure(project: Path) -> dict:
    """Try the samples; what survives and has not been read as the same is missed."""
    listed, same = named(project), read(project)
    samples = drawn(listed)
    asked = sorted({listed[name] for sample in samples.values() for name in sample})
    ended = dict(zip(asked, tried(project, asked), strict=True))
    return {"all": len(listed)} | {
        part: _counted(sample, lambda name: ended[listed[name]], same)
        | {"seed": SEEDS[part]}
        for part, sample in samples.items()
    }


def _counted(
    sample: list[Name], ended: Callable[[Name], str], same: Iterable[Name]
) -> dict:
    found = Counter(ended(name) for name in sample)
    survived = [name for name in sample if ended(name) == "survived"]
    return {
        "sample": len(sample),
        **{how: found[how] for how in ("killed", "stopped", "survived")},
        "equivalent": [list(name) for name in survived if name in same],
        "missed": [list(name) for name in survived if name not in same],
    }
