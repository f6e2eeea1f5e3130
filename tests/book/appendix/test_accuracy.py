"""Statement of *Floating-point accuracy*, tried in two ways."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from memdlib import divergences
from tests.book.distributions import exact


@pytest.mark.wrong("the terms add up to two divergences", "kl(p, q)", "2 * kl(p, q)")
def test_prop_dv_digits_witness():
    """The terms are nonnegative and add up to KL; an empty cell leaves its q."""
    p, q = np.random.default_rng([3, 12]).dirichlet(np.ones(6), size=(2, 200))
    kl = divergences.kl
    terms = p * divergences.x_minus_log1p((q - p) / p)
    assert (terms >= 0).all()
    assert_allclose(terms.sum(axis=1), kl(p, q), rtol=1e-12)
    assert_allclose(kl([0.5, 0, 0.5], [0.25, 0.25, 0.5]), 0.5 * np.log(2), rtol=1e-14)


def test_prop_dv_digits_second():
    """The identity in sixty digits, on exact fractions with an empty cell."""
    rng = np.random.default_rng([3, 13])
    for _ in range(50):
        whole = rng.multinomial(40, np.full(5, 0.2), size=2)
        whole[0, 0], whole[1] = 0, whole[1] + 1
        with mp.workdps(60):
            cells = list(zip(*exact(*whole), strict=True))
            left = mp.fsum(a * mp.log(a / b) for a, b in cells if a > 0)
            terms = [
                a * ((b - a) / a - mp.log(b / a)) if a > 0 else b for a, b in cells
            ]
            assert min(terms) >= 0 and abs(mp.fsum(terms) - left) < 1e-55
