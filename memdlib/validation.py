"""Input validation; every message names the invalid value and a remedy.

As in scikit-learn, each estimator declares valid parameters in its
``_parameter_constraints``; this module defines the constraints that several share. It
is also the only place that checks that data are finite, and of a size whose squares are
floating-point numbers.
"""

import math
import reprlib
import warnings
from collections.abc import Collection
from contextvars import copy_context
from copy import copy
from datetime import timedelta
from functools import wraps
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.utils import assert_all_finite, check_array, get_tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from memdlib import _sklearn


class Interval(_sklearn.Interval):
    """scikit-learn's interval of numbers, but without ``True`` and ``False``.

    scikit-learn treats booleans as the integers 1 and 0.

    Examples
    --------
    >>> COUNT.is_satisfied_by(3), COUNT.is_satisfied_by(True)
    (True, False)
    """

    def is_satisfied_by(self, val):
        """Whether a value is a number of the right type inside the interval."""
        return not isinstance(val, bool) and super().is_satisfied_by(val)


UNIT_INTERVAL = Interval(Real, 0, 1, closed="both")
FRACTION = Interval(Real, 0, 1, closed="right")
POSITIVE = Interval(Real, 0, None, closed="neither")
NONNEGATIVE = Interval(Real, 0, None, closed="left")
COUNT = Interval(Integral, 1, None, closed="left")

# Bounds on values and weights that keep squares and products in the range of floats.
# Above _MOST_INSTANCES, a float no longer distinguishes n instances from n + 1.
_LEAST = 1e-100
_MOST = 1e100
_MOST_INSTANCES = 2.0**53

# Total weight of several rows up to which weights are no counts; 1, beyond rounding.
_ONE_ROW = 1.0 + 1e-6

# What to do with the cells of a column that are no numbers.
_REMEDIES = {
    "strings": (
        "convert numbers with pandas.to_numeric(column, errors='coerce'), and encode "
        "categories first with sklearn.preprocessing.OrdinalEncoder(), inside "
        "make_column_transformer if other columns hold numbers, or use "
        "memdlib.make_memd('table')"
    ),
    "dates": "convert them to numbers, for example days since a reference date",
    "lists": "spread them over columns of one number each",
    "dicts": "spread them over columns, for example by pandas.json_normalize(column)",
}


def restore_on_error(method):
    """Check parameters before ``fit`` or ``partial_fit``, which sets all or nothing.

    The method sets the attributes of a copy, which replace those of the estimator at
    once if it succeeds. If it fails, nothing is left behind, like ``n_features_in_`` of
    the invalid data; and an estimator that predicts in another thread at the same time
    is never seen half fitted.

    The method runs in a context of its own, because an interrupt may fall inside
    ``np.errstate`` itself, which then does not restore the caller's error handling.
    """

    @wraps(method)
    def wrapped(self, *args, **kwargs):
        if not get_config()["skip_parameter_validation"]:
            self._validate_params()
        model = copy(self)
        copy_context().run(method, model, *args, **kwargs)
        self.__dict__ = vars(model)
        return self

    return wrapped


def validate_features(estimator, X, *y, **options):
    """Validate data with scikit-learn's ``validate_data``, and check their size.

    Data are converted to floats, and may be sparse if the estimator's tags allow it.
    Returns X, or X and y; duplicate entries of a sparse X are summed. Raises ValueError
    if a column holds strings, dates or lists, if an absolute value exceeds 1e100, or if
    the largest absolute value of a feature in the training rows is nonzero but below
    1e-100.
    """
    accepted = "csr" if get_tags(estimator).input_tags.sparse else False
    options = {"accept_sparse": accepted, "dtype": [np.float64, np.float32]} | options
    try:
        # check_sizes checks for non-finite values at no extra cost
        data = validate_data(estimator, X, *y, ensure_all_finite=False, **options)
    except (TypeError, ValueError):
        _refuse_other_cells(X)
        raise
    X = data[0] if y else data
    if sparse.issparse(X):
        X = sum_duplicates(X)
    check_sizes(estimator, X, training=bool(y) or options.get("reset", True))
    return (X, data[1]) if y else X


def _refuse_other_cells(X):
    """Raise ValueError if X has not two dimensions, or a cell that is no number."""
    if sparse.issparse(X):
        return
    if np.ndim(X) == 1:
        check_array(X, dtype=None)  # raises, also where X holds strings
    if np.ndim(X) != 2:
        return
    names = getattr(X, "columns", range(np.shape(X)[1]))
    cells = np.asarray(X, dtype=object)
    for name, column in zip(names, cells.T, strict=True):
        # for dicts, scikit-learn's checks ask for its own error
        refuse_cells(column, name, ("strings", "dates", "lists"))


