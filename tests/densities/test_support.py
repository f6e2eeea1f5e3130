import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdlib.densities.support import Support, gauss_legendre, read_support


def test_an_interval_or_a_set_of_levels_in_any_sequence():
    for kind in (tuple, list, np.array):
        assert read_support(kind((0, 1))) == Support(0.0, 1.0)
        assert read_support(levels=kind((1, 0))) == Support(0.0, 1.0, (0.0, 1.0))
        assert read_support(levels=kind((3, 1, 2))).levels == (1.0, 2.0, 3.0)
    assert read_support() == read_support((-np.inf, np.inf))
    assert [read_support(s).bounded for s in ((0, 1), (0, np.inf))] == [True, False]
    support = read_support((0, 2))
    assert read_support(support) is support
    assert str(read_support(levels=range(7))) == "the levels 0, 1, 2, 3, ..."
    assert str(read_support((-np.inf, np.inf))) == "(-inf, inf)"


@pytest.mark.parametrize(
    ("support", "levels", "message"),
    [
        ((1.0, 0.0), None, "must be .a, b. with a < b"),
        ((0.0, np.nan), None, "must be .a, b. with a < b"),
        ([1.0], None, "must be an interval .a, b."),
        ([1.0, 2.0, 3.0], None, "for a finite set of values use levels="),
        ("levels", None, "support='levels' must be .* use levels="),
        ([[0, 1], [2]], None, "support must be real numbers"),
        (None, [1.0], "at least two numbers; for an interval use support"),
        (None, 3, "levels=3 must be at least two numbers"),
        (None, [1.0, 1.0, 2.0], "must be finite and distinct"),
        (None, [1.0, np.inf], "must be finite and distinct"),
        (None, "observed", "levels must be real numbers"),
        (Support(0, 1), [0, 1], "exclude each other"),
    ],
)
def test_what_is_no_support_is_named(support, levels, message):
    with pytest.raises(ValueError, match=message):
        read_support(support, levels=levels)


@given(st.integers(1, 60))
def test_gauss_legendre_is_exact_for_polynomials(n):
    nodes, weights = gauss_legendre(n)
    degree = 2 * n - 2
    assert np.sum(weights * nodes**degree) == pytest.approx(2 / (degree + 1), rel=1e-10)
