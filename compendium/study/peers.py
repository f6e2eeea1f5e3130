"""Support vector machines as the sources ran them, from kernel matrices."""

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import euclidean_distances, linear_kernel
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted, validate_data


class KernelSVC(ClassifierMixin, BaseEstimator):
    """LIBSVM's classifier, given the kernel matrix of the training rows.

    The optimum is that of :class:`sklearn.svm.SVC` of the same kernel and cost. LIBSVM
    computes kernels of sparse rows one by one, which takes most of its time; here one
    product of matrices gives them all.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf"}, default="linear"
        With the defaults of scikit-learn: degree 3, no constant term, width 1 / (d
        var(X)).
    C : float, default=1.0
        Cost of an error.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    References
    ----------
    .. [1] Chang and Lin, LIBSVM: a library for support vector machines, ACM
       Transactions on Intelligent Systems and Technology 2 (2011).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> round(KernelSVC().fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 3)
    0.973
    """

    def __init__(self, kernel="linear", C=1.0):
        self.kernel = kernel
        self.C = C

    def fit(self, X, y):
        """Solve the dual problem.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the kernel has another name.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        if self.kernel not in ("linear", "poly", "rbf"):
            raise ValueError(
                f"kernel={self.kernel!r} must be 'linear', 'poly' or 'rbf'"
            )
        self._rows = X
        square = X.multiply(X) if issparse(X) else X * X
        variance = square.mean() - X.mean() ** 2
        self._gamma = 1.0 / (X.shape[1] * variance) if variance else 1.0
        self._machine = SVC(kernel="precomputed", C=self.C).fit(self._kernel(X), y)
        self.classes_ = self._machine.classes_
        return self

    def predict(self, X):
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self._machine.predict(self._kernel(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _kernel(self, X):
        if self.kernel == "rbf":
            distance = euclidean_distances(X, self._rows, squared=True)
            return np.exp(-self._gamma * distance)
        product = linear_kernel(X, self._rows, dense_output=True)
        return product if self.kernel == "linear" else (self._gamma * product) ** 3
