"""Maximum-entropy densities of any number of moments, many at a time."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from memdlib._types import Array, ArrayLike, Weights
from memdlib.densities.matching import match
from memdlib.densities.moment_problem import InfeasibleMomentsError
from memdlib.densities.standard import (
    refuse_lost,
    standardise_moments,
    standardise_sample,
)
from memdlib.densities.support import powers, read_support
from memdlib.densities.table import Table
from memdlib.moments import translate_natural
from memdlib.validation import (
    check_domain,
    check_integer,
    check_positive,
    check_real_array,
    check_sample_weight,
)


class MaxEntDensity(BaseEstimator):
    """Density of largest entropy among those with given power moments on a support.

    p(x) = exp(-lambda_0 - lambda_1 x - ... - lambda_m x^m). The natural parameters
    lambda solve the convex dual by a damped Newton method, in polynomials that are
    orthonormal under the density [3]_, for any number of moment vectors in one call.

    Parameters
    ----------
    moments : int, default=2
        Number m of power moments.
    support : tuple (a, b), list or array of levels, Support, or "levels"
        A tuple of two numbers is the interval [a, b]; an end, or both, may be infinite.
        A list, an array or a longer tuple is a finite set of levels; ``"levels"`` are
        the values that occur in the sample. Default: the real line.
    tol : float, default=1e-8
        Largest residual to accept.

    Attributes
    ----------
    natural_params_, mean_params_ : ndarray of shape (..., m)
        lambda, in the units of x, and the moments asked for.
    log_normaliser_ : ndarray of shape (...)
        lambda_0 = psi(lambda).
    entropy_ : ndarray of shape (...)
        Nats; differential entropy, or entropy of the levels.
    residual_, gap_ : ndarray of shape (...)
        Certificates: largest difference between moments of the density and those asked
        for, of polynomials that are orthonormal under the density itself, on nodes that
        the solver has not used; and duality gap, in nats.

    Notes
    -----
    On a half-line, and on the real line with even m, the entropy has no maximum under m
    moments if and only if the density of m - 1 (on the line m - 2) moments has the
    first m - 1 of them and a smaller m-th moment than the one asked for (skewness 0 and
    kurtosis above 3, for example) [2]_. If that density has the m-th moment as well, to
    rounding, it is the answer, with zero for the parameters beyond its own. On the real
    line with odd m there is no other answer. All the rest is an error here. Next to
    moments without a maximum the density has a small mode far out, which is found up to
    some 150 standard deviations away (with eight moments, some 30).

    References
    ----------
    .. [1] Dukkipati et al., ICDM 2013, eq. 1-4.
    .. [2] Junk, Maximum entropy for reduced moment problems, Mathematical Models and
       Methods in Applied Sciences 10 (2000), on moments without a maximum.
    .. [3] Abramov, An improved algorithm for the multidimensional moment-constrained
       maximum entropy problem, Journal of Computational Physics 226 (2007).

    Examples
    --------
    >>> die = MaxEntDensity(moments=1, support=range(1, 7)).from_moments([4.5])
    >>> die.pdf(np.arange(1, 7)).round(4).tolist()
    [0.0544, 0.0788, 0.1142, 0.1654, 0.2398, 0.3475]
    >>> float(die.cdf(3).round(4)), float(die.ppf(0.5)), float(die.mean().round(9))
    (0.2473, 5.0, 4.5)
    """

    natural_params_: Array
    log_normaliser_: Array
    mean_params_: Array
    entropy_: Array
    residual_: Array
    gap_: Array

    def __init__(
        self,
        moments: int = 2,
        support: Sequence[float] = (-np.inf, np.inf),
        *,
        tol: float = 1e-8,
    ) -> None:
        self.moments = moments
        self.support = support
        self.tol = tol

    def fit(
        self, x: ArrayLike, y: object | None = None, sample_weight: Weights = None
    ) -> Self:
        """Match the moments of a sample: also the maximum-likelihood fit.

        Parameters
        ----------
        x : array_like of shape (n,) or (n, B)
            Finite values on the support; each column has a density of its own.
        y : ignored
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
        RoundedMomentsError, NotConvergedError
            As :meth:`from_moments`.
        """
        x = check_real_array(x, "x")
        if x.ndim not in (1, 2) or not x.size:
            raise ValueError(
                f"x has shape {x.shape}; expected (n,) or (n, B), neither of them zero"
            )
        support = self._read_support(x)
        check_domain(support.contains(x), x, "x", f"not on the support {support}")
        weight = check_sample_weight(sample_weight, x)
        share, columns = weight / weight.sum(), x.reshape(len(x), -1)
        standard = standardise_sample(columns, share, self.moments, support)
        with np.errstate(over="ignore"):  # refused in _match
            raw = [share @ columns**j for j in range(1, self.moments + 1)]
        return self._match(*standard, np.stack(raw, 1), x.shape[1:], support)

    def from_moments(self, mu: ArrayLike) -> "MaxEntDensity":
        """New object with the densities that have given moments.

        Parameters
        ----------
        mu : array_like of shape (..., m)
            E x, ..., E x^m; the leading axes run over densities.

        Returns
        -------
        MaxEntDensity
            With the same parameters; this one stays as it is.

        Raises
        ------
        InfeasibleMomentsError
            If no density on the support has these moments, or the entropy has no
            maximum.
        RoundedMomentsError
            If rounding the moments about zero, or the range of numbers, leaves the
            density in doubt: bring x to a mean of zero and a scale of order one.
        NotConvergedError
            If the residual stays above ``tol``.
        """
        support, mu = self._read_support(None), check_real_array(mu, "mu")
        m = self.moments
        if mu.ndim == 0 or mu.shape[-1] != m or not mu.size:
            raise ValueError(
                f"mu has shape {mu.shape}; its last axis must be {m} long, "
                "and hold one density at least"
            )
        if not np.isfinite(mu).all():
            raise ValueError("mu holds a value that is not finite")
        rows = mu.reshape(-1, m)
        standard = standardise_moments(rows, support)
        return clone(self)._match(*standard, rows, mu.shape[:-1], support)

    def logpdf(self, x: ArrayLike) -> Array:
        """Log density, or log probability of levels.

        Parameters
        ----------
        x : array_like of any shape

        Returns
        -------
        ndarray of shape x.shape + (...)
            Nats; -inf outside the support, ``nan`` where x is.
        """
        table, x = self._fitted, np.asarray(x, dtype=np.float64)
        flat = np.broadcast_to(x.reshape(-1, 1), (x.size, len(table.origin)))
        return table.log_density(flat).reshape(x.shape + self.entropy_.shape)[()]

    def pdf(self, x: ArrayLike) -> Array:
        """Density, or probability of levels.

        Parameters
        ----------
        x : array_like of any shape

        Returns
        -------
        ndarray of shape x.shape + (...)
            Zero outside the support.
        """
        return np.exp(self.logpdf(x))

    def cdf(self, x: ArrayLike) -> Array:
        """Probability of values up to x.

        Parameters
        ----------
        x : array_like of any shape

        Returns
        -------
        ndarray of shape x.shape + (...)
            ``nan`` where x is.
        """
        table = self._fitted
        return self._each(table.probability, np.asarray(x, dtype=np.float64))

    def ppf(self, q: ArrayLike) -> Array:
        """Quantile: the smallest x up to which the probability is q.

        Parameters
        ----------
        q : array_like of any shape
            In [0, 1].

        Returns
        -------
        ndarray of shape q.shape + (...)
            The ends of the support at 0 and 1; among levels the lowest at 0.
        """
        q = np.asarray(q, dtype=np.float64)
        check_domain((q >= 0) & (q <= 1), q, "q", "a probability is from 0 to 1")
        return self._each(self._fitted.quantile, q)

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> Array:
        """Draw independent values by inverting the distribution function.

        Parameters
        ----------
        size : int or tuple of int, default=None
            None draws one of each density.
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        ndarray of shape size + (...)
        """
        table, random = self._fitted, check_random_state(random_state)
        asked = () if size is None else np.ravel(np.asarray(size, dtype=object))
        lengths = tuple(check_integer(n, "size", minimum=0) for n in asked)
        q = random.random_sample((*lengths, *self.entropy_.shape))
        # zero would be the end of the support
        return table.pairwise(table.quantile, np.maximum(q, 2.0**-54), self._rows)

    def mean(self) -> Array:
        """Mean of each density.

        Returns
        -------
        ndarray of shape (...)
        """
        return self._fitted.sums[1].reshape(self.entropy_.shape)[()]

    def std(self) -> Array:
        """Standard deviation of each density.

        Returns
        -------
        ndarray of shape (...)
        """
        return self._fitted.sums[2].reshape(self.entropy_.shape)[()]

    def score(
        self, x: ArrayLike, y: object | None = None, sample_weight: Weights = None
    ) -> float:
        """Mean log likelihood of a sample, for a search over the number of moments.

        Parameters
        ----------
        x : array_like of shape (n,), (n, 1) or (n, B)
            A column for each density of the batch.
        y : ignored
        sample_weight : array_like of shape (n,), default=None

        Returns
        -------
        float
            Nats for each value, averaged over the densities of a batch too.
        """
        table, columns = self._fitted, np.asarray(x, dtype=np.float64)
        columns = columns.reshape(len(columns), -1)
        if columns.shape[1] != len(table.origin):
            raise ValueError(
                f"x has {columns.shape[1]} columns; give one for each of the "
                f"{len(table.origin)} densities"
            )
        weight = check_sample_weight(sample_weight, columns)
        each = table.log_density(columns).mean(axis=1)
        return float((weight / weight.sum()) @ each)

    @property
    def _fitted(self) -> Table:
        check_is_fitted(self, "_table")
        return self._table

    @property
    def _rows(self):
        return np.arange(self.entropy_.size).reshape(self.entropy_.shape)

    def _each(self, function, values):
        """Apply a function of a value and a member to each of both."""
        values = values.reshape(values.shape + (1,) * self.entropy_.ndim)
        return self._fitted.pairwise(function, values, self._rows)

    def _read_support(self, x):
        """Check the parameters; return the support."""
        m = check_integer(self.moments, "moments")
        check_positive(self.tol, "tol")
        support = self.support
        if isinstance(support, str) and support == "levels":
            if x is None:
                raise ValueError("support='levels' takes them from a sample: call fit")
            support = np.unique(x)
        support = read_support(support)
        if m == 1 and np.isinf([support.lower, support.upper]).all():
            raise InfeasibleMomentsError(
                "no density on the real line has largest entropy under 1 moment: "
                "a mean alone leaves the entropy without bound; ask for 2 moments, "
                "or bound the support"
            )
        if support.levels is not None and m >= len(support.levels):
            raise ValueError(
                f"{m} moments and the constant are not linearly independent on "
                f"{len(support.levels)} levels; use fewer moments"
            )
        return support

    @np.errstate(over="ignore", invalid="ignore")
    def _match(self, origin, unit, moments, raw, batch, support):
        """Find the densities; assign everything that follows from them at the end."""
        m = raw.shape[1]
        density, ends, residual, gap = match(moments, origin, unit, support, self.tol)
        # of 1, u, ..., u^m, and from there of x - origin and of x
        basis = density.coefficients()
        lam = (density.theta[:, None] @ basis)[:, 0]
        scaled = lam[:, 1:] / powers(unit, m)
        at_zero = lam[:, 0] + (scaled * powers(-origin, m)).sum(axis=1)
        natural = translate_natural(scaled, origin)
        refuse_lost(~np.isfinite(natural * raw).all(axis=1), origin, unit)
        asked = (basis[:, :, 1:] @ moments[..., None])[..., 0] + basis[:, :, 0]
        entropy = (density.theta * asked).sum(axis=1)
        log_unit = 0.0 if support.levels is not None else np.log(unit)
        self._table = Table(support, origin, unit, density, ends)
        self.natural_params_ = natural.reshape((*batch, m))
        self.log_normaliser_ = (at_zero + log_unit).reshape(batch)
        self.mean_params_ = raw.reshape((*batch, m))
        self.entropy_ = (entropy + log_unit).reshape(batch)
        self.residual_ = residual.reshape(batch)
        self.gap_ = gap.reshape(batch)
        return self
