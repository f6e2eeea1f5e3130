"""Public classes, and scikit-learn's checks of them on data that they allow."""

import importlib
import pkgutil
from inspect import isclass
from unittest import mock

from sklearn.datasets import make_blobs
from sklearn.utils import estimator_checks, get_tags

import memdlib


def public(kind):
    """Classes of a kind among the public names of the package."""
    rooms = [memdlib] + [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(memdlib.__path__, "memdlib.")
    ]
    names = {getattr(room, n) for room in rooms for n in getattr(room, "__all__", [])}
    return {found for found in names if isclass(found) and issubclass(found, kind)}


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
