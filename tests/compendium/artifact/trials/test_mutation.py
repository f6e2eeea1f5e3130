"""Mutants of a tiny package, and what its tests say of them."""

import ast
import sys
from importlib import import_module

import pytest

from compendium.artifact.trials import mutation
from compendium.artifact.trials.mutation import Mutant, mirror, mutants, outcome

SOURCE = '''"""Words with 1 + 1 in them."""

import math

LIMIT = 3


def f(x: int = 1, y: float | None = None) -> float:
    """No 2 * 2 of a document is changed."""
    if not x < LIMIT and y is None:
        raise ValueError(f"x is {x + 1}")
    total = [max(x, 2), -x]
    total += [math.fsum((x,))]
    for z in range(3):
        if z > 1:
            break
        print(z, end="", flush=False)
    return 1.5 * sum(total) ** 2 if x else 0.0
'''


@pytest.fixture
def tiny(tmp_path):
    (tmp_path / "memdlib" / "_hidden").mkdir(parents=True)
    (tmp_path / "memdlib" / "_hidden" / "a.py").write_text("A = 1\n")
    (tmp_path / "memdlib" / "__init__.py").write_text("B = 1\n")
    path = tmp_path / "memdlib" / "m.py"
    path.write_text(SOURCE)
    return tmp_path, path


def test_every_mutant_is_another_program_in_one_place(tiny):
    root, path = tiny
    assert mutation.modules(root) == [path]
    source, found = path.read_bytes(), mutants(root, path)
    trees = {ast.dump(ast.parse(mutant.applied(source))) for mutant in found}
    assert len(trees) == len(found) and ast.dump(ast.parse(source)) not in trees
    changes = {(mutant.old, mutant.new) for mutant in found}
    assert changes >= {
        ("3", "(3 + 1)"),
        ("1.5 * sum(total) ** 2", "((1.5) / (sum(total) ** 2))"),
        ("x < LIMIT", "((x) >= (LIMIT))"),
        ("not x < LIMIT", "(x < LIMIT)"),
        ("y is None", "((y) is not (None))"),
        ("-x", "(x)"),
        ("max", "min"),
        ("break", "continue"),
        ("False", "True"),
        ('end="",', ""),
        ('raise ValueError(f"x is {x + 1}")', "pass"),
        ("total += [math.fsum((x,))]", "total -= ([math.fsum((x,))])"),
        ("x", "(not (x))"),
    }
    assert not any("document" in old or "x + 1" == old for old, _ in changes)


def test_the_sample_is_that_of_its_seed(tiny):
    root, _ = tiny
    one, total = mutation.sampled(root, 5, 1)
    assert (one, total) == mutation.sampled(root, 5, 1)
    assert len(one) == 5 < total and one != mutation.sampled(root, 5, 2)[0]


def test_modules_of_the_package_have_a_test_file():
    root = mutation.Path(__file__).parents[4]
    for path in mutation.modules(root):
        assert (root / mirror(str(path.relative_to(root)))).is_file(), path


@pytest.mark.parametrize("imported", [False, True])
def test_a_mutant_is_killed_by_a_test_that_sees_it(tmp_path, monkeypatch, imported):
    """Whether this process has imported the module before or not."""
    (tmp_path / "tiny_one").mkdir()
    (tmp_path / "tiny_one" / "__init__.py").write_text("")
    text = "def f(x):\n    while x > 9:\n        x -= 1\n    return x + 0 * x\n"
    (tmp_path / "tiny_one" / "m.py").write_text(text)
    (tmp_path / "test_m.py").write_text(
        "import sys\nsys.path.insert(0, '.')\n"
        "from tiny_one.m import f\ndef test_f():\n    assert f(2) == 2 and f(11) == 9\n"
    )

    def tried(old, new):
        start = text.index(old)
        mutant = Mutant("tiny_one/m.py", 1, start, start + len(old), old, new)
        return outcome(tmp_path, mutant, "test_m.py", 2)[0]

    if imported:
        monkeypatch.syspath_prepend(str(tmp_path))
        for name in ("tiny_one", "tiny_one.m"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        import_module("tiny_one.m")
    assert outcome(tmp_path, None, "test_m.py", None)[0] == "survived"
    assert tried("x + 0", "x - 0") == "survived"
    assert tried("x > 9", "x > 8") == "killed"
    assert tried("x -= 1", "pass") == "stopped"


def test_an_outcome_is_kept_until_module_or_test_change(tmp_path, monkeypatch):
    for name in ("memdlib/m.py", "tests/test_m.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("A = 1\n")
    asked = []

    def answered(project, mutant, test, limit):
        asked.append(mutant)
        return ("killed" if mutant else "survived"), 1.0

    monkeypatch.setattr(mutation, "outcome", answered)
    monkeypatch.setattr(mutation, "_prepared", lambda: None)
    mutant = Mutant("memdlib/m.py", 1, 4, 5, "1", "(1 + 1)")
    for text, calls in (("A = 1\n", 2), ("A = 1\n", 2), ("B = 1\n", 4)):
        (tmp_path / "tests/test_m.py").write_text(text)
        assert list(mutation.tried(tmp_path, [mutant])) == [(mutant, "killed")]
        assert len(asked) == calls
    monkeypatch.setattr(mutation, "outcome", lambda *given: ("killed", 1.0))
    (tmp_path / "tests/test_m.py").write_text("C = 1\n")
    with pytest.raises(RuntimeError, match="test_m.py fails without a mutant"):
        list(mutation.tried(tmp_path, [mutant]))


def test_what_was_read_has_a_reason():
    root = mutation.Path(__file__).parents[4]
    known = mutation.read(root)
    for (file, old, new), why in known.items():
        assert old in (root / file).read_text() and old != new
        assert len(why.split()) >= 4
