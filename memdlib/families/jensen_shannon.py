"""Jensen-Shannon divergence of densities by quadrature, with an error estimate.

Every feature has its own panels, the union of those of its classes, and on each panel
two Gauss-Legendre rules of different order; their difference estimates the error.
Panels of features that miss the tolerance are halved.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from memdlib.densities.support import gauss_legendre

Array = NDArray[np.float64]

# Entries of the (features, nodes, classes) array handled at a time.
_BLOCK = 2**21
_COARSE, _FINE = 9, 12
_HALVINGS = 4


def jensen_shannon_quadrature(
    log_density: Callable[[Array, NDArray[np.intp]], Array],
    edges: Array,
    weights: Array,
    *,
    tol: float = 1e-10,
) -> tuple[Array, Array]:
    """Jensen-Shannon divergence of K densities, for d features at once.

    Parameters
    ----------
    log_density : callable
        Maps points x (f, N) of the features with indices (f,) to log densities
        (K, f, N).
    edges : ndarray of shape (d, B)
        Ends of panels, ascending, which cover all densities of a feature.
    weights : ndarray of shape (K,)
        Positive, of sum one.
    tol : float, default=1e-10
        Error, in nats, above which panels are halved, four times at most.

    Returns
    -------
    value : ndarray of shape (d,)
        Nats.
    error : ndarray of shape (d,)
        Estimate of the error, in nats: difference of two rules.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import norm
    >>> def log_density(x, features):
    ...     return np.stack([norm.logpdf(x, -9.0), norm.logpdf(x, 9.0)])
    >>> edges = np.linspace(-18, 18, 25)[None]
    >>> value, error = jensen_shannon_quadrature(log_density, edges, np.full(2, 0.5))
    >>> bool(abs(value[0] - np.log(2)) < 1e-9)
    True
    """
    value, error = np.empty((2, len(edges)))
    pending = np.arange(len(edges))
    for _ in range(_HALVINGS + 1):
        n_nodes = (edges.shape[1] - 1) * (_COARSE + _FINE)
        step = max(1, _BLOCK // (n_nodes * len(weights)))
        for start in range(0, len(pending), step):
            rows = pending[start : start + step]
            coarse, fine = (
                _integrate(log_density, edges[start : start + step], rows, weights, n)
                for n in (_COARSE, _FINE)
            )
            value[rows], error[rows] = fine, np.abs(fine - coarse)
        missed = error[pending] > tol
        pending, edges = pending[missed], _halve(edges[missed])
        if not pending.size:
            break
    return value, error


def _integrate(log_density, edges, features, weights, n_nodes) -> Array:
    nodes, rule = gauss_legendre(n_nodes)
    half = 0.5 * np.diff(edges)[..., None]
    x = edges[:, :-1, None] + half * (nodes + 1.0)
    mass = (half * rule).reshape(len(edges), -1)
    log_p = log_density(x.reshape(len(edges), -1), features)
    log_mixture = logsumexp(log_p + np.log(weights)[:, None, None], axis=0)
    with np.errstate(invalid="ignore"):
        r = np.where(np.isneginf(log_mixture), 0.0, log_p - log_mixture)
        # q g(r) = p log(p/q) - p + q: terms that are never negative
        excess = np.where(np.isneginf(r), 1.0, r * np.exp(r) - np.expm1(r))
    density = np.einsum("k,kfn->fn", weights, excess) * np.exp(log_mixture)
    return (mass * density).sum(axis=1)


def _halve(edges: Array) -> Array:
    finer = np.empty((len(edges), 2 * edges.shape[1] - 1))
    finer[:, ::2] = edges
    finer[:, 1::2] = 0.5 * (edges[:, 1:] + edges[:, :-1])
    return finer
