"""What every maximum-entropy family offers, built on three maps that each one supplies.

The Jensen-Shannon divergence has no closed form on a continuous support and is computed
by quadrature. Every feature has its own panels, the union of those of its classes, and
two Gauss-Legendre rules of different order are applied to each panel; their difference
estimates the error. The panels of features that miss the tolerance are halved.
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy import sparse

from memdlib.densities.support import gauss_legendre, powers
from memdlib.divergences import within_entropy
from memdlib.validation import check_domain, check_real_array

# Entries of (classes, features, nodes) arrays handled at a time: a MiB of doubles.
_BLOCK = 2**17
# Nodes on a panel of the two rules, and the most often that panels are halved.
_COARSE = 9
_FINE = 12
_HALVINGS = 4
# Densities at nodes that are computed at most, before panels are halved: some minutes.
_MOST_DENSITIES = 2**33

# Relative rounding error of class moments: an ulp or two for every batch merged.
ROUNDING = 2.0**10 * np.finfo(np.float64).eps


def as_floats(values):
    """Values as an array of float64."""
    return check_real_array(values, "values")


def as_parameters(values, n_moments=1):
    """Parameters (..., m) as an array of float64, of at least so many moments."""
    parameters = check_real_array(values, "parameters")
    if not parameters.ndim or parameters.shape[-1] < n_moments:
        raise ValueError(
            f"parameters have shape {parameters.shape}; expected (..., m), one number "
            f"for each of m >= {n_moments} moments"
        )
    return parameters


def as_weights(weights, mu):
    """Weights as an array of float64, one for each of K members mu (K, ...)."""
    w = as_floats(weights)
    if w.shape != mu.shape[:1]:
        raise ValueError(
            f"weights have shape {w.shape}; expected one for each of the members with "
            f"parameters of shape {mu.shape}"
        )
    return w


def jensen_shannon_quadrature(
    log_density,
    edges,
    weights,
    *,
    tol=1e-10,
):
    """Jensen-Shannon divergence of K densities of d features, by adaptive quadrature.

    Parameters
    ----------
    log_density : callable
        Maps points x (f, N) of the features with indices (f,) to log densities
        (K, f, N).
    edges : ndarray of shape (d, B)
        Edges of the panels, ascending, which cover all densities of a feature.
    weights : ndarray of shape (K,)
        Class weights, positive, that sum to one.
    tol : float, default=1e-10
        Error, in nats, above which panels are halved, four times at most.

    Returns
    -------
    value, error : ndarray of shape (d,)
        Nats, and an estimate of the error. A ValueError says how many densities would
        have to be computed if they are too many, as for thousands of classes.
    """
    n_densities = len(weights) * edges[:, 1:].size * (_COARSE + _FINE)
    if n_densities > _MOST_DENSITIES:
        raise ValueError(
            f"the Jensen-Shannon divergence of {len(weights)} classes by quadrature "
            f"takes {n_densities:.1e} values of their densities, or minutes to hours; "
            'use divergence="js_gm", which needs none'
        )
    value = np.empty(len(edges))
    error = np.empty(len(edges))
    pending = np.arange(len(edges))
    for _ in range(_HALVINGS + 1):
        value[pending], error[pending] = _with_error(
            log_density, edges, pending, weights
        )
        # the negation counts an error that is not a number as too large
        missed = ~(error[pending] <= tol)
        pending = pending[missed]
        edges = edges[missed]
        if not pending.size:
            break
        middle = 0.5 * (edges[:, 1:] + edges[:, :-1])
        edges = np.sort(np.concatenate([edges, middle], axis=1), axis=1)
    return within_entropy(value, weights), error


def _with_error(log_density, edges, features, weights):
    """Divergences of features (f,) and their errors, (2, f), from edges (f, B)."""
    value_error = np.empty((2, len(features)))
    n_nodes = (edges.shape[1] - 1) * (_COARSE + _FINE)
    step = max(1, _BLOCK // (n_nodes * len(weights)))
    for start in range(0, len(features), step):
        block = slice(start, start + step)
        panels = log_density, edges[block], features[block], weights
        coarse = _jensen_shannon(*panels, _COARSE)
        fine = _jensen_shannon(*panels, _FINE)
        value_error[:, block] = fine, np.abs(fine - coarse)
    return value_error


def _jensen_shannon(log_density, edges, features, weights, n_nodes):
    """Divergences (f,) of some features by one rule on panels with edges (f, B)."""
    # all panels at a time, unless there are many classes, each with panels of its own
    step = max(1, _BLOCK // (len(edges) * len(weights) * n_nodes))
    value = np.zeros(len(edges))
    for start in range(0, edges.shape[1] - 1, step):
        panels = edges[:, start : start + step + 1]
        value += _on_panels(log_density, panels, features, weights, n_nodes)
    return value


def _on_panels(log_density, edges, features, weights, n_nodes):
    """Integrals (f,) of the divergence over panels with edges (f, B), by one rule."""
    nodes, rule = gauss_legendre(n_nodes)
    half = 0.5 * np.diff(edges)[..., None]
    # from the left edge, which takes one rounding less than from the middle
    x = edges[:, :-1, None] + half * (nodes + 1.0)
    dx = half * rule
    n_features = len(edges)
    log_p = log_density(x.reshape(n_features, -1), features)
    integrand = _divergence_density(log_p, weights)
    return (dx.reshape(n_features, -1) * integrand).sum(axis=1)


def _divergence_density(log_p, weights):
    """Integrand (f, N) of the divergence, from log densities (K, f, N).

    With the mixture q and r = log(p_k / q) it is the sum of w_k (p_k r - p_k + q) over
    the classes, or of w_k q (r exp(r) - exp(r) + 1): neither is negative, the former
    does not overflow, and the latter does not cancel near r = 0.
    """
    # the peak is taken out so that the mixture does not underflow; it stays finite
    # where no class has any density
    peak = np.maximum(log_p.max(axis=0), np.finfo(np.float64).min)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_q = peak + np.log(np.tensordot(weights, np.exp(log_p - peak), 1))
        r = np.where(np.isneginf(log_q), 0.0, log_p - log_q)
        p = np.exp(log_p)
        q = np.exp(log_q)
        near = np.abs(r) < 1.0
        growth = np.expm1(np.where(near, r, 0.0))
        close = q * (r * (growth + 1.0) - growth)
        apart = np.where(p > 0, p * (r - 1.0), 0.0) + q
    return np.tensordot(weights, np.where(near, close, apart), 1)


class Family(ABC):
    """A maximum-entropy family: a pair of inverse maps and a log-normaliser.

    A subclass states ``name`` and supplies :meth:`natural`, :meth:`mean`,
    :meth:`log_normaliser` and :meth:`log_density`. The rest has a default here, which a
    subclass overrides where a closed form is better conditioned.

    Attributes
    ----------
    name : str
    axes : tuple of int
        Last axes of the parameters, which belong to one density: the last one, of its m
        moments, unless a family says otherwise. "(..., m)" below stands for them.

    Notes
    -----
    Methods that compare classes take ``location``, the points about which the mean
    parameters of each class are taken, as :func:`memdlib.moments.class_moments` returns
    them; its first axis runs over the classes, and None means that all classes are
    taken about the same point. Only families that translate have moments about other
    points than zero: the others ignore ``location``.
    """

    axes = (-1,)

    @abstractmethod
    def natural(self, mu):
        """Natural parameters of mean parameters.

        Parameters
        ----------
        mu : array_like of shape (..., m)
            Mean parameters.

        Returns
        -------
        ndarray of shape (..., m)
            Natural parameters lambda. A ValueError names the first entry of ``mu``
            that no member of the family has.
        """

    @abstractmethod
    def mean(self, lam):
        """Mean parameters of natural parameters, the inverse of :meth:`natural`.

        Parameters
        ----------
        lam : array_like of shape (..., m)
            Natural parameters lambda.

        Returns
        -------
        ndarray of shape (..., m)
            Mean parameters. A ValueError names the first entry of ``lam`` with which
            there is no density.
        """

    @abstractmethod
    def log_normaliser(self, lam):
        """Log-normaliser psi(lambda) = lambda_0; its gradient is -mu.

        Parameters
        ----------
        lam : array_like of shape (..., m)
            Natural parameters lambda.

        Returns
        -------
        ndarray of shape (...)
        """

    @abstractmethod
    def log_density(self, X, lam):
        """Log density -lambda_0 - lambda . phi(x) + log base measure.

        Parameters
        ----------
        X : array_like
            Points x.
        lam : array_like of shape (..., m)
            Natural parameters lambda.

        Returns
        -------
        ndarray
            Nats.
        """

    def entropy(self, mu):
        """Entropy lambda_0 + lambda . mu relative to the base measure.

        Parameters
        ----------
        mu : array_like of shape (..., m)
            Mean parameters.

        Returns
        -------
        ndarray of shape (...)
            Nats.
        """
        mu = as_parameters(mu)
        lam = self.natural(mu)
        return self.log_normaliser(lam) + (lam * mu).sum(axis=self.axes)

    def kl(self, mu1, mu2):
        """Kullback-Leibler divergence KL(p_1 || p_2) of two members.

        Parameters
        ----------
        mu1, mu2 : array_like of shape (..., m)
            Mean parameters, taken about the same point.

        Returns
        -------
        ndarray of shape (...)
            Nats.
        """
        mu1 = as_parameters(mu1)
        lam1 = self.natural(mu1)
        lam2 = self.natural(mu2)
        psi_change = self.log_normaliser(lam2) - self.log_normaliser(lam1)
        linear = ((lam2 - lam1) * mu1).sum(axis=self.axes)
        return np.maximum(psi_change + linear, 0.0)

    def jeffreys(
        self,
        mu1,
        mu2,
        location=None,
    ):
        """Jeffreys divergence J(p_1, p_2) = (lambda_2 - lambda_1) . (mu_1 - mu_2).

        Parameters
        ----------
        mu1, mu2 : array_like of shape (..., m)
            Mean parameters.
        location : array_like of shape (2, ...), default=None
            Points that ``mu1`` and ``mu2`` are taken about; see the notes of
            :class:`Family`.

        Returns
        -------
        ndarray of shape (...)
            Nats.

        References
        ----------
        .. [1] Dukkipati et al., ICDM 2013, eq. 19.
        """
        mu1 = as_parameters(mu1)
        mu2 = as_parameters(mu2)
        lam_change = self.natural(mu2) - self.natural(mu1)
        return (lam_change * (mu1 - mu2)).sum(axis=self.axes)

    def js_gm(
        self,
        mu,
        weights,
        lam=None,
        location=None,
    ):
        """JS_GM of K members = -Cov_weights(lambda, mu), in O(K).

        Parameters
        ----------
        mu : array_like of shape (K, ..., m)
            Mean parameters.
        weights : array_like of shape (K,)
            Class weights that sum to one.
        lam : array_like of shape (K, ..., m), default=None
            Natural parameters, where they are known already; families with a closed
            form ignore them.
        location : array_like of shape (K, ...), default=None
            Points that the members are taken about; see the notes of :class:`Family`.

        Returns
        -------
        ndarray of shape (...)
            Nats.

        References
        ----------
        .. [1] Dukkipati et al., ICDM 2013, eq. 23 and 24.
        """
        mu = as_parameters(mu)
        w = as_weights(weights, mu)
        if lam is None:
            lam = self.natural(mu)
        heaviest = np.argmax(w)
        centred = mu - mu[heaviest]
        centred -= np.tensordot(w, centred, 1)
        covariance = np.tensordot(w, (lam - lam[heaviest]) * centred, 1)
        return np.maximum(-covariance.sum(axis=self.axes), 0.0)


class MarginalFamily(Family):
    """A family of one feature at a time, with power moments as sufficient statistics.

    A subclass also states ``n_moments``; the methods below say how its members follow
    from data, one feature at a time. A family that ``translates`` must override the
    methods that take ``location``.

    Attributes
    ----------
    n_moments : int
        Number m of power moments x, x^2, ..., x^m.
    translates : bool
        Whether a shift of x stays inside the family; moments are then taken about a
        location near the data, so that they keep their digits.
    nonnegative : bool
        Whether the support excludes negative values.
    """

    translates = False
    nonnegative = False

    def log_base_measure(self, x):
        """Log density of the base measure at x, zero unless a family says otherwise."""
        return np.zeros(np.shape(x))

    @abstractmethod
    def observe(self, X):
        """Check data against the support; return the values whose moments are taken.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n, d)

        Returns
        -------
        {ndarray, sparse matrix} of shape (n, d)
            X itself, unless a family takes the moments of other values. A ValueError
            names a value that lies outside the support.
        """

    def regularise(
        self,
        mu,
        weight,
        *,
        variance_shrinkage,
        alpha,
        location=None,
    ):
        """Move class mean parameters off the boundary, where no density exists.

        Parameters
        ----------
        mu : ndarray of shape (..., K, d, m)
        weight : ndarray of shape (..., K) or (..., K, d)
            Total instance weight of each class, or of its cells that are not missing.
        variance_shrinkage : float in [0, 1]
            Pull of class variances towards the pooled within-class variance.
        alpha : float >= 0
            Weight, in instances, of the pooled mean added to each class.
        location : ndarray of shape (..., K, d), default=None
            Points that the classes are taken about; see the notes of :class:`Family`.

        Returns
        -------
        ndarray of shape (..., K, d, m)
        """
        return mu

    def choose_shrinkage(self, mu, weight):
        """Shrinkage that the moments suggest, zero unless a family says otherwise.

        Parameters
        ----------
        mu : ndarray of shape (K, d, m)
            Class mean parameters.
        weight : ndarray of shape (K,) or (K, d)
            As for :meth:`regularise`.

        Returns
        -------
        float in [0, 1]
        """
        return 0.0

    def log_density(self, X, lam):
        """Log density at x, one feature at a time.

        Parameters
        ----------
        X : array_like of shape (...)
            Points x, which broadcast against the leading axes of ``lam``.
        lam : array_like of shape (..., m)
            Natural parameters.

        Returns
        -------
        ndarray of shape (...)
            Nats.
        """
        x = as_floats(X)
        lam = as_parameters(lam)
        linear = (lam * powers(x, self.n_moments)).sum(axis=-1)
        return self.log_base_measure(x) - self.log_normaliser(lam) - linear

    def jensen_shannon(
        self,
        mu,
        weights,
        location=None,
    ):
        """Jensen-Shannon divergence of K members, by quadrature or by summation.

        Parameters
        ----------
        mu : array_like of shape (K, d, m)
            Mean parameters.
        weights : array_like of shape (K,)
            Class weights that sum to one.
        location : array_like of shape (K, d), default=None
            Points that the members are taken about; see the notes of :class:`Family`.

        Returns
        -------
        value, error : ndarray of shape (d,)
            Nats, and an estimate of the error.
        """
        mu, w, _ = drop_weightless(mu, weights)
        lam = self.natural(mu)
        edges = np.concatenate([self.panels(member) for member in mu], axis=1)
        edges.sort(axis=1)

        def log_density(x, features):
            return self.log_density(x, lam[:, features, None, :])

        return jensen_shannon_quadrature(log_density, edges, w)

    def panels(self, mu):
        """Edges of panels for quadrature that cover members and are smooth inside.

        Parameters
        ----------
        mu : ndarray of shape (d, m)
            Mean parameters of one member for every feature.

        Returns
        -------
        ndarray of shape (d, B)
            Ascending edges.
        """
        raise NotImplementedError(
            f"{type(self).__name__} does not state where its densities lie; define "
            "panels, or jensen_shannon itself"
        )


class NonnegativeFamily(MarginalFamily):
    """A family on values, or on indicators, >= 0 whose only moment is the mean."""

    n_moments = 1
    nonnegative = True

    def observe(self, X):
        """Return X (n, d); a ValueError names the least value if it is below zero."""
        values = X.data if sparse.issparse(X) else X
        if (values < 0).any():
            raise ValueError(
                f"Negative values in data: the family {self.name!r} has the support "
                f"x >= 0, and the smallest value is {np.nanmin(values)}"
            )
        return X

    def jeffreys(
        self,
        mu1,
        mu2,
        location=None,
    ):
        """J(p_1, p_2) (...), nats, as a sum of terms that are never negative."""
        return self.kl(mu1, mu2) + self.kl(mu2, mu1)

    def regularise(
        self,
        mu,
        weight,
        *,
        variance_shrinkage,
        alpha,
        location=None,
    ):
        """Add ``alpha`` instances at the pooled mean to every class.

        A feature that is zero throughout gets the mean 1 in every class, so that it
        carries no information. ``variance_shrinkage`` and ``location`` have no effect.

        Parameters
        ----------
        mu, weight, variance_shrinkage, alpha, location
            As for :meth:`MarginalFamily.regularise`.

        Returns
        -------
        ndarray of shape (..., K, d, m)
        """
        smooth, pooled, _ = smooth_towards_pooled(mu, weight, alpha)
        np.copyto(smooth, 1.0, where=pooled == 0)
        return smooth

    def _positive(self, mu):
        """Mean parameters (..., m) as float64, checked to be above zero."""
        mu = as_parameters(mu)
        article = "an" if self.name[0] in "aeiou" else "a"
        remedy = f"{article} {self.name} density needs a mean above zero"
        check_domain(mu > 0, mu, "mean", f"{remedy}; use alpha > 0")
        return mu


def drop_weightless(mu, weights, location=None):
    """Members of positive weight, their weights with sum one, and their locations.

    Parameters
    ----------
    mu : array_like of shape (K, d, m)
    weights : array_like of shape (K,)
    location : ndarray of shape (K, d), default=None

    Returns
    -------
    mu : ndarray of shape (K', d, m)
    weights : ndarray of shape (K',)
    location : ndarray of shape (K', d) or None
    """
    mu = as_parameters(mu)
    if mu.ndim != 3:
        raise ValueError(f"parameters have shape {mu.shape}; expected (K, d, m)")
    w = as_weights(weights, mu)
    positive = w > 0
    mu = mu[positive]
    if location is not None:
        location = location[positive]
    return mu, w[positive] / w.sum(), location


def smooth_towards_pooled(mu, weight, alpha):
    """Add ``alpha`` instances at the pooled mean to every class.

    Parameters
    ----------
    mu : ndarray of shape (..., K, d, m)
    weight : ndarray of shape (..., K) or (..., K, d)
    alpha : float >= 0

    Returns
    -------
    smooth : ndarray of shape (..., K, d, m)
        Mean parameters of each class with those instances; a new array.
    pooled : ndarray of shape (..., 1, d, m)
        Mean parameters of all classes together.
    total : ndarray of shape (..., 1, d, 1) or (..., 1, 1, 1)
        Weight of all classes together.
    """
    count = by_feature(weight, mu)
    pooled = np.einsum("...kd,...kdm->...dm", class_fractions(count), mu)
    pooled = pooled[..., None, :, :]
    count = count[..., None]
    total = count.sum(axis=-3, keepdims=True)
    if not alpha:
        return mu.copy(), pooled, total
    total_count = count + alpha
    smooth = count / total_count * mu
    smooth += alpha / total_count * pooled
    return smooth, pooled, total


def by_feature(weight, mu):
    """Weights (..., K) or (..., K, d) so shaped that they broadcast to (..., K, d)."""
    if weight.ndim == mu.ndim - 1:
        return weight
    return weight[..., None]


def class_fractions(count):
    """Fraction of the weight of a feature that each class has, of weights (..., K, d).

    Zero where no class has any weight.
    """
    total = count.sum(axis=-2, keepdims=True)
    return count / np.where(total > 0, total, 1.0)
