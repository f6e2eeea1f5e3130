import importlib
import pkgutil
from pydoc import locate

import memdlib
from compendium.build.reference import documented, members, page, write_pages
from compendium.project import root
from memdlib import MeMdClassifier
from memdlib.nml import Codelength

TABLE = """# Reference

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
    named = map(locate, documented((root() / "book" / "api.md").read_text()))
    described = {id(thing) for thing in named}
    rooms = [m.name for m in pkgutil.iter_modules(memdlib.__path__, "memdlib.")]
    for module in map(importlib.import_module, ["memdlib", *rooms]):
        public = {
            name: getattr(module, name) for name in getattr(module, "__all__", ())
        }
        missing = [
            n for n, x in public.items() if callable(x) and id(x) not in described
        ]
        assert missing == [], module.__name__


def test_members_are_our_own_and_public():
    found = list(members(MeMdClassifier))
    assert {"fit", "predict", "accuracy_curve", "ranking_", "classes_"} <= set(found)
    assert not {"get_params", "set_fit_request", "score", "_fit"} & set(found)
    assert "total" in set(members(Codelength))


def test_pages_describe_their_objects_and_those_of_sections_that_went_are_removed(
    project,
):
    project.write("book/api.md", TABLE)
    project.write("book/api/gone.rst", "gone")
    write_pages(project.root)
    (path,) = (project.root / "book" / "api").iterdir()
    assert path.name == "two-things.rst"
    names = ["memdlib.MeMdClassifier", "memdlib.divergences.kl"]
    text = path.read_text()
    assert text == page("Two things", names)
    assert ".. autoclass:: memdlib.MeMdClassifier\n   :members: " in text
    assert "\n\n.. autofunction:: memdlib.divergences.kl\n" in text
