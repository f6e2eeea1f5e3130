"""One covariance for all classes, and class means whitened by it.

The class densities of maximum entropy under class means and pooled second moments are
normal with one covariance diag(s) R diag(s). The coordinates z = R^(-1/2) diag(1/s)
(x - mu) are independent in every class; with their means M_k there,

    JS_GM = sum_j J_j,    J_j = sum_k pi_k M_kj^2,

exactly.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memdlib.generative.correlations import InverseRoot, PooledMoments, inverse_root

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WhitenedMeans:
    """Class means in coordinates that are independent within the classes.

    Parameters
    ----------
    prior : ndarray of shape (K,)
    unit, centre, deviations : ndarray of shape (d,)
        z = R^(-1/2) (x / unit - centre) / deviations.
    root : InverseRoot
        R^(-1/2).
    means : ndarray of shape (K, d)
        M; its average by ``prior`` is zero.
    variance_shrinkage : float
    """

    prior: Array
    unit: Array
    centre: Array
    deviations: Array
    root: InverseRoot
    means: Array
    variance_shrinkage: float

    @classmethod
    def of(
        cls,
        moments: PooledMoments,
        prior: Array | None = None,
        shrinkage: float | str = "auto",
        variance_shrinkage: float | str = 0.0,
    ) -> "WhitenedMeans":
        """Shrink, and whiten the class means.

        Parameters
        ----------
        moments : PooledMoments
        prior : ndarray of shape (K,), default=None
            None takes the shares of the weight.
        shrinkage : float in [0, 1] or "auto", default="auto"
            Of correlations, see :func:`memdlib.generative.inverse_root`.
        variance_shrinkage : float in [0, 1] or "auto", default=0.0
            See :meth:`memdlib.generative.PooledMoments.standard_deviations`.

        Returns
        -------
        WhitenedMeans

        Raises
        ------
        ValueError
            If the correlations are singular.

        Examples
        --------
        >>> X = np.array([[0.0, 0], [2, 2], [3, 0], [5, 2]])
        >>> moments = PooledMoments.of(X, np.array([0, 0, 1, 1]), 2, np.ones(4))
        >>> WhitenedMeans.of(moments, shrinkage=1.0).divergences.tolist()
        [2.25, 0.0]
        >>> WhitenedMeans.of(moments, shrinkage=0.5).divergences.round(3).tolist()
        [2.799, 0.201]
        """
        if prior is None:
            prior = moments.weight / moments.weight.sum()
        root = inverse_root(moments.residuals, moments.degrees_of_freedom, shrinkage)
        deviations, used = moments.standard_deviations(variance_shrinkage)
        centre = prior @ moments.means
        offset = np.where(moments.weight[:, None] > 0, moments.means - centre, 0.0)
        means = root(offset / deviations)
        return cls(prior, moments.unit, centre, deviations, root, means, used)

    @property
    def divergences(self) -> Array:
        """J_j, the share of each coordinate in JS_GM, (d,), nats."""
        return self.prior @ self.means**2

    def whiten(self, X) -> Array:
        """Coordinates z of rows of X, (n, d)."""
        return self.root((X / self.unit - self.centre) / self.deviations)

    def scores(self, X, order: NDArray[np.intp], grid: NDArray[np.intp]) -> Array:
        """Joint log densities but for what the classes share, with the best S of z.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        order : ndarray of int of shape (d,)
            Coordinates, the best first.
        grid : ndarray of int, shape (G,)
            Numbers S, increasing.

        Returns
        -------
        ndarray of shape (G, n, K)
        """
        last = order[: grid[-1]]
        z, means = self.whiten(X)[:, last], self.means[:, last]
        found = np.empty((len(grid), len(z), len(means)))
        with np.errstate(divide="ignore"):
            log_prior = np.log(self.prior)
        for k, m in enumerate(means):
            running = np.cumsum(z * m - 0.5 * m**2, axis=1)
            found[..., k] = log_prior[k] + running[:, grid - 1].T
        return found
