from collections import Counter

from compendium.execution.runs import runs
from compendium.ledger.frozen import read_frozen
from compendium.project import root


def test_two_sets_of_each_kind_are_put_aside():
    frozen = read_frozen(root())
    assert Counter(frozen.kinds.values()) == {"expression": 2, "text": 2, "table": 2}
    assert frozen.date.isoformat() == "2026-11-24"


def test_no_run_looks_at_them_but_those_that_say_so():
    names = set(read_frozen(root()).kinds)
    for run in runs(root()).values():
        assert run.name.startswith("frozen-") or not names & {*run.sets()}, run.name
