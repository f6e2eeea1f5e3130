"""Class marginals: from class moments to densities, and to what tells them apart."""

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from memdlib.families import Family
from memdlib.moments.sums import ClassMoments, class_moments
from memdlib.validation import check_choice, check_nonnegative, check_unit_interval

Array = NDArray[np.float64]

DIVERGENCES = ("js_gm", "jeffreys", "js")

# Error of a numerical divergence, in nats, above which a warning is due.
_ERROR = 1e-6


def family_moments(
    family: Family, X, codes, n_classes: int, weight, location=None
) -> ClassMoments:
    """Class moments that a family needs, about a location that it allows.

    Parameters
    ----------
    family : Family
    X : ndarray or sparse of shape (n, d)
        Observed data, as :meth:`Family.observe` returns them.
    codes, n_classes, weight, location
        As in :func:`memdlib.moments.sums.class_moments`.

    Returns
    -------
    ClassMoments
    """
    if not family.translates:
        location = np.zeros(X.shape[1])
    return class_moments(
        X,
        codes,
        n_classes,
        order=family.n_moments,
        sample_weight=weight,
        location=location,
    )


@dataclass(frozen=True)
class ClassMarginals:
    """Maximum-entropy densities of every class and feature.

    Parameters
    ----------
    moments : ClassMoments
        Of K classes and d features.
    family : Family
        Family of the marginals.
    shrinkage : float in [0, 1] or "auto", default=0.0
    smoothing : float >= 0, default=1.0
        As in :class:`memdlib.MeMdClassifier`.
    prior : ndarray of shape (K,), default=None
        Class probabilities; None takes the shares of the weight.

    Raises
    ------
    ValueError
        If shrinkage or smoothing is out of range, or a density does not exist.

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

    def __post_init__(self):
        if self.prior is None:
            object.__setattr__(self, "prior", self.moments.prior)
        value = self.shrinkage
        if isinstance(value, str) and value == "auto":
            moments = self.moments
            value = self.family.choose_shrinkage(moments.mean, moments.weight)
        value = check_unit_interval(value, "shrinkage")
        object.__setattr__(self, "shrinkage", value)
        check_nonnegative(self.smoothing, "smoothing")

    @cached_property
    def mean_params(self) -> Array:
        """Mean parameters about the location of the moments, shape (K, d, m)."""
        return self._regularise(self.moments)

    @cached_property
    def natural_params(self) -> Array:
        """Natural parameters about the location of the moments, shape (K, d, m)."""
        return self.family.natural(self.mean_params)

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
            Nats, nonnegative.

        Raises
        ------
        ValueError
            If there is no such divergence.

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
        prior = self.prior
        if divergence == "js":
            return self._jensen_shannon(prior)
        if prior.size == 2:
            factor = prior.prod() if divergence == "js_gm" else 1.0
            return factor * self.family.jeffreys(*self.mean_params)
        if divergence == "js_gm":
            return self.family.js_gm(self.mean_params, prior, self.natural_params)
        mu = self._regularise(self.moments.one_vs_rest())
        return prior @ self.family.jeffreys(mu[:, 0], mu[:, 1])

    def _jensen_shannon(self, prior: Array) -> Array:
        value, error = self.family.jensen_shannon(
            self.mean_params, prior, self.natural_params
        )
        if error.max() > _ERROR:
            feature = int(np.argmax(error))
            warnings.warn(
                f"the Jensen-Shannon divergence of feature {feature} is "
                f"{value[feature]:.6g} +- {error[feature]:.1g} nats: its class "
                "densities differ too much in width for the quadrature; use "
                'shrinkage > 0, or rank by "js_gm"',
                ConvergenceWarning,
                stacklevel=4,
            )
        return value

    def _regularise(self, moments: ClassMoments) -> Array:
        return self.family.regularise(
            moments.mean,
            moments.weight,
            shrinkage=self.shrinkage,
            smoothing=self.smoothing,
        )
