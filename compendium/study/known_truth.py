"""Simulated data with the posterior that their truth gives, and so the Bayes error."""

import tomllib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import log_softmax
from sklearn.utils import Bunch

from memdlib.datasets import simulate_gaussian_classes, simulate_text_counts

_FACTOR_STREAM = 17


class Simulation(NamedTuple):
    """How data with a known truth are drawn.

    Attributes
    ----------
    kind : {"expression", "table", "text", "mixed"}
        As for :func:`compendium.study.contest.contestants`.
    rows : int
        To train with.
    arguments : dict
        Of the simulator.
    equal : bool
        Whether the variances of the classes are made equal.
    factors : int
        Common to all classes, with loadings of variance 1/2, added to the features.
    """

    kind: str
    rows: int
    arguments: dict
    equal: bool = False
    factors: int = 0


_LISTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
SIMULATED = {name: Simulation(**entry) for name, entry in _LISTED.items()}


def simulated(name: str, n_samples: int, seed: int) -> Bunch:
    """Rows of a simulation together with the logarithms of their true posteriors.

    Parameters
    ----------
    name : str
        A key of :data:`SIMULATED`.
    n_samples : int
        Rows, n.
    seed : int
        Of the truth and of the rows.

    Returns
    -------
    Bunch
        ``X`` (n, d), a frame if there are categories; ``y`` (n,); ``log_posterior``
        (n, K).

    Examples
    --------
    >>> bunch = simulated("variances_few", 2000, seed=0)
    >>> bool((bunch.log_posterior.argmax(axis=1) == bunch.y).mean() > 0.9)
    True
    """
    how = SIMULATED[name]
    if how.kind == "mixed":
        return _mixed(n_samples, seed, **how.arguments)
    if how.kind == "text":
        bunch = simulate_text_counts(
            n_documents=n_samples, random_state=seed, **how.arguments
        )
        # the length of a document says nothing of its class
        density = bunch.X @ np.log(bunch.word_probabilities).T
        X = bunch.X.copy()  # LIBLINEAR takes no indices of 64 bits
        X.indices, X.indptr = (part.astype(np.int32) for part in (X.indices, X.indptr))
        return Bunch(X=X, y=bunch.y, log_posterior=log_softmax(density, axis=1))
    bunch = simulate_gaussian_classes(
        n_samples=n_samples, random_state=seed, **how.arguments
    )
    X, means, variances = bunch.X, bunch.means, bunch.variances
    if how.equal:
        X = means[bunch.y] + (X - means[bunch.y]) / np.sqrt(variances[bunch.y])
        variances = np.ones_like(variances)
    rng = np.random.default_rng([_FACTOR_STREAM, seed])
    loadings = rng.normal(0.0, np.sqrt(0.5), (how.factors, X.shape[1]))
    X = X + rng.standard_normal((n_samples, how.factors)) @ loadings
    laws = zip(means, variances, strict=True)
    densities = [_normal_log_density(X, *law, loadings) for law in laws]
    density = np.log(bunch.class_prior) + np.column_stack(densities)
    return Bunch(X=X, y=bunch.y, log_posterior=log_softmax(density, axis=1))


def _normal_log_density(X, mean, variance, loadings):
    """Of N(mean, diag(variance) + loadings' loadings)."""
    if not len(loadings):
        return stats.norm.logpdf(X, mean, np.sqrt(variance)).sum(axis=1)
    covariance = np.diag(variance) + loadings.T @ loadings
    return stats.multivariate_normal.logpdf(X, mean, covariance)


def _mixed(n_samples, seed, n_columns, missing) -> Bunch:
    """Three classes; normal, lognormal and categorical columns, some cells empty."""
    rng, n_classes, n_levels = np.random.default_rng([_FACTOR_STREAM, seed]), 3, 5
    y = rng.integers(n_classes, size=n_samples)
    log_posterior, columns = np.zeros((n_samples, n_classes)), {}
    for s in range(3 * n_columns):
        mean, shares = rng.normal(0, 0.4, n_classes), np.full(n_levels, 2.0)
        table = rng.dirichlet(shares, size=n_classes)
        if s % 3 == 2:
            ends = table.cumsum(axis=1)[y]
            place = (rng.random((n_samples, 1)) > ends[:, :-1]).sum(axis=1)
            values, density = np.array([*"abcde"], dtype=object)[place], table.T[place]
        else:
            z = mean[y] + rng.standard_normal(n_samples)
            values = np.exp(z) if s % 3 else z
            density = stats.norm.pdf(z[:, None], mean)
        gone = rng.random(n_samples) < missing
        values[gone] = np.nan
        columns[f"{('normal', 'lognormal', 'level')[s % 3]} {s // 3}"] = values
        log_posterior += np.where(gone[:, None], 0.0, np.log(density))
    log_posterior = log_softmax(log_posterior, axis=1)
    return Bunch(X=pd.DataFrame(columns), y=y, log_posterior=log_posterior)