def refuse_cells(cells, name, kinds):
    """Raise ValueError if a cell (n,) of a column is of one of the kinds.

    The kinds are "strings", "dates", "dicts" and "lists", with all else of a length.
    """
    if cells.dtype.kind in "biuf":
        return
    for row, cell in enumerate(cells):
        kind = _kind_of_cell(cell)
        if kind in kinds:
            raise ValueError(
                f"column {name!r} of X holds {kind}; {_REMEDIES[kind]} (row {row} "
                f"holds {reprlib.repr(cell)})"
            )


def _kind_of_cell(cell):
    """What a cell is, in the plural, if it is certainly no number; else None."""
    if isinstance(cell, str | bytes):
        return "strings"
    times = timedelta, np.datetime64, np.timedelta64
    if isinstance(cell, times) or hasattr(cell, "strftime"):
        return "dates"
    if isinstance(cell, dict):
        return "dicts"
    if isinstance(cell, Collection):
        return "lists"
    return None


def check_sizes(estimator, X, training):
    """Raise if X is out of range, or has missing cells that are not allowed."""
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
            f"Input X contains NaN, which {type(estimator).__name__} does not accept: "
            "impute missing values first with sklearn.impute.SimpleImputer()"
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
            f"of values below {_LEAST:g} or above {_MOST:g} are out of the range of "
            "floats: rescale the feature"
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
    stacklevel=5,
):
    """Validate X, labels and weights, as needed by all estimators of this package.

    Rows of weight zero are dropped before the classes are determined. Weights are
    counts of rows: there is a UserWarning if those of several rows sum to one or less,
    unless the attribute ``_weights_count_rows`` of the estimator says that its answers
    do not depend on their scale.

    Parameters
    ----------
    estimator : Estimator
    X : {array-like, sparse matrix} of shape (n, d)
    y : array-like of shape (n,)
    sample_weight : array-like of shape (n,) or None
    reset : bool, default=True
        Whether X sets the number and names of the features; if False, X must agree with
        them.
    several : bool, default=True
        Whether to raise an error if there is only one class.
    class_weight : dict, "balanced" or None, default=None
    stacklevel : int, default=5
        Of the warning; 5 is the line that calls ``fit``.

    Returns
    -------
    X : {ndarray, csr_array} of shape (n, d)
    codes : ndarray of int, shape (n,)
        Indices of the labels in ``classes``.
    weight : ndarray of shape (n,)
        Instance weights, multiplied by the class weights.
    classes : ndarray of shape (K,)
        Distinct labels in ascending order.
    """
    nullable = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if nullable is not None and not y.isna().any():
        y = y.to_numpy(nullable)  # keep pandas' integers as integers
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
            f"{where} holds only one class ({classes.tolist()[0]!r}); a divergence "
            "needs at least two classes"
        )
    if class_weight is not None:
        weight = weight * _weight_of_class(class_weight, classes, y, weight)[codes]
        weight = check_sample_weight(weight, X, "sample_weight * class_weight")
    if reset and not getattr(estimator, "_is_candidate", False):
        _warn_of_small_weights(estimator, weight, stacklevel)
    return X, codes, weight, classes


def _warn_of_small_weights(estimator, weight, stacklevel):
    """Warn if the weights (n,) of several rows are no counts, but have to be."""
    counts_rows = getattr(estimator, "_weights_count_rows", True)
    if counts_rows and len(weight) > 1 and weight.sum() <= _ONE_ROW:
        warnings.warn(
            f"the weights of {len(weight)} rows sum to {weight.sum():.6g}, which "
            f"{type(estimator).__name__} takes for the number of rows: smoothing, "
            "penalties and shrinkage then outweigh the data; divide the weights by "
            "their mean",
            UserWarning,
            stacklevel=stacklevel,
        )


