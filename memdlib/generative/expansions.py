"""Additional moments: functions of single features, and of all features together."""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.utils import shuffle


class LinearSplines(SplineTransformer):
    """Functions of single features that are linear between their quantiles."""

    def __init__(self):
        constant = {"extrapolation": "constant", "include_bias": False}
        super().__init__(degree=1, knots="quantile", **constant)

    def fit(self, X, y=None, sample_weight=None):
        """Place the knots at quantiles of each column of X (n, d); return self."""
        # up to seven functions per feature, fewer if there are many features
        self.n_knots = 1 + min(7, max(2, 240 // X.shape[1]))
        return super().fit(X, y, sample_weight)

    def sum_by_column(self, values):
        """Sum values of output columns over the functions of each feature, (d,)."""
        return values.reshape(self.n_features_in_, -1).sum(axis=1)


class KernelFeatures(TransformerMixin, BaseEstimator):
    """Functions whose products approximate a Gaussian kernel of all features.

    This is the Nystroem approximation on some of the rows. Unlike scikit-learn's, it
    drops directions with negligible eigenvalues, which would be stretched in an
    arbitrary basis.

    Parameters
    ----------
    gamma : float, default=1.0
        Parameter of the kernel exp(-gamma / d |x - x'|^2) of standardised features.
    max_components : int, default=200
        Maximum number of rows to use: a third of all rows, but at least 200 and at most
        this many.
    random_state : int, RandomState or None, default=None
        Seed for choosing these rows.
    """

    def __init__(self, gamma=1.0, max_components=200, random_state=None):
        self.gamma = gamma
        self.max_components = max_components
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None):
        """Draw the rows and find the directions, from X (n, d); return self."""
        scaler = StandardScaler().set_output(transform="default")
        self.scaler_ = scaler.fit(X, sample_weight=sample_weight)
        rows = shuffle(self.scaler_.transform(X), random_state=self.random_state)
        n_components = max(200, min(self.max_components, len(X) // 3))
        self.components_ = rows[:n_components]
        eigenvalues, Q = np.linalg.eigh(self._kernel(self.components_))
        # repeated rows and distant classes give directions that are only rounding noise
        significant = eigenvalues > 1e-12 * eigenvalues[-1]
        root = np.sqrt(np.where(significant, eigenvalues, np.inf))
        self.normalization_ = Q / root @ Q.T
        return self

    def transform(self, X):
        """Values (n, number of rows drawn) of the functions at the rows of X (n, d)."""
        return self._kernel(self.scaler_.transform(X)) @ self.normalization_

    def _kernel(self, Z):
        return rbf_kernel(Z, self.components_, gamma=self.gamma / Z.shape[1])
