"""Checks of what a user passes in; every message names the value and the remedy.

What a parameter may be is stated beside the estimator, as scikit-learn's own are, by
its ``_parameter_constraints``: here the rules that several have are named. Data must
be finite, and of a size whose squares are numbers: here, and nowhere else.
"""

import math
from functools import wraps
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from memdlib import _sklearn


class Interval(_sklearn.Interval):
    """scikit-learn's interval of numbers, without ``True`` and ``False``.

    To scikit-learn they are the integers 1 and 0.

    Examples
    --------
    >>> COUNT.is_satisfied_by(3), COUNT.is_satisfied_by(True)
    (True, False)
    """

    def is_satisfied_by(self, val):
        """Whether a value is a number of the kind, in the range."""
        return not isinstance(val, bool) and super().is_satisfied_by(val)


UNIT_INTERVAL = Interval(Real, 0, 1, closed="both")
FRACTION = Interval(Real, 0, 1, closed="right")
POSITIVE = Interval(Real, 0, None, closed="neither")
NONNEGATIVE = Interval(Real, 0, None, closed="left")
COUNT = Interval(Integral, 1, None, closed="left")

# Sizes of values and weights whose squares and products stay in the range of numbers;
# of more instances than the last, one more is below the last digit of their count.
_LEAST = 1e-100
_MOST = 1e100
_MOST_INSTANCES = 2.0**53


def restore_on_error(method):
    """Check parameters before ``fit`` or ``partial_fit``; a failure changes nothing.

    Without it a failed fit would leave ``n_features_in_`` of data that it refused.
    """

    @wraps(method)
    def wrapped(self, *args, **kwargs):
        if not get_config()["skip_parameter_validation"]:
            self._validate_params()
        before = vars(self).copy()
        try:
            return method(self, *args, **kwargs)
        except BaseException:  # an interruption too
            vars(self).clear()
            vars(self).update(before)
            raise

    return wrapped


def validate_features(estimator, X, *y, **options):
    """Validate data as scikit-learn's ``validate_data`` does, and their size.

    Data become floats, and may be sparse where the tags of the estimator say so.
    Returns X, with repeated entries summed if it is sparse, or X and y. Raises
    ValueError if a column holds strings, if a value is beyond 1e100, or if the largest
    value of a feature of training rows is below 1e-100 but not zero.
    """
    accepted = "csr" if get_tags(estimator).input_tags.sparse else False
    options = {"accept_sparse": accepted, "dtype": [np.float64, np.float32]} | options
    try:
        # values that are not finite are looked for below, where it costs nothing
        data = validate_data(estimator, X, *y, ensure_all_finite=False, **options)
    except ValueError as error:
        name = _first_column_of_strings(X)
        if name is None:
            raise
        raise ValueError(
            f"column {name!r} of X holds strings; put "
            "sklearn.preprocessing.OrdinalEncoder() in front, with "
            "make_column_transformer where some columns hold numbers, or use "
            "memdlib.make_memd('table')"
        ) from error
    X = data[0] if y else data
    if sparse.issparse(X):
        X = sum_duplicates(X)
    check_sizes(estimator, X, training=bool(y) or options.get("reset", True))
    return (X, data[1]) if y else X


def _first_column_of_strings(X):
    """Name or number of the first column that holds a string, None if none does."""
    if sparse.issparse(X) or np.ndim(X) != 2:
        return None
    names = getattr(X, "columns", range(np.shape(X)[1]))
    cells = np.asarray(X, dtype=object)
    for name, column in zip(names, cells.T, strict=True):
        if any(isinstance(cell, str) for cell in column):
            return name
    return None


