"""Complexities of one or two features, of two or three classes, against mpmath.

Level values lie over up to five decades. What is found is compared with sums over all
label tables in sixty digits, which share with the package only the exact arithmetic
that tells which classes a maximum has in each cell.
"""

import math
from collections import Counter
from itertools import product
from typing import NamedTuple

import mpmath
import numpy as np

from benchmarks.nml_claims import BLOCK, judged
from memdlib.nml import joint_complexity
from memdlib.nml._engine.cell_sums import label_tables
from memdlib.nml._engine.cells import (
    additive_design,
    allowed_classes,
    arrangement,
    cell_model,
    difference,
    reduce_rows,
)

# Most label tables of a model, half a second of mpmath or so.
MOST_TABLES = 200
DIGITS = 60
# Gain of a step, in nats, that is nothing, and the most steps.
GAIN, STEPS = mpmath.mpf(10) ** -25, 400


class Joint(NamedTuple):
    """Arguments of `joint_complexity`."""

    levels: list[list[int]]
    n_moments: int
    level_values: list[float]
    intercept: bool
    n_classes: int


def random_model(rng) -> Joint:
    """A model of few samples that is not saturated.

    Parameters
    ----------
    rng : numpy.random.Generator

    Returns
    -------
    Joint
    """
    while True:
        n_features, n_classes = int(rng.integers(1, 3)), int(rng.integers(2, 4))
        n_levels = int(rng.integers(2, 4 if n_features == 2 else 5))
        n = int(rng.integers(n_levels, 9))
        values = np.arange(1.0, n_levels + 1)
        if rng.random() < 0.7:
            values = 10.0 ** rng.uniform(0, rng.uniform(0, 5), n_levels)
            values *= rng.choice([-1.0, 1.0], n_levels)
            values = np.round(values) if rng.random() < 0.5 else values
        levels = rng.integers(0, n_levels, (n, n_features))
        levels[:n_levels, 0] = np.arange(n_levels)
        sizes = np.unique(levels, axis=0, return_counts=True)[1].tolist()
        n_tables = math.prod(math.comb(s + n_classes - 1, s) for s in sizes)
        m, intercept = int(rng.integers(1, 3)), bool(rng.integers(2))
        if (
            n_tables <= MOST_TABLES
            and len(set(values.tolist())) == n_levels
            and n_features * m + intercept < len(sizes)
        ):
            return Joint(levels.tolist(), m, values.tolist(), intercept, n_classes)


def supremum(basis, cells, totals, labels):
    """Log-likelihood where no further step of Newton's gains 1e-25.

    Parameters
    ----------
    basis : list of R lists of r mpf
        What the free logits can be.
    cells : list of R int
        Cell of each of them; the first class of a cell has the logit 0.
    totals : sequence of int
        Samples in each cell.
    labels : list of R int
        Labels of the class of each free logit.

    Returns
    -------
    mpf
    """
    groups = {c: [i for i, d in enumerate(cells) if d == c] for c in cells}
    size = range(len(basis[0]))

    def evaluate(state):
        eta = [mpmath.fdot(row, state) for row in basis]
        value, mean = mpmath.fdot(labels, eta), [None] * len(eta)
        for cell, own in groups.items():
            top = max([mpmath.mpf(0)] + [eta[i] for i in own])
            parts = [mpmath.exp(eta[i] - top) for i in own]
            total = mpmath.exp(-top) + mpmath.fsum(parts)
            value -= totals[cell] * (top + mpmath.log(total))
            for i, part in zip(own, parts, strict=True):
                mean[i] = totals[cell] * part / total
        return value, mean

    state = [mpmath.mpf(0)] * len(size)
    value, mean = evaluate(state)
    for _ in range(STEPS):
        left = [k - m for k, m in zip(labels, mean, strict=True)]
        slope = [mpmath.fdot(left, (row[a] for row in basis)) for a in size]
        curvature = mpmath.matrix(len(size), len(size))
        for cell, own in groups.items():
            for i, j in product(own, own):
                weight = mean[i] * (i == j) - mean[i] * mean[j] / totals[cell]
                for a, b in product(size, size):
                    curvature[a, b] += weight * basis[i][a] * basis[j][b]
        change = list(mpmath.lu_solve(curvature, mpmath.matrix(slope)))
        if abs(mpmath.fdot(change, slope)) < GAIN:
            return value
        reached, length = None, mpmath.mpf(4)
        while reached is None or reached < value:
            length /= 4
            moved = [s + length * c for s, c in zip(state, change, strict=True)]
            reached, mean = evaluate(moved)
        state, value = moved, reached
    raise ArithmeticError(f"no maximum of {labels} among {totals} in {STEPS} steps")


def reference(call: Joint) -> float:
    """Log complexity as a sum over all label tables, in sixty digits.

    Parameters
    ----------
    call : Joint

    Returns
    -------
    float
    """
    levels, m, values, intercept, n_classes = call
    cells, sizes = np.unique(levels, axis=0, return_counts=True)
    tables = np.zeros((len(cells), n_classes), dtype=np.int64)
    tables[:, 0] = sizes
    design = additive_design(np.array(values)[cells], m, intercept)
    model, *_ = cell_model(design, tables, n_classes)
    lines, total, forms = arrangement(model.rows, n_classes), mpmath.mpf(0), {}
    choices = [label_tables(n, n_classes)[0].tolist() for n in model.counts]
    with mpmath.workdps(DIGITS):
        for table in product(*choices):
            face = allowed_classes(lines, np.array([table]) > 0)[0]
            key = tuple(map(tuple, face.tolist()))
            if key not in forms:
                forms[key] = _free_logits(model.rows, key)
            basis, free = forms[key]
            if len(basis) == len(basis[0] if basis else []):
                value = mpmath.fsum(
                    k * mpmath.log(mpmath.mpf(k) / sum(row))
                    for row in table
                    for k in row
                    if k
                )
            else:
                labels = [table[cell][c] for cell, c in free]
                value = supremum(
                    basis, [cell for cell, _ in free], model.counts, labels
                )
            ways = math.prod(
                math.factorial(sum(row)) // math.prod(map(math.factorial, row))
                for row in table
            )
            total += ways * mpmath.exp(value)
        return float(mpmath.log(total))


def _free_logits(rows, face):
    """What the free logits of a face can be, and the cell and class of each."""
    free, differences = [], []
    for cell, (row, allowed) in enumerate(zip(rows, face, strict=True)):
        first, *others = [c for c, kept in enumerate(allowed) if kept]
        free += [(cell, c) for c in others]
        differences += [difference(row, c, first, len(allowed)) for c in others]
    reduced = reduce_rows(zip(*differences, strict=True))
    columns = [[mpmath.mpf(x) / reduced.scale for x in row] for row in reduced.rows]
    return list(zip(*columns, strict=True)), free


def outcomes(block: int, n_models: int = BLOCK) -> Counter[str]:
    """How many claims of one block keep their word, and how many are refused.

    Parameters
    ----------
    block : int
        Seed.
    n_models : int, default=25

    Returns
    -------
    Counter
        "statistics", say, "statistics beyond" or "refused".
    """
    rng, found = np.random.default_rng([31, block]), Counter()
    for _ in range(n_models):
        call = random_model(rng)
        try:
            claim = joint_complexity(*call)
        except ValueError:
            found["refused"] += 1
            continue
        found[judged(claim, reference(call), call)] += 1
    return found
