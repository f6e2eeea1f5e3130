import numpy as np
import pytest

from memdlib.families.multivariate import MultivariateNormal
from memdlib.generative.greedy_steps import greedy_gaussian, greedy_information


def test_elimination_against_inverses():
    rng = np.random.default_rng([22, 6])
    A = rng.normal(size=(4, 9, 9))
    S = A @ np.swapaxes(A, 1, 2) / 9 + np.eye(9) / 4
    mean, prior = rng.normal(size=(4, 9)), np.array([0.1, 0.2, 0.3, 0.4])
    variance = np.diagonal(S, axis1=1, axis2=2)
    order, gains = greedy_gaussian(lambda s: S[:, s], variance, mean, prior, 9)
    assert sorted(order) == list(range(9))
    family = MultivariateNormal()
    for size in range(1, 10):
        A = order[:size]
        mu = family.mean_parameters(mean[:, A], S[:, A][:, :, A])
        whole = family.js_gm(mu, prior)
        assert gains[:size].sum() == pytest.approx(float(whole), rel=1e-10)


def test_features_that_depend_on_chosen_ones_end_the_choice():
    rng = np.random.default_rng([22, 7])
    A = rng.normal(size=(2, 3, 3))
    S = np.zeros((2, 4, 4))
    S[:, :3, :3] = A @ np.swapaxes(A, 1, 2)
    S[:, 3, :3] = S[:, :3, 3] = S[:, 0, :3] + S[:, 1, :3]
    S[:, 3, 3] = S[:, 3, 0] + S[:, 3, 1]
    variance = np.diagonal(S, axis1=1, axis2=2)
    order, gains = greedy_gaussian(
        lambda s: S[:, s], variance, rng.normal(size=(2, 4)), np.full(2, 0.5), 4
    )
    assert len(order) == len(gains) == 3
    assert 2 in order


def test_information_against_a_search_over_all_next_features():
    rng = np.random.default_rng([22, 8])
    R = np.corrcoef(rng.normal(size=(6, 30)) + rng.normal(size=30))
    R[5], R[:, 5] = R[2], R[:, 2]  # a copy
    relevance = rng.uniform(0, 2, 6)
    order, scores = greedy_information(relevance, lambda s: R[s], 6)
    assert len(order) == 5
    assert len({2, 5} & set(order)) == 1
    for step, (s, score) in enumerate(zip(order, scores, strict=True)):
        chosen = order[:step].tolist()
        left = (
            set(range(6))
            - set(chosen)
            - {5 if 2 in chosen else -1, 2 if 5 in chosen else -1}
        )
        value = {
            t: relevance[t]
            + sum(0.5 * np.log1p(-(R[t, c] ** 2)) for c in chosen) / max(step, 1)
            for t in left
        }
        assert max(value, key=value.get) == s
        assert score == pytest.approx(value[s], rel=1e-12)
