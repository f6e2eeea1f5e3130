from fractions import Fraction
from math import comb

import numpy as np
import pytest

from memdlib.nml._engine.level_rule import N_KEPT, level_rule
from memdlib.nml._engine.saturated import two_outcome_sum


def exact_law(n):
    """Maximised likelihoods of n labels, summed by their label count."""
    return [
        comb(n, k) * Fraction(k, n) ** k * Fraction(n - k, n) ** (n - k)
        for k in range(n + 1)
    ]


@pytest.mark.parametrize(("n", "n_nodes"), [(20, 3), (41, 6), (60, 1), (60, 7)])
def test_polynomials_are_integrated_exactly(n, n_nodes):
    nodes, weights = level_rule(n, n_nodes)
    law, half = exact_law(n), Fraction(n, 2)
    assert nodes.size == n_nodes + 2 * N_KEPT
    for degree in range(2 * n_nodes):
        # from 0 on, so that odd degrees do not vanish by symmetry
        exact = sum(w * (k / half) ** degree for k, w in enumerate(law))
        assert weights @ (nodes / float(half)) ** degree == pytest.approx(
            float(exact), rel=1e-13
        )
    degree = 2 * n_nodes
    exact = sum(w * (k / half - 1) ** degree for k, w in enumerate(law))
    above = weights @ (nodes / float(half) - 1) ** degree
    assert abs(above - float(exact)) > 1e-9


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 11, 30])
def test_few_label_counts_are_all_nodes(n):
    nodes, weights = level_rule(n, 23)
    assert nodes.tolist() == list(range(n + 1))
    assert weights == pytest.approx([float(w) for w in exact_law(n)], rel=1e-12)


@pytest.mark.parametrize(("n", "n_nodes"), [(9, 1), (10, 2), (200, 25), (5000, 90)])
def test_nodes_mirror_each_other_and_keep_the_ends(n, n_nodes):
    nodes, weights = level_rule(n, n_nodes)
    assert (np.diff(nodes) > 0).all()
    assert (weights > 0).all()
    assert (nodes + nodes[::-1] == n).all()
    assert weights == pytest.approx(weights[::-1], rel=1e-11)
    assert nodes[:N_KEPT].tolist() == list(range(N_KEPT))
    assert weights.sum() == pytest.approx(two_outcome_sum(n), rel=1e-11)
