"""What a fitted pLSA model says of documents: gradients, free energies, divergences.

For a document with counts c_w and topics theta_z = P(z | d), folded in, the
log-likelihood of its words is l = sum_w c_w log P_w with P_w = sum_z theta_z Q_zw. The
posterior of the topic behind a word is q_zw = theta_z Q_zw / P_w, and m_zw = c_w q_zw
are the expected counts.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import xlogy
from sklearn.utils.validation import check_is_fitted

from memdlib._types import Matrix, MatrixLike
from memdlib.divergences import x_minus_log1p
from memdlib.families import get
from memdlib.families.base import MarginalFamily
from memdlib.topics.counts import log_terms, mixture, ratios, times_rows, with_values
from memdlib.topics.plsa import PLSA
from memdlib.validation import check_real_array

Array = NDArray[np.float64]


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
        sum_w c_w log P(w | d), in nats.

    Raises
    ------
    ValueError
        If a document has a word that the model gives no probability.

    Examples
    --------
    >>> model = PLSA(n_topics=1, random_state=0).fit([[1, 3], [1, 1]])
    >>> log_likelihoods(model, [[3, 0]]).round(3).tolist()
    [-3.271]
    """
    return _fold(model, X).log_likelihood


def fisher_scores(model: PLSA, X: MatrixLike) -> MatrixLike:
    """Gradients of the log-likelihood of each document in P(z) and in P(w | z).

    Parameters
    ----------
    model : PLSA
        Fitted.
    X : {array-like, sparse matrix} of shape (n, n_features)

    Returns
    -------
    ndarray or csr_array of shape (n, n_topics + n_topics * n_features)
        First the derivatives in p_z, P(d | z) being as it is, then those in Q_zw, topic
        by topic; none is negative. Sparse if X is.

    Raises
    ------
    ValueError
        If a document has a word that the model gives no probability, or its scores are
        no finite numbers.

    Notes
    -----
    The log-likelihood is that of the words, sum_w c_w log sum_z p_z Q_zw R_zd, so that

        dl/dp_z = m_z / p_z,    dl/dQ_zw = m_zw / Q_zw = c_w theta_z / P_w.

    The derivatives in R_zd of other documents are zero, and those in its own belong to
    no other document: they are left out. As theta is most likely, dl/dQ_zw is also
    the derivative of what folding in reaches, theta adapting to Q.

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
    found = _finite(_fold(model, X), Folded.gradients)
    if sparse.issparse(X):
        return sparse.csr_array(found)
    return found.toarray() if sparse.issparse(found) else found


def free_energy_terms(model: PLSA, X: MatrixLike) -> Array:
    """Terms of the free energy of each document, topic by topic.

    Parameters
    ----------
    model : PLSA
        Fitted.
    X : {array-like, sparse matrix} of shape (n, n_features)

    Returns
    -------
    ndarray of shape (n, 3 * n_topics)
        sum_w m_zw log q_zw for every topic, at most zero; then -m_z log theta_z, and
        -sum_w m_zw log Q_zw, at least zero. In nats; a row sums to the free energy, the
        bound on -l, which the posterior q makes equal to it.

    Raises
    ------
    ValueError
        If a document has a word that the model gives no probability, or its scores are
        no finite numbers.

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
    return _finite(_fold(model, X), Folded.energies)


def posterior_divergences(model: PLSA, X: MatrixLike) -> Array:
    """What each document would add to the free energy of the training documents.

    Parameters
    ----------
    model : PLSA
        Fitted.
    X : {array-like, sparse matrix} of shape (n, n_features)

    Returns
    -------
    ndarray of shape (n, 4 * n_topics)
        For every topic the entropy and the prior term of :func:`free_energy_terms`;
        then the fit -sum_w m_zw log Q'_zw to the words Q' of the topic after one step
        of EM that counts the document in; then what this costs the others,
        M_z KL(Q_z || Q'_z), where M_z is ``topic_counts_``. In nats.

    Raises
    ------
    ValueError
        If a document has a word that the model gives no probability, or its scores are
        no finite numbers.

    Notes
    -----
    The four sum to the free energy of all documents with this one, under Q', less that
    without it, under Q, the posteriors of the others being as they are. A document of
    the training set is counted in once more.

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
    return _finite(_fold(model, X), Folded.divergences)


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

    Raises
    ------
    ValueError
        If the family is none of independent features, a value is outside, a shape is
        another, or a moment is infinite.

    Notes
    -----
    The scores of MeMd are linear in them: log p_1(x) - log p_2(x) is
    (lambda_2 - lambda_1) . phi(x) plus a constant.

    References
    ----------
    .. [1] Jaakkola, Haussler, NIPS 1998.

    Examples
    --------
    >>> from memdlib.families import get
    >>> lam = get("poisson").natural([[2.0]])
    >>> maxent_scores([[5.0], [1.0]], lam, "poisson").ravel().round(9).tolist()
    [-3.0, 1.0]
    """
    family = get(family)
    if family.name == "multinomial":
        raise ValueError(
            "family='multinomial' has features that depend on each other; use a "
            "family of one feature at a time, or fisher_scores of a PLSA of one topic"
        )
    X, lam = check_real_array(X, "X"), check_real_array(lam, "lam")
    expected = (X.shape[-1] if X.ndim else 1, family.n_moments)
    if X.ndim != 2 or lam.shape != expected:
        raise ValueError(
            f"X has shape {X.shape} and lam {lam.shape}; expected (n, d) and (d, m), "
            f"with m = {family.n_moments} for family={family.name!r}"
        )
    x = np.asarray(family.observe(X))
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        powers = np.stack([x**j for j in range(1, family.n_moments + 1)], axis=-1)
        mean = family.mean(lam)
    for name, given, far in (
        ("X", X, np.isinf(powers)),
        ("lam", lam, ~np.isfinite(mean)),
    ):
        if far.any():
            *place, j = (int(i) for i in np.argwhere(far)[0])
            raise ValueError(
                f"{name}{place} = {given[tuple(place)]} has a moment {j + 1} beyond "
                "the range of numbers; bring the feature to a scale of order one"
            )
    return mean - powers


