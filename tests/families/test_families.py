"""Properties of every registered family; a new one adds a row of samples."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats
from scipy.sparse import csr_array
from scipy.special import gammaln

from memdlib import divergences
from memdlib.densities import Support
from memdlib.families import (
    Bernoulli,
    Binomial,
    Exponential,
    Family,
    Geometric,
    MarginalFamily,
    Multinomial,
    MultivariateNormal,
    Normal,
    Poisson,
    Polynomial,
    TruncatedExponential,
    family_names,
    get_family,
)

TRUNCATED_NORMALS = {
    (float(law.moment(1)), float(law.moment(2))): law
    for law in (
        stats.truncnorm(-m / s, (1 - m) / s, loc=m, scale=s)
        for m, s in [(0.5, 0.3), (0.2, 0.15), (0.8, 0.5), (1.4, 0.6)]
    )
}


TRUNCATED_EXPONENTIALS = {
    float(law.mean()): law
    for law in (
        stats.uniform(),
        *(stats.truncexpon(1 / scale, scale=scale) for scale in (0.02, 0.05, 0.4)),
    )
}

# mean parameters to try, and the law in scipy
MEANS = {
    "normal": [[0.0, 1.0], [1.0, 3.0], [-2.0, 4.25], [5.0, 25.01]],
    "exponential": [[1.0], [0.5], [40.0], [1.001]],
    "truncated_exponential": [[mean] for mean in TRUNCATED_EXPONENTIALS],
    "polynomial": [list(mu) for mu in TRUNCATED_NORMALS],
    "bernoulli": [[0.5], [0.1], [0.999], [1e-6]],
    "geometric": [[1.0], [0.2], [30.0], [1e-3]],
    "poisson": [[1.0], [0.2], [30.0], [1e-3]],
}
LAWS = {
    "normal": lambda mu: stats.norm(mu[0], np.sqrt(mu[1] - mu[0] ** 2)),
    "exponential": lambda mu: stats.expon(scale=mu[0]),
    "truncated_exponential": lambda mu: TRUNCATED_EXPONENTIALS[float(mu[0])],
    "polynomial": lambda mu: TRUNCATED_NORMALS[tuple(map(float, mu))],
    "bernoulli": lambda mu: stats.bernoulli(mu[0]),
    "geometric": lambda mu: stats.geom(1 / (1 + mu[0]), loc=-1),
    "poisson": lambda mu: stats.poisson(mu[0]),
}
# what to sum over; of the others there are integrals
COUNTS = {"bernoulli": 2, "geometric": 2500, "poisson": 200}
EACH = sorted(MEANS)
CASES = [(name, np.array(mu)) for name in EACH for mu in MEANS[name]]
PAIRS = [(name, a, np.array(b)) for name, a in CASES for b in MEANS[name]]


def expectation(name, mu, function, *others):
    """E function(X) under scipy's version of the density, by quadrature or a sum."""
    own = LAWS[name](mu)
    if name in COUNTS:
        x = np.arange(float(COUNTS[name]))
        x = x[own.pmf(x) > 0]
        return float(np.sum(own.pmf(x) * function(x)))
    others = map(LAWS[name], others)
    return over_panels(lambda x: own.pdf(x) * function(x), own, *others)


def divergence(name, a, b):
    """KL by scipy's versions of the densities."""
    return expectation(name, a, lambda x: log_law(name, a, x) - log_law(name, b, x))


def over_panels(function, law, *others):
    """Integral where a law lives, on panels that are short for the others too."""
    laws = law, *others
    steps = [m.mean() + m.std() * np.linspace(-40, 40, 161) for m in laws]
    span = law.mean() + np.array([-40, 40]) * law.std()
    ends = np.unique(np.clip(np.concatenate([*steps, span]), *law.support()))
    ends = ends[(ends >= span[0]) & (ends <= span[1])]
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = np.diff(ends)[:, None] / 2
    x = ends[:-1, None] + half * (1 + nodes)
    return float(((half * weights) * function(x)).sum())


def log_law(name, mu, x):
    law = LAWS[name](mu)
    return law.logpmf(x) if name in COUNTS else law.logpdf(x)


def test_every_family_has_samples():
    # a document as a whole has probabilities that are tied over the features, see below
    assert sorted([*MEANS, "multinomial"]) == family_names()
    assert all(isinstance(get_family(name), MarginalFamily) for name in family_names())


