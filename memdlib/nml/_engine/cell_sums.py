"""Complexity of a model on cells: exact over its statistics, or by random draws.

The supremum of a likelihood depends on the labels through their statistic alone. So
the label tables are counted by statistic, cell after cell, and one table of each is
fitted. Every result is held against two bounds that need no fit at all.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp, xlogy

from memdlib.nml._engine.cell_bounds import complexity_bounds, within_bounds
from memdlib.nml._engine.cell_model import CellModel, difference, face_basis
from memdlib.nml._engine.faces import allowed_classes, arrangement
from memdlib.nml._engine.saturated import EPSILON
from memdlib.nml._engine.softmax_fit import softmax_suprema

Array = NDArray[np.float64]
Tables = NDArray[np.int64]

# Label tables held at a time; a limit of what is feasible exactly.
MOST_TABLES = 2**22
# Keys of statistics stay below this.
_LARGEST_KEY = 2**62
# Standard error that a mean of draws is allowed at worst, in nats.
_WORST_ERROR = 0.5


class TooLarge(ValueError):
    """An exact sum has too many terms."""


def suprema(model: CellModel, tables: Tables) -> tuple[Array, float]:
    """Suprema of the log-likelihood of label tables.

    Parameters
    ----------
    model : CellModel
    tables : ndarray of shape (B, N, K)
        Labels of each class in each cell.

    Returns
    -------
    value : ndarray of shape (B,)
        Nats, at most 0.
    doubt : float
        How far off the fits among them may be, in nats.

    Notes
    -----
    In the limit some classes vanish from some cells. What is left is a model on a face
    of the polytope of statistics, where the maximum is attained; where its logits are
    free, it is the saturated one.

    Examples
    --------
    Logits in the ratio 1 to 2: labels of one class reach 1, others do not.

    >>> model = CellModel(((1,), (2,)), (2, 2), 2)
    >>> value, _ = suprema(model, np.array([[[0, 2], [0, 2]], [[1, 1], [1, 1]]]))
    >>> value.round(6).tolist()
    [0.0, -2.772589]
    """
    totals = np.array(model.counts, dtype=np.float64)
    value = xlogy(tables, tables / totals[:, None]).sum(axis=(1, 2))
    support = tables > 0
    flat = support.reshape(len(tables), -1)
    code = flat @ (1 << np.arange(flat.shape[1], dtype=np.int64))
    _, first, which = np.unique(code, return_index=True, return_inverse=True)
    lines = arrangement(model.rows, model.n_classes)
    patterns = allowed_classes(lines, support[first])
    faces, of_pattern = np.unique(patterns, axis=0, return_inverse=True)
    of_table = of_pattern.ravel()[which]
    order = np.argsort(of_table, kind="stable")
    ends = np.searchsorted(of_table[order], np.arange(len(faces) + 1))
    doubt = 0.0
    for face, start, end in zip(faces, ends[:-1], ends[1:], strict=True):
        form = face_basis(model.rows, tuple(map(tuple, face.tolist())))
        if form.saturated:
            continue
        here = order[start:end]
        labels = tables[here][:, form.cells, form.classes].T.astype(np.float64)
        fitted = softmax_suprema(totals, form.cells, form.basis, labels)
        value[here], doubt = fitted[0], max(doubt, fitted[1])
    return value, doubt


def exact_cell_complexity(model: CellModel) -> tuple[float, float]:
    """Log complexity by a fit of one label table for each statistic.

    Parameters
    ----------
    model : CellModel

    Returns
    -------
    log_complexity, uncertainty : float
        Nats; the second from rounding and what the fits leave.

    Raises
    ------
    TooLarge
        If more than `MOST_TABLES` label tables are met on the way.

    Examples
    --------
    Two genes of two levels each, logit 1 + x_1 + x_2.

    >>> rows = ((1, 1, 1), (1, 1, 2), (1, 2, 1), (1, 2, 2))
    >>> value, uncertainty = exact_cell_complexity(CellModel(rows, (10, 9, 9, 10), 2))
    >>> round(value, 6), uncertainty < 1e-12
    (5.346194, True)
    """
    arrangement(model.rows, model.n_classes)  # refuses what is too large
    log_number, tables = _statistics(model)
    value, doubt = suprema(model, tables)
    total = float(logsumexp(log_number + value))
    return within_bounds(total, complexity_bounds(model)), doubt + _rounding(model)


def _statistics(model: CellModel) -> tuple[Array, Tables]:
    """Log of the number of label sequences of each statistic, and one table of each."""
    keys, log_number = np.zeros(1, dtype=np.int64), np.zeros(1)
    tables = np.zeros((1, 0, model.n_classes), dtype=np.int64)
    for n, steps in zip(model.counts, _key_steps(model), strict=True):
        choices, log_choices = label_tables(n, model.n_classes)
        size = len(keys) * len(choices)
        if size > MOST_TABLES:
            raise TooLarge(
                f"{sum(model.counts)} samples in {len(model.counts)} cells make "
                f"{size} label tables or more, and {MOST_TABLES} are feasible; take "
                'fewer levels or features, or method="monte-carlo"'
            )
        longer = (keys[:, None] + choices @ steps).ravel()
        order = np.argsort(longer, kind="stable")
        keys = longer[order]
        starts = np.flatnonzero(np.diff(keys, prepend=keys[0] - 1))
        keys = keys[starts]
        summed = (log_number[:, None] + log_choices).ravel()[order]
        log_number = np.logaddexp.reduceat(summed, starts)
        before, last = np.divmod(order[starts], len(choices))
        tables = np.concatenate([tables[before], choices[last][:, None]], axis=1)
    return log_number, tables


def _key_steps(model: CellModel) -> Tables:
    """What a label of each class in each cell adds to the key of a statistic."""
    k = range(model.n_classes)
    columns = list(
        zip(
            *(difference(row, c, 0, model.n_classes) for row in model.rows for c in k),
            strict=True,
        )
    )
    steps = _mixed_radix(columns, model)
    if steps is None:
        # statistics too wide for a key: label tables themselves, none alike
        cells = [(cell, c) for cell in range(len(model.rows)) for c in k]
        tables = [
            [int(at == (cell, c)) for at in cells]
            for cell in range(len(model.rows))
            for c in k
            if c
        ]
        steps = _mixed_radix(tables, model)
    if steps is None:
        raise TooLarge(
            f"{sum(model.counts)} samples in {len(model.counts)} cells have too many "
            'label tables to count them; take fewer levels or features, or method="'
            'monte-carlo"'
        )
    return np.array(steps, dtype=np.int64).reshape(len(model.rows), model.n_classes)


def _mixed_radix(columns, model: CellModel) -> list[int] | None:
    """One whole number for all columns; sums of it over labels tell all sums."""
    sizes = np.repeat(np.array(model.counts, dtype=object), model.n_classes).tolist()
    steps, radix = [0] * len(sizes), 1
    for column in columns:
        steps = [s + radix * x for s, x in zip(steps, column, strict=True)]
        # twice the largest sum, for both signs
        radix *= 1 + 2 * sum(abs(x) * n for x, n in zip(column, sizes, strict=True))
        if radix > _LARGEST_KEY:
            return None
    return steps


@lru_cache(maxsize=1024)
def label_tables(n: int, n_classes: int) -> tuple[Tables, Array]:
    """All ways to give n samples of one cell labels, as counts of the classes.

    Parameters
    ----------
    n, n_classes : int

    Returns
    -------
    tables : ndarray of shape (M, K)
    log_number : ndarray of shape (M,)
        Logarithms of the multinomial coefficients.

    Raises
    ------
    TooLarge
        If there are more than `MOST_TABLES`.

    Examples
    --------
    >>> tables, log_number = label_tables(2, 2)
    >>> tables.tolist(), np.exp(log_number).round(12).tolist()
    ([[2, 0], [1, 1], [0, 2]], [1.0, 2.0, 1.0])
    """
    if math.comb(n + n_classes - 1, n_classes - 1) > MOST_TABLES:
        raise TooLarge(
            f"{n} samples of one cell have more than {MOST_TABLES} counts of "
            f"{n_classes} classes; take more levels or fewer classes"
        )
    tables = np.zeros((1, 0), dtype=np.int64)
    for _ in range(n_classes - 1):
        left = n - tables.sum(axis=1)
        choice = np.concatenate([np.arange(size + 1) for size in left])
        tables = np.column_stack([np.repeat(tables, left + 1, axis=0), choice])
    tables = np.column_stack([n - tables.sum(axis=1), tables])
    tables = tables[np.lexsort(tables.T[::-1])[::-1]]
    log_number = gammaln(n + 1) - gammaln(tables + 1.0).sum(axis=1)
    tables.flags.writeable = log_number.flags.writeable = False
    return tables, log_number


def drawn_cell_complexity(
    model: CellModel, n_draws: int, seed: int
) -> tuple[float, float]:
    """Log of an unbiased estimate of the complexity, with its standard error.

    Parameters
    ----------
    model : CellModel
    n_draws, seed : int

    Returns
    -------
    log_complexity, standard_error : float
        Nats.

    Raises
    ------
    ValueError
        If the draws are too few for a standard error that can be trusted.

    Notes
    -----
    Labels are drawn independently from the NML law of the saturated model. The mean of
    exp(supremum - saturated supremum), at most 1, is the ratio of both complexities;
    its relative variance is at most the inverse ratio less 1. By the lower bound of the
    complexity this is bounded before any draw, and too few draws are refused.

    Examples
    --------
    >>> rows = ((1, 1, 1), (1, 1, 2), (1, 2, 1), (1, 2, 2))
    >>> model = CellModel(rows, (10, 9, 9, 10), 2)
    >>> value, error = drawn_cell_complexity(model, 2**12, 0)
    >>> abs(value - 5.346194) < 5 * error, error < 0.02
    (True, True)
    """
    saturated = model.saturated_complexity
    lower, upper = complexity_bounds(model)
    excess = math.expm1(saturated - lower)
    if excess > n_draws * _WORST_ERROR**2:
        raise ValueError(
            f"{n_draws} draws cannot be trusted: the standard error might be "
            f"{math.sqrt(excess / n_draws):.2g} nats; give n_draws of "
            f"{math.ceil(excess / _WORST_ERROR**2)} or more, or join levels"
        )
    rng = np.random.default_rng(seed)
    tables = np.empty((n_draws, len(model.counts), model.n_classes), dtype=np.int64)
    for cell, n in enumerate(model.counts):
        choices, log_law = label_tables(n, model.n_classes)
        law = np.exp(log_law + xlogy(choices, choices / n).sum(axis=1))
        index = np.searchsorted(np.cumsum(law)[:-1] / law.sum(), rng.random(n_draws))
        tables[:, cell] = choices[index]
    distinct, times = np.unique(tables, axis=0, return_counts=True)
    totals = np.array(model.counts)[:, None]
    reference = xlogy(distinct, distinct / totals).sum(axis=(1, 2))
    ratio = np.exp(suprema(model, distinct)[0] - reference)
    mean = float(times @ ratio) / n_draws
    spread = float(times @ (ratio - mean) ** 2) / n_draws
    error = math.sqrt(spread / n_draws) / mean
    value = min(max(saturated + math.log(mean), lower), upper)
    return value, error


def cell_complexity(
    model: CellModel, method: str, n_draws: int, seed: int
) -> tuple[float, float, str]:
    """Log complexity, its uncertainty, and how it was found.

    Parameters
    ----------
    model : CellModel
    method : {"auto", "exact", "monte-carlo"}
        "auto": exact where that is feasible.
    n_draws, seed : int

    Returns
    -------
    complexity, uncertainty : float
        Nats.
    method : str
        "saturated", "statistics" or "monte-carlo".

    Raises
    ------
    ValueError
        If the sum is too large for the method.

    Examples
    --------
    >>> value, _, way = cell_complexity(CellModel(((1,),), (38,), 2), "auto", 1, 0)
    >>> print(f"{value:.10f}", way)
    2.1292784450 saturated
    """
    everything = tuple((True,) * model.n_classes for _ in model.rows)
    if face_basis(model.rows, everything).saturated:
        return model.saturated_complexity, _rounding(model), "saturated"
    if method != "monte-carlo":
        try:
            return *_kept(model), "statistics"
        except TooLarge:
            if method == "exact":
                raise
    return *drawn_cell_complexity(model, n_draws, seed), "monte-carlo"


def _rounding(model: CellModel) -> float:
    """Rounding of an exact sum: that of the logarithms of factorials grows with n."""
    n = sum(model.counts)
    return 4.0 * EPSILON * (n + 1) * math.log(n + 4.0)


@lru_cache(maxsize=2**14)
def _kept(model: CellModel) -> tuple[float, float]:
    return exact_cell_complexity(model)
