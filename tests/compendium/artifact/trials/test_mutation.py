"""Mutants of a tiny package, and what its tests say of them."""

import ast
import faulthandler
import sys
from importlib import import_module

import pytest

from compendium.artifact.trials import mutation
from compendium.artifact.trials.mutation import (
    Mutant,
    Name,
    mirror,
    mutants,
    others,
    outcome,
)

ROOT = mutation.Path(__file__).parents[4]

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


def test_a_name_says_which_of_equal_changes_it_is(tiny):
    root, path = tiny
    path.write_text("A = 1 + 1\n")
    line, ones = "A = 1 + 1", ("1", "(1 + 1)")
    found = mutation.named(root)
    assert list(found.values()) == mutants(root, path)
    assert found.keys() == {
        Name("memdlib/m.py", line, "1 + 1", "((1) - (1))"),
        Name("memdlib/m.py", line, *ones),
        Name("memdlib/m.py", line, *ones, 2),
    }
    assert found[Name("memdlib/m.py", line, *ones, 2)].start == len("A = 1 + ")


def test_a_sample_stays_when_the_package_changes_elsewhere(tiny):
    root, path = tiny
    listed = mutation.named(root)
    one = mutation.sampled(listed, 9, 1)
    assert one == mutation.sampled(listed, 9, 1) != mutation.sampled(listed, 9, 2)
    assert one == sorted(one) and len(set(one)) == 9
    assert set(mutation.sampled(listed, 5, 1)) < set(one)
    path.write_text("\n\n" + SOURCE)
    (root / "memdlib" / "a.py").write_text("def first():\n    return 2 + 3 * 4 == 5\n")
    more = mutation.named(root)
    assert len(more) > len(listed)
    again = mutation.sampled(more, 9, 1)
    assert set(again) - set(one) <= more.keys() - listed.keys()
    assert set(again) & set(one)


def test_modules_of_the_package_have_a_test_file():
    for path in mutation.modules(ROOT):
        assert (ROOT / mirror(str(path.relative_to(ROOT)))).is_file(), path


def test_a_survivor_is_shown_to_the_tests_of_its_room():
    file = "memdlib/topics/counts.py"
    assert others(ROOT, file) == [
        file,
        *mutation.WHOLE,
        *(f"tests/topics/test_{room}.py" for room in ("embedding", "plsa", "scores")),
        *mutation.LAST,
    ]
    assert others(ROOT, "memdlib/divergences.py") == [
        "memdlib/divergences.py",
        *mutation.WHOLE,
        *(f"tests/families/test_{name}.py" for name in ("extremes", "families")),
        "tests/test_kernels.py",
        *mutation.LAST,
    ]


