"""Discriminative maximum entropy: p(c | x) under the moments E phi(x, c).

Among all conditional distributions with the observed moments of x_j [c = k] and
[c = k], the one of largest entropy is softmax regression,

    p(c | x) = exp(-lambda_c . phi(x)) / Z(x),    phi(x) = (1, x_1, ..., x_d),

and its dual is the log-likelihood. Four ways lead to the same optimum.
"""

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from memdlib._types import MatrixLike
from memdlib.conditional.dual import ConditionalDual, has_optimum, solve
from memdlib.estimator import BayesClassifier, all_or_nothing, finite_scores
from memdlib.validation import (
    COUNT,
    NONNEGATIVE,
    POSITIVE,
    Words,
    check_parameters,
    labelled_data,
)

Array = NDArray[np.float64]

MAX_ITERATIONS = {"lbfgs": 1000, "gis": 50000, "iis": 50000, "gradient": 50000}


class ConditionalMaxEntClassifier(BayesClassifier):
    """Discriminative maximum entropy (DME), also known as softmax regression.

    The conditional distribution of largest entropy whose moments E x_j [c = k] and
    E [c = k] are those of the training rows; with ``l2`` above zero they are met up to
    ``l2`` times the coefficient.

    Parameters
    ----------
    solver : {"lbfgs", "gis", "iis", "gradient"}, default="lbfgs"
        "lbfgs", a quasi-Newton method; generalised ("gis") or improved ("iis")
        iterative scaling; steepest descent ("gradient"). All reach the same optimum;
        the last three are slow, and there to be seen.
    l2 : float >= 0, default=1.0
        Penalty l2 / 2 times the squared coefficients, on the scale of the total
        log-likelihood: 1 / C of :class:`sklearn.linear_model.LogisticRegression` (for
        two classes, whose coefficients are here of opposite sign and half the size,
        2 / C). 0 is plain maximum entropy, which has no optimum where classes are
        linearly separable.
    fit_intercept : bool, default=True
        Whether the shares of the classes, E [c = k], are among the moments. Their
        parameters, the intercepts, are not penalised.
    tol : float, default=1e-6
        Largest difference between expected and observed moments to stop at, for
        features scaled to order one and weights of sum one; above zero.
    max_iter : int, default=None
        None takes 1000 steps for "lbfgs", 50000 for the others.
    class_weight : dict or "balanced", default=None
        Factors of the instance weights, {class: above zero}, 1 where there is none.
        "balanced" makes the total weights of all classes equal.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    coef_ : ndarray of shape (K, d)
        Of sum zero over the classes, also for two.
    intercept_ : ndarray of shape (K,)
        Of sum zero; zero without ``fit_intercept``.
    natural_params_ : ndarray of shape (K, d + 1)
        lambda in p(c | x) = exp(-lambda_c . (1, x)) / Z(x): minus the intercepts and
        coefficients.
    history_ : ndarray of shape (steps + 1,)
        Penalised negative log-likelihood per unit of weight, in nats, at the start and
        after each step.
    n_iter_ : int
    moment_residual_ : float
        Certificate: what ``tol`` bounds.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    References
    ----------
    .. [1] Dukkipati et al., ICDM 2013, eq. 7; Balsera, Classification II (lecture,
       2019), eq. 21, 42-52.
    .. [2] Berger, Della Pietra, Della Pietra, A maximum entropy approach to natural
       language processing, Computational Linguistics 22 (1996).

    Examples
    --------
    >>> from memdlib import ConditionalMaxEntClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = ConditionalMaxEntClassifier(l2=0.1).fit(X[::2], y[::2])
    >>> round(clf.score(X[1::2], y[1::2]), 3)
    0.973
    """

    classes_: NDArray[Any]
    coef_: Array
    intercept_: Array
    natural_params_: Array
    history_: Array
    n_iter_: int
    moment_residual_: float

    _parameter_constraints: ClassVar[dict] = {
        "solver": [Words(*MAX_ITERATIONS)],
        "l2": [NONNEGATIVE],
        "fit_intercept": ["boolean"],
        "tol": [POSITIVE],
        "max_iter": [COUNT, None],
        "class_weight": [Words("balanced"), dict, None],
    }

    def __init__(
        self,
        solver: str = "lbfgs",
        l2: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int | None = None,
        class_weight: dict[Any, Any] | str | None = None,
    ) -> None:
        self.solver = solver
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Match the moments.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Finite. For "gis" and "iis" nonnegative if sparse or without intercept;
            otherwise it is shifted.
        y : array-like of shape (n,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative instance weights; weight 2 means the row twice.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            On a single class, or a parameter out of range. A fit that fails changes
            nothing.

        Warns
        -----
        ConvergenceWarning
            If the moments are not matched to ``tol``, or, without an intercept, means
            far from zero hide that they are not; or if ``l2`` is zero and classes are
            separable, even some of them only, so that no optimum exists.
        """
        check_parameters(self)
        X, codes, weight, classes = labelled_data(
            self, X, y, sample_weight, class_weight=self.class_weight
        )
        solver, l2, first = self.solver, float(self.l2), int(self.fit_intercept)
        max_iter = self.max_iter or MAX_ITERATIONS[solver]
        scaling = solver in ("gis", "iis")
        shift = _shift(X, weight, self.fit_intercept, scaling)
        moved = _moved(X, shift)
        scale = _scale(moved, shift, weight, l2, scaling)
        Z = _with_ones(moved, scale, first)
        penalty = np.concatenate([np.zeros(first), l2 / scale / scale])
        dual = ConditionalDual.of(Z, codes, len(classes), weight, penalty)
        found = solve(dual, solver, self.tol, max_iter)
        coef = found.theta[:, first:] / scale
        intercept = found.theta[:, :first].sum(axis=1) - coef @ shift
        self.classes_, self.coef_ = classes, coef - coef.mean(axis=0)
        self.intercept_ = intercept - intercept.mean()
        self.natural_params_ = 0.0 - np.column_stack([self.intercept_, self.coef_])
        self.history_ = found.history
        self.n_iter_ = len(found.history) - 1
        self.moment_residual_ = found.residual
        text = _shortfall(dual, codes, found, solver, l2, self.tol, max_iter)
        if not text and not first:
            text = _far_from_zero(dual, found, self.tol)
        if text:
            warnings.warn(text, ConvergenceWarning, stacklevel=3)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _joint_log_density(self, X):
        """Log p(c | x) up to what is common to all classes, (n, K)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return finite_scores(X @ self.coef_.T + self.intercept_, X)


def _shortfall(dual, codes, found, solver, l2, tol, max_iter) -> str:
    """What a user must know about where the solver stopped; empty if all is well."""
    no_maximum = (
        "without a penalty the likelihood has no maximum then, and the parameters only "
        "tell where the solver stopped; use l2 > 0"
    )
    scores = dual.Z @ found.theta.T
    rows = np.arange(len(codes))
    own = scores[rows, codes]
    scores[rows, codes] = -np.inf
    if l2 == 0 and (own > scores.max(axis=1)).all():
        return f"the classes are linearly separable: {no_maximum}"
    in_doubt = l2 == 0 and not has_optimum(dual, codes, found)
    if found.residual > tol:
        n_iter = len(found.history) - 1
        remedies = [
            "raise max_iter or tol" if n_iter >= max_iter else "raise tol",
            "use a larger l2",
        ]
        if solver != "lbfgs":
            remedies.append('or solver="lbfgs"')
        doubt = "; if classes are linearly separable, l2=0 has no optimum"
        return (
            f"solver={solver!r} matched the moments to {found.residual:.1e} only, in "
            f"{n_iter} steps; {', '.join(remedies)}{doubt if in_doubt else ''}"
        )
    if in_doubt:
        return (
            "some classes seem to be linearly separable, at least in part: "
            f"{no_maximum}, or a smaller tol if they do overlap"
        )
    return ""


def _far_from_zero(dual, found, tol: float) -> str:
    """What to know where means that are not shifted hide how the features vary.

    Uncorrelated features of means m and variances v have the second moments
    S = diag(v) + m m', whose inverse is that of Sherman and Morrison. In units in which
    S is the identity the misfit g of the moments has the square g' S^-1 g, which is of
    the order of what the dual could still fall by.
    """
    gradient = dual.evaluate(found.theta)[1]
    square = dual.Z.power(2) if sparse.issparse(dual.Z) else dual.Z**2
    mean = dual.share @ dual.Z
    variance = np.maximum(dual.share @ square - mean**2, np.finfo(np.float64).eps)
    along = (gradient * mean / variance).sum(axis=1) ** 2
    misfit = (gradient**2 / variance).sum(axis=1)
    misfit -= along / (1.0 + (mean**2 / variance).sum())
    if misfit.max() <= tol:
        return ""
    return (
        "the means of the features are so far from zero that without an intercept the "
        f"solver did not see how they vary: it matched that to "
        f"{np.sqrt(misfit.max()):.1e} only; use fit_intercept=True, or StandardScaler"
    )


def _shift(X, weight: Array, intercept: bool, nonnegative: bool) -> Array:
    """What to take off the features, for an intercept to make up for it, shape (d,).

    Their least values, if they must not be negative, or their means. A feature that is
    zero for half of the weight, or more, has a variance of at least half of its mean
    square, by Cauchy and Schwarz: if it is sparse, it stays so.
    """
    if nonnegative and not (intercept and not sparse.issparse(X)) and X.min() < 0:
        remedy = "X.toarray() and an" if sparse.issparse(X) else "an"
        raise ValueError(
            "Negative values in data: iterative scaling needs nonnegative features, "
            f"and the smallest value is {X.min()}; use {remedy} intercept, which "
            'lets them be shifted, or solver="lbfgs"'
        )
    if not intercept:
        return np.zeros(X.shape[1])
    if nonnegative:
        return _dense_row(X.min(axis=0))
    share = weight / weight.sum()
    mean = share @ X.astype(np.float64, copy=False)
    if sparse.issparse(X):
        return np.where(share @ (X != 0).astype(np.float64) > 0.5, mean, 0.0)
    return mean


def _moved(X, shift: Array):
    """X - shift; the columns of a sparse X that are shifted become full."""
    if not sparse.issparse(X):
        return X - shift
    ones = sparse.csr_array(np.ones((X.shape[0], 1)))
    return sparse.csr_array(X, dtype=np.float64) - ones @ sparse.csr_array(shift[None])


def _scale(moved, shift: Array, weight: Array, l2: float, nonnegative: bool) -> Array:
    """Scale that brings the features, or the curvatures, to order one.

    Features are divided by their range, if they must not be negative, or by the root of
    their mean square, to which 4 l2 / total weight is added in squares: the Hessian
    then has diagonal entries of at most 1/4, whatever the units and the penalty.
    """
    if nonnegative:
        width = _dense_row(moved.max(axis=0))
    else:
        square = moved.power(2) if sparse.issparse(moved) else moved**2
        width = np.sqrt(weight / weight.sum() @ square)
    # what varies by rounding alone is constant
    rounding = 1e-12 * np.abs(shift)
    width = np.where(width > rounding, width, 0.0)
    width = np.hypot(width, 2.0 * np.sqrt(l2 / weight.sum()))
    return np.where(width > 0, width, 1.0)


def _dense_row(row) -> Array:
    row = row.toarray() if sparse.issparse(row) else row
    return np.ravel(row).astype(np.float64)


def _with_ones(moved, scale: Array, intercept: int):
    """Features in units of their scale, after a column of ones for an intercept."""
    ones = np.ones((moved.shape[0], intercept))
    if sparse.issparse(moved):
        return sparse.csr_array(sparse.hstack([ones, moved.multiply(1.0 / scale)]))
    return np.hstack([ones, moved / scale])
