"""Maximum-entropy densities of any number of moments, many at a time."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from memdlib.densities.measures import (
    InfeasibleMomentsError,
    RoundedMomentsError,
    measure_moments,
    measure_sample,
)
from memdlib.densities.members import Members
from memdlib.densities.moment_problem import match_functions
from memdlib.densities.polynomials import match_powers
from memdlib.densities.support import Support, feature_values, powers, read_support
from memdlib.moments.sums import translate_natural
from memdlib.validation import (
    check_integer,
    check_positive,
    check_real_array,
    check_sample_weight,
)

Array = NDArray[np.float64]


class MaxEntDensity(BaseEstimator):
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
    support : tuple (a, b), list or array of levels, Support, or "levels"
        A tuple of two numbers is the interval [a, b]; an end, or both, may be infinite.
        A list, an array or a longer tuple is a finite set of levels; ``"levels"`` are
        the values that occur in the sample. ``Support.interval(0, 1)`` and
        ``Support.of([0, 1])`` leave no doubt. Default: the real line.
    n_nodes : int, default=256
        Nodes of the rules that the densities of a batch share: on an interval, where
        they are too coarse for a density, panels of its own take their place; feature
        functions have no others. Not used by powers on unbounded supports.
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
        asked for, in features that are orthonormal under the density itself (under a
        reference density, for functions of your own), and, on panels, in those of a
        normal density, which see a distant mode better. Other nodes than the solver's
        compute it: panels over the whole support that follow the density, or a rule
        whose error is bounded.
    gap_ : ndarray of shape (...)
        Duality gap, in nats.
    condition_ : ndarray of shape (...)
        Condition number of the Hessian at the solution, the covariance matrix of the
        orthonormal features.
    history_ : ndarray of shape (iterations, ...)
        Dual objective before each Newton step, in nats (of the standard coordinates).

    Notes
    -----
    On a half-line, and on the real line with even m, the entropy has no maximum under m
    moments if and only if the density of m - 1 (on the line m - 2) moments has the
    first m - 1 of them and a smaller m-th moment than the one asked for (skewness 0 and
    kurtosis above 3, for example): it then comes as close as one likes to a bound that
    no density attains [2]_. If that density has the m-th moment as well, to rounding of
    the moments, it is the answer, with zero for the parameters beyond its own. On the
    real line with odd m there is no other answer: the density of m - 1 moments, if it
    has the m-th moment; with m = 1 there is none. All the rest is an error here. Next
    to moments without a maximum the density has a small mode far out, which is found
    where floating-point numbers can hold it. For functions of your own on an unbounded
    support bring x to a scale of order one.

    Newton's method works in polynomials that are orthonormal under the current density
    [3]_, with nodes between the roots of its logarithm.

    References
    ----------
    .. [1] Dukkipati et al., ICDM 2013, eq. 1-4.
    .. [2] Junk, Maximum entropy for reduced moment problems, Mathematical Models and
       Methods in Applied Sciences 10 (2000), on moments without a maximum.
    .. [3] Abramov, An improved algorithm for the multidimensional moment-constrained
       maximum entropy problem, Journal of Computational Physics 226 (2007).

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

    natural_params_: Array
    log_normaliser_: Array
    mean_params_: Array
    entropy_: Array
    residual_: Array
    gap_: Array
    history_: Array

    def __init__(
        self,
        moments: int | Sequence[Callable[..., Any]] = 2,
        support: Sequence[float] = (-np.inf, np.inf),
        *,
        n_nodes: int = 256,
        tol: float = 1e-8,
    ) -> None:
        self.moments = moments
        self.support = support
        self.n_nodes = n_nodes
        self.tol = tol

    def __repr__(self) -> str:
        return f"MaxEntDensity(moments={self.moments!r}, support={self.support!r})"

    def fit(
        self,
        x: ArrayLike,
        y: object | None = None,
        sample_weight: ArrayLike | None = None,
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
        TypeError
            If ``x`` is sparse.
        ValueError
            If a value is not finite or lies outside the support.
        RoundedMomentsError
            If powers of x leave the range of numbers: bring x to a scale of order one.
        InfeasibleMomentsError
            If the moments of the sample lie on the boundary (a constant sample, or m
            moments of m/2 distinct values), or the entropy has no maximum.
        NotConvergedError
            If the residual stays above ``tol``.
        """
        if sparse.issparse(x):
            raise TypeError(
                f"x is a sparse {type(x).__name__}; densities are found for every "
                "column of a dense array: give x.toarray(), or a few columns of it"
            )
        x = check_real_array(x, "x")
        if x.ndim not in (1, 2) or not x.size:
            raise ValueError(
                f"x has shape {x.shape}; expected (n,) or (n, B), neither of them zero"
            )
        support = self._read(x)
        outside = ~support.contains(x)
        if outside.any():
            where = tuple(int(i) for i in np.argwhere(outside)[0])
            raise ValueError(
                f"x{list(where)} = {x[where]} is not on the support {support}"
            )
        weight = check_sample_weight(sample_weight, len(x))
        share = weight / weight.sum()
        columns, batch = x.reshape(len(x), -1), x.shape[1:]
        if _feature_functions(self.moments):
            values = feature_values(self.moments, columns, support)
            return self._match_functions(
                np.einsum("i,ibj->bj", share, values), batch, support
            )
        m = _count_moments(self.moments, support)
        measures = measure_sample(columns, share, m, support)
        with np.errstate(over="ignore"):  # refused in the next lines
            raw = np.einsum("i,ibj->bj", share, powers(columns, m))
        if not np.isfinite(raw).all():
            b, j = (int(i) for i in np.argwhere(~np.isfinite(raw))[0])
            raise RoundedMomentsError(
                f"density {b}: E x^{j + 1} is beyond the range of numbers for x up to "
                f"{np.abs(columns[:, b]).max():g}; bring x to a scale of order one"
            )
        return self._match_powers(measures, raw, batch, support)

    def from_moments(self, mu: ArrayLike) -> "MaxEntDensity":
        """New object with the densities that have given moments.

        Parameters
        ----------
        mu : array_like of shape (..., m)
            E phi_1, ..., E phi_m; the leading axes run over densities.

        Returns
        -------
        MaxEntDensity
            With the same parameters; this one stays as it is.

        Raises
        ------
        InfeasibleMomentsError
            If no density on the support has these moments, or the entropy has no
            maximum; names the moment and the range it must lie in.
        RoundedMomentsError
            If rounding the moments about zero leaves the density in doubt: shift x; or
            if powers of x leave the range of numbers: bring it to order one.
        NotConvergedError
            If the residual stays above ``tol``.
        """
        support, mu = self._read(None), check_real_array(mu, "mu")
        custom = _feature_functions(self.moments)
        m = len(self.moments) if custom else _count_moments(self.moments, support)
        if mu.ndim == 0 or mu.shape[-1] != m:
            raise ValueError(f"mu has shape {mu.shape}; its last axis must be {m} long")
        if not mu.size:
            raise ValueError(f"mu has shape {mu.shape}; give one density at least")
        if not np.isfinite(mu).all():
            raise ValueError("mu holds a value that is not finite")
        rows, found = mu.reshape(-1, m), clone(self)
        if custom:
            return found._match_functions(rows, mu.shape[:-1], support)
        measures = measure_moments(rows, support)
        return found._match_powers(measures, rows, mu.shape[:-1], support)

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
        members, x = self._fitted, np.asarray(x, dtype=np.float64)
        found = members.own_log_density(x[..., None])
        return found.reshape(x.shape + members.batch)[()]

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
            Exact sums on levels; otherwise by quadrature that is refined until two
            tables agree to 1e-11, or to ``tol`` if they do not come closer. ``nan``
            where x is.

        Raises
        ------
        NotConvergedError
            If two tables differ by more than ``tol``.
        """
        members = self._fitted
        return members.pairwise(members.probability, np.asarray(x, np.float64))

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

        Raises
        ------
        ValueError
            If a value lies outside [0, 1].
        NotConvergedError
            As in :meth:`cdf`.
        """
        q = np.asarray(q, dtype=np.float64)
        if not ((q >= 0) & (q <= 1)).all():
            wrong = q[~((q >= 0) & (q <= 1))].flat[0]
            raise ValueError(f"q = {wrong} is not a probability: give 0 to 1")
        members = self._fitted
        return members.pairwise(members.quantile, q)

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
        members, random = self._fitted, check_random_state(random_state)
        asked = () if size is None else np.ravel(np.asarray(size, dtype=object))
        lengths = tuple(check_integer(n, "size", minimum=0) for n in asked)
        q = random.random_sample((*lengths, *members.batch))
        # zero would be the end of the support
        q = np.maximum(q, 2.0**-54)
        return members.pairwise(members.quantile, q, each=False)

    def mean(self) -> Array:
        """Mean of each density.

        Returns
        -------
        ndarray of shape (...)
            ``nan`` (on a half-line ``inf``) where the tail is too heavy for one.
        """
        members = self._fitted
        mean = members.origin + members.unit * members.table.mean
        return mean.reshape(members.batch)[()]

    def std(self) -> Array:
        """Standard deviation of each density.

        Returns
        -------
        ndarray of shape (...)
            ``inf`` where the tail is too heavy for one.
        """
        members = self._fitted
        # the unit of a left half-line is negative
        found = np.abs(members.unit) * members.table.deviation
        return found.reshape(members.batch)[()]

    def score(
        self,
        x: ArrayLike,
        y: object | None = None,
        sample_weight: ArrayLike | None = None,
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

        Raises
        ------
        ValueError
            If x has not one column for each density.
        """
        members = self._fitted
        columns = np.asarray(x, dtype=np.float64)
        columns = columns.reshape(len(columns), -1)
        if columns.shape[1] != len(members.theta):
            raise ValueError(
                f"x has {columns.shape[1]} columns; give one for each of the "
                f"{len(members.theta)} densities"
            )
        weight = check_sample_weight(sample_weight, len(columns))
        each = members.own_log_density(columns).mean(axis=1)
        return float((weight / weight.sum()) @ each)

    def aic(self, x: ArrayLike) -> float:
        """Akaike's information criterion of a sample, the lower the better.

        Parameters
        ----------
        x : array_like of shape (n,), (n, 1) or (n, B)

        Returns
        -------
        float
            2 m B - 2 log likelihood, in nats.
        """
        n_members, n_params = self._fitted.theta.shape
        return 2.0 * n_members * (n_params - 1 - len(x) * self.score(x))

    @property
    def condition_(self) -> Array:
        """Condition number of the Hessian, shape (...)."""
        return self._fitted and self._matched.condition.reshape(self._members.batch)

    @property
    def _fitted(self) -> Members:
        members = vars(self).get("_members")
        if members is None:
            raise NotFittedError(
                f"this {type(self).__name__} holds no density yet; call fit(x) or "
                "from_moments(mu) first"
            )
        return members

    def _read(self, x: Array | None) -> Support:
        """Check the parameters; return the support."""
        check_integer(self.n_nodes, "n_nodes")
        check_positive(self.tol, "tol")
        if isinstance(self.support, str) and self.support == "levels":
            if x is None:
                raise ValueError(
                    "support='levels' takes the levels from a sample: call fit(x), or "
                    "name the levels"
                )
            return Support.of(np.unique(x))
        return read_support(self.support)

    def _match_powers(self, measures, raw, batch, support):
        m = raw.shape[1]
        found = match_powers(measures, m, support, self.n_nodes, tol=self.tol)
        lam = found.basis.powers(found.theta)
        scaled = lam[:, 1:] / powers(found.unit, m)
        natural = translate_natural(scaled, found.origin)
        at_zero = lam[:, 0] + (scaled * powers(-found.origin, m)).sum(axis=-1)
        nodes = measures.origin[:, None] + measures.unit[:, None] * measures.nodes
        u = (nodes - found.origin[:, None]) / found.unit[:, None]
        mean = (measures.weights * found.basis.expand(found.theta, u)).sum(axis=1)
        return self._keep(found, None, support, batch, natural, at_zero, mean, raw)

    def _match_functions(self, mu, batch, support):
        """Match the moments of feature functions of one's own."""
        functions = tuple(self.moments)
        origin, unit = support.standardise()

        def features(u):
            return feature_values(functions, origin + unit * u, support)

        found, support = match_functions(
            mu, features, support, self.n_nodes, tol=self.tol
        )
        natural, at_zero = found.theta[:, 1:], found.theta[:, 0]
        mean = at_zero + (natural * mu).sum(axis=1)
        return self._keep(found, functions, support, batch, natural, at_zero, mean, mu)

    def _keep(self, found, functions, support, batch, natural, at_zero, mean, raw):
        """Assign everything that follows from a solution, once it is complete."""
        log_unit = 0.0
        if support.levels is None:
            log_unit = np.log(np.abs(found.unit))
        self._matched = found
        self._members = Members(
            support,
            found.origin,
            found.unit,
            found.basis,
            found.theta,
            functions,
            batch,
            self.tol,
        )
        self.natural_params_ = natural.reshape((*batch, -1))
        self.log_normaliser_ = (at_zero + log_unit).reshape(batch)
        self.mean_params_ = raw.reshape((*batch, -1))
        self.entropy_ = (mean + log_unit).reshape(batch)
        self.residual_ = found.residual.reshape(batch)
        self.gap_ = found.gap.reshape(batch)
        self.history_ = found.history.reshape((-1, *batch))
        return self


def _feature_functions(moments) -> list[Callable[..., Any]] | None:
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
    if support.kind == "line" and moments == 1:
        raise InfeasibleMomentsError(
            "no density on the real line has largest entropy under 1 moment: a mean "
            "alone leaves the entropy without bound; ask for 2 moments, or bound the "
            "support"
        )
    return int(moments)
