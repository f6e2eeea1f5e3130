"""scikit-learn's checks of every estimator under each of its global settings.

Run them by ``make test-nightly``; ``tests/test_global_settings.py`` has a selection.
"""

import pytest

from tests.nightly.check_contract import VARIANTS
from tests.scikit_learn import SETTINGS, checks, run
from tests.test_contract import DEFAULTS
from tests.test_global_settings import assert_same_answers, counts

CASES = [
    pytest.param(*case.values, setting, id=f"{setting}-{case.id}")
    for setting in SETTINGS
    for case in checks([*DEFAULTS, *VARIANTS], setting)
]


@pytest.mark.parametrize(("estimator", "check", "setting"), CASES)
def test_scikit_learn_contract_under_settings(estimator, check, setting):
    run(check, estimator, setting)


@pytest.mark.parametrize("estimator", VARIANTS, ids=str)
def test_answers_of_other_variants_do_not_depend_on_settings(estimator):
    assert_same_answers(estimator, *counts())
