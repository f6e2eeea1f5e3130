"""Joint class moments: sums of x and x x^T of every class, in one pass."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib.moments.sums import ClassMoments

Array = NDArray[np.float64]

# Entries of X handled at a time: 8 MiB of doubles, rows enough for a matrix product.
_BLOCK = 2**20


@dataclass(frozen=True)
class JointMoments(ClassMoments):
    """Weighted sums of x and x x^T of every class about one location; they add.

    Parameters
    ----------
    weight : ndarray of shape (K,)
        Total instance weight of each class.
    sums : ndarray of shape (K, d, d + 1)
        Sums of (x - location) in column 0, of their products in columns 1..d.
    location : ndarray of shape (d,)

    Examples
    --------
    >>> import numpy as np
    >>> a = joint_moments(np.array([[1.0], [3.0], [5.0]]), [0, 0, 1], 2)
    >>> (a.location + a.mean[..., 0]).ravel().tolist()
    [2.0, 5.0]
    """

    def merge(self, other: "JointMoments") -> "JointMoments":
        if other.sums.shape != self.sums.shape:
            raise ValueError(
                f"moments of shapes {self.sums.shape} and {other.sums.shape} differ; "
                "keep classes, features and covariance from batch to batch"
            )
        moved = _translate(other.sums, other.weight, other.location - self.location)
        return JointMoments(
            self.weight + other.weight, self.sums + moved, self.location
        )


@np.errstate(over="ignore", invalid="ignore")
def joint_moments(
    X: NDArray, codes: ArrayLike, n_classes: int, *, sample_weight=None, location=None
) -> JointMoments:
    """Collect the sums of x and x x^T of every class in one pass.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    codes : array_like of shape (n,)
        Class of each row as an integer in 0..K-1.
    n_classes : int
    sample_weight : array_like of shape (n,), default=None
        Nonnegative instance weights; None means 1 each.
    location : array_like of shape (d,), default=None
        Any point among the data; None takes the mean of the first block of rows.

    Returns
    -------
    JointMoments
        Accumulated in float64 whatever the type of X.

    Raises
    ------
    ValueError
        If the sums overflow; names the feature.

    Examples
    --------
    >>> import numpy as np
    >>> joint_moments(np.array([[1.0, 0], [0, 3]]), [0, 0], 1).sums[0].tolist()
    [[0.0, 0.5, -1.5], [0.0, -1.5, 4.5]]
    """
    codes = np.asarray(codes)
    n, d = X.shape
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, float)
    rows = max(1, _BLOCK // d)
    sums = np.zeros((n_classes, d, d + 1))
    if location is None:
        location = np.asarray(X[:rows], dtype=np.float64).mean(axis=0)
    # about a row of each class: the sums of a constant are zero, its variance too
    anchor = np.tile(np.asarray(location, dtype=np.float64), (n_classes, 1))
    present, example = np.unique(codes, return_index=True)
    anchor[present] = X[example]
    for start in range(0, n, rows):
        block, label = X[start : start + rows], codes[start : start + rows]
        w = weight[start : start + rows, None]
        for k in np.unique(label):
            member = label == k
            centred = block[member] - anchor[k]
            weighted = w[member] * centred
            sums[k, :, 0] += weighted.sum(axis=0)
            sums[k, :, 1:] += weighted.T @ centred
    total = np.bincount(codes, weights=weight, minlength=n_classes)
    sums = _translate(sums, total, anchor - location)
    broken = ~np.isfinite(np.diagonal(sums[..., 1:], axis1=1, axis2=2)).all(axis=0)
    if broken.any():
        raise ValueError(
            f"the moments of feature {int(np.flatnonzero(broken)[0])} overflow; "
            "rescale it (for example with StandardScaler)"
        )
    return JointMoments(total, sums, np.asarray(location))


def _translate(sums: Array, weight: Array, shift: Array) -> Array:
    """Joint sums about c, given those about c + shift ((d,) or (K, d))."""
    shift = np.broadcast_to(shift, sums.shape[:-1])[..., None]
    first = sums[..., :1]
    moved = first + weight[:, None, None] * shift
    cross = first @ np.swapaxes(shift, 1, 2) + shift @ np.swapaxes(moved, 1, 2)
    return np.concatenate([moved, sums[..., 1:] + cross], axis=-1)