@pytest.mark.parametrize(("name", "mu"), CASES)
def test_mean_and_natural_parameters_are_inverse(name, mu):
    f = get_family(name)
    rtol = 1e-9 if name == "polynomial" else 1e-12
    assert_allclose(f.mean(f.natural(mu)), mu, rtol=rtol)


@pytest.mark.parametrize(("name", "mu"), CASES)
def test_density_moments_and_entropy(name, mu):
    f = get_family(name)
    lam = f.natural(mu)
    low, high = LAWS[name](mu).support()
    x = mu[0] + np.arange(3) if np.isinf(high) else np.linspace(low, high, 4)
    x = np.array([0.0, 1.0]) if name in COUNTS else x
    assert_allclose(f.log_density(x, lam), log_law(name, mu, x), rtol=1e-9, atol=1e-11)
    for j in range(f.n_moments):
        moment = expectation(name, mu, lambda x, j=j: x ** (j + 1))
        assert moment == pytest.approx(mu[j], rel=1e-8, abs=1e-11)
    # relative to the base measure: minus E log p plus E log base
    entropy = LAWS[name](mu).entropy()
    entropy += expectation(name, mu, f.log_base_measure)
    assert float(f.entropy(mu)) == pytest.approx(float(entropy), rel=1e-9)
    assert float(Family.entropy(f, mu)) == pytest.approx(float(entropy), rel=1e-8)


