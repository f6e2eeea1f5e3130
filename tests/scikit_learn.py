"""Public classes, and scikit-learn's checks of them on data that they allow."""

import importlib
import pkgutil
from inspect import isclass
from unittest import mock

import pytest
from sklearn.datasets import make_blobs
from sklearn.utils import estimator_checks, get_tags

import memdlib
from memdlib import MeMdClassifier
from memdlib.generative import MixtureClassifier, MultinomialMeMdClassifier

# Where held-out rows choose, they are drawn by number, and a weight of two is not the
# row twice.
HELD_OUT = MeMdClassifier, MixtureClassifier, MultinomialMeMdClassifier
EQUIVALENCE = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


def offered():
    """Every object in an ``__all__`` of memdlib."""
    modules = [m.name for m in pkgutil.walk_packages(memdlib.__path__, "memdlib.")]
    for module in map(importlib.import_module, ["memdlib", *modules]):
        for name in getattr(module, "__all__", ()):
            yield getattr(module, name)


def public(kind):
    """Classes of a kind among the public names of the package."""
    return {found for found in offered() if isclass(found) and issubclass(found, kind)}


def expected_failed_checks(estimator):
    """Names of checks that do not hold, with the reason."""
    if isinstance(estimator, HELD_OUT):
        return dict.fromkeys(EQUIVALENCE, "cv is a number here; the check gives splits")
    return {}


def checks(estimators):
    """Each estimator with each check of scikit-learn that is to hold."""
    found = []
    for estimator in estimators:
        left_out = expected_failed_checks(estimator)
        for model, check in estimator_checks.estimator_checks_generator(estimator):
            name = check.func.__name__
            if name not in left_out:
                found.append(pytest.param(model, check, id=f"{estimator}-{name}"))
    return found


def run(check, estimator):
    """Run one check; blobs are made nonnegative for a family that needs it.

    Two checks, of class weights and of decision functions, pass blobs to ``fit``
    without a look at the tag ``positive_only``.
    """
    if not get_tags(estimator).input_tags.positive_only:
        return check(estimator)

    def nonnegative_blobs(*args, **kwargs):
        X, *rest = make_blobs(*args, **kwargs)
        return X - X.min(), *rest

    with mock.patch.object(estimator_checks, "make_blobs", nonnegative_blobs):
        return check(estimator)
