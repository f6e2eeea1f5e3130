"""Discriminative maximum entropy: p(c | x) under the moments E phi(x, c).

Among all conditional distributions with the observed moments of x_j [c = k] and
[c = k], the one of largest entropy is softmax regression,

    p(c | x) = exp(-lambda_c . phi(x)) / Z(x),    phi(x) = (1, x_1, ..., x_d),

and its dual is the log-likelihood. Four ways lead to the same optimum.
"""

import warnings
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from memdlib.iterative_scaling import constant_step, varying_step
from memdlib.validation import check_choice, check_nonnegative, labelled_data

Array = NDArray[np.float64]

MAX_ITERATIONS = {"lbfgs": 1000, "iis": 20000, "gis": 50000, "gradient": 50000}


@dataclass(frozen=True)
class ConditionalDual:
    """Penalised negative log-likelihood of softmax regression, per unit of weight.

    Parameters
    ----------
    Z : ndarray or csr of shape (n, m)
        Features phi; the first column is the constant.
    share : ndarray of shape (n,)
        Instance weights, of sum one.
    observed : ndarray of shape (K, m)
        Observed moments E phi_j [c = k].
    penalty : ndarray of shape (m,)
        Coefficients of the squared parameters, times two.
    """

    Z: Array
    share: Array
    observed: Array
    penalty: Array

    @classmethod
    def of(cls, Z, codes, n_classes: int, weight: Array, penalty: Array):
        """Collect the observed moments of labelled data.

        Parameters
        ----------
        Z : ndarray or csr of shape (n, m)
        codes : ndarray of shape (n,)
            Class indices.
        n_classes : int
        weight : ndarray of shape (n,)
        penalty : ndarray of shape (m,)

        Returns
        -------
        ConditionalDual
        """
        share = weight / weight.sum()
        member = np.zeros((len(codes), n_classes))
        member[np.arange(len(codes)), codes] = share
        return cls(Z, share, (Z.T @ member).T, penalty / weight.sum())

    def evaluate(self, theta: Array) -> tuple[float, Array, Array]:
        """Value, gradient and class shares at scores Z theta^T.

        Parameters
        ----------
        theta : ndarray of shape (K, m)

        Returns
        -------
        value : float
            Nats, per unit of weight.
        gradient : ndarray of shape (K, m)
            Expected minus observed moments, plus the part of the penalty.
        shares : ndarray of shape (n, K)
            Weight of each instance times its class probabilities.
        """
        scores = self.Z @ theta.T
        log_total = logsumexp(scores, axis=1)
        shares = self.share[:, None] * np.exp(scores - log_total[:, None])
        value = self.share @ log_total - (self.observed * theta).sum()
        value += 0.5 * (self.penalty * theta**2).sum()
        gradient = (self.Z.T @ shares).T - self.observed + self.penalty * theta
        return float(value), gradient, shares


@dataclass(frozen=True)
class Optimum:
    """Where a solver stopped.

    Parameters
    ----------
    theta : ndarray of shape (K, m)
    history : ndarray of shape (iterations + 1,)
        Value of the dual at the start and after each step, in nats per unit of weight.
    residual : float
        Largest entry of the gradient: how far the moments are from matching.
    """

    theta: Array
    history: Array
    residual: float


def solve(dual: ConditionalDual, solver: str, tol: float, max_iter: int) -> Optimum:
    """Minimise the dual from zero.

    Parameters
    ----------
    dual : ConditionalDual
        With nonnegative features for "gis" and "iis".
    solver : {"lbfgs", "gis", "iis", "gradient"}
    tol : float
        Residual to stop at.
    max_iter : int

    Returns
    -------
    Optimum
    """
    if solver == "lbfgs":
        return _quasi_newton(dual, tol, max_iter)
    theta = np.zeros_like(dual.observed)
    state, length = dual.evaluate(theta), 1.0
    history = [state[0]]
    for _ in range(max_iter):
        if np.abs(state[1]).max() <= tol:
            break
        if solver == "gradient":
            theta, state, length = _descend(dual, theta, state, 2.0 * length)
        else:
            theta = theta + _scaling_step(dual, theta, state, solver)
            state = dual.evaluate(theta)
        history.append(state[0])
    return Optimum(theta, np.array(history), float(np.abs(state[1]).max()))


