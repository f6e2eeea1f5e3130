import importlib
import inspect
import pkgutil

import pytest

import memdlib
from compendium.build.reference import (
    documented,
    find,
    members,
    page,
    sections,
    write_pages,
)
from compendium.project import root
from memdlib import MeMdClassifier
from memdlib.densities import Support
from memdlib.nml import Codelength

TABLE = """# Reference

What is below.

## Two things

```{eval-rst}
.. autosummary::

   ~memdlib.MeMdClassifier
   ~memdlib.divergences.kl
```

## Nothing

Prose that names ~memdlib.nothing.
"""


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


def test_a_page_describes_its_objects():
    text = page("Two", ["memdlib.MeMdClassifier", "memdlib.divergences.kl"])
    assert text.startswith("Two\n===\n")
    assert ".. autoclass:: memdlib.MeMdClassifier\n   :members: " in text
    assert "\n\n.. autofunction:: memdlib.divergences.kl\n" in text
    with pytest.raises(AttributeError, match="lost"):
        page("One", ["memdlib.divergences.lost"])


def test_functions_do_not_stand_among_the_classes_of_estimators():
    for heading, names in sections((root() / "book" / "api.md").read_text()).items():
        if heading in ("Classifiers", "Rankers and weighters"):
            assert all(inspect.isclass(find(name)) for name in names), heading


def test_pages_of_sections_that_went_are_removed(project):
    project.write("book/api.md", TABLE)
    project.write("book/api/gone.rst", "gone")
    write_pages(project.root)
    (path,) = (project.root / "book" / "api").iterdir()
    assert path.name == "two-things.rst"
    before = path.stat().st_mtime_ns
    write_pages(project.root)
    assert path.stat().st_mtime_ns == before
