"""Discriminative maximum entropy: p(c | x) under the moments E phi(x, c).

Among all conditional distributions with the observed moments of x_j [c = k] and
[c = k], the one of largest entropy is softmax regression,

    p(c | x) = exp(-lambda_c . phi(x)) / Z(x),    phi(x) = (1, x_1, ..., x_d),

and its dual is the log-likelihood. Three ways lead to the same optimum.
"""

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from memdlib._types import Array, ArrayLike, MatrixLike, Weights
from memdlib.conditional.dual import ConditionalDual, has_optimum, solve
from memdlib.estimator import BayesClassifier
from memdlib.validation import (
    COUNT,
    NONNEGATIVE,
    POSITIVE,
    Words,
    all_or_nothing,
    labelled_data,
)

MAX_ITERATIONS = {"lbfgs": 1000, "gis": 50000, "iis": 50000}


class ConditionalMaxEntClassifier(BayesClassifier):
    """Discriminative maximum entropy (DME), also known as softmax regression.

    The conditional distribution of largest entropy whose moments E x_j [c = k] and
    E [c = k] are those of the training rows; with ``l2`` above zero they are met up to
    ``l2`` times the coefficient.

    Parameters
    ----------
    solver : {"lbfgs", "gis", "iis"}, default="lbfgs"
        "lbfgs", a quasi-Newton method; generalised ("gis") or improved ("iis")
        iterative scaling, which reach the same optimum slowly, and are there to be
        seen.
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
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: Weights = None) -> Self:
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

        Warns
        -----
        ConvergenceWarning
            If the moments are not matched to ``tol``, or means far apart (of dense X)
            or, without an intercept, far from zero hide that; or if ``l2`` is zero and
            classes are separable, even some of them only: no optimum exists.
        """
        X, codes, weight, classes = labelled_data(
            self, X, y, sample_weight, class_weight=self.class_weight
        )
        first = int(self.fit_intercept)
        max_iter = self.max_iter or MAX_ITERATIONS[self.solver]
        Z, shift, scale = _in_order_one(X, weight, first, self.l2, self.solver)
        penalty = np.concatenate([np.zeros(first), self.l2 / scale / scale])
        dual = ConditionalDual.of(Z, codes, len(classes), weight, penalty)
        found = solve(dual, self.solver, self.tol, max_iter)
        coef = found.theta[:, first:] / scale
        intercept = found.theta[:, :first].sum(axis=1) - coef @ shift
        self.classes_, self.coef_ = classes, coef - coef.mean(axis=0)
        self.intercept_ = intercept - intercept.mean()
        self.natural_params_ = 0.0 - np.column_stack([self.intercept_, self.coef_])
        self.history_ = found.history
        self.n_iter_ = len(found.history) - 1
        self.moment_residual_ = found.residual
        text = self._shortfall(dual, codes, found)
        if text:
            warnings.warn(text, ConvergenceWarning, stacklevel=3)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _joint_log_density(self, X):
        """Log p(c | x) up to what is common to all classes, (n, K)."""
        return X @ self.coef_.T + self.intercept_

    def _shortfall(self, dual, codes, found):
        """What to know about where the solver stopped; empty if all is well."""
        doubt = self.l2 == 0 and not has_optimum(dual, codes, found)
        if found.residual > self.tol:
            remedy = "; if classes are linearly separable, l2=0 has no optimum" * doubt
            return (
                f"solver={self.solver!r} matched the moments to {found.residual:.1e} "
                f"only; raise max_iter or tol, or use a larger l2{remedy}"
            )
        if doubt:
            return (
                "classes seem to be linearly separable, at least in part: without a "
                "penalty there is no optimum then; use l2 > 0, or a smaller tol"
            )
        hidden = _hidden_misfit(dual, codes, found.theta, self.fit_intercept)
        if hidden > self.tol:
            remedies = "fit_intercept=True, or StandardScaler", "QuantileTransformer"
            return (
                "means far apart, or from zero, hide how the features vary, which was "
                f"matched to {hidden**0.5:.1e} only; use {remedies[self.fit_intercept]}"
            )
        return ""


def _hidden_misfit(dual, codes, theta, intercept):
    """Square of the misfit of the moments in units of diag(v) + m m'."""
    gradient, mean = dual.evaluate(theta)[1], dual.share @ dual.Z
    variance = np.maximum(dual.share @ dual.Z**2 - mean**2, np.finfo(np.float64).eps)
    if intercept:
        if sparse.issparse(dual.Z):
            return 0.0
        rest = dual.Z - (dual.observed / dual.observed[:, :1])[codes]
        variance, mean = dual.share @ rest**2, 0.0 * mean
    # constants hide nothing
    variance = np.where(variance > 1e-30, variance, 1.0) + dual.penalty
    # by Sherman's and Morrison's formula, for means m and variances v
    along = (gradient * mean / variance).sum(axis=1) ** 2
    misfit = (gradient**2 / variance).sum(axis=1)
    return (misfit - along / (1.0 + (mean**2 / variance).sum())).max()


def _in_order_one(X, weight, intercept, l2, solver):
    """Features (X - shift) / scale after a column of ones for an intercept."""
    thin, nonnegative = sparse.issparse(X), solver != "lbfgs"
    if nonnegative and (thin or not intercept) and X.min() < 0:
        raise ValueError(
            "Negative values in data: iterative scaling shifts dense features with an "
            'intercept only; use solver="lbfgs"'
        )
    share, shift = weight / weight.sum(), np.zeros(X.shape[1])
    X = sparse.csr_array(X, dtype=np.float64) if thin else X.astype(np.float64)
    if intercept:
        shift = _dense(X.min(axis=0)) if nonnegative else share @ X
    if thin and not nonnegative:
        # one that is zero for half of the weight has a variance of half its mean square
        shift[share @ (X != 0) <= 0.5] = 0.0
    ones = np.ones((len(weight), 1))
    X = X - (sparse.csr_array(ones) @ sparse.csr_array(shift[None]) if thin else shift)
    scale = _dense(X.max(axis=0)) if nonnegative else np.sqrt(share @ X**2)
    # what varies by rounding alone is constant
    scale[scale <= 1e-12 * np.abs(shift)] = 0.0
    # diagonal entries of the Hessian are then at most 1/4, whatever the penalty
    scale = np.hypot(scale, 2.0 * np.sqrt(l2 / weight.sum()))
    scale[scale == 0] = 1.0
    X = X @ sparse.diags_array(1.0 / scale) if thin else X / scale
    Z = (sparse if thin else np).hstack([ones[:, :intercept], X])
    return (Z.tocsr() if thin else Z), shift, scale


def _dense(row):
    return row.toarray() if sparse.issparse(row) else row
