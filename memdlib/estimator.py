"""What classifiers share: Bayes' rule, and attributes of the model that a fit builds.

A fit builds one finished object and assigns it last: prediction never looks at a
constructor parameter again.
"""

from abc import ABCMeta, abstractmethod
from operator import attrgetter

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from memdlib.validation import validate_features


def log_posterior(joint):
    """Bayes' rule: log posteriors (n, K) from log joint densities (n, K), in nats."""
    with np.errstate(over="ignore"):  # further below the first than any number
        return log_softmax(joint, axis=1)


def finite_scores(score, X):
    """Return joint log densities; raise for a row that overflows in every class."""
    lost = ~np.isfinite(score.max(axis=1))
    if lost.any():
        largest = abs(X[np.flatnonzero(lost)[:1]]).max()
        raise ValueError(
            f"the log densities of a row that holds {largest:.6g} overflow; "
            "bring X to the scale of the data that the model was fitted to"
        )
    return score


class BayesClassifier(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of classifiers that decide by Bayes' rule from joint log densities.

    A subclass sets ``classes_`` and supplies :meth:`_joint_log_density`.
    """

    @abstractmethod
    def _joint_log_density(self, X):
        """Log p(x, k) up to what is common to all classes, (n, K), of valid X."""

    def decision_function(self, X):
        """Log-odds of the second of two classes, or log posteriors, in nats.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) for two classes, else (n, K)
        """
        joint = self._scores(X)
        if joint.shape[1] == 2:
            return joint[:, 1] - joint[:, 0]
        return log_posterior(joint)

    def predict(self, X):
        """Predict the class (n,) of each row of X (n, d)."""
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X):
        """Log posteriors (n, K) of X (n, d), in the order of ``classes_``."""
        return log_posterior(self._scores(X))

    def predict_proba(self, X):
        """Posteriors (n, K) of X (n, d), in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def _scores(self, X):
        """Joint log densities (n, K) of rows that a user passes."""
        check_is_fitted(self)
        return self._joint_log_density(validate_features(self, X, reset=False))


def fitted_attribute(name):
    """Read an attribute of the object that ``fit`` assigned to ``_fitted``."""

    def read(self):
        check_is_fitted(self)
        return attrgetter(name)(self._fitted)

    return property(read)
