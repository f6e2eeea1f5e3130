import pytest

from compendium.build.provenance.definitions import reach

BASE = {
    "__init__.py": "from memdlib.sub import f\n",
    "a.py": (
        '"""Doc."""\nfrom memdlib.b import SIZE, Base\nimport memdlib.c as c\n\n'
        "SCALE = 2\nunreached = 1\n\n\n"
        "@c.mark\nclass A(Base):\n    def f(self, x, scale=SCALE):\n"
        "        def inner():\n            return c.deep(x)\n"
        "        return inner() + SIZE\n"
    ),
    "b.py": "SIZE = 3\n\n\nclass Base:\n    kind = 1\n",
    "c.py": (
        "def mark(x):\n    return x\n\n\ndef deep(x):\n    return x + LIMIT\n\n\n"
        "def unreached():\n    return 1\n\n\nLIMIT = 7\n"
    ),
    "sub/__init__.py": "from memdlib.sub.inner import f\n",
    "sub/inner.py": "CONSTANT = 5\n\n\ndef f():\n    return CONSTANT\n",
}
USE_A = "from memdlib.a import A\nA().f(1)"
USE_F = "from memdlib import f\nf()"


def found(project, code, files=BASE, **options):
    for path in (project.root / "memdlib").rglob("*.*"):
        path.unlink()
    for name, text in files.items():
        project.write(f"memdlib/{name}", text)
    cells = [code] if isinstance(code, str) else code
    return reach(project.root, cells, **options)


def edited(name, old, new):
    assert old in BASE[name]
    return BASE | {name: BASE[name].replace(old, new)}


@pytest.mark.parametrize(
    ("code", "name", "old", "new", "matters"),
    [
        (USE_A, "a.py", "SCALE = 2", "SCALE = 4", True),  # a default
        (USE_A, "a.py", "unreached = 1", "unreached = 2", False),
        (USE_A, "a.py", "Doc", "Better words", False),
        (USE_A, "a.py", "+ SIZE", "+ SIZE  # a comment", False),
        (USE_A, "a.py", "scale=SCALE", "scale: int = SCALE", False),
        (USE_A, "a.py", "inner() + SIZE", "inner() - SIZE", True),
        (USE_A, "a.py", "    def f", '    "Doc."\n\n    def f', False),
        (USE_A, "b.py", "SIZE = 3", "SIZE = 4", True),
        (USE_A, "b.py", "kind = 1", "kind = 2", True),  # a base class
        (USE_A, "c.py", "return x\n", "return 0\n", True),  # a decorator
        (USE_A, "c.py", "LIMIT = 7", "LIMIT = 8", True),  # from a nested function
        (USE_A, "c.py", "return 1", "return 2", False),
        (USE_A, "sub/inner.py", "CONSTANT = 5", "CONSTANT = 6", False),
        (USE_F, "sub/inner.py", "CONSTANT = 5", "CONSTANT = 6", True),  # re-exports
        (USE_F, "a.py", "SCALE = 2", "SCALE = 4", False),
    ],
)
def test_only_definitions_that_are_reached_matter(
    project, code, name, old, new, matters
):
    before = found(project, code)
    assert (found(project, code, edited(name, old, new)) != before) is matters


TYPED = "class Base:\n    kind: int = 1\n    found_: list[Missing]\n"


@pytest.mark.parametrize(
    ("old", "new", "matters"),
    [
        ("", "", False),
        ("found_: list", "lost_: tuple", False),
        ("kind: int = 1", "kind: int = 2", True),
        ("kind: int", "other: int", True),
        ("kind: int", "kind: ClassVar[int]", True),
        ("found_: list[Missing]", "found_: ClassVar[list]", True),
        ("found_: list[Missing]", "size.found_: list", True),  # looks size up
        ("class Base", "@dataclass\nclass Base", True),
        ("Base:", "Base(NamedTuple):", True),
        ("Base:", "Base(typing.TypedDict):", True),
    ],
)
def test_types_of_attributes_matter_only_where_they_make_fields(
    project, old, new, matters
):
    before = found(project, USE_A)
    text = BASE["b.py"].replace("class Base:\n    kind = 1\n", TYPED.replace(old, new))
    assert (found(project, USE_A, BASE | {"b.py": text}) != before) is matters


