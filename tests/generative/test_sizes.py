import numpy as np
import pytest

from memdlib.generative.sizes import held_out_accuracy, size_grid, smallest_best


@pytest.mark.parametrize("d", [1, 63, 64, 65, 66, 1000, 19956])
def test_the_grid_of_sizes(d):
    grid = size_grid(None, d)
    assert grid[0] == 1
    assert grid[-1] == d
    assert (np.diff(grid) > 0).all()
    np.testing.assert_array_equal(grid[:64], np.arange(1, min(d, 64) + 1))
    # no step above 3 per cent but for the rounding up
    assert (np.diff(grid) < np.maximum(0.03 * grid[:-1] + 1, 1.5)).all()
    assert len(grid) < 64 + 240


def test_sizes_that_are_asked_for_are_tried_once_in_order():
    assert size_grid("every", 5).tolist() == [1, 2, 3, 4, 5]
    assert size_grid([4, 2, 2], 5).tolist() == [2, 4]


@pytest.mark.parametrize("asked", [[], [0, 1], [6], [0.5]])
def test_sizes_that_cannot_be_are_named(asked):
    with pytest.raises(ValueError, match="n_features_grid=.* integers from 1 to 5"):
        size_grid(asked, 5)


@pytest.mark.parametrize(
    ("accuracy", "size"),
    [
        ([0.5, 0.9, 0.9], 20),
        ([0.5, 0.9 - 1e-15, 0.9], 20),  # equal but for rounding
        ([0.5, 0.9 - 1e-9, 0.9], 30),  # a row of little weight
        ([0.9, 0.5, 0.9], 10),
    ],
)
def test_of_equal_accuracies_the_smallest_size_wins(accuracy, size):
    assert smallest_best(np.array([10, 20, 30]), np.array(accuracy)) == size


class Told:
    """A model whose accuracy with S features is known: S rows of its fold are right."""

    def correct_weight(self, X, codes, weight, grid):
        return np.array([weight[:S].sum() for S in grid])


class Moments:
    def __init__(self, weight):
        self.weight = np.asarray(weight)


def test_folds_count_by_the_weight_of_their_rows():
    weight = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    data = np.zeros((5, 3)), np.zeros(5, dtype=int), weight
    fold, grid = np.array([0, 1, 0, 1, 1]), np.array([1, 2])
    parts = [Moments([1, 1]), Moments([1, 1])]
    found = held_out_accuracy(lambda part: Told(), data, fold, parts, grid)
    np.testing.assert_allclose(found, [(1 + 2) / 31, (1 + 4 + 2 + 8) / 31])
    # only the first fold is held out; nothing is left without it
    found = held_out_accuracy(lambda part: Told(), data, fold, parts[:1], grid)
    np.testing.assert_allclose(found, [1 / 5, 1.0])
    nothing = [Moments([0, 0])]
    assert held_out_accuracy(lambda part: Told(), data, fold, nothing, grid) is None
