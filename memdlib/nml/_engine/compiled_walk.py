"""Walks along one level of a tube, compiled where numba is installed.

As for `compiled_maxima`, whose steps these are, many walks go on side by side. Each
starts a fit where the two before it point to, so that one step or two are enough.
"""

import numpy as np

from memdlib.nml._engine.compiled import compile_if_possible
from memdlib.nml._engine.compiled_lanes import LANES
from memdlib.nml._engine.compiled_maxima import _LONGEST, _STEPS, _is_settled, _step

# Sum of w d^6 at which the expansion of a maximum is exact to about 1e-11.
_SETTLED = 1e-9


@compile_if_possible
def walk(
    counts,
    basis,
    products,
    target,
    state,
    saturated,
    weight,
    node,
    step,
    nodes,
    law,
    level_saturated,
    rest,
    depth,
    keep,
):
    """Walk from nodes of the last level in one direction for as long as D allows.

    Parameters
    ----------
    counts : ndarray of shape (L,)
        Samples at each level.
    basis : ndarray of shape (L, p)
        Basis of the logits.
    products : ndarray of shape (p * (p + 1) / 2, L)
        Products of its columns, from `newton.pairs`.
    target : ndarray of shape (p, B)
        Sufficient statistics of the other levels.
    state : ndarray of shape (p, B)
        Coefficients to start with.
    saturated, weight : ndarray of shape (B,)
        Saturated log-likelihoods and weights of the other levels.
    node : ndarray of shape (B,)
        Where to start on the last level.
    step : int
        1 or -1.
    nodes, law, level_saturated : ndarray of shape (N,)
        Label counts of the last level, their weights and their saturated
        log-likelihoods.
    rest : ndarray of shape (N + 1,)
        Weights from a node on in the direction of the walk; 0 at the end, which -1
        means as well.
    depth : float
        D from which on a walk ends.
    keep : bool
        Whether to keep the nodes, instead of summing them up.

    Returns
    -------
    interior, omitted : float
        As in `tube.TubeSum`.
    n_fits : int
        Fits that it took.
    stuck : ndarray of shape (B,)
        Where a general method has to go on, else -1.
    which, where : ndarray of shape (K,)
        Walks and nodes that were kept.
    found : ndarray of shape (p, K)
        Their coefficients.
    """
    n_levels, p = basis.shape
    n_walks, n_nodes = target.shape[1], nodes.size
    interior, omitted, n_fits = 0.0, 0.0, 0
    stuck = np.full(n_walks, -1)
    most = n_walks * n_nodes if keep else 0
    which, where = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    found, n_kept = np.empty((p, most)), 0
    current, aim, before, gram = 0, p, 2 * p, 3 * p
    free = gram + len(products)
    rows = np.zeros((free + 5 + 3 * p + 3 * n_levels, LANES))
    bits = rows.view(np.int64)
    case, at = np.full(LANES, -1), np.zeros(LANES, dtype=np.int64)
    age, n_done = np.zeros(LANES, dtype=np.int64), np.zeros(LANES, dtype=np.int64)
    begun = 0
    while True:
        n_busy = 0
        for j in range(LANES):
            if case[j] < 0 and begun < n_walks:
                case[j], at[j], age[j], n_done[j] = begun, node[begun], 0, 0
                for i in range(p):
                    rows[current + i, j] = state[i, begun]
                    own = basis[n_levels - 1, i] * nodes[at[j]]
                    rows[aim + i, j] = target[i, begun] + own
                begun += 1
            n_busy += case[j] >= 0
        if n_busy == 0:
            kept = which[:n_kept].copy(), where[:n_kept].copy()
            return interior, omitted, n_fits, stuck, *kept, found[:, :n_kept].copy()
        _step(rows, bits, counts, basis, products, current, aim, gram, free)
        for j in range(LANES):
            c, k = case[j], at[j]
            if c < 0:
                continue
            age[j] += 1
            if _is_settled(rows, j, p, free, _SETTLED):
                n_fits += 1
                excess = saturated[c] + level_saturated[k] - rows[free, j]
                near = excess <= depth
                term = weight[c] * np.exp(-excess)
                if not keep:
                    interior += term * law[k]
                elif near:
                    which[n_kept], where[n_kept] = c, k
                    for i in range(p):
                        found[i, n_kept] = rows[current + i, j]
                    n_kept += 1
                if not near:
                    omitted += term * rest[k if keep else k + step]
                after = k + step
                if not near or after < 0 or after == n_nodes:
                    case[j] = -1
                    continue
                ahead, ratio = nodes[after] - nodes[k], 0.0
                if n_done[j]:
                    ratio = ahead / (nodes[k] - nodes[k - step])
                for i in range(p):
                    here = rows[current + i, j]
                    rows[current + i, j] += ratio * (here - rows[before + i, j])
                    rows[before + i, j] = here
                    rows[aim + i, j] += ahead * basis[n_levels - 1, i]
                at[j], age[j] = after, 0
                n_done[j] += 1
            elif age[j] == _STEPS:
                stuck[c], case[j] = k, -1
            elif rows[free + 4, j] > _LONGEST:
                back = _LONGEST / rows[free + 4, j] - 1.0
                for i in range(p):
                    rows[current + i, j] += back * rows[free + 5 + p + i, j]
