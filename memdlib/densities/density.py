"""Maximum-entropy densities of any number of moments, many at a time."""

from collections.abc import Callable, Sequence
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib.densities.distribution import Distribution, Members
from memdlib.densities.moment_problem import InfeasibleMomentsError, match_moments
from memdlib.densities.support import Support, feature_values, powers, read_support
from memdlib.moments.sums import translate, translate_natural
from memdlib.validation import check_integer, check_positive, check_sample_weight

Array = NDArray[np.float64]


class MaxEntDensity(Distribution):
    """Density of largest entropy among those with given moments on a support.

    p(x) = exp(-lambda_0 - lambda . phi(x)), with phi(x) = (x, ..., x^m) or functions of
    your own. The natural parameters lambda solve the convex dual by a damped Newton
    method, in polynomials that are orthonormal on the support, for any number of moment
    vectors in one call.

    Parameters
    ----------
    moments : int or sequence of callables, default=2
        Number m of power moments, or the feature functions phi_1..phi_m themselves,
        each vectorised over x.
    support : tuple (a, b), or list or array of levels, default=(-inf, inf)
        A tuple of two numbers is the interval [a, b]; b, or both ends, may be infinite.
        A list, an array or a longer tuple is a finite set of levels.
    n_nodes : int, default=256
        Quadrature nodes. The solution is checked on twice as many.
    tol : float, default=1e-8
        Largest moment residual to accept, in standard units of orthonormal features.

    Attributes
    ----------
    natural_params_ : ndarray of shape (..., m)
        lambda, for phi(x) in the units of x.
    log_normaliser_ : ndarray of shape (...)
        lambda_0 = psi(lambda).
    mean_params_ : ndarray of shape (..., m)
        Moments asked for.
    entropy_ : ndarray of shape (...)
        Nats; differential entropy, or entropy of the levels.
    residual_ : ndarray of shape (...)
        Certificate: largest difference between the moments of the density and those
        asked for, computed on the finer rule, in standard units.
    gap_ : ndarray of shape (...)
        Duality gap, in nats.
    condition_ : ndarray of shape (...)
        Condition number of the Hessian at the solution, the covariance matrix of the
        orthonormal features.
    history_ : ndarray of shape (iterations, ...)
        Dual objective before each Newton step, in nats (of the standard coordinates).

    Notes
    -----
    On the real line m = 1 and every odd m have no maximum-entropy density, and with
    m >= 4 some feasible moments have none either (skewness 0 and kurtosis above 3, for
    example): the entropy then comes as close as one likes to a bound that no density
    attains. All of this is an error here. For functions of your own on an unbounded
    support bring x to a scale of order one.

    References
    ----------
    .. [1] Dukkipati et al., ICDM 2013, eq. 1-4.
    .. [2] Junk, Maximum entropy for reduced moment problems, Mathematical Models and
       Methods in Applied Sciences 10 (2000), on moments without a maximum.

    Examples
    --------
    >>> import numpy as np
    >>> density = MaxEntDensity(moments=1, support=(0, np.inf)).from_moments([2.0])
    >>> density.natural_params_.round(9).tolist()
    [0.5]
    >>> die = MaxEntDensity(moments=1, support=range(1, 7)).from_moments([4.5])
    >>> die.pdf(np.arange(1, 7)).round(4).tolist()
    [0.0544, 0.0788, 0.1142, 0.1654, 0.2398, 0.3475]
    >>> float(die.cdf(3).round(4)), float(die.ppf(0.5)), float(die.mean().round(9))
    (0.2473, 5.0, 4.5)
    """

    def __init__(
        self,
        moments: int | Sequence[Callable] = 2,
        support: Sequence[float] = (-np.inf, np.inf),
        *,
        n_nodes: int = 256,
        tol: float = 1e-8,
    ):
        self.moments = moments
        self.support = support
        self.n_nodes = n_nodes
        self.tol = tol

    def __repr__(self) -> str:
        return f"MaxEntDensity(moments={self.moments!r}, support={self.support!r})"

    def fit(self, x: ArrayLike, sample_weight: ArrayLike | None = None):
        """Match the moments of a sample: also the maximum-likelihood fit.

        Parameters
        ----------
        x : array_like of shape (n,) or (n, B)
            Finite values on the support; each column has a density of its own.
        sample_weight : array_like of shape (n,), default=None
            Nonnegative weights.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a value is not finite or lies outside the support.
        InfeasibleMomentsError
            If the moments of the sample lie on the boundary (a constant sample, or m
            moments of m/2 distinct values), or the entropy has no maximum.
        NotConvergedError
            If the residual stays above ``tol``.
        """
        support, x = self._read(), np.asarray(x, dtype=np.float64)
        if x.ndim not in (1, 2) or not x.size:
            raise ValueError(
                f"x has shape {x.shape}; expected (n,) or (n, B), neither of them zero"
            )
        outside = ~support.contains(x)
        if outside.any():
            where = tuple(int(i) for i in np.argwhere(outside)[0])
            raise ValueError(
                f"x{list(where)} = {x[where]} is not on the support {support}"
            )
        weight = check_sample_weight(sample_weight, len(x))
        share = weight / weight.sum()
        columns = x.reshape(len(x), -1)
        mean = share @ columns
        sd = np.sqrt(share @ (columns - mean) ** 2)
        if _feature_functions(self.moments):
            values = feature_values(self.moments, columns, support)
            mu = np.einsum("i,ibj->bj", share, values)
            return self._solve(mu, x.shape[1:], support, mean.mean(), sd.mean())
        if support.kind == "line" and not (sd > 0).all():
            raise InfeasibleMomentsError(
                f"x is constant ({columns[0, int(np.argmin(sd))]:g}); a density on the "
                "real line needs a variance above zero"
            )
        m = _count_moments(self.moments, support)
        origin, unit = support.standardise(mean, sd)
        standard = np.einsum("i,ibj->bj", share, powers((columns - origin) / unit, m))
        return self._solve_powers(standard, origin, unit, x.shape[1:], support)

    def from_moments(self, mu: ArrayLike):
        """Find the densities that have given moments.

        Parameters
        ----------
        mu : array_like of shape (..., m)
            E phi_1, ..., E phi_m; the leading axes run over densities.

        Returns
        -------
        self

        Raises
        ------
        InfeasibleMomentsError
            If no density on the support has these moments, or the entropy has no
            maximum; names the moment and the range it must lie in.
        NotConvergedError
            If the residual stays above ``tol``.
        """
        support, mu = self._read(), np.asarray(mu, dtype=np.float64)
        custom = _feature_functions(self.moments)
        m = len(self.moments) if custom else _count_moments(self.moments, support)
        if mu.ndim == 0 or mu.shape[-1] != m:
            raise ValueError(f"mu has shape {mu.shape}; its last axis must be {m} long")
        if not mu.size:
            raise ValueError(f"mu has shape {mu.shape}; give one density at least")
        if not np.isfinite(mu).all():
            raise ValueError("mu holds a value that is not finite")
        rows = mu.reshape(-1, m)
        if custom:
            return self._solve(rows, mu.shape[:-1], support, 0.0, 1.0)
        variance = rows[:, 1] - rows[:, 0] ** 2 if m > 1 else np.ones(len(rows))
        if support.kind == "line" and not (variance > 0).all():
            worst = int(np.argmin(variance))
            raise InfeasibleMomentsError(
                f"moment 2 = {rows[worst, 1]:g} of density {worst} must be above the "
                f"square of moment 1 = {rows[worst, 0]:g}: the variance "
                f"{variance[worst]:g} must be positive"
            )
        if support.kind == "half-line" and not (rows[:, 0] > support.lower).all():
            worst = int(np.argmin(rows[:, 0]))
            raise InfeasibleMomentsError(
                f"moment 1 = {rows[worst, 0]:g} of density {worst} must be above "
                f"{support.lower:g}, the end of the support"
            )
        sd = np.sqrt(np.maximum(variance, 0.0))
        origin, unit = support.standardise(rows[:, 0], sd)
        standard = translate(rows, np.ones(1), -origin) / powers(unit, m)
        return self._solve_powers(standard, origin, unit, mu.shape[:-1], support)

    @property
    def condition_(self) -> Array:
        """Condition number of the Hessian, shape (...)."""
        batch = self._fitted.batch
        return self._found.condition.reshape(batch)

    def _read(self) -> Support:
        """Check the parameters; return the support."""
        check_integer(self.n_nodes, "n_nodes")
        check_positive(self.tol, "tol")
        return read_support(self.support)

    def _solve_powers(self, standard, origin, unit, batch, support):
        """Match power moments that are given in standard coordinates."""
        m = standard.shape[1]

        def features(u):
            return powers(u, m)

        def describe(i, j):
            return (
                f"density {i}: E u^{range(1, m + 1)[j]} with u = "
                f"(x - {origin[i]:g}) / {unit[i]:g}"
            )

        found = self._match(standard, features, support, describe)
        members = self._members_of(found, support, origin, unit, None, batch)
        scaled = found.natural / powers(unit, m)
        natural = translate_natural(scaled, origin)
        at_zero = (scaled * powers(-origin, m)).sum(axis=-1)
        raw = translate(standard * powers(unit, m), np.ones(1), origin)
        return self._keep(found, members, standard, natural, at_zero, raw)

    def _solve(self, mu, batch, support, mean, sd):
        """Match the moments of feature functions of one's own."""
        origin, unit = 0.0, 1.0
        if support.kind == "half-line":
            origin = support.lower
        elif support.bounded:
            origin, unit = support.standardise(mean, sd)

        functions = tuple(self.moments)

        def features(u):
            return feature_values(functions, origin + unit * u, support)

        def describe(i, j):
            return f"density {i}: E phi_{range(1, mu.shape[1] + 1)[j]}"

        found = self._match(mu, features, support, describe, smooth=False)
        rows = np.full(len(mu), origin), np.full(len(mu), unit)
        members = self._members_of(found, support, *rows, functions, batch)
        return self._keep(found, members, mu, found.natural, 0.0, mu)

    def _match(self, mu, features, support, describe, *, smooth=True):
        return match_moments(
            mu,
            features,
            support,
            self.n_nodes,
            smooth=smooth,
            tol=self.tol,
            describe=describe,
        )

    def _members_of(self, found, support, origin, unit, functions, batch):
        standard = found.natural, found.constant
        return Members(support, origin, unit, *standard, functions, batch, self.tol)

    def _keep(self, found, members, standard, natural, at_zero, raw):
        """Assign everything that follows from a solution, once it is complete."""
        batch, constant = members.batch, found.constant
        if members.support.levels is None:
            constant = constant + np.log(members.unit)
        entropy = constant + (found.natural * standard).sum(axis=1)
        self._found, self._members = found, members
        self.natural_params_ = natural.reshape((*batch, -1))
        self.log_normaliser_ = (constant + at_zero).reshape(batch)
        self.mean_params_ = raw.reshape((*batch, -1))
        self.entropy_ = entropy.reshape(batch)
        self.residual_ = found.residual.reshape(batch)
        self.gap_ = found.gap.reshape(batch)
        self.history_ = found.history.reshape((-1, *batch))
        return self


def _feature_functions(moments) -> list[Callable] | None:
    """Return the functions where there are any, None for power moments."""
    if isinstance(moments, Integral) and not isinstance(moments, bool):
        return None
    functions = list(moments) if isinstance(moments, Sequence) else []
    if not functions or not all(callable(f) for f in functions):
        raise ValueError(
            f"moments={moments!r} must be an integer or a list of functions of x"
        )
    return functions


def _count_moments(moments: int, support: Support) -> int:
    """Number of power moments; raise where no density can have that many."""
    check_integer(moments, "moments")
    if support.kind == "line" and moments % 2:
        raise InfeasibleMomentsError(
            f"no density on the real line has largest entropy under {moments} "
            "power moments: exp(-lambda . phi) cannot be integrated where the highest "
            "power is odd; ask for an even number, or bound the support"
        )
    return int(moments)
