from functools import partial

import numpy as np
import pytest

from memdlib import nml


@pytest.mark.parametrize(
    ("counts", "m", "expected"),
    [
        ([8, 8, 8, 7, 7], 1, 2.2401720600),
        ([8, 8, 8, 7, 7], 2, 4.1823749538),
        ([8, 8, 8, 7, 7], 3, 5.6934072377),
        ([8, 8, 8, 7, 7], 4, 6.6753273094),
        ([8, 8, 8, 7, 7], 5, 7.1188757552),
        ([15, 15, 14, 14, 14], 1, 2.5427257993),
        ([15, 15, 14, 14, 14], 2, 4.7716476773),
        ([15, 15, 14, 14, 14], 3, 6.5731464065),
        ([15, 15, 14, 14, 14], 4, 7.8276104788),
        ([15, 14, 14, 14, 15], 5, 8.4752809547),
        ([40] * 5, 1, 3.0330967090),
        ([40] * 5, 2, 5.7370521302),
        ([40] * 5, 5, 10.7641064942),
        ([200] * 5, 1, 3.8204885768),
        ([200] * 5, 7, 14.5613304398),
    ],
)
def test_figures(counts, m, expected):
    found = nml.conditional_complexity_estimate(counts, m)
    assert found.complexity == pytest.approx(expected, rel=0, abs=1e-10)
    assert found.uncertainty <= 1e-11


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("values", [None, [-2.0, -1.0, 0.0, 1.0, 2.0]])
def test_many_features_are_single_ones(values, intercept):
    rng = np.random.default_rng([5, 5])
    levels = rng.integers(0, 5, size=(16, 20))
    levels[:, 3] = 2
    levels[:, 4] = rng.integers(1, 3, size=16)
    y = rng.integers(0, 2, size=16)
    levels[:, 5] = 4 * y
    moments = (1, 2, 3, 7)
    found = nml.feature_codelengths(
        *nml.count_levels(levels, y),
        n_moments=moments,
        level_values=values,
        intercept=intercept,
    )
    x = np.arange(1.0, 6.0) if values is None else np.array(values)
    for j in range(20):
        for i, m in enumerate(moments):
            one = nml.conditional_codelength(x[levels[:, j]], y, m, intercept=intercept)
            assert found.error[j, i] == pytest.approx(one.error, abs=1e-12)
            assert found.complexity[j, i] == pytest.approx(one.complexity, abs=1e-12)
            assert found.uncertainty[j, i] == one.uncertainty < 1e-12
            assert found.method[j, i] == one.method
    assert found.total.shape == (20, 4)
    assert np.isfinite(found.total).all()
    assert (found.total == found.error + found.complexity).all()
    constant = found.total[3]
    assert constant == pytest.approx(constant[0], abs=1e-12)


def test_draws_follow_their_seed_and_number():
    estimate = partial(
        nml.conditional_complexity_estimate, [9, 8, 7, 9], 2, method="monte-carlo"
    )
    found = estimate(n_draws=2**10)
    assert found == estimate(n_draws=2**10, random_state=0)
    other = estimate(n_draws=2**10, random_state=1)
    assert other.complexity != found.complexity
    more = estimate(n_draws=2**14)
    assert more.uncertainty == pytest.approx(found.uncertainty / 4, rel=0.3)
    with pytest.raises(ValueError, match="n_draws=0 must be an integer, 1 or more"):
        estimate(n_draws=0)
    with pytest.raises(ValueError, match="n_draws=1024.0 must be an integer"):
        estimate(n_draws=1024.0)


@pytest.mark.parametrize("ones_at_zero", [0, 3, 5])
def test_labels_at_value_zero_are_tosses_of_a_fair_coin(ones_at_zero):
    """Without an intercept; the one other level has its own share of labels."""
    counts, ones, values = [5, 8], [ones_at_zero, 2], [0.0, 3.0]
    of_level = -(2 * np.log(2 / 8) + 6 * np.log(6 / 8))
    found = nml.conditional_error(counts, ones, 1, level_values=values)
    assert found == pytest.approx(5 * np.log(2) + of_level, rel=1e-13)
    found = nml.conditional_complexity(counts, 1, level_values=values)
    alone = nml.conditional_complexity([8], 1, level_values=[3.0])
    assert found == pytest.approx(alone, rel=1e-13)
