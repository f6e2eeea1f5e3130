import importlib
import pkgutil

import pytest

import memdlib
from compendium.build.reference import documented, find, members, page, write_pages
from compendium.project import root
from memdlib import MeMdClassifier
from memdlib.densities import Support
from memdlib.nml import Codelength

TABLE = """# Reference

```{eval-rst}
.. autosummary::

   ~memdlib.MeMdClassifier
   ~memdlib.divergences.kl
```
Prose that names ~memdlib.nothing.
"""


def test_names_are_those_of_the_tables():
    assert documented(TABLE) == ["memdlib.MeMdClassifier", "memdlib.divergences.kl"]


def test_every_public_name_has_a_page():
    named = map(find, documented((root() / "book" / "api.md").read_text()))
    described = {id(thing) for thing in named}
    rooms = [m.name for m in pkgutil.iter_modules(memdlib.__path__, "memdlib.")]
    for module in map(importlib.import_module, ["memdlib", *rooms]):
        missing = [
            name
            for name in getattr(module, "__all__", ())
            if callable(getattr(module, name))
            and id(getattr(module, name)) not in described
        ]
        assert missing == [], module.__name__


def test_members_are_our_own_and_public():
    found = list(members(MeMdClassifier))
    assert {"fit", "predict", "accuracy_curve", "ranking_", "classes_"} <= set(found)
    assert not {"get_params", "set_fit_request", "score", "_fit"} & set(found)
    assert "total" in set(members(Codelength))
    assert list(members(Support))


def test_a_page_names_its_object():
    text = page("memdlib.MeMdClassifier")
    assert text.startswith("MeMdClassifier\n==============\n")
    assert ".. autoclass:: memdlib.MeMdClassifier\n   :members: " in text
    assert ".. autofunction:: memdlib.divergences.kl" in page("memdlib.divergences.kl")
    with pytest.raises(AttributeError, match="lost"):
        page("memdlib.divergences.lost")


def test_pages_of_objects_that_went_are_removed(project):
    project.write("book/api.md", TABLE)
    project.write("book/api/memdlib.gone.rst", "gone")
    write_pages(project.root)
    folder = project.root / "book" / "api"
    assert sorted(path.name for path in folder.iterdir()) == [
        "memdlib.MeMdClassifier.rst",
        "memdlib.divergences.kl.rst",
    ]
    before = (folder / "memdlib.divergences.kl.rst").stat().st_mtime_ns
    write_pages(project.root)
    assert (folder / "memdlib.divergences.kl.rst").stat().st_mtime_ns == before
