"""What can be asked of a batch of densities: logpdf, cdf, ppf, rvs, moments, scores."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from memdlib.densities.members import Members
from memdlib.validation import check_integer, check_sample_weight

Array = NDArray[np.float64]

# Numbers handled at a time.
_BLOCK = 2**21


class Distribution:
    """What can be asked of densities once ``_members`` is there."""

    @property
    def _fitted(self) -> Members:
        members = vars(self).get("_members")
        if members is None:
            raise NotFittedError(
                f"this {type(self).__name__} holds no density yet; call fit(x) or "
                "from_moments(mu) first"
            )
        return members

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
        found = self._own_log_density(x[..., None])
        return found.reshape(x.shape + members.batch)[()]

    def _own_log_density(self, x: Array) -> Array:
        """Log density of each member at x (..., B) or (..., 1), shape (..., B)."""
        members = self._fitted
        inside = members.support.contains(x)
        # a place on the support for those that are not
        somewhere = np.clip(
            members.origin, members.support.lower, members.support.upper
        )
        u = (np.where(inside, x, somewhere) - members.origin) / members.unit
        log_density = members.log_density(u, np.arange(len(members.theta)))
        if members.support.levels is None:
            log_density = log_density - np.log(np.abs(members.unit))
        outside = np.where(np.isnan(x), np.nan, -np.inf)
        return np.where(inside, log_density, outside)

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
        return self._pairwise(self._fitted.probability, np.asarray(x, np.float64))

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
        return self._pairwise(self._fitted.quantile, q)

    def rvs(self, size=None, random_state=None) -> Array:
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
        return self._pairwise(members.quantile, q, each=False)

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
        return (members.unit * members.table.deviation).reshape(members.batch)[()]

    def score(self, x: ArrayLike, y=None, sample_weight: ArrayLike | None = None):
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
        n_members = len(self._fitted.theta)
        columns = np.asarray(x, dtype=np.float64)
        columns = columns.reshape(len(columns), -1)
        if columns.shape[1] != n_members:
            raise ValueError(
                f"x has {columns.shape[1]} columns; give one for each of the "
                f"{n_members} densities"
            )
        weight = check_sample_weight(sample_weight, len(columns))
        each = self._own_log_density(columns).mean(axis=1)
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

    def _pairwise(self, function, values: Array, *, each: bool = True) -> Array:
        """Apply a function of values and members, each to each or place by place."""
        members, batch = self._fitted, self._fitted.batch
        if each:
            values = values.reshape(values.shape + (1,) * len(batch))
        rows = np.arange(len(members.theta)).reshape(batch)
        values, rows = np.broadcast_arrays(values, rows)
        found, flat, member = np.empty(values.size), values.ravel(), rows.ravel()
        step = max(1, _BLOCK // members.table.cumulative.shape[1])
        for first in range(0, flat.size, step):
            part = slice(first, first + step)
            found[part] = function(flat[part], member[part])
        return found.reshape(values.shape)[()]
