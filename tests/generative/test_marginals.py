import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.exceptions import ConvergenceWarning

from memdlib.families import Bernoulli, Multinomial, Normal, Poisson, get
from memdlib.families import jensen_shannon as quadrature
from memdlib.generative.marginals import ClassMarginals, family_moments
from memdlib.moments.sums import class_moments


def sample(n=120, d=6, n_classes=3, seed=1):
    rng = np.random.default_rng([47, seed])
    codes = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 3, size=(n_classes, d))[codes]
    return X + rng.normal(size=(n_classes, d))[codes], codes


def moments_of(X, codes, n_classes=3, order=2):
    return class_moments(X, codes, n_classes, order=order)


def test_parameters_are_those_of_the_class_samples():
    X, codes = sample()
    marginals = ClassMarginals(moments_of(X, codes), Normal())
    location = marginals.moments.location
    for k in range(3):
        member = X[codes == k]
        mean = marginals.mean_params[k, :, 0] + location[k]
        np.testing.assert_allclose(mean, member.mean(axis=0), rtol=1e-12)
        variance = Normal.variance(marginals.mean_params[k])
        np.testing.assert_allclose(variance, member.var(axis=0), rtol=1e-12)
        half_precision = marginals.natural_params[k, :, 1]
        np.testing.assert_allclose(half_precision, 0.5 / member.var(axis=0), rtol=1e-12)


def test_js_is_the_information_between_value_and_class():
    """By Monte Carlo: the mean log of posterior over prior, to four standard errors."""
    X, codes = sample(d=3)
    marginals = ClassMarginals(moments_of(X, codes), Normal())
    found, prior = marginals.divergences("js"), marginals.moments.prior
    rng = np.random.default_rng([47, 2])
    n = 40000
    label = rng.choice(3, size=n, p=prior)
    for s in range(3):
        mean = (marginals.moments.location + marginals.mean_params[..., 0])[:, s]
        sd = np.sqrt(Normal.variance(marginals.mean_params[:, s]))
        x = rng.normal(mean[label], sd[label])
        p = stats.norm.pdf(x[:, None], mean, sd)
        gain = np.log(p[np.arange(n), label] / (p @ prior))
        assert abs(gain.mean() - found[s]) < 4 * gain.std() / np.sqrt(n)


@pytest.mark.parametrize("name", ["normal", "bernoulli", "poisson", "multinomial"])
def test_orders_of_the_three_divergences(name):
    rng = np.random.default_rng([47, 3])
    codes = np.arange(90) % 3
    X = rng.poisson(rng.uniform(0.2, 2, size=(3, 8))[codes]).astype(float)
    family = get(name)
    moments = family_moments(family, family.observe(X), codes, 3, None)
    marginals = ClassMarginals(moments, family)
    js, js_gm = marginals.divergences("js"), marginals.divergences("js_gm")
    assert (js > 0).all()
    assert (js <= js_gm).all()
    assert (js <= stats.entropy(moments.prior)).all()
    assert (marginals.divergences("jeffreys") > 0).all()
    two = family_moments(family, family.observe(X), np.minimum(codes, 1), 2, None)
    two = ClassMarginals(two, family)
    np.testing.assert_allclose(
        two.divergences("js_gm"), 2 / 9 * two.divergences("jeffreys"), rtol=1e-12
    )
    located = {"location": two.moments.location} if family.translates else {}
    np.testing.assert_allclose(
        family.js_gm(two.mean_params, two.prior, **located),
        two.divergences("js_gm"),
        rtol=1e-9,
    )


