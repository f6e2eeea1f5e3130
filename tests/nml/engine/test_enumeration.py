import math

import numpy as np
import pytest

from memdlib.nml._engine import enumeration
from memdlib.nml._engine.enumeration import (
    enumerate_counts,
    enumerated_complexity,
    enumeration_seconds,
)
from memdlib.nml._engine.level_model import level_model
from tests.nml.literal import literal_complexity


def test_batches_of_label_counts_add_up(monkeypatch):
    model = level_model(np.array([4, 3, 5, 2]), np.arange(1.0, 5.0), 2, False)
    whole = enumerated_complexity(model)
    monkeypatch.setattr(enumeration, "_BATCH", 17)
    assert enumerated_complexity(model) == pytest.approx(whole, abs=1e-13)


def test_the_sum_is_the_literal_one_within_its_uncertainty():
    counts, values = [3, 1, 4, 2], [-1.0, 0.5, 2.0, 7.0]
    model = level_model(np.array(counts), np.array(values), 2, True)
    found, uncertainty = enumerate_counts(model)
    truth = literal_complexity(counts, values, 2, True)
    assert abs(found - truth) < uncertainty + 1e-9
    assert 0.0 < uncertainty < 1e-11


def test_time_grows_with_the_vectors_of_label_counts():
    def seconds(n):
        model = level_model(np.full(5, n), np.arange(1.0, 6.0), 2, False)
        return enumeration_seconds(model)

    assert seconds(200) / seconds(100) == pytest.approx((201 / 101) ** 5, rel=1e-4)
    assert not math.isinf(seconds(10**9))
