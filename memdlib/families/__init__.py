"""Maximum-entropy families: which moments are kept, and what follows from them.

A family fixes a support, a base measure and the feature functions
phi(x) = (x, x^2, ..., x^m). Under the constraint E phi(X) = mu, entropy (relative to
the base measure) is largest at

    p(x) = exp(-lambda_0 - lambda . phi(x)),    lambda_0 = psi(lambda),

so that a family is a pair of inverse maps between *mean parameters* mu and *natural
parameters* lambda, and the log-normaliser psi. Everything else (entropy, divergences,
the score of an instance) follows from these three.

The registry holds the families of one feature at a time, and the multinomial one of a
whole document; :class:`MultivariateNormal`, of all features jointly, stands apart.
All methods are vectorised: the last axis of ``mu`` and ``lam`` runs over the m moments,
any leading axes (classes, features) are kept.
"""

from memdlib.families.base import Family
from memdlib.families.counts import Bernoulli, Geometric, Multinomial, Poisson
from memdlib.families.interval import Exponential, TruncatedExponential
from memdlib.families.multivariate import MultivariateNormal
from memdlib.families.normal import Normal
from memdlib.families.polynomial import Polynomial

__all__ = [
    "Bernoulli",
    "Exponential",
    "Family",
    "Geometric",
    "Multinomial",
    "MultivariateNormal",
    "Normal",
    "Poisson",
    "Polynomial",
    "TruncatedExponential",
    "get",
    "names",
]

_REGISTRY: dict[str, Family] = {
    f.name: f
    for f in (
        Normal(),
        Exponential(),
        TruncatedExponential(),
        Geometric(),
        Bernoulli(),
        Poisson(),
        Multinomial(),
        Polynomial(),
    )
}


def names() -> list[str]:
    """Names of the registered families.

    Examples
    --------
    >>> names()
    ['bernoulli', 'exponential', ..., 'normal', 'poisson', ...]
    """
    return sorted(_REGISTRY)


def get(family: str | Family) -> Family:
    """Return a family by name, or the family itself.

    Parameters
    ----------
    family : str or Family

    Returns
    -------
    Family

    Raises
    ------
    ValueError
        If no family has that name; lists those that exist.

    Examples
    --------
    >>> get("normal")
    Normal()
    """
    if isinstance(family, Family):
        return family
    if isinstance(family, str) and family in _REGISTRY:
        return _REGISTRY[family]
    raise ValueError(f"family={family!r} is not known; choose one of {names()}")
