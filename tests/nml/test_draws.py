import math
import statistics

import mpmath
import numpy as np
import pytest
from scipy.special import expit, gammaln, xlogy

from memdlib.nml import draws
from memdlib.nml.boundary import complexity_bounds
from memdlib.nml.draws import draw_complexity
from memdlib.nml.level_model import level_model
from memdlib.nml.sums import exact_complexity

CASES = [
    ([8, 8, 8, 7, 7], 1, False),
    ([8, 8, 8, 7, 7], 3, False),
    ([8, 8, 8, 7, 7], 4, False),
    ([1, 30, 1, 20, 2], 3, False),
    ([1] * 12, 1, True),
    ([1, 2, 3, 1, 2, 3], 2, True),
]


def model_of(counts, m, intercept=False):
    values = np.sqrt(np.arange(1.0, len(counts) + 1))
    return level_model(np.array(counts), values, m, intercept)


@pytest.mark.parametrize(("counts", "m", "intercept"), CASES)
def test_draws_agree_with_the_exact_sum_within_their_error(counts, m, intercept):
    model = model_of(counts, m, intercept)
    exact = exact_complexity(model, "enumeration")[0]
    found, error = draw_complexity(model, 2**13, 1)
    assert error < 0.02 and abs(found - exact) < 5 * error


def test_the_scatter_over_seeds_is_the_standard_error():
    model = model_of([6, 5, 6, 4], 2)
    exact = exact_complexity(model, "enumeration")[0]
    found = [draw_complexity(model, 2**11, seed) for seed in range(60)]
    scores = [(value - exact) / error for value, error in found]
    # of Student's law of 15 degrees, whose variance is 15 / 13
    assert abs(statistics.mean(scores)) < 4 * math.sqrt(15 / 13 / 60)
    assert 0.6 < statistics.stdev(scores) < 1.6


@pytest.mark.parametrize("n", [10**4, 10**7, 10**12])
def test_two_levels_at_any_size(n):
    """Between bounds that hold for any n; 2^12 draws of a weight that hardly varies."""
    model = level_model(np.array([n, n]), np.array([1.0, 2.0]), 1, False)
    found, error = draw_complexity(model, 2**12, 0)
    lower, upper = complexity_bounds(model)
    assert lower < found < upper and error < 0.01

    # the volume, a line integral whose ends are exponentially small
    def integrand(t):
        information = 1 / mpmath.cosh(t / 2) ** 2 + 4 / mpmath.cosh(t) ** 2
        return mpmath.sqrt(information / (8 * mpmath.pi))

    volume = float(mpmath.quad(integrand, [-60, -5, 0, 5, 60])) * math.sqrt(n)
    expected = math.log(volume + 2 / 3)
    assert found == pytest.approx(expected, abs=5 * error + 2 / math.sqrt(n))


def test_the_mixture_of_all_shares():
    """P(k) over its density under the prior, by beta functions at small counts."""
    n, k, logits = np.array([[9.0]]), np.array([[0.0, 3.0, 9.0]]), np.full((1, 3), 0.3)
    found = draws._log_excess(n, k, logits)
    sequences = xlogy(k, expit(logits)) + xlogy(n - k, expit(-logits))
    mixed = gammaln(k + 0.5) + gammaln(n - k + 0.5) - gammaln(n + 1) - math.log(math.pi)
    np.testing.assert_allclose(found, (sequences - mixed)[0], rtol=0, atol=1e-12)
