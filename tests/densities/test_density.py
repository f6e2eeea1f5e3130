from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

from memdlib import MaxEntDensity
from memdlib.densities import (
    InfeasibleMomentsError,
    NotConvergedError,
    RoundedMomentsError,
)
from memdlib.densities.standard import standardise_moments
from memdlib.densities.support import Support

LINE, HALF = (-np.inf, np.inf), (0, np.inf)


@pytest.mark.parametrize(
    ("shift", "scale"), [(-30.0, 0.5), (0.1, 3.7), (17.0, 20.0), (1e7, 1.0)]
)
def test_place_and_scale_only_shift_the_entropy(scale, shift):
    rng = np.random.default_rng([41, 2])
    x = rng.gamma(3.0, size=500)
    plain = MaxEntDensity(4, support=LINE).fit(x)
    moved = MaxEntDensity(4, support=LINE).fit(shift + scale * x)
    expected = float(plain.entropy_) + np.log(scale)
    assert float(moved.entropy_) == pytest.approx(expected, abs=1e-8)
    found = moved.logpdf(shift + scale * x) + np.log(scale)
    np.testing.assert_allclose(found, plain.logpdf(x), rtol=0, atol=1e-6)


def test_weights_are_copies():
    rng = np.random.default_rng([41, 3])
    x = rng.beta(2, 5, size=80)
    weight = rng.integers(1, 4, size=80)
    found = MaxEntDensity(3, support=(0, 1)).fit(x, sample_weight=weight)
    again = MaxEntDensity(3, support=(0, 1)).fit(np.repeat(x, weight))
    np.testing.assert_allclose(found.natural_params_, again.natural_params_, rtol=1e-9)


def test_thousands_at_once_with_certificates():
    rng = np.random.default_rng([41, 6])
    shape = rng.uniform(1, 5, size=(2, 2000))
    x = rng.beta(*shape, size=(200, 2000))
    density = MaxEntDensity(4, support=(0, 1)).fit(x)
    assert density.natural_params_.shape == (2000, 4)
    assert density.moment_residual_.max() < 1e-9
    assert density.duality_gap_.max() < 1e-8
    assert density.logpdf(np.linspace(0, 1, 3)).shape == (3, 2000)
    grid = density.mean_params_.reshape(40, 50, 4)
    again = MaxEntDensity(4, support=(0, 1)).from_moments(grid)
    assert again.entropy_.shape == (40, 50)
    found = again.entropy_.ravel()
    np.testing.assert_allclose(found, density.entropy_, rtol=0, atol=1e-9)


def test_outside_the_support_there_is_nothing():
    density = MaxEntDensity(1, support=(0, 1)).from_moments([0.3])
    assert density.logpdf([-0.1, 1.1]).tolist() == [-np.inf] * 2
    assert np.isnan(density.logpdf(np.nan))
    assert np.isnan(density.pdf(np.nan))
    assert density.pdf(2.0) == 0
    die = MaxEntDensity(1, levels=range(1, 7)).from_moments([4.5])
    assert die.pdf([0, 3.5, 7]).tolist() == [0, 0, 0]
    assert die.pdf(4).shape == ()
    assert repr(die) == "MaxEntDensity(levels=range(1, 7), n_moments=1)"


