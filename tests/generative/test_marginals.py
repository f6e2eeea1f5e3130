from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn.exceptions import ConvergenceWarning

from memdlib.families import Normal, Poisson
from memdlib.generative.marginals import ClassMarginals
from memdlib.generative.ranking import rank
from memdlib.generative.scores import MarginalScores
from memdlib.moments import class_moments


def sample(n=120, d=6, n_classes=3, seed=1):
    rng = np.random.default_rng([47, seed])
    codes = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 3, size=(n_classes, d))[codes]
    return X + rng.normal(size=(n_classes, d))[codes], codes


def moments_of(X, codes, n_classes=3, order=2):
    return class_moments(X, codes, n_classes, order=order)


def test_automatic_shrinkage_is_its_formula():
    X, codes = sample(d=40)
    marginals = ClassMarginals(
        moments_of(X, codes), Normal(), variance_shrinkage="auto"
    )
    v = np.array([X[codes == k].var(axis=0) for k in range(3)])
    ratio = v / v.mean(axis=0)
    expected = (2 * (2 / 3) * ratio**2 / 42).sum() / ((ratio - 1) ** 2).sum()
    assert marginals.variance_shrinkage == pytest.approx(expected, rel=1e-10)
    assert 0.01 < expected < 0.5
    moved = (1 - expected) * v + expected * v.mean(axis=0)
    assert_allclose(Normal.variance(marginals.mean_params), moved, rtol=1e-10)


def test_automatic_shrinkage_of_constants_is_all_and_of_counts_none():
    codes = np.arange(60) % 2
    constant = moments_of(np.ones((60, 2)), codes, 2)
    assert (
        ClassMarginals(constant, Normal(), variance_shrinkage="auto").variance_shrinkage
        == 1.0
    )
    counts = class_moments(np.eye(60), codes, 2, order=1)
    assert (
        ClassMarginals(counts, Poisson(), variance_shrinkage="auto").variance_shrinkage
        == 0.0
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"variance_shrinkage": 1.5},
            r"variance_shrinkage=1\.5 must be a float in the range \[0.0, 1.0\]",
        ),
        (
            {"alpha": -1.0},
            r"alpha=-1\.0 must be a float in the range \[0.0, inf\)",
        ),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ClassMarginals(moments_of(*sample()), Normal(), **options)
    with pytest.raises(ValueError, match=r"divergence='js_am' must be one of"):
        ClassMarginals(moments_of(*sample()), Normal()).divergences("js_am")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 3e9])
@pytest.mark.parametrize("prior", [[1 / 3] * 3, [0.5, 0.3, 0.2], [0.25, 0.75, 0.0]])
def test_a_feature_without_variance_inside_the_classes_is_perfect(kind, scale, prior):
    X, codes = sample()
    X[:, 1] = 5 + codes  # all three apart
    X[:, 3] = codes == 1  # one apart
    X[:, 4] = 7.7
    X[:, 5] = np.where(codes == 1, -1, 0)
    moments, prior = moments_of(kind(X * scale), codes), np.array(prior)
    marginals = ClassMarginals(moments, Normal(), prior=prior)
    js, js_gm = marginals.divergences("js"), marginals.divergences("js_gm")
    whole = stats.entropy(prior)
    grouped = stats.entropy([prior[1], prior[0] + prior[2]])
    assert_allclose(js[[1, 3, 5]], [whole, grouped, grouped], rtol=1e-14)
    assert (js[[0, 2]] < whole).all()
    assert rank(js_gm).tolist()[:3] == [1, 3, 5]
    for value in (js_gm, marginals.divergences("jeffreys")):
        assert np.isposinf(value[[1, 3, 5]]).all()
        assert np.isfinite(value[[0, 2]]).all()
    for value in (js, js_gm):
        assert value[4] == 0


def test_a_perfect_feature_comes_before_one_that_is_nearly_so():
    rng = np.random.default_rng([47, 8])
    codes = np.arange(100) % 2
    X = np.column_stack([rng.normal(size=100) + 1e6 * codes, codes, 3 * codes])
    for divergence in ("js", "js_gm", "jeffreys"):
        marginals = ClassMarginals(moments_of(X, codes, 2), Normal())
        assert rank(marginals.divergences(divergence)).tolist() == [1, 2, 0]
    # rounding errors of a row that weighs next to nothing are no difference
    weight = np.r_[np.full(99, 1.0), 1e-300]
    X = np.full((100, 1), 0.1)
    X[-1] = 0.7
    moments = class_moments(X, codes, 2, order=2, sample_weight=weight)
    assert ClassMarginals(moments, Normal()).divergences() < 1e-30


