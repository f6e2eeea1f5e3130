import pytest

from compendium.build.provenance.syntax import imported_modules


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import memdlib.nml as n", {"memdlib.nml"}),
        ("from memdlib import a", {"memdlib", "memdlib.a"}),
        ("def f():\n    from memdlib.sub import x", {"memdlib.sub", "memdlib.sub.x"}),
        ("import numpy, memdlibrary", set()),
        ("import numpy, memdlib.a, compendium.b", {"memdlib.a", "compendium.b"}),
        (
            "from memdlib.a import (\n    f,\n    g as h,\n)",
            {"memdlib.a", "memdlib.a.f", "memdlib.a.g"},
        ),
        ("try:\n    import memdlib.a\nexcept E:\n    pass", {"memdlib.a"}),
    ],
)
def test_every_form_of_import_is_seen(code, expected):
    assert imported_modules(code) == expected
