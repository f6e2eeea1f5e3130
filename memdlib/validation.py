"""Checks of what a user passes in; every message names the value and the remedy.

What a parameter may be is stated beside the estimator, in the form of scikit-learn's
own ``_parameter_constraints``, and checked here. That checker is private to
scikit-learn: no other module imports it.
"""

import math
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data


class Words(StrOptions):
    """One of several words, which messages list in the order given.

    Parameters
    ----------
    *words : str

    Examples
    --------
    >>> str(Words("js_gm", "js"))
    "a str among {'js_gm', 'js'}"
    """

    def __init__(self, *words):
        super().__init__(set(words))
        self.words = words

    def __str__(self):
        return "a str among {" + ", ".join(map(repr, self.words)) + "}"


class Number(Interval):
    """A range of numbers, in which ``True`` and ``False`` are none.

    Parameters
    ----------
    kind : {Integral, Real}
        From :mod:`numbers`; an integer is a real number too.
    low, high : number or None
        Ends; None where there is none.
    closed : {"left", "right", "both", "neither"}, default="left"

    Examples
    --------
    >>> Number(Integral, 1, None).is_satisfied_by(3)
    True
    >>> Number(Integral, 1, None).is_satisfied_by(True)
    False
    """

    def __init__(self, kind, low, high, closed="left"):
        super().__init__(kind, low, high, closed=closed)

    def is_satisfied_by(self, val):
        return not isinstance(val, bool | np.bool_) and super().is_satisfied_by(val)


UNIT = Number(Real, 0, 1, "both")
SHARE = Number(Real, 0, 1, "right")
POSITIVE = Number(Real, 0, None, "neither")
NONNEGATIVE = Number(Real, 0, None)
COUNT = Number(Integral, 1, None)


def check_parameters(estimator) -> None:
    """Check the parameters of an estimator against its ``_parameter_constraints``.

    Parameters
    ----------
    estimator : estimator
        Its class maps parameter names to lists of what they may be: a :class:`Number`,
        a :class:`Words`, a class, "boolean", "random_state" or None. Parameters
        that are not listed are not checked.

    Returns
    -------
    None

    Raises
    ------
    ValueError
        Naming the parameter, the estimator, what it must be and what it is.
    """
    validate_parameter_constraints(
        estimator._parameter_constraints,
        estimator.get_params(deep=False),
        caller_name=type(estimator).__name__,
    )


def labelled_data(
    estimator,
    X,
    y,
    sample_weight,
    *,
    reset=True,
    several=True,
    sparse_too=True,
    class_weight=None,
):
    """Validate X, y and weights as every estimator here needs them.

    Rows of weight zero are left out before the classes are read, so that they count
    for nothing at all.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_`` and ``feature_names_in_`` if ``reset``.
    X, y, sample_weight
        As passed to ``fit``.
    reset : bool, default=True
        False where the features must be those of an earlier fit.
    several : bool, default=True
        Whether a single class is an error.
    sparse_too : bool, default=True
        Whether sparse data are accepted.
    class_weight : None, "balanced" or dict, default=None
        Multiplies the weights of each class, as in scikit-learn.

    Returns
    -------
    X : ndarray or csr of shape (n, d)
    codes : ndarray of shape (n,)
        Class indices.
    weight : ndarray of shape (n,)
    classes : ndarray of shape (K,)

    Raises
    ------
    TypeError
        On sparse data that are not accepted.
    ValueError
        On data, labels or weights that cannot be used; names the value.
    """
    if sparse.issparse(X) and not sparse_too:
        raise TypeError(
            f"Sparse data was passed to {type(estimator).__name__}, which needs dense "
            "data with these parameters; use X.toarray()"
        )
    X, y = validate_data(
        estimator,
        X,
        y,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        reset=reset,
    )
    X = sum_duplicates(X)
    check_classification_targets(y)
    weight = check_sample_weight(sample_weight, X.shape[0])
    kept = weight > 0
    if not kept.all():
        X, y, weight = X[kept], y[kept], weight[kept]
    classes, codes = np.unique(y, return_inverse=True)
    if several and len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({classes.tolist()[0]!r}); a divergence needs at "
            "least two classes"
        )
    if class_weight is not None:
        by_class = compute_class_weight(
            class_weight, classes=classes, y=y, sample_weight=weight
        )
        bad = ~(np.isfinite(by_class) & (by_class > 0))
        if bad.any():
            k = int(bad.argmax())
            raise ValueError(
                f"class_weight gives class {classes.tolist()[k]!r} the weight "
                f"{by_class[k]}; weights of classes must be above zero"
            )
        weight = weight * by_class[codes]
    return X, codes, weight, classes


