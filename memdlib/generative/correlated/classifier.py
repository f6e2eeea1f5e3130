"""What classifiers of pooled second moments share: moments first, then a model."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib.estimator import BayesClassifier, all_or_nothing, fitted
from memdlib.generative.correlated.pooled import PooledMoments
from memdlib.validation import check_parameters, labelled_data


class PooledClassifier(BayesClassifier):
    """Bayes classifier that is a function of pooled second moments.

    A subclass supplies :meth:`_estimate`. Where several are fitted to the same rows,
    as in a mixture, the moments can be collected once for all of them.
    """

    n_features_in_: int

    classes_: NDArray[Any] = fitted("classes")
    class_prior_: NDArray[np.float64] = fitted("class_prior")
    shrinkage_: float = fitted("shrinkage")
    variance_shrinkage_: float = fitted("variance_shrinkage")

    @all_or_nothing
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Estimate the moments, shrink them, and choose what is to be chosen.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Dense and finite.
        y : array-like of shape (n,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative instance weights; weight 2 means the row twice.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            On sparse X.
        ValueError
            On a single class, correlations that are singular without shrinkage, or a
            parameter out of range.
        """
        check_parameters(self)
        X, codes, weight, classes = labelled_data(
            self,
            X,
            y,
            sample_weight,
            sparse_too=False,
            class_weight=self.class_weight,
        )
        self._fitted = self._of_rows(X, codes, weight, classes)
        return self

    @property
    def moments_suffice(self) -> bool:
        """Whether the moments of rows say all that ``fit`` finds in them."""
        return self.class_weight is None

    def collect_moments(
        self,
        X: NDArray[np.float64],
        codes: NDArray[np.intp],
        n_classes: int,
        weight: NDArray[np.float64],
    ) -> PooledMoments:
        """Moments of valid rows, the same for all parameters of a class.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        codes : ndarray of int, shape (n,)
            Class indices.
        n_classes : int
        weight : ndarray of shape (n,)
            Positive.

        Returns
        -------
        PooledMoments
        """
        return PooledMoments.of(X, codes, n_classes, weight)

    def fit_moments(self, moments: PooledMoments, classes: NDArray[Any]) -> Self:
        """Fit to moments instead of rows; ``class_weight`` is not looked at.

        Parameters
        ----------
        moments
            Of :meth:`collect_moments`.
        classes : ndarray of shape (K,)

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As :meth:`fit`.
        """
        check_parameters(self)
        self._fitted = self._estimate(moments, classes)
        self.n_features_in_ = moments.means.shape[1]
        return self

    def _of_rows(self, X, codes, weight, classes):
        moments = self.collect_moments(X, codes, len(classes), weight)
        return self._estimate(moments, classes)

    @abstractmethod
    def _estimate(self, moments, classes):
        """Everything that follows from the moments: the fitted model."""

    def _joint_log_density(self, X):
        return self._fitted.joint_log_density(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")
