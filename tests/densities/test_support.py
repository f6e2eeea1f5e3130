import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdlib.densities.support import Support, gauss_legendre, read_support


def test_a_pair_is_an_interval_and_a_list_is_a_set_of_levels():
    assert read_support((0, 1)) == Support(0.0, 1.0)
    assert read_support([1, 0]) == Support(0.0, 1.0, (0.0, 1.0))
    assert read_support((3, 1, 2)).levels == (1.0, 2.0, 3.0)
    assert read_support(np.array([2.0, 5.0])).levels == (2.0, 5.0)
    assert [read_support(s).bounded for s in ((0, 1), (0, np.inf))] == [True, False]
    support = read_support((0, 2))
    assert read_support(support) is support
    assert str(read_support(range(7))) == "the levels 0, 1, 2, 3, ..."
    assert str(read_support((-np.inf, np.inf))) == "(-inf, inf)"


@pytest.mark.parametrize(
    ("support", "message"),
    [
        ((1.0, 0.0), "must be .a, b. with a < b"),
        ((0.0, np.nan), "must be .a, b. with a < b"),
        ([1.0], "a pair .a, b. or at least two levels"),
        ([1.0, 1.0, 2.0], "must be finite and distinct"),
        ([1.0, np.inf], "must be finite and distinct"),
        ([[0, 1], [2]], "support must be real numbers"),
    ],
)
def test_what_is_no_support_is_named(support, message):
    with pytest.raises(ValueError, match=message):
        read_support(support)


@given(st.integers(1, 60))
def test_gauss_legendre_is_exact_for_polynomials(n):
    nodes, weights = gauss_legendre(n)
    degree = 2 * n - 2
    assert np.sum(weights * nodes**degree) == pytest.approx(2 / (degree + 1), rel=1e-10)
