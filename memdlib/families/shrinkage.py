"""How far to shrink an estimate towards a target: intensities that need no tuning."""

import numpy as np


def shrinkage_intensity(variation, distance, degrees_of_freedom):
    """Intensity min(1, variation / (degrees_of_freedom distance)) of least error.

    Parameters
    ----------
    variation : array_like
        Sum of the variances of single observations about the estimate.
    distance : array_like
        Squared distance of the estimate from the target.
    degrees_of_freedom : array_like
        Number of observations less those that the centre takes.

    Returns
    -------
    ndarray
        In [0, 1]; 1 where the estimate lies at the target, or has no freedom.
    """
    freedom = np.maximum(degrees_of_freedom, 0.0)
    total = freedom * np.asarray(distance)
    intensity = variation / np.where(total > 0, total, 1.0)
    return np.where(total > variation, intensity, 1.0)


def correlation_intensity(squares, n_varying, degrees_of_freedom):
    """Shrinkage intensity of correlations towards zero.

    Parameters
    ----------
    squares : array_like
        Sum of the squares of the correlations of different features.
    n_varying : array_like
        Number of features whose variance is not zero.
    degrees_of_freedom : array_like
        As for :func:`shrinkage_intensity`.

    Returns
    -------
    ndarray
        In [0, 1].
    """
    n_varying = np.asarray(n_varying)
    variation = n_varying * (n_varying - 1.0) + squares
    return shrinkage_intensity(variation, squares, degrees_of_freedom)
