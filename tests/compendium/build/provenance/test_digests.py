import pytest

from compendium.build.provenance.digests import (
    code_digest,
    digest,
    locked_versions,
)

TABLE = "data/published/table.csv"


@pytest.mark.parametrize(
    ("code", "words", "matters"),
    [
        ("printed_figures('table', 'x')", (), True),
        ("print('tables')", (), False),
        ("print(1)", ["table"], True),
        ("from memdlib.a import f\nf()", (), True),
    ],
)
def test_a_published_table_counts_where_it_is_named(project, code, words, matters):
    project.write("memdlib/a.py", "def f():\n    return g()\n\n\ndef g(t='table'): 1\n")
    before = code_digest(project.root, [code], words=words)
    path = project.root / TABLE
    path.write_text(path.read_text().replace("86.40", "99.40"))
    assert (code_digest(project.root, [code], words=words) != before) is matters


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