@pytest.mark.parametrize(("name", "a", "b"), PAIRS)
def test_divergences_against_quadrature(name, a, b):
    f, forward, backward = (
        get_family(name),
        divergence(name, a, b),
        divergence(name, b, a),
    )
    assert float(f.kl(a, b)) == pytest.approx(forward, rel=1e-7, abs=1e-9)
    J = float(f.jeffreys(a, b))
    assert J == pytest.approx(forward + backward, rel=1e-7, abs=1e-9)
    # Remark 1 and the general form of KL, which the closed forms replace
    remark = ((f.natural(b) - f.natural(a)) * (a - b)).sum()
    assert J == pytest.approx(remark, rel=1e-6, abs=1e-9)
    assert float(Family.kl(f, a, b)) == pytest.approx(forward, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("w", [[0.1, 0.2, 0.3, 0.4], [0.5, 0.0, 0.0, 0.5]])
def test_jensen_shannon_is_what_a_value_says_of_the_class(name, w):
    f, mu = get_family(name), np.array(MEANS[name])

    def excess(x, k):
        log_p = np.array([log_law(name, m, x) for m in mu])
        mixture = sum(v * np.exp(t) for v, t in zip(w, log_p, strict=True))
        lost = np.isneginf(log_p[k]) | (mixture == 0)
        return np.where(lost, 0, log_p[k] - np.log(np.where(lost, 1, mixture)))

    parts = [
        expectation(name, own, lambda x, k=k: excess(x, k), *mu) if w[k] else 0.0
        for k, own in enumerate(mu)
    ]
    value, error = f.jensen_shannon(mu[:, None], w)
    assert value.shape == error.shape == (1,)
    assert error[0] < 1e-9
    assert value[0] == pytest.approx(np.dot(w, parts), rel=1e-7)
    assert value[0] <= min(float(f.js_gm(mu, w)), stats.entropy(w)) * (1 + 1e-12)


@pytest.mark.parametrize("name", EACH)
def test_jensen_shannon_of_many_features_is_that_of_each(name):
    f, mu = get_family(name), np.array(MEANS[name])
    rng = np.random.default_rng([9, 3])
    classes = mu[rng.integers(4, size=(3, 40))]
    w = [0.2, 0.3, 0.5]
    together, _ = f.jensen_shannon(classes, w)
    alone = [f.jensen_shannon(classes[:, [s]], w)[0][0] for s in range(40)]
    assert_allclose(together, alone, rtol=1e-9, atol=1e-14)
    same = classes[:1].repeat(3, axis=0)
    assert np.abs(f.jensen_shannon(same, w)[0]).max() < 1e-15


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("size", [1e-3, 1e-7])
def test_near_densities_keep_their_digits(name, size):
    """KL = curvature / 2 and JS = curvature / 8 of a small step in the mean."""
    f = get_family(name)
    mu = np.array(MEANS[name])
    step = size * f.natural(mu)
    step[np.abs(step) < size] = size
    moved = f.mean(f.natural(mu) + step)
    step = f.natural(moved) - f.natural(mu)
    symmetric = ((mu - moved) * step).sum(axis=-1)
    assert_allclose(f.jeffreys(mu, moved), symmetric, rtol=5e-16 / size**1.2)
    halves = 20 * size
    assert_allclose(f.kl(mu, moved), symmetric / 2, rtol=halves)
    both = f.kl(mu, moved) + f.kl(moved, mu)
    by_iteration = {"polynomial": 1e-6, "truncated_exponential": 1e-7}
    rtol = by_iteration.get(name, 1e-8)
    assert_allclose(both, f.jeffreys(mu, moved), rtol=rtol)
    js, _ = f.jensen_shannon(np.stack([mu, moved]), [0.5, 0.5])
    assert_allclose(js, symmetric / 8, rtol=halves)


@pytest.mark.parametrize("name", EACH)
def test_js_gm_of_several_is_the_mean_divergence_of_their_pairs(name):
    """Of classes, one of them with most of the weight, as scipy has their densities."""
    mu, w = np.array(MEANS[name][:3]), np.array([0.2, 0.7, 0.1])
    expected = sum(
        w[k] * w[j] * divergence(name, mu[k], mu[j]) for k, j in np.ndindex(3, 3)
    )
    found = get_family(name).js_gm(mu[:, None], w)
    assert_allclose(found, [expected], rtol=1e-6)


def test_a_document_is_one_draw_of_all_its_words():
    f, rng = Multinomial(), np.random.default_rng([9, 4])
    theta = rng.dirichlet(np.ones(6), size=3)
    mu, X = theta[..., None], rng.poisson(2.0, size=(5, 6))
    for k in range(3):
        law = stats.multinomial(X.sum(axis=1), theta[k])
        ours = f.log_density(X, f.natural(mu[k])).sum(axis=1)
        ours += gammaln(X.sum(axis=1) + 1)
        assert_allclose(ours, law.logpmf(X), rtol=1e-12)
    assert_allclose(f.mean(f.natural(mu)), mu, rtol=1e-15)
    total = f.kl(mu[0], mu[1]).sum(), stats.entropy(theta[0], theta[1])
    assert total[0] == pytest.approx(total[1], rel=1e-13)
    assert f.entropy(mu[0]).sum() == pytest.approx(stats.entropy(theta[0]))
    w = np.array([0.2, 0.3, 0.5])
    for found, of_cells in (
        (f.js_gm(mu, w), divergences.js_gm(theta, w)),
        (f.jensen_shannon(mu, w)[0], divergences.jensen_shannon(theta, w)),
        (f.jeffreys(mu[0], mu[1]), divergences.jeffreys(theta[0], theta[1])),
    ):
        assert (found >= 0).all()
        assert found.sum() == pytest.approx(float(of_cells), rel=1e-13)


def test_words_without_smoothing_and_documents_without_words():
    f, weight = Multinomial(), np.array([3.0, 5.0])
    mu = np.array([[4.0, 0, 0, 6], [1, 2, 0, 3]])[..., None]
    plain = f.regularise(mu, weight, **NONE)
    assert_allclose(plain, mu / mu.sum(axis=1, keepdims=True))
    nothing = f.regularise(0 * mu, weight, variance_shrinkage=0, alpha=1.0)
    assert_allclose(nothing, 0.25)


@pytest.mark.parametrize(
    "support", [{"support": (0, 1)}, {"levels": range(4)}, {"support": (-3, 5)}]
)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_polynomials_of_any_order(support, m):
    f, rng = Polynomial(m, **support), np.random.default_rng([9, 5])
    largest = max(f.levels or f.support)
    lam = rng.normal(size=(2, 5, m)) / largest ** np.arange(1, m + 1)
    mu = f.mean(lam)
    assert_allclose(f.natural(mu), lam, rtol=1e-6, atol=1e-7)

    def integral(function):
        if f.levels is not None:
            return np.sum([function(x) for x in f.levels], axis=0)
        return integrate.quad_vec(function, *f.support, epsabs=1e-13)[0]

    def p(x):
        return np.exp(-(lam * x ** np.arange(1, m + 1)).sum(axis=-1))

    total = integral(p)
    assert_allclose(f.log_normaliser(lam), np.log(total), rtol=1e-11)
    for j in range(m):
        moment = integral(lambda x, j=j: p(x) * x ** (j + 1)) / total
        assert_allclose(mu[..., j], moment, rtol=1e-10)
    log_ratio = integral(lambda x: p(x)[0] * np.log(p(x)[0] / p(x)[1])) / total[0]
    kl = log_ratio - np.log(total[0] / total[1])
    assert_allclose(f.kl(mu[0], mu[1]), kl, rtol=1e-6)
    assert_allclose(Family.kl(f, mu[0], mu[1]), kl, rtol=1e-5, atol=1e-12)


def test_a_support_is_the_same_in_every_kind_of_sequence():
    interval = Polynomial(2, support=(0.0, 1.0))
    for pair in ([0, 1], np.array([0.0, 1.0]), Support(0.0, 1.0), None):
        assert Polynomial(2, support=pair) == interval
    levels = Polynomial(2, levels=(0.0, 1.0, 3.0))
    for values in ([3, 0, 1], np.array([0.0, 1.0, 3.0])):
        assert Polynomial(2, levels=values) == levels
    assert Polynomial(2, support=Support(0.0, 3.0, levels=(0.0, 1.0, 3.0))) == levels
    assert Polynomial(1, levels=(0, 1)) != Polynomial(1, support=(0, 1))
    assert replace(levels, n_moments=1) == Polynomial(1, levels=(0, 1, 3))
    assert repr(interval) == "Polynomial(n_moments=2, support=(0.0, 1.0), levels=None)"


def test_smoothing_makes_polynomial_moments_possible():
    f, weight = Polynomial(3, levels=range(5)), np.array([4.0, 6.0])
    mu = np.array([[[2.0, 4.0, 8.0]], [[1.5, 4.5, 13.5]]])
    with pytest.raises(ValueError, match="the mean must lie strictly inside"):
        f.natural(mu)
    found = f.regularise(mu, weight, variance_shrinkage=0.0, alpha=1.0)
    assert np.isfinite(f.natural(found)).all()


@pytest.mark.parametrize(
    "f", [Exponential(), Poisson(), Geometric(), TruncatedExponential(0.0, 9.0)]
)
def test_what_never_varies_says_nothing(f):
    weight = np.array([10.0, 30.0])
    never = f.regularise(np.zeros((2, 3, 1)), weight, variance_shrinkage=0, alpha=0)
    assert_array_equal(never, f.regularise(never, weight * 2, **NONE))
    assert (f.jeffreys(never[0], never[1]) == 0).all()
    once = np.array([[[0.0]], [[0.8]]])
    found = f.regularise(once, weight, variance_shrinkage=0.0, alpha=2.0)
    assert_allclose(found.ravel(), [1.2 / 12, (24 + 1.2) / 32])


NONE = {"variance_shrinkage": 0.0, "alpha": 0.0}


def test_data_off_the_support_are_refused():
    X = np.array([[0.0, 2.0], [0.5, 0.0]])
    for f in (Exponential(), Poisson(), Geometric(), Multinomial(), Binomial()):
        assert f.observe(X) is X
        with pytest.raises(ValueError, match=rf"Negative values.*{f.name}.*-2\.0"):
            f.observe(csr_array(-X))
    inside = TruncatedExponential(-1.0, 2.0), Polynomial(2, support=(0.0, 2.0))
    for f in (*inside, Polynomial(1, levels=(0.0, 0.5, 2.0))):
        assert f.observe(X) is X
        assert f.observe(csr_array(X)).nnz == 2
    for f, message in (
        (TruncatedExponential(0.0, 1.0), r"from 0\.0 to 2\.0, beyond the support"),
        (Polynomial(2, support=(0.0, 1.0)), r"feature 1 .* 2\.0, .* \[0, 1\]; give"),
        (Polynomial(1, levels=(0.0, 1.0, 2.0)), r"feature 0 .* value 0\.5, .* the lev"),
        (Polynomial(1, levels=(0.5, 1.0, 2.0)), r"feature 0 .* value 0\.0, .* the lev"),
    ):
        for kind in (np.asarray, csr_array):
            with pytest.raises(ValueError, match=message):
                f.observe(kind(X))
    full = csr_array(X[:1, 1:])
    assert Polynomial(1, levels=(0.5, 1.0, 2.0)).observe(full) is full


def test_a_sum_over_too_many_counts_is_refused():
    mu = np.array([[[3.0], [1e6]], [[4.0], [1e6]]])
    with pytest.raises(ValueError, match=r"feature 1 needs a sum over \d+ counts"):
        Geometric().jensen_shannon(mu, [0.5, 0.5])


def regularised(mu, weight=(5.0, 5.0), shrinkage=0.0):
    options = {"variance_shrinkage": shrinkage, "alpha": 1.0}
    return Normal().regularise(np.array(mu), np.array(weight), **options)


def normal(*pairs):
    """Mean parameters (K, 1, 2) of classes given as (mean, variance)."""
    return np.array([[Normal.mean_parameters(*pair)] for pair in pairs])


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        (((0, 1), (3, 4)), (1, 4)),
        (((0, 0), (3, 4)), (2, 4)),  # the pooled within-class variance, 4 / 2
        (((0, 0), (3, 0)), (2.25, 2.25)),  # the total variance
        (((3, 0), (3, 0)), (1, 1)),  # a constant says nothing
    ],
)
def test_zero_variances_follow_the_documented_rule(classes, expected):
    found = Normal.variance(regularised(normal(*classes)))
    assert_allclose(found[:, 0], expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("error", "is_zero"), [(3e-15, True), (-3e-15, True), (1e-11, False)]
)
def test_rounding_errors_count_as_zero_and_small_variances_do_not(error, is_zero):
    mu = np.array([[[10.0, 100.0 * (1 + error)]], [[0.0, 4.0]]])
    expected = 2.0 if is_zero else 100 * error
    found = Normal.variance(regularised(mu))[0, 0]
    assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("name", EACH)
