import numpy as np
import pytest

from memdlib.nml._engine.compiled_lanes import LANES, exponentials, subtract_logs


def test_exponentials_and_logarithms():
    with np.errstate(all="ignore"):
        rows = np.zeros((6, LANES))
        bits = rows.view(np.int64)
        rows[0] = np.linspace(-99.0, 99.0, LANES)
        exponentials(rows, bits, 1, 0, 2)
        assert rows[1] == pytest.approx(np.exp(rows[0]), rel=5e-16)
        rows[3] = 1.0 + rows[1]
        subtract_logs(rows, bits, 4, -2.0, 3, 5, 2)
        assert rows[4] == pytest.approx(2.0 * np.log(rows[3]), rel=5e-16)


def test_logarithms_of_small_numbers():
    rows = np.zeros((4, LANES))
    rows[0] = np.geomspace(1e-300, 1.0, LANES)
    subtract_logs(rows, rows.view(np.int64), 1, -1.0, 0, 2, 3)
    assert rows[1] == pytest.approx(np.log(rows[0]), rel=5e-16)