def check_sizes(estimator, X, training):
    """Raise if cells are missing where they must not be, or X is out of range."""
    if sparse.issparse(X):
        size = abs(X).nanmax(axis=0).toarray().ravel().astype(np.float64)
        missing = np.isnan(X.data).any()
    else:
        largest = np.fmax.reduce(X, axis=0)
        smallest = np.fmin.reduce(X, axis=0)
        size = np.fmax(largest, -smallest, dtype=np.float64)
        missing = np.isnan(X.max())
    if missing and not get_tags(estimator).input_tags.allow_nan:
        raise ValueError(
            f"Input X contains NaN, which {type(estimator).__name__} does not take: "
            "put sklearn.impute.SimpleImputer() in front"
        )
    bad = size > _MOST
    if bad.any():
        assert_all_finite(X, allow_nan=True, input_name="X")
    if training:
        bad |= (size > 0) & (size < _LEAST)
    if bad.any():
        s = int(bad.argmax())
        raise ValueError(
            f"the largest absolute value of feature {s} of X is {size[s]:.6g}; squares "
            f"of values below {_LEAST:g} or above {_MOST:g} leave the range of floats: "
            "rescale the feature"
        )


def validate_labelled(
    estimator,
    X,
    y,
    sample_weight,
    *,
    reset=True,
    several=True,
    class_weight=None,
):
    """Validate X, labels and weights as every estimator here needs them.

    Rows of weight zero are left out before the classes are read.

    Parameters
    ----------
    estimator : Estimator
    X : {array-like, sparse matrix} of shape (n, d)
    y : array-like of shape (n,)
    sample_weight : array-like of shape (n,) or None
    reset : bool, default=True
        Whether X sets the number and names of the features, or has to agree with them.
    several : bool, default=True
        Whether a single class is refused.
    class_weight : dict, "balanced" or None, default=None

    Returns
    -------
    X : {ndarray, csr_array} of shape (n, d)
    codes : ndarray of int, shape (n,)
        Places of the labels in ``classes``.
    weight : ndarray of shape (n,)
        Times the weights of the classes.
    classes : ndarray of shape (K,)
        Distinct labels, ascending.
    """
    nullable = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if nullable is not None and not y.isna().any():
        y = y.to_numpy(nullable)  # integers of pandas stay integers
    X, y = validate_features(estimator, X, y, reset=reset)
    check_classification_targets(y)
    weight = check_sample_weight(sample_weight, X)
    kept = weight > 0
    if not kept.all():
        X, y, weight = X[kept], y[kept], weight[kept]
    classes, codes = np.unique(y, return_inverse=True)
    if several and len(classes) < 2:
        where = "y" if kept.all() else "y, where sample_weight is above zero,"
        raise ValueError(
            f"{where} holds one class only ({classes.tolist()[0]!r}); a divergence "
            "needs at least two classes"
        )
    if class_weight is not None:
        weight = weight * _weight_of_class(class_weight, classes, y, weight)[codes]
        weight = check_sample_weight(weight, X, "sample_weight * class_weight")
    return X, codes, weight, classes


def _weight_of_class(class_weight, classes, y, weight):
    """Weight (K,) of each class; a weight that is not above zero is refused."""
    weights = compute_class_weight(
        class_weight, classes=classes, y=y, sample_weight=weight
    )
    valid = (weights > 0) & np.isfinite(weights)
    if not valid.all():
        k = int(valid.argmin())
        raise ValueError(
            f"class_weight gives class {classes.tolist()[k]!r} the weight "
            f"{weights[k]}; weights of classes must be finite and above zero"
        )
    return weights


def validate_batch(
    estimator,
    X,
    y,
    sample_weight,
    classes,
    known,
    **options,
):
    """Validate a batch for ``partial_fit``, as :func:`validate_labelled`.

    ``known`` are the classes of the batches before, None on the first call; the codes
    returned are indices into all classes.
    """
    X, codes, weight, seen = validate_labelled(
        estimator, X, y, sample_weight, reset=known is None, several=False, **options
    )
    if known is None and classes is None:
        raise ValueError("classes must be passed on the first call to partial_fit")
    given = known if classes is None else np.unique(classes)
    if len(given) < 2:
        raise ValueError(f"classes={list(classes)} must hold at least two classes")
    if known is None:
        known = given
    if not np.array_equal(known, given):
        raise ValueError(
            f"classes={list(classes)} differs from the first call's {known.tolist()}"
        )
    unknown = np.setdiff1d(seen, known)
    if unknown.size:
        raise ValueError(
            f"label {unknown.tolist()[0]!r} is not among the classes, {known.tolist()}"
        )
    return X, np.searchsorted(known, seen)[codes], weight, known


