"""Bounds of the complexity of a model on cells, which need no fit.

Below are the label tables on faces whose logits are free; above, the saturated model
or, for two classes, all sets of cells with free logits. No exact sum leaves the engine
outside of them.
"""

import math

import numpy as np
from scipy.special import logsumexp

from memdlib.nml._engine.cell_model import CellModel
from memdlib.nml._engine.faces import free_sets, saturated_faces
from memdlib.nml._engine.saturated import log_multinomial_sum

# Nats by which rounding may cross a bound.
_SLACK = 1e-9


def complexity_bounds(model: CellModel) -> tuple[float, float]:
    """Lower and upper bound of the log complexity, without any fit.

    Parameters
    ----------
    model : CellModel

    Returns
    -------
    lower, upper : float
        Nats.

    Notes
    -----
    Below: the terms on faces whose logits are free, which have a closed form. Above:
    the saturated complexity; for two classes also the sum over all sets of cells with
    free logits of the product of C(2, n) - 1, which is never larger.

    Examples
    --------
    >>> bounds = complexity_bounds(CellModel(((1,), (2,)), (2, 2), 2))
    >>> np.exp(bounds).round(6).tolist()
    [2.0, 4.0]
    """
    if not model.rows:
        return 0.0, 0.0
    upper = model.saturated_complexity
    if model.n_classes == 2:
        log_a = np.log([math.expm1(log_multinomial_sum(n, 2)) for n in model.counts])
        upper = min(upper, float(logsumexp(free_sets(model.rows) @ log_a)))
    faces = saturated_faces(model.rows, model.n_classes)
    if faces is None:
        return 0.0, upper
    k = range(model.n_classes + 1)
    with np.errstate(divide="ignore"):
        full = np.log([[_all_occur(n, j) for j in k] for n in model.counts])
    sizes = faces.sum(axis=2)
    lower = float(logsumexp(full[np.arange(len(full)), sizes].sum(axis=1)))
    # equal where all faces are saturated, up to rounding
    return min(lower, upper), upper


def _all_occur(n: int, n_classes: int) -> float:
    """Part of C(K, n) of the labels in which every class occurs."""
    if n_classes > n:
        return 0.0
    return max(
        0.0,
        math.fsum(
            (-1) ** (n_classes - j)
            * math.comb(n_classes, j)
            * math.exp(log_multinomial_sum(n, j))
            for j in range(1, n_classes + 1)
        ),
    )


def within_bounds(value: float, bounds: tuple[float, float]) -> float:
    """A log complexity, moved into its bounds if rounding has put it outside.

    Parameters
    ----------
    value : float
    bounds : tuple of float

    Returns
    -------
    float

    Raises
    ------
    RuntimeError
        If it is farther outside.

    Examples
    --------
    >>> within_bounds(3.0 + 1e-12, (2.0, 3.0))
    3.0
    """
    lower, upper = bounds
    if not lower - _SLACK <= value <= upper + _SLACK:
        raise RuntimeError(
            f"log complexity {value} came out beyond its bounds [{lower}, {upper}]; "
            "this is an error of the computation, please report the input"
        )
    return min(max(value, lower), upper)
