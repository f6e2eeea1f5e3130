from fractions import Fraction

import numpy as np
import pytest

from memdlib.densities import RoundedMomentsError, Support
from memdlib.densities.standard import standardise_moments, standardise_sample

LINE = Support(-np.inf, np.inf)


def test_moments_and_the_sample_that_has_them_agree():
    x = np.random.default_rng([61, 1]).gamma(3.0, size=(50, 2))
    share = np.full(50, 0.02)
    raw = np.stack([share @ x**j for j in range(1, 6)], axis=1)
    ours, peer = standardise_moments(raw, LINE), standardise_sample(x, share, 5, LINE)
    for found, expected in zip(ours, peer, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)
    mean, unit, moments = peer
    np.testing.assert_allclose(mean, x.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(unit, x.std(axis=0), rtol=1e-12)
    np.testing.assert_allclose(moments[:, 2], (((x - mean) / unit) ** 3).mean(axis=0))


@pytest.mark.parametrize("shift", [0.0, 1e2, 1e3, 1e4, 3e5])
@pytest.mark.parametrize("m", [2, 3, 4])
def test_moments_about_zero_are_right_or_refused(shift, m):
    """Against exact arithmetic of the sample, within five per cent."""
    x = shift + np.random.default_rng([61, 3]).gamma(2.0, size=(60, 1))
    raw = np.stack([(x**j).mean(axis=0) for j in range(1, m + 1)], axis=1)
    mean = Fraction(x.mean())
    exact = [sum((Fraction(v) - mean) ** j for v in x[:, 0]) / 60 for j in range(m + 1)]
    if shift**m > 1e10:
        with pytest.raises(RoundedMomentsError, match="round away what tells"):
            standardise_moments(raw, LINE)
    else:
        _, unit, found = standardise_moments(raw, LINE)
        assert unit[0] ** 2 == pytest.approx(float(exact[2]), rel=0.05)
        for j in range(2, m + 1):
            expected = float(exact[j]) / float(exact[2]) ** (j / 2)
            assert found[0, j - 1] == pytest.approx(expected, abs=0.05)
