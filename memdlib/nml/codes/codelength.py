"""What every code here returns: a length in two parts, and how well it is known."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = float | NDArray[np.float64]
Words = str | NDArray[np.str_]

# What the uncertainty of each way means; that of all others is a bound.
KINDS = {
    "types": "estimate",
    "monte-carlo": "standard error",
}


def kind_of(method: Words) -> Words:
    """What the uncertainty of a complexity means, by the way that it was found.

    Parameters
    ----------
    method : str or ndarray of str

    Returns
    -------
    str or ndarray of str
        "bound", which the error does not exceed; "estimate", made so that none was
        found to exceed it; or "standard error".

    Examples
    --------
    >>> kind_of("table"), kind_of(np.array(["types", "monte-carlo"])).tolist()
    ('bound', ['estimate', 'standard error'])
    """
    if isinstance(method, str):
        return KINDS.get(method, "bound")
    kinds = [KINDS.get(name, "bound") for name in np.ravel(method).tolist()]
    return np.array(kinds, dtype=np.str_).reshape(np.shape(method))


class ComplexityEstimate(NamedTuple):
    """Complexity of a model, with its error bar and the way it was found.

    Parameters
    ----------
    complexity : float or ndarray
        Log complexity, in nats.
    uncertainty : float or ndarray
        Error bar of ``complexity``, in nats, and ``kind`` what it is: for an exact sum
        a bound of what rounding and the certificates of its fits leave, for
        "monte-carlo" the standard error, for "bounds" half of their distance.
    method : str or ndarray of str
        "saturated", "table", "enumeration", "monte-carlo", or "bounds" for the middle
        between the proved bounds.
    """

    complexity: Floats
    uncertainty: Floats
    method: Words

    @property
    def kind(self) -> Words:
        """What ``uncertainty`` is: "bound", "estimate" or "standard error"."""
        return kind_of(self.method)


@dataclass(frozen=True)
class Codelength:
    """Length of a normalised maximum likelihood code, in nats.

    Parameters
    ----------
    error : float or ndarray
        Minus the largest log-likelihood that the model gives the data.
    complexity : float or ndarray
        Logarithm of the sum of the largest likelihoods of all data of that size.
    uncertainty : float or ndarray
        Error bar of ``complexity``: rounding for exact sums, the standard error for
        Monte Carlo, the distance to the proved bounds for what has no other.
    method : str or ndarray of str
        How ``complexity`` was found.

    Examples
    --------
    >>> Codelength(1.5, 2.0, 1e-12, "table").total
    3.5
    """

    error: Floats
    complexity: Floats
    uncertainty: Floats
    method: Words

    @property
    def total(self) -> Floats:
        """Code length, error plus complexity."""
        return self.error + self.complexity

    @property
    def kind(self) -> Words:
        """What ``uncertainty`` is: "bound", "estimate" or "standard error"."""
        return kind_of(self.method)
