"""Domains that make the complexity of a family finite, and how data are counted there.

The conventions "data" and "parameter" are those of `memdlib.nml.codes.continuous`.
"""

import math
from numbers import Real

import numpy as np

from memdlib.validation import check_choice

Range = tuple[float, float]

CONVENTIONS = ("data", "parameter")


def count_data(inside: float, counted: str) -> float:
    """Log complexity under a convention, from that of the data inside the range.

    Parameters
    ----------
    inside : float
        Log complexity of "data", in nats.
    counted : {"data", "parameter"}

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If the convention is another one.

    Examples
    --------
    >>> count_data(0.0, "data"), round(float(np.exp(count_data(0.0, "parameter"))), 12)
    (0.0, 2.0)
    """
    counted = check_choice(counted, "counted", CONVENTIONS)
    # the tails beyond the two ends, each under the end's parameter, add up to 1
    return inside if counted == "data" else float(np.logaddexp(inside, 0.0))


def finite_range(
    ends: Range, name: str, why: str, *, upper_may_be_infinite: bool = False
) -> Range:
    """Both ends of a range as floats; a missing or infinite end is refused.

    Parameters
    ----------
    ends : tuple of float
        In increasing order.
    name : str
        Of the parameter, for the message.
    why : str
        Reason why the complexity is infinite without an end, for the message.
    upper_may_be_infinite : bool, default=False

    Returns
    -------
    tuple of float

    Raises
    ------
    ValueError
        If an end is missing, infinite or no number, or if they do not increase.

    Examples
    --------
    >>> finite_range((0, 2), "mean_range", "all means count alike")
    (0.0, 2.0)
    """
    try:
        low, high = ends
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}={ends!r} must be a pair (low, high); without a bound log C is "
            f"infinite, because {why}"
        ) from None
    for end, value, infinity in (("lower", low, -math.inf), ("upper", high, math.inf)):
        if end == "upper" and upper_may_be_infinite and value == math.inf:
            continue
        if value is None or value == infinity:
            raise ValueError(missing_end(name, end, ends, why))
        if not isinstance(value, Real) or not math.isfinite(value):
            raise ValueError(f"{name}={ends!r}: the {end} end must be a number")
    if not low < high:
        raise ValueError(f"{name}={ends!r} must have its lower end below its upper end")
    return float(low), float(high)


def positive_range(
    ends: Range, name: str, what: str, *, upper_may_be_infinite: bool = False
) -> Range:
    """As `finite_range`, for a parameter above zero that counts by its ratios.

    Parameters
    ----------
    ends : tuple of float
    name : str
        Of the parameter, for the message.
    what : str
        What has the range, for the message.
    upper_may_be_infinite : bool, default=False

    Returns
    -------
    tuple of float

    Raises
    ------
    ValueError
        As for `finite_range`, and if the lower end is not above zero.

    Examples
    --------
    >>> positive_range((1, 2), "scale_range", "scale")
    (1.0, 2.0)
    """
    why = f"every doubling of the {what} adds as much, or more"
    low, high = finite_range(
        ends, name, why, upper_may_be_infinite=upper_may_be_infinite
    )
    if low <= 0.0:
        raise ValueError(missing_end(name, "lower", ends, why))
    return low, high


def missing_end(name: str, end: str, ends: Range, why: str) -> str:
    """Message that the complexity is infinite because a range has no end."""
    return (
        f"{name}={ends!r}: log C is infinite, because the {end} bound is missing and "
        f"{why}; give a finite {end} end inside the domain"
    )
