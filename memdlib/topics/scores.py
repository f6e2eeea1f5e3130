"""Features of documents under a fitted pLSA model.

For a document with counts c_w and topics theta_z = P(z | d), folded in, the
log-likelihood of its words is l = sum_w c_w log P_w with P_w = sum_z theta_z Q_zw. The
posterior of the topic of a word is q_zw = theta_z Q_zw / P_w, and the expected counts
are m_zw = c_w q_zw, and m_z = sum_w m_zw.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import xlog1py, xlogy
from sklearn.utils.validation import check_is_fitted

from memdlib._types import Array
from memdlib.divergences import x_minus_log1p
from memdlib.families import get_family
from memdlib.topics.counts import (
    cell_probabilities,
    divide_or_zero,
    log_terms,
    ratios,
    scale_rows,
    with_values,
)
from memdlib.topics.plsa import PLSA
from memdlib.validation import check_real_array


def log_likelihoods(model, X):
    """Log-likelihood of the words of each document, folded in.

    Parameters
    ----------
    model : PLSA
        Fitted.
    X : {array-like, sparse matrix} of shape (n, n_features)

    Returns
    -------
    ndarray of shape (n,)
        sum_w c_w log P(w | d), in nats.

    Raises
    ------
    ValueError
        If a document holds a word that has no probability in any topic.

    Examples
    --------
    >>> model = PLSA(n_components=1, random_state=0).fit([[1, 3], [1, 1]])
    >>> log_likelihoods(model, [[3, 0]]).round(3).tolist()
    [-3.271]
    """
    documents = _fold_in(model, X)
    counts = documents.counts
    terms = log_terms(counts, documents.probability)
    return with_values(counts, terms).sum(axis=1)


def fisher_scores(model, X):
    """Gradients of the log-likelihood of each document in P(z) and in P(w | z).

    Parameters
    ----------
    model, X
        As for :func:`log_likelihoods`.

    Returns
    -------
    ndarray or csr_array of shape (n, n_components + n_components * n_features)
        First the derivatives in p_z for fixed P(d | z), then those in Q_zw, topic by
        topic; none is negative. Sparse if X is.

    Notes
    -----
    The log-likelihood is sum_w c_w log sum_z p_z Q_zw R_zd, so that dl/dp_z = m_z / p_z
    and dl/dQ_zw = m_zw / Q_zw = c_w theta_z / P_w [1]_, [2]_. As theta maximises l, the
    latter is also the derivative of the maximum over theta, which changes with Q.

    References
    ----------
    .. [1] Jaakkola, Haussler, Exploiting generative models in discriminative
       classifiers, NIPS 1998.
    .. [2] Hofmann, Learning the similarity of documents, NIPS 1999.

    Examples
    --------
    >>> model = PLSA(n_components=1, random_state=0).fit([[1, 3], [1, 1]])
    >>> fisher_scores(model, [[2, 1]]).round(3).tolist()
    [[3.0, 5.951, 1.506]]
    """
    documents = _fold_in(model, X)
    in_prior = divide_or_zero(documents.expected_counts(), model.topic_prior_)
    in_words = [scale_rows(documents.ratios, theta) for theta in documents.theta.T]
    score = sparse.hstack([sparse.csr_array(in_prior), *in_words], format="csr")
    return score if sparse.issparse(X) else score.toarray()


def free_energy_terms(model, X):
    """Terms of the free energy of each document, topic by topic.

    Parameters
    ----------
    model, X
        As for :func:`log_likelihoods`.

    Returns
    -------
    ndarray of shape (n, 3 * n_components)
        In nats: sum_w m_zw log q_zw for every topic, at most zero; then -m_z log
        theta_z, and then -sum_w m_zw log Q_zw, at least zero. A row sums to the free
        energy, an upper bound on -l [1]_, which the posterior q attains.

    References
    ----------
    .. [1] Perina, Cristani, Castellani, Murino, Jojic, Free energy score space, NIPS
       2009.

    Examples
    --------
    >>> model = PLSA(n_components=1, random_state=0).fit([[1, 3], [1, 1]])
    >>> abs(free_energy_terms(model, [[3, 0]])).round(3).tolist()
    [[0.0, 0.0, 3.271]]
    """
    return np.hstack(_fold_in(model, X).free_energy())


def posterior_divergences(model, X):
    """Change of the free energy of the training documents by one more document.

    Parameters
    ----------
    model, X
        As for :func:`log_likelihoods`.

    Returns
    -------
    ndarray of shape (n, 4 * n_components)
        In nats: for every topic the entropy and the prior term of
        :func:`free_energy_terms`; then the fit -sum_w m_zw log Q'_zw to the words Q' of
        the topic after one step of EM that includes the document; then the cost of this
        step to the training documents, M_z KL(Q_z || Q'_z), where M_z is
        ``topic_counts_`` [1]_. The four sum to the free energy of all documents
        including this one, minus that without it.

    References
    ----------
    .. [1] Li, Lee, Liu, Hybrid generative-discriminative classification using posterior
       divergence, CVPR 2011.

    Examples
    --------
    >>> model = PLSA(n_components=1, random_state=0).fit([[1, 3], [1, 1]])
    >>> abs(posterior_divergences(model, [[3, 0]])).round(3).tolist()
    [[0.0, 0.0, 1.767, 0.592]]
    """
    documents = _fold_in(model, X)
    entropy, prior, fit = documents.free_energy()
    mass = model.topic_counts_
    growth = divide_or_zero(documents.expected_counts(), mass)  # m_z / M_z
    cost = np.zeros_like(growth)
    for z in np.flatnonzero(mass > 0):
        # m_zw / (M_z Q_zw)
        word_growth = scale_rows(documents.ratios, documents.theta[:, z] / mass[z])
        gain, divergence = _effects_of_update(
            word_growth, growth[:, z], model.components_[z]
        )
        fit[:, z] -= mass[z] * gain
        cost[:, z] = mass[z] * divergence
    return np.hstack([entropy, prior, fit, cost])


def _effects_of_update(word_growth, growth, words):
    """Gain in fit, and KL(Q || Q'), by a step of EM that includes a document.

    A topic has the words Q (n_features,). The step multiplies the expected counts of
    its words by 1 + word_growth (n, n_features), and of all by 1 + growth (n,). Returns
    the gain in the fit to the document per previous count, and the divergence, each in
    nats, of shape (n,).
    """
    x = word_growth.data
    gain = with_values(word_growth, xlog1py(x, x)) @ words - xlog1py(growth, growth)
    # A difference of two sums of second order keeps the digits that a difference of
    # logarithms, of first order, would lose.
    excess = with_values(word_growth, x_minus_log1p(x)) @ words
    divergence = excess - x_minus_log1p(growth)
    return gain, np.maximum(divergence, 0.0)


def maxent_scores(X, lam, *, family="normal"):
    """Fisher scores mu - phi(x) of maximum-entropy densities, one for each feature.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Values inside the support.
    lam : array_like of shape (d, m)
        Natural parameters of each feature.
    family : str or MarginalFamily, default="normal"
        A family of single features; not "multinomial".

    Returns
    -------
    ndarray of shape (n, d, m)
        Gradient of log p(x) in lambda, which for p = exp(-lambda_0 - lambda . phi) is
        mu - phi(x).

    Examples
    --------
    >>> from memdlib.families import get_family
    >>> lam = get_family("poisson").natural([[2.0]])
    >>> maxent_scores([[5.0], [1.0]], lam, family="poisson").ravel().round(9).tolist()
    [-3.0, 1.0]
    """
    family = get_family(family)
    if family.name == "multinomial":
        raise ValueError("family='multinomial' is not a family of single features")
    X = check_real_array(X, "X")
    lam = check_real_array(lam, "lam")
    if X.ndim != 2 or lam.shape != (X.shape[1], family.n_moments):
        raise ValueError(
            f"X has shape {X.shape} and lam {lam.shape}; expected (n, d) and (d, m), "
            f"with m = {family.n_moments} for family={family.name!r}"
        )
    x = np.asarray(family.observe(X))
    powers = np.arange(1, family.n_moments + 1)
    return family.mean(lam) - x[..., None] ** powers


class _FoldedDocuments(NamedTuple):
    """Documents under a model."""

    model: PLSA
    counts: sparse.csr_array  # c_w, (n, n_features)
    theta: Array  # P(z | d), (n, n_components)
    probability: Array  # P_w of the stored counts
    ratios: sparse.csr_array  # c_w / P_w

    def expected_counts(self):
        """Expected counts m_z of each topic in each document, (n, n_components)."""
        return self.theta * (self.ratios @ self.model.components_.T)

    def free_energy(self):
        """Terms of :func:`free_energy_terms`: entropy, prior, words, (n, K) each."""
        Q = self.model.components_
        expected_counts = self.expected_counts()
        prior = -xlogy(expected_counts, self.theta)
        words = -self.theta * (self.ratios @ xlogy(Q, Q).T)
        # log q_zw = log theta_z + log Q_zw - log P_w, whose expectations are minus the
        # two terms above, and this:
        log_probability = np.log(self.probability)
        weighted = with_values(self.ratios, log_probability * self.ratios.data)
        log_evidence = self.theta * (weighted @ Q.T)
        return -prior - words - log_evidence, prior, words


def _fold_in(model, X):
    """Fold in documents X (n, n_features); refuse words without probability."""
    check_is_fitted(model)
    counts = model.read_counts(X)
    theta = np.asarray(model.transform(X))  # a frame if transform_output says so
    words = np.ascontiguousarray(model.components_.T)
    probability = cell_probabilities(counts, theta, words)
    impossible = with_values(counts, probability == 0)
    if impossible.data.any():
        documents, features = impossible.nonzero()
        raise ValueError(
            f"row {documents[0]} holds feature {features[0]}, which the model gives no "
            "probability: use PLSA(alpha=...) above zero, or leave the feature out"
        )
    return _FoldedDocuments(
        model=model,
        counts=counts,
        theta=theta,
        probability=probability,
        ratios=ratios(counts, probability),
    )
