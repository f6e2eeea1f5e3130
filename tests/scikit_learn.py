"""scikit-learn's checks of an estimator, on data that its family allows."""

from unittest import mock

from sklearn.datasets import make_blobs
from sklearn.utils import estimator_checks, get_tags


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
