from pydoc import locate

from compendium.book.reference import documented, members
from compendium.project import root
from memdlib import MeMdClassifier
from memdlib.nml import Codelength
from tests.scikit_learn import offered


def test_every_public_name_has_a_page():
    named = map(locate, documented((root() / "book" / "api.md").read_text()))
    described = {id(thing) for thing in named}
    for thing in offered():
        assert not callable(thing) or id(thing) in described, thing


def test_members_are_our_own_and_public():
    found = list(members(MeMdClassifier))
    assert {"fit", "predict", "accuracy_curve", "ranking_", "classes_"} <= set(found)
    assert not {"get_params", "set_fit_request", "score", "_fit"} & set(found)
    assert "total" in set(members(Codelength))
