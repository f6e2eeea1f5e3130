import numpy as np
import pytest

from compendium.study import hybrids
from compendium.study.hybrids import DATA, GENERATIVE


def counts(seed, n=24, n_classes=2):
    rng = np.random.default_rng([31, seed])
    words = rng.dirichlet(np.full(8, 0.5), size=n_classes)
    y = np.arange(n) % n_classes
    return np.array([rng.multinomial(40, words[k]) for k in y], float), y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_group_has_candidates(n_classes):
    X, y = counts(5, n_classes=n_classes)
    task = hybrids.Task(X, y[:18], 0.1, 0, 8)
    tried = [choice for choice, _ in hybrids.outcomes(task, (1, 2))]
    assert len(set(tried)) == len(tried)
    found = {name: group(tried) for name, group in hybrids.groups(n_classes).items()}
    assert all(found.values())
    assert ("TOP JS svm" in found) == (n_classes == 2)
    free = set(found["any linear"]) | set(found["any information"])
    assert free == set(found["any"])
    free |= set(found["any normalised"])
    # exp JS is compared in its own cells only
    free |= {c for c in tried if c.kernel == "exp JS" and c.embedding != DATA}
    assert free == {c for c in tried if c.embedding not in (DATA, GENERATIVE)}
    assert {c.topics for c in found["data linear"]} == {0}
    chosen = hybrids.candidates(tried, ["FS"], hybrids.KERNELS["JT"], ["knn"])
    cells = {(c.embedding, c.kernel, c.classifier) for c in chosen}
    assert cells == {("FS", "JT", "knn")}


def test_nested_counts_are_of_the_rows_put_aside():
    how = {"topics": (2,), "n_splits": 2, "inner": 2, "repeats": 2, "n_features": 8}
    found = hybrids.nested(*counts(6), hybrids.groups(2), smoothing=0.1, **how)
    for part in found.values():
        assert part["tested"].sum(axis=1).tolist() == [24, 24]
        assert len(part["chosen"]) == 4
        assert (part["correct"] <= part["tested"]).all()
    assert {c.order for c in found["MT-2 JS knn"]["chosen"]} == {1.0}
