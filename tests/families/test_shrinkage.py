import numpy as np
import pytest

from memdlib.families import Normal
from memdlib.families.shrinkage import correlation_intensity, shrinkage_intensity


def test_intensities_without_evidence_are_one():
    assert shrinkage_intensity(0.0, 0.0, 5) == 1
    assert shrinkage_intensity(1.0, 5.0, -0.5) == 1
    assert shrinkage_intensity(1.0, 5.0, 0) == 1
    assert correlation_intensity(0.0, 1, 100) == 1
    assert correlation_intensity(2.0, 2, 100) == pytest.approx(0.02)


def test_the_intensity_has_the_least_expected_error():
    """Means of n draws, shrunk towards zero: the error over a grid of intensities."""
    rng = np.random.default_rng([95, 1])
    true, n = rng.normal(size=40) * 0.3, 12
    draws = rng.normal(true, 1.0, size=(4000, n, 40)).mean(axis=1)
    grid = np.linspace(0, 1, 101)
    error = [((1 - s) * draws - true) ** 2 for s in grid]
    best = grid[np.argmin([e.mean() for e in error])]
    # the distance is known here; its expectation is the true one plus the variance
    distance = (true**2).sum() + 40 / n
    assert shrinkage_intensity(40.0, distance, n) == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize(
    ("sizes", "variances"),
    [((10, 30), (1.0, 2.0)), ((20, 60), (1.0, 2.0)), ((8, 40, 16), (1.0, 1.2, 1.5))],
)
def test_the_intensity_of_variances_has_the_least_error(sizes, variances):
    """Of 4000 features; a class has its share in the noise of the pooled variance."""
    rng = np.random.default_rng([95, 2])
    n = np.array(sizes, dtype=float)
    estimates = np.stack(
        [
            rng.normal(0.0, np.sqrt(variance), size=(size, 4000)).var(axis=0)
            for size, variance in zip(sizes, variances, strict=True)
        ]
    )
    pooled = n @ estimates / n.sum()
    # what variances of n rows, divided by n, are on average
    true = (np.array(variances) * (1 - 1 / n))[:, None]
    grid = np.linspace(0, 1, 101)
    error = [
        (((1 - s) * estimates + s * pooled - true) ** 2 / pooled**2).sum() for s in grid
    ]
    best = grid[np.argmin(error)]
    mu = Normal.mean_parameters(np.zeros_like(estimates), estimates)
    assert Normal().choose_shrinkage(mu, n) == pytest.approx(best, abs=0.05)