def test_pairs_of_classes_are_regularised_like_each_alone(name):
    f, mu = get_family(name), np.array(MEANS[name])
    rng = np.random.default_rng([9, 2])
    pairs = mu[rng.integers(4, size=(5, 2, 6))]  # 5 pairs, 2 classes, 6 features
    weight = rng.uniform(1, 9, size=(5, 2))
    options = {"variance_shrinkage": 0.3, "alpha": 0.7}
    found = f.regularise(pairs, weight, **options)
    for p in range(5):
        for s in range(6):
            alone = f.regularise(pairs[p][:, [s]], weight[p], **options)
            assert_allclose(found[p][:, [s]], alone, rtol=1e-14)


def test_shrinkage_moves_to_the_pooled_variance():
    mu = normal((0, 1), (3, 4))
    weight = (30.0, 10.0)
    half = Normal.variance(regularised(mu, weight, 0.5))[:, 0]
    assert_allclose(half, [(1 + 1.75) / 2, (4 + 1.75) / 2], rtol=1e-14)
    full = Normal.variance(regularised(mu, weight, 1.0))[:, 0]
    assert_allclose(full, 1.75, rtol=1e-14)


def test_a_word_that_all_or_none_have_says_nothing_without_smoothing():
    ends = np.array([[[0.0], [1.0]], [[0.0], [1.0]]])
    found = Bernoulli().regularise(ends, np.array([10.0, 30.0]), **NONE)
    assert_array_equal(found, 0.5)