def test_a_mutant_is_killed_by_a_test_or_an_example_that_sees_it(tmp_path, monkeypatch):
    """Whether this process has imported the module before or not."""
    # a copy of this process would wait for the thread that watches this test
    faulthandler.cancel_dump_traceback_later()
    (tmp_path / "tiny_one").mkdir()
    (tmp_path / "tiny_one" / "__init__.py").write_text("")
    text = "def f(x):\n    while x > 9:\n        x -= 1\n    return x + 0 * x\n"
    example = 'def g():\n    """\n    >>> g()\n    7\n    """\n    return 7\n'
    (tmp_path / "tiny_one" / "m.py").write_text(text + example)
    (tmp_path / "test_m.py").write_text(
        "import sys\nsys.path.insert(0, '.')\n"
        "from tiny_one.m import f\ndef test_f():\n    assert f(2) == 2 and f(11) == 9\n"
    )

    def tried(old, new, test="test_m.py"):
        start = (text + example).index(old)
        mutant = Mutant("tiny_one/m.py", 1, start, start + len(old), old, new)
        return outcome(tmp_path, mutant, test, usual + 2)[0]

    found, usual = outcome(tmp_path, None, "test_m.py", None)
    assert found == "survived"
    assert outcome(tmp_path, None, "tiny_one/m.py", None)[0] == "survived"
    assert tried("x + 0", "x - 0") == "survived"
    assert tried("x > 9", "x > 8") == "killed"
    assert tried("x -= 1", "pass") == "stopped"
    assert tried("return 7", "return 8") == "survived"
    assert tried("return 7", "return 8", "tiny_one/m.py") == "killed"

    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("tiny_one", "tiny_one.m"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import_module("tiny_one.m")
    assert tried("x > 9", "x > 8") == "killed"


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A package of one module with two test files, and what is asked of whom."""
    for name in ("memdlib/r/m.py", "tests/r/test_m.py", "tests/r/test_n.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("A = 1\n")
    noticing, asked = set(), tmp_path / "asked"
    asked.touch()

    def answered(project, mutant, test, limit):
        with asked.open("a") as stream:
            stream.write(f"{test} {limit}\n")
        return ("killed" if mutant and test in noticing else "survived"), 1.0

    def calls():
        found = asked.read_text().splitlines()
        asked.write_text("")
        return sorted(found)

    monkeypatch.setattr(mutation, "outcome", answered)
    monkeypatch.setattr(mutation, "_prepared", lambda: None)
    monkeypatch.setattr(mutation, "WHOLE", ())
    monkeypatch.setattr(mutation, "LAST", ())
    return tmp_path, noticing, calls


MUTANT = Mutant("memdlib/r/m.py", 1, 4, 5, "1", "(1 + 1)")
LIMIT = float(mutation.TIMES + mutation.MORE)


def test_other_files_are_asked_what_the_first_does_not_notice(room):
    root, noticing, calls = room
    first, second = "tests/r/test_m.py", "tests/r/test_n.py"
    noticing.add(first)
    assert mutation.tried(root, [MUTANT]) == ["killed"]
    assert calls() == [f"{first} {LIMIT}", f"{first} None"]
    (root / first).write_text("A = 2\n")
    noticing.clear()
    noticing.add(second)
    assert mutation.tried(root, [MUTANT]) == ["killed"]
    asked = (MUTANT.file, first, second)
    assert calls() == sorted(f"{f} {x}" for f in asked for x in (LIMIT, None))


def test_a_try_is_kept_until_its_files_change(room):
    root, _, calls = room
    files = (MUTANT.file, "tests/r/test_m.py", "tests/r/test_n.py")
    assert mutation.tried(root, [MUTANT]) == ["survived"] and len(calls()) == 6
    assert mutation.tried(root, [MUTANT]) == ["survived"] and not calls()
    (root / files[2]).write_text("A = 2\n")
    assert mutation.tried(root, [MUTANT]) == ["survived"]
    assert calls() == [f"{files[2]} {LIMIT}", f"{files[2]} None"]
    (root / files[0]).write_text("B = 1\n")
    assert mutation.tried(root, [MUTANT]) == ["survived"] and len(calls()) == 6


def test_tests_that_fail_anyway_notice_nothing(room, monkeypatch):
    root, _, _ = room
    monkeypatch.setattr(mutation, "outcome", lambda *given: ("killed", 1.0))
    with pytest.raises(RuntimeError, match="test_m.py fails without a mutant"):
        mutation.tried(root, [MUTANT])


def test_samples_are_counted_apart(tiny, monkeypatch):
    root, path = tiny
    path.write_text("A = 1 + 2\n")
    (root / mutation.SURVIVORS).parent.mkdir(parents=True)
    line, found = "A = 1 + 2", mutation.named(root)
    one, other, third = found
    (root / mutation.SURVIVORS).write_text(
        f'[[equivalent]]\nfile = "memdlib/m.py"\nline = "{line}"\n'
        f'old = "{other.old}"\nnew = "{other.new}"\nwhy = "nobody reads A at all"\n'
    )
    monkeypatch.setattr(
        mutation, "drawn", lambda names: {"read": [one, other], "fresh": [third]}
    )
    monkeypatch.setattr(
        mutation,
        "tried",
        lambda _, sample: [
            "killed" if m == found[third] else "survived" for m in sample
        ],
    )
    none = {"killed": 0, "stopped": 0, "survived": 0, "equivalent": [], "missed": []}
    assert mutation.measure(root) == {
        "all": 3,
        "read": none
        | {
            "sample": 2,
            "survived": 2,
            "equivalent": [list(other)],
            "missed": [list(one)],
            "seed": mutation.SEEDS["read"],
        },
        "fresh": none | {"sample": 1, "killed": 1, "seed": mutation.SEEDS["fresh"]},
    }


def test_a_mutant_is_in_one_sample_only(tiny, monkeypatch):
    root, _ = tiny
    listed = mutation.named(root)
    monkeypatch.setattr(mutation, "SAMPLE", len(listed) // 3 + 1)
    monkeypatch.setattr(mutation, "EARLIER", (1,))
    found = mutation.drawn(listed)
    assert list(found) == ["read", "fresh"]
    size, left = mutation.SAMPLE, set(listed)
    left -= set(mutation.sampled(left, size, 1))
    assert found["read"] == mutation.sampled(left, size, mutation.SEEDS["read"])
    assert set(found["fresh"]) == left - set(found["read"])


def test_what_was_read_is_a_mutant_with_a_reason():
    listed = mutation.named(ROOT)
    for name, why in mutation.read(ROOT).items():
        assert name in listed and len(why.split()) >= 4
