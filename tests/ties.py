"""Notice where the last bits of numbers decide a comparison or a rank."""

import numpy as np
import pandas as pd

NOISE = 1e-9  # no two means of ours that differ are so near


def is_noise(differences):
    """Whether some numbers are not zero, and yet nothing but rounding."""
    sizes = np.abs(np.asarray(differences, dtype=float))
    return bool(((sizes > 0.0) & (sizes < NOISE)).any())


def numbers(values):
    """Values as floats; none if they are something else."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return None


def watch():
    """From now on, note comparisons and ranks of pandas that noise decides.

    Returns
    -------
    list of str
        Grows with each of them.
    """
    noted = []
    rank_of_pandas = pd.DataFrame.rank

    def watched(kind, name):
        compare = getattr(kind, name)

        def with_note(self, other):
            left = numbers(self)
            right = numbers(other)
            comparable = left is not None and right is not None
            if comparable and right.shape in ((), left.shape):
                if is_noise(left - right):
                    noted.append(f"{kind.__name__}.{name}")
            return compare(self, other)

        return with_note

    def rank(self, *arguments, **options):
        ordered = np.sort(self.to_numpy(dtype=float), axis=1)
        if options.get("axis") == "columns" and is_noise(np.diff(ordered, axis=1)):
            noted.append("DataFrame.rank")
        return rank_of_pandas(self, *arguments, **options)

    for kind in (pd.Series, pd.DataFrame):
        for name in ("__gt__", "__ge__", "__lt__", "__le__"):
            setattr(kind, name, watched(kind, name))
    pd.DataFrame.rank = rank
    return noted
