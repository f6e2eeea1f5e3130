import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.model_selection import GridSearchCV

from memdlib import MaxEntDensity
from memdlib.densities import Support

LINE, HALF = (-np.inf, np.inf), (0, np.inf)
LEVELS = Support(0.0, 5.0, levels=(0.0, 1.0, 2.0, 5.0))
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
    density = MaxEntDensity(moments, support=support).from_moments(mu)
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
def test_a_batch_is_each_density_alone_by_another_quadrature(m, support):
    rng = np.random.default_rng([47, m])
    law = rng.binomial(8, rng.uniform(0.3, 0.7, size=6), size=(300, 6)).astype(float)
    law[0] = 1.0
    if support == HALF:
        law = rng.uniform(0, 6, size=(300, 6))
    batch, alone = (
        MaxEntDensity(m, support=support).fit(law),
        MaxEntDensity(m, support=support),
    )
    alone.fit(law[:, 3])
    low, high = max(support[0], -30), min(support[1], 60)

    def mass(power, high=high):
        def term(z):
            return alone.pdf(z) * z**power

        return integrate.quad(term, low, high, epsabs=1e-13)[0]

    x = np.array([[0.5, 2.0], [4.0, 7.9]])
    found = batch.cdf(x)
    expected = [[mass(0, t) for t in row] for row in x]
    np.testing.assert_allclose(found[..., 3], expected, rtol=0, atol=1e-8)
    assert batch.mean()[3] == pytest.approx(mass(1), abs=1e-7)
    assert batch.std()[3] == pytest.approx((mass(2) - mass(1) ** 2) ** 0.5, rel=1e-6)
    assert alone.cdf(batch.ppf(Q)[:, 3]) == pytest.approx(Q, abs=1e-8)
    grid = MaxEntDensity(m, support=support).from_moments(
        batch.mean_params_.reshape(2, 3, m)
    )
    np.testing.assert_allclose(grid.cdf(2.0).ravel(), found[0, 1], rtol=0, atol=1e-7)
    shapes = [grid.rvs(size).shape for size in (None, 4, (5, 4))]
    assert shapes == [(2, 3), (4, 2, 3), (5, 4, 2, 3)]
    assert alone.rvs().shape == ()
    np.testing.assert_array_equal(grid.rvs(4, 7), grid.rvs((4,), 7))


def test_levels_are_summed():
    die = MaxEntDensity(1, levels=range(1, 7)).from_moments([[4.5], [3.5]])
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


def test_a_search_over_the_number_of_moments():
    x = np.random.default_rng([47, 2]).beta(2, 5, size=300)
    search = GridSearchCV(
        MaxEntDensity(1, support=(0, 1)), {"n_moments": [1, 2, 3]}, cv=3
    )
    best = search.fit(x).best_estimator_
    assert search.best_params_["n_moments"] > 1
    weight = np.arange(300.0)
    expected = np.average(best.logpdf(x), weights=weight)
    assert best.score(x, sample_weight=weight) == pytest.approx(expected, rel=1e-12)
    batch = best.from_moments(np.tile(best.mean_params_, (3, 1)))
    assert batch.score(np.tile(x[:, None], 3)) == pytest.approx(best.score(x), rel=1e-9)
    with pytest.raises(ValueError, match="x has 2 columns; give one for each of the 3"):
        batch.score(np.tile(x[:, None], 2))


class Lowest(np.random.RandomState):
    """Draws nothing but the smallest number that may come."""

    def random_sample(self, size=None):
        return np.zeros(size)


@pytest.mark.parametrize("support", [(0, 1), (0, np.inf), (-np.inf, 2), LEVELS])
def test_draws_are_quantiles_of_uniform_numbers_of_their_own(support):
    rng = np.random.default_rng([47, 5])
    x = rng.choice([0.0, 1.0, 2.0], size=(40, 6), p=[0.5, 0.3, 0.2])
    x = x if support is LEVELS else 0.05 + 0.4 * x
    density = MaxEntDensity(1, support=support)
    density = density.from_moments(x.mean(axis=0).reshape(2, 3, 1))
    q = np.random.RandomState(8).random_sample((4, 2, 3))
    found = density.rvs(4, 8)
    assert found.shape == (4, 2, 3)
    for b in np.ndindex(2, 3):
        expected = density.ppf(q[(slice(None), *b)])[(slice(None), *b)]
        np.testing.assert_allclose(found[(slice(None), *b)], expected, rtol=1e-9)
    assert np.isfinite(density.rvs(3, Lowest())).all()
