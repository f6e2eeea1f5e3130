"""Ridge regression on indicators of the classes: all penalties, one Krylov space."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memdlib.generative.krylov import KrylovSpace, krylov_space

Array = NDArray[np.float64]


@dataclass(frozen=True)
class IndicatorRegression:
    """Ridge regression on the indicators of the classes, for many penalties at once.

    Parameters
    ----------
    X : {ndarray, csr} of shape (n, d), float64
    codes : ndarray of int of shape (n,)
        Class indices.
    weight : ndarray of shape (n,)
        Above zero.
    n_classes : int

    Examples
    --------
    >>> X, codes = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> ridge = IndicatorRegression(X, codes, np.ones(2), 2)
    >>> coef, intercept = ridge.coefficients(ridge.space(2.0, 1e-9, 9), 2.0)
    >>> coef.round(6).tolist(), intercept.tolist()
    ([[-0.25], [0.25]], [0.5, 0.5])
    """

    X: object
    codes: NDArray[np.intp]
    weight: Array
    n_classes: int

    def __post_init__(self):
        share = self.weight / self.weight.sum()
        prior = np.bincount(self.codes, share, minlength=self.n_classes)
        target = np.eye(self.n_classes)[self.codes] - prior
        root = np.sqrt(self.weight)[:, None]
        found = {
            "_mean": np.ravel(share @ self.X),
            "_prior": prior,
            "_root": root,
            "_target": root * target,
            "_transposed": self.X.T.tocsr() if hasattr(self.X, "tocsr") else self.X.T,
            "_wide": self.X.shape[0] <= self.X.shape[1],
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def space(self, penalty: float, tol: float, max_iter: int) -> KrylovSpace:
        """Krylov space that holds the solutions for this and all larger penalties.

        Parameters
        ----------
        penalty : float
            Above zero.
        tol, max_iter
            As in :func:`memdlib.generative.krylov.krylov_space`.

        Returns
        -------
        KrylovSpace
            Of the rows if they are no more than the features, else of the features.
        """
        start = self._start()
        total = np.linalg.norm(start)
        if total:
            tol *= self._scale(total, penalty) / total
        return krylov_space(
            self._product, start, shift=penalty, tol=tol, max_iter=max_iter
        )

    def coefficients(self, space: KrylovSpace, penalty: float) -> tuple[Array, Array]:
        """Coefficients (K, d) and intercepts (K,) for one penalty.

        Parameters
        ----------
        space : KrylovSpace
        penalty : float

        Returns
        -------
        coef : ndarray of shape (K, d)
        intercept : ndarray of shape (K,)
        """
        coef, intercept = self._coefficients(space, [penalty])
        return coef.T, intercept

    def scores(self, space: KrylovSpace, penalties: list[float], rows) -> Array:
        """Scores of other rows for several penalties, at one product.

        Parameters
        ----------
        space : KrylovSpace
        penalties : list of float
        rows : {ndarray, csr} of shape (n', d)

        Returns
        -------
        ndarray of shape (n_penalties, n', K)
        """
        coef, intercept = self._coefficients(space, penalties)
        found = (rows @ coef + intercept).reshape(rows.shape[0], len(penalties), -1)
        return np.moveaxis(found, 1, 0)

    def _coefficients(self, space, penalties) -> tuple[Array, Array]:
        """Side by side for all penalties: (d, n_penalties K), (n_penalties K,)."""
        found = np.hstack([space.solution(penalty) for penalty in penalties])
        coef = self._to_features(found) if self._wide else found
        return coef, np.tile(self._prior, len(penalties)) - self._mean @ coef

    def residual(self, space: KrylovSpace, penalty: float) -> float:
        """What the solution leaves of the system, computed anew, as a share.

        Parameters
        ----------
        space : KrylovSpace
        penalty : float

        Returns
        -------
        float
            Of the right-hand side. In a system of the features also of the root of the
            penalty times the indicators, if that is more: its square then bounds what
            is left to gain of their squared errors, and no column of large values hides
            the others.
        """
        start, found = self._start(), space.solution(penalty)
        rest = start - self._product(found) - penalty * found
        total = np.linalg.norm(start)
        if not total:
            return 0.0
        return float(np.linalg.norm(rest) / self._scale(total, penalty))

    def _scale(self, total: float, penalty: float) -> float:
        """What a residual is a share of, above zero."""
        if self._wide:
            return total
        # for the residual r of C the squared errors are within |r|^2 / penalty
        return min(total, np.sqrt(penalty) * np.linalg.norm(self._target))

    def _start(self):
        return self._target if self._wide else self._to_features(self._target)

    def _product(self, V):
        if self._wide:
            return self._to_rows(self._to_features(V))
        return self._to_features(self._to_rows(V))

    def _to_rows(self, V):
        """Centred and weighted rows times V."""
        return self._root * (self.X @ V - self._mean @ V)

    def _to_features(self, U):
        U = self._root * U
        return self._transposed @ U - np.outer(self._mean, U.sum(axis=0))