def test_automatic_shrinkage_is_its_formula():
    X, codes = sample(d=40)
    marginals = ClassMarginals(moments_of(X, codes), Normal(), shrinkage="auto")
    v = np.array([X[codes == k].var(axis=0) for k in range(3)])
    ratio = v / v.mean(axis=0)
    expected = (2 * (2 / 3) * ratio**2 / 42).sum() / ((ratio - 1) ** 2).sum()
    assert marginals.shrinkage == pytest.approx(expected, rel=1e-10)
    assert 0.01 < expected < 0.5
    plain = ClassMarginals(moments_of(X, codes), Normal(), shrinkage=expected)
    np.testing.assert_allclose(
        marginals.mean_params, plain.mean_params, rtol=1e-12, atol=1e-15
    )
    scaled = moments_of(X * np.logspace(-3, 3, 40), codes)
    again = ClassMarginals(scaled, Normal(), shrinkage="auto")
    assert again.shrinkage == pytest.approx(expected, rel=1e-9)


def test_automatic_shrinkage_follows_the_truth():
    rng = np.random.default_rng([47, 4])
    codes = np.arange(60) % 2
    same = rng.normal(size=(60, 400))
    assert ClassMarginals(moments_of(same, codes, 2), Normal(), "auto").shrinkage > 0.8
    other = same * np.where(codes == 0, 1.0, 3.0)[:, None]
    assert ClassMarginals(moments_of(other, codes, 2), Normal(), "auto").shrinkage < 0.3
    constant = moments_of(np.ones((60, 2)), codes, 2)
    assert ClassMarginals(constant, Normal(), "auto").shrinkage == 1.0
    counts = class_moments(rng.poisson(1.0, size=(60, 5)), codes, 2, order=1)
    assert ClassMarginals(counts, Poisson(), "auto").shrinkage == 0.0


def test_automatic_shrinkage_comes_close_to_the_best():
    """Mean squared error of the relative variances, over many draws."""
    rng = np.random.default_rng([47, 5])
    codes = np.arange(40) % 2
    sd = rng.uniform(0.7, 1.4, size=(2, 300))
    X = rng.normal(size=(40, 300)) * sd[codes]
    moments = moments_of(X, codes, 2)

    def error(shrinkage):
        mu = ClassMarginals(moments, Normal(), shrinkage).mean_params
        return np.mean(((Normal.variance(mu) - sd**2) / (sd**2).mean(axis=0)) ** 2)

    best = min(error(s) for s in np.linspace(0, 1, 41))
    assert error("auto") < 1.1 * best
    assert error("auto") < 0.9 * error(0.0)


def test_sparse_and_dense_counts_agree():
    rng = np.random.default_rng([47, 6])
    X, codes = rng.poisson(0.5, size=(60, 9)).astype(float), np.arange(60) % 3
    weight = rng.uniform(0.5, 2, size=60)
    for family in (Bernoulli(), Poisson(), Multinomial(), Normal()):
        dense = family_moments(family, family.observe(X), codes, 3, weight)
        kept = family.observe(sparse.csr_array(X))
        thin = family_moments(family, kept, codes, 3, weight)
        for divergence in ("js", "js_gm", "jeffreys"):
            np.testing.assert_allclose(
                ClassMarginals(thin, family).divergences(divergence),
                ClassMarginals(dense, family).divergences(divergence),
                rtol=1e-9,
            )


def test_a_divergence_that_may_be_wrong_is_told(monkeypatch):
    X, codes = sample(n_classes=2)
    X[codes == 0] *= 1e-3
    marginals = ClassMarginals(moments_of(X, codes, 2), Normal())
    assert (marginals.divergences("js") > 0).all()
    monkeypatch.setattr(quadrature, "_HALVINGS", 0)
    monkeypatch.setattr(quadrature, "_FINE", 3)
    monkeypatch.setattr(quadrature, "_COARSE", 2)
    with pytest.warns(ConvergenceWarning, match=r"feature \d is .* \+- .* nats"):
        marginals.divergences("js")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shrinkage": 1.5}, r"shrinkage=1\.5 must be a number between 0 and 1"),
        ({"shrinkage": "automatic"}, "shrinkage='automatic' must be"),
        ({"smoothing": -1.0}, r"smoothing=-1\.0 must be a finite number"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ClassMarginals(moments_of(*sample()), Normal(), **options)
