import importlib
import pkgutil
from pydoc import locate

import memdlib
from compendium.build.reference import documented, members
from compendium.project import root
from memdlib import MeMdClassifier
from memdlib.nml import Codelength


def test_every_public_name_has_a_page():
    named = map(locate, documented((root() / "book" / "api.md").read_text()))
    described = {id(thing) for thing in named}
    rooms = [m.name for m in pkgutil.iter_modules(memdlib.__path__, "memdlib.")]
    for module in map(importlib.import_module, ["memdlib", *rooms]):
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            assert not callable(thing) or id(thing) in described, name


def test_members_are_our_own_and_public():
    found = list(members(MeMdClassifier))
    assert {"fit", "predict", "accuracy_curve", "ranking_", "classes_"} <= set(found)
    assert not {"get_params", "set_fit_request", "score", "_fit"} & set(found)
    assert "total" in set(members(Codelength))
