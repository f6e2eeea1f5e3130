"""Joint class moments: sums of x and x x^T of every class, in one pass."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib._types import Index
from memdlib.moments.collect import class_locations
from memdlib.moments.sums import ClassMoments

Array = NDArray[np.float64]

# Entries of X handled at a time: 8 MiB of doubles, rows enough for a matrix product.
_BLOCK = 2**20


@dataclass(frozen=True)
class JointMoments(ClassMoments):
    """Weighted sums of x and x x^T of every class about a location of its own.

    They add like :class:`memdlib.moments.ClassMoments`.

    Parameters
    ----------
    weight : ndarray of shape (K,)
        Total instance weight of each class.
    sums : ndarray of shape (K, d, d + 1)
        Sums of (x - location) in column 0, of their products in columns 1..d.
    location : ndarray of shape (K, d)

    Examples
    --------
    >>> import numpy as np
    >>> a = joint_moments(np.array([[1.0], [3.0], [5.0]]), [0, 0, 1], 2)
    >>> (a.location + a.mean[..., 0]).ravel().tolist()
    [2.0, 5.0]
    """

    def select(self, features: Index) -> "JointMoments":
        """Joint moments of some features, given by a mask or by indices."""
        own = np.arange(self.sums.shape[-2])[features]
        sums = self.sums[..., own, :][..., np.r_[0, 1 + own]]
        return JointMoments(self.weight, sums, self.location[..., own])

    def _about(self, location: Array) -> Array:
        shift = (self.location - location)[..., None]
        first = self.sums[..., :1]
        moved = first + self.weight[..., None, None] * shift
        cross = first @ np.swapaxes(shift, -1, -2) + shift @ np.swapaxes(moved, -1, -2)
        return np.concatenate([moved, self.sums[..., 1:] + cross], axis=-1)


def joint_moments(
    X: NDArray[np.float64],
    codes: ArrayLike,
    n_classes: int,
    *,
    sample_weight: ArrayLike | None = None,
) -> JointMoments:
    """Collect the sums of x and x x^T of every class in one pass.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Of size 1e100 at most.
    codes : array_like of shape (n,)
        Class of each row as an integer in 0..K-1.
    n_classes : int
    sample_weight : array_like of shape (n,), default=None
        Nonnegative instance weights; None means 1 each.

    Returns
    -------
    JointMoments
        About a row of each class; accumulated in float64 whatever the type of X.

    Examples
    --------
    >>> import numpy as np
    >>> joint_moments(np.array([[1.0, 0], [0, 3]]), [0, 0], 1).sums[0].tolist()
    [[1.0, 1.0, -3.0], [-3.0, -3.0, 9.0]]
    """
    codes = np.asarray(codes)
    n, d = X.shape
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, float)
    rows = max(1, _BLOCK // d)
    sums = np.zeros((n_classes, d, d + 1))
    location = class_locations(X, codes, n_classes)
    for start in range(0, n, rows):
        block, label = X[start : start + rows], codes[start : start + rows]
        w = weight[start : start + rows, None]
        for k in np.unique(label):
            member = label == k
            centred = block[member] - location[k]
            weighted = w[member] * centred
            sums[k, :, 0] += weighted.sum(axis=0)
            sums[k, :, 1:] += weighted.T @ centred
    total = np.bincount(codes, weights=weight, minlength=n_classes)
    return JointMoments(total, sums, location)
