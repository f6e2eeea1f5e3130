from fractions import Fraction

import numpy as np
import pytest

from memdlib.densities import InfeasibleMomentsError, RoundedMomentsError, Support
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


def test_a_variance_within_rounding_of_the_square_is_none():
    """Moments about zero are rounded by 2^-53 of themselves each."""
    for rounding, error in (
        (2.0**-51, InfeasibleMomentsError),
        (2.0**-48, RoundedMomentsError),
    ):
        with pytest.raises(error):
            standardise_moments(np.array([[1.0, 1.0 + rounding]]), LINE)
    unit = standardise_moments(np.array([[1.0, 1.0 + 1e-8]]), LINE)[1]
    assert unit[0] == pytest.approx(1e-4, rel=1e-6)


@pytest.mark.parametrize(
    ("support", "unit"),
    [((0, 10), [2.0, 3.0, 5.0]), ((0, np.inf), [2, 7, 5]), ((-np.inf, 10), [8, 3, 5])],
)
def test_one_moment_is_measured_by_the_distance_of_the_nearer_end(support, unit):
    within, means = Support(*support), np.array([[2.0], [7.0], [5.0]])
    for found in (
        standardise_moments(means, within),
        standardise_sample(means.T.repeat(3, 0), np.full(3, 1 / 3), 1, within),
    ):
        assert found[0].tolist() == [2.0, 7.0, 5.0]
        assert found[1].tolist() == unit
        assert found[2].tolist() == [[0.0]] * 3


def test_values_without_weight_are_not_there():
    x = np.array([[1.0, 4.0], [1.0, 2.0], [9.0, 3.0], [1.0, 7.0]])
    share = np.array([0.3, 0.2, 0.0, 0.5])
    with pytest.raises(InfeasibleMomentsError, match="density 0: .* variance 0"):
        standardise_sample(x, share, 2, LINE)
    mean, unit, _ = standardise_sample(x[:, [1]], share, 2, LINE)
    assert mean[0] == pytest.approx(5.1)
    assert unit[0] ** 2 == pytest.approx(0.3 * 1.1**2 + 0.2 * 3.1**2 + 0.5 * 1.9**2)


@pytest.mark.parametrize("end", [1.0, 3.0])
def test_a_constant_sample_at_an_end_has_no_density(end):
    x = np.column_stack([[1.5, 2.5, 2.0], np.full(3, end)])
    with pytest.raises(InfeasibleMomentsError, match="density 1: no density on"):
        standardise_sample(x, np.full(3, 1 / 3), 1, Support(1.0, 3.0))
