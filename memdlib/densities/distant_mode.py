"""A small mode far out, which supplies what a density of fewer moments lacks.

Next to moments without a maximum of entropy the density has a mode of a vanishing
probability p at a distant place R. It is so narrow that natural parameters are no
coordinates for Newton's method: a step that moves it by a hundred of its widths changes
the log density at its old place by thousands. In the coordinates R, the depth H and the
polynomial A of

    -log density = H + A(u) (1 - u / R)^2,

and with the last two moments compared in logarithms, a few steps suffice.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from memdlib.densities.log_polynomial import Problem, State
from memdlib.densities.recurrence import Recurrence, stieltjes

Array = NDArray[np.float64]

# Distances at which a mode is looked for.
_PLACES = np.geomspace(2.0, 1e5, 800)
# Largest probability of a mode to start with, and share of its distance that is its.
_SMALL, _REACH = 0.05, 0.3
# Newton steps; misfit of moments, and of logarithms of moments, at which they stop.
_STEPS, _EXACT = 40, 1e-11


def find_distant_mode(
    problem: Problem, theta: Array, basis: Recurrence
) -> Iterator[State]:
    """Densities with a distant mode that have the moments asked for, or nearly so.

    Parameters
    ----------
    problem : Problem
        Of one row, on an unbounded support.
    theta : ndarray of shape (1, m + 1)
        The density of m - 2 moments.
    basis : Recurrence
        Its orthonormal polynomials, up to degree m.

    Yields
    ------
    State
        To be checked: the last of a few that Newton's method reaches.
    """
    for start, place, depth in _candidates(problem, theta, basis):
        state = _match(problem, theta, start, basis, place, depth)
        if state is not None:
            yield state


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def _candidates(problem, theta, basis) -> list[tuple[Array, float, float]]:
    """Places and depths of modes that supply what is missing, to first order.

    The last two coefficients c are those that give a polynomial the value H at R and
    the slope zero. They lower the means of their polynomials in the bulk by c, and the
    mode adds p times their values at R.
    """
    m = problem.m
    missing = problem.means(basis)[0, m - 2 :]
    place = np.concatenate([-_PLACES[::-1], _PLACES])
    place = place[(place > problem.lower) & (place < problem.upper)]
    unit = np.eye(m + 1)[m - 1 :]
    last = Recurrence(basis.alpha.repeat(2, 0), basis.beta.repeat(2, 0))
    slopes = last.differentiate(unit)
    bends = last.differentiate(slopes)
    values = basis.evaluate(place[None])[:, 0]
    slope = basis.differentiate(theta)
    bend = basis.differentiate(slope)
    own, own_slope, own_bend = (row[0] @ values for row in (theta, slope, bend))
    (f, g), (df, dg), (ddf, ddg) = values[m - 1 :], slopes @ values, bends @ values
    depth = np.full(place.shape, 10.0)
    for _ in range(60):
        rise, fall = depth - own, -own_slope
        before = (rise * dg - fall * g) / (f * dg - g * df)
        lead = (f * fall - df * rise) / (f * dg - g * df)
        probability = (missing[1] + lead) / g
        curvature = own_bend + before * ddf + lead * ddg
        wanted = np.log(np.sqrt(2.0 * np.pi / curvature) / probability)
        depth = np.where(np.isfinite(wanted), 0.5 * (depth + wanted), depth)
    misfit = missing[0] + before - probability * f
    fair = (probability > 0) & (probability < _SMALL) & (curvature > 0) & (lead > 0)
    found = []
    for i in np.flatnonzero(fair[1:] & fair[:-1] & (misfit[1:] * misfit[:-1] <= 0)):
        start = theta.copy()
        start[0, m - 1 :] = before[i], lead[i]
        found.append((start, place[i], depth[i]))
    return found


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def _match(problem, theta, start, basis, place, depth) -> State | None:
    """Newton's method for A, R and H, from a polynomial with a turn at R."""
    m = problem.m
    # A by its expansion in the bulk, where it is smooth
    u, mass = problem.grid(basis, theta, True)
    mass = mass * np.exp(-basis.expand(theta, u))
    ratio = (basis.expand(start, u) - depth) / (1.0 - u / place) ** 2
    factor = np.einsum("bn,jbn->bj", mass * ratio, basis.evaluate(u))
    factor[:, m - 1 :] = 0.0
    own = basis
    for _ in range(_STEPS):
        u, mass = problem.grid(own, _expand_in(own, basis, factor, place, depth), False)
        values = basis.evaluate(u)[: m - 1, 0]
        smooth, near = factor[0, : m - 1] @ values, 1.0 - u[0] / place
        mass = mass * np.exp(-depth - smooth * near**2)
        slopes = [*(values * near**2), 2.0 * smooth * near * u[0] / place**2]
        misfit, jacobian = _misfit(problem, u, mass, near, np.array([*slopes, near**0]))
        if not np.isfinite(jacobian).all() or not np.isfinite(misfit).all():
            return None
        own, _ = stieltjes(u, mass / mass.sum(), m)
        if np.abs(misfit).max() < _EXACT:
            break
        size = np.abs(jacobian).max(axis=0)
        *change, away, deeper = np.linalg.solve(jacobian / size, -misfit) / size
        length = min(1.0, abs(0.1 * place / away), abs(3.0 / deeper))
        factor[0, : m - 1] += length * np.array(change)
        place, depth = place + length * away, depth + length * deeper
    return problem.measure(own, _expand_in(own, basis, factor, place, depth))


def _expand_in(own, basis, factor, place, depth) -> Array:
    """Coefficients (1, m + 1) of H + A(u) (1 - u / R)^2 in other polynomials."""
    theta = np.einsum("bj,bjk->bk", factor, own.coefficients(basis))
    for _ in range(2):
        theta = theta - own.times_u(theta) / place
    theta[:, 0] += depth
    return theta


def _misfit(problem, u, mass, near, slopes) -> tuple[Array, Array]:
    """Misfit of m + 1 moments, in polynomials of the bulk, and its derivatives.

    The last two are logarithms of what the mode has of a moment over what it should
    have, which is what the bulk lacks.
    """
    m, mass = problem.m, mass[0]
    far = np.abs(near) < _REACH
    bulk, mode = np.where(far, 0.0, mass), np.where(far, mass, 0.0)
    basis, values = stieltjes(u, (bulk / bulk.sum())[None], m)
    values = values[:, 0]
    wanted = np.concatenate([[1.0], problem.means(basis)[0]])
    misfit = values @ (bulk + mode) - wanted
    jacobian = -(values * (bulk + mode)) @ slopes.T
    last = slice(m - 1, None)
    lack, supply = wanted[last] - values[last] @ bulk, values[last] @ mode
    misfit[last] = np.log(supply / lack)
    jacobian[last] = -(values[last] * mode) @ slopes.T / supply[:, None]
    jacobian[last] -= (values[last] * bulk) @ slopes.T / lack[:, None]
    return misfit, jacobian