def test_presence_is_observed_in_dense_and_sparse():
    X = np.array([[0.0, 2.0], [0.5, 0.0]])
    present = Bernoulli().observe(X)
    assert present.tolist() == [[0, 1], [1, 0]]
    assert Bernoulli().observe(csr_array(X)).toarray().tolist() == present.tolist()
    assert X[0, 1] == 2.0
    for bad in (-X, csr_array(-X)):
        with pytest.raises(ValueError, match=r"Negative values in data.*-2\.0"):
            Bernoulli().observe(bad)


BOUNDARY = [
    (lambda: Normal().jeffreys([3, 9], [0, 1]), r"drop the feature, rescale it or reg"),
    (lambda: Normal().natural([0, 1e-310]), "variance = 1e-310: a normal density"),
    (lambda: Normal().mean([1.0, -1.0]), r"lambda_2 = -1\.0: .*integrable"),
    (lambda: Bernoulli().kl([1.5], [0.5]), r"mean = 1\.5: a probability lies"),
    (lambda: Bernoulli().natural([[0.5], [1.0]]), r"mean = 1\.0 .*alpha > 0"),
    (lambda: Geometric().kl([0.0], [1.0]), r"mean = 0\.0 .*alpha > 0"),
    (lambda: Geometric().mean([0.0]), r"lambda = 0\.0 .*summable"),
    (lambda: Exponential().mean([-2.0]), r"lambda = -2\.0 .*integrable"),
    (lambda: TruncatedExponential().natural([1.0]), r"mean = 1\.0 .*strictly ins"),
    (lambda: TruncatedExponential(1.0, 0.0), r"a=1\.0, b=0\.0 must be finite"),
    (lambda: TruncatedExponential(0, np.nan), "b=nan must be finite numbers"),
    (lambda: Polynomial(2.5), r"n_moments=2\.5 must be an integer, 1 or more"),
    (lambda: Polynomial(2, support=(0, np.inf)), "must be bounded"),
    (lambda: Polynomial(1, support=(0, 1, 2)), r"an interval \(a, b\); .* use levels="),
    (
        lambda: Polynomial(1, support=(0, 1), levels=(0, 2)),
        "exclude each other: give support",
    ),
    (
        lambda: get_family(MultivariateNormal()),
        "all features jointly; use JointMaxEntC",
    ),
    (lambda: get_family("gamma"), r"'gamma' is not known; choose one of \['bern"),
]


