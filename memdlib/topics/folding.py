"""Topics of documents under given topics of words: a convex problem for each document.

The log-likelihood sum_w c_w log sum_z theta_z Q_zw is concave in theta. Its maximum on
the simplex is found by a primal-dual interior-point method, and certified by the dual.
"""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack
from sklearn.exceptions import ConvergenceWarning

Array = NDArray[np.float64]

# Sum of counts above which its products with logarithms may be no numbers.
MOST = 1e305
_MAX_STEPS = 100
# Nats a count, far above the rounding of a gradient.
_TOLERANCE = 1e-9
# Share of the way to the boundary that a step may go.
_REACH = 0.995


def fold_in(counts, components: Array, prior: Array) -> tuple[Array, Array]:
    """Most likely topics of each document, the topics of words being given.

    Parameters
    ----------
    counts : ndarray or csr_array of shape (n_documents, n_words)
        Nonnegative.
    components : ndarray of shape (n_topics, n_words)
        Q_zw = P(w | z).
    prior : ndarray of shape (n_topics,)
        P(z): what a document without known words gets. A topic of prior zero is left
        out.

    Returns
    -------
    theta : ndarray of shape (n_documents, n_topics)
        P(z | d). Words that no topic can give are passed over. Where several theta
        are most likely, one in their midst.
    gap : ndarray of shape (n_documents,)
        Certificate, in nats: no theta has a log-likelihood larger by more.

    Raises
    ------
    ValueError
        If the counts of a document sum to 1e305 or more.

    Warns
    -----
    ConvergenceWarning
        If a gap is above 1e-9 nats a count.

    Notes
    -----
    With g_z = sum_w c_w Q_zw / P_w and n counts, log x <= x - 1 gives for every other
    theta' a log-likelihood that is larger by n log(max_z g_z / n) at most.

    References
    ----------
    .. [1] Hofmann, Unsupervised learning by probabilistic latent semantic analysis,
       Machine Learning 42 (2001), on folding-in.

    Examples
    --------
    >>> import numpy as np
    >>> Q = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    >>> theta, gap = fold_in(np.array([[3.0, 4.0, 1.0]]), Q, np.array([0.5, 0.5]))
    >>> theta.round(6).tolist(), bool(gap[0] < 1e-8)
    ([[0.75, 0.25]], True)
    """
    n = counts.shape[0]
    theta, gap = np.tile(prior, (n, 1)), np.zeros(n)
    used = np.flatnonzero(prior > 0)
    words = np.ascontiguousarray(components[used].T)
    known = words.any(axis=1)
    worst = 0.0
    for d in range(n):
        if sparse.issparse(counts):
            part = slice(counts.indptr[d], counts.indptr[d + 1])
            place, number = counts.indices[part], counts.data[part]
        else:
            place = np.flatnonzero(counts[d])
            number = counts[d, place]
        kept = known[place] & (number > 0)
        place, number = place[kept], number[kept]
        if place.size:
            with np.errstate(over="ignore"):  # refused in the next line
                length = number.sum()
            if not length < MOST:
                raise ValueError(
                    f"row {d} of the counts, with {number.max():.6g} at most, sums to "
                    f"{length:.6g}, which leaves its logarithms no room among numbers; "
                    "divide the row by its largest value"
                )
            share = number / length
            seen = share > 0  # others are lost beside the largest count
            found, shortfall = _best_mixture(share[seen], words[place[seen]])
            theta[d] = 0.0
            theta[d, used] = found
            gap[d] = length * shortfall
            worst = max(worst, shortfall)
    if worst > _TOLERANCE:
        warnings.warn(
            f"the topics of a document are certified to {worst:.1e} nats a count only; "
            "counts or topics that span many orders of magnitude leave too few digits: "
            "drop the rarest words, or use smoothing in PLSA",
            ConvergenceWarning,
            stacklevel=3,
        )
    return theta, gap


def _best_mixture(share: Array, members: Array) -> tuple[Array, float]:
    """Maximise sum_w share_w log (members @ theta)_w; shares add up to one.

    Newton on the conditions grad f = s, theta s = mu, where f is sum(theta) less the
    objective: its minimum over theta >= 0 has sum one by itself.
    """
    n_topics = members.shape[1]
    # a word of tiny probability under all topics would spoil the digits of the others
    members = members / members.max(axis=1, keepdims=True)
    theta, slack = np.full(n_topics, 1.0 / n_topics), np.ones(n_topics)
    best, least = theta, np.inf
    for _ in range(_MAX_STEPS):
        ratio = share / (members @ theta)
        pull = ratio @ members
        # at the sum of one that scaling gives, the best along a ray
        gap = np.log(max(pull.max() * theta.sum(), 1.0))
        if gap < least:
            best, least = theta / theta.sum(), gap
        if gap <= 0.01 * _TOLERANCE:
            break
        target = 0.1 * float(theta @ slack) / n_topics
        scaled = members * (ratio / np.sqrt(share))[:, None]
        system = scaled.T @ scaled
        system[np.diag_indices(n_topics)] += slack / theta
        step, failed = lapack.dposv(system, pull - 1.0 + target / theta)[1:]
        if failed:
            break
        push = target / theta - slack - slack / theta * step
        theta = theta + _reach(theta, step) * step
        slack = slack + _reach(slack, push) * push
    return best, float(least)


def _reach(at: Array, step: Array) -> float:
    """Longest step up to one that keeps all numbers above zero."""
    down = step < 0
    if not down.any():
        return 1.0
    return min(1.0, _REACH * float((-at[down] / step[down]).min()))