@dataclass(frozen=True)
class Folded:
    """Documents under a model, folded in, and what is known of their words.

    Parameters
    ----------
    model : PLSA
    counts, ratios : ndarray or csr_array of shape (n, n_features)
        c_w, and c_w / P_w.
    theta : ndarray of shape (n, n_topics)
    log_terms : ndarray
        c_w log P_w, in the places of the counts.
    """

    model: PLSA
    counts: object
    ratios: object
    theta: Array
    log_terms: Array

    @property
    def log_likelihood(self) -> Array:
        """Sum of the log terms of each document, (n,)."""
        table = with_values(self.counts, self.log_terms)
        return np.asarray(table.sum(axis=1)).ravel()

    def expected(self) -> Array:
        """Expected counts m_z of each topic in each document, (n, n_topics)."""
        return self.theta * (self.ratios @ self.model.components_.T)

    def gradients(self) -> Matrix:
        """As :func:`fisher_scores`, sparse or dense as the counts are kept."""
        prior = self.model.topic_prior_
        first = np.zeros(self.theta.shape)
        np.divide(self.expected(), prior, out=first, where=prior > 0)
        if sparse.issparse(self.ratios):
            parts = [times_rows(self.ratios, topic) for topic in self.theta.T]
            return sparse.hstack([sparse.csr_array(first), *parts], format="csr")
        parts = self.theta[:, :, None] * self.ratios[:, None, :]
        return np.hstack([first, parts.reshape(len(parts), -1)])

    def energies(self) -> tuple[Array, Array, Array]:
        """Entropy, prior and word terms of :func:`free_energy_terms`."""
        expected, Q = self.expected(), self.model.components_
        prior = -xlogy(expected, self.theta)
        words = -self.theta * (self.ratios @ xlogy(Q, Q).T)
        number = self.ratios.data if sparse.issparse(self.ratios) else self.ratios
        inverse = np.zeros(number.shape)
        np.divide(number, self._numbers(), out=inverse, where=self._numbers() > 0)
        weighted = with_values(self.counts, self.log_terms * inverse)
        # m_z of which each has the weight log P_w
        level = self.theta * (weighted @ Q.T)
        return -prior - words - level, prior, words

    def divergences(self) -> tuple[Array, Array, Array, Array]:
        """Entropy, prior, fit and cost of :func:`posterior_divergences`."""
        entropy, prior, words = self.energies()
        Q, mass = self.model.components_, self.model.topic_counts_
        alive = mass > 0
        growth = np.where(alive, self.expected() / np.where(alive, mass, 1.0), 0.0)
        fit = words + mass * growth * np.log1p(growth)
        cost = np.zeros(growth.shape)
        number = self.ratios.data if sparse.issparse(self.ratios) else self.ratios
        rows = self._rows()
        for z in np.flatnonzero(alive):
            # m_zw / (M_z Q_zw), by which a word of the topic grows
            word = number * (self.theta[:, z] / mass[z])[rows]
            grown = with_values(self.counts, number * np.log1p(word))
            fit[:, z] -= self.theta[:, z] * (grown @ Q[z])
            # both sums of second order: KL is their difference
            apart = with_values(self.counts, x_minus_log1p(word))
            cost[:, z] = mass[z] * (apart @ Q[z] - x_minus_log1p(growth[:, z]))
        return entropy, prior, fit, np.maximum(cost, 0.0)

    def _numbers(self) -> Array:
        return self.counts.data if sparse.issparse(self.counts) else self.counts

    def _rows(self):
        """Index that spreads a number a document over its stored cells."""
        if sparse.issparse(self.counts):
            return np.repeat(np.arange(len(self.theta)), np.diff(self.counts.indptr))
        return (slice(None), None)


def _fold(model: PLSA, X) -> Folded:
    check_is_fitted(model)
    counts = model.read_counts(X)
    theta = model.transform(X)
    probability = mixture(counts, theta, np.ascontiguousarray(model.components_.T))
    terms = log_terms(counts, probability)
    lost = with_values(counts, np.isneginf(terms))
    if lost.sum():
        d, w = (int(i[0]) for i in lost.nonzero())
        raise ValueError(
            f"row {d} holds feature {w}, which the model gives no probability: it was "
            "not among its training rows; use PLSA(smoothing=...) above zero, or leave "
            "the feature out"
        )
    with np.errstate(over="ignore"):  # scores that are infinite by it are refused
        quotient = ratios(counts, probability)
    return Folded(model, counts, quotient, theta, terms)


def _finite(folded: Folded, score):
    """Scores of documents, or an error where they leave the range of numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = score(folded)
        found = np.hstack(found) if isinstance(found, tuple) else found
    bad = ~np.isfinite(found.data if sparse.issparse(found) else found)
    if bad.any():
        d = int(with_values(found, bad).nonzero()[0][0])
        raise ValueError(
            f"row {d} has scores beyond the range of numbers: its counts are too "
            "large, or a word of it too rare in the model; divide the row by its "
            "largest value, or use PLSA(smoothing=...)"
        )
    return found
