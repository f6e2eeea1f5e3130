"""Bayes' rule, for all classifiers that score classes by log densities."""

from abc import ABCMeta, abstractmethod

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from memdlib.validation import sum_duplicates


class BayesClassifier(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of classifiers that decide by Bayes' rule from joint log densities.

    A subclass sets ``classes_`` and supplies :meth:`_joint_log_density`.
    """

    @abstractmethod
    def _joint_log_density(self, X):
        """Log p(x, k) up to what is common to all classes, (n, K), of valid X."""

    def decision_function(self, X):
        """Log-odds of the second of two classes, or one score a class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) for two classes, else (n, K)
            Nats. With more than two classes the scores are the log posteriors.
        """
        joint = self._scores(X)
        if joint.shape[1] == 2:
            return joint[:, 1] - joint[:, 0]
        return log_softmax(joint, axis=1)

    def predict(self, X):
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X):
        """Log posterior probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)

        Returns
        -------
        ndarray of shape (n, K)
            Columns in the order of ``classes_``.
        """
        return log_softmax(self._scores(X), axis=1)

    def predict_proba(self, X):
        """Posterior probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)

        Returns
        -------
        ndarray of shape (n, K)
            Columns in the order of ``classes_``.
        """
        return np.exp(self.predict_log_proba(X))

    def _scores(self, X):
        check_is_fitted(self)
        accepted = "csr" if get_tags(self).input_tags.sparse else False
        X = validate_data(
            self,
            X,
            accept_sparse=accepted,
            dtype=[np.float64, np.float32],
            reset=False,
        )
        return self._joint_log_density(sum_duplicates(X))
