import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from memdlib import MaxEntDensity
from memdlib.densities import Support

LINE, HALF = (-np.inf, np.inf), (0, np.inf)
TRUNCATED = stats.truncexpon(4, loc=2, scale=0.5)

# moments, support, mean parameters, the law in scipy
LAWS = [
    (2, LINE, [3.0, 13.0], stats.norm(3, 2)),
    (1, HALF, [2.5], stats.expon(scale=2.5)),
    (1, (3, np.inf), [5.0], stats.expon(loc=3, scale=2)),
    (1, (0, 1), [0.5], stats.uniform()),
    (1, (2, 4), [TRUNCATED.mean()], TRUNCATED),
    (2, (-1, 2), [stats.truncnorm(-2, 1, loc=1).moment(j) for j in (1, 2)],
     stats.truncnorm(-2, 1, loc=1)),
    (2, HALF, [stats.truncnorm(-0.5, 40, loc=0.5).moment(j) for j in (1, 2)],
     stats.truncnorm(-0.5, 40, loc=0.5)),
]  # fmt: skip
Q = np.array([1e-9, 1e-4, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-7])


@pytest.mark.parametrize(("moments", "support", "mu", "law"), LAWS)
def test_known_laws_are_found_again(moments, support, mu, law):
    density = MaxEntDensity(moments, support).from_moments(mu)
    x = law.ppf(Q)
    np.testing.assert_allclose(density.cdf(x), Q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(law.cdf(density.ppf(Q)), Q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(density.cdf(density.ppf(Q)), Q, rtol=0, atol=1e-14)
    assert density.mean() == pytest.approx(law.mean(), abs=1e-9)
    assert density.std() == pytest.approx(law.std(), rel=1e-9)
    assert [density.ppf(0.0), density.ppf(1.0)] == [float(end) for end in support]
    np.testing.assert_allclose(density.logpdf(x), law.logpdf(x), rtol=1e-6, atol=1e-7)
    assert float(density.entropy_) == pytest.approx(float(law.entropy()), abs=1e-6)
    beyond = density.cdf([-np.inf, -1e300, 1e300, np.inf, np.nan])
    np.testing.assert_allclose(beyond, [0, 0, 1, 1, np.nan], rtol=0, atol=1e-15)
    draws = density.rvs(4000, random_state=0)
    assert stats.kstest(draws, law.cdf).pvalue > 1e-3


@pytest.mark.parametrize(("m", "support"), [(4, LINE), (2, HALF), (6, (0, 8))])
def test_a_batch_by_another_quadrature(m, support):
    rng = np.random.default_rng([47, m])
    law = rng.binomial(8, rng.uniform(0.3, 0.7, size=6), size=(300, 6)).astype(float)
    law[0] = 1.0
    if support == HALF:
        law = rng.uniform(0, 6, size=(300, 6))
    density = MaxEntDensity(m, support).fit(law)
    x = np.array([[0.5, 2.0], [4.0, 7.9]])
    found = density.cdf(x)
    assert found.shape == (2, 2, 6)
    low, high = max(support[0], -30), min(support[1], 60)
    for b in (0, 5):

        def mass(low, high, power=0, b=b):
            return integrate.quad(
                lambda z: density.pdf(z)[b] * z**power, low, high, epsabs=1e-13
            )[0]

        expected = [[mass(low, t) for t in row] for row in x]
        np.testing.assert_allclose(found[..., b], expected, rtol=0, atol=1e-8)
        assert density.mean()[b] == pytest.approx(mass(low, high, 1), abs=1e-7)
        variance = mass(low, high, 2) - mass(low, high, 1) ** 2
        assert density.std()[b] == pytest.approx(variance**0.5, rel=1e-6)
        median = optimize.brentq(lambda t, b=b: density.cdf(t)[b] - 0.5, low, high)
        assert density.ppf(0.5)[b] == pytest.approx(median, abs=1e-9)
    assert density.mean().shape == density.std().shape == (6,)
    assert density.ppf(Q).shape == (8, 6)
    alone = MaxEntDensity(m, support).fit(law[:, 3])
    np.testing.assert_allclose(alone.cdf(x), found[..., 3], rtol=0, atol=1e-8)
    grid = MaxEntDensity(m, support).from_moments(density.mean_params_.reshape(2, 3, m))
    np.testing.assert_allclose(grid.cdf(2.0).ravel(), found[0, 1], rtol=0, atol=1e-7)
    assert grid.rvs().shape == (2, 3)
    assert grid.rvs(4).shape == (4, 2, 3)
    assert grid.rvs((5, 4)).shape == (5, 4, 2, 3)
    assert alone.rvs().shape == ()
    np.testing.assert_array_equal(grid.rvs(4, 7), grid.rvs((4,), 7))


@given(st.floats(0.06, 0.94), st.floats(0.02, 0.12))
def test_narrow_densities_rise_monotonically(mean, sd):
    density = MaxEntDensity(2, (0, 1)).from_moments([mean, mean**2 + sd**2 * 0.9])
    x = np.linspace(0, 1, 500)
    rise = np.diff(density.cdf(x))
    assert rise.min() >= -1e-14
    assert density.cdf(0.0) == 0
    assert density.cdf(1.0) == pytest.approx(1, abs=1e-15)
    assert density.std() == pytest.approx(sd * 0.9**0.5, rel=1e-6)
    assert np.diff(density.ppf(np.linspace(0, 1, 50))).min() > 0


def test_levels_are_summed():
    die = MaxEntDensity(1, range(1, 7)).from_moments([[4.5], [3.5]])
    p = die.pdf(np.arange(1, 7))
    law = stats.rv_discrete(values=(np.arange(1, 7), p[:, 0] / p[:, 0].sum()))
    x = np.array([-np.inf, 0.9, 1, 1.5, 3, 5.99, 6, np.inf])
    np.testing.assert_allclose(die.cdf(x)[:, 0], law.cdf(x), rtol=0, atol=1e-14)
    assert np.isnan(die.cdf(np.nan)).all()
    q = np.array([1e-9, 0.03, 0.4, 0.77, 0.999])
    np.testing.assert_array_equal(die.ppf(q)[:, 0], law.ppf(q))
    every = die.cdf(np.arange(1, 7))[:, 1]
    assert die.ppf(every)[:, 1].tolist() == [1, 2, 3, 4, 5, 6]
    assert die.ppf([0.0, 1.0])[:, 0].tolist() == [1, 6]
    np.testing.assert_allclose(die.mean(), [4.5, 3.5], rtol=1e-12)
    assert die.std()[0] == pytest.approx(law.std())
    assert die.std()[1] == pytest.approx((35 / 12) ** 0.5)
    share = (die.rvs(20000, 1)[:, :1] == np.arange(1, 7)).mean(axis=0)
    np.testing.assert_allclose(share, p[:, 0], rtol=0, atol=0.015)


def test_blocks_change_nothing(monkeypatch):
    x = np.random.default_rng([47, 1]).beta(2, 3, size=(50, 30))
    density = MaxEntDensity(3, (0, 1)).fit(x)
    q = np.linspace(0, 1, 40)
    expected = density.ppf(q), density.cdf(q), density.std()
    monkeypatch.setattr("memdlib.densities.table._BLOCK", 5000)
    again = MaxEntDensity(3, (0, 1)).fit(x)
    np.testing.assert_allclose(again.ppf(q), expected[0], rtol=1e-13)
    np.testing.assert_allclose(again.cdf(q), expected[1], rtol=1e-13)
    np.testing.assert_allclose(again.std(), expected[2], rtol=1e-13)
    monkeypatch.setattr("memdlib.densities.table._BLOCK", 1)
    one = MaxEntDensity(3, (0, 1)).fit(x)
    np.testing.assert_allclose(one.cdf(q[:2]), expected[1][:2], rtol=1e-13)


def test_a_density_is_what_it_was_fitted_as():
    density = MaxEntDensity(2, (0, 1)).fit([0.1, 0.5, 0.6])
    x = np.linspace(-0.5, 1.5, 7)
    before = density.pdf(x), density.cdf(x)
    density.moments, density.support, density.tol = 4, (3, 4), -1
    np.testing.assert_array_equal(density.pdf(x), before[0])
    again = pickle.loads(pickle.dumps(density))
    np.testing.assert_array_equal(again.cdf(x), before[1])
    entropy = density.entropy_
    density.moments, density.support, density.tol = 2, (0, 1), 1e-8
    with pytest.raises(ValueError, match="not on the support"):
        density.fit([0.1, 2.0])
    with pytest.raises(ValueError, match="has mean 0.3 and variance 0"):
        density.fit([0.3, 0.3])
    np.testing.assert_array_equal(density.cdf(x), before[1])
    assert density.entropy_ is entropy


@pytest.mark.parametrize(
    "call",
    [
        lambda d: d.pdf(0.0),
        lambda d: d.logpdf(0.0),
        lambda d: d.cdf(0.0),
        lambda d: d.ppf(0.5),
        lambda d: d.rvs(),
        lambda d: d.mean(),
        lambda d: d.std(),
    ],
)
def test_before_a_fit_the_remedy_is_named(call):
    with pytest.raises(NotFittedError, match="Call 'fit' with"):
        call(MaxEntDensity())


@pytest.mark.parametrize("q", [-0.1, 1.1, np.nan, [0.5, 2.0]])
def test_what_is_no_probability_is_named(q):
    density = MaxEntDensity(1, (0, 1)).from_moments([0.3])
    with pytest.raises(ValueError, match="q = .* is not a probability"):
        density.ppf(q)


@pytest.mark.parametrize("size", [2.5, -1, (3, "a"), True, (True, 2)])
def test_what_is_no_size_is_named(size):
    density = MaxEntDensity(1, (0, 1)).from_moments([0.3])
    with pytest.raises(ValueError, match="size=.* must be an integer, 0 or more"):
        density.rvs(size)
    assert density.rvs(0).shape == (0,)


def test_a_search_over_the_number_of_moments():
    x = np.random.default_rng([47, 2]).beta(2, 5, size=300)
    search = GridSearchCV(MaxEntDensity(1, (0, 1)), {"moments": [1, 2, 3]}, cv=3)
    search.fit(x)
    best = search.best_estimator_
    assert search.best_params_["moments"] > 1
    assert repr(clone(best)) == repr(best)
    assert best.score(x) == pytest.approx(best.logpdf(x).mean(), rel=1e-12)
    weight = np.arange(300.0)
    expected = np.average(best.logpdf(x), weights=weight)
    assert best.score(x, sample_weight=weight) == pytest.approx(expected, rel=1e-12)
    batch = best.from_moments(np.tile(best.mean_params_, (3, 1)))
    assert batch.score(np.tile(x[:, None], 3)) == pytest.approx(best.score(x), rel=1e-9)
    with pytest.raises(ValueError, match="x has 2 columns; give one for each of the 3"):
        batch.score(np.tile(x[:, None], 2))


def test_moments_make_a_new_object():
    plain = MaxEntDensity(1, (0, 1), tol=1e-9)
    found = plain.from_moments([0.3])
    assert found is not plain
    assert found.tol == 1e-9
    with pytest.raises(NotFittedError):
        plain.pdf(0.5)


def test_a_half_line_to_the_left_mirrors_one_to_the_right():
    x = np.random.default_rng([47, 4]).uniform(0, 2, size=300)
    right = MaxEntDensity(2, (0, np.inf)).fit(x)
    left = MaxEntDensity(2, (-np.inf, 0)).fit(-x)
    np.testing.assert_allclose(left.logpdf(-x), right.logpdf(x), rtol=1e-12)
    np.testing.assert_allclose(left.cdf(-x), 1 - right.cdf(x), rtol=0, atol=1e-10)
    np.testing.assert_allclose(left.ppf([0.1, 0.7]), -right.ppf([0.9, 0.3]), rtol=1e-9)
    assert left.mean() == pytest.approx(-right.mean())
    assert left.ppf([0.0, 1.0]).tolist() == [-np.inf, 0.0]


def test_levels_of_a_sample():
    x = np.array([0.0, 1.0, 1.0, 4.0, 4.0, 0.0, 1.0])
    density = MaxEntDensity(1, "levels").fit(x)
    named = MaxEntDensity(1, [0, 1, 4]).fit(x)
    assert density.pdf([0, 1, 4]).sum() == pytest.approx(1)
    np.testing.assert_allclose(density.pdf([0, 1, 2, 4]), named.pdf([0, 1, 2, 4]))
    flat = MaxEntDensity(1, Support(0.0, 1.0)).from_moments([0.5])
    assert flat.pdf(0.7) == pytest.approx(1)
    with pytest.raises(ValueError, match="takes the levels from a sample"):
        density.from_moments([1.0])


class Lowest(np.random.RandomState):
    """Draws nothing but the smallest number that may come."""

    def random_sample(self, size=None):
        return np.zeros(size)


@pytest.mark.parametrize("support", [(0, 1), (0, np.inf), (-np.inf, 2), [0, 1, 2, 5]])
def test_draws_are_quantiles_of_uniform_numbers_of_their_own(support):
    rng = np.random.default_rng([47, 5])
    x = rng.choice([0.0, 1.0, 2.0], size=(40, 6), p=[0.5, 0.3, 0.2])
    x = x if isinstance(support, list) else 0.05 + 0.4 * x
    density = MaxEntDensity(1, support)
    density = density.from_moments(x.mean(axis=0).reshape(2, 3, 1))
    q = np.random.RandomState(8).random_sample((4, 2, 3))
    found = density.rvs(4, 8)
    assert found.shape == (4, 2, 3)
    for b in np.ndindex(2, 3):
        expected = density.ppf(q[(slice(None), *b)])[(slice(None), *b)]
        np.testing.assert_allclose(found[(slice(None), *b)], expected, rtol=1e-9)
    assert np.isfinite(density.rvs(3, Lowest())).all()


@pytest.mark.parametrize("end", [-1.0, 1.0])
def test_a_batch_of_exponential_laws_on_half_lines_of_either_side(end):
    """Distribution functions, quantiles and spreads where each member has its own."""
    scale = np.array([0.3, 2.0, 40.0])
    support = (end, np.inf) if end > 0 else (-np.inf, end)
    mu = end + end * scale
    density = MaxEntDensity(1, support).from_moments(mu[:, None])
    law = stats.expon(scale=scale)
    x = np.array([0.0, 0.01, 0.5, 3.0, 90.0])[:, None]
    below = law.cdf(x) if end > 0 else law.sf(x)
    found = density.cdf(end + end * x[:, 0])
    np.testing.assert_allclose(found, below, rtol=0, atol=1e-9)
    q = np.array([0.01, 0.5, 0.97])[:, None]
    far = law.ppf(q) if end > 0 else law.isf(q)
    np.testing.assert_allclose(density.ppf(q[:, 0]), end + end * far, rtol=1e-7)
    np.testing.assert_allclose(density.std(), scale, rtol=1e-7)
    np.testing.assert_allclose(density.mean(), mu, rtol=1e-7)
    log_density = density.logpdf(end + end * x[:, 0])
    np.testing.assert_allclose(log_density, law.logpdf(x), rtol=1e-7)
    assert (density.logpdf([0.0, -3 * end]) == -np.inf).all()
