"""Moments as measures: few points and weights that have them, and whether they can be.

Power sums lose digits in a solver; the Gauss rule that has the same moments does not
(Golub and Welsch, 1969). That there is a density with given power moments is decided by
the classical conditions, the signs of norms of orthogonal polynomials, for the measure
and for its products with x - a, b - x and both (Hamburger, Stieltjes, Hausdorff).
"""

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from memdlib._types import Index
from memdlib.densities.recurrence import Recurrence, stieltjes
from memdlib.densities.support import Support
from memdlib.moments.sums import translate

Array = NDArray[np.float64]

# Share of a norm that rounding leaves in doubt.
_ROUNDING = 1e-12
# Error of a moment in units of its density, left by rounding moments about zero, above
# which they do not tell the density.
_COARSE = 1e-6
# Standard deviations from the mean, beyond which a node has a weight, one over their
# square at most (Chebyshev), that is below the rounding of eigenvectors.
_FARTHEST = 1e16


class InfeasibleMomentsError(ValueError):
    """No density on the support has these moments, or the entropy has no maximum."""


class RoundedMomentsError(ValueError):
    """Rounding, or the range of numbers, has cost moments what tells the density."""


@dataclass(frozen=True)
class Measures:
    """Points and weights with the moments asked for, for B densities.

    Parameters
    ----------
    origin, unit : ndarray of shape (B,)
        Mean and about a standard deviation.
    nodes, weights : ndarray of shape (B, N)
        In units u = (x - origin) / unit; N = floor(m / 2) + 1.
    doubt : ndarray of shape (B, m)
        Error of E u, ..., E u^m that rounding the moments about zero leaves.
    """

    origin: Array
    unit: Array
    nodes: Array
    weights: Array
    doubt: Array

    def __getitem__(self, rows: Index) -> "Measures":
        measure = self.nodes[rows], self.weights[rows], self.doubt[rows]
        return Measures(self.origin[rows], self.unit[rows], *measure)

    def ends(self, support: Support) -> tuple[Array, Array]:
        """Ends of the support in units u, shape (B,) each."""
        ends = (support.lower, support.upper)
        return tuple((end - self.origin) / self.unit for end in ends)


