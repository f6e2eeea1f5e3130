"""The sets of scikit-learn, as they are there."""

import hashlib

import numpy as np
import pytest
import sklearn.datasets

from compendium.data import fingerprint, load
from compendium.data.embedded import EMBEDDED


@pytest.mark.parametrize("name", sorted(EMBEDDED))
def test_embedded_sets_are_those_of_scikit_learn(name):
    data, raw = load(name), getattr(sklearn.datasets, f"load_{name}")()
    np.testing.assert_array_equal(data.X, raw.data)
    np.testing.assert_array_equal(data.y, raw.target)
    assert (data.X.dtype, data.y.dtype) == (np.float64, np.int64)
    assert data.feature_names.tolist() == list(raw.feature_names)
    assert data.target_names.tolist() == [str(label) for label in raw.target_names]
    assert data.sample_names is data.split is None
    assert data.name == name and data.source and data.licence and data.DESCR
    bytes_of_both = data.X.astype("<f8").tobytes() + data.y.astype("<i8").tobytes()
    assert data.sha256 == hashlib.sha256(bytes_of_both).hexdigest()
    assert fingerprint(name) == data.sha256
