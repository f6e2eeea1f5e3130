"""A batch of maximum-entropy densities against one general solve for each of them.

The peer minimises the same dual, in orthonormal polynomials on a fixed grid, with its
gradient and its Hessian, by ``scipy.optimize.minimize``.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from benchmarks.comparison import Comparison, compare_times
from memdlib import MaxEntDensity
from memdlib.densities.support import gauss_legendre

N_DENSITIES, N_NODES = 2000, 256


def solve_one_by_one(mu, method):
    """Natural parameters in orthonormal polynomials, one general solve each."""
    m = mu.shape[1]
    nodes, weights = gauss_legendre(N_NODES)
    scale = np.sqrt(2 * np.arange(m + 1) + 1)
    phi = np.polynomial.legendre.legvander(nodes, m) * scale
    # x^j in Legendre polynomials, inverted: Legendre moments from power moments
    monomials = np.zeros((m + 1, m + 1))
    for j, power in enumerate(np.eye(m + 1)):
        monomials[j, : j + 1] = np.polynomial.legendre.poly2leg(power[: j + 1])
    moments = np.column_stack([np.ones(len(mu)), mu])
    target = np.linalg.solve(monomials, moments.T).T * scale
    phi, target, log_weights = phi[:, 1:], target[:, 1:], np.log(weights)

    def solve(t):
        def node_probabilities(lam):
            logits = log_weights - phi @ lam
            psi = logsumexp(logits)
            return psi, np.exp(logits - psi)

        def dual(lam):
            psi, p = node_probabilities(lam)
            return psi + lam @ t, t - p @ phi

        def hessian(lam):
            p = node_probabilities(lam)[1]
            mean = p @ phi
            return (phi.T * p) @ phi - np.outer(mean, mean)

        options = {"hess": hessian} if method == "trust-exact" else {}
        start = np.zeros(m)
        return minimize(dual, start, jac=True, method=method, tol=1e-9, **options).x

    return np.array([solve(t) for t in target])


def comparisons() -> list[Comparison]:
    """Measure four and six moments on an interval."""
    rng = np.random.default_rng([71, 1])
    shape = rng.uniform(1, 5, size=(2, N_DENSITIES))
    x = 2 * rng.beta(*shape, size=(300, N_DENSITIES)) - 1
    found = []
    for m in (4, 6):
        mu = np.stack([(x**j).mean(axis=0) for j in range(1, m + 1)], axis=1)
        density = MaxEntDensity(m, support=(-1.0, 1.0))
        for method in ("BFGS", "trust-exact"):
            found.append(
                compare_times(
                    f"{N_DENSITIES} densities of {m} moments",
                    f"scipy minimize, {method}",
                    lambda mu=mu, density=density: density.from_moments(mu),
                    lambda mu=mu, method=method: solve_one_by_one(mu, method),
                    goal=0.01,
                    data=(mu,),
                    repeats=2,
                )
            )
    return found
