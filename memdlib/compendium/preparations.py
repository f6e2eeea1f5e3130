"""How expression values can be prepared: each sample by itself, so nothing leaks."""

import numpy as np
from numpy.typing import NDArray

PREPARATIONS = ("raw", "log", "standardised", "log, standardised")


def prepare(X: NDArray, how: str, floor: float | None = None) -> NDArray[np.float64]:
    """Prepare expression values, row by row.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Intensities, average differences or ratios.
    how : {"raw", "log", "standardised", "log, standardised"}
        Leave the values; take logarithms; give each sample mean zero and variance one
        over its genes; both, in this order.
    floor : float, default=None
        Values below it are raised to it before the logarithm.

    Returns
    -------
    ndarray of shape (n, d)

    Raises
    ------
    ValueError
        If the preparation has another name, a logarithm meets a value that is not
        positive, or a sample to be standardised is constant.

    Examples
    --------
    >>> import numpy as np
    >>> from memdlib.compendium.preparations import prepare
    >>> prepare(np.array([[-5.0, 100.0]]), "log", floor=1.0).round(2).tolist()
    [[0.0, 4.61]]
    >>> prepare(np.array([[1.0, 3.0]]), "standardised").tolist()
    [[-1.0, 1.0]]
    """
    if how not in PREPARATIONS:
        raise ValueError(f"how={how!r} must be one of {', '.join(PREPARATIONS)}")
    X = np.asarray(X, np.float64)
    if how.startswith("log"):
        X = X if floor is None else np.maximum(X, floor)
        if X.min() <= 0:
            raise ValueError(
                f"the logarithm needs positive values, found {X.min():g}; give a floor"
            )
        X = np.log(X)
    if how.endswith("standardised"):
        scale = X.std(axis=1, keepdims=True)
        if not scale.all():
            raise ValueError(f"sample {int(scale.argmin())} has one value throughout")
        X = (X - X.mean(axis=1, keepdims=True)) / scale
    return X
