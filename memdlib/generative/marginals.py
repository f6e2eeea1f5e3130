"""Class marginals: from class moments to densities and their divergences."""

import warnings
from functools import cached_property

import numpy as np
from scipy.special import entr
from sklearn.exceptions import ConvergenceWarning

from memdlib.moments import class_moments
from memdlib.validation import NONNEGATIVE, UNIT_INTERVAL, check_real

DIVERGENCES = ("js_gm", "jeffreys", "js")

# Warn if the error of a numerical divergence exceeds this, in nats.
_ERROR = 1e-6


def family_moments(
    family,
    X,
    codes,
    n_classes,
    weight,
):
    """Compute the class moments of what a family observes of X (n, d)."""
    return class_moments(
        family.observe(X),
        codes,
        n_classes,
        order=family.n_moments,
        sample_weight=weight,
        about_zero=not family.translates,
    )


class ClassMarginals:
    """Maximum-entropy density of every feature in every class.

    Parameters
    ----------
    moments : ClassMoments
        Moments of K classes and d features.
    family : MarginalFamily
        Maximum-entropy family of all features.
    variance_shrinkage : float in [0, 1] or "auto", default=0.0
        Shrinkage of class variances towards the within-class variance, for the normal
        family only. At 0 the moments are unchanged, except that a variance of zero is
        replaced; "auto" estimates the shrinkage.
    alpha : float >= 0, default=1.0
        Additive smoothing, for all families but the normal: weight, in instances, of
        the pooled mean that is added to each class. It keeps the class means off the
        boundary of the family.
    prior : ndarray of shape (K,), default=None
        Class probabilities; None uses the shares of the instance weight.

    Attributes
    ----------
    variance_shrinkage : float
        The shrinkage in use; a number even if "auto" was passed.
    mean_params : ndarray of shape (K, d, m)
        Mean parameters about the locations of the moments, after regularisation.

    See Also
    --------
    memdlib.DivergenceRanker : Ranking of features by the divergence of class marginals.
    memdlib.MeMdClassifier : Classifier by class marginals.

    Examples
    --------
    >>> import numpy as np
    >>> from memdlib.families import Normal
    >>> from memdlib.generative import ClassMarginals
    >>> from memdlib.moments import class_moments
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
        """Natural parameters (K, f, m) of selected features."""
        if "natural_params" in vars(self):  # already computed
            return self.natural_params.take(features, axis=1)
        return self.family.natural(self.mean_params.take(features, axis=1))

    @property
    def families(self):
        """Name of the family of each feature, shape (d,)."""
        return np.full(self.moments.n_features, self.family.name, dtype=object)

    def divergences(self, divergence="js_gm"):
        """Compute the divergence between the class marginals of every feature.

        Parameters
        ----------
        divergence : {"js_gm", "jeffreys", "js"}, default="js_gm"
            "js_gm" is the Jensen-Shannon divergence with the geometric mean in place of
            the mixture. "jeffreys" is J for two classes; for more, it is the
            prior-weighted average of J(class, complement) (one-vs-rest). "js" is the
            Jensen-Shannon divergence by quadrature, which is the information that the
            feature holds about the class.

        Returns
        -------
        ndarray of shape (d,)
            Nonnegative divergences in nats. If a normal feature is constant within
            every class but not the same in all, J and JS_GM are infinite, and JS is the
            entropy of the groups of classes with equal values.

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
            # families that translate use differences of means and variances instead
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
        """Return JS (d,), with a warning if its quadrature is inaccurate."""
        value, error = self.family.jensen_shannon(
            self.mean_params, self.prior, location=self.moments.location
        )
        _warn_of_errors(value, error)
        return value

    def _jeffreys_one_vs_rest(self):
        """Return J (d,) of each class and its complement, averaged by the prior."""
        # moments (K, 2, ...) of every class, and of all others weighted by the prior
        pairs = self.moments.reweighted(self.prior).one_vs_rest()
        mu_class, mu_rest = self._regularise(pairs).swapaxes(0, 1)
        location = pairs.location.swapaxes(0, 1)
        return self.prior @ self.family.jeffreys(mu_class, mu_rest, location=location)

    def _with_perfect_features(self, value, perfect):
        """Return JS (d,), corrected for features that are constant in every class.

        Such a feature reveals which group of classes with equal values a row belongs
        to, and its JS is the entropy of these groups.
        """
        moments = self.moments.select(perfect)
        constant = self.family.centre(moments.mean, moments.count, moments.location)
        group_probability = [self.prior @ (constant == c) for c in constant]
        possible = self.prior[:, None] > 0
        log_probability = np.log(np.where(possible, group_probability, 1.0))
        # overlapping densities must stay below, by more than a tie in the ranking
        value = np.minimum(value, (1.0 - 4e-12) * entr(self.prior).sum())
        value[perfect] = -(self.prior @ log_probability)
        return value

    def _regularise(self, moments):
        """Return mean parameters that are off the boundary of the family."""
        return self.family.regularise(
            moments.mean,
            moments.count,
            variance_shrinkage=self.variance_shrinkage,
            alpha=self.alpha,
            location=moments.location,
        )


def _warn_of_errors(value, error):
    """Warn about the divergence with the largest error, if it is too large."""
    if not np.isfinite(value).all():
        s = int(np.argmin(np.isfinite(value)))
        raise ValueError(
            f"the Jensen-Shannon divergence of feature {s} is {value[s]}: its "
            "densities are out of the range of the quadrature; rescale the feature, or "
            'rank by "js_gm"'
        )
    s = int(np.argmax(error))
    if not error[s] <= _ERROR:
        warnings.warn(
            f"the Jensen-Shannon divergence of feature {s} is {value[s]:.6g} +- "
            f"{error[s]:.1g} nats: the widths of its class densities differ too much "
            'for the quadrature; use variance_shrinkage > 0, or rank by "js_gm"',
            ConvergenceWarning,
            stacklevel=5,
        )