@pytest.mark.parametrize("head", ["@dataclass\nclass Base", "class Base(NamedTuple)"])
def test_types_of_fields_matter(project, head):
    text = BASE["b.py"].replace("class Base", head)
    fields = [text.replace("kind = 1", f"kind: {kind}") for kind in ("int", "str")]
    one, other = (found(project, USE_A, BASE | {"b.py": field}) for field in fields)
    assert one != other


def test_neither_place_nor_order_nor_the_form_of_an_import_matters(project):
    before = found(project, USE_A)
    _, definitions = BASE["c.py"].split("def deep", 1)
    moved = {
        "new/__init__.py": "",
        "new/room.py": "def deep" + definitions + "from memdlib.new.b import Base\n",
        "new/marks.py": "LIMIT = 0\n\n\ndef mark(x):\n    return x\n",
        "new/b.py": "class Base:\n    kind = 1\n\n\nSIZE = 3\n",
        "a.py": BASE["a.py"]
        .replace("from memdlib.b import SIZE, Base", "import memdlib.new.room")
        .replace("import memdlib.c as c", "from memdlib.new import b, marks as m")
        .replace("c.mark", "m.mark")
        .replace("c.deep", "memdlib.new.room.deep")
        .replace("(Base)", "(memdlib.new.room.Base)")
        .replace("+ SIZE", "+ b.SIZE"),
    }
    assert found(project, USE_A, moved) == before
    assert found(project, "import memdlib.a as room\nroom.A().f(1)", moved) == before
    assert found(project, "from memdlib.a import A as Z\nZ().f(1)", moved) == before


def test_the_second_package_counts_too(project):
    before = found(project, USE_F)
    project.write("compendium/study/inner.py", BASE["sub/inner.py"])
    code = "from compendium.study.inner import f\nf()"
    assert reach(project.root, [code]) == before


@pytest.mark.parametrize(
    "imports",
    [
        "from memdlib import c\ndef g(): return c.deep(1)",
        "def g():\n    from memdlib.c import deep\n    return deep(1)",
        "try:\n    from memdlib.c import deep\nexcept ImportError:\n    deep = None\n"
        "def g(): return deep(1)",
        "from memdlib import c\ndef g(): return getattr(c, 'deep')(1)",
        "import memdlib\ndef g(): return memdlib.c.deep(1)",
        "from memdlib.c import deep as h\ndef g(h=h): return h(1)",
        "from memdlib.c import deep\ndef g(): return [deep(d) for d in (1,)]",
    ],
)
def test_imports_are_followed_wherever_they_stand(project, imports):
    code = "from memdlib.g import g\ng()"
    before = found(project, code, BASE | {"g.py": imports})
    changed = edited("c.py", "LIMIT = 7", "LIMIT = 8") | {"g.py": imports}
    assert found(project, code, changed) != before


def test_imports_for_type_checkers_are_those_of_late_names(project):
    late = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    {}\n"
    late += "__getattr__, __dir__ = late('sub')\n"
    late = late.format(BASE["__init__.py"])
    changed = edited("sub/inner.py", "CONSTANT = 5", "CONSTANT = 6")
    assert found(project, USE_F, BASE | {"__init__.py": late}) == found(project, USE_F)
    assert found(project, USE_F, changed | {"__init__.py": late}) == found(
        project, USE_F, changed
    )


def test_a_module_used_as_an_object_counts_whole(project):
    code = "from memdlib import c\nprint(c)"
    before = found(project, code)
    assert len(before.definitions) == 4
    assert found(project, code, edited("c.py", "return 1", "return 2")) != before
    assert len(found(project, "import memdlib.c as c\nc.__name__").definitions) == 4


def test_names_of_a_function_hide_those_of_its_module(project):
    code = "from memdlib.g import f\nf(1)"
    text = "def f(size, *rest):\n    total = size\n    return total, rest\n"
    before = found(project, code, {"g.py": text})
    hidden = "size = total = rest = 1\n\n\n" + text
    assert found(project, code, {"g.py": hidden}) == before
    shared = "total = 1\n\n\ndef f(size):\n    global total\n    total = size\n"
    assert len(found(project, code, {"g.py": shared}).definitions) == 2


