"""What a fitted pLSA model says of documents: gradients, free energies, divergences.

For a document with counts c_w and topics theta_z = P(z | d), folded in, the
log-likelihood of its words is l = sum_w c_w log P_w with P_w = sum_z theta_z Q_zw. The
posterior of the topic behind a word is q_zw = theta_z Q_zw / P_w, and m_zw = c_w q_zw
are the expected counts.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import xlogy
from sklearn.utils.validation import check_is_fitted

from memdlib._types import Array, ArrayLike, MatrixLike
from memdlib.divergences import x_minus_log1p
from memdlib.families import get
from memdlib.families.base import MarginalFamily
from memdlib.topics.counts import log_terms, mixture, ratios, times_rows, with_values
from memdlib.topics.plsa import PLSA
from memdlib.validation import check_real_array


def log_likelihoods(model: PLSA, X: MatrixLike) -> Array:
    """Log-likelihood of the words of each document, folded in.

    Parameters
    ----------
    model : PLSA
        Fitted.
    X : {array-like, sparse matrix} of shape (n, n_features)

    Returns
    -------
    ndarray of shape (n,)
        sum_w c_w log P(w | d), in nats; ValueError for a word without probability.

    Examples
    --------
    >>> model = PLSA(n_topics=1, random_state=0).fit([[1, 3], [1, 1]])
    >>> log_likelihoods(model, [[3, 0]]).round(3).tolist()
    [-3.271]
    """
    found = _fold(model, X)
    return with_values(found.counts, found.log_terms).sum(axis=1)


def fisher_scores(model: PLSA, X: MatrixLike) -> MatrixLike:
    """Gradients of the log-likelihood of each document in P(z) and in P(w | z).

    Parameters
    ----------
    model, X
        As for :func:`log_likelihoods`.

    Returns
    -------
    ndarray or csr_array of shape (n, n_topics + n_topics * n_features)
        First the derivatives in p_z, P(d | z) being as it is, then those in Q_zw, topic
        by topic; none is negative. Sparse if X is.

    Notes
    -----
    The log-likelihood is sum_w c_w log sum_z p_z Q_zw R_zd, so that dl/dp_z = m_z / p_z
    and dl/dQ_zw = m_zw / Q_zw = c_w theta_z / P_w [1]_, [2]_. As theta is most likely,
    that is also the derivative of what folding in reaches, theta adapting to Q.

    References
    ----------
    .. [1] Jaakkola, Haussler, Exploiting generative models in discriminative
       classifiers, NIPS 1998.
    .. [2] Hofmann, Learning the similarity of documents, NIPS 1999.

    Examples
    --------
    >>> model = PLSA(n_topics=1, random_state=0).fit([[1, 3], [1, 1]])
    >>> fisher_scores(model, [[2, 1]]).round(3).tolist()
    [[3.0, 5.951, 1.506]]
    """
    found, prior = _fold(model, X), model.topic_prior_
    first = np.zeros(found.theta.shape)
    np.divide(found.expected(), prior, out=first, where=prior > 0)
    parts = [times_rows(found.ratios, topic) for topic in found.theta.T]
    score = sparse.hstack([sparse.csr_array(first), *parts], format="csr")
    return score if sparse.issparse(X) else score.toarray()


def free_energy_terms(model: PLSA, X: MatrixLike) -> Array:
    """Terms of the free energy of each document, topic by topic.

    Parameters
    ----------
    model, X
        As for :func:`log_likelihoods`.

    Returns
    -------
    ndarray of shape (n, 3 * n_topics)
        sum_w m_zw log q_zw for every topic, at most zero; then -m_z log theta_z, and
        -sum_w m_zw log Q_zw, at least zero. In nats; a row sums to the free energy, the
        bound on -l [1]_, which the posterior q makes equal to it.

    References
    ----------
    .. [1] Perina, Cristani, Castellani, Murino, Jojic, Free energy score space, NIPS
       2009.

    Examples
    --------
    >>> model = PLSA(n_topics=1, random_state=0).fit([[1, 3], [1, 1]])
    >>> abs(free_energy_terms(model, [[3, 0]])).round(3).tolist()
    [[0.0, 0.0, 3.271]]
    """
    return np.hstack(_fold(model, X).energies())


def posterior_divergences(model: PLSA, X: MatrixLike) -> Array:
    """What each document would add to the free energy of the training documents.

    Parameters
    ----------
    model, X
        As for :func:`log_likelihoods`.

    Returns
    -------
    ndarray of shape (n, 4 * n_topics)
        For every topic the entropy and the prior term of :func:`free_energy_terms`;
        then the fit -sum_w m_zw log Q'_zw to the words Q' of the topic after one step
        of EM that counts the document in; then what this costs the others,
        M_z KL(Q_z || Q'_z), where M_z is ``topic_counts_`` [1]_. In nats; the four sum
        to the free energy of all documents with this one, less that without it.

    References
    ----------
    .. [1] Li, Lee, Liu, Hybrid generative-discriminative classification using posterior
       divergence, CVPR 2011.

    Examples
    --------
    >>> model = PLSA(n_topics=1, random_state=0).fit([[1, 3], [1, 1]])
    >>> abs(posterior_divergences(model, [[3, 0]])).round(3).tolist()
    [[0.0, 0.0, 1.767, 0.592]]
    """
    found = _fold(model, X)
    entropy, prior, words = found.energies()
    Q, mass, rows = model.components_, model.topic_counts_, found.counts.nonzero()[0]
    alive = mass > 0
    growth = np.where(alive, found.expected() / np.where(alive, mass, 1.0), 0.0)
    fit = words + mass * growth * np.log1p(growth)
    cost = np.zeros(growth.shape)
    for z in np.flatnonzero(alive):
        theta = found.theta[:, z]
        # m_zw / (M_z Q_zw), by which a word of the topic grows
        word = found.ratios.data * (theta / mass[z])[rows]
        grown = with_values(found.counts, found.ratios.data * np.log1p(word))
        fit[:, z] -= theta * (grown @ Q[z])
        # both sums of second order: KL is their difference
        apart = with_values(found.counts, x_minus_log1p(word))
        cost[:, z] = mass[z] * (apart @ Q[z] - x_minus_log1p(growth[:, z]))
    return np.hstack([entropy, prior, fit, np.maximum(cost, 0.0)])


def maxent_scores(
    X: ArrayLike, lam: ArrayLike, family: str | MarginalFamily = "normal"
) -> Array:
    """Fisher scores mu - phi(x) of a maximum-entropy density, feature by feature.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Values inside the support.
    lam : array_like of shape (d, m)
        Natural parameters of each feature.
    family : str or MarginalFamily, default="normal"
        A family of one feature at a time; not "multinomial".

    Returns
    -------
    ndarray of shape (n, d, m)
        Gradient of log p(x) in lambda: with p = exp(-lambda_0 - lambda . phi) it is
        minus (phi(x) - mu).

    Examples
    --------
    >>> from memdlib.families import get
    >>> lam = get("poisson").natural([[2.0]])
    >>> maxent_scores([[5.0], [1.0]], lam, "poisson").ravel().round(9).tolist()
    [-3.0, 1.0]
    """
    family = get(family)
    if family.name == "multinomial":
        raise ValueError("family='multinomial' is no family of one feature at a time")
    X, lam = check_real_array(X, "X"), check_real_array(lam, "lam")
    expected = (X.shape[-1] if X.ndim else 1, family.n_moments)
    if X.ndim != 2 or lam.shape != expected:
        raise ValueError(
            f"X has shape {X.shape} and lam {lam.shape}; expected (n, d) and (d, m), "
            f"with m = {family.n_moments} for family={family.name!r}"
        )
    x = np.asarray(family.observe(X))
    return family.mean(lam) - x[..., None] ** np.arange(1, family.n_moments + 1)


class _Folded(NamedTuple):
    """Documents under a model, folded in, and what is known of their words."""

    model: PLSA
    counts: sparse.csr_array
    ratios: sparse.csr_array  # c_w / P_w
    theta: Array
    log_terms: Array  # c_w log P_w, in the places of the counts

    def expected(self) -> Array:
        """Expected counts m_z of each topic in each document, (n, n_topics)."""
        return self.theta * (self.ratios @ self.model.components_.T)

    def energies(self) -> tuple[Array, Array, Array]:
        """Entropy, prior and word terms of :func:`free_energy_terms`."""
        expected, Q = self.expected(), self.model.components_
        prior = -xlogy(expected, self.theta)
        words = -self.theta * (self.ratios @ xlogy(Q, Q).T)
        # m_z of which each has the weight log P_w
        weight = self.log_terms / self.counts.data * self.ratios.data
        level = self.theta * (with_values(self.counts, weight) @ Q.T)
        return -prior - words - level, prior, words


def _fold(model: PLSA, X: MatrixLike) -> _Folded:
    """Fold documents in, and refuse words that the model gives no probability."""
    check_is_fitted(model)
    counts = model.read_counts(X)
    theta = model.transform(X)
    probability = mixture(counts, theta, np.ascontiguousarray(model.components_.T))
    terms = log_terms(counts, probability)
    if np.isneginf(terms).any():
        d, w = (int(i[0]) for i in with_values(counts, np.isneginf(terms)).nonzero())
        raise ValueError(
            f"row {d} holds feature {w}, which the model gives no probability: use "
            "PLSA(smoothing=...) above zero, or leave the feature out"
        )
    return _Folded(model, counts, ratios(counts, probability), theta, terms)
