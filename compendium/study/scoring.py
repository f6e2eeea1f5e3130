"""What is measured of a classifier that is fitted to some rows and tried on others."""

import time
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import Pipeline

from compendium.study.preparations import PreparedClassifier
from compendium.study.protocols import seeded
from memdlib.generative import MixtureClassifier


def features_used(model: BaseEstimator, d: int) -> int:
    """How many of d features a fitted classifier looks at.

    Parameters
    ----------
    model : classifier
        One of :func:`compendium.study.contest.contestants`, fitted.
    d : int

    Returns
    -------
    int
    """
    if isinstance(model, PreparedClassifier):
        return features_used(model.model_, d)
    if isinstance(model, GridSearchCV):
        return features_used(model.best_estimator_, d)
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            if hasattr(step, "get_support"):
                d = int(step.get_support().sum())
        rotated = any(isinstance(step, PCA) for _, step in model.steps)
        return d if rotated else features_used(model[-1], d)
    if hasattr(model, "n_selected_"):
        return int(model.n_selected_)
    if isinstance(model, MixtureClassifier):
        found = model.named_estimators_.values()
        parts = [part if isinstance(part, list) else [part] for part in found]
        used = (min(d, features_used(part, d)) for part in chain.from_iterable(parts))
        return max(used, default=0)  # the class shares may have all the weight
    if isinstance(model, OneVsRestClassifier):
        weights = np.vstack([part.coef_ for part in model.estimators_])
        return int((weights != 0).any(axis=0).sum())
    if isinstance(model, NearestCentroid):
        return int((model.deviations_ != 0).any(axis=0).sum())
    if isinstance(model, RandomForestClassifier):
        return int((model.feature_importances_ > 0).sum())
    return d


def measured(
    model: BaseEstimator, train: tuple, test: tuple, seed: int
) -> dict[str, float | NDArray]:
    """Fit a classifier to some rows and measure it on others.

    Parameters
    ----------
    model : classifier
        Is cloned; everything in it that draws gets the seed.
    train, test : tuple of (X, y)
        Classes are 0, ..., K - 1.
    seed : int

    Returns
    -------
    dict
        ``right`` (n,), whether the decision is correct; ``own`` (n,), posterior of the
        true class; ``top`` and ``hit`` (n,), the largest posterior and whether its
        class is the true one; ``features``; ``fit`` and ``predict``, processor seconds.
    """
    model, (X, y) = seeded(model, seed), test
    start = time.process_time()
    model.fit(*train)
    fitted = time.process_time()
    decided = model.predict(X)
    done = time.process_time()
    posterior = np.zeros((len(y), max(y.max(), model.classes_.max()) + 1))
    posterior[:, model.classes_] = model.predict_proba(X)
    return {
        "right": decided == y,
        "own": posterior[np.arange(len(y)), y],
        "top": posterior.max(axis=1),
        "hit": posterior.argmax(axis=1) == y,
        "features": features_used(model, X.shape[1]),
        "fit": fitted - start,
        "predict": done - fitted,
    }


def log_loss(own: NDArray, least: float = 1e-6) -> float:
    """Mean of -log of the true class's posterior, which counts as `least` if less."""
    return float(-np.log(np.clip(own, least, 1.0)).mean())


def calibration_error(top: NDArray, hit: NDArray, bins: int = 10) -> float:
    """Expected calibration error of the largest posteriors, in bins of equal width.

    Parameters
    ----------
    top : ndarray of shape (n,)
        Largest posterior of each row.
    hit : ndarray of bool, shape (n,)
        Whether its class is the true one.
    bins : int, default=10

    Returns
    -------
    float
        Mean over the rows of |share of hits - mean posterior| in the row's bin. With
        few rows in a bin it is above zero even for the true posteriors.

    Examples
    --------
    >>> calibration_error(np.array([0.9, 0.9]), np.array([True, False])).__round__(3)
    0.4
    """
    place = np.minimum((np.asarray(top) * bins).astype(int), bins - 1)
    gap = np.bincount(place, np.asarray(hit, float) - top, bins)
    return float(np.abs(gap).sum() / len(place))
