"""Class marginals: from class moments to densities, and to what tells them apart."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import entr
from sklearn.exceptions import ConvergenceWarning

from memdlib._types import Array, Indices, MatrixLike, NDArray
from memdlib.families import Family
from memdlib.moments import ClassMoments, class_moments
from memdlib.validation import check_choice, check_nonnegative, check_unit_interval

DIVERGENCES = ("js_gm", "jeffreys", "js")

# Error of a numerical divergence, in nats, above which a warning is due.
_ERROR = 1e-6


def family_moments(
    family: Family | None, X: MatrixLike, codes: Indices, n_classes: int, weight: Array
) -> ClassMoments:
    """Class moments of observed data; of a table, whose columns have their own."""
    if family is None:
        return X.moments(codes, n_classes, weight)
    return class_moments(
        X,
        codes,
        n_classes,
        order=family.n_moments,
        sample_weight=weight,
        about_zero=not family.translates,
    )


@dataclass(frozen=True)
class ClassMarginals:
    """Maximum-entropy densities of every class and feature.

    Parameters
    ----------
    moments : ClassMoments
        Of K classes and d features.
    family : Family
    shrinkage : float in [0, 1] or "auto", default=0.0
    smoothing : float >= 0, default=1.0
        As in :class:`memdlib.MeMdClassifier`.
    prior : ndarray of shape (K,), default=None
        Class probabilities; None takes the shares of the weight.

    Examples
    --------
    >>> import numpy as np
    >>> from memdlib.families import Normal
    >>> X = np.array([[0.0, 1.0], [2.0, 2.0], [4.0, 1.5], [6.0, 1.5]])
    >>> moments = class_moments(X, [0, 0, 1, 1], 2, order=2)
    >>> ClassMarginals(moments, Normal()).divergences("jeffreys").round(6).tolist()
    [16.0, 0.25]
    """

    moments: ClassMoments
    family: Family
    shrinkage: float | str = 0.0
    smoothing: float = 1.0
    prior: Array | None = None

    def __post_init__(self) -> None:
        if self.prior is None:
            object.__setattr__(self, "prior", self.moments.prior)
        value = self.shrinkage
        if isinstance(value, str) and value == "auto":
            moments = self.moments
            value = self.family.choose_shrinkage(moments.mean, moments.count)
        value = check_unit_interval(value, "shrinkage")
        object.__setattr__(self, "shrinkage", value)
        check_nonnegative(self.smoothing, "smoothing")

    @cached_property
    def mean_params(self) -> Array:
        """Mean parameters about the locations of the moments, shape (K, d, m)."""
        return self._regularise(self.moments)

    @cached_property
    def natural_params(self) -> Array:
        """Natural parameters about the locations of the moments, shape (K, d, m)."""
        return self.family.natural(self.mean_params)

    def natural_params_of(self, features: Indices) -> Array:
        """Natural parameters (K, f, m) of some features."""
        if "natural_params" in vars(self):
            return self.natural_params.take(features, axis=1)
        return self.family.natural(self.mean_params.take(features, axis=1))

    @property
    def families(self) -> NDArray[Any]:
        """Name of the family of each feature, shape (d,)."""
        return np.full(self.moments.n_features, self.family.name, dtype=object)

    def observe(self, X: MatrixLike) -> MatrixLike:
        """What scores are taken of."""
        return self.family.observe(X)

    def divergences(self, divergence: str = "js_gm") -> Array:
        """Divergence between the class marginals of every feature.

        Parameters
        ----------
        divergence : {"js_gm", "jeffreys", "js"}, default="js_gm"
            "jeffreys" is J for two classes and the prior-weighted average of J(class,
            complement) for more (one-vs-rest); "js" is the Jensen-Shannon divergence,
            the information that the feature holds of the class, by quadrature.

        Returns
        -------
        ndarray of shape (d,)
            Nats, nonnegative. Of a normal feature that is constant in every class, but
            not the same in all, J and JS_GM are infinite, and JS is the entropy of the
            groups of classes of equal value.

        Warns
        -----
        ConvergenceWarning
            If the quadrature of "js" may be off by more than 1e-6 nats.

        References
        ----------
        .. [1] Dukkipati et al., ICDM 2013, eq. 19 (J), 20-21 (one-vs-rest), 22 (JS), 24
           (JS_GM).
        """
        check_choice(divergence, "divergence", DIVERGENCES)
        family, mu, prior = self.family, self.mean_params, self.prior
        located = self._located(self.moments)
        if divergence == "js":
            value, error = family.jensen_shannon(mu, prior, **located)
            _warn_of_errors(value, error)
        elif len(prior) == 2:
            factor = prior.prod() if divergence == "js_gm" else 1.0
            value = factor * family.jeffreys(*mu, **located)
        elif divergence == "js_gm":
            known = located or {"lam": self.natural_params}
            value = family.js_gm(mu, prior, **known)
        else:
            pairs = self.moments.reweighted(prior).one_vs_rest()
            pair = self._regularise(pairs).swapaxes(0, 1)
            if located:
                located = {"location": pairs.location.swapaxes(0, 1)}
            value = prior @ family.jeffreys(*pair, **located)
        return self._with_perfect(value, divergence)

    def _with_perfect(self, value: Array, divergence: str) -> Array:
        """Divergences with those of features that tell classes apart without error."""
        if not self.family.translates:
            return value
        perfect = self.family.is_perfect(self.moments)
        if not perfect.any():
            return value
        if divergence != "js":
            return np.where(perfect, np.inf, value)
        some, prior = self.moments.select(perfect), self.prior
        centre = self.family.centre(some.mean, some.count, some.location)
        alike = [prior @ (centre == of_class) for of_class in centre]
        # densities that overlap stay below, and by more than a tie of the ranking
        value = np.minimum(value, (1.0 - 4e-12) * entr(prior).sum())
        value[perfect] = -(prior @ np.log(np.where(prior[:, None] > 0, alike, 1.0)))
        return value

    def _regularise(self, moments: ClassMoments) -> Array:
        return self.family.regularise(
            moments.mean,
            moments.count,
            shrinkage=self.shrinkage,
            smoothing=self.smoothing,
            **self._located(moments),
        )

    def _located(self, moments) -> dict[str, Array]:
        """Points that mean parameters are about, for families that need to know."""
        return {"location": moments.location} if self.family.translates else {}


def _warn_of_errors(value, error):
    """Warn of the divergence of the largest error, if it is one."""
    s = int(np.argmax(error))
    if error[s] > _ERROR:
        warnings.warn(
            f"the Jensen-Shannon divergence of feature {s} is {value[s]:.6g} +- "
            f"{error[s]:.1g} nats: its class densities differ too much in width for "
            'the quadrature; use shrinkage > 0, or rank by "js_gm"',
            ConvergenceWarning,
            stacklevel=4,
        )
