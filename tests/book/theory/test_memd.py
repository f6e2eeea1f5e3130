"""Statements of *MeMd*, each tried in two ways."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose
from scipy import optimize, stats
from sklearn.datasets import load_wine

from memdlib import MeMdClassifier


def wines_with_gaps():
    """Three measurements of the wines, a fifth of them missing, and the growers."""
    X, y = load_wine(return_X_y=True)
    gone = np.random.default_rng([8, 4]).random((len(X), 3)) < 0.2
    return np.where(gone, np.nan, X[:, [6, 9, 12]]), y


def test_prop_me_missing_witness():
    """The other cells are integrated out of the product on a grid."""
    X, y = wines_with_gaps()
    model = MeMdClassifier(n_features=None).fit(X, y)
    frame = pd.DataFrame(X).groupby(y)
    mean, sd = frame.mean().to_numpy(), frame.std(ddof=0).to_numpy()
    nodes, step = np.linspace(-9.0, 9.0, 201, retstep=True)
    rows = np.flatnonzero(np.isnan(X).any(axis=1))[:20]
    for x, found in zip(X[rows], model.predict_proba(X[rows]), strict=True):
        density = model.class_prior_.copy()
        for k in range(3):
            cells = [
                stats.norm.pdf(m + s * nodes, m, s) * s * step if np.isnan(v)
                else np.array([stats.norm.pdf(v, m, s)])
                for v, m, s in zip(x, mean[k], sd[k], strict=True)
            ]  # fmt: skip
            density[k] *= np.einsum("a,b,c->", *cells)
        assert_allclose(found, density / density.sum(), rtol=0, atol=1e-10)


def test_prop_me_missing_second():
    """The likelihood of all observed cells is largest at the moments of the fit."""
    X, y = wines_with_gaps()
    mu = MeMdClassifier(n_features=None).fit(X, y).mean_params_[0]
    own, X = np.isfinite(X[y == 0]), np.nan_to_num(X[y == 0])
    unit = X.sum(axis=0) / own.sum(axis=0)

    def minus_log_likelihood(parameters):
        m, log_sd = parameters.reshape(2, 3)
        z = (X / unit - m) / np.exp(log_sd)
        return (own * (0.5 * z**2 + log_sd)).sum()

    best = optimize.minimize(minus_log_likelihood, np.ones(6) * 0.5, tol=1e-12)
    m, sd = best.x[:3] * unit, np.exp(best.x[3:]) * unit
    assert_allclose(m, mu[:, 0], rtol=1e-5, atol=0)
    assert_allclose(sd, np.sqrt(mu[:, 1] - mu[:, 0] ** 2), rtol=1e-4, atol=0)