@pytest.mark.parametrize(("call", "message"), BOUNDARY)
def test_the_boundary_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


NO_MEANS = {
    "normal": [[1.0, 1.0], [1.0, 0.5], [0.0, np.nan]],
    "exponential": [[0.0], [-1.0], [np.nan]],
    "truncated_exponential": [[0.0], [1.0], [1.5], [np.nan]],
    "bernoulli": [[-0.1], [1.1], [np.nan]],
    "geometric": [[0.0], [-1.0], [np.nan]],
    "poisson": [[0.0], [-1.0], [np.nan]],
}


@pytest.mark.parametrize("name", NO_MEANS)
@pytest.mark.parametrize("method", ["natural", "entropy", "kl", "jeffreys"])
def test_means_that_no_member_has_are_refused_by_every_method(name, method):
    good = MEANS[name][0]
    for bad in NO_MEANS[name]:
        calls = [([good, bad],)]
        if method in ("kl", "jeffreys"):
            calls = [([good, bad], [good, good]), ([good, good], [good, bad])]
        for means in calls:
            with pytest.raises(ValueError, match=r"at index \(1,"):
                getattr(get_family(name), method)(*means)


@pytest.mark.parametrize("name", EACH)
def test_families_read_numbers_of_any_type_in_double_precision(name):
    f = get_family(name)
    single = np.array(MEANS[name][:2], dtype=np.float32)[:, None]
    single = np.repeat(single, 2, axis=1)
    mu, w = single.astype(np.float64), np.array([0.25, 0.75])
    lam = f.natural(mu).astype(np.float32)
    x = np.array([0.0, 1.0], dtype=np.float32)
    calls = [(f.natural, single), (f.entropy, single), (f.kl, *single)]
    calls += [(f.jeffreys, *single), (f.js_gm, single, w.astype(np.float32))]
    calls += [(f.mean, lam), (f.log_normaliser, lam)]
    calls += [(f.log_density, x, lam), (f.log_base_measure, x)]
    calls += [(f.jensen_shannon, single, w)]
    for method, *parts in calls:
        found = np.asarray(method(*parts))
        expected = method(*(np.asarray(part, dtype=np.float64) for part in parts))
        assert_array_equal(found, expected)
        assert found.dtype == np.float64


def test_bernoulli_divergences_on_the_boundary():
    f = Bernoulli()
    assert f.kl([0.0], [0.25]) == pytest.approx(-np.log(0.75))
    assert f.kl([0.5], [0.0]) == np.inf
    assert f.entropy([0.0]) == 0


