"""What each estimator can do, found by trying it."""

import importlib
import inspect
import pkgutil

import numpy as np
import pandas as pd
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

import memdlib
from compendium.study.protocols import seeded

# Rows are twenty draws of counts 0..4, which every family and every code allows.
_X = np.random.default_rng([25, 1]).integers(0, 5, size=(20, 3)).astype(float)
_Y = np.arange(20) % 2

# Where what an estimator can do depends on a parameter.
_SETTINGS = {"JointMaxEntClassifier": [{"covariance": "diagonal"}]}


def estimators() -> list[BaseEstimator]:
    """Public classifiers and transformers by name, and in their special settings."""
    packages = [memdlib] + [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(memdlib.__path__, "memdlib.")
    ]
    public = {getattr(p, name) for p in packages for name in getattr(p, "__all__", ())}
    found = {
        thing.__name__: thing
        for thing in filter(inspect.isclass, public)
        if issubclass(thing, BaseEstimator)
        and hasattr(thing, "fit")
        and (hasattr(thing, "predict") or hasattr(thing, "transform"))
    }
    return [
        found[name](**options)
        for name in sorted(found)
        for options in ({}, *_SETTINGS.get(name, []))
    ]


def takes_sparse_data(estimator: BaseEstimator) -> bool:
    """Whether sparse data give the model of the same data, dense."""
    thin = sparse.csr_array(_X)
    try:
        model = seeded(estimator, 0).fit(thin, _Y)
    except TypeError:
        return False
    return _as_usual(model, estimator, thin)


def takes_weights(estimator: BaseEstimator) -> bool:
    """Whether weights of the rows give another model."""
    if not has_fit_parameter(estimator, "sample_weight"):
        return False
    weight = np.where(_X[:, 0] > 1, 9.0, 1.0)
    model = seeded(estimator, 0).fit(_X, _Y, sample_weight=weight)
    return not _as_usual(model, estimator, _X)


def takes_batches(estimator: BaseEstimator) -> bool:
    """Whether two calls of ``partial_fit`` give the model of all rows."""
    if not hasattr(estimator, "partial_fit"):
        return False
    model = seeded(estimator, 0)
    for part in (slice(0, 9), slice(9, 20)):
        model.partial_fit(_X[part], _Y[part], classes=[0, 1])
    whole = seeded(estimator, 0).partial_fit(_X, _Y, classes=[0, 1])
    return np.allclose(_use(model, _X), _use(whole, _X))


def routes_weights(estimator: BaseEstimator) -> bool:
    """Whether scikit-learn's metadata routing brings weights to ``fit``."""
    with sklearn.config_context(enable_metadata_routing=True):
        request = getattr(seeded(estimator, 0), "set_fit_request", None)
        try:
            return request is not None and bool(request(sample_weight=True))
        except TypeError:
            return False


def names_output(estimator: BaseEstimator) -> bool:
    """Whether ``set_output`` makes ``transform`` give a data frame."""
    if not hasattr(estimator, "set_output"):
        return False
    model = seeded(estimator, 0).set_output(transform="pandas").fit(_X, _Y)
    return isinstance(model.transform(_X), pd.DataFrame)


ABILITIES = {
    "sparse data": takes_sparse_data,
    "weights": takes_weights,
    "`partial_fit`": takes_batches,
    "routing": routes_weights,
    "`set_output`": names_output,
}


def abilities() -> list[list[str]]:
    """Each estimator, with "yes" or a dash for each of ``ABILITIES``."""
    return [
        [
            f"`{estimator!r}`",
            *("yes" if able(estimator) else "–" for able in ABILITIES.values()),
        ]
        for estimator in estimators()
    ]


def _as_usual(model, estimator: BaseEstimator, X) -> bool:
    """Whether a model makes of data what one fitted to the dense rows does."""
    return np.allclose(_use(model, X), _use(seeded(estimator, 0).fit(_X, _Y), _X))


def _use(model: BaseEstimator, X) -> np.ndarray:
    """What a fitted model makes of data, as one dense array."""
    made = model.predict_proba(X) if hasattr(model, "predict_proba") else None
    made = model.transform(X) if made is None else made
    return made.toarray() if sparse.issparse(made) else np.asarray(made)
