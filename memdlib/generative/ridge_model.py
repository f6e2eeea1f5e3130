"""What a fit of the penalised discriminant leaves behind, and how it scores rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memdlib.generative.marginals import ClassMarginals
from memdlib.generative.scores import MarginalScores, finite_scores
from memdlib.generative.weighting import weighted_rows

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RidgeModel:
    """What a fit leaves behind.

    Parameters
    ----------
    classes : ndarray of shape (K,)
    class_prior : ndarray of shape (K,)
    feature_weights : ndarray of shape (d,) or None
    coef : ndarray of shape (K, d)
    intercept : ndarray of shape (K,)
    marginals : ClassMarginals or None
        Of the rows as they are.
    known : ndarray of bool, shape (d,), or None
        Words that a training document holds; None where rows are no documents.
    multipliers : ndarray of shape (1,) or (2,)
    uniform_share : float
    penalty, power, residual : float
    n_iter : int
    validation_log_loss : ndarray of shape (n_powers, n_penalties)
    """

    classes: NDArray
    class_prior: Array
    feature_weights: Array | None
    coef: Array
    intercept: Array
    marginals: ClassMarginals | None
    known: NDArray[np.bool_] | None
    multipliers: Array
    uniform_share: float
    penalty: float
    power: float
    residual: float
    n_iter: int
    validation_log_loss: Array

    @property
    def temperature(self) -> float:
        """What the discriminant's scores are divided by; inf if they say nothing."""
        with np.errstate(divide="ignore"):
            return float(1.0 / self.multipliers[0])

    def joint_log_density(self, X) -> Array:
        """Scores times their multipliers, added, (n, K); empty documents: the prior."""
        rows = X
        if self.feature_weights is not None:
            rows = weighted_rows(X, self.feature_weights)
        with np.errstate(over="ignore", invalid="ignore"):
            score = (rows @ self.coef.T + self.intercept) * self.multipliers[0]
        if self.marginals is not None and self.multipliers[1]:
            score = score + self.multipliers[1] * marginal_scores(self.marginals, X)
        score = finite_scores(score, X)
        if self.known is not None:
            score[~holds_any(X, self.known)] = np.log(self.class_prior)
        return score


def holds_any(X, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each document holds a known word.

    Parameters
    ----------
    X : {ndarray, csr} of shape (n, d)
        Counts.
    known : ndarray of bool, shape (d,)

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    return (X != 0) @ known.astype(np.intp) > 0


def marginal_scores(marginals: ClassMarginals, X) -> Array:
    """Log posteriors of all classes, up to a constant a row, of independent features.

    Parameters
    ----------
    marginals : ClassMarginals
        Of d features.
    X : {ndarray, csr} of shape (n, d)

    Returns
    -------
    ndarray of shape (n, K)
        One instance of unknown class keeps the prior of a class above zero that the
        rows of a fold do not hold.
    """
    family, moments = marginals.family, marginals.moments
    log_prior = np.log(moments.weight + 1.0 / len(moments.weight))
    scores = MarginalScores(
        family, marginals.natural_params, moments.location, log_prior
    )
    return scores.total(family.observe(X), np.arange(X.shape[1]))
