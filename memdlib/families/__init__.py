"""Maximum-entropy families: which moments are kept, and what follows from them.

A family fixes a support, a base measure and the feature functions
phi(x) = (x, x^2, ..., x^m). Under the constraint E phi(X) = mu, entropy (relative to
the base measure) is largest at

    p(x) = exp(-lambda_0 - lambda . phi(x)),    lambda_0 = psi(lambda),

so that a family is a pair of inverse maps between *mean parameters* mu and *natural
parameters* lambda, and the log-normaliser psi. Everything else (entropy, divergences,
the score of an instance) follows from these three.

Every one is a :class:`Family`. The registry holds the families of one feature at a
time, each a :class:`MarginalFamily`; among them is the multinomial family, of a whole
document. :class:`MultivariateNormal` is the family of all features jointly. All methods
are vectorised: the last axis of ``mu`` and ``lam`` (the last two, where features are
joint) runs over the moments, and any leading axes (classes, features) are kept.
"""

from memdlib.families.base import Family, MarginalFamily
from memdlib.families.counts import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    Poisson,
)
from memdlib.families.interval import Exponential, TruncatedExponential
from memdlib.families.multivariate import MultivariateNormal
from memdlib.families.normal import Normal
from memdlib.families.polynomial import Polynomial

__all__ = [
    "Bernoulli",
    "Binomial",
    "Categorical",
    "Exponential",
    "Family",
    "Geometric",
    "MarginalFamily",
    "Multinomial",
    "MultivariateNormal",
    "Normal",
    "Poisson",
    "Polynomial",
    "TruncatedExponential",
    "family_names",
    "get_family",
]

_CONTINUOUS = Normal, Exponential, TruncatedExponential, Polynomial
_COUNTS = Bernoulli, Poisson, Geometric, Multinomial
_REGISTRY = {kind.name: kind() for kind in (*_CONTINUOUS, *_COUNTS)}


def family_names():
    """Names of the registered families, in alphabetical order."""
    return sorted(_REGISTRY)


def get_family(family):
    """Return a family of single features by name, or the family itself.

    Parameters
    ----------
    family : str or MarginalFamily
        One of :func:`family_names`, or an instance.

    Returns
    -------
    MarginalFamily
        A ValueError lists the names that exist if there is no such family.

    Examples
    --------
    >>> get_family("normal")
    Normal()
    """
    if isinstance(family, MarginalFamily):
        return family
    if isinstance(family, str) and family in _REGISTRY:
        return _REGISTRY[family]
    if isinstance(family, Family):
        raise ValueError(
            f"family={family!r} is one of all features jointly; use "
            f"JointMaxEntClassifier, or one of single features: {family_names()}"
        )
    raise ValueError(
        f"family={family!r} is not known; choose one of {family_names()}, or for "
        "MeMdClassifier and DivergenceRanker also 'auto' or 'categorical'"
    )
