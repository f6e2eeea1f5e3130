"""The data sets that come with scikit-learn: always at hand, without a network."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sklearn.datasets
from sklearn.utils import Bunch

from memdlib.datasets.hashing import content_sha256

_LICENCE = "BSD-3-Clause, as shipped with scikit-learn"


@dataclass(frozen=True)
class Embedded:
    """A set of scikit-learn: its loader, and who measured the data."""

    loader: Callable[[], Bunch]
    source: str


EMBEDDED = {
    "breast_cancer": Embedded(
        sklearn.datasets.load_breast_cancer,
        "Breast Cancer Wisconsin (Diagnostic), UCI Machine Learning Repository",
    ),
    "digits": Embedded(
        sklearn.datasets.load_digits,
        "Optical Recognition of Handwritten Digits, test part, "
        "UCI Machine Learning Repository",
    ),
    "iris": Embedded(
        sklearn.datasets.load_iris, "R. A. Fisher, Annals of Eugenics 7 (1936)"
    ),
    "wine": Embedded(
        sklearn.datasets.load_wine, "Wine, UCI Machine Learning Repository"
    ),
}


def load_embedded(name: str) -> Bunch:
    """Load one of the data sets shipped with scikit-learn.

    Parameters
    ----------
    name : str
        A key of ``EMBEDDED``.

    Returns
    -------
    Bunch
        As from `memdlib.datasets.load`. The classes are numbered as in scikit-learn;
        ``sha256`` is that of the bytes of X, then y.

    Examples
    --------
    >>> from memdlib.datasets.embedded import load_embedded
    >>> load_embedded("wine").X.shape
    (178, 13)
    """
    embedded = EMBEDDED[name]
    raw = embedded.loader()
    X = np.ascontiguousarray(raw.data, dtype=np.float64)
    y = np.asarray(raw.target, dtype=np.int64)
    return Bunch(
        X=X,
        y=y,
        feature_names=np.asarray(raw.feature_names, dtype=str),
        target_names=np.asarray(raw.target_names, dtype=str),
        sample_names=None,
        split=None,
        sha256=content_sha256(X, y),
        name=name,
        source=embedded.source,
        licence=_LICENCE,
        DESCR=raw.DESCR,
    )
