from itertools import product

import mpmath
import numpy as np
import pytest

from benchmarks import joint_claims
from tests.nml import literal_joint


def test_no_error_is_larger_than_claimed(monkeypatch):
    """A few of the models that the benchmark tries, with fewer labels."""
    monkeypatch.setattr(joint_claims, "MOST_TABLES", 40)
    found = joint_claims.outcomes(block=10**6, n_models=8)
    assert found.total() == 8
    assert not [name for name in found if name.endswith("beyond")]
    assert found["statistics"] > 2


def test_an_error_larger_than_claimed_is_told(monkeypatch, capsys):
    monkeypatch.setattr(joint_claims, "MOST_TABLES", 20)
    monkeypatch.setattr(joint_claims, "reference", lambda call: 1e9)
    found = joint_claims.outcomes(block=1, n_models=3)
    assert "truth 1000000000.0" in capsys.readouterr().out
    assert all(name.endswith("beyond") for name in found if name != "refused")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_its_sum_is_that_of_a_general_optimiser(n_classes):
    levels = list(product(range(2), repeat=2)) + [(0, 1)] * (3 - n_classes)
    call = joint_claims.Joint(list(map(list, levels)), 1, [1.0, 3.0], True, n_classes)
    rows = [[1.0, *(2.0 * i + 1.0 for i in row)] for row in levels]
    expected = literal_joint.complexity(np.array(rows), n_classes)
    assert joint_claims.reference(call) == pytest.approx(expected, abs=1e-6)


def test_a_maximum_whose_logits_are_known():
    """Three classes of one cell are free."""
    with mpmath.workdps(40):
        unit = [[mpmath.mpf(1), mpmath.mpf(0)], [mpmath.mpf(0), mpmath.mpf(1)]]
        found = joint_claims.supremum(unit, [0, 0], [6], [2, 3])
        expected = mpmath.log(mpmath.mpf(2**2 * 3**3) / 6**6)
        assert abs(found - expected) < mpmath.mpf(10) ** -20
