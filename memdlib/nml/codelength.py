"""What the codes return: a length in two parts, and how accurately it is known."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from memdlib._types import Array, NDArray

Floats = float | Array
Strings = str | NDArray[np.str_]


class ComplexityEstimate(NamedTuple):
    """Complexity of a model, its error bar and the method that computed it.

    Parameters
    ----------
    complexity : float or ndarray
        Log complexity, in nats.
    uncertainty : float or ndarray
        Error bar in nats: for an exact sum a bound of what rounding and the
        certificates of its fits leave, for "monte-carlo" the standard error, for
        "bounds" half the distance between the bounds.
    method : str or ndarray of str
        "saturated", "table", "enumeration", "monte-carlo", or "bounds" for the midpoint
        of the proved bounds.
    """

    complexity: Floats
    uncertainty: Floats
    method: Strings


@dataclass(frozen=True)
class Codelength:
    """Length of a normalised maximum likelihood code, in nats.

    Parameters
    ----------
    error : float or ndarray
        Minus the largest log-likelihood that the model gives the data, in nats.
    complexity, uncertainty, method
        As in `ComplexityEstimate`. The method may also be "types", a sum over types
        whose uncertainty is an estimate that no known error exceeds.

    Examples
    --------
    >>> Codelength(1.5, 2.0, 1e-12, "table").total
    3.5
    """

    error: Floats
    complexity: Floats
    uncertainty: Floats
    method: Strings

    @property
    def total(self):
        """Code length, error plus complexity."""
        return self.error + self.complexity
