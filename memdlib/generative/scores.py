"""Scores of instances: sums of log densities of class marginals, linear in phi(x)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from memdlib.families import Family
from memdlib.generative.marginals import ClassMarginals

Array = NDArray[np.float64]

# Entries of the (rows, features, classes) array of scores handled at a time.
_BLOCK = 2**21


@dataclass(frozen=True)
class MarginalScores:
    """Log densities of the class marginals, linear in the powers of x - location.

    Parameters
    ----------
    family : Family
    natural : ndarray of shape (K, d, m)
        Natural parameters in x - location.
    location : ndarray of shape (d,)
    log_prior : ndarray of shape (K,)
    """

    family: Family
    natural: Array
    location: Array
    log_prior: Array

    @classmethod
    def of(cls, marginals: ClassMarginals) -> "MarginalScores":
        """Scores of class marginals.

        Parameters
        ----------
        marginals : ClassMarginals

        Returns
        -------
        MarginalScores
        """
        with np.errstate(divide="ignore"):
            log_prior = np.log(marginals.prior)
        return cls(
            marginals.family,
            marginals.natural_params,
            marginals.moments.location,
            log_prior,
        )

    @cached_property
    def log_normaliser(self) -> Array:
        """Log-normalisers of the marginals, shape (K, d)."""
        return self.family.log_normaliser(self.natural)

    @np.errstate(over="ignore", invalid="ignore")
    def total(self, X, features) -> Array:
        """Joint log density log pi_k + sum over some features.

        The base measure is the same for all classes and left out.

        Parameters
        ----------
        X : ndarray or csr of shape (n, d)
        features : ndarray of int
            Which features to sum over.

        Returns
        -------
        ndarray of shape (n, K)

        Raises
        ------
        ValueError
            If a row overflows in every class; names its largest value.
        """
        lam, location = self.natural[:, features], self.location[features]
        X = X[:, features]
        constant = self.log_prior - self.log_normaliser[:, features].sum(axis=1)
        if sparse.issparse(X):
            X = X.tocsr()
            column = X.indices
            at_zero = np.zeros((X.shape[0], len(self.log_prior)))
            for j in range(1, lam.shape[-1] + 1):
                at_zero -= lam[..., j - 1] @ (-location) ** j
                # what a stored value adds to the score of a zero
                change = X.astype(np.float64)
                change.data = (change.data - location[column]) ** j
                change.data -= (-location[column]) ** j
                at_zero -= change @ lam[..., j - 1].T
            return finite_scores(at_zero + constant, X)
        centred = np.asarray(X, dtype=np.float64) - location
        score, power = np.zeros((X.shape[0], len(self.log_prior))), centred
        for j in range(lam.shape[-1]):
            score -= power @ lam[..., j].T
            power = power * centred
        return finite_scores(score + constant, X)

    @np.errstate(over="ignore", invalid="ignore")
    def correct_weight(self, X, codes, weight, order, grid) -> Array:
        """Weight of the rows that the top S features classify correctly, S in grid."""
        n, d = X.shape
        X = X.tocsc() if sparse.issparse(X) else X
        correct = np.empty(d)
        total = np.broadcast_to(self.log_prior, (n, len(self.log_prior)))
        step = max(1, _BLOCK // (n * len(self.log_prior)))
        for start in range(0, d, step):
            block = order[start : start + step]
            values = X[:, block]
            values = values.toarray() if sparse.issparse(values) else values
            centred = np.asarray(values, dtype=np.float64) - self.location[block]
            score = np.repeat(-self.log_normaliser[:, None, block], n, axis=1)
            power = centred
            for j in range(self.natural.shape[-1]):
                score -= self.natural[:, None, block, j] * power
                power = power * centred
            running = np.cumsum(score, axis=2) + total.T[:, :, None]
            hit = running.argmax(axis=0) == codes[:, None]
            correct[start : start + step] = weight @ hit
            total = running[:, :, -1].T
        finite_scores(total, X)
        return correct[grid - 1]


def finite_scores(score: Array, X) -> Array:
    """Return joint log densities; raise for a row that overflows in every class."""
    lost = ~np.isfinite(score.max(axis=1))
    if lost.any():
        largest = abs(X[np.flatnonzero(lost)[:1]]).max()
        raise ValueError(
            f"the log densities of a row that holds {largest:.6g} overflow; "
            "bring X to the scale of the data that the model was fitted to"
        )
    return score
