"""Discriminative maximum entropy: p(c | x) under the moments E phi(x, c).

Among all conditional distributions with the observed moments of x_j [c = k] and
[c = k], the one of largest entropy is softmax regression,

    p(c | x) = exp(-lambda_c . phi(x)) / Z(x),    phi(x) = (1, x_1, ..., x_d),

and its dual is the log-likelihood. Three solvers reach the same optimum.
"""

import warnings
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from memdlib._sklearn import StrOptions
from memdlib.conditional.dual import ConditionalDual, has_optimum, separates, solve
from memdlib.estimator import BayesClassifier
from memdlib.validation import (
    COUNT,
    POSITIVE,
    Interval,
    restore_on_error,
    validate_labelled,
)

MAX_ITERATIONS = {"lbfgs": 1000, "gis": 10000, "iis": 10000}


class ConditionalMaxEntClassifier(BayesClassifier):
    """Discriminative maximum entropy (DME), also known as softmax regression.

    The conditional distribution of largest entropy whose moments E x_j [c = k] and
    E [c = k] equal those of the training rows; with a finite ``C`` their totals over
    the rows agree up to the coefficient divided by ``C``.

    Parameters
    ----------
    solver : {"lbfgs", "gis", "iis"}, default="lbfgs"
        "lbfgs" is a quasi-Newton method. Generalised ("gis") and improved ("iis")
        iterative scaling reach the same optimum slowly; they are included for study.
    C : float > 0, default=1.0
        Inverse of the strength of regularisation, as in
        :class:`sklearn.linear_model.LogisticRegression`: the squared coefficients times
        1 / (2 C) are subtracted from the total log-likelihood, so that smaller values
        regularise more strongly. ``np.inf`` is plain maximum entropy, which has no
        optimum if classes are linearly separable. For two classes, whose coefficients
        are here of opposite sign and half the size, scikit-learn's ``C`` is twice this.
    fit_intercept : bool, default=True
        Whether the class frequencies, E [c = k], are among the moments. Their
        parameters, the intercepts, are not penalised.
    tol : float > 0, default=1e-6
        Stop when no expected moment differs from the observed one by more than this,
        for features scaled to order one and weights that sum to one.
    max_iter : int, default=None
        Largest number of steps; None is 1000 for "lbfgs", 10000 for the others. On tens
        of rows 10000 steps take seconds, and the time grows with the size of X.
    class_weight : dict or "balanced", default=None
        Factors of the instance weights, {class: factor > 0}, 1 for other classes.
        "balanced" makes the total weights of all classes equal.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Class labels.
    coef_ : ndarray of shape (K, d)
        Coefficients, which sum to zero over the classes, also for two classes.
    intercept_ : ndarray of shape (K,)
        Intercepts, which sum to zero; zero without ``fit_intercept``.
    natural_params_ : ndarray of shape (K, d + 1)
        lambda in p(c | x) = exp(-lambda_c . (1, x)) / Z(x): minus the intercepts and
        coefficients.
    history_ : ndarray of shape (number of steps + 1,)
        Penalised negative log-likelihood per unit of weight, in nats, at the start and
        after each step.
    n_iter_ : int
        Number of steps.
    moment_residual_ : float
        Certificate: the difference that ``tol`` bounds.
    n_features_in_ : int
        Number of features seen in :meth:`fit`.
    feature_names_in_ : ndarray of shape (d,)
        Only if X has column names that are all strings.

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
    >>> clf = ConditionalMaxEntClassifier(C=10.0).fit(X[::2], y[::2])
    >>> round(clf.score(X[1::2], y[1::2]), 3)
    0.973
    """

    _parameter_constraints = {
        "solver": [StrOptions(set(MAX_ITERATIONS))],
        "C": [Interval(Real, 0, None, closed="right")],
        "fit_intercept": ["boolean"],
        "tol": [POSITIVE],
        "max_iter": [COUNT, None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self,
        solver="lbfgs",
        *,
        C=1.0,
        fit_intercept=True,
        tol=1e-6,
        max_iter=None,
        class_weight=None,
    ):
        self.solver = solver
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight

    @property
    def _weights_count_rows(self):
        """Whether there is a penalty, which the total weight is compared with."""
        return self.C < np.inf

    @restore_on_error
    def fit(self, X, y, sample_weight=None):
        """Fit the model by matching the moments.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Finite. For "gis" and "iis" it must be nonnegative if it is sparse or if
            there is no intercept; otherwise it is shifted.
        y : array-like of shape (n,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Counts of rows: a weight of 2 is equivalent to repeating the row. Divide
            weights on any other scale by their mean. None gives every row the weight 1.
            The penalty is compared with their sum.

        Returns
        -------
        self

        Warns
        -----
        UserWarning
            If the weights of several rows sum to one or less and ``C`` is finite.
        ConvergenceWarning
            If the moments are not matched to ``tol``, or if class means far apart (for
            dense X) or, without an intercept, far from zero conceal that; or if ``C``
            is infinite and classes are separable, even if only some of them are: then
            there is no optimum.
        """
        X, codes, weight, self.classes_ = validate_labelled(
            self, X, y, sample_weight, class_weight=self.class_weight
        )
        l2 = 1.0 / self.C
        Z, shift, scale = _design_matrix(
            X,
            weight,
            fit_intercept=self.fit_intercept,
            nonnegative=self.solver != "lbfgs",
            l2=l2,
        )
        penalty = l2 / scale / scale
        if self.fit_intercept:
            penalty = np.append(0.0, penalty)
        dual = ConditionalDual.of(Z, codes, len(self.classes_), weight, penalty)
        max_iter = self.max_iter or MAX_ITERATIONS[self.solver]
        optimum = solve(dual, codes, self.solver, self.tol, max_iter)
        self._set_parameters(optimum.theta, shift, scale)
        self.history_ = optimum.history
        self.n_iter_ = len(optimum.history) - 1
        self.moment_residual_ = optimum.residual
        message = self._convergence_message(dual, codes, optimum)
        if message:
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
        self._warn_of_outcome(X, codes, weight)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _joint_log_density(self, X):
        """Log p(c | x) up to what is common to all classes, (n, K)."""
        return X @ self.coef_.T + self.intercept_

    def _set_parameters(self, theta, shift, scale):
        """Set the parameters for X from theta (K, m) for the design matrix."""
        coef = theta[:, -len(scale) :] / scale
        intercept = -coef @ shift
        if self.fit_intercept:
            intercept += theta[:, 0]
        self.coef_ = coef - coef.mean(axis=0)
        self.intercept_ = intercept - intercept.mean()
        # Adding zero turns -0.0 into 0.0.
        self.natural_params_ = 0.0 - np.column_stack([self.intercept_, self.coef_])

    def _convergence_message(self, dual, codes, optimum):
        """The warning that the optimum calls for; empty if all is well."""
        if self.C == np.inf and separates(dual.Z, codes, optimum.theta):
            return (
                "classes are linearly separable, so that without a penalty there is no "
                "optimum; use a finite C"
            )
        may_be_separable = self.C == np.inf and not has_optimum(dual, codes, optimum)
        if not optimum.residual <= self.tol:
            message = (
                f"solver={self.solver!r} matched the moments to {optimum.residual:.1e} "
                "only; raise max_iter or tol, or use a smaller C"
            )
            if may_be_separable:
                message += "; if classes are linearly separable, C=inf has no optimum"
            return message
        if may_be_separable:
            return (
                "classes seem to be linearly separable, at least in part: without a "
                "penalty there is no optimum then; use a finite C, or a smaller tol"
            )
        misfit = _relative_misfit(dual, codes, optimum.theta, self.fit_intercept)
        if not misfit <= self.tol:
            remedy = "fit_intercept=True, or StandardScaler"
            if self.fit_intercept:
                remedy = "QuantileTransformer"
            return (
                "means far apart, or far from zero, conceal how the features vary, "
                f"which was matched to {misfit**0.5:.1e} only; use {remedy}"
            )
        return ""


def _relative_misfit(dual, codes, theta, fit_intercept):
    """Largest squared misfit of the moments of a class, relative to their spread.

    The gradient g (K, m) is measured by g' (diag(v) + m m')^-1 g for variances v and
    means m of the features: within classes and from their means if there is an
    intercept, else of all instances and from zero.
    """
    _, gradient, _ = dual.evaluate(theta)
    if fit_intercept:
        if sparse.issparse(dual.Z):
            return 0.0
        # The first feature is constant, so that its moments are the class frequencies.
        class_means = dual.observed / dual.observed[:, :1]
        variance = dual.share @ (dual.Z - class_means[codes]) ** 2
        mean = np.zeros_like(variance)
    else:
        mean = dual.share @ dual.Z
        variance = dual.share @ dual.Z**2 - mean**2
        variance = np.maximum(variance, np.finfo(np.float64).eps)
    # A constant feature conceals nothing.
    variance = np.where(variance > 1e-30, variance, 1.0) + dual.penalty
    # The inverse by the formula of Sherman and Morrison.
    misfit = (gradient**2 / variance).sum(axis=1)
    along_mean = (gradient * mean / variance).sum(axis=1)
    correction = along_mean**2 / (1.0 + (mean**2 / variance).sum())
    return (misfit - correction).max()


def _design_matrix(X, weight, *, fit_intercept, nonnegative, l2):
    """Features (X - shift) / scale of order one, after a column of ones if asked for.

    Features are shifted if there is an intercept, by their minima if the design matrix
    must be ``nonnegative``, else by their means. The scale is their maximum or root
    mean square, and at least that of the penalty. Returns the design matrix (n, d or
    d + 1), dense or csr as X is, with shift (d,) and scale (d,).
    """
    is_sparse = sparse.issparse(X)
    if nonnegative and (is_sparse or not fit_intercept) and X.min() < 0:
        raise ValueError(
            "Negative values in data: iterative scaling shifts dense features with an "
            'intercept only; use solver="lbfgs"'
        )
    X = sparse.csr_array(X, dtype=np.float64) if is_sparse else X.astype(np.float64)
    share = weight / weight.sum()
    shift = np.zeros(X.shape[1])
    if fit_intercept:
        shift = _shift(X, share, nonnegative)
        X = _minus_row(X, shift)
    scale = _to_dense(X.max(axis=0)) if nonnegative else np.sqrt(share @ X**2)
    # A feature that varies by rounding alone is constant.
    scale[scale <= 1e-12 * np.abs(shift)] = 0.0
    # Diagonal entries of the Hessian are then at most 1/4, whatever the penalty.
    scale = np.hypot(scale, 2.0 * np.sqrt(l2 / weight.sum()))
    scale[scale == 0] = 1.0
    Z = X.multiply(1.0 / scale).tocsr() if is_sparse else X / scale
    if fit_intercept:
        Z = _with_ones(Z)
    return Z, shift, scale


def _shift(X, share, nonnegative):
    """What is subtracted from the features of X (n, d): their minima or means (d,)."""
    if nonnegative:
        return _to_dense(X.min(axis=0))
    mean = share @ X
    if sparse.issparse(X):
        # To stay sparse, a feature that is zero for half of the weight is not shifted.
        # Its variance is at least half of its mean square.
        mean[share @ (X != 0) <= 0.5] = 0.0
    return mean


def _minus_row(X, row):
    """X (n, d) minus a row (d,), which stays sparse if X is."""
    if not sparse.issparse(X):
        return X - row
    ones = sparse.csr_array(np.ones((X.shape[0], 1)))
    return X - ones @ sparse.csr_array(row[None])


def _with_ones(Z):
    """Z (n, d) after a column of ones: (n, d + 1), csr if Z is sparse."""
    ones = np.ones((Z.shape[0], 1))
    if sparse.issparse(Z):
        return sparse.hstack([ones, Z], format="csr")
    return np.hstack([ones, Z])


def _to_dense(row):
    """A row (d,), as an array also if it is sparse."""
    return row.toarray() if sparse.issparse(row) else row
