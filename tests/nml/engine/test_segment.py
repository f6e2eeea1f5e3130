import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from memdlib.nml._engine import compiled
from memdlib.nml._engine.level_model import level_model, null_basis, orthonormal_basis
from memdlib.nml._engine.segment import maximise_on_segment
from memdlib.nml._engine.separation import on_boundary


@pytest.fixture(params=["numpy", "kernel"], autouse=True)
def way(request, monkeypatch):
    """Both ways; without numba the kernel runs in Python."""
    monkeypatch.setattr(compiled, "numba", math if request.param == "kernel" else None)
    # Python warns of the lanes that hold no case
    with np.errstate(all="ignore"):
        yield


def by_bfgs(counts, basis, ones):
    def minus(b):
        logits = basis @ b
        slope = basis.T @ (counts * expit(logits) - ones)
        return counts @ np.logaddexp(0, logits) - ones @ logits, slope

    start = np.zeros(basis.shape[1])
    return -minimize(minus, start, jac=True, options={"gtol": 1e-9}).fun


@pytest.mark.parametrize(
    ("counts", "m", "intercept"), [([3, 2, 4], 2, False), ([3, 2, 4, 2], 2, True)]
)
def test_the_root_is_the_maximum(counts, m, intercept):
    model = level_model(
        np.array(counts), np.arange(1.0, 5)[: len(counts)], m, intercept
    )
    basis = orthonormal_basis(model)
    grid = np.indices(np.array(counts) + 1).reshape(len(counts), -1).astype(float)
    inside = grid[:, ~on_boundary(model, grid)]
    value, unsettled = maximise_on_segment(
        model.counts, null_basis(basis)[:, 0], inside
    )
    assert unsettled.size == 0
    expected = [by_bfgs(model.counts, basis, ones) for ones in inside.T]
    assert value == pytest.approx(expected, abs=1e-10)


def test_the_scale_and_sign_of_the_relation_do_not_matter():
    counts, relation = np.array([4.0, 4.0]), np.array([2.0, -1.0])
    ones = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 1.0]])
    value, _ = maximise_on_segment(counts, relation, ones)
    for factor in (-1.0, 7.0):
        again, _ = maximise_on_segment(counts, factor * relation, ones)
        assert again == pytest.approx(value, abs=1e-13)


def test_a_segment_without_length_is_left_to_others():
    counts, relation = np.array([4.0, 4.0]), np.array([2.0, -1.0])
    ones = np.array([[1.0, 0.0, 4.0], [2.0, 0.0, 4.0]])
    _, unsettled = maximise_on_segment(counts, relation, ones)
    assert unsettled.tolist() == [1, 2]


def test_a_root_that_is_an_end_to_rounding():
    """The last logit is about 41, so that its level is pure to 2e-18."""
    counts, relation = [3, 13, 16, 5, 1], [5, -10, 10, -5, 1]
    ones = [1, 11, 1, 1, 1]
    value, unsettled = maximise_on_segment(
        np.array(counts, float), np.array(relation, float), np.c_[ones].astype(float)
    )
    assert unsettled.size == 0

    def means(s):
        return [(k - a * s, n) for k, a, n in zip(ones, relation, counts, strict=True)]

    def level(exponent):
        pairs = zip(relation, means(mpmath.exp(exponent)), strict=True)
        return sum(a * mpmath.log(m / (n - m)) for a, (m, n) in pairs)

    with mpmath.workdps(40):
        exponent = mpmath.findroot(level, (-60.0, -20.0), solver="anderson")
        truth = sum(
            m * mpmath.log(m / n) + (n - m) * mpmath.log((n - m) / n)
            for m, n in means(mpmath.exp(exponent))
        )
    assert -42.0 < exponent < -40.0
    assert value == pytest.approx(float(truth), abs=1e-14)
