"""Fitted models of class marginals: all that prediction needs, in one object."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib._types import MatrixLike
from memdlib.densities import (
    InfeasibleMomentsError,
    NotConvergedError,
    RoundedMomentsError,
)
from memdlib.estimator import BayesClassifier, all_or_nothing, fitted
from memdlib.families import Family
from memdlib.generative.marginals import ClassMarginals
from memdlib.generative.ranking import rank
from memdlib.generative.scores import MarginalScores
from memdlib.moments import ClassMoments, translate, translate_natural
from memdlib.validation import check_parameters, labelled_batch

Array = NDArray[np.float64]

# What families without a closed form raise where a density is not found.
_NOT_FOUND = (InfeasibleMomentsError, NotConvergedError, RoundedMomentsError)


@dataclass(frozen=True)
class MarginalModel:
    """Class marginals, the order of their features, and how many of these are used.

    Parameters
    ----------
    classes : ndarray of shape (K,)
    marginals : ClassMarginals
    feature_divergences : ndarray of shape (d,)
    order : ndarray of shape (d,)
        Feature indices, the most divergent first.
    n_selected : int
    validation_n_features, validation_curve : ndarray of shape (G,) or None
        Numbers of features, and the accuracy on held-out rows with each.
    """

    classes: NDArray
    marginals: ClassMarginals
    feature_divergences: Array
    order: NDArray[np.intp]
    n_selected: int
    validation_n_features: NDArray[np.intp] | None = None
    validation_curve: Array | None = None

    @classmethod
    def of(
        cls, classes: NDArray[Any], marginals: ClassMarginals, divergence: str = "js_gm"
    ) -> "MarginalModel":
        """Rank the features and find the scores; all features are used.

        Parameters
        ----------
        classes : ndarray of shape (K,)
        marginals : ClassMarginals
        divergence : {"js_gm", "jeffreys", "js"}, default="js_gm"

        Returns
        -------
        MarginalModel

        Raises
        ------
        InfeasibleMomentsError, NotConvergedError, RoundedMomentsError
            If a density is not found; names its class and feature.
        """
        try:
            divergences = marginals.divergences(divergence)
            found = cls(
                classes, marginals, divergences, rank(divergences), len(divergences)
            )
            return found.scores and found
        except _NOT_FOUND as error:
            k, s = _first_failure(marginals.family, marginals.mean_params, type(error))
            mu = marginals.mean_params[k, s].tolist()
            why = (
                f"rounding its moments {mu} leaves the density of {marginals.family} "
                f"in doubt; shift the feature and the support by {-mu[0]:g}, towards "
                "zero, or use fewer moments"
                if isinstance(error, RoundedMomentsError)
                else f"there is no density of {marginals.family} with its moments {mu},"
                " or none was found; use more smoothing, fewer moments or another "
                "family"
            )
            place = f"class {classes.tolist()[k]!r}, feature {s}"
            raise type(error)(f"{place}: {why}") from error

    @cached_property
    def scores(self) -> MarginalScores:
        """Log densities, ready to be summed."""
        return MarginalScores.of(self.marginals)

    @property
    def moments(self) -> ClassMoments:
        """Of the data."""
        return self.marginals.moments

    @property
    def class_prior(self) -> Array:
        """Class probabilities, shape (K,)."""
        return self.marginals.prior

    @property
    def shrinkage(self) -> float:
        """Shrinkage in use."""
        return np.float64(self.marginals.shrinkage)

    @property
    def mean_params(self) -> Array:
        """Mean parameters about zero, shape (K, d, m)."""
        marginals = self.marginals
        location = marginals.moments.location
        return translate(marginals.mean_params, np.ones(1), location)

    @property
    def natural_params(self) -> Array:
        """Natural parameters about zero, shape (K, d, m)."""
        marginals = self.marginals
        return translate_natural(marginals.natural_params, marginals.moments.location)

    def joint_log_density(self, X: MatrixLike) -> Array:
        """Log p(x, k) up to what is common to all classes, (n, K), of X (n, d)."""
        X = self.marginals.family.observe(X)
        return self.scores.total(X, self.order[: self.n_selected])

    def correct_weight(
        self,
        X: MatrixLike,
        codes: NDArray[np.intp],
        weight: Array,
        grid: NDArray[np.intp],
    ) -> Array:
        """Weight of the observed rows that the best S features classify correctly.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n, d)
            As :meth:`memdlib.families.Family.observe` returns it.
        codes : ndarray of shape (n,)
            Class indices; -1 for a class that the model does not know.
        weight : ndarray of shape (n,)
        grid : ndarray of int, shape (G,)
            Numbers S, increasing.

        Returns
        -------
        ndarray of shape (G,)
        """
        return self.scores.correct_weight(X, codes, weight, self.order, grid)


class MomentClassifier(BayesClassifier):
    """Bayes classifier that is a function of class moments, so that batches add up.

    A subclass supplies :meth:`_collect` and :meth:`_estimate`.
    """

    classes_: NDArray[Any] = fitted("classes")
    class_prior_: Array = fitted("class_prior")
    mean_params_: Array = fitted("mean_params")
    natural_params_: Array = fitted("natural_params")
    shrinkage_: float | Array = fitted("shrinkage")

    @abstractmethod
    def _collect(self, X, codes, n_classes, weight):
        """Moments of valid data."""

    @abstractmethod
    def _estimate(self, moments, classes):
        """Everything that follows from the moments: the fitted model."""

    @all_or_nothing
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add a batch; the result is that of one fit on all batches together.

        Parameters other than those that say what moments are collected may change from
        batch to batch. A batch that fails changes nothing.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like of shape (K,), default=None
            All classes that will ever occur; required on the first call.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As ``fit``; and if ``classes`` is missing on the first call or changes
            later, or if a label is not among them.
        """
        check_parameters(self)
        old = getattr(self, "_fitted", None)
        known = None if old is None else old.classes
        moments, classes = self._batch_moments(X, y, sample_weight, classes, known)
        if old is not None:
            moments = old.moments.merge(moments)
        self._fitted = self._estimate(moments, classes)
        return self

    def _batch_moments(self, X, y, weight, classes, known):
        """Moments of a batch, and the classes."""
        X, codes, weight, classes = labelled_batch(
            self, X, y, weight, classes, known, **self._batch_options()
        )
        return self._collect(X, codes, len(classes), weight), classes

    def _batch_options(self) -> dict[Any, Any]:
        """How a batch is to be validated."""
        return {}

    def _joint_log_density(self, X):
        return self._fitted.joint_log_density(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")


def _first_failure(family: Family, mu: Array, kind: type) -> tuple[int, int]:
    """Class and feature of the first density that fails so, by halving."""

    def fails(part):
        try:
            family.natural(part)
        except _NOT_FOUND as error:
            return isinstance(error, kind)
        return False

    flat, first, last = mu.reshape(-1, mu.shape[-1]), 0, mu[..., 0].size
    while last - first > 1:
        middle = (first + last) // 2
        if fails(flat[first:middle]):
            last = middle
        else:
            first = middle
    return divmod(first, mu.shape[1])
