import pytest

from compendium.build.provenance import (
    code_digest,
    digest,
    imported_modules,
    locked_versions,
)

BASE = {
    "a.py": '"""Doc."""\nfrom memdlib.b import f\n\n\ndef g(x):\n    return f(x) + 1\n',
    "b.py": "def f(x):\n    return 2 * x\n",
    "c.py": "unrelated = 1\n",
    "sub/__init__.py": "from memdlib.c import unrelated\n",
}
CODE = "from memdlib.a import g\nprint(g(1))"


def package(project, **changes):
    for name, text in (BASE | changes).items():
        project.write(f"memdlib/{name}", text)
    return project.root / "memdlib"


@pytest.mark.parametrize(
    ("name", "text", "matters"),
    [
        ("a.py", BASE["a.py"].replace("+ 1", "+ 2"), True),
        ("b.py", BASE["b.py"].replace("2 *", "3 *"), True),
        ("a.py", BASE["a.py"].replace("Doc", "Better words") + "# a comment\n", False),
        ("c.py", "unrelated = 2\n", False),
        ("sub/__init__.py", "", False),
        ("facts.toml", "a = 1\n", True),
        ("sub/facts.toml", "a = 1\n", False),
        ("a.py", BASE["a.py"].replace("(x):\n", '(x):\n    """Doc."""\n'), False),
        ("a.py", BASE["a.py"].replace("(x):\n", "(x):\n    'b' + x\n"), True),
        ("a.py", BASE["a.py"].replace("(x):\n    return", "(x): return"), False),
    ],
)
def test_only_code_that_is_imported_matters(project, name, text, matters):
    before = code_digest(package(project), CODE)
    after = code_digest(package(project, **{name: text}), CODE)
    assert (before != after) is matters


def test_imports_are_followed_wherever_they_stand(project):
    inside = "def g(x):\n    from memdlib import sub\n    return sub.unrelated + x\n"
    before = code_digest(package(project, **{"a.py": inside}), CODE)
    changed = package(project, **{"a.py": inside, "c.py": "unrelated = 2\n"})
    assert code_digest(changed, CODE) != before


def test_modules_can_be_left_out(project):
    before = code_digest(package(project), CODE, without=["memdlib.b"])
    changed = package(project, **{"b.py": "def f(x):\n    return 0\n"})
    assert code_digest(changed, CODE, without=["memdlib.b"]) == before
    assert code_digest(changed, CODE) != before


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import memdlib.nml as n", {"memdlib.nml"}),
        ("from memdlib import a", {"memdlib", "memdlib.a"}),
        ("def f():\n    from memdlib.sub import x", {"memdlib.sub", "memdlib.sub.x"}),
        ("import numpy, memdlibrary", set()),
        ("import numpy, memdlib.a, memdlib.b", {"memdlib.a", "memdlib.b"}),
        (
            "from memdlib.a import (\n    f,\n    g as h,\n)",
            {"memdlib.a", "memdlib.a.f", "memdlib.a.g"},
        ),
        ("try:\n    import memdlib.a\nexcept E:\n    pass", {"memdlib.a"}),
    ],
)
def test_every_form_of_import_is_seen(code, expected):
    assert imported_modules(code) == expected


def test_digests_know_where_parts_end():
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("ab") == digest(b"ab")


def test_versions_are_read_from_the_lock():
    lock = "numpy==2.4.6 \\\n    --hash=sha256:00\nscipy==1.2 ; python_version < '4'\n"
    assert locked_versions(lock, ["numpy", "scipy"]) == {
        "numpy": "2.4.6",
        "scipy": "1.2",
    }


def test_a_package_that_is_not_locked_is_an_error():
    with pytest.raises(KeyError, match="scipy"):
        locked_versions("numpy==2.4.6\n", ["numpy", "scipy"])