def _quasi_newton(dual: ConditionalDual, tol: float, max_iter: int) -> Optimum:
    shape, history = dual.observed.shape, []

    def function(flat):
        value, gradient, _ = dual.evaluate(flat.reshape(shape))
        return value, gradient.ravel()

    start = np.zeros(dual.observed.size)
    found = minimize(
        function,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: history.append(intermediate_result.fun),
        options={"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol, "ftol": 0},
    )
    residual = float(np.abs(found.jac).max())
    first = function(start)[0]
    return Optimum(found.x.reshape(shape), np.array([first, *history]), residual)


def _descend(dual, theta, state, length):
    """Gradient step, halved until the dual falls by half of the slope (Armijo)."""
    value, gradient, _ = state
    square = (gradient**2).sum()
    for _ in range(60):
        trial = theta - length * gradient
        reached = dual.evaluate(trial)
        if reached[0] <= value - 0.5 * length * square:
            return trial, reached, length
        length *= 0.5
    return theta, state, length


def _scaling_step(dual, theta, state, solver):
    _, gradient, shares = state
    expected = gradient + dual.observed - dual.penalty * theta
    parameters = dual.observed, expected, theta, dual.penalty
    if solver == "iis":
        return varying_step(dual.Z, shares, *parameters)
    return constant_step(float(np.max(dual.Z.sum(axis=1))), *parameters)


class ConditionalMaxEntClassifier(ClassifierMixin, BaseEstimator):
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
        2 / C). 0 is plain maximum entropy, which has no optimum where the classes are
        separable.
    tol : float, default=1e-6
        Largest difference between expected and observed moments to stop at, for
        features scaled to order one and weights of sum one.
    max_iter : int, default=None
        None takes 1000 steps for "lbfgs", 20000 for "iis", 50000 for the others.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    coef_ : ndarray of shape (K, d)
        Of sum zero over the classes, also for two.
    intercept_ : ndarray of shape (K,)
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

    def __init__(self, solver="lbfgs", l2=1.0, tol=1e-6, max_iter=None):
        self.solver = solver
        self.l2 = l2
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y, sample_weight=None):
        """Match the moments.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Finite; nonnegative if sparse and the solver is "gis" or "iis".
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
            On a single class, or a parameter out of range.

        Warns
        -----
        ConvergenceWarning
            If the moments are not matched to ``tol``, or if the classes are separable
            and ``l2`` is zero, so that no optimum exists.
        """
        solver = check_choice(self.solver, "solver", tuple(MAX_ITERATIONS))
        l2 = check_nonnegative(self.l2, "l2")
        tol = check_nonnegative(self.tol, "tol")
        max_iter = self._max_iter(solver)
        X, codes, weight, self.classes_ = labelled_data(self, X, y, sample_weight)
        shift, scale = _standard_units(X, weight, l2, solver in ("gis", "iis"))
        Z = _standardise(X, shift, scale)
        penalty = np.concatenate([[0.0], l2 / scale**2])
        dual = ConditionalDual.of(Z, codes, len(self.classes_), weight, penalty)
        found = solve(dual, solver, tol, max_iter)
        coef = found.theta[:, 1:] / scale
        intercept = found.theta[:, 0] - coef @ shift
        self.coef_ = coef - coef.mean(axis=0)
        self.intercept_ = intercept - intercept.mean()
        self.natural_params_ = -np.column_stack([self.intercept_, self.coef_])
        self.history_ = found.history
        self.n_iter_ = len(found.history) - 1
        self.moment_residual_ = found.residual
        self._warn(Z @ found.theta.T, codes, l2, tol, max_iter)
        return self

    def decision_function(self, X):
        """Scores whose softmax are the class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)

        Returns
        -------
        ndarray of shape (n, K), or (n,) for two classes
            For two classes the log-odds of the second.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X):
        """Class of each row of X (n, d), shape (n,)."""
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_log_proba(self, X):
        """Log posterior of each class, (n, K), in the order of ``classes_``."""
        return log_softmax(self._scores(X), axis=1)

    def predict_proba(self, X):
        """Posterior of each class, (n, K), in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = False
        return tags

    def _scores(self, X):
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        return X @ self.coef_.T + self.intercept_

    def _max_iter(self, solver):
        if self.max_iter is None:
            return MAX_ITERATIONS[solver]
        if isinstance(self.max_iter, Integral) and self.max_iter >= 1:
            return int(self.max_iter)
        raise ValueError(f"max_iter={self.max_iter!r} must be an integer >= 1, or None")

    def _warn(self, scores, codes, l2, tol, max_iter):
        rows = np.arange(len(codes))
        own = scores[rows, codes]
        others = scores.copy()
        others[rows, codes] = -np.inf
        separated = l2 == 0 and (own > others.max(axis=1)).all()
        if separated:
            text = (
                "the classes are linearly separable: without a penalty the likelihood "
                "has no maximum, and the parameters only tell where the solver "
                "stopped; use l2 > 0"
            )
        elif self.moment_residual_ > tol:
            ended = self.n_iter_ >= max_iter
            other = "" if self.solver == "lbfgs" else ', or solver="lbfgs"'
            text = (
                f"solver={self.solver!r} matched the moments to "
                f"{self.moment_residual_:.1e} only, in {self.n_iter_} steps; "
                f"{'raise max_iter or tol' if ended else 'raise tol'}, use a larger "
                f"l2{other}"
            )
        else:
            return
        warnings.warn(text, ConvergenceWarning, stacklevel=3)


