"""What a fit leaves behind: one finished object, or nothing at all."""

from functools import wraps

from sklearn.utils.validation import check_is_fitted


def all_or_nothing(method):
    """Decorate a method so that a failure leaves its estimator unchanged.

    Parameters
    ----------
    method : callable
        ``fit`` or ``partial_fit``; it may replace attributes, not change them in place.

    Returns
    -------
    callable
        The number and names of the features, which scikit-learn sets while it checks
        X, are put back too.

    Examples
    --------
    >>> from memdlib import MeMdClassifier
    >>> model = MeMdClassifier(n_features=1).fit([[0], [1], [5], [7]], [0, 0, 1, 1])
    >>> try:
    ...     model.fit([[0, 1], [1, 2]], [3, 3])
    ... except ValueError:
    ...     print(model.n_features_in_, model.classes_.tolist())
    1 [0, 1]
    """

    @wraps(method)
    def wrapped(self, *args, **kwargs):
        before = vars(self).copy()
        try:
            return method(self, *args, **kwargs)
        except BaseException:  # an interruption too
            vars(self).clear()
            vars(self).update(before)
            raise

    return wrapped


def fitted(name: str) -> property:
    """Read an attribute of the object that ``fit`` assigned to ``_fitted``.

    Parameters
    ----------
    name : str

    Returns
    -------
    property
        Raises NotFittedError before ``fit``.
    """

    def read(self):
        check_is_fitted(self)
        return getattr(self._fitted, name)

    return property(read)
