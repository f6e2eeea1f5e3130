import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from memdlib.families.multivariate import MultivariateNormal, whitening

F = MultivariateNormal()


def members(n, d, seed=0):
    """Means (n, d) and well-conditioned covariances (n, d, d)."""
    rng = np.random.default_rng([20, seed, d])
    A = rng.normal(size=(n, d, d))
    return rng.normal(size=(n, d)), A @ np.swapaxes(A, 1, 2) / d + np.eye(d) / 2


def exact(mu1, mu2):
    """KL and J in 50 digits, of the mean parameters as they stand."""
    m, S = [], []
    for mu in (mu1, mu2):
        column = mp.matrix(mu[:, :1].tolist())
        m.append(column)
        S.append(mp.matrix(mu[:, 1:].tolist()) - column * column.T)

    def kl(a, b):
        P, shift = S[b] ** -1, m[a] - m[b]
        trace = sum((P * S[a])[i, i] for i in range(len(m[0])))
        log_ratio = mp.log(mp.det(S[b]) / mp.det(S[a]))
        return (trace - len(m[0]) + log_ratio + (shift.T * P * shift)[0]) / 2

    return float(kl(0, 1)), float(kl(0, 1) + kl(1, 0))


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("origin", [0.0, 30.0])
def test_density_and_entropy_are_those_of_scipy(d, origin):
    mean, S = members(4, d)
    mean = mean + origin
    mu = F.mean_parameters(mean, S)
    x = origin + np.random.default_rng([20, 1]).normal(size=(7, d)) * 3
    laws = [stats.multivariate_normal(m, s) for m, s in zip(mean, S, strict=True)]
    expected = np.stack([law.logpdf(x) for law in laws], axis=1)
    assert_allclose(F.log_density(x, F.natural(mu)), expected, rtol=1e-9)
    assert_allclose(F.entropy(mu), [q.entropy() for q in laws], rtol=1e-10)
    lam = F.natural(mu)
    dual = F.log_normaliser(lam) + (lam * mu).sum(axis=(-1, -2))
    assert_allclose(dual, F.entropy(mu), rtol=1e-9, atol=1e-9)
    for k in range(4):
        one = F.log_density(x, lam[k])
        assert one.shape == (7,)
        assert_allclose(one, expected[:, k], rtol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_mean_and_natural_parameters_are_inverse(d):
    mean, S = members(6, d)
    mu = F.mean_parameters(mean, S).reshape(2, 3, d, d + 1)
    assert_allclose(F.mean(F.natural(mu)), mu, rtol=1e-10, atol=1e-12)
    assert_allclose(F.covariance(mu).reshape(S.shape), S, rtol=0, atol=1e-13)
    lam = F.natural(mu).reshape(6, d, d + 1)
    precision = np.linalg.inv(S)
    assert_allclose(lam[..., 1:], precision / 2, rtol=0, atol=1e-11)
    linear = -np.einsum("kab,kb->ka", precision, mean)
    assert_allclose(lam[..., 0], linear, rtol=0, atol=1e-11)


def test_only_the_symmetric_part_of_the_quadratic_parameters_counts():
    lam = F.natural(F.mean_parameters([1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]]))
    skew = lam + np.array([[0, 0, 0.3], [0, -0.3, 0]])
    x = np.array([[0.5, -1.0], [3.0, 2.0]])
    assert_allclose(F.mean(skew), F.mean(lam), rtol=1e-14)
    assert_allclose(F.log_density(x, skew), F.log_density(x, lam))


@given(st.integers(0, 10**6), st.sampled_from([1e-2, 1e-4, 1e-6, 1e-8]))
def test_near_members_keep_their_digits(seed, change):
    rng = np.random.default_rng([20, 3, seed])
    (_,), (S,) = members(1, 3, seed)
    noise = rng.normal(size=(3, 3))
    near = S * (1 + change * (noise + noise.T))
    # about a location near the means, as class moments are taken
    a = F.mean_parameters(np.zeros(3), S)
    b = F.mean_parameters(change * rng.normal(size=3), near)
    kl, jeffreys = exact(a, b)
    assert float(F.kl(a, b)) == pytest.approx(kl, rel=1e-11, abs=0)
    assert float(F.jeffreys(a, b)) == pytest.approx(jeffreys, rel=1e-11, abs=0)
    for w in ([0.5, 0.5], [0.999, 0.001]):
        found = float(F.js_gm(np.stack([a, b]), w))
        assert found == pytest.approx(w[0] * w[1] * jeffreys, rel=1e-10, abs=0)


@pytest.mark.parametrize("ratio", [1e-12, 1e-3, 1e12])
def test_far_members_keep_their_digits(ratio):
    a = F.mean_parameters([1.0, 2.0], [[2.0, 1.0], [1.0, 1.0]])
    b = F.mean_parameters([0.0, 1.0], [[ratio, 0.0], [0.0, 3.0]])
    kl, jeffreys = exact(a, b)
    assert float(F.kl(a, b)) == pytest.approx(kl, rel=1e-12)
    assert float(F.jeffreys(a, b)) == pytest.approx(jeffreys, rel=1e-12)