def test_jensen_shannon_on_levels_is_that_of_their_probabilities():
    levels, w = np.array([0.0, 1.0, 2.0, 5.0]), np.array([0.2, 0.3, 0.5])
    P = np.random.default_rng([9, 5]).dirichlet(np.ones(4), size=3)
    f = Polynomial(2, levels=levels)
    mu = np.stack([P @ levels, P @ levels**2], axis=-1)[:, None]
    lam = f.natural(mu)
    p = np.exp(f.log_density(levels, lam))
    assert_allclose(p.sum(axis=-1), 1, rtol=1e-8)
    expected = stats.entropy(w @ p) - w @ stats.entropy(p, axis=1)
    value, error = f.jensen_shannon(mu, w)
    assert value.shape == error.shape == (1,)
    assert value[0] == pytest.approx(expected, rel=1e-6)
    assert error[0] == 0


def test_normal_divergences_of_classes_about_points_of_their_own():
    """A class of weight zero, and where the powers are taken, do not count."""
    rng = np.random.default_rng([9, 6])
    mean, variance = rng.normal(size=(3, 4)), rng.uniform(0.5, 2.0, size=(3, 4))
    location, w = rng.normal(size=(3, 4)), np.array([0.4, 0.0, 0.6])
    about = Normal.mean_parameters(mean - location, variance)
    plain, f = Normal.mean_parameters(mean, variance), Normal()
    expected, _ = f.jensen_shannon(plain[[0, 2]], w[[0, 2]])
    for mu, where in ((about, location), (plain, None)):
        found, error = f.jensen_shannon(mu, w, location=where)
        assert_allclose(found, expected, rtol=1e-9)
        assert (error < 1e-9).all()
        assert_allclose(f.js_gm(mu, w, location=where), f.js_gm(plain, w), rtol=1e-9)
    assert_allclose(
        f.jeffreys(about[0], about[2], location[[0, 2]]),
        f.jeffreys(plain[0], plain[2]),
        rtol=1e-9,
    )


@pytest.mark.parametrize(
    "f",
    [
        Exponential(),
        TruncatedExponential(),
        Bernoulli(),
        Geometric(),
        Poisson(),
        Multinomial(),
        Binomial(),
        Polynomial(1),
    ],
)
def test_families_about_zero_take_locations_and_ignore_them(f):
    rng = np.random.default_rng([9, 7])
    mu, location = rng.dirichlet(np.ones(4), size=3)[..., None], np.zeros((3, 4))
    w = np.array([0.2, 0.3, 0.5])
    pair = f.jeffreys(mu[0], mu[1], location=location[:2])
    assert_array_equal(pair, f.jeffreys(mu[0], mu[1]))
    js, _ = f.jensen_shannon(mu, w, location=location)
    assert_array_equal(js, f.jensen_shannon(mu, w)[0])
    options = {"variance_shrinkage": 0.1, "alpha": 1.0}
    regular = f.regularise(mu, 9 * w, **options, location=location)
    assert_array_equal(regular, f.regularise(mu, 9 * w, **options))
    expected = f.js_gm(mu, w)
    for lam in (None, f.natural(mu)):
        assert_array_equal(f.js_gm(mu, w, lam=lam, location=location), expected)


def test_whole_means_of_a_normal_are_squared_as_numbers_with_a_point():
    found = Normal.mean_parameters(np.array([4_000_000_000, -3]), 1.0)
    assert found.tolist() == [[4e9, 16e18 + 1.0], [-3.0, 10.0]]


@pytest.mark.parametrize("ends", [(-3.0, 5.0), (2.0, 2.25)])
@pytest.mark.parametrize("rate", [-2.5, -0.01, 0.0, 0.2, 6.0])
def test_truncated_densities_on_any_interval_are_those_of_their_definition(ends, rate):
    f, (a, b) = TruncatedExponential(*ends), ends
    nodes, rule = np.polynomial.legendre.leggauss(60)
    x, rule = a + (b - a) * (nodes + 1) / 2, rule * (b - a) / 2
    mass = rule * np.exp(-rate * x)
    mean, psi = mass @ x / mass.sum(), np.log(mass.sum())
    assert_allclose(f.mean([rate]), [mean], rtol=1e-12)
    assert_allclose(f.log_normaliser([rate]), psi, rtol=1e-12, atol=1e-13)
    assert_allclose(f.natural([mean]), [rate], rtol=1e-8, atol=1e-10)
    assert_allclose(f.entropy([mean]), psi + rate * mean, rtol=0, atol=1e-12)
