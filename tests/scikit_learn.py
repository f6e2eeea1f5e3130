"""Public classes, and scikit-learn's checks of them on data that they allow."""

import importlib
import pkgutil
from inspect import isclass
from unittest import mock

import pytest
from sklearn import config_context
from sklearn.datasets import make_blobs
from sklearn.utils import estimator_checks, get_tags

import memdlib
from memdlib import MeMdClassifier
from memdlib.generative import MixtureClassifier, MultinomialMeMdClassifier
from memdlib.generative.recommended import RecommendedPipeline

# Where held-out rows choose, they are drawn by number, and a weight of two is not the
# row twice.
HELD_OUT = MeMdClassifier, MixtureClassifier, MultinomialMeMdClassifier
EQUIVALENCE = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)

# scikit-learn's list of expected failures of its own Pipeline
OF_PIPELINES = ("check_dont_overwrite_parameters", "check_estimators_overwrite_params")

SETTINGS = {
    "pandas": {"transform_output": "pandas"},
    "polars": {"transform_output": "polars"},
    "array_api": {"array_api_dispatch": True},
    "routing": {"enable_metadata_routing": True},
    "skip_validation": {"skip_parameter_validation": True},
    "assume_finite": {"assume_finite": True},
}
# These scale their data by StandardScaler, or compare outputs, and expect arrays.
EXPECT_ARRAYS = (
    "check_classifiers_classes",
    "check_classifiers_train",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
    "check_transformer_preserve_dtypes",
    "check_transformers_unfitted",
    "check_estimators_empty_data_messages",  # no message of a frame without columns
)
# Checks that cannot hold under a setting, for any estimator of scikit-learn.
NOT_UNDER = {
    "pandas": EXPECT_ARRAYS,
    "polars": EXPECT_ARRAYS,
    # pass a class that is no array of any library
    "array_api": (
        "check_classifier_data_not_an_array",
        "check_sample_weights_not_an_array",
        "check_transformer_data_not_an_array",
    ),
    # pass numbers that are not finite
    "assume_finite": ("check_estimators_nan_inf", "check_supervised_y_no_nan"),
}

# Keeps a data set for all checks, which has to be made under the default settings.
estimator_checks._regression_dataset()


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
    if isinstance(estimator, RecommendedPipeline):
        expected = dict.fromkeys(OF_PIPELINES, "fit changes steps, as in any Pipeline")
        if "words" in estimator.named_steps:
            expected["check_classifiers_train"] = "two numbers are no counts of words"
        return expected
    return {}


def checks(estimators, setting=None):
    """Each estimator with each check of scikit-learn that is to hold."""
    found = []
    for estimator in estimators:
        left_out = {*expected_failed_checks(estimator), *NOT_UNDER.get(setting, ())}
        label = str(estimator)  # slow for pipelines
        for model, check in estimator_checks.estimator_checks_generator(estimator):
            name = check.func.__name__
            if name not in left_out:
                found.append(pytest.param(model, check, id=f"{label}-{name}"))
    return found


def run(check, estimator, setting=None):
    """Run one check under a setting of scikit-learn."""
    with config_context(**SETTINGS.get(setting, {})):
        _run(check, estimator)


def _run(check, estimator):
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
