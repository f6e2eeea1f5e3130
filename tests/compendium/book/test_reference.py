from pydoc import locate

import pytest
from sphinx.ext.autosummary.generate import find_autosummary_in_files

from compendium.book.reference import leave_out_inherited
from compendium.project import root
from memdlib import DivergenceRanker, MeMdClassifier
from memdlib.nml import Codelength, ComplexityEstimate
from tests.scikit_learn import offered


def test_every_public_name_has_a_page():
    entries = find_autosummary_in_files([str(root() / "book" / "api.md")])
    assert {entry.path for entry in entries} == {str(root() / "book" / "api")}
    described = {id(locate(entry.name)) for entry in entries}
    for thing in offered():
        assert not callable(thing) or id(thing) in described, thing


@pytest.mark.parametrize(
    ("owner", "name", "left_out"),
    [
        (MeMdClassifier, "fit", False),
        (MeMdClassifier, "accuracy_curve", False),
        (MeMdClassifier, "ranking_", False),
        (Codelength, "total", False),
        (MeMdClassifier, "get_params", True),
        (MeMdClassifier, "set_fit_request", True),
        (MeMdClassifier, "score", True),
        (DivergenceRanker, "transform", True),  # scikit-learn wraps it
        (ComplexityEstimate, "count", True),  # of every tuple
    ],
)
def test_members_are_our_own(owner, name, left_out):
    member = getattr(owner, name)
    said = leave_out_inherited(None, "class", name, member, False, None)
    assert said is (True if left_out else None)
