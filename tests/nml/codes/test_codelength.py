from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from memdlib.nml import (
    Codelength,
    ComplexityEstimate,
    alphabet_codelength,
    conditional_codelength,
    conditional_complexity_estimate,
)


def test_total_is_error_plus_complexity():
    assert Codelength(1.25, 2.5, 0.0, "types").total == 3.75
    many = Codelength(np.ones((2, 3)), np.arange(3.0), np.zeros(3), np.full(3, "table"))
    assert many.total.tolist() == [[1.0, 2.0, 3.0]] * 2


def test_codes_do_not_change():
    with pytest.raises(FrozenInstanceError):
        Codelength(1.0, 2.0, 0.0, "table").error = 0.0


def test_what_an_uncertainty_is_follows_from_the_way():
    kinds = {
        "saturated": "bound",
        "table": "bound",
        "enumeration": "bound",
        "bounds": "bound",
        "types": "estimate",
        "monte-carlo": "standard error",
    }
    for method, kind in kinds.items():
        assert ComplexityEstimate(2.0, 0.1, method).kind == kind
    many = np.array([["types", "table"], ["monte-carlo", "bounds"]])
    code = Codelength(np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2)), many)
    expected = [["estimate", "bound"], ["standard error", "bound"]]
    assert code.kind.tolist() == expected


def test_every_code_tells_its_error_bar_and_method():
    free = alphabet_codelength([2, 1, 1], [0, 1, 2], 2)
    fitted = alphabet_codelength([2, 1, 1, 3], [0, 1, 2, 5], 2)
    assert free.uncertainty < 1e-12 and free.method == "types"
    assert 1e-9 < fitted.uncertainty < 1.01e-9 and fitted.method == "types"
    labels = conditional_codelength([1, 1, 2, 2, 3], [0, 1, 0, 1, 1], 1)
    estimate = conditional_complexity_estimate([2, 2, 1], 1)
    assert isinstance(estimate, ComplexityEstimate)
    assert (labels.complexity, labels.uncertainty, labels.method) == tuple(estimate)