def _weight_of_class(class_weight, classes, y, weight):
    """Return the weight (K,) of each class; raise unless finite and above zero."""
    weights = compute_class_weight(
        class_weight, classes=classes, y=y, sample_weight=weight
    )
    valid = (weights > 0) & np.isfinite(weights)
    if not valid.all():
        k = int(valid.argmin())
        raise ValueError(
            f"class_weight gives class {classes.tolist()[k]!r} the weight "
            f"{weights[k]}; class weights must be finite and above zero"
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
    """Validate a batch for ``partial_fit``; see :func:`validate_labelled`.

    ``known`` holds the classes of previous batches, or is None on the first call, the
    only one that may warn of small weights: old rows may weigh next to nothing. The
    returned codes are indices into all classes.
    """
    X, codes, weight, seen = validate_labelled(
        estimator,
        X,
        y,
        sample_weight,
        reset=known is None,
        several=False,
        stacklevel=7,
        **options,
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
            f"classes={list(classes)} differs from classes={known.tolist()} in the "
            "first call to partial_fit; pass the same classes, or None"
        )
    unknown = np.setdiff1d(seen, known)
    if unknown.size:
        raise ValueError(
            f"label {unknown.tolist()[0]!r} is not among the classes, {known.tolist()}"
        )
    return X, np.searchsorted(known, seen)[codes], weight, known


def check_real_array(values, name):
    """Convert real numbers to a float64 array; NaN and infinities are allowed.

    Raises ValueError for sparse, complex and text values, for other types, and for rows
    of unequal length.
    """
    if sparse.issparse(values):
        raise ValueError(f"{name} is sparse; pass {name}.toarray()")
    try:
        array = np.asarray(values)
        if array.dtype.kind in "cmM":
            raise TypeError(f"{array.dtype} is not a real type")
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be real numbers, in rows of equal length: {error}"
        ) from error


def check_domain(valid, values, what, remedy):
    """Raise an error that names the first value outside the domain and its index."""
    if np.all(valid):
        return
    where = tuple(int(i) for i in np.argwhere(~np.asarray(valid))[0])
    position = f" at index {where}" if where else ""
    raise ValueError(f"{what} = {np.asarray(values)[where]}{position}: {remedy}")


def check_sample_weight(sample_weight, X, name="sample_weight"):
    """Return float64 weights of all instances; a number applies to all, None means 1.

    Weights are counts of instances, which smoothing compares with one, so they are
    never rescaled. Their sum must be so small that rounding does not lose an instance.
    """
    weight = _sklearn.check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    smallest = weight.min(where=weight > 0, initial=np.inf)
    largest = weight.max()
    # check the largest first, because the sum may overflow; NaN fails as well
    valid = largest <= _MOST_INSTANCES and weight.sum() <= _MOST_INSTANCES
    if smallest < _LEAST or not valid:
        raise ValueError(
            f"{name} ranges from {smallest:.6g} to {largest:.6g}; weights are counts "
            f"of instances, which must be zero or at least {_LEAST:g} and sum to at "
            f"most {_MOST_INSTANCES:.6g}: divide them by their mean"
        )
    return weight


def sum_duplicates(X):
    """Return X, or a copy with duplicate entries summed if a sparse X has any.

    The powers and signs of an entry that is stored in two parts differ from those of
    its sum.
    """
    if sparse.issparse(X) and not getattr(X, "has_canonical_format", True):
        X = X.copy()
        X.sum_duplicates()
    return X


def check_real(value, name, interval):
    """Return a number inside an interval as a float; raise ValueError otherwise."""
    if not interval.is_satisfied_by(value):
        raise ValueError(f"{name}={value!r} must be {interval}")
    return float(value)


def check_integer(value, name, *, minimum=1):
    """Return an integer >= ``minimum``; raise ValueError otherwise (True, 38.0)."""
    if not Interval(Integral, minimum, None, closed="left").is_satisfied_by(value):
        raise ValueError(f"{name}={value!r} must be an integer, {minimum} or more")
    return int(value)


def check_choice(value, name, choices):
    """Return one of several strings; raise a ValueError that names them otherwise."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {list(choices)}")
    return value


def count_features(asked, available, name):
    """Number of features given by a count, a share (rounded up) or None (all)."""
    if asked is None:
        return available
    if COUNT.is_satisfied_by(asked) and asked <= available:
        return int(asked)
    if FRACTION.is_satisfied_by(asked) and not isinstance(asked, Integral):
        # subtract a rounding error; otherwise 0.07 of 100 would be 8
        return math.ceil(float(asked) * available * (1.0 - 1e-12))
    raise ValueError(
        f"{name}={asked!r} is out of range: X has {available} features; "
        f"pass 1 to {available}, a share in (0, 1], or None for all"
    )


def check_priors(priors, n_classes):
    """Return class probabilities as float64, or None; raise ValueError if invalid."""
    if priors is None:
        return None
    prior = np.asarray(priors, dtype=np.float64)
    valid = prior.shape == (n_classes,) and (prior >= 0).all()
    if not valid or not np.isclose(prior.sum(), 1.0):
        raise ValueError(
            f"priors={priors!r} must be {n_classes} numbers, one per class in the "
            "order of classes_, that are nonnegative and sum to 1"
        )
    return prior
