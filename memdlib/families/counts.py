"""Families of counts."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import entr, expit, logit, softplus

from memdlib.divergences import kl as discrete_kl
from memdlib.families.base import ROUNDING, Family, check_domain
from memdlib.validation import sum_duplicates

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bernoulli(Family):
    """Presence of a feature: E [x > 0] on {0, 1}.

    Counts and weights are read as presence (x > 0), the usual document model;
    lambda = -logit(mu).

    Examples
    --------
    >>> Bernoulli().natural([[0.5], [0.25]]).ravel().round(6).tolist()
    [-0.0, 1.098612]
    """

    name: ClassVar[str] = "bernoulli"
    n_moments: ClassVar[int] = 1
    nonnegative: ClassVar[bool] = True

    def natural(self, mu: ArrayLike) -> Array:
        mu = np.asarray(mu, dtype=np.float64)
        check_domain(
            (mu > 0) & (mu < 1),
            mu,
            "mean",
            "a Bernoulli density needs a mean strictly between 0 and 1; "
            "use smoothing > 0",
        )
        return -logit(mu)

    def mean(self, lam: ArrayLike) -> Array:
        return expit(-np.asarray(lam, dtype=np.float64))

    def log_normaliser(self, lam: ArrayLike) -> Array:
        return softplus(-np.asarray(lam, dtype=np.float64)[..., 0])

    def entropy(self, mu: ArrayLike) -> Array:
        mu = np.asarray(mu, dtype=np.float64)[..., 0]
        return entr(mu) + entr(1.0 - mu)

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        return discrete_kl(_cells(mu1), _cells(mu2))

    def observe(self, X):
        X = sum_duplicates(X)
        values = X.data if sparse.issparse(X) else X
        if values.size and values.min() < 0:
            raise ValueError(
                "Negative values in data: the Bernoulli family reads counts as "
                f"presence (x > 0), and the smallest value is {values.min()}"
            )
        if sparse.issparse(X):
            present = X.astype(np.float64)
            present.data = (values > 0).astype(np.float64)
            return present
        return (X > 0).astype(np.float64)

    def regularise(
        self, mu: Array, weight: Array, *, shrinkage: float, smoothing: float
    ) -> Array:
        """Add ``smoothing`` instances at the pooled mean to every class.

        A feature that is present everywhere or nowhere has no density inside the
        family; all classes then get the same mean 1/2, so that it carries no
        information. ``shrinkage`` has no effect.
        """
        weight = weight[..., None, None]
        pooled = (weight * mu).sum(axis=-3, keepdims=True)
        pooled = pooled / weight.sum(axis=-3, keepdims=True)
        total = weight + smoothing
        smooth = (weight * mu + smoothing * pooled) / np.where(total > 0, total, 1.0)
        smooth = np.where(total > 0, smooth, pooled)
        varies = (pooled > ROUNDING) & (pooled < 1.0 - ROUNDING)
        return np.where(varies, smooth, 0.5)


def _cells(mu: ArrayLike) -> Array:
    mu = np.asarray(mu, dtype=np.float64)[..., 0]
    return np.stack([mu, 1.0 - mu], axis=-1)