def measure_sample(columns: Array, share: Array, m: int, support: Support) -> Measures:
    """Measures with the moments of columns of a sample.

    Parameters
    ----------
    columns : ndarray of shape (n, B)
    share : ndarray of shape (n,)
        Weights, of sum one.
    m : int
    support : Support

    Returns
    -------
    Measures

    Raises
    ------
    InfeasibleMomentsError
        If a column holds too few distinct values for m moments of a density.
    RoundedMomentsError
        If the m-th power of its spread leaves the range of numbers.
    """
    kept = share > 0
    columns, share = columns[kept], share[kept]
    mean = share @ columns
    with np.errstate(over="ignore"):  # an infinite one is refused below
        sd = np.sqrt(share @ (columns - mean) ** 2)
    constant = columns.max(axis=0) == columns.min(axis=0)
    mean = np.where(constant, columns[0], mean)
    if constant.any():
        worst = int(np.argmax(constant))
        at_end = mean[worst] in (support.lower, support.upper)
        if m > 1 or at_end:
            raise InfeasibleMomentsError(
                f"x is constant ({mean[worst]:g}) in density {worst}: its moments are "
                f"those of a point, which belong to no density; use a wider sample"
            )
    unit = _unit(mean, np.where(constant, 0.0, sd), m, support)
    u = np.ascontiguousarray(((columns - mean) / unit).T)
    basis, _ = stieltjes(u, np.broadcast_to(share, u.shape), m // 2 + 1)
    if m > 1:
        few = basis.beta[:, : m // 2].min(axis=1) < _ROUNDING
        if few.any():
            worst = int(np.argmax(few))
            count = len(np.unique(columns[:, worst]))
            raise InfeasibleMomentsError(
                f"x takes only {count} distinct values in density {worst}: {m} moments "
                "of it lie on the boundary of what is possible and belong to no "
                f"density; ask for fewer than {2 * count} moments of the sample, or "
                "smooth it"
            )
    return Measures(mean, unit, *basis.gauss(), np.zeros((len(mean), m)))


def measure_moments(rows: Array, support: Support) -> Measures:
    """Measures with given power moments about zero.

    Parameters
    ----------
    rows : ndarray of shape (B, m)
    support : Support

    Returns
    -------
    Measures

    Raises
    ------
    InfeasibleMomentsError
        If no distribution has these moments.
    RoundedMomentsError
        If the rounding of the moments, or the range of numbers, leaves the density in
        doubt.
    """
    m, mean = rows.shape[1], rows[:, 0]
    for end, beyond in ((support.lower, -1.0), (support.upper, 1.0)):
        outside = beyond * (mean - end) >= 0
        if outside.any():
            worst = int(np.argmax(outside))
            raise InfeasibleMomentsError(
                f"density {worst}: E x = {mean[worst]:g} {_between(support)}"
            )
    doubt = np.zeros(rows.shape)
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        for j in range(m):
            doubt[:, j] = np.abs(mean) ** (j + 1)
            for i in range(j + 1):
                size = comb(j + 1, i + 1) * np.abs(mean) ** (j - i)
                doubt[:, j] += size * np.abs(rows[:, i])
    if not np.isfinite(doubt).all():
        worst, j = (int(i) for i in np.argwhere(~np.isfinite(doubt))[0])
        raise RoundedMomentsError(
            f"density {worst}: E x^{j + 1} = {rows[worst, j]:g} with E x = "
            f"{mean[worst]:g}: moments about the mean are beyond the range of numbers; "
            "bring x to a scale of order one"
        )
    doubt *= 2.0**-53
    about_mean = translate(rows, np.ones(1), -mean)
    variance = about_mean[:, 1] if m > 1 else np.ones(len(rows))
    flat = variance <= (4.0 * doubt[:, 1] if m > 1 else 0.0)
    if flat.any():
        worst = int(np.argmax(flat))
        square, room = mean[worst] ** 2, np.inf
        if support.bounded:
            room = (mean[worst] - support.lower) * (support.upper - mean[worst])
        must = (
            f"lie strictly between {square:g} and {square + room:g}"
            if np.isfinite(room)
            else f"be above {square:g}"
        )
        raise InfeasibleMomentsError(
            f"density {worst}: E x^2 = {rows[worst, 1]:g} must {must} with E x = "
            f"{mean[worst]:g}: the variance {variance[worst]:g} must be positive"
            + (", beyond rounding" if variance[worst] > 0 else "")
        )
    unit = _unit(mean, np.sqrt(np.maximum(variance, 0.0)), m, support)
    power = unit[:, None] ** np.arange(1, m + 1)
    standard, doubt = about_mean / power, doubt / power
    standard[:, 0] = 0.0
    coarse = doubt > _COARSE * np.maximum(np.abs(standard), 1.0)
    if m > 1 and coarse.any():
        row, j = np.argwhere(coarse)[0]
        raise RoundedMomentsError(
            f"density {row}: rounding E x^{j + 1} = {rows[row, j]:.17g} to a float "
            f"leaves E u^{j + 1} with u = (x - {mean[row]:g}) / {unit[row]:g} in doubt "
            f"by {doubt[row, j]:.1e}; give the moments of x - {mean[row]:g}, or call "
            "fit(x)"
        )
    nodes, weights = _recurrence(standard, mean, unit).gauss()
    far = np.abs(nodes).max(axis=1)
    if (far > _FARTHEST).any():
        worst = int(np.argmax(far))
        raise RoundedMomentsError(
            f"density {worst}: E u^{m} with u = (x - {mean[worst]:g}) / "
            f"{unit[worst]:g} = {standard[worst, -1]:g} takes a probability of "
            f"{far[worst] ** -2.0:.0e} at most some {far[worst]:.0e} units from the "
            "mean, which floating-point numbers do not hold; check it, use fewer "
            "moments, or a bounded support"
        )
    return Measures(mean, unit, nodes, weights, doubt)


def check_possible(measures: Measures, m: int, support: Support) -> Measures:
    """Raise if no density on the support has these moments.

    Parameters
    ----------
    measures : Measures
    m : int
    support : Support
        For a set of levels, the interval that it spans: necessary, not sufficient.

    Returns
    -------
    Measures
        The same.

    Raises
    ------
    InfeasibleMomentsError
        Naming the first moment outside the range that those before it leave.
    """
    u, w = measures.nodes, measures.weights
    lower, upper = (end[:, None] for end in measures.ends(support))
    above, below, one = u - lower, upper - u, np.ones_like(u)
    # products that must be positive, what they are rounded from, and the sign of the
    # top moment in their norms
    products = [(0, one, one, 1.0)]
    if np.isfinite(support.lower):
        from_below = np.abs(u) + np.abs(lower)
        products.append((1, above, from_below, 1.0))
    if np.isfinite(support.upper):
        from_above = np.abs(upper) + np.abs(u)
        products.append((1, below, from_above, -1.0))
    if support.bounded:
        rounded = from_below * np.abs(below) + np.abs(above) * from_above
        products.append((2, above * below, rounded, -1.0))
    room = np.full((2, len(u), m + 1), np.inf)
    doubtful = np.zeros((len(u), m + 1), dtype=bool)
    for degree, factor, rounded, sign in products:
        scale = rounded.max(axis=1, keepdims=True)
        count = (m - degree) // 2 + 1
        norms, sizes = _norms(u, w * factor / scale, w * rounded / scale, count)
        for i in range(norms.shape[1]):
            j = 2 * i + degree
            if j:
                side = 0 if sign > 0 else 1
                found = norms[:, i] * scale[:, 0]
                room[side, :, j] = np.minimum(room[side, :, j], found)
                doubtful[:, j] |= ~(norms[:, i] > _ROUNDING * sizes[:, i])
    if doubtful.any():
        row, j = np.argwhere(doubtful)[0]
        value = (w[row] * u[row] ** j).sum()
        raise InfeasibleMomentsError(
            _out_of_range(row, j, value, room[:, row, j], measures, support)
        )
    return measures


def _out_of_range(row, j, value, room, measures, support) -> str:
    """Sentence on a moment outside the range that those before it leave."""
    origin, unit = measures.origin[row], measures.unit[row]
    low, high = value - room[0], value + room[1]
    name = f"E u^{j} with u = (x - {origin:g}) / {unit:g}"
    if j <= 2:
        # the mean of u is zero
        shift = origin if j == 1 else origin**2
        value, low, high = (shift + unit**j * x for x in (value, low, high))
        name = "E x" if j == 1 else "E x^2"
    must = (
        f"lie strictly between {low:.6g} and {high:.6g}"
        if np.isfinite([low, high]).all()
        else f"be above {low:.6g}"
        if np.isfinite(low)
        else f"be below {high:.6g}"
    )
    before = " with the moments before it" if j > 1 else ""
    edge = " (to rounding it lies on that edge)" if low <= value <= high else ""
    return (
        f"density {row}: {name} = {value:.6g} must {must}{edge} to occur on "
        f"{support}{before}; check it, use fewer moments, or smooth them towards "
        "those of a wider sample"
    )


def _between(support: Support) -> str:
    if support.bounded:
        return f"must lie strictly between {support.lower:g} and {support.upper:g}"
    if np.isfinite(support.lower):
        return f"must be above {support.lower:g}, the end of the support"
    return f"must be below {support.upper:g}, the end of the support"


def _unit(mean: Array, sd: Array, m: int, support: Support) -> Array:
    unit = sd
    if m == 1:
        unit = np.minimum(mean - support.lower, support.upper - mean)
    with np.errstate(over="ignore"):
        power = unit**m
    lost = ~((power >= np.finfo(np.float64).tiny) & np.isfinite(power))
    if lost.any():
        worst = int(np.argmax(lost))
        raise RoundedMomentsError(
            f"density {worst}: the spread of x rounds to {unit[worst]:g}, whose power "
            f"{m} leaves the range of numbers; bring x to a scale of order one"
        )
    return unit


def _recurrence(standard: Array, mean: Array, unit: Array) -> Recurrence:
    """Recurrence of moments (B, m) in units u, by Cholesky's factors of Hankel's."""
    n_batch, m = standard.shape
    k = m // 2
    moments = np.concatenate([np.ones((n_batch, 1)), standard], axis=1)
    known = np.concatenate([moments, np.zeros((n_batch, 1))], axis=1)
    factor = np.zeros((n_batch, k + 1, k + 2))
    for i in range(k + 1):
        above = factor[:, :i, i]
        square = known[:, 2 * i] - (above**2).sum(axis=1)
        flat = ~(square > _ROUNDING * np.abs(known[:, 2 * i]))
        if flat.any():
            row = int(np.argmax(flat))
            raise InfeasibleMomentsError(
                f"density {row}: E u^{2 * i} with u = (x - {mean[row]:g}) / "
                f"{unit[row]:g} = {known[row, 2 * i]:.6g} must be above "
                f"{known[row, 2 * i] - square[row]:.6g}, beyond rounding, to occur "
                "with the moments before it; check it, use fewer moments, or smooth "
                "them towards those of a wider sample"
            )
        root = np.sqrt(square)
        factor[:, i, i] = root
        for j in range(i + 1, k + 2):
            inner = (above * factor[:, :i, j]).sum(axis=1)
            factor[:, i, j] = (known[:, i + j] - inner) / root
    diagonal = factor[:, range(k + 1), range(k + 1)]
    ratio = factor[:, range(k + 1), range(1, k + 2)] / diagonal
    alpha = np.diff(ratio, axis=1, prepend=0.0)
    if m % 2 == 0:
        # the last one is free: moments up to m do not depend on it
        alpha[:, -1] = 0.0
    beta = np.ones_like(alpha)
    beta[:, :-1] = diagonal[:, 1:] / diagonal[:, :-1]
    return Recurrence(alpha, beta)


def _norms(u: Array, w: Array, rounded: Array, count: int) -> tuple[Array, Array]:
    """Norms of monic orthogonal polynomials under signed weights, and their sizes.

    A size is the norm under the numbers that the weights are rounded from.
    """
    before, monic = np.zeros_like(u), np.ones_like(u)
    norms, sizes = np.full((2, len(u), count), np.inf)
    # rows stop at their first norm that is not positive
    going = np.ones(len(u), dtype=bool)
    for i in range(count):
        norm = (w * monic**2).sum(axis=1)
        norms[going, i] = norm[going]
        sizes[going, i] = (rounded * monic**2).sum(axis=1)[going]
        going &= norm > _ROUNDING * sizes[:, i]
        safe = np.where(going, norm, 1.0)[:, None]
        alpha = (w * u * monic**2).sum(axis=1, keepdims=True) / safe
        ratio = safe / norms[:, [i - 1]] if i else 0.0
        before, monic = monic, (u - alpha) * monic - ratio * before
        monic = np.where(going[:, None], monic, 1.0)
    sizes = np.where(np.isinf(norms), 1.0, sizes)
    return norms, sizes
