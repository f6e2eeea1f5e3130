"""Maximum-entropy densities with any number of moments, many at a time."""

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from memdlib.densities.matching import match
from memdlib.densities.moment_problem import InfeasibleMomentsError
from memdlib.densities.standard import (
    power_moments,
    raise_if_rounded,
    standardise_moments,
    standardise_sample,
)
from memdlib.densities.support import powers, read_support
from memdlib.moments import translate_natural
from memdlib.validation import (
    POSITIVE,
    check_choice,
    check_domain,
    check_integer,
    check_real,
    check_real_array,
    check_sample_weight,
)


class MaxEntDensity(BaseEstimator):
    """Maximum-entropy density with given power moments on a support.

    It has the form p(x) = exp(-lambda_0 - lambda_1 x - ... - lambda_m x^m) [1]_. The
    natural parameters lambda solve the convex dual problem by a damped Newton method,
    in polynomials that are orthonormal under the density [3]_, for any number of moment
    vectors in one call.

    Parameters
    ----------
    n_moments : int, default=2
        Number m of power moments E x, ..., E x^m.
    support : pair of numbers (a, b) or Support, default=None
        The interval [a, b], in any sequence; an end, or both, may be infinite. None
        means the real line, unless ``levels`` are given.
    levels : array_like of shape (L,) or "observed", default=None
        A finite set of at least two levels in place of an interval; ``"observed"``
        means the values that occur in the sample. Giving both is a ValueError.
    tol : float, default=1e-8
        Largest residual that is accepted.

    Attributes
    ----------
    natural_params_, mean_params_ : ndarray of shape (..., m)
        The natural parameters lambda, in the units of x, and the requested moments.
    log_normaliser_ : ndarray of shape (...)
        lambda_0 = psi(lambda), in nats.
    entropy_ : ndarray of shape (...)
        Differential entropy, or entropy of the probabilities of levels, in nats.
    moment_residual_, duality_gap_ : ndarray of shape (...)
        Certificates. The residual is the largest difference between the moments of the
        density and the requested ones, for polynomials that are orthonormal under the
        density itself, on nodes that the solver has not used. The duality gap is in
        nats.

    Notes
    -----
    On a half-line, and on the real line with even m, the entropy has no maximum under m
    moments if and only if the density with m - 1 (on the line m - 2) moments has the
    first m - 1 of them and a smaller m-th moment than the requested one (skewness 0 and
    kurtosis above 3, for example) [2]_. If that density also has the m-th moment, up to
    rounding, it is the solution, with zeros for the parameters beyond its own. On the
    real line with odd m there is no other solution. All other cases raise an error.
    Close to moments without a maximum, the density has a small mode far out, which is
    found up to about 150 standard deviations away (with eight moments, about 30).

    References
    ----------
    .. [1] Dukkipati et al., ICDM 2013, eq. 1-4.
    .. [2] Junk, Maximum entropy for reduced moment problems, Mathematical Models and
       Methods in Applied Sciences 10 (2000), on moments without a maximum.
    .. [3] Abramov, An improved algorithm for the multidimensional moment-constrained
       maximum entropy problem, Journal of Computational Physics 226 (2007).

    Examples
    --------
    >>> die = MaxEntDensity(n_moments=1, levels=range(1, 7)).from_moments([4.5])
    >>> die.pdf(np.arange(1, 7)).round(4).tolist()
    [0.0544, 0.0788, 0.1142, 0.1654, 0.2398, 0.3475]
    >>> float(die.cdf(3).round(4)), float(die.ppf(0.5)), float(die.mean().round(9))
    (0.2473, 5.0, 4.5)
    """

    def __init__(
        self,
        n_moments=2,
        *,
        support=None,
        levels=None,
        tol=1e-8,
    ):
        self.n_moments = n_moments
        self.support = support
        self.levels = levels
        self.tol = tol

    def fit(self, x, y=None, sample_weight=None):
        """Match the moments of a sample, which is also the maximum-likelihood fit.

        Parameters
        ----------
        x : array_like of shape (n,) or (n, B)
            Finite values on the support; each column gets its own density.
        y : ignored
        sample_weight : array_like of shape (n,), default=None
            Nonnegative weights; None means one for each value.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a value is not finite or lies outside the support.
        InfeasibleMomentsError
            If the moments of the sample lie on the boundary (a constant sample, or m
            moments of m/2 distinct values), or if the entropy has no maximum.
        RoundedMomentsError, NotConvergedError
            As in :meth:`from_moments`.
        """
        x = check_real_array(x, "x")
        if x.ndim not in (1, 2) or not x.size:
            raise ValueError(
                f"x has shape {x.shape}; expected (n,) or (n, B), neither of them zero"
            )
        support = self._read_support(x)
        check_domain(support.contains(x), x, "x", f"not on the support {support}")
        weight = check_sample_weight(sample_weight, x)
        probability = weight / weight.sum()
        columns = x.reshape(len(x), -1)
        m = self.n_moments
        origin, unit, moments = standardise_sample(columns, probability, m, support)
        with np.errstate(over="ignore"):  # refused in _match
            raw = power_moments(columns, probability, m)
        return self._match(moments, origin, unit, raw, x.shape[1:], support)

    def from_moments(self, mu):
        """Return a new object with the densities that have given moments.

        Parameters
        ----------
        mu : array_like of shape (..., m)
            Moments E x, ..., E x^m about zero; the leading axes run over densities.

        Returns
        -------
        MaxEntDensity
            With the same parameters; this object is not changed.

        Raises
        ------
        ValueError
            If ``mu`` has another shape, or holds values that are not finite.
        InfeasibleMomentsError
            If no density on the support has these moments, or if the entropy has no
            maximum.
        RoundedMomentsError
            If rounding of the moments about zero, or overflow, leaves the density in
            doubt: bring x to a mean of zero and a scale of order one.
        NotConvergedError
            If the residual stays above ``tol``.
        """
        support = self._read_support(None)
        mu = check_real_array(mu, "mu")
        m = self.n_moments
        if mu.ndim == 0 or mu.shape[-1] != m or not mu.size:
            raise ValueError(
                f"mu has shape {mu.shape}; its last axis must be {m} long, and the "
                "others hold at least one density"
            )
        if not np.isfinite(mu).all():
            raise ValueError("mu holds a value that is not finite; remove its density")
        raw = mu.reshape(-1, m)
        origin, unit, moments = standardise_moments(raw, support)
        density = clone(self)
        return density._match(moments, origin, unit, raw, mu.shape[:-1], support)

    def logpdf(self, x):
        """Log density, or log probability of levels.

        Parameters
        ----------
        x : array_like of any shape

        Returns
        -------
        ndarray of shape x.shape + (...)
            In nats; -inf outside the support, NaN where x is NaN.
        """
        distributions = self._fitted
        x = np.asarray(x, dtype=np.float64)
        # all densities at each value
        pairs = np.broadcast_to(x.reshape(-1, 1), (x.size, self.entropy_.size))
        log_density = distributions.log_density(pairs)
        return self._unflatten(log_density.reshape(*x.shape, -1))

    def pdf(self, x):
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

    def cdf(self, x):
        """Probability of values up to x.

        Parameters
        ----------
        x : array_like of any shape

        Returns
        -------
        ndarray of shape x.shape + (...)
            NaN where x is NaN.
        """
        x = np.asarray(x, dtype=np.float64)[..., None]
        distributions = self._fitted
        return self._unflatten(distributions.pairwise(distributions.probability, x))

    def ppf(self, q):
        """Quantile, the smallest x with probability q of values up to x.

        Parameters
        ----------
        q : array_like of any shape
            In [0, 1].

        Returns
        -------
        ndarray of shape q.shape + (...)
            The ends of the support at 0 and 1; on levels, the lowest one at 0.

        Raises
        ------
        ValueError
            If a probability is outside [0, 1].
        """
        q = np.asarray(q, dtype=np.float64)
        check_domain((q >= 0) & (q <= 1), q, "q", "a probability is from 0 to 1")
        distributions = self._fitted
        quantiles = distributions.pairwise(distributions.quantile, q[..., None])
        return self._unflatten(quantiles)

    def rvs(
        self,
        size=None,
        random_state=None,
    ):
        """Draw independent values by inversion of the distribution function.

        Parameters
        ----------
        size : int or tuple of int, default=None
            Number or shape of draws from each density; None draws one.
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        ndarray of shape size + (...)
        """
        distributions = self._fitted
        random = check_random_state(random_state)
        sizes = () if size is None else np.ravel(np.asarray(size, dtype=object))
        lengths = [check_integer(n, "size", minimum=0) for n in sizes]
        q = random.random_sample((*lengths, self.entropy_.size))
        # zero would be the lower end of the support
        q = np.maximum(q, 2.0**-54)
        return self._unflatten(distributions.pairwise(distributions.quantile, q))

    def mean(self):
        """Mean of each density.

        Returns
        -------
        ndarray of shape (...)
        """
        return self._unflatten(self._fitted.mean)

    def std(self):
        """Standard deviation of each density.

        Returns
        -------
        ndarray of shape (...)
        """
        return self._unflatten(self._fitted.deviation)

    def score(self, x, y=None, sample_weight=None):
        """Mean log-likelihood of a sample, for a search over the number of moments.

        Parameters
        ----------
        x : array_like of shape (n,), (n, 1) or (n, B)
            One column for each density of the batch.
        y : ignored
        sample_weight : array_like of shape (n,), default=None

        Returns
        -------
        float
            Nats per value, averaged over the densities of a batch as well.
        """
        distributions = self._fitted
        x = np.asarray(x, dtype=np.float64)
        columns = x.reshape(len(x), -1)
        n_densities = self.entropy_.size
        if columns.shape[1] != n_densities:
            raise ValueError(
                f"x has {columns.shape[1]} columns; give one for each of the "
                f"{n_densities} densities"
            )
        weight = check_sample_weight(sample_weight, columns)
        log_density = distributions.log_density(columns).mean(axis=1)
        return float((weight / weight.sum()) @ log_density)

    @property
    def _fitted(self):
        check_is_fitted(self, "_distributions")
        return self._distributions

    def _unflatten(self, values):
        """Values (..., B) of B densities in the shape of the batch."""
        return values.reshape(values.shape[:-1] + self.entropy_.shape)[()]

    def _read_support(self, x):
        """Check the parameters; return the support."""
        m = check_integer(self.n_moments, "n_moments")
        check_real(self.tol, "tol", POSITIVE)
        levels = self.levels
        if isinstance(levels, str):
            check_choice(levels, "levels", ("observed",))
            if x is None:
                raise ValueError("levels='observed' are those of a sample: call fit")
            levels = np.unique(x)
        support = read_support(self.support, levels=levels)
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
    def _match(self, moments, origin, unit, raw, batch, support):
        """Find the densities; assign everything that follows from them at the end.

        ``moments`` (B, m) are those of u = (x - origin) / unit, ``raw`` (B, m) those
        of x about zero, and ``batch`` is the shape in which the B densities are given.
        """
        distributions, residual, gap = match(moments, origin, unit, support, self.tol)
        density = distributions.density
        psi, natural = _in_units_of_x(density.natural_params(), origin, unit)
        raise_if_rounded(~np.isfinite(natural * raw).all(axis=1), origin, unit)
        # in the orthonormal basis, where no large terms cancel
        means = density.means(np.insert(moments, 0, 1.0, axis=1))
        entropy = (density.theta * means).sum(axis=1)
        log_unit = 0.0 if support.levels is not None else np.log(unit)
        self._distributions = distributions
        self.natural_params_ = natural.reshape((*batch, -1))
        self.log_normaliser_ = (psi + log_unit).reshape(batch)
        self.mean_params_ = raw.reshape((*batch, -1))
        self.entropy_ = (entropy + log_unit).reshape(batch)
        self.moment_residual_ = residual.reshape(batch)
        self.duality_gap_ = gap.reshape(batch)
        return self


def _in_units_of_x(lam, origin, unit):
    """Log normaliser (B,) and natural parameters (B, m) of x = origin + unit u.

    From those of u, lambda_0 first (B, m + 1), both of the same base measure.
    """
    m = lam.shape[1] - 1
    about_origin = lam[:, 1:] / powers(unit, m)
    psi = lam[:, 0] + (about_origin * powers(-origin, m)).sum(axis=1)
    return psi, translate_natural(about_origin, origin)
