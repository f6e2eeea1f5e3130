"""Class marginals: from class moments to densities, and to their divergences."""

import warnings
from functools import cached_property

import numpy as np
from scipy.special import entr
from sklearn.exceptions import ConvergenceWarning

from memdlib.moments import class_moments
from memdlib.validation import NONNEGATIVE, UNIT_INTERVAL, check_real

DIVERGENCES = ("js_gm", "jeffreys", "js")

# Error of a numerical divergence, in nats, above which a warning is due.
_ERROR = 1e-6


def family_moments(
    family,
    X,
    codes,
    n_classes,
    weight,
):
    """Class moments of X (n, d), of which the family says what is observed."""
    return class_moments(
        family.observe(X),
        codes,
        n_classes,
        order=family.n_moments,
        sample_weight=weight,
        about_zero=not family.translates,
    )


class ClassMarginals:
    """Maximum-entropy densities of every class and feature.

    Parameters
    ----------
    moments : ClassMoments
        Of K classes and d features.
    family : MarginalFamily
    variance_shrinkage : float in [0, 1] or "auto", default=0.0
    alpha : float >= 0, default=1.0
        As in :class:`memdlib.MeMdClassifier`.
    prior : ndarray of shape (K,), default=None
        Class probabilities; None takes the shares of the weight.

    Attributes
    ----------
    variance_shrinkage : float
        The shrinkage in use, also where "auto" was asked for.
    mean_params : ndarray of shape (K, d, m)
        Mean parameters about the locations of the moments.

    Examples
    --------
    >>> import numpy as np
    >>> from memdlib.families import Normal
    >>> X = np.array([[0.0, 1.0], [2.0, 2.0], [4.0, 1.5], [6.0, 1.5]])
    >>> moments = class_moments(X, [0, 0, 1, 1], 2, order=2)
    >>> ClassMarginals(moments, Normal()).divergences("jeffreys").round(6).tolist()
    [16.0, 0.25]
    """

    def __init__(
        self,
        moments,
        family,
        *,
        variance_shrinkage=0.0,
        alpha=1.0,
        prior=None,
    ):
        if isinstance(variance_shrinkage, str) and variance_shrinkage == "auto":
            variance_shrinkage = family.choose_shrinkage(moments.mean, moments.count)
        self.moments = moments
        self.family = family
        self.variance_shrinkage = check_real(
            variance_shrinkage, "variance_shrinkage", UNIT_INTERVAL
        )
        self.alpha = check_real(alpha, "alpha", NONNEGATIVE)
        self.prior = moments.prior if prior is None else prior
        self.mean_params = self._regularise(moments)

    @cached_property
    def natural_params(self):
        """Natural parameters about the locations of the moments, shape (K, d, m)."""
        return self.family.natural(self.mean_params)

    def natural_params_of(self, features):
        """Natural parameters (K, f, m) of some features."""
        if "natural_params" in vars(self):  # computed already
            return self.natural_params.take(features, axis=1)
        return self.family.natural(self.mean_params.take(features, axis=1))

    @property
    def families(self):
        """Name of the family of each feature, shape (d,)."""
        return np.full(self.moments.n_features, self.family.name, dtype=object)

    def divergences(self, divergence="js_gm"):
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
        if divergence not in DIVERGENCES:
            raise ValueError(
                f"divergence={divergence!r} must be one of {list(DIVERGENCES)}"
            )
        if divergence == "js":
            value = self._jensen_shannon()
        elif len(self.prior) == 2:
            mu1, mu2 = self.mean_params
            value = self.family.jeffreys(mu1, mu2, location=self.moments.location)
            if divergence == "js_gm":
                value = self.prior.prod() * value
        elif divergence == "js_gm":
            # a family that translates takes differences of means and variances instead
            lam = None if self.family.translates else self.natural_params
            value = self.family.js_gm(
                self.mean_params, self.prior, lam=lam, location=self.moments.location
            )
        else:
            value = self._jeffreys_one_vs_rest()
        if not self.family.translates:
            return value
        perfect = self.family.is_perfect(self.moments)
        if not perfect.any():
            return value
        if divergence == "js":
            return self._with_perfect_features(value, perfect)
        return np.where(perfect, np.inf, value)

    def _jensen_shannon(self):
        """JS (d,), with a warning if its quadrature is not accurate."""
        value, error = self.family.jensen_shannon(
            self.mean_params, self.prior, location=self.moments.location
        )
        _warn_of_errors(value, error)
        return value

    def _jeffreys_one_vs_rest(self):
        """J of each class and its complement, averaged by the prior, (d,)."""
        # moments (K, 2, ...) of every class and of all others in the given shares
        pairs = self.moments.reweighted(self.prior).one_vs_rest()
        mu_class, mu_rest = self._regularise(pairs).swapaxes(0, 1)
        location = pairs.location.swapaxes(0, 1)
        return self.prior @ self.family.jeffreys(mu_class, mu_rest, location=location)

    def _with_perfect_features(self, value, perfect):
        """JS (d,) with that of features that are constant in every class.

        Such a feature says which group of classes of equal value a row belongs to, and
        its JS is the entropy of the groups.
        """
        moments = self.moments.select(perfect)
        constant = self.family.centre(moments.mean, moments.count, moments.location)
        group_probability = [self.prior @ (constant == c) for c in constant]
        possible = self.prior[:, None] > 0
        log_probability = np.log(np.where(possible, group_probability, 1.0))
        # densities that overlap stay below, and by more than a tie of the ranking
        value = np.minimum(value, (1.0 - 4e-12) * entr(self.prior).sum())
        value[perfect] = -(self.prior @ log_probability)
        return value

    def _regularise(self, moments):
        """Mean parameters of moments, off the boundary of the family."""
        return self.family.regularise(
            moments.mean,
            moments.count,
            variance_shrinkage=self.variance_shrinkage,
            alpha=self.alpha,
            location=moments.location,
        )


def _warn_of_errors(value, error):
    """Warn of the divergence with the largest error, if that error is too large."""
    s = int(np.argmax(error))
    if error[s] > _ERROR:
        warnings.warn(
            f"the Jensen-Shannon divergence of feature {s} is {value[s]:.6g} +- "
            f"{error[s]:.1g} nats: its class densities differ too much in width for "
            'the quadrature; use variance_shrinkage > 0, or rank by "js_gm"',
            ConvergenceWarning,
            stacklevel=5,
        )
