import numpy as np
import pytest

from compendium.study import hybrids
from compendium.study.hybrids import (
    DATA,
    GENERATIVE,
    KERNELS,
    Choice,
    Task,
    candidates,
    groups,
    nested,
    outcomes,
)
from memdlib.topics import PLSA

SMALL = {"smoothing": 0.1, "n_features": 8}


def counts(seed, n=24, n_classes=2):
    rng = np.random.default_rng([31, seed])
    words = rng.dirichlet(np.full(8, 0.5), size=n_classes)
    y = np.arange(n) % n_classes
    return np.array([rng.multinomial(40, words[k]) for k in y], float), y


def test_documents_are_folded_in_once(monkeypatch):
    X, y = counts(1)
    calls = []
    whole = PLSA.transform
    monkeypatch.setattr(
        PLSA, "transform", lambda self, X: calls.append(1) or whole(self, X)
    )
    Task(X, y[:16], 0.1, 0, 8).embedded(2)
    assert len(calls) == 3


def test_columns_are_kept_by_the_variance_of_training_rows():
    X = np.array([[0.0, 1.0, 5.0], [0.0, 2.0, 9.0], [1e6, 1.0, 1.0]])
    task = Task(X, np.array([0, 1]), 0.1, 0, 2)
    assert task.kept().tolist() == X[:, 1:].tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_group_has_candidates(n_classes):
    X, y = counts(5, n_classes=n_classes)
    tried = [choice for choice, _ in outcomes(Task(X, y[:18], 0.1, 0, 8), (1, 2))]
    assert len(set(tried)) == len(tried)
    found = {name: group(tried) for name, group in groups(n_classes).items()}
    assert all(found.values())
    assert ("TOP JS svm" in found) == (n_classes == 2)
    free = set(found["any linear"]) | set(found["any information"])
    assert free == set(found["any"])
    free |= set(found["any normalised"])
    # exp JS is compared in its own cells only
    free |= {c for c in tried if c.kernel == "exp JS" and c.embedding != DATA}
    assert free == {c for c in tried if c.embedding not in (DATA, GENERATIVE)}
    assert {c.topics for c in found["data linear"]} == {0}
    chosen = candidates(tried, ["FS"], KERNELS["JT"], ["knn"])
    assert {(c.embedding, c.kernel, c.classifier) for c in chosen} == {
        ("FS", "JT", "knn")
    }


def test_nested_counts_are_of_the_rows_put_aside(monkeypatch):
    X, y = counts(6)
    found = nested(
        X, y, groups(2), topics=(2,), n_splits=2, inner=2, repeats=2, **SMALL
    )
    for part in found.values():
        assert part["tested"].sum(axis=1).tolist() == [24, 24]
        assert len(part["chosen"]) == 4
        assert (part["correct"] <= part["tested"]).all()
    cell = found["MT-2 JS knn"]["chosen"][0]
    assert (cell.kernel, cell.order) == ("JT", 1.0)

    # a classifier that is right once labels are seen gains nothing from those put aside
    def oracle(task, topics):
        for setting in (0.0, 1.0):
            guess = np.full(len(task.X) - len(task.y), setting, int)
            yield Choice(DATA, "linear", "knn", 0.0, 0, setting), guess

    monkeypatch.setattr(hybrids, "outcomes", oracle)
    monkeypatch.setattr(
        hybrids, "_tested", lambda task, choices, truth: dict.fromkeys(choices, 7)
    )
    ones = np.ones(24, int)
    ones[:2] = 0
    picked = nested(
        X,
        ones,
        {"best": list},
        topics=(1,),
        n_splits=2,
        inner=2,
        repeats=1,
        **SMALL,
    )["best"]
    assert {choice.setting for choice in picked["chosen"]} == {1.0}
    assert picked["correct"].tolist() == [[7, 7]]