def test_the_type_of_a_sequence_says_nothing_of_the_support():
    uniform = MaxEntDensity(1, support=(0, 1)).from_moments([0.4])
    coin = MaxEntDensity(1, levels=(0, 1)).from_moments([0.4])
    for kind in (list, tuple, np.array):
        again = MaxEntDensity(1, support=kind((0, 1))).from_moments([0.4])
        assert again.pdf(0.5) == uniform.pdf(0.5) > 0.5
        again = MaxEntDensity(1, levels=kind((0, 1))).from_moments([0.4])
        np.testing.assert_array_equal(again.pdf([0, 0.5, 1]), coin.pdf([0, 0.5, 1]))
        assert coin.pdf(0.5) == 0
    x = np.array([3.0, 1.0, 1.0, 7.0])
    found = MaxEntDensity(1, levels="observed").fit(x)
    np.testing.assert_array_equal(
        found.pdf(np.arange(8)), MaxEntDensity(1, levels=[1, 3, 7]).fit(x).pdf(range(8))
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: MaxEntDensity(1).from_moments([0.0]), InfeasibleMomentsError,
         "under 1 moment: a mean alone leaves the entropy without bound"),
        (lambda: MaxEntDensity(3).fit([1.0, 2.0, 4.0]), InfeasibleMomentsError,
         "no maximum under these moments unless the density with 2"),
        (lambda: MaxEntDensity(1, support=HALF).from_moments([-1.0]),
         InfeasibleMomentsError, r"density 0: no density on \[0, inf\) has mean -1"),
        (lambda: MaxEntDensity(2, support=(0, 1)).fit([0.3, np.nan]), ValueError,
         r"x = nan at index \(1,\): not on the support \[0, 1\]"),
        (lambda: MaxEntDensity(1, levels=[0, 1]).fit([[0, 1], [1, 0.5]]), ValueError,
         r"x = 0\.5 at index \(1, 1\): not on the support the levels"),
        (lambda: MaxEntDensity(2, support=(0, 1)).fit(csr_array(np.eye(3))), ValueError,
         r"x is sparse; pass x\.toarray\(\)"),
        (lambda: MaxEntDensity(3, support=(1e3, 1e3 + 1)).from_moments(
            [1000.5, 1001000.35, 1001501050.275]), RoundedMomentsError,
         r"density 0: powers of x, with mean 1000\.5 and scale 0\.31.* call fit\(x\)"),
        (lambda: MaxEntDensity(2, support=(0, 1)).from_moments([0.1, np.inf]),
         ValueError, "not finite"),
        (lambda: MaxEntDensity(2, support=(0, 1)).from_moments([0.1]), ValueError,
         r"mu has shape \(1,\); its last axis must be 2 long"),
        (lambda: MaxEntDensity(0, support=(0, 1)).from_moments([]), ValueError,
         "n_moments=0 must be an integer, 1 or more"),
        (lambda: MaxEntDensity(2, tol=0).from_moments([0.0, 1.0]), ValueError,
         "tol=0 must be a float in the range"),
        (lambda: MaxEntDensity(5, levels=range(5)).fit([0, 1, 2, 3, 4]), ValueError,
         "5 moments and the constant are not linearly independent on 5 levels"),
        (lambda: MaxEntDensity(1, support=range(1, 7)).fit([1, 6]), ValueError,
         r"support=range\(1, 7\) must be an interval \(a, b\); .* use levels="),
        (lambda: MaxEntDensity(support=(0, 1), levels=[0, 1]).fit([0, 1]), ValueError,
         "exclude each other: give support for an interval, or levels for a finite"),
        (lambda: MaxEntDensity(1, levels="observed").from_moments([1]), ValueError,
         "levels='observed' are those of a sample: call fit"),
        (lambda: MaxEntDensity(1, levels="all").fit([0, 1]), ValueError,
         r"levels='all' must be one of \['observed'\]"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("mu", [[1e8, 1e16 + 1e2], [1e80, 1.1e160, 1.2e240, 1e300]])
def test_moments_that_rounding_hides_are_refused(mu):
    """Or that leave the range of numbers in units of the density."""
    with pytest.raises((RoundedMomentsError, InfeasibleMomentsError)):
        MaxEntDensity(len(mu)).from_moments(mu)


@pytest.mark.parametrize(
    ("moments", "support", "x"),
    [
        (4, (0, 1), stats.beta(2, 5)),
        (2, (-np.inf, np.inf), stats.norm()),
        (2, Support(0, 8, levels=tuple(range(9))), stats.binom(8, 0.3)),
    ],
)
def test_tol_is_the_largest_residual_that_is_accepted(moments, support, x):
    x = x.rvs(size=300, random_state=1).astype(float)
    found = MaxEntDensity(moments, support=support).fit(x)
    residual = float(found.moment_residual_)
    assert 0 < residual < 1e-8
    again = MaxEntDensity(moments, support=support, tol=residual).fit(x)
    assert again.moment_residual_ == residual
    with pytest.raises(NotConvergedError, match="matched only to"):
        MaxEntDensity(moments, support=support, tol=np.nextafter(residual, 0)).fit(x)


@pytest.mark.parametrize("shift", [0.0, 1e2, 1e3, 1e4, 3e5])
@pytest.mark.parametrize("m", [2, 3, 4])
def test_moments_about_zero_are_right_or_refused(shift, m):
    """Against exact arithmetic of the sample, within five per cent."""
    x = shift + np.random.default_rng([61, 3]).gamma(2.0, size=(60, 1))
    raw = np.stack([(x**j).mean(axis=0) for j in range(1, m + 1)], axis=1)
    mean = Fraction(x.mean())
    exact = [sum((Fraction(v) - mean) ** j for v in x[:, 0]) / 60 for j in range(m + 1)]
    if shift**m > 1e10:
        with pytest.raises(RoundedMomentsError, match="lose to rounding"):
            standardise_moments(raw, Support(*LINE))
    else:
        _, unit, found = standardise_moments(raw, Support(*LINE))
        assert unit[0] ** 2 == pytest.approx(float(exact[2]), rel=0.05)
        for j in range(2, m + 1):
            expected = float(exact[j]) / float(exact[2]) ** (j / 2)
            assert found[0, j - 1] == pytest.approx(expected, abs=0.05)
