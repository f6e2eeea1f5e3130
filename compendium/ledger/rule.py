"""The rules by which verdicts are computed.

They are those of ``rules.py`` beside the notebooks, so that a reader who follows a
chapter uses what the ledger uses.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compendium.beside import load_beside

_rules = load_beside("rules")
COVERAGE = _rules.COVERAGE
LEVEL = _rules.LEVEL
holm = _rules.holm
prediction_limits = _rules.prediction_limits

# Numbers of runs over which a source may have averaged, tried beside a single one.
ASSUMED = (5, 10)


def with_doubt(
    yes: NDArray[np.bool_], p: ArrayLike, how: Callable = np.sum
) -> dict[str, float]:
    """How many of a family of comparisons come out so: all, clear ones, none against.

    Parameters
    ----------
    yes : ndarray of bool, shape (n,)
    p : array_like of shape (n,)
        Of no difference. A difference is clear if its p-value, adjusted over the family
        by Holm's rule, is below :data:`LEVEL`.
    how : callable, default=numpy.sum
        Or numpy.mean, for shares.

    Returns
    -------
    dict
        ``median``, those that do; ``low``, those that clearly do; ``high``, all but
        those that clearly do not.
    """
    clear = holm(p) < LEVEL
    parts = {"median": yes, "low": yes & clear, "high": yes | ~clear}
    return {name: how(part).item() for name, part in parts.items()}
