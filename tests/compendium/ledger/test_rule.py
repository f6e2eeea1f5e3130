from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendium.ledger.rule import can_print, fewest_runs, holm, z_score


def prints(n, n_splits, runs):
    """All figures that so many runs can print, by going through what they may do."""
    q, large = divmod(n, n_splits)
    sizes = [q + 1] * large + [q] * (n_splits - large)
    found = set()
    for right in product(*(range(size + 1) for size in sizes * runs)):
        folds = [Fraction(r, s) for r, s in zip(right, sizes * runs, strict=True)]
        found.add(sum(folds) / len(folds))
        found.add(Fraction(sum(right), n * runs))
    return found


@pytest.mark.parametrize(("n", "n_splits", "runs"), [(7, 3, 1), (5, 2, 2), (6, 3, 1)])
def test_what_runs_can_print_is_what_they_can_do(n, n_splits, runs):
    figures = prints(n, n_splits, runs)
    for cents in range(0, 10001, 7):
        figure, half = Fraction(cents, 100), Fraction(1, 200)
        near = any(abs(100 * f - figure) <= half for f in figures)
        assert can_print(cents / 100, n, n_splits, runs) == near
    for figure in figures:
        assert can_print(round(100 * float(figure), 2), n, n_splits, runs)


@given(
    n=st.integers(20, 200),
    n_splits=st.sampled_from([2, 10]),
    runs=st.integers(1, 6),
    seed=st.integers(0, 99),
)
def test_runs_that_were_made_can_print_their_figure(n, n_splits, runs, seed):
    q, large = divmod(n, n_splits)
    sizes = np.repeat([q + 1, q], [large, n_splits - large])
    right = np.random.default_rng(seed).binomial(sizes, 0.8, size=(runs, n_splits))
    for share in ((right / sizes).mean(), right.sum() / (n * runs)):
        printed = round(100 * share, 2)
        assert can_print(printed, n, n_splits, runs)
        assert fewest_runs(printed, n, n_splits) <= runs


def test_scores_by_hand():
    assert z_score(90.0, 91.005, 1.0, 10, 500, 1) == pytest.approx(1 / 1.1**0.5)
    assert z_score(90.0, 90.004, 1.0, 10, 500, 1) == 0.0
    # no spread was seen, but one row otherwise in one of four runs could have been
    one = np.std([0, 0, 0, 100 / 50], ddof=1)
    assert z_score(90.0, 91.005, 0.0, 4, 50, 4) == pytest.approx(1 / one / 0.5**0.5)


def test_holm_by_its_definition():
    rng = np.random.default_rng([7, 2])
    for n in (1, 2, 5, 12):
        p = rng.uniform(0, 0.2, n)
        adjusted = holm(p)
        order = np.argsort(p)
        for level in rng.uniform(0, 1, 20):
            rejected = []  # step down until the first that is not
            for rank, j in enumerate(order):
                if p[j] * (n - rank) > level:
                    break
                rejected.append(j)
            assert sorted(rejected) == np.flatnonzero(adjusted <= level).tolist()
