"""Statements of *How far rankings agree*, each tried twice."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special

from memdlib.divergences import jensen_shannon


@pytest.mark.wrong("nine tenths of the information at most", "< js", "< 0.9 * js")
def test_prop_ej_held_out_witness():
    rng = np.random.default_rng([17, 2])
    for _ in range(200):
        K, cells = rng.integers(2, (6, 9))
        w = rng.dirichlet(np.ones(K))
        joint = w[:, None] * rng.dirichlet(np.ones(cells), size=K)
        js = jensen_shannon(joint / w[:, None], w)

        def shown(q, w=w, joint=joint):
            return special.entr(w).sum() + np.sum(joint * np.log(q))

        true = joint / joint.sum(axis=0)
        assert_allclose(shown(true), js, rtol=0, atol=1e-12)
        for size in (1.0, 1e-3):
            q = true * np.exp(size * rng.normal(size=true.shape))
            q /= q.sum(axis=0)
            assert shown(q) < js


@pytest.mark.wrong("a wrong posterior shows it all, too", "> 1e-4", "< 1e-4")
def test_prop_ej_held_out_second():
    """Two dependent normal features, by Gauss-Hermite; naive Bayes is wrong."""
    nodes, mass = np.polynomial.hermite_e.hermegauss(80)
    mass = mass / mass.sum()
    grid = np.stack(np.meshgrid(nodes, nodes, indexing="ij")).reshape(2, -1)
    both, shift = np.outer(mass, mass).ravel(), np.array([0.8, 0.5])
    for rho in (0.3, 0.6, 0.9):
        C = np.array([[1, rho], [rho, 1]])
        x = np.linalg.cholesky(C) @ grid + shift[:, None] / 2
        best = np.linalg.solve(C, shift)
        # the classes are mirror images: one of them is enough
        naive, right = (both @ np.logaddexp(0, -(v @ x)) for v in (shift, best))
        # the information of the one direction that matters
        d = np.sqrt(shift @ best)
        information = np.log(2) + mass @ special.log_expit(d * (nodes + d / 2))
        assert_allclose(np.log(2) - right, information, rtol=0, atol=1e-9)
        assert naive - right > 1e-4
