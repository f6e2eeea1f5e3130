from compendium.execution.runs import runs
from compendium.ledger.frozen import read_frozen
from compendium.project import root


def test_no_run_looks_at_them_but_those_that_say_so():
    names = set(read_frozen(root()).kinds)
    for run in runs(root()).values():
        assert run.name.startswith("frozen-") or not names & {*run.sets()}, run.name
