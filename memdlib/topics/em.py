"""Expectation maximisation for pLSA, with a certificate of how much is left to gain."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memdlib.topics.counts import expected_ratios

Array = NDArray[np.float64]

# A step may lose this share of the log-likelihood to rounding.
_ROUNDING = 1e-11


@dataclass(frozen=True)
class Found:
    """Where EM stopped.

    Parameters
    ----------
    theta : ndarray of shape (n_documents, n_topics)
        P(z | d).
    words : ndarray of shape (n_words, n_topics)
        Q, transposed: P(w | z).
    history : ndarray of shape (n_steps + 1,)
        Objective at the start and after each step, in nats.
    gaps : tuple of float
        Nats that other topics of all documents, or other words of all topics, could
        add to the objective at most, the other part being as it is.
    """

    theta: Array
    words: Array
    history: Array
    gaps: tuple[float, float]


def climb(
    counts,
    theta: Array,
    words: Array,
    *,
    beta: float,
    smoothing: float,
    tol: float,
    max_iter: int,
    report,
) -> Found:
    """Raise sum C log sum_z (theta_dz Q_zw)^beta / beta + smoothing sum log Q_zw.

    Parameters
    ----------
    counts : ndarray or csr_array of shape (n_documents, n_words)
        No document without counts and, without smoothing, no such word.
    theta : ndarray of shape (n_documents, n_topics)
    words : ndarray of shape (n_words, n_topics)
        Start; every sum over topics is positive.
    beta, smoothing : float
    tol : float
        Both gaps, in nats a count, to stop at.
    max_iter : int
    report : callable
        Gets the number of steps, the objective and the gaps a count.

    Returns
    -------
    Found

    Raises
    ------
    FloatingPointError
        If a step lowers the objective by more than rounding, which EM cannot do.

    Notes
    -----
    With the expected counts m_dw = sum of both kinds of responsibilities, and
    rho_w = max_z (gradient in Q_zw) / m_z, log x <= x - 1 gives for every other Q that
    the objective is larger by sum_w C_w log rho_w at most, where C_w = sum_z m_zw; the
    same holds for theta.
    """
    length = np.asarray(counts.sum(axis=1)).ravel()
    used = np.asarray(counts.sum(axis=0)).ravel() + smoothing * words.shape[1]
    total = float(length.sum())
    history: list[float] = []
    while True:
        own, given = (theta, words) if beta == 1 else (theta**beta, words**beta)
        by_document, by_word, objective = expected_ratios(counts, own, given)
        objective /= beta
        if beta < 1:
            by_document *= _tilt(theta, beta)
            by_word *= _tilt(words, beta)
        if smoothing:
            objective += smoothing * float(np.log(words).sum())
            by_word += smoothing / words
        new_theta, new_words = theta * by_document, words * by_word
        mass = new_words.sum(axis=0)
        alive = mass > 0
        gaps = (
            _bound(length, by_document.max(axis=1) / length),
            _bound(used, (by_word[:, alive] / mass[alive]).max(axis=1)),
        )
        if history and objective < history[-1] - _ROUNDING * abs(history[-1]):
            raise FloatingPointError(
                f"step {len(history)} of EM lowered the objective from {history[-1]} "
                f"to {objective}; counts that span many orders of magnitude leave too "
                "few digits: drop the rarest words"
            )
        history.append(objective)
        n_steps = len(history) - 1
        report(n_steps, objective, tuple(gap / total for gap in gaps))
        if max(gaps) <= tol * total or n_steps == max_iter:
            return Found(theta, words, np.array(history), gaps)
        theta = new_theta / new_theta.sum(axis=1, keepdims=True)
        # a topic that gives no word any more keeps those it had
        words = np.where(alive, new_words / np.where(alive, mass, 1.0), words)


def _bound(weight: Array, ratio: Array) -> float:
    """Sum of weight log ratio; not below zero, but for rounding."""
    return max(math.fsum(weight * np.log(ratio)), 0.0)


def _tilt(parameter: Array, beta: float) -> Array:
    """parameter^(beta - 1): what the gradient of its power has besides the ratios."""
    tilt = np.zeros(parameter.shape)
    np.power(parameter, beta - 1.0, out=tilt, where=parameter > 0)
    return tilt
