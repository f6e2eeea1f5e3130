"""How far to shrink an estimate towards a target: intensities that need no tuning."""

import numpy as np

from memdlib._types import Array, ArrayLike


def shrinkage_intensity(
    variation: ArrayLike, distance: ArrayLike, degrees_of_freedom: ArrayLike
) -> Array:
    """Intensity min(1, variation / (degrees_of_freedom distance)) of least error."""
    n, distance = np.asarray(degrees_of_freedom), np.asarray(distance)
    share = np.maximum(n, 0.0) * distance
    return np.where(share > variation, variation / np.where(share > 0, share, 1.0), 1.0)


def correlation_intensity(
    squares: ArrayLike, n_varying: ArrayLike, degrees_of_freedom: ArrayLike
) -> Array:
    """Shrinkage intensity of correlations."""
    n_varying = np.asarray(n_varying)
    variation = n_varying * (n_varying - 1.0) + squares
    return shrinkage_intensity(variation, squares, degrees_of_freedom)