def check_real_array(values, name):
    """Return real numbers as a float64 array; NaN and infinities pass.

    Sparse and complex values, text, other types and unequal lengths raise ValueError.
    """
    if sparse.issparse(values):
        raise ValueError(f"{name} is sparse; pass {name}.toarray()")
    try:
        found = np.asarray(values)
        if found.dtype.kind in "cmM":
            raise TypeError(f"{found.dtype} is no real type")
        return found.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be real numbers, in rows of equal length: {error}"
        ) from error


def check_domain(valid, values, what, remedy):
    """Raise, naming the first value outside the domain and its place."""
    if np.all(valid):
        return
    where = tuple(int(i) for i in np.argwhere(~np.asarray(valid))[0])
    place = f" at index {where}" if where else ""
    raise ValueError(f"{what} = {np.asarray(values)[where]}{place}: {remedy}")


def check_sample_weight(sample_weight, X, name="sample_weight"):
    """Return instance weights as float64, one each; a number is spread, None is 1.

    Weights are counts of instances, which smoothing compares with one: they are never
    rescaled. Their sum may not be so large that rounding would lose one more instance.
    """
    weight = _sklearn.check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    smallest = weight.min(where=weight > 0, initial=np.inf)
    largest = weight.max()
    # the largest first, as the sum may overflow; NaN is no valid weight either
    valid = largest <= _MOST_INSTANCES and weight.sum() <= _MOST_INSTANCES
    if smallest < _LEAST or not valid:
        raise ValueError(
            f"{name} goes from {smallest:.6g} to {largest:.6g}; weights are counts of "
            f"instances, zero or from {_LEAST:g}, of which there may be "
            f"{_MOST_INSTANCES:.6g} in all: divide them by their mean"
        )
    return weight


def sum_duplicates(X):
    """Return X, or its copy with repeated entries summed if it is sparse and has any.

    An entry stored in two parts has other powers, and another sign, than its sum.
    """
    if sparse.issparse(X) and not getattr(X, "has_canonical_format", True):
        X = X.copy()
        X.sum_duplicates()
    return X


def check_real(value, name, interval):
    """Return a number of an interval as float; raise ValueError otherwise."""
    if not interval.is_satisfied_by(value):
        raise ValueError(f"{name}={value!r} must be {interval}")
    return float(value)


def check_integer(value, name, *, minimum=1):
    """Return an integer >= ``minimum`` as int (no bool, no 38.0); else ValueError."""
    if not Interval(Integral, minimum, None, closed="left").is_satisfied_by(value):
        raise ValueError(f"{name}={value!r} must be an integer, {minimum} or more")
    return int(value)


def check_choice(value, name, choices):
    """Return one of several words; raise ValueError naming them otherwise."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {list(choices)}")
    return value


def count_features(asked, available, name):
    """Number of features meant by a count, a share (rounded up) or None (all)."""
    if asked is None:
        return available
    if COUNT.is_satisfied_by(asked) and asked <= available:
        return int(asked)
    if FRACTION.is_satisfied_by(asked) and not isinstance(asked, Integral):
        # less a rounding error, or 0.07 of 100 would be 8
        return math.ceil(float(asked) * available * (1.0 - 1e-12))
    raise ValueError(
        f"{name}={asked!r} is out of range: X has {available} features; "
        f"give 1 to {available}, a share in (0, 1], or None for all"
    )


def check_priors(priors, n_classes):
    """Return class probabilities as float64, or None; else raise ValueError."""
    if priors is None:
        return None
    prior = np.asarray(priors, dtype=np.float64)
    valid = prior.shape == (n_classes,) and (prior >= 0).all()
    if not valid or not np.isclose(prior.sum(), 1.0):
        raise ValueError(
            f"priors={priors!r} must be {n_classes} numbers, one a class in the order "
            "of classes_, zero or above and of sum 1"
        )
    return prior
