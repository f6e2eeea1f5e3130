"""Statements of *Figures and tables of a lecture*, each tried twice."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier


def test_prop_pl_lunch_witness():
    points = np.array([[0.1, 0], [1, 0.2], [0.3, 1], [1, 1.4], [2, 0.3]])
    correct = {"nearest": [], "opposite": [], "logistic": []}
    for labels in map(np.array, product((0, 1), repeat=5)):
        known, hidden = labels[:3], labels[3:]
        near = KNeighborsClassifier(1).fit(points[:3], known).predict(points[3:])
        line = np.full(2, known[0])
        if 0 < known.sum() < 3:
            line = LogisticRegression().fit(points[:3], known).predict(points[3:])
        for name, guess in zip(correct, (near, 1 - near, line), strict=True):
            correct[name].append(np.mean(guess == hidden))
    for accuracies in correct.values():
        assert_allclose(np.mean(accuracies), 0.5, rtol=1e-12)


@pytest.mark.wrong("more than half is correct", "correct, 0.5", "correct, 0.51")
def test_prop_pl_lunch_second():
    """Rules that are random tables: predictions for each labelling of the sample."""
    rng = np.random.default_rng([19, 2])
    labels = (np.arange(64)[:, None] >> np.arange(6)) & 1
    for _ in range(100):
        known = rng.integers(1, 6)
        rule = rng.integers(0, 2, size=(2**known, 6 - known))
        guess = rule[labels[:, :known] @ 2 ** np.arange(known)]
        correct = np.mean(guess == labels[:, known:])
        assert_allclose(correct, 0.5, rtol=1e-12)