def labelled_batch(estimator, X, y, sample_weight, classes, known, **options):
    """Validate one batch for ``partial_fit``.

    Parameters
    ----------
    estimator : estimator
    X, y, sample_weight, classes
        As passed to ``partial_fit``.
    known : ndarray of shape (K,) or None
        Classes of the batches before; None on the first call.
    **options
        As in :func:`labelled_data`.

    Returns
    -------
    X : ndarray or csr of shape (n, d)
    codes : ndarray of shape (n,)
        Indices into ``classes``.
    weight : ndarray of shape (n,)
    classes : ndarray of shape (K,)

    Raises
    ------
    ValueError
        If ``classes`` is missing on the first call, names fewer than two, or changes
        later; if a label is not among them; and as :func:`labelled_data`.
    """
    X, codes, weight, seen = labelled_data(
        estimator, X, y, sample_weight, reset=known is None, several=False, **options
    )
    if classes is not None:
        given = np.unique(classes)
        if len(given) < 2:
            raise ValueError(f"classes={list(classes)} must hold at least two classes")
        if known is not None and not np.array_equal(known, given):
            raise ValueError(
                f"classes={list(classes)} differs from the first call's "
                f"{known.tolist()}"
            )
        known = given
    if known is None:
        raise ValueError("classes must be passed on the first call to partial_fit")
    unknown = np.setdiff1d(seen, known)
    if unknown.size:
        raise ValueError(
            f"label {unknown.tolist()[0]!r} is not among the classes of the first "
            f"call, {known.tolist()}"
        )
    return X, np.searchsorted(known, seen)[codes], weight, known


def check_sample_weight(
    sample_weight: ArrayLike | None, n_samples: int
) -> NDArray[np.float64]:
    """Return instance weights as float64, one each.

    Parameters
    ----------
    sample_weight : array_like of shape (n_samples,) or None
        None means 1 each; a number means that number each.
    n_samples : int

    Returns
    -------
    ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If the length is wrong, a weight is negative or not finite, or all are zero.
    """
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; expected ({n_samples},), "
            "one weight a row of X"
        )
    bad = ~np.isfinite(weight) | (weight < 0)
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"sample_weight[{i}] = {weight[i]}; weights must be finite and "
            "nonnegative (zero leaves a row out)"
        )
    if not weight.any():
        raise ValueError(
            "Sample weights must contain at least one non-zero number; all are zero"
        )
    return weight


def sum_duplicates(X):
    """Return X, or its copy with repeated entries summed if it is sparse and has any.

    Parameters
    ----------
    X : ndarray or sparse matrix

    Returns
    -------
    ndarray or sparse matrix
        An entry stored in two parts has other powers, and another sign, than its sum.
    """
    if sparse.issparse(X) and not getattr(X, "has_canonical_format", True):
        X = X.copy()
        X.sum_duplicates()
    return X


def check_unit_interval(value: float, name: str) -> float:
    """Return a number in [0, 1] as float; raise ValueError otherwise."""
    if UNIT.is_satisfied_by(value):
        return float(value)
    raise ValueError(f"{name}={value!r} must be a number between 0 and 1")


def check_nonnegative(value: float, name: str) -> float:
    """Return a finite number >= 0 as float; raise ValueError otherwise."""
    if NONNEGATIVE.is_satisfied_by(value):
        return float(value)
    raise ValueError(f"{name}={value!r} must be a finite number, zero or above")


def check_positive(value: float, name: str) -> float:
    """Return a finite number > 0 as float; raise ValueError otherwise."""
    if POSITIVE.is_satisfied_by(value):
        return float(value)
    raise ValueError(f"{name}={value!r} must be a finite number above zero")


def check_integer(value: int, name: str, *, minimum: int = 1) -> int:
    """Return an integer >= ``minimum`` as int (no bool, no 38.0); else ValueError."""
    if Number(Integral, minimum, None).is_satisfied_by(value):
        return int(value)
    raise ValueError(f"{name}={value!r} must be an integer, {minimum} or more")


def check_shrinkage(shrinkage: float | str) -> float | str:
    """Return a number in [0, 1] as float, or "auto"; raise ValueError otherwise."""
    if isinstance(shrinkage, str):
        return check_choice(shrinkage, "shrinkage", ("auto",))
    return check_unit_interval(shrinkage, "shrinkage")


def check_choice(value: str, name: str, choices: tuple[str, ...]) -> str:
    """Return one of several words; raise ValueError naming them otherwise."""
    if isinstance(value, str) and value in choices:
        return value
    raise ValueError(f"{name}={value!r} must be one of {list(choices)}")


def count_features(asked: int | float | None, available: int, name: str) -> int:
    """Number of features meant by a count, a share or None (all of them).

    Parameters
    ----------
    asked : int, float in (0, 1] or None
        A share is rounded up.
    available : int
    name : str
        Name of the parameter, for the message.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If more features are asked for than there are, or fewer than one.
    """
    if asked is None:
        return available
    if isinstance(asked, Integral) and not isinstance(asked, bool):
        if 1 <= asked <= available:
            return int(asked)
        raise ValueError(
            f"{name}={asked} is out of range: X has {available} features; "
            f"give 1 to {available}, a share in (0, 1], or None for all"
        )
    if isinstance(asked, Real) and not isinstance(asked, bool) and 0 < asked <= 1:
        # less a rounding error, or 0.07 of 100 would be 8
        return math.ceil(float(asked) * available * (1.0 - 1e-12))
    raise ValueError(
        f"{name}={asked!r} must be an integer from 1 to {available}, "
        "a share in (0, 1], or None for all"
    )


def check_priors(priors, n_classes: int) -> NDArray[np.float64] | None:
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
