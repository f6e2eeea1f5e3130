from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sympy import Matrix

from memdlib.nml._engine.elimination import normal, reduce_rows, whole_columns

SMALL = st.integers(-4, 4)


@given(
    st.integers(1, 4).flatmap(
        lambda q: st.lists(st.tuples(*[SMALL] * q), min_size=1, max_size=6)
    )
)
def test_the_reduced_form_is_that_of_sympy(rows):
    found = reduce_rows(rows)
    reduced, pivots = Matrix(rows).rref()
    ours = sorted(zip(found.pivots, found.rows, strict=True))
    assert len(found.pivots) == len(pivots)
    for _, row in ours:
        exact = Matrix([[Fraction(x, found.scale) for x in row]])
        assert reduced.col_join(exact).rank() == len(pivots)


@given(st.lists(st.tuples(SMALL, SMALL, SMALL), min_size=2, max_size=2))
def test_the_normal_is_the_cross_product(rows):
    reduced = reduce_rows(rows)
    expected = np.cross(*np.array(rows))
    if len(reduced.pivots) == 2:
        assert not np.cross(normal(reduced, 3), expected).any() and expected.any()
    else:
        assert not expected.any()


def test_columns_become_whole_and_keep_their_ratios():
    table = [[0.1, Fraction(1, 3)], [0.25, Fraction(2, 3)], [-3.0, Fraction(0)]]
    whole = whole_columns(table)
    for column, values in zip(
        zip(*whole, strict=True), zip(*table, strict=True), strict=True
    ):
        assert all(isinstance(x, int) for x in column)
        factor = Fraction(column[0]) / Fraction(values[0])
        assert factor > 0
        assert all(
            x == factor * Fraction(v) for x, v in zip(column, values, strict=True)
        )


def test_a_column_of_zeros_stays():
    assert whole_columns([[0.0, 2.0], [0.0, 4.0]]) == ((0, 1), (0, 2))


def test_pivots_are_the_largest():
    """Powers of uneven values leave columns of moderate size."""
    x = (3, 4, 23, 3592)
    found = reduce_rows([tuple(v**j for v in x) for j in (1, 2, 3)])
    assert found.pivots == (3, 2, 1)
    assert all(abs(v) <= abs(found.scale) for row in found.rows for v in row)