def _standard_units(X, weight, l2: float, nonnegative: bool) -> tuple[Array, Array]:
    """Shift and scale that bring the features, or the curvatures, to order one.

    Features that must not be negative get the range [0, 1]. The others are divided by
    the root of their variance plus 4 l2 / total weight, after which the Hessian has
    diagonal entries of at most 1/4, whatever the units and the penalty; dense ones are
    centred before.
    """
    share = weight / weight.sum()
    if sparse.issparse(X):
        if nonnegative and X.nnz and X.data.min() < 0:
            raise ValueError(
                "Negative values in data: iterative scaling needs nonnegative "
                f"features, and the smallest value is {X.data.min()}; use "
                'X.toarray(), which is shifted, or solver="lbfgs"'
            )
        shift = np.zeros(X.shape[1])
        square = share @ X.astype(np.float64).power(2)
        width = X.max(axis=0).toarray().ravel() if nonnegative else np.sqrt(square)
    elif nonnegative:
        shift = X.min(axis=0).astype(np.float64)
        width = X.max(axis=0) - shift
    else:
        shift = share @ X.astype(np.float64, copy=False)
        width = np.sqrt(share @ (X - shift) ** 2)
    # what varies by rounding alone is constant
    width = np.where(width > 1e-12 * np.abs(shift), width, 0.0)
    if not nonnegative:
        width = np.sqrt(width**2 + 4.0 * l2 / weight.sum())
    return shift, np.where(width > 0, width, 1.0)


def _standardise(X, shift: Array, scale: Array):
    """Features (1, (x - shift) / scale)."""
    constant = np.ones((X.shape[0], 1))
    if sparse.issparse(X):
        return sparse.csr_array(sparse.hstack([constant, X.multiply(1.0 / scale)]))
    return np.hstack([constant, (X - shift) / scale])
