"""Statements of *When the maximum entropy is attained*, each tried in two ways."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, spatial, special, stats

from memdlib import ConditionalMaxEntClassifier, MaxEntDensity, families
from memdlib.densities import InfeasibleMomentsError
from tests.book.distributions import dual, flattest


@pytest.mark.wrong("no dual comes near", "duals > best - 1e-12", "duals > best + 0.01")
def test_thm_ex_duality_witness():
    """An attack from both sides: parameters, and densities with the same means."""
    rng = np.random.default_rng([11, 1])
    for _ in range(40):
        m, size = rng.integers(1, 4), rng.integers(5, 9)
        levels = np.sort(rng.choice(np.arange(12), size=size, replace=False))
        levels = (levels - 5.5) / 5.5
        powers = levels[:, None] ** np.arange(1, m + 1)
        target = rng.dirichlet(np.ones(size)) @ powers
        density = MaxEntDensity(m, levels=levels).from_moments(target)
        best, p = density.entropy_, density.pdf(levels)
        assert density.duality_gap_ < 1e-9
        assert_allclose(p @ powers, target, rtol=0, atol=1e-8)
        off = rng.normal(size=(20, m)) * 10.0 ** rng.uniform(-2, 1, size=(20, 1))
        others = density.natural_params_ + off
        duals = special.logsumexp(-others @ powers.T, axis=1) + others @ target
        assert (duals > best - 1e-12).all()
        free = np.linalg.svd(np.column_stack([np.ones(size), powers]).T)[2][m + 1 :]
        change = rng.normal(size=(20, len(free))) @ free
        step = rng.uniform(0.05, 1, size=20) * np.min(p / np.abs(change), axis=1)
        others = p + step[:, None] * change
        lost = best - special.entr(others).sum(axis=1)
        assert (lost > 0).all()
        divergence = special.rel_entr(others, p).sum(axis=1)
        assert_allclose(lost, divergence, rtol=1e-5, atol=1e-10)


def test_thm_ex_duality_second():
    """Random points of the plane: two optimisers, and the bound of the proof."""
    rng, angle = np.random.default_rng([11, 2]), np.linspace(0, 2 * np.pi, 721)
    around = np.column_stack([np.cos(angle), np.sin(angle)])
    for _ in range(6):
        points = rng.normal(size=(7, 2))
        target = rng.dirichlet(np.full(7, 3.0)) @ points
        rows = np.column_stack([np.ones(7), points])
        p = flattest(rows.T, [1, *target], np.ones(7))
        known, options = (points.T, target), {"gtol": 1e-7}
        found = optimize.minimize(dual, np.zeros(2), known, jac=True, options=options)
        assert_allclose(special.entr(p).sum(), found.fun, rtol=1e-8)
        log_p = np.log(p)
        affine = rows @ np.linalg.lstsq(rows, log_p)[0]
        assert_allclose(log_p, affine, rtol=0, atol=1e-3)
        radius = np.min(np.max(around @ (target - points).T, axis=1))
        assert radius > 0
        for length in (0.1, 1, 10, 100):
            values = [dual(lam, *known)[0] for lam in length * around[::20]]
            assert min(values) >= length * radius


@pytest.mark.wrong("the slope has the other sign", "slope, lam,", "slope, -lam,")
def test_thm_ex_bijection_witness():
    """Means to natural parameters and back; these are the slope of the entropy."""
    rng = np.random.default_rng([11, 3])

    def largest(family, mu):
        lam = family.natural(mu)
        return family.log_normaliser(lam) + np.sum(mu * lam, axis=-1)

    positive = rng.gamma(2, size=(20, 1))
    share, mean = rng.uniform(0.02, 0.98, size=(20, 1)), rng.normal(size=(20, 1))
    for family, points in (
        (families.Normal(), np.hstack([mean, mean**2 + positive])),
        (families.Exponential(), positive),
        (families.TruncatedExponential(), share),
        (families.Bernoulli(), share),
        (families.Geometric(), positive),
        (families.Poisson(), positive),
    ):
        for mu in points:
            lam = family.natural(mu)
            assert_allclose(family.mean(lam), mu, rtol=1e-9)
            steps = 1e-5 * min(1, np.abs(mu).max()) * np.eye(len(mu))
            rise = largest(family, mu + steps) - largest(family, mu - steps)
            slope = rise / (2 * steps.max())
            assert_allclose(slope, lam, rtol=1e-4, atol=1e-5)


def test_thm_ex_bijection_second():
    """Densities like x^-r exp(-l x) on [1, inf): steep for r = 2, not for r = 3."""
    with mp.workdps(25):

        def integral(r, rate):
            return mp.mpf(1) / (r - 1) if rate == 0 else mp.expint(r, rate)

        falling = [mp.mpf(rate) for rate in ("1e-2", "1e-6", "1e-12", "1e-24")]
        for r, last in ((2, (40, mp.inf)), (3, (1.9, 2))):
            mean = [integral(r - 1, rate) / integral(r, rate) for rate in falling]
            assert mean == sorted(mean) and last[0] < mean[-1] < last[1]
        # r = 3: the dual for the mean 3 only grows
        growing = [mp.mpf(rate) for rate in ("0", "1e-6", "1e-3", "0.1", "1", "5")]
        dual = [mp.log(integral(3, rate)) + 3 * rate for rate in growing]
        assert all(np.diff(dual) > 0)


@pytest.mark.wrong("parameters stay bounded near a face", "[1] > 5", "[1] < 5")
def test_prop_ex_faces_witness():
    """No natural parameters on the boundary; near it they grow."""
    for levels, mu in (
        ([0, 1], [0.0]),
        ([0, 1], [1.0]),
        ([0, 1, 2, 3], [1.5, 2.5]),
        ([0, 1, 2, 3], [2.5, 6.5]),
    ):
        refused = False
        try:
            MaxEntDensity(len(mu), levels=levels).from_moments(mu)
        except InfeasibleMomentsError:
            refused = True
        assert refused
    edge, inside = np.array([1.5, 2.5]), np.array([1.5, 3.5])  # half at 1, half at 2
    near = (1 - 1e-6) * edge + 1e-6 * inside
    density = MaxEntDensity(2, levels=[0, 1, 2, 3]).from_moments(near)
    assert density.natural_params_[1] > 5
    assert_allclose(density.entropy_, np.log(2), rtol=0, atol=1e-4)


def test_prop_ex_faces_second():
    """Linear programmes find no probability off an edge; members tend to the limit."""
    rng = np.random.default_rng([11, 4])
    for _ in range(6):
        points = rng.normal(size=(8, 2))
        edge = spatial.ConvexHull(points).simplices[0]
        target = np.array([0.3, 0.7]) @ points[edge]
        rows = np.vstack([np.ones(8), points.T])
        most = -np.array(
            [
                optimize.linprog(-unit, A_eq=rows, b_eq=[1, *target]).fun
                for unit in np.eye(8)
            ]
        )
        on_edge = np.isin(np.arange(8), edge)
        assert_allclose(most[~on_edge], 0, rtol=0, atol=1e-7)
        assert_allclose(most[edge], [0.3, 0.7], rtol=1e-6)
        along = points[edge[1]] - points[edge[0]]
        normal = np.array([-along[1], along[0]])
        normal *= np.sign(np.mean((points - target) @ normal))
        start = rng.normal(size=2)
        limit = np.where(on_edge, np.exp(-points @ start), 0)
        slack = np.sort((points - target) @ normal)[2]
        member = special.softmax(-points @ (start + 60 / slack * normal))
        assert_allclose(member, limit / limit.sum(), rtol=0, atol=1e-12)


@pytest.mark.wrong("two moments always have a density", "2.2], False", "2.2], True")
def test_prop_ex_powers_witness():
    """Densities on the line and the half-line where they exist, and only there."""
    line, half = (-np.inf, np.inf), (0, np.inf)
    of_fewer = [0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 3.0], [1.0, 2.0]
    for support, mu, expected in (
        (line, [1.0], False),
        (line, [0.0, 1.0, 0.5], False),
        (line, [0.0, 1.0, 0.0], True),
        (line, [0.0, 1.0, 0.0, 2.9], True),
        (line, [0.0, 1.0, 0.0, 3.0], True),
        (line, [0.0, 1.0, 0.0, 3.2], False),
        (line, [0.0, 1.0, 0.05, 3.2], True),
        (line, [0.0, 1.0, 0.0, 3.5, 0.0, 20.0], True),
        (line, [0.0, 1.0, 0.0, 4.0, 0.0, 60.0], True),
        (half, [1.0, 1.9], True),
        (half, [1.0, 2.0], True),
        (half, [1.0, 2.2], False),
        (half, [1.0, 2.2, 8.0], True),
        (half, [1.0, 2.2, 20.0], True),
        (half, [1.0, 1.5, 3.0], False),
    ):
        try:
            density = MaxEntDensity(len(mu), support=support).from_moments(mu)
        except InfeasibleMomentsError:
            assert not expected
            continue
        assert expected and density.moment_residual_ < 1e-8
        last = density.natural_params_[-1]
        assert last >= 0 and (last == 0) == (mu in of_fewer)


def test_prop_ex_powers_second():
    """On fixed points: the dual is least at the edge beyond a fourth moment of 3."""
    x = np.linspace(-14, 14, 7001)
    for kappa in (2.2, 2.8, 3.2, 5.0):
        found = optimize.minimize(
            lambda lam, mu=(1, kappa): (
                special.logsumexp(-lam[0] * x**2 - lam[1] * x**4)
                + np.log(x[1] - x[0])
                + lam @ mu
            ),
            [0.5, 0.1],
            method="L-BFGS-B",
            bounds=[(-3, 3), (0, 3)],
            options={"ftol": 1e-15},
        )
        if kappa > 3:
            assert_allclose(found.x, [0.5, 0], rtol=0, atol=1e-4)
            assert_allclose(found.fun, stats.norm.entropy(), rtol=0, atol=1e-8)
        else:
            assert found.x[1] > 1e-3


def test_three_moments_on_the_half_line_where_two_have_no_density():
    """An interior minimum of the dual, on fixed points."""
    y, scale = np.linspace(0, 120, 12001), np.array([1, 0.1, 0.01])
    features = np.vstack([y, y**2, y**3]) * scale[:, None]
    bounds = [(None, None), (None, None), (1e-7, None)]
    options = {"ftol": 1e-15, "gtol": 1e-8, "maxiter": 5000}
    for mu in scale * ([1, 2.2, 8.0], [1, 3.0, 12.0]):
        found = optimize.minimize(
            dual, [1, 0, 0.1], (features, mu), jac=True, bounds=bounds, options=options
        )
        assert np.abs(dual(found.x, features, mu)[1]).max() < 1e-4 and found.x[2] > 0.05


@pytest.mark.wrong("relaxed moments lie on the other side", "40 + alpha", "40 - alpha")
def test_thm_ex_relaxed_witness():
    """A quadratic penalty moves five class shares; other distributions are worth less.

    The features of the classes sum to one, and the penalty still has one least point.
    """
    rng, counts = np.random.default_rng([11, 5]), np.array([1, 3, 6, 10, 20])
    labels, always = np.repeat(np.arange(5), counts), np.ones((40, 1))
    for l2 in (0.5, 5.0, 100.0):
        model = ConditionalMaxEntClassifier(C=1 / l2, fit_intercept=False, tol=1e-8)
        with pytest.warns(UserWarning, match="all training rows have the same"):
            model.fit(always, labels)
        p = model.predict_proba(always[:1])[0]
        alpha = l2 / 40
        moved = counts / 40 + alpha * model.natural_params_[:, 1]
        assert_allclose(p, moved, rtol=0, atol=1e-8)
        far = rng.dirichlet(np.ones(5), size=2000)
        rivals = np.vstack([p, far, p + 0.01 * (far - p)])
        charge = ((rivals - counts / 40) ** 2).sum(axis=1) / (2 * alpha)
        assert (special.entr(rivals).sum(axis=1) - charge).argmax() == 0


@pytest.mark.parametrize(
    ("charge", "conjugate", "moved"),
    [
        (None, lambda lam: 0.5 * abs(lam), lambda lam: -0.5),
        (lambda v: 2.0 * v**2, lambda lam: lam**2 / 8, lambda lam: lam / 4),
    ],
    ids=["tolerance", "charge"],
)
def test_thm_ex_relaxed_second(charge, conjugate, moved):
    """A die that showed only sixes: quadratic programming against golden section."""
    sides, limits = np.arange(1, 7), [{"type": "eq", "fun": lambda p: p.sum() - 1}]

    def loss(p):
        price = charge(p @ sides - 6) if charge else 0.0
        return price - special.entr(p).sum()

    if charge is None:
        allowed = {"type": "ineq", "fun": lambda p: 0.5 - abs(p @ sides - 6)}
        limits.append(allowed)
    primal = optimize.minimize(
        loss,
        np.array([1, 1, 1, 1, 6, 40]) / 50,
        method="SLSQP",
        bounds=[(1e-9, 1)] * 6,
        constraints=limits,
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    dual = optimize.minimize_scalar(
        lambda lam: special.logsumexp(-lam * sides) + lam * 6 + conjugate(lam),
        bracket=(-3, -1),
        method="golden",
        tol=1e-12,
    )
    assert_allclose(-primal.fun, dual.fun, rtol=0, atol=2e-6)
    mean = special.softmax(-dual.x * sides) @ sides
    assert_allclose(mean - 6, moved(dual.x), rtol=0, atol=2e-6)


def edge_dual(s, t, mu, conjugate):
    """Dual plus penalty for x and x + log x relative to x^-3 on [1, inf).

    The family is exp(-s x) x^-(3 + t) with s = λ1 + λ2 > 0, or s = 0 and t = λ2 > -2.
    """
    lam = np.array([s - t, t])
    return float(mp.log(mp.expint(3 + t, s))) + lam @ np.array(mu) + conjugate(lam)


def edge_means(s, t):
    of_x = mp.expint(2 + t, s) / mp.expint(3 + t, s)
    of_log = -mp.diff(lambda power: mp.log(mp.expint(power, s)), 3 + t)
    return np.array([of_x, of_x + of_log], dtype=float)


@pytest.mark.wrong("the sign is the other one", "+ alpha * lam", "- alpha * lam")
def test_thm_ex_relaxed_with_a_minimum_inside():
    """A quadratic penalty with two means on a half-line, whose set of λ has an edge."""
    alpha = 0.05

    def squares(lam):
        return alpha / 2 * (lam @ lam)

    for mu in ([1.3, 1.5], [2.0, 2.6], [2.0, 2.65], [3.0, 4.0]):
        best = optimize.minimize(
            lambda at, mu=mu: edge_dual(np.exp(at[0]), at[1], mu, squares),
            [-1.0, 0.0],
            tol=1e-12,
        )
        s, t = np.exp(best.x[0]), best.x[1]
        assert s > 1e-2
        lam = np.array([s - t, t])
        assert_allclose(edge_means(s, t), mu + alpha * lam, rtol=0, atol=1e-5)


@pytest.mark.wrong("the edge uses the tolerance up too", "< 1.5", "> 9.9")
def test_thm_ex_relaxed_with_a_minimum_at_the_edge():
    """Two minima by hand, for means 10 and 10.2: least of all points around them."""
    around = np.linspace(0, np.pi, 41)  # s may only grow
    for t, conjugate in (
        (4 / 3, lambda lam: 0.05 * abs(lam).sum()),
        (np.sqrt(10) - 2, lambda lam: 0.05 / 2 * (lam @ lam)),
    ):
        least = edge_dual(0.0, t, [10, 10.2], conjugate)
        for size in (1e-3, 0.1, 1.0):
            for s, step in size * np.column_stack([np.sin(around), np.cos(around)]):
                assert edge_dual(abs(s), t + step, [10, 10.2], conjugate) > least
        assert edge_means(0.0, t)[0] < 1.5  # not 10 up to .05, nor 10 - .05 t


def test_a_penalty_at_the_edge_has_a_supremum_that_no_density_attains():
    """Mean x of 10 relative to x^-3 on [1, inf), where members have means up to 2."""

    def loss(lam):
        return float(mp.log(mp.expint(3, lam))) + 10 * lam + lam**2 / 2

    lam = np.linspace(0, 3, 301)
    assert np.argmin([loss(v) for v in lam]) == 0
    assert_allclose(loss(0), -np.log(2), rtol=1e-12)
    worth = []
    for far in (1e3, 1e5, 1e7):
        share = 8 / (1.5 * far - 2)  # of a uniform part on [far, 2 far]: the mean is 10
        known = mp.quad(
            lambda x, share=share: -2 * (1 - share) * x**-3 * mp.log(2 * (1 - share)),
            [1, far],
        )
        tail = mp.quad(
            lambda x, share=share, far=far: (
                -(2 * (1 - share) * x**-3 + share / far)
                * mp.log(2 * (1 - share) + share / far * x**3)
            ),
            [far, 2 * far],
        )
        beyond = -((1 - share) / (2 * far) ** 2) * mp.log(2 * (1 - share))
        worth.append(float(known + tail + beyond))
    assert np.all(np.diff(worth) > 0) and -1e-3 < worth[-1] - loss(0) < 0


@pytest.mark.wrong("others have more entropy", "entropy < largest", "entropy > largest")
def test_prop_me_base_witness():
    """Other laws of counts with the same mean have less, by each base measure."""
    counts = np.arange(2000)
    log_base = families.Poisson().log_base_measure(counts.astype(float))
    for mean in (0.5, 3.0, 8.0):
        for family, law in (
            (families.Poisson(), stats.poisson(mean)),
            (families.Geometric(), stats.geom(1 / (1 + mean), loc=-1)),
        ):
            found = family.log_density(counts[:60], family.natural([mean]))
            assert_allclose(found, law.logpmf(counts[:60]), rtol=1e-9)
        others = [stats.nbinom(s, s / (s + mean)) for s in (0.3, 2, 5, 50)]
        others += [stats.binom(size, mean / size) for size in (9, 12, 40)]
        largest = families.Geometric().entropy([mean])
        for law in others:
            p = law.pmf(counts)
            assert_allclose(p @ counts, mean, rtol=1e-9)
            entropy = special.entr(p).sum()
            assert entropy < largest
            assert entropy + p @ log_base < families.Poisson().entropy([mean])
    # on the line with a mean alone the measure exp(-x²) has a winner
    best = stats.norm(0.7, np.sqrt(0.5))
    most = best.entropy() - best.var() - best.mean() ** 2
    for law in (
        stats.norm(0.7, 0.5),
        stats.norm(0.7, 2),
        stats.laplace(0.7),
        stats.gumbel_r(0.7 - np.euler_gamma),
        stats.uniform(-0.3, 2),
    ):
        assert_allclose(law.mean(), 0.7, rtol=1e-9)
        assert law.entropy() - law.var() - law.mean() ** 2 < most


def test_prop_me_base_second():
    """The least dual on fixed points, a minimiser without derivatives."""

    def solved(log_base, x, mean):
        lam = optimize.minimize_scalar(
            lambda lam: special.logsumexp(log_base - lam * x) + lam * mean,
            bounds=(-3, 3),
            method="bounded",
            options={"xatol": 1e-12},
        ).x
        return special.softmax(log_base - lam * x)

    wide = np.arange(400)
    for log_base, law in (
        (np.zeros(400), stats.geom(1 / 4, loc=-1)),
        (-special.gammaln(wide + 1.0), stats.poisson(3.0)),
    ):
        found = solved(log_base, wide, 3.0)
        assert_allclose(found, law.pmf(wide), rtol=0, atol=1e-7)
    line = np.linspace(-8, 8, 4001)
    variance = solved(-(line**2), line, 0.7) @ (line - 0.7) ** 2
    assert_allclose(variance, 0.5, rtol=0, atol=1e-6)
    # without the measure: up to the ends
    assert solved(0 * line, line, 0.7) @ (line - 0.7) ** 2 > 10
