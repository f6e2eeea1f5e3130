"""NML code lengths of labels of any number of classes, given one feature or several.

The logit of each class against the first is a sum of one polynomial for each feature. A
cell is a combination of levels that some samples have; the complexity is a sum over
what the labels of the cells can be, exact for a few features of few levels.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib.nml._engine.cell_sums import cell_complexity, complexity_bounds, suprema
from memdlib.nml._engine.cells import CellModel, additive_design, cell_model
from memdlib.nml._engine.level_model import require_even
from memdlib.nml.codes.checks import (
    check_boolean,
    check_classes,
    check_distinct,
    check_level_indices,
)
from memdlib.nml.codes.codelength import Codelength, ComplexityEstimate
from memdlib.validation import check_choice, check_integer, check_real_array

METHODS = ("auto", "exact", "monte-carlo")

Array = NDArray[np.float64]


def joint_complexity(
    levels: ArrayLike,
    n_moments: int,
    level_values: ArrayLike | None = None,
    intercept: bool = False,
    n_classes: int = 2,
    method: str = "auto",
    n_draws: int = 2**16,
    seed: int = 0,
) -> ComplexityEstimate:
    """Log complexity of the labels given the levels of several features.

    Parameters
    ----------
    levels : array_like of shape (n, d)
        Index of the level of each sample in each feature, from 0 on.
    n_moments : int
        Moments x, .., x^m of each feature.
    level_values : array_like of shape (L,), default=None
        Value x of each level, the same for all features; None means 1..L. Values are
        taken as exact, so that sums agree where they should if the values are whole.
    intercept : bool, default=False
        Whether the logit has a constant term as well.
    n_classes : int, default=2
    method : {"auto", "exact", "monte-carlo"}, default="auto"
        "auto": exact if at most four million label tables must be held at a time, which
        takes seconds, or a minute at the limit; "monte-carlo": unbiased, with a
        standard error.
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
        If the levels are no table of indices, the values not finite and distinct, or so
        uneven that a logit may be 10^6 times another; if a number is out of range or a
        likelihood does not settle; if the cells and parameters are too many for
        "exact", or for any method; if the draws are too few for a standard error that
        can be trusted. Each message says what would be feasible.

    Notes
    -----
    The supremum of the likelihood depends on the labels through their statistic alone,
    and the number of label sequences of each statistic comes cell by cell from
    convolutions. Where no maximum is attained, the classes that vanish in the limit are
    found from the cocircuits of an oriented matroid, in whole numbers. Two bounds of
    the complexity that need no fit are asserted.

    References
    ----------
    .. [1] A. Bjorner, M. Las Vergnas, B. Sturmfels, N. White and G. M. Ziegler,
       Oriented Matroids, 2nd edition, Cambridge University Press 1999.

    Examples
    --------
    >>> from memdlib.nml import conditional_complexity
    >>> levels = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [2, 1]]
    >>> found = joint_complexity(levels, 1, intercept=True)
    >>> round(found.complexity, 6), found.method
    (3.205063, 'statistics')

    A single feature has the complexity that it always had; with more classes it has one
    that no other function tells.

    >>> one = joint_complexity(np.array(levels)[:, :1], 1, intercept=True)
    >>> alone = conditional_complexity([2, 3, 1], 1, intercept=True)
    >>> bool(np.isclose(one.complexity, alone))
    True
    >>> level = np.repeat([0, 1, 2], [4, 3, 4])[:, None]
    >>> for m in (1, 2, 3):
    ...     three = joint_complexity(level, m, n_classes=3)
    ...     print(f"{three.complexity:.6f} {three.method}")
    2.887954 statistics
    5.006022 statistics
    5.726431 saturated
    """
    levels, values, m = _checked(levels, level_values, n_moments, intercept)
    k = check_integer(n_classes, "n_classes", minimum=2)
    labels = np.zeros(len(levels), dtype=np.int64)
    model, *_ = _model(levels, labels, values, m, intercept, k)
    return _complexity(model, method, n_draws, seed)


def joint_bounds(
    levels: ArrayLike,
    n_moments: int,
    level_values: ArrayLike | None = None,
    intercept: bool = False,
    n_classes: int = 2,
) -> tuple[float, float]:
    """Bounds of the log complexity that need no fit.

    Parameters
    ----------
    levels, n_moments, level_values, intercept, n_classes
        As for `joint_complexity`.

    Returns
    -------
    lower, upper : float
        Nats. Below: the labels whose supremum is that of free logits in the limit.
        Above: for two classes, the sum over all sets of cells whose logits can be
        chosen freely of the products of C(2, n) - 1; for more, the saturated model.

    Raises
    ------
    ValueError
        As for `joint_complexity`.

    Examples
    --------
    >>> levels = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [2, 1]]
    >>> bounds = joint_bounds(levels, 1, intercept=True)
    >>> [round(bound, 4) for bound in bounds]
    [3.1355, 3.4012]
    """
    levels, values, m = _checked(levels, level_values, n_moments, intercept)
    k = check_integer(n_classes, "n_classes", minimum=2)
    labels = np.zeros(len(levels), dtype=np.int64)
    model, *_ = _model(levels, labels, values, m, intercept, k)
    return complexity_bounds(model)


def joint_error(
    levels: ArrayLike,
    labels: ArrayLike,
    n_moments: int,
    level_values: ArrayLike | None = None,
    intercept: bool = False,
    n_classes: int = 2,
) -> float:
    """Maximised code length of labels given the levels of several features.

    Parameters
    ----------
    levels, n_moments, level_values, intercept, n_classes
        As for `joint_complexity`.
    labels : array_like of shape (n,)
        Classes 0, .., ``n_classes`` - 1.

    Returns
    -------
    float
        Nats, minus the supremum of the log-likelihood.

    Raises
    ------
    ValueError
        As for `joint_complexity`, and if there is not one class for each sample.

    Examples
    --------
    Two features that only together tell the label.

    >>> levels = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> joint_error(levels, [0, 0, 0, 1], 1, intercept=True)
    0.0
    >>> error = joint_error(levels, [0, 1, 1, 0], 1, intercept=True)
    >>> round(float(error / np.log(2)), 6)
    4.0
    """
    levels, values, m = _checked(levels, level_values, n_moments, intercept)
    y, k = check_classes(labels, len(levels), n_classes)
    return _error_of(*_model(levels, y, values, m, intercept, k))


def joint_codelength(
    levels: ArrayLike,
    labels: ArrayLike,
    n_moments: int,
    level_values: ArrayLike | None = None,
    intercept: bool = False,
    n_classes: int = 2,
    method: str = "auto",
    n_draws: int = 2**16,
    seed: int = 0,
) -> Codelength:
    """NML code length of labels given the levels of several features.

    Parameters
    ----------
    levels, n_moments, level_values, intercept, n_classes, method, n_draws, seed
        As for `joint_complexity`.
    labels : array_like of shape (n,)
        Classes 0, .., ``n_classes`` - 1.

    Returns
    -------
    Codelength
        Nats.

    Raises
    ------
    ValueError
        As for `joint_complexity` and `joint_error`.

    Examples
    --------
    >>> levels = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [2, 1]]
    >>> found = joint_codelength(levels, [0, 0, 0, 1, 1, 1], 1, intercept=True)
    >>> round(found.error, 6), round(found.total, 6)
    (0.0, 3.205063)
    """
    levels, values, m = _checked(levels, level_values, n_moments, intercept)
    y, k = check_classes(labels, len(levels), n_classes)
    model, tables, n_fixed = _model(levels, y, values, m, intercept, k)
    complexity = _complexity(model, method, n_draws, seed)
    return Codelength(_error_of(model, tables, n_fixed), *complexity)


def added_feature_codelengths(
    levels: ArrayLike,
    labels: ArrayLike,
    given: Iterable[int],
    n_moments: int,
    candidates: Iterable[int] | None = None,
    level_values: ArrayLike | None = None,
    intercept: bool = False,
    n_classes: int = 2,
    method: str = "auto",
    n_draws: int = 2**16,
    seed: int = 0,
) -> Codelength:
    """NML code length of labels given some features and each of many others.

    Parameters
    ----------
    levels, n_moments, level_values, intercept, n_classes, method, n_draws, seed
        As for `joint_complexity`.
    labels : array_like of shape (n,)
        Classes 0, .., ``n_classes`` - 1.
    given : iterable of int
        Columns that are in already; may be empty.
    candidates : iterable of int, default=None
        Columns of which one is added, C of them; None means all. A column that is
        given adds nothing, and has the code length without any addition.

    Returns
    -------
    Codelength
        Its parts are arrays of shape (C,).

    Raises
    ------
    ValueError
        As for `joint_codelength`, and if a column does not exist.

    Notes
    -----
    The choice among the candidates is not part of the code length; naming one of them
    costs log C more.

    Examples
    --------
    The third feature has what the first lacks.

    >>> levels = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 1], [1, 1, 1]] * 2
    >>> labels = [0, 0, 0, 1, 1, 1] * 2
    >>> found = added_feature_codelengths(levels, labels, [0], 1, intercept=True)
    >>> found.total.round(3).tolist(), int(found.total.argmin())
    ([7.113, 6.613, 3.414], 2)
    """
    levels, values, m = _checked(levels, level_values, n_moments, intercept)
    y, k = check_classes(labels, len(levels), n_classes)
    given = _columns(given, "given", levels.shape[1])
    everything = range(levels.shape[1])
    candidates = everything if candidates is None else candidates
    found = []
    for column in _columns(candidates, "candidates", levels.shape[1]):
        part = levels[:, list(dict.fromkeys([*given, column]))]
        model, tables, n_fixed = _model(part, y, values, m, intercept, k)
        complexity = _complexity(model, method, n_draws, seed)
        found.append((_error_of(model, tables, n_fixed), *complexity))
    if not found:
        raise ValueError("candidates is empty; give at least one column")
    return Codelength(*map(np.array, zip(*found, strict=True)))


def _error_of(model: CellModel, tables: NDArray[np.int64], n_fixed: int) -> float:
    """Maximised code length of one label table of a model, never negative."""
    fitted = suprema(model, tables[None])[0].item() if model.rows else 0.0
    return max(float(n_fixed * np.log(model.n_classes) - fitted), 0.0)


def _checked(
    levels: ArrayLike, level_values: ArrayLike | None, n_moments: int, intercept: bool
) -> tuple[NDArray[np.int64], Array, int]:
    check_boolean(intercept, "intercept")
    m = check_integer(n_moments, "n_moments")
    table = check_level_indices(levels)
    n_levels = int(table.max()) + 1
    if level_values is None:
        return table.astype(np.int64), np.arange(1.0, n_levels + 1), m
    values = check_real_array(level_values, "level_values")
    if values.ndim != 1 or len(values) < n_levels:
        raise ValueError(
            f"level_values has shape {values.shape}; levels holds {n_levels - 1}, so "
            f"give {n_levels} values or more"
        )
    check_distinct(values)
    return table.astype(np.int64), values, m


def _columns(columns: Iterable[int], name: str, n_features: int) -> list[int]:
    if not np.iterable(columns):
        raise ValueError(f"{name}={columns!r} must be several columns, such as [0]")
    found = [check_integer(column, name, minimum=0) for column in columns]
    for column in found:
        if column >= n_features:
            raise ValueError(
                f"{name} holds {column}; levels has the columns 0 to {n_features - 1}"
            )
    return found


def _model(
    levels: NDArray[np.int64],
    labels: NDArray[np.int64],
    values: Array,
    n_moments: int,
    intercept: bool,
    n_classes: int,
) -> tuple[CellModel, NDArray[np.int64], int]:
    cells, which = np.unique(levels, axis=0, return_inverse=True)
    tables = np.zeros((len(cells), n_classes), dtype=np.int64)
    np.add.at(tables, (which.ravel(), labels), 1)
    for column in cells.T:
        occupied = values[np.unique(column)]
        require_even(occupied, n_moments + intercept, intercept)
    design = additive_design(values[cells], n_moments, intercept)
    return cell_model(design, tables, n_classes)


def _complexity(
    model: CellModel, method: str, n_draws: int, seed: int
) -> ComplexityEstimate:
    check_choice(method, "method", METHODS)
    draws = check_integer(n_draws, "n_draws")
    return ComplexityEstimate(*cell_complexity(model, method, draws, seed))
