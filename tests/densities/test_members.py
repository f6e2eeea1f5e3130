import numpy as np
import pytest
from scipy import integrate, stats

from memdlib import MaxEntDensity


@pytest.mark.parametrize(
    ("density", "law"),
    [
        (
            MaxEntDensity(2, (-np.inf, np.inf)).from_moments([3.0, 13.0]),
            stats.norm(3, 2),
        ),
        (MaxEntDensity(1, (0, np.inf)).from_moments([2.5]), stats.expon(scale=2.5)),
        (MaxEntDensity(1, (0, 1)).from_moments([0.5]), stats.uniform()),
    ],
)
def test_tables_rise_from_zero_to_one_at_the_values_of_the_law(density, law):
    members = density._fitted
    table = members.table
    assert table.cumulative[0, 0] == 0.0
    assert table.cumulative[0, -1] == pytest.approx(1.0, abs=1e-12)
    assert (np.diff(table.cumulative[0]) >= 0).all()
    assert table.total == pytest.approx(1.0, abs=1e-9)
    assert density.mean() == pytest.approx(law.mean(), rel=1e-9)
    assert density.std() == pytest.approx(law.std(), rel=1e-9)


def test_a_table_of_two_modes_by_adaptive_quadrature():
    density = MaxEntDensity(4, (-np.inf, np.inf)).from_moments([0.0, 1.0, 0.0, 1.4])
    for x in (-1.5, -0.2, 0.0, 0.9):
        below, _ = integrate.quad(density.pdf, -8, x, epsabs=1e-13, epsrel=1e-12)
        assert density.cdf(x) == pytest.approx(below, abs=1e-10)
