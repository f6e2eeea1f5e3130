"""Common parts of classifiers: Bayes' rule, and attributes of the fitted model.

``fit`` builds one complete object and assigns it at the end. Prediction then never
depends on constructor parameters.
"""

import warnings
from abc import ABCMeta, abstractmethod
from operator import attrgetter

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from memdlib.validation import validate_features

# Posteriors that vary by less than this are the same, and so are accuracies.
_ROUNDING = 1e-9

# Posteriors of training rows that are computed at a time: a megabyte.
_BLOCK = 2**17


def log_posterior(joint):
    """Bayes' rule: log posteriors (n, K) from log joint densities (n, K), in nats."""
    with np.errstate(over="ignore"):  # differences beyond the float range
        return log_softmax(joint, axis=1)


def check_finite_scores(score, X):
    """Return joint log densities; raise if a row overflows in every class."""
    lost = ~np.isfinite(score.max(axis=1))
    if lost.any():
        largest = abs(X[np.flatnonzero(lost)[:1]]).max()
        raise ValueError(
            f"the log densities of a row that holds {largest:.6g} overflow; "
            "rescale X to the scale of the training data"
        )
    return score


class BayesClassifier(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """Base class of classifiers that apply Bayes' rule to joint log densities.

    Subclasses set ``classes_`` and implement :meth:`_joint_log_density`.
    """

    # Whether another estimator fits this one, and speaks for it.
    _is_candidate = False
    _outcome_remedy = "the model does not fit; compare memdlib.make_memd"

    @abstractmethod
    def _joint_log_density(self, X):
        """Log p(x, k) of valid X, (n, K), up to a term that all classes share."""

    def _warn_of_outcome(self, X, codes, weight):
        """Warn if the training rows themselves are classified as if by no features."""
        if self._is_candidate:
            return
        n_classes = len(self.classes_)
        lowest = np.ones(n_classes)
        highest = np.zeros(n_classes)
        correct_weight = 0.0
        n_rows = max(1, _BLOCK // n_classes)
        for start in range(0, len(codes), n_rows):
            rows = slice(start, start + n_rows)
            posteriors = np.exp(log_posterior(self._training_scores(X[rows])))
            lowest = np.minimum(lowest, posteriors.min(axis=0))
            highest = np.maximum(highest, posteriors.max(axis=0))
            is_correct = posteriors.argmax(axis=1) == codes[rows]
            correct_weight += weight[rows][is_correct].sum()
        message = self._outcome_message(
            is_constant=(highest - lowest).max() <= _ROUNDING,
            accuracy=correct_weight / weight.sum(),
            share=np.bincount(codes, weight).max() / weight.sum(),
        )
        if message:
            warnings.warn(message, UserWarning, stacklevel=4)

    def _training_scores(self, X):
        """Joint log densities (n, K) of the training rows."""
        return self._joint_log_density(X)

    def _outcome_message(self, is_constant, accuracy, share):
        """The warning that the outcome of a fit calls for; empty if all is well.

        ``is_constant`` says whether all training rows have the same posteriors.
        ``share`` is that of the largest class: the accuracy without any features on the
        same rows, so that no error bar is needed.
        """
        if is_constant:
            return (
                "all training rows have the same posteriors, so X says nothing about "
                "the classes: check that its columns vary, and that y belongs to X"
            )
        # with priors of the caller's, the largest class need not be the best guess
        if getattr(self, "priors", None) is None and accuracy < share - _ROUNDING:
            return (
                f"accuracy is {accuracy:.3f} on the training rows, below the share "
                f"{share:.3f} of the largest class: {self._outcome_remedy}"
            )
        return ""

    def decision_function(self, X):
        """Compute log-odds for two classes, log posteriors for more, in nats.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Rows to score.

        Returns
        -------
        ndarray of shape (n,) for two classes, else (n, K)
            Log-odds of ``classes_[1]``, or log posteriors in the order of ``classes_``.
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
        """Compute log posteriors (n, K) of X (n, d), in the order of ``classes_``."""
        return log_posterior(self._scores(X))

    def predict_proba(self, X):
        """Compute posteriors (n, K) of X (n, d), in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def _scores(self, X):
        """Validate X; return joint log densities (n, K)."""
        check_is_fitted(self)
        return self._joint_log_density(validate_features(self, X, reset=False))


def fitted_attribute(name):
    """Return a property that reads an attribute of ``_fitted``, the fitted model."""

    def read(self):
        check_is_fitted(self)
        return attrgetter(name)(self._fitted)

    return property(read)
