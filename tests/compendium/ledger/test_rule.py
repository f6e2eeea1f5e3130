import numpy as np
import pytest

from compendium.beside import NOTEBOOKS
from compendium.ledger.rule import holm, prediction_limits


def test_the_interval_of_one_more_run_holds_one_more_run():
    rng = np.random.default_rng([7, 4])
    # ten runs of cross-validation that vary as a normal distribution does, and one more
    runs = rng.normal(80.0, 1.5, size=(20_000, 6))
    ours = runs[:, :5]
    limits = prediction_limits(ours.mean(axis=1), ours.std(axis=1, ddof=1), 5, 10**6)
    inside = (limits[0] <= runs[:, 5]) & (runs[:, 5] <= limits[1])
    # half a unit of the last digit adds little; 4 standard errors of a share
    assert inside.mean() == pytest.approx(0.95, abs=0.007)


def test_the_mean_of_more_runs_lies_in_a_narrower_interval():
    rng = np.random.default_rng([7, 5])
    runs = rng.normal(80.0, 1.5, size=(20_000, 15))
    ours = runs[:, :10]
    mean = runs[:, 10:].mean(axis=1)
    low, high = prediction_limits(
        ours.mean(axis=1), ours.std(axis=1, ddof=1), 10, 10**6, runs=5
    )
    assert ((low <= mean) & (mean <= high)).mean() == pytest.approx(0.95, abs=0.008)


def test_no_spread_is_taken_for_one_row_in_one_run():
    one = np.std([0, 0, 0, 100 / 50], ddof=1)
    np.testing.assert_allclose(
        prediction_limits(91.0, 0.0, 4, 50), prediction_limits(91.0, one, 4, 50)
    )


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


def test_the_ledger_has_the_rules_of_the_notebooks():
    text = (NOTEBOOKS / "rules.py").read_text("utf-8")
    for name in ("prediction_limits", "holm"):
        assert f"def {name}(" in text
    assert prediction_limits.__module__ == holm.__module__ == "rules"
