"""NML code lengths of labels of several classes, given the level of one feature.

Each class has a polynomial in the level value; the labels follow their softmax. As soon
as the polynomials have as many coefficients as there are levels, the model is saturated
and its complexity has a closed form; here it is exact below that too.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib.nml._engine.cell_model import CellModel, additive_design, cell_model
from memdlib.nml._engine.cell_sums import cell_complexity
from memdlib.nml._engine.level_model import require_even
from memdlib.nml.codes.checks import (
    check_boolean,
    check_classes,
    check_counts,
    check_levels,
)
from memdlib.nml.codes.codelength import Codelength, ComplexityEstimate
from memdlib.nml.codes.joint_features import (
    METHODS,
    error_of,
)
from memdlib.validation import check_choice, check_integer, check_real_array


def multiclass_complexity(
    level_counts: ArrayLike,
    n_moments: int,
    n_classes: int,
    level_values: ArrayLike | None = None,
    intercept: bool = False,
    method: str = "auto",
    n_draws: int = 2**16,
    seed: int = 0,
) -> ComplexityEstimate:
    """Log complexity of labels of several classes given the level of a feature.

    Parameters
    ----------
    level_counts : array_like of shape (L,)
        Samples at each level.
    n_moments : int
        Moments x, .., x^m of each class.
    n_classes : int
        K, 2 or more.
    level_values : array_like of shape (L,), default=None
        Value x of each level; distinct, taken as exact. None means 1..L.
    intercept : bool, default=False
        Whether the polynomials have a constant term as well.
    method : {"auto", "exact", "monte-carlo"}, default="auto"
        "auto": exact if at most four million label tables must be held at a time;
        "monte-carlo": unbiased, with a standard error.
    n_draws : int, default=65536
        Draws of "monte-carlo".
    seed : int, default=0
        Seed of "monte-carlo".

    Returns
    -------
    ComplexityEstimate
        Nats; ``method`` is "saturated", "statistics" (exact) or "monte-carlo".

    Raises
    ------
    ValueError
        If counts, values or numbers are out of range, if the sum is too large for
        "exact" or for any method, or if the draws are too few for a standard error that
        can be trusted. Each message says what would be feasible.

    Notes
    -----
    Only differences of the polynomials matter, so that there are K - 1 of them; no
    class is preferred. With two classes this is `conditional_complexity`.

    Examples
    --------
    >>> for m in (1, 2, 3):
    ...     found = multiclass_complexity([4, 3, 4], m, 3)
    ...     print(f"{found.complexity:.6f} {found.method}")
    2.887954 statistics
    5.006022 statistics
    5.726431 saturated
    """
    counts, values = check_levels(level_counts, level_values)
    if counts.ndim != 1:
        raise ValueError(
            f"level_counts has shape {counts.shape}; give one count a level, shape (L,)"
        )
    k = check_integer(n_classes, "n_classes", minimum=2)
    tables = np.zeros((len(counts), k), dtype=np.int64)
    tables[:, 0] = counts
    model, *_ = _model(tables, values, n_moments, intercept)
    check_choice(method, "method", METHODS)
    draws = check_integer(n_draws, "n_draws")
    return ComplexityEstimate(*cell_complexity(model, method, draws, seed))


def multiclass_error(
    class_counts: ArrayLike,
    n_moments: int,
    level_values: ArrayLike | None = None,
    intercept: bool = False,
) -> float:
    """Maximised code length of labels of several classes given the level of a feature.

    Parameters
    ----------
    class_counts : array_like of shape (L, K)
        Labels of each class at each level.
    n_moments, level_values, intercept
        As for `multiclass_complexity`.

    Returns
    -------
    float
        Nats, never negative.

    Raises
    ------
    ValueError
        As for `multiclass_complexity`.

    Examples
    --------
    >>> round(multiclass_error([[4, 0, 0], [1, 2, 1], [0, 0, 4]], 2), 6)
    4.158883
    >>> multiclass_error([[4, 0, 0], [0, 0, 3], [0, 4, 0]], 3)
    0.0
    """
    tables = check_counts(class_counts, "class_counts", stack=True)
    if tables.ndim != 2 or tables.shape[1] < 2:
        raise ValueError(
            f"class_counts has shape {tables.shape}; give levels x classes, two "
            "classes or more"
        )
    _, values = check_levels(tables.sum(axis=1), level_values)
    return error_of(*_model(tables.astype(np.int64), values, n_moments, intercept))


def multiclass_codelength(
    x: ArrayLike,
    labels: ArrayLike,
    n_moments: int,
    n_classes: int,
    intercept: bool = False,
    method: str = "auto",
    n_draws: int = 2**16,
    seed: int = 0,
) -> Codelength:
    """NML code length of labels of several classes, given the level of each sample.

    Parameters
    ----------
    x : array_like of shape (n,)
        Level value of each sample; the distinct values are the levels.
    labels : array_like of shape (n,)
        Classes 0, .., ``n_classes`` - 1.
    n_moments, n_classes, intercept, method, n_draws, seed
        As for `multiclass_complexity`.

    Returns
    -------
    Codelength
        Nats.

    Raises
    ------
    ValueError
        As for `multiclass_complexity`, and if ``x`` is empty or not finite or the
        labels are not one class for each sample.

    Examples
    --------
    >>> x = [1, 1, 1, 2, 2, 2, 3, 3, 3]
    >>> found = multiclass_codelength(x, [0, 0, 1, 1, 1, 1, 2, 2, 1], 2, 3)
    >>> round(found.error, 6), round(found.complexity, 6)
    (3.819085, 4.708881)
    """
    x = check_real_array(x, "x")
    if x.ndim != 1 or not x.size:
        raise ValueError(f"x has shape {x.shape}; give one level value a sample")
    if not np.isfinite(x).all():
        raise ValueError(
            f"x holds {x[~np.isfinite(x)][0]}; leave out samples without a value"
        )
    y, k = check_classes(labels, len(x), n_classes)
    values, level = np.unique(x, return_inverse=True)
    tables = np.zeros((len(values), k), dtype=np.int64)
    np.add.at(tables, (level, y), 1)
    found = multiclass_complexity(
        tables.sum(axis=1), n_moments, k, values, intercept, method, n_draws, seed
    )
    return Codelength(multiclass_error(tables, n_moments, values, intercept), *found)


def _model(
    tables: NDArray[np.int64],
    values: NDArray[np.float64],
    n_moments: int,
    intercept: bool,
) -> tuple[CellModel, NDArray[np.int64], int]:
    check_boolean(intercept, "intercept")
    m = check_integer(n_moments, "n_moments")
    require_even(values[tables.any(axis=1)], m + intercept, intercept)
    design = additive_design(values[:, None], m, intercept)
    return cell_model(design, tables, tables.shape[1])