def test_members_about_points_of_their_own():
    (mean, S), w = members(3, 4), np.array([0.2, 0.5, 0.3])
    location = np.random.default_rng([20, 5]).normal(size=(3, 4))
    plain, about = F.mean_parameters(mean, S), F.mean_parameters(mean - location, S)
    found = F.jeffreys(about[0], about[1], location=location[:2])
    assert_allclose(found, F.jeffreys(plain[0], plain[1]), rtol=1e-11)
    found = F.js_gm(about, w, location=location)
    assert_allclose(found, F.js_gm(plain, w), rtol=1e-11)


def joint_entropy(mean, S):
    return F.entropy(F.mean_parameters(mean, S))


@pytest.mark.parametrize(
    ("call", "given", "message"),
    [
        (joint_entropy, ([0, 0], [[1, 1], [1, 1]]), "matrix = .*: a joint .*; shrink"),
        (joint_entropy, ([[0]], [[[0]]]), r"0\.0 at index \(0, 0\): .*regularise its"),
        (whitening, ([np.eye(2), [[1, -2], [-2, 1]]],), r"= -1\.0\d* at index \(1,\)"),
        (whitening, ([[1e18, 1], [1, 1e-18]],), "smallest eigenvalue of the correlat"),
        (whitening, ([[1, np.nan], [np.nan, 1]],), "matrix = nan|converge"),
        (whitening, ([[np.inf]],), r"variance = inf at index \(0,\)"),
        (F.mean, ([[0.0, -1.0]],), r"variance = -2\.0"),
    ],
)
def test_the_boundary_is_named(call, given, message):
    with pytest.raises(ValueError, match=message):
        call(*given)


def regularised(mean, S, weight, shrinkage=0.0, pooled=False):
    mu = F.mean_parameters(mean, S)
    return F.regularise(
        mu, np.array(weight), correlation_shrinkage=shrinkage, pooled=pooled
    )


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("shrinkage", [0.0, 0.25])
def test_shrinkage_multiplies_correlations(pooled, shrinkage):
    mean, S = members(3, 4)
    weight = np.array([10.0, 20.0, 70.0])
    same, found, s = regularised(mean, S, weight, shrinkage, pooled)
    own = np.tensordot(weight / 100, S, 1) if pooled else S
    expected = np.where(np.eye(4) > 0, own, (1 - shrinkage) * own)
    assert_allclose(same, mean, rtol=1e-14)
    assert_allclose(found, expected, rtol=1e-12)
    assert_array_equal(s, shrinkage)


@pytest.mark.parametrize("pooled", [False, True])
def test_the_automatic_intensity_by_hand(pooled):
    mean, S = members(2, 5)
    weight, off = np.array([40.0, 60.0]), ~np.eye(5, dtype=bool)
    _, found, s = regularised(mean, S, weight, "auto", pooled)
    if pooled:
        S, freedom = [0.4 * S[0] + 0.6 * S[1]], [98.0]
    else:
        freedom = weight - 1
    for k, n in enumerate(freedom):
        deviation = np.sqrt(np.diag(S[k]))
        r = (S[k] / deviation / deviation[:, None])[off]
        expected = min(1.0, (1 + r**2).sum() / n / (r**2).sum())
        assert s.ravel()[k] == pytest.approx(expected, rel=1e-12)
        shrunken = found.reshape(-1, 5, 5)[k][off]
        assert_allclose(shrunken, (1 - expected) * S[k][off], rtol=1e-10)


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("n", [2, 3, 10, 10**6])
def test_the_automatic_intensity_makes_any_covariance_definite(n, pooled):
    rng = np.random.default_rng([20, 4])
    copies = np.outer(rng.normal(size=8), rng.normal(size=8))
    S = np.stack([copies @ copies.T] * 2)
    _, found, s = regularised(np.zeros((2, 8)), S, [n, n], "auto", pooled)
    assert np.isfinite(whitening(found)).all()
    assert (s >= min(1, 2 / (2 * n))).all()


def test_zero_variances_follow_the_rule_of_the_normal_family():
    S = np.array([[[4.0, 1.0, 0], [1.0, 1.0, 0], [0, 0, 0]], np.zeros((3, 3))])
    mean = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 5.0]])
    found_mean, found, _ = regularised(mean, S, [30.0, 10.0])
    assert_allclose(found[0], [[4, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert_allclose(found[1], np.diag([3.0, 0.75, 1.0]))
    assert_array_equal(found_mean, mean)
    _, found, _ = regularised(mean, S, [30.0, 10.0], pooled=True)
    assert_allclose(found, [[3, 0.75, 0], [0.75, 0.75, 0], [0, 0, 1]])