@pytest.mark.parametrize("offset", [1e8, 1e12])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_divergences_of_classes_far_apart(kind, offset):
    """Against the textbook formulas in fractions."""
    X, codes = sample(n=60, d=3)
    X[:, 0] += np.array([0, 0, offset])[codes]
    X[:, 1] += offset
    X[:, 2] += np.array([-offset, offset, 0])[codes]

    def law(rows, s):
        x = [Fraction(float(v)) for v in X[rows, s]]
        mean = sum(x) / len(x)
        return mean, sum((v - mean) ** 2 for v in x) / len(x)

    def jeffreys(a, b):
        (m, v), (n, w) = a, b
        return (v / w + w / v - 2 + (m - n) ** 2 * (1 / v + 1 / w)) / 2

    marginals = ClassMarginals(moments_of(kind(X), codes), Normal())
    js_gm, one_vs_rest = (marginals.divergences(d) for d in ("js_gm", "jeffreys"))
    for s in range(3):
        laws = [law(codes == k, s) for k in range(3)]
        pairs = sum(jeffreys(laws[j], laws[k]) for k in range(3) for j in range(k))
        assert js_gm[s] == pytest.approx(float(pairs / 9), rel=1e-9)
        rest = sum(jeffreys(laws[k], law(codes != k, s)) for k in range(3))
        assert one_vs_rest[s] == pytest.approx(float(rest / 3), rel=1e-9)
    # far apart is as good as known
    near = ClassMarginals(moments_of(X[codes < 2, :1], codes[codes < 2], 2), Normal())
    js = 2 / 3 * near.divergences("js") + stats.entropy([2 / 3, 1 / 3])
    # where doubles lie apart by a share of the deviation, so do the nodes
    assert marginals.divergences("js")[0] == pytest.approx(js[0], rel=1e-19 * offset)


def test_class_shares_may_be_given():
    X, codes = sample()
    moments, prior = moments_of(X, codes), np.array([0.5, 0.3, 0.2])
    given = ClassMarginals(moments, Normal(), prior=prior)
    mean = moments.location + given.mean_params[..., 0]
    mu = Normal.mean_parameters(mean, Normal.variance(given.mean_params))
    pairs = np.array([[Normal().jeffreys(a, b) for b in mu] for a in mu])
    expected = np.einsum("j,k,jks->s", prior, prior, pairs) / 2
    assert_allclose(given.divergences("js_gm"), expected, rtol=1e-9)
    scores = MarginalScores.of(given, np.arange(6))
    assert_allclose(np.exp(scores.log_prior), prior, rtol=1e-15)


@pytest.mark.parametrize("prior", [[0.5, 0.3, 0.2], [0.25, 0.75, 0.0]])
def test_given_shares_mix_the_other_classes_as_weights_would(prior):
    X, codes = sample()
    given = ClassMarginals(moments_of(X, codes), Normal(), prior=np.array(prior))
    weight = 3 * np.array(prior)[codes]
    weighted = class_moments(X, codes, 3, order=2, sample_weight=weight)
    expected = ClassMarginals(weighted, Normal()).divergences("jeffreys")
    assert_allclose(given.divergences("jeffreys"), expected, rtol=1e-12)


def test_the_feature_of_the_largest_error_is_named_with_it(monkeypatch):
    marginals = ClassMarginals(moments_of(*sample(d=3)), Normal())
    told = {"error": np.array([0.0, 1e-6, 1e-7])}

    def jensen_shannon(*_, **__):
        return np.array([0.1, 0.25, 0.5]), told["error"]

    monkeypatch.setattr(Normal, "jensen_shannon", jensen_shannon)
    assert marginals.divergences("js").tolist() == [0.1, 0.25, 0.5]
    told["error"] = np.array([1e-7, 3e-6, 2e-6])
    with pytest.warns(ConvergenceWarning, match=r"feature 1 is 0\.25 \+- 3e-06 nats"):
        marginals.divergences("js")
