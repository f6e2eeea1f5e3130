from itertools import product

import mpmath
import numpy as np
import pytest

from memdlib.nml.boundary import on_boundary
from memdlib.nml.level_model import level_model
from tests.nml import hostile_models


def test_no_error_is_larger_than_claimed(monkeypatch):
    """A few of the models that are tried every night, with fewer labels."""
    monkeypatch.setattr(hostile_models, "MOST_VECTORS", 40)
    found = hostile_models.outcomes(block=10**6, n_models=4)
    assert found.total() == 4
    assert not [name for name in found if name.endswith("beyond")]


def test_an_error_larger_than_claimed_is_told(monkeypatch, capsys):
    monkeypatch.setattr(hostile_models, "MOST_VECTORS", 20)
    monkeypatch.setattr(hostile_models, "reference", lambda call: 1e9)
    found = hostile_models.outcomes(block=1, n_models=1)
    assert all(name.endswith("beyond") for name in found)
    assert "truth 1000000000.0" in capsys.readouterr().out


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_both_ways_to_the_boundary_agree(intercept, m):
    x = np.array([-2.0, -0.5, 1.0, 3.0, 7.0])
    model = level_model(np.full(5, 2), x, m, intercept)
    patterns = list(product((-1, 0, 1), repeat=5))
    expected = ~on_boundary(model, np.array(patterns, dtype=float).T + 1.0)
    signs = [1] * 5 if intercept else np.sign(x).astype(int).tolist()
    found = [hostile_models.is_interior(p, signs, model.dimension) for p in patterns]
    assert found == expected.tolist()


def test_a_maximum_whose_logits_are_known():
    """Logits in the ratio one to a million: only the first labels tell."""
    with mpmath.workdps(40):
        x = [mpmath.mpf(1), mpmath.mpf(10) ** 6]
        found = hostile_models.supremum(x, x, 1, [4, 4], [3, 4], [1.1, 1.1e6])
        assert abs(found - mpmath.log(mpmath.mpf(27) / 256)) < mpmath.mpf(10) ** -20
