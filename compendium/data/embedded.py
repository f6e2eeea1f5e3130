"""The data sets that come with scikit-learn: always at hand, without a network."""

import hashlib

import numpy as np
import sklearn.datasets
from sklearn.utils import Bunch

EMBEDDED = {  # with who measured them
    "breast_cancer": "Breast Cancer Wisconsin (Diagnostic), "
    "UCI Machine Learning Repository",
    "digits": "Optical Recognition of Handwritten Digits, test part, "
    "UCI Machine Learning Repository",
    "iris": "R. A. Fisher, Annals of Eugenics 7 (1936)",
    "wine": "Wine, UCI Machine Learning Repository",
}


def load_embedded(name: str) -> Bunch:
    """Load one of scikit-learn's sets, with the fields of `compendium.data.load`."""
    raw = getattr(sklearn.datasets, f"load_{name}")()
    X = np.ascontiguousarray(raw.data, "<f8")
    y = np.ascontiguousarray(raw.target, "<i8")
    return Bunch(
        X=X,
        y=y,
        feature_names=np.array(raw.feature_names, str),
        target_names=np.array(raw.target_names, str),
        sample_names=None,
        split=None,
        sha256=hashlib.sha256(X.tobytes() + y.tobytes()).hexdigest(),
        name=name,
        source=EMBEDDED[name],
        licence="BSD-3-Clause, as shipped with scikit-learn",
        DESCR=raw.DESCR,
    )
