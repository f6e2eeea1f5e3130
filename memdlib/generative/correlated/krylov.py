"""One Krylov space for the penalised least squares of all classes and penalties.

For a symmetric G without negative eigenvalues and columns B, the solutions C of

    (G + lambda I) C = B

for all lambda lie, but for an error that falls geometrically, in one space, spanned by
B, G B, G^2 B, ...: a shift of G does not change it. The block Lanczos method finds an
orthonormal basis U of it and the small matrix T = U' G U; a penalty more costs one
small system more. What a solution lacks, its residual, is seen from the last block.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memdlib._types import MatrixLike

Array = NDArray[np.float64]

# Directions of less than this share of the largest are rounding.
_RANK = 1e-10


@dataclass(frozen=True)
class KrylovSpace:
    """Orthonormal basis of a Krylov space, and the operator in it.

    Parameters
    ----------
    basis : ndarray of shape (n, q)
        U, orthonormal columns.
    operator : ndarray of shape (q, q)
        T = U' G U.
    start : ndarray of shape (q, K)
        U' B; B lies in the space.
    beyond : ndarray of shape (r, q)
        What G adds to the space: G U = U T + V beyond, with orthonormal V, directions
        that are too near to the space to widen it among them.
    n_iter : int
        Products with G that it took.

    Examples
    --------
    >>> G, B = np.diag([1.0, 2.0, 4.0]), np.ones((3, 1))
    >>> space = krylov_space(lambda U: G @ U, B, shift=0.5, tol=1e-12, max_iter=9)
    >>> space.solution(0.5).ravel().round(6).tolist()
    [0.666667, 0.4, 0.222222]
    """

    basis: Array
    operator: Array
    start: Array
    beyond: Array
    n_iter: int

    def coordinates(self, shift: float) -> Array:
        """Solution with this shift in the basis, (q, K)."""
        shifted = self.operator + shift * np.eye(len(self.operator))
        return np.linalg.solve(shifted, self.start)

    def residual(self, shift: float) -> float:
        """Norm of B - (G + shift) C, as a share of that of B."""
        total = np.linalg.norm(self.start)
        if not total:
            return 0.0
        return float(np.linalg.norm(self.beyond @ self.coordinates(shift)) / total)

    def solution(self, shift: float) -> Array:
        """C in (G + shift) C = B, as near as the space comes, (n, K)."""
        return self.basis @ self.coordinates(shift)


def krylov_space(
    product: Callable[[Array], Array],
    B: Array,
    *,
    shift: float,
    tol: float,
    max_iter: int,
) -> KrylovSpace:
    """Grow a Krylov space until it holds the solutions.

    Parameters
    ----------
    product : callable
        G times the columns of an (n, r) array; G symmetric, no negative eigenvalues.
    B : ndarray of shape (n, K)
        Columns may depend on one another, or be zero.
    shift : float
        The smallest of those that are wanted, above zero: larger ones converge faster.
    tol : float
        Largest residual to stop at, as a share of B.
    max_iter : int
        Largest number of products, one or more.

    Returns
    -------
    KrylovSpace
        Of a residual above ``tol`` only after ``max_iter`` products, or where new
        directions are less than 1e-10 of what G makes of the last ones, and rounding
        may have turned them.

    Notes
    -----
    New blocks are made orthogonal to the last two, which G couples them to, and then to
    all: this costs less than the product by a sparse matrix, and keeps the residuals
    true.

    References
    ----------
    .. [1] Golub & Van Loan, Matrix Computations, 4th ed., section 10.3.6 (block
       Lanczos); Frommer & Maass, Fast CG-based methods for Tikhonov-Phillips
       regularization, SIAM J. Sci. Comput. 20 (1999) (shifts).
    """
    n, K = B.shape
    new, _ = _orthonormal(B)
    first = new.T @ B
    old, coupling = new[:, :0], np.zeros((0, new.shape[1]))
    room = np.empty((n, 8 * max(new.shape[1], 1)), order="F")
    operator = np.zeros((0, 0))
    for n_iter in range(1, max_iter + 1):
        before, size = len(operator), len(operator) + new.shape[1]
        if size > room.shape[1]:
            room = np.asfortranarray(np.hstack([room, np.empty_like(room)]))
        room[:, before:size] = new
        basis = room[:, :size]
        image = product(new)
        own = new.T @ image
        last = slice(before - len(coupling), before)
        grown = np.zeros((size, size))
        grown[:before, :before] = operator
        grown[before:, before:] = 0.5 * (own + own.T)
        grown[last, before:], grown[before:, last] = coupling, coupling.T
        operator = grown
        rest = image - new @ own - old @ coupling
        rest -= basis @ (basis.T @ rest)
        after, dropped = _orthonormal(rest, np.linalg.norm(image))
        below = after.T @ rest
        outside = np.vstack([below, dropped])
        space = KrylovSpace(
            basis,
            operator,
            np.vstack([first, np.zeros((size - len(first), K))]),
            np.hstack([np.zeros((len(outside), before)), outside]),
            n_iter,
        )
        if space.residual(shift) <= tol or not after.size:
            break
        old, new, coupling = new, after, below.T
    return space


def _orthonormal(block: Array, scale: float | None = None) -> tuple[Array, Array]:
    """Orthonormal basis of the columns, and the coordinates along what it leaves out.

    Left out are directions that may be rounding.
    """
    if not block.any():
        return block[:, :0], np.zeros((0, block.shape[1]))
    U, s, rows = np.linalg.svd(block, full_matrices=False)
    kept = s > _RANK * (s[0] if scale is None else scale)
    return U[:, kept], s[~kept, None] * rows[~kept]


@dataclass(frozen=True)
class IndicatorRegression:
    """Ridge regression on the indicators of the classes, for many penalties at once.

    Its normal equations are (G + penalty) C = B, with G known by its products alone.

    Parameters
    ----------
    mean : ndarray of shape (d,)
    prior : ndarray of shape (K,)
        Shares of the classes.
    start : ndarray of shape (d, K), or (n, K) in a system of the rows
        B.
    norm : float
        Of the weighted indicators less the shares; inf in a system of the rows.
    product : callable
        G times columns.
    features : callable, default=None
        Coefficients of the features of a solution; None if it is they.

    Examples
    --------
    >>> X, codes = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> ridge = IndicatorRegression.of(X, codes, np.ones(2), 2)
    >>> coef, intercept = ridge.coefficients(ridge.space(2.0, 1e-9, 9), 2.0)
    >>> coef.round(6).tolist(), intercept.tolist()
    ([[-0.25], [0.25]], [0.5, 0.5])
    """

    mean: Array
    prior: Array
    start: Array
    norm: float
    product: Callable[[Array], Array]
    features: Callable[[Array], Array] | None = None

    @classmethod
    def of(
        cls, X: MatrixLike, codes: NDArray[np.intp], weight: Array, n_classes: int
    ) -> "IndicatorRegression":
        """Regression on rows in memory: a system of the shorter side.

        Parameters
        ----------
        X : {ndarray, csr} of shape (n, d), float64
        codes : ndarray of int of shape (n,)
            Class indices.
        weight : ndarray of shape (n,)
            Above zero.
        n_classes : int

        Returns
        -------
        IndicatorRegression
            Of the rows if they are no more than the features, else of the features.
        """
        share = weight / weight.sum()
        prior = np.bincount(codes, share, minlength=n_classes)
        mean, root = np.ravel(share @ X), np.sqrt(weight)[:, None]
        target = root * (np.eye(n_classes)[codes] - prior)

        def to_rows(V):
            """Centred and weighted rows times V."""
            return root * (X @ V - mean @ V)

        def to_features(U):
            U = root * U
            return X.T @ U - np.outer(mean, U.sum(axis=0))

        if X.shape[0] <= X.shape[1]:

            def product(U):
                return to_rows(to_features(U))

            return cls(mean, prior, target, np.inf, product, to_features)
        norm = np.linalg.norm(target)
        return cls(
            mean, prior, to_features(target), norm, lambda V: to_features(to_rows(V))
        )

    def space(self, penalty: float, tol: float, max_iter: int) -> KrylovSpace:
        """Krylov space that holds the solutions for this and all larger penalties.

        Parameters
        ----------
        penalty : float
            Above zero.
        tol, max_iter
            As in :func:`krylov_space`.

        Returns
        -------
        KrylovSpace
        """
        total = np.linalg.norm(self.start)
        if total:  # a share of the scale of residuals, as one of B
            tol *= self._scale(total, penalty) / total
        return krylov_space(
            self.product, self.start, shift=penalty, tol=tol, max_iter=max_iter
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

    def scores(
        self, space: KrylovSpace, penalties: list[float], rows: MatrixLike
    ) -> Array:
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
        coef = np.hstack([space.solution(penalty) for penalty in penalties])
        if self.features is not None:
            coef = self.features(coef)
        return coef, np.tile(self.prior, len(penalties)) - self.mean @ coef

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
        found = space.solution(penalty)
        rest = self.start - self.product(found) - penalty * found
        total = np.linalg.norm(self.start)
        if not total:
            return 0.0
        return float(np.linalg.norm(rest) / self._scale(total, penalty))

    def _scale(self, total: float, penalty: float) -> float:
        """What a residual is a share of, above zero."""
        # for the residual r of C the squared errors are within |r|^2 / penalty
        return min(total, np.sqrt(penalty) * self.norm)
