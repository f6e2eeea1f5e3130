"""Complexity of a model on cells: exact over its statistics, or by random draws.

The supremum of a likelihood depends on the labels through their statistic alone. So
the label tables are counted by statistic, cell after cell, and one table of each is
fitted.

*Fits* take damped Newton steps; of two classes, full ones have settled most label
counts before. There is no certificate of each fit: how far off one may be follows from
the rounding of its logits, which are large where features are uneven.

*Bounds* need no fit. Below are the label tables on faces whose logits are free; above,
the saturated model or, for two classes, all sets of cells with free logits. No exact
sum leaves the engine outside of them.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp, xlogy

from memdlib.nml._engine.cells import (
    CellModel,
    allowed_classes,
    arrangement,
    difference,
    face_basis,
    free_sets,
    saturated_faces,
)
from memdlib.nml._engine.fits import SETTLED, FullSteps, maximise_labels
from memdlib.nml._engine.level_model import NoMaximumError, orthonormal
from memdlib.nml._engine.saturated import EPSILON, log_multinomial_sum

Array = NDArray[np.float64]
Tables = NDArray[np.int64]

# Nats by which rounding may cross a bound.
_SLACK = 1e-9
# Newton steps that a fit may take.
_STEPS = 200
# Label counts that are fitted at a time.
_BATCH = 2048
# Twice the gain of a step, in nats, that is left undone, and that is an error.
_NO_GAIN, _UNSETTLED = 1e-15, 1e-9
# Roundings of a logit, as a multiple of the sum of the sizes of its terms.
_ROUNDINGS = 4.0 * EPSILON
# Label tables held at a time; a limit of what is feasible exactly.
MOST_TABLES = 2**22
# Keys of statistics stay below this.
_LARGEST_KEY = 2**62
# Standard error that a mean of draws is allowed at worst, in nats.
_WORST_ERROR = 0.5


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


def softmax_suprema(
    totals: Array, cells: NDArray[np.intp], basis: Array, labels: Array
) -> tuple[Array, float]:
    """Maximised log-likelihood of interior label counts, each class above zero or not.

    Parameters
    ----------
    totals : ndarray of shape (N,)
        Samples in each cell.
    cells : ndarray of shape (R,)
        Cell of each free logit, in order; a cell without any is left out.
    basis : ndarray of shape (R, r)
        What the free logits can be, of full rank.
    labels : ndarray of shape (R, B)
        Labels of the class of each free logit.

    Returns
    -------
    value : ndarray of shape (B,)
        Nats.
    doubt : float
        How far off any of them may be, in nats: what the last steps left, and what
        rounding of the logits does.

    Raises
    ------
    NoMaximumError
        If some label counts do not settle, as on the boundary they would not.

    Examples
    --------
    Three classes of one cell, with labels 1, 2 and 3.

    >>> value, doubt = softmax_suprema(
    ...     np.array([6.0]), np.array([0, 0]), np.eye(2), np.array([[2.0], [3.0]])
    ... )
    >>> bool(np.isclose(np.exp(-value[0]), 6**6 / (2**2 * 3**3))), doubt < 1e-12
    (True, True)
    """
    basis = orthonormal(basis, totals[cells, None])
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    inverse = np.repeat(np.arange(len(starts)), np.diff([*starts, len(cells)]))
    form = _Form(totals[cells[starts]][:, None], basis, starts, inverse)
    n_cases = labels.shape[1]
    state, rest = np.empty((basis.shape[1], n_cases)), np.arange(n_cases)
    if len(starts) == len(cells):
        steps = FullSteps(totals[cells, None], basis)
        _, state, rest = maximise_labels(steps, labels)
    for i in range(0, rest.size, _BATCH):
        part = rest[i : i + _BATCH]
        state[:, part] = form.maximise(labels[:, part])
    value, mean = form.evaluate(labels, state)
    size = np.abs(basis) @ np.abs(state)
    lost = _ROUNDINGS * (np.abs(labels - mean) * size).sum(axis=0)
    return value, SETTLED + float(lost.max(initial=0.0))


class _Form:
    """Log-likelihood as a function of coefficients, one case a column."""

    def __init__(self, totals, basis, starts, inverse):
        self.totals, self.basis = totals, basis
        self.starts, self.inverse = starts, inverse

    def maximise(self, labels: Array) -> Array:
        state = np.zeros((self.basis.shape[1], labels.shape[1]))
        value, mean = self.evaluate(labels, state)
        active = np.arange(labels.shape[1])
        for _ in range(_STEPS):
            ones = labels[:, active]
            gradient = self.basis.T @ (ones - mean)
            change = np.linalg.solve(self.curvature(mean), gradient.T[..., None])
            change = change[..., 0].T
            slope = (gradient * change).sum(axis=0)
            going = ~((slope >= -_UNSETTLED) & (slope <= _NO_GAIN))
            active, ones, slope = active[going], ones[:, going], slope[going]
            if not active.size:
                return state
            change, mean = change[:, going], mean[:, going]
            length = np.ones(active.size)
            least = value[active] - 1e-15 * np.abs(value[active])
            reached, after = self.evaluate(ones, state[:, active] + change)
            while (short := reached < least + 0.1 * length * slope).any():
                length[short] = np.where(length[short] > 1e-6, 0.5 * length[short], 0.0)
                moved = state[:, active[short]] + length[short] * change[:, short]
                reached[short], after[:, short] = self.evaluate(ones[:, short], moved)
                reached[short & (length == 0.0)] = np.inf
            going = length > 0.0
            if not (np.abs(slope[~going]) <= _UNSETTLED).all():
                break
            state[:, active] += length * change
            active, mean = active[going], after[:, going]
            value[active] = reached[going]
        raise NoMaximumError(
            f"the likelihood of {active.size} label counts did not settle in {_STEPS} "
            "steps; join levels whose values are close, or use evenly spaced values or "
            "fewer moments"
        )

    def evaluate(self, labels: Array, state: Array) -> tuple[Array, Array]:
        """Log-likelihood, a sum of terms of one sign, and expected labels."""
        logits = self.basis @ state
        top = np.maximum(np.maximum.reduceat(logits, self.starts, axis=0), 0.0)
        logits -= top[self.inverse]
        parts = np.exp(logits)
        sums = np.exp(-top) + np.add.reduceat(parts, self.starts, axis=0)
        first = self.totals - np.add.reduceat(labels, self.starts, axis=0)
        logits -= np.log(sums)[self.inverse]
        value = (labels * logits).sum(axis=0)
        value -= (first * (top + np.log(sums))).sum(axis=0)
        return value, (self.totals / sums)[self.inverse] * parts

    def curvature(self, mean: Array) -> Array:
        """Covariance of the statistic, one matrix a case."""
        each = mean.T[:, :, None] * self.basis
        within = np.add.reduceat(each, self.starts, axis=1)
        total = self.basis.T @ each
        return total - np.einsum("bni,bnj->bij", within / self.totals, within)


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