def test_what_runs_on_import_counts(project):
    text = "TABLE = {}\n\n\ndef f():\n    return TABLE\n\n\nTABLE.update(a=1)\n"
    changed = text.replace("a=1", "a=2")
    for code in ("from memdlib.g import f\nf()", "import memdlib.g"):
        before = found(project, code, {"g.py": text})
        assert found(project, code, {"g.py": changed}) != before


def test_things_outside_count_by_their_full_name(project):
    def definitions(text):
        files = {"g.py": text}
        return found(project, "from memdlib.g import g\ng", files).definitions

    one = definitions("import numpy as np\ndef g(): return np.linalg.norm(1)")
    assert one == definitions("from numpy.linalg import norm\ndef g(): return norm(1)")
    other = definitions("from scipy.linalg import norm\ndef g(): return norm(1)")
    assert one != other


def test_cycles_end(project):
    files = {
        "p.py": "from memdlib.q import g, ghost\ndef f(): return g, ghost, f\n",
        "q.py": "from memdlib.p import f, ghost\ndef g(): return f\n",
    }
    assert len(found(project, "from memdlib.p import f\nf", files).definitions) == 2


def test_modules_can_be_left_out(project):
    code = USE_A + "\nfrom memdlib.sub import inner\ninner.f()"
    left_out = {"without": ["memdlib.c", "memdlib.sub.inner"]}
    before = found(project, code, **left_out)
    for name, old, new in [
        ("c.py", "LIMIT = 7", "LIMIT = 8"),
        ("sub/inner.py", "CONSTANT = 5", "CONSTANT = 6"),
    ]:
        assert found(project, code, edited(name, old, new), **left_out) == before
    assert found(project, code, edited("b.py", "kind = 1", "kind = 2")) != before


def test_data_beside_a_module_count_where_they_are_named(project):
    text = "def f():\n    return read('facts.toml')\n\n\ndef g():\n    return 1\n"
    files = {"sub/g.py": text, "sub/facts.toml": "a = 1\n", "facts.toml": "b = 1\n"}
    use = "from memdlib.sub.g import {0}\n{0}()"
    assert found(project, use.format("f"), files).files == {b"a = 1\n"}
    assert found(project, use.format("g"), files).files == set()


def test_cells_are_told_apart(project):
    assert found(project, ["a = 1\nb"]) != found(project, ["a = 1", "b"])
    assert found(project, ["import x", "x.a"]) == found(
        project, ["", "from x import a\na"]
    )
    assert found(project, ["'shown'"]) != found(project, ["'seen'"])


REGISTRY = {
    "g.py": (
        "from memdlib.c import deep\n\n\ndef even():\n    return 2\n\n\n"
        '_REGISTRY = {"deep": deep(1), "even": even()}\n\n\n'
        "def get(name):\n    return _REGISTRY[name]\n"
    ),
    "c.py": BASE["c.py"],
}


@pytest.mark.parametrize(
    ("code", "words", "matters"),
    [
        ("get('even')", (), False),
        ("get('deep')", (), True),
        ("get(name)", (), False),
        ("get(name)", ("even",), False),
        ("get(name)", ("deep",), True),
    ],
)
def test_an_entry_of_a_registry_counts_if_its_key_is_written(
    project, code, words, matters
):
    cell = f"from memdlib.g import get\nname = 1\n{code}"
    before = found(project, cell, REGISTRY, words=words)
    changed = REGISTRY | {"c.py": REGISTRY["c.py"].replace("LIMIT = 7", "LIMIT = 8")}
    assert (found(project, cell, changed, words=words) != before) == matters


def test_a_key_that_only_an_entry_writes_is_found(project):
    files = REGISTRY | {
        "g.py": REGISTRY["g.py"].replace("return 2", "return 'deep'"),
    }
    cell = "from memdlib.g import get\nget('even')"
    before = found(project, cell, files)
    changed = files | {"c.py": files["c.py"].replace("LIMIT = 7", "LIMIT = 8")}
    assert found(project, cell, changed) != before


def test_a_new_entry_of_a_registry_does_not_matter(project):
    cell = "from memdlib.g import get\nget('even')"
    before = found(project, cell, REGISTRY)
    text = REGISTRY["g.py"].replace('"even": even()', '"even": even(), "odd": 1')
    assert found(project, cell, REGISTRY | {"g.py": text}) == before
